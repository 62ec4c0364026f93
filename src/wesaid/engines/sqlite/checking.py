"""What is wrong with a database, found by reading: pages, rows, paths, counters, and the index against the rows.

Each kind of flaw is one sentence with its numbers, never a line for each row. Reading is bounded by time; what was not looked at is said.
It refuses to know redaction, so that which events should be indexed is looked at above (``service.doctor_rows``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from time import monotonic
from typing import Any, Final

import apsw

from wesaid import limits
from wesaid.engines.sqlite import erasing, schema
from wesaid.engines.sqlite.connection import fetch
from wesaid.engines.sqlite.match import ROLE_WORDS
from wesaid.engines.sqlite.records import LOW, SHIFT, SHOWN, unpack_nav
from wesaid.engines.sqlite.rows import source_of
from wesaid.errors import StoreError
from wesaid.rules import branch, fold
from wesaid.values import Flag, Flaw, counted

KEPT: Final = ("meta", "session", "window", "event", "source", "source_session", "tombstone", "tombstone_window")
MADE: Final = ("path", "entry", "words", "titles", "word", "stale")  # made of the others, and can be made again
FTS: Final = ("words", "titles")
Tick = Callable[[str], object]


def flaws(db: apsw.Connection, *, now: int, seconds: float, tick: Tick) -> Iterator[Flaw]:
    """Every kind of flaw. A database whose transcript is damaged is looked at no further: what follows would only repeat it."""
    until = monotonic() + seconds
    db.set_progress_handler(lambda: monotonic() > until, limits.DOCTOR_PROGRESS_STEPS)
    looked = ""
    try:
        for name, look in (
            ("pages", pages),
            ("rows", rows),
            ("paths", paths),
            ("index", index),
            ("counters", counters),
            ("state", lambda db: state(db, now)),
        ):
            looked = name
            tick(name)
            stop = False
            for flaw in look(db):
                stop = stop or flaw.code in ("store.damaged", "index.pages", "index.damaged")
                yield flaw
            if stop:
                return
    except apsw.InterruptError:
        yield Flaw(code="check.partial", message=f"time was up after {seconds:.0f} s, while {looked} were looked at; the rest was not")
    finally:
        db.set_progress_handler(None)


# ── pages ────────────────────────────────────────────────────────────────────────────────────────────────────────
def pages(db: apsw.Connection) -> Iterator[Flaw]:
    """Whether the trees of each table hold together, table by table, so that it is known what is damaged and what is not."""
    kept = [table for table in ("sqlite_schema", *KEPT) if not is_sound(db, table)]
    made = [table for table in MADE if table not in FTS and not is_sound(db, table)]
    inner = [f"{table}_{part}" for table in FTS for part in ("data", "idx", "docsize", "config")]
    made += [table for table in inner if exists(db, table) and not is_sound(db, table)]
    if kept:
        yield Flaw(
            code="store.damaged", message=f"pages of the transcripts are damaged, in {_names(kept)}; some of what was said may be lost"
        )
        return
    if [table for table in made if exists(db, table)]:
        yield Flaw(code="index.pages", message=f"pages of {_names(made)} are damaged; every stored message is readable")
        return
    broken = [table for table in (*made, *FTS) if not exists(db, table) or not is_sound(db, table)]
    if broken:
        yield Flaw(
            code="index.damaged", message=f"the index is damaged or not there, in {_names(broken)}; every stored message is readable"
        )


def exists(db: apsw.Connection, table: str) -> bool:
    """Whether a table is there."""
    return bool(db.execute("SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = ?)", (table,)).get)


def is_sound(db: apsw.Connection, table: str) -> bool:
    """What SQLite says of one table, its indexes, and of FTS5's own structures."""
    try:
        return bool(db.execute(f"PRAGMA integrity_check('{table}')").get == "ok")
    except apsw.InterruptError:
        raise
    except apsw.Error:
        return False


# ── rows ─────────────────────────────────────────────────────────────────────────────────────────────────────────
_ORPHANS: Final = (
    ("windows without their session", "SELECT count(*) FROM window WHERE session NOT IN (SELECT token FROM session)"),
    ("sessions without a window", "SELECT count(*) FROM session s WHERE NOT EXISTS (SELECT 1 FROM window w WHERE w.session = s.token)"),
    ("positions without their event", "SELECT count(*) FROM path p WHERE NOT EXISTS (SELECT 1 FROM event e WHERE e.place = p.place)"),
    ("index rows without their event", "SELECT count(*) FROM entry n WHERE NOT EXISTS (SELECT 1 FROM event e WHERE e.place = n.place)"),
    ("stale marks without their window", "SELECT count(*) FROM stale WHERE window NOT IN (SELECT window FROM window)"),
    ("source names without their source", "SELECT count(*) FROM source_session WHERE path NOT IN (SELECT path FROM source)"),
)


def rows(db: apsw.Connection) -> Iterator[Flaw]:
    """Rows that refer to nothing."""
    found = [(name, int(db.execute(sql).get)) for name, sql in _ORPHANS]
    known = {window for (window,) in fetch(db, "SELECT window FROM window")}
    lost = [window for window in windows_of_events(db) if window not in known]
    if lost:
        found.append(("windows of events that no session has", len(lost)))
    found.append(("sources that cannot be read", len(damaged_sources(db))))
    told = [f"{count} {name}" for name, count in found if count]
    if told:
        yield Flaw(code="rows.orphaned", message=f"rows refer to nothing, or say nothing, {', '.join(told)}")
    wrong = sum(1 for window in known if not is_numbered(db, window))
    if wrong:
        yield Flaw(
            code="rows.numbers",
            message=f"{counted(wrong, 'window counts', 'windows count')} other events than {'it has' if wrong == 1 else 'they have'}",
        )


def damaged_sources(db: apsw.Connection) -> list[str]:
    """Paths of sources of which nobody can tell how far they were read."""
    return [row[0] for row in fetch(db, "SELECT * FROM source") if source_of(row) is None]


def windows_of_events(db: apsw.Connection) -> Iterator[int]:
    """The windows that events lie in, each found by one seek."""
    place = db.execute("SELECT min(place) FROM event").get
    while place is not None:
        window = int(place) >> SHIFT
        yield window
        place = db.execute("SELECT min(place) FROM event WHERE place >= ?", ((window + 1) << SHIFT,)).get


def is_numbered(db: apsw.Connection, window: int) -> bool:
    """Whether the next event of a window goes behind its last one, and none before it is missing."""
    last, count = db.execute(
        "SELECT max(place), count(*) FROM event WHERE place >= ? AND place < ?", (window << SHIFT, (window + 1) << SHIFT)
    ).get
    next_seq = db.execute("SELECT next_seq FROM window WHERE window = ?", (window,)).get
    return bool(next_seq == count == (0 if last is None else (int(last) & LOW) + 1))


# ── paths ────────────────────────────────────────────────────────────────────────────────────────────────────────
def paths(db: apsw.Connection) -> Iterator[Flaw]:
    """Whether the stored path of each window is the one that its events make."""
    wrong = sum(1 for (window,) in fetch(db, "SELECT window FROM window") if not is_right(db, window))
    if wrong:
        yield Flaw(code="path.differs", message=f"the stored path of {counted(wrong, 'window')} is not what its events make")


def is_right(db: apsw.Connection, window: int) -> bool:
    """Whether a window's path, its counts and its cursor are those of its events."""
    base, end = window << SHIFT, (window + 1) << SHIFT
    try:
        events = fetch(
            db, "SELECT nav, id, parent, target, append_parent, place FROM event WHERE place >= ? AND place < ? ORDER BY place", (base, end)
        )
        resolution = branch.resolve(unpack_nav(*row[:5]) for row in events)
        length, cursor = fetch(db, "SELECT path_length, cursor FROM window WHERE window = ?", (window,))[0]
        if length != len(resolution.path) or branch.Cursor.from_json(cursor) != resolution.cursor:
            return False
    except (StoreError, ValueError, KeyError, IndexError, TypeError):
        return False  # a cursor or a navigation that is none
    shown = 0
    stored = fetch(db, "SELECT spot, place, shown FROM path WHERE spot >= ? AND spot < ? ORDER BY spot", (base, end))
    if len(stored) != length:
        return False
    for position, (row, seq) in enumerate(zip(stored, resolution.path, strict=True)):
        shown += bool(events[seq][0] & SHOWN)
        if row != (base + position, events[seq][5], shown):
            return False
    return True


# ── the index ────────────────────────────────────────────────────────────────────────────────────────────────────
def index(db: apsw.Connection) -> Iterator[Flaw]:
    """Index rows, their words and their places: each has the others, and a real question finds every one."""
    unlike = int(db.execute("SELECT count(*) FROM entry WHERE rid NOT IN (SELECT id FROM words_docsize)").get)
    unlike += int(db.execute("SELECT count(*) FROM words_docsize WHERE id NOT IN (SELECT rid FROM entry)").get)
    try:
        unlike = max(unlike, sum(_unfound(db, role, word) for role, word in enumerate((ROLE_WORDS["user"], ROLE_WORDS["assistant"]))))
    except (apsw.CorruptError, apsw.SQLError):
        yield Flaw(code="index.damaged", message="a question to the index fails; every stored message is readable")
        return
    if unlike:
        yield Flaw(code="index.differs", message=f"{counted(unlike, 'message')} of the index without words, or words without their message")
    off = int(
        db.execute(
            "SELECT count(*) FROM entry e LEFT JOIN path p ON p.place = e.place JOIN window w ON w.window = e.place >> 32"
            " LEFT JOIN stale t ON t.window = w.window"
            " WHERE NOT w.findable OR e.session != w.session OR (p.spot IS NULL AND (t.purge IS NULL OR e.place & ? < t.purge))",
            (LOW,),
        ).get
    )
    if off:
        yield Flaw(
            code="index.extra", message=f"{counted(off, 'message')} can be found and {'is' if off == 1 else 'are'} not on the visible path"
        )
    titled = {token for token, words in title_words(db) if words}
    held = {row[0] for row in fetch(db, "SELECT id FROM titles_docsize")}
    if titled != held:
        yield Flaw(code="index.titles", message=f"{counted(len(titled ^ held), 'title')} missing from the index, or too many in it")
    old = int(db.execute("SELECT count(*) FROM entry WHERE fold < ?", (fold.VERSION,)).get)
    if old:
        yield Flaw(
            code="index.old",
            message=f"{counted(old, 'message was', 'messages were')} indexed by older rules; what was found before is found until it is renewed",
        )


def _unfound(db: apsw.Connection, role: int, word: str) -> int:
    """How many messages of a role a question for that role does not find, or finds without there being one: both lists are walked once."""
    asked = (int(row[0]) for row in db.execute("SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid", (f'scope : "{word}"',)))
    there = (int(row[0]) for row in db.execute("SELECT rid FROM entry WHERE role = ? ORDER BY rid", (role,)))
    unlike, a, b = 0, next(asked, None), next(there, None)
    while a is not None or b is not None:
        if a == b:
            a, b = next(asked, None), next(there, None)
        elif b is None or (a is not None and a < b):
            unlike, a = unlike + 1, next(asked, None)
        else:
            unlike, b = unlike + 1, next(there, None)
    return unlike


def title_words(db: apsw.Connection) -> Iterator[tuple[int, str]]:
    """``(token, words)`` of each session that has a title or a label, as the index of titles should have them."""
    for token, title, label in fetch(db, "SELECT token, title, label FROM session WHERE title IS NOT NULL OR label IS NOT NULL"):
        yield token, fold.fold(" \n ".join(text for text in (title, label) if text)).text


# ── counters, state ──────────────────────────────────────────────────────────────────────────────────────────────
COUNTED: Final = (
    "SELECT s.token, s.message_count, (SELECT count(*) FROM window w JOIN path p ON p.spot >= w.window << 32 AND p.spot < (w.window + 1) << 32"
    " JOIN entry e ON e.place = p.place WHERE w.session = s.token AND NOT e.flags & ?) FROM session s"
)


def counters(db: apsw.Connection) -> Iterator[Flaw]:
    """Whether counters are what they count."""
    wrong = sum(1 for _, counted, there in fetch(db, COUNTED, (int(Flag.COPY),)) if counted != there)
    messages, drift = totals(db)
    wrong += fetch(db, "SELECT value FROM meta WHERE name = 'messages'") != [(messages,)]
    stored: Sequence[Any] = fetch(db, "SELECT value FROM meta WHERE name = 'drift'")
    wrong += not stored or not isinstance(stored[0][0], int) or stored[0][0] < drift
    if wrong:
        yield Flaw(code="counters.wrong", message=f"{counted(wrong, 'counter')} of messages wrong")


def totals(db: apsw.Connection) -> tuple[int, int]:
    """``(messages, drift)``: how many index rows there are, and the most seconds by which a rowid is later than its message."""
    return int(db.execute("SELECT count(*) FROM entry").get), int(
        db.execute("SELECT coalesce(max(rid - max(timestamp / ?, 1)), 0) FROM entry", (limits.SECONDS_MS,)).get
    )


def state(db: apsw.Connection, now: int) -> Iterator[Flaw]:
    """What is under way or unusual without being wrong."""
    stale = int(db.execute("SELECT count(*) FROM stale").get)
    if stale:
        yield Flaw(
            code="index.stale", message=f"{counted(stale, 'window waits', 'windows wait')} to be indexed, beginning with the next search"
        )
    if erasing.is_pending(db):
        yield Flaw(code="erase.pending", message="something was deleted whose bytes are not erased from the files yet")
    if schema.version_of(db) < schema.VERSION:
        yield Flaw(
            code="store.older",
            message=f"the file has schema version {schema.version_of(db)} of {schema.VERSION}; whatever opens it next brings it up to date",
        )
    ahead = int(db.execute("SELECT count(*) FROM entry WHERE timestamp > ?", (now + limits.DAY_MS,)).get)
    if ahead:
        yield Flaw(
            code="clock.future",
            message=f"{counted(ahead, 'message is', 'messages are')} dated more than a day ahead of this machine's clock",
        )


def _names(tables: Sequence[str]) -> str:
    return ", ".join(f"`{table}`" for table in tables)

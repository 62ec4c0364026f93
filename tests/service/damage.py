"""Homes that are damaged, each in one way: what was done, and which code a doctor has to name. Used by test_doctor.py."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import replace as replace_fields
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from wesaid.engines.sqlite.records import unpack_body
from wesaid.errors import WesaidError
from wesaid.service import doctor, importing, opening, reconciling, writing
from wesaid.values import OPERATOR

NOW = 1_772_359_200_000
PAGE = 4096


class Damage(NamedTuple):
    """One way to damage a home. ``lossy``: rows may be unreadable afterwards."""

    code: str
    do: Callable[[Path], object]
    lossy: bool = False


def database(home: Path, agent: str = "main") -> Path:
    return home / "agents" / agent / "agent.sqlite"


def opened(home: Path) -> opening.Home:
    """The home, a day after what was said in it."""
    made = opening.open_home(home, environ={})
    made.now = lambda: NOW + 24 * 3_600_000
    return made


def look(home: Path, *, fix: bool = False) -> doctor.Report:
    """What the doctor says, and does when told to."""
    with opened(home) as open_:
        return doctor.doctor(open_, fix=fix)


def codes(report: doctor.Report, *severities: str) -> set[str]:
    """Codes of the findings, of these severities if any are named."""
    return {finding.code for finding in report.findings if not severities or finding.severity in severities}


def sql(*statements: str) -> Callable[[Path], None]:
    """Statements on agent main's database, which SQLite would not let a program of ours run."""

    def run(home: Path) -> None:
        db = apsw.Connection(str(database(home)))
        db.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
        for statement in statements:
            db.execute(statement)
        db.close()

    return run


def pages_of(home: Path, table: str, *, kind: str = "leaf") -> list[int]:
    """Pages of a table's tree, counted from 0."""
    db = apsw.Connection(f"file:{database(home)}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    found = [row[0] - 1 for row in db.execute("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = ? ORDER BY pageno", (table, kind))]
    db.close()
    return found


def noise(size: int) -> bytes:
    return bytes((number * 37 + 11) % 256 for number in range(size))


def overwrite(table: str, which: int = 1, *, kind: str = "leaf", at: int = 0, size: int = PAGE) -> Callable[[Path], None]:
    """Noise over (a part of) one page of a table's tree."""

    def run(home: Path) -> None:
        pages = pages_of(home, table, kind=kind)
        assert pages, (table, kind)
        with database(home).open("r+b") as file:
            file.seek(pages[which % len(pages)] * PAGE + at)
            file.write(noise(size))

    return run


def write_at(offset: int, data: bytes) -> Callable[[Path], None]:
    def run(home: Path) -> None:
        with database(home).open("r+b") as file:
            file.seek(offset)
            file.write(data)

    return run


def cut(share: float) -> Callable[[Path], None]:
    """The file ends early, at a page."""

    def run(home: Path) -> None:
        path = database(home)
        with path.open("r+b") as file:
            file.truncate(int(path.stat().st_size * share) // PAGE * PAGE)

    return run


def replace(data: bytes) -> Callable[[Path], None]:
    return lambda home: database(home).write_bytes(data)


# ── a home to damage ─────────────────────────────────────────────────────────────────────────────────────────────
def make(home: Path, transcripts: Path) -> None:
    """Two agents; said, rewound, deleted and imported things; a title; every page kind has several pages."""
    write_transcript(transcripts / "s-1.jsonl", 120)
    with opening.open_home(home, environ={}) as opened:
        opened.now = lambda: NOW
        for key in ("agent:main:main", "agent:main:notes", "agent:work:main"):
            said = [
                {
                    "role": ("user", "assistant")[n % 2],
                    "text": f"{key} ferry number{n} " + f"harbour word{n * 7} " * 30,
                    "timestamp": NOW + n * 60_000,
                }
                for n in range(150)
            ]
            ids = [done.message_id for done in writing.append(opened, OPERATOR, key, said)]
        writing.patch(opened, OPERATOR, "agent:main:notes", label="harbour notes")
        writing.append(opened, OPERATOR, "agent:main:gone", [{"role": "user", "text": "to be deleted"}])
        writing.delete(opened, OPERATOR, "agent:main:gone")
        writing.rewind(opened, OPERATOR, "agent:work:main", ids[-5])
        importing.import_paths(opened, [transcripts], agent="main")
        while reconciling.reconcile(opened, seconds=30):
            pass
        for agent in ("main", "work"):
            opened.store(agent).erase(seconds=60, now=NOW)


def write_transcript(path: Path, count: int, session: str = "s-1") -> Path:
    """A Claude Code transcript."""
    lines, parent = [], None
    for number in range(count):
        record = {
            "type": "user",
            "uuid": f"u{number}-{session}",
            "parentUuid": parent,
            "sessionId": session,
            "cwd": "/srv/ferry",
            "isSidechain": False,
        }
        record |= {"timestamp": f"2026-01-05T{number // 60:02}:{number % 60:02}:00.000Z"}
        record |= {"message": {"role": "user", "content": f"imported walrus{number} " + "timetable " * 40}}
        lines.append(json.dumps(record))
        parent = f"u{number}-{session}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")
    return path


# ── comparing ────────────────────────────────────────────────────────────────────────────────────────────────────
def everything(home: Path) -> dict[str, tuple[str, int, int]]:
    """Each file's digest, time and mode."""
    return {
        str(path.relative_to(home)): (
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
            path.lstat().st_mtime_ns,
            path.lstat().st_mode,
        )
        for path in sorted([home, *home.rglob("*")])
    }


def readable(home: Path, agent: str = "main") -> Counter[tuple[Any, ...]]:
    """What can be read of a database's events, place by place, whatever the index or the paths say: ``(id, body)``.

    On a copy, so that nothing of the home changes. Places are those that the undamaged home had.
    """
    copy = home.parent / f"copy-{agent}"
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir()
    for file in database(home, agent).parent.iterdir():
        shutil.copy(file, copy / file.name)
    found: Counter[tuple[Any, ...]] = Counter()
    try:
        db = apsw.Connection(str(copy / "agent.sqlite"))
    except apsw.Error:
        return found
    for window in range(1, 8):
        for seq in range(160):
            try:
                row = db.execute("SELECT id, body FROM event WHERE place = ?", ((window << 32) + seq,)).get
                if row is not None:
                    body = unpack_body(row[1])
                    json.loads(body)
                    found[row[0], body] += 1
            except (apsw.Error, WesaidError, ValueError, TypeError):
                continue
    db.close()
    return found


# What may be told after a repair that could not save everything: where the copy is, and what is missed.
MISSED = {"files.copies", "rows.lost", "deletions.lost", "store.empty"}

# ── kinds of damage ──────────────────────────────────────────────────────────────────────────────────────────────
FTS = ("words_data", "words_idx", "words_docsize", "words_config")
DAMAGES: dict[str, Damage] = {
    # the file as a whole
    "empty file": Damage("store.empty", replace(b""), lossy=True),
    "a note in its place": Damage("store.damaged", replace(b"moved elsewhere\n"), lossy=True),
    "garbage in its place": Damage("store.damaged", replace(noise(9000)), lossy=True),
    "header overwritten": Damage("store.damaged", write_at(0, noise(100)), lossy=True),
    "first page overwritten": Damage("store.damaged", write_at(0, noise(PAGE)), lossy=True),
    "another program's mark on it": Damage("store.damaged", write_at(68, b"\0\0\0\x05")),
    "cut to a tenth": Damage("store.damaged", cut(0.1), lossy=True),
    "cut to a half": Damage("store.damaged", cut(0.5), lossy=True),
    "cut by a page or two": Damage("store.damaged", cut(0.96), lossy=True),
    # pages of the transcripts
    "page of event": Damage("store.damaged", overwrite("event", 3), lossy=True),
    "three pages of event": Damage("store.damaged", lambda home: [overwrite("event", which)(home) for which in (2, 5, 9)], lossy=True),
    "end of a page of event": Damage("store.damaged", overwrite("event", 4, at=3500, size=300), lossy=True),
    "inner page of event": Damage("store.damaged", overwrite("event", 0, kind="internal"), lossy=True),
    "page of session": Damage("store.damaged", overwrite("session", 0), lossy=True),
    "page of window": Damage("store.damaged", overwrite("window", 0), lossy=True),
    "page of source": Damage("store.damaged", overwrite("source", 0), lossy=True),
    "page of an index of event": Damage("store.damaged", overwrite("event_name", 0)),
    "a body that is no JSON": Damage("rows.unreadable", sql("UPDATE event SET body = x'007b' WHERE place % 50 = 7"), lossy=True),
    "a body that does not unpack": Damage(
        "rows.unreadable", sql("UPDATE event SET body = CAST(x'01' || zeroblob(60) AS BLOB) WHERE place % 40 = 3"), lossy=True
    ),
    "a body of an unknown coding": Damage("rows.unreadable", sql("UPDATE event SET body = x'7f7b7d' WHERE place % 60 = 3"), lossy=True),
    # pages and rows of the index
    "page of entry": Damage("index.pages", overwrite("entry", 1)),
    "page of path": Damage("index.pages", overwrite("path", 0)),
    "page of words_data": Damage("index.pages", overwrite("words_data", 2)),
    "words dropped": Damage("index.damaged", sql("DROP TABLE words")),
    "titles dropped": Damage("index.damaged", sql("DROP TABLE titles")),
    "entry dropped": Damage("index.damaged", sql("DROP TABLE entry")),
    "path dropped": Damage("index.damaged", sql("DROP TABLE path")),
    "vocabulary dropped": Damage("index.damaged", sql("DROP TABLE word")),
    "stale dropped": Damage("index.damaged", sql("DROP TABLE stale")),
    "segments deleted": Damage("index.damaged", sql("DELETE FROM words_data WHERE id > 10")),
    "segments garbled": Damage("index.damaged", sql("UPDATE words_data SET block = randomblob(length(block)) WHERE id > 10")),
    "structure garbled": Damage("index.d", sql("UPDATE words_data SET block = zeroblob(30) WHERE id = 10")),
    "segment index deleted": Damage("index.d", sql("DELETE FROM words_idx")),
    "sizes deleted": Damage("index.differs", sql("DELETE FROM words_docsize WHERE id % 3 = 0")),
    "settings of the index deleted": Damage("index.damaged", sql("DELETE FROM words_config")),
    "settings of the index dropped": Damage("index.damaged", sql("DROP TABLE words_config")),
    "entries deleted": Damage("index.differs", sql("DELETE FROM entry WHERE rid % 2")),
    "messages taken out of the index": Damage(
        "index.missing",
        sql(
            "CREATE TEMP TABLE t AS SELECT rid FROM entry WHERE rid % 5 = 0",
            "DELETE FROM words WHERE rowid IN t",
            "DELETE FROM entry WHERE rid IN t",
        ),
    ),
    "an entry of another session": Damage(
        "index.extra", sql("UPDATE entry SET session = session + 1 WHERE rid IN (SELECT max(rid) FROM entry)")
    ),
    "words of another message": Damage(
        "index.unfound",
        sql(
            "CREATE TEMP TABLE t AS SELECT rid, 'su' AS w FROM entry",
            "DELETE FROM words",
            "INSERT INTO words (rowid, text, parts, scope) SELECT rid, 'zebra', '', 's' || session || CASE role WHEN 0 THEN ' ru' ELSE ' ra' END FROM entry",
        ),
    ),
    "an entry too many": Damage(
        "index.differs",
        sql("INSERT INTO entry SELECT 77, place + 100000, session, role, timestamp, flags, digest, fold, redact, spans FROM entry LIMIT 1"),
    ),
    "title row deleted": Damage("index.titles", sql("DELETE FROM titles")),
    "title row too many": Damage("index.titles", sql("INSERT INTO titles (rowid, text) VALUES (4711, 'walrus')")),
    # paths, counters, marks
    "path rows deleted": Damage("path.differs", sql("DELETE FROM path WHERE spot % 7 = 3")),
    "path row that leads elsewhere": Damage(
        "path.differs", sql("UPDATE path SET place = place + 900000 WHERE spot = (SELECT max(spot) FROM path)")
    ),
    "shown rows miscounted": Damage("path.differs", sql("UPDATE path SET shown = shown + 1 WHERE spot % 5 = 1")),
    "cursor garbled": Damage("path.differs", sql("UPDATE window SET cursor = 'nonsense' WHERE window = 1")),
    "path length wrong": Damage("path.differs", sql("UPDATE window SET path_length = 3 WHERE window = 2")),
    "next number wrong": Damage("rows.numbers", sql("UPDATE window SET next_seq = next_seq - 5 WHERE window = 2")),
    "session counter wrong": Damage("counters.wrong", sql("UPDATE session SET message_count = 9999 WHERE token = 1")),
    "total wrong": Damage("counters.wrong", sql("UPDATE meta SET value = 1 WHERE name = 'messages'")),
    "total gone": Damage("counters.wrong", sql("DELETE FROM meta WHERE name = 'messages'")),
    "stale mark for nothing": Damage("rows.orphaned", sql("INSERT INTO stale (window, keep) VALUES (4711, 0)")),
    "window row deleted": Damage("rows.orphaned", sql("DELETE FROM window WHERE window = 2")),
    "session row deleted": Damage("rows.orphaned", sql("DELETE FROM session WHERE token = 2")),
    "event rows deleted": Damage(
        "rows.orphaned", sql("DELETE FROM event WHERE place IN (SELECT place FROM event ORDER BY place LIMIT 3 OFFSET 20)"), lossy=True
    ),
    "a source's row deleted": Damage("rows.orphaned", sql("DELETE FROM source")),
}


def half(state: Any) -> Any:
    """A source's state as a kill in the middle of its import leaves it."""
    return replace_fields(state, state={**state.state, "complete": False})

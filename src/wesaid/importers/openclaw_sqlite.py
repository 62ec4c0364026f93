"""OpenClaw's SQLite era: which windows a per-agent database holds, whose they are, and the rows of each (formats.md §1b, openclaw.md §1.7).

It opens nothing and resolves no branch. It looks at the columns that a database has, since early builds had other tables, and reads the
transcript's tables only: others of the same file hold credentials. Invariants: rows come in order of ``seq``; a session's windows come
oldest first, its current one last; a window that a rewind or switch replaced is not findable, whatever came after.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from wesaid import keys, limits
from wesaid.errors import SourceError
from wesaid.importers.known import MAIN, Database, Source, moment, text_of
from wesaid.importers.openclaw import LineReader, from_row, full_key, lineage
from wesaid.importers.reading import Line, printable, row
from wesaid.importers.reading_sqlite import Snapshot, unpacked
from wesaid.values import WindowSpec

FILE: Final = "openclaw-agent.sqlite"
_EVENTS: Final = "transcript_events"
_NAMES: Final = "transcript_event_identities"
_MARKS: Final = "transcript_rewrite_watermarks"
_NODES: Final = ("session_nodes", "session_entries", "sessions")  # the newest build's table first
_WINDOWS: Final = ("session_windows", "sessions")
_REPLACING: Final = frozenset({"rewind", "switch"})
# Columns of a session's row beside its JSON, and what the JSON calls them.
_COLUMNS: Final = {
    "updated_at": "updatedAt", "created_at": "createdAt", "label": "label", "display_name": "displayName", "archived_at": "archivedAt",
    "spawned_by": "spawnedBy", "parent_session_key": "parentSessionKey", "fork_source_session_key": "forkSourceKey",
}  # fmt: skip
_DIGEST_BYTES: Final = 8


@dataclass(slots=True, kw_only=True)
class Generation:
    """One window of a session. ``mark`` changes when rows of it were rewritten in place; ``last`` is its newest row's number."""

    session_id: str
    key: str
    node: str | None  # the session's name in the database; None when no session claims the window
    previous: str | None = None
    reason: str | None = None
    created_at: int = 0
    last: int = -1
    mark: str = ""
    touched: int = 0  # when the database last changed the window, where it keeps no mark
    ordinal: int = 0
    findable: bool = True

    @property
    def spec(self) -> WindowSpec:
        """The window as it is stored here."""
        return WindowSpec(
            session_id=keys.message_id(printable(self.session_id)),  # one without end becomes its digest
            ordinal=self.ordinal,
            reason=self.reason or "initial",
            created_at=self.created_at,
            findable=self.findable,
        )


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a window: its number, when it was written, and its bytes, None when they cannot be had."""

    seq: int
    written_at: int | None
    body: bytes | None

    @property
    def line(self) -> Line:
        """What it says, as a line of a file: one record, or damage."""
        line = row(self.body, self.seq)
        if len(line.records) != 1 and self.body is not None and self.body.strip() not in {b"", b"null"}:
            return Line(self.seq, line.records[:1], damaged=1)
        return line

    @property
    def digest(self) -> str:
        """Of its bytes."""
        return _digest(self.body or b"")


def is_openclaws(taken: Snapshot) -> bool:
    """Whether a database has transcripts in a shape that can be read."""
    return taken.has(_EVENTS, "session_id", "seq") and bool(_bodies(taken))


def is_without(taken: Snapshot) -> bool:
    """Whether a database has no transcripts at all: builds of the time of files kept other things in it already."""
    return not taken.has(_EVENTS)


def agent_of(taken: Snapshot) -> str | None:
    """The agent that the sessions' keys name, of a database that lies in no agent's folder."""
    for node, _ in _named(taken):
        if node.lower().startswith("agent:") and (key := full_key(node, "main")):
            return keys.parse(key).agent_id
    return None


def generations(taken: Snapshot, source: Database) -> list[Generation]:
    """Every window of a database, session by session.

    Raises:
        SourceError: the database is damaged, or has no transcripts that this version can read.
    """
    if not is_openclaws(taken):
        shown = source.name
        raise SourceError(
            f"{shown} (schema {taken.version}) has no transcripts in a shape that this wesaid reads",
            hint="upgrade wesaid as it was installed, or leave the path out",
            details={"path": shown},
        )
    _check_size(taken, source)
    nodes = _current(taken, source)
    found = _windows(taken, source, {node for node, _, _ in nodes})
    sessions: dict[str, list[Generation]] = {}
    for window in found.values():
        sessions.setdefault(window.key, []).append(window)
    current = {key: session_id for _, key, session_id in nodes}
    for key, windows in sessions.items():
        _hide(taken, windows, current.get(key))
        _order(windows, current.get(key))
    return [window for key in sorted(sessions) for window in sorted(sessions[key], key=lambda one: one.ordinal)]


def _check_size(taken: Snapshot, source: Database) -> None:
    """SourceError for more windows than are planned in memory."""
    tables = {name for name in (_EVENTS, *_WINDOWS, *_NODES) if taken.has(name)}
    names = {name: "DISTINCT session_id" if name == _EVENTS else "1" for name in tables}
    for name, what in names.items():
        counted = f"SELECT count(*) FROM (SELECT {what} FROM {name} LIMIT {limits.DATABASE_WINDOWS + 1})"
        if next(taken.rows(counted))[0] > limits.DATABASE_WINDOWS:
            raise SourceError(
                f"{source.name} has more than {limits.DATABASE_WINDOWS} windows",
                hint="let OpenClaw archive old sessions, then import again",
                details={"path": source.name},
            )


def facts_digest(taken: Snapshot, window: Generation) -> str:
    """A digest of all that the database says of a window's session, which tells when it says something else."""
    return _digest(repr(_raw_entry(taken, window.node)).encode("utf-8", "replace")) if window.node is not None else ""


def source_of(taken: Snapshot, window: Generation, source: Database) -> Source:
    """Where a window lands, with what the database says of its session."""
    entry = _entry(taken, window.node) if window.node is not None else {}
    common = lineage(window.key, entry, source.owner, source.override, {})
    fork = entry.get("forkSource")
    origin = text_of(fork, "sessionKey") if isinstance(fork, dict) else text_of(entry, "forkSourceKey")
    if common["forked_from"] is None and origin:
        common["forked_from"] = full_key(origin, source.owner, source.override)
    return Source(path=source.path, session_id=window.spec.session_id, window=window.spec, **common)


def rows(taken: Snapshot, session_id: str, after: int) -> Iterator[Row]:
    """The rows of a window after a number, in order.

    Raises:
        SourceError: the database is damaged there; what came before is whole.
    """
    small = [f"CASE WHEN octet_length({name}) <= {limits.LINE_BYTES} THEN CAST({name} AS BLOB) END" for name in _bodies(taken)]
    written = "created_at" if taken.has(_EVENTS, "created_at") else "NULL"
    packed = "event_zstd" in _bodies(taken)
    statement = f"SELECT seq, {written}, {', '.join(small)} FROM {_EVENTS} WHERE session_id = ? AND seq > ? AND typeof(seq) = 'integer' ORDER BY seq"
    for seq, when, *bodies in taken.rows(statement, (session_id, after)):
        body = next((value for value in bodies if value is not None), None)
        if packed and body is not None and body is bodies[-1]:
            body = unpacked(body)
        yield Row(seq, moment(when), body)


def tail(taken: Snapshot, session_id: str, seq: int) -> str | None:
    """The digest of one row."""
    found = next(rows(taken, session_id, seq - 1), None)
    return found.digest if found is not None and found.seq == seq else None


def reader(source: Source) -> LineReader:
    """A reader of a window's rows (its ``entry``); a row has its own time, so that it can begin anywhere."""
    made = LineReader(source, None, 0)
    made.told[MAIN] = from_row(source)
    return made


# ── sessions and windows ─────────────────────────────────────────────────────────────────────────────────────────
def _bodies(taken: Snapshot) -> list[str]:
    return [name for name in ("event_json", "event_zstd") if taken.has(_EVENTS, name)]


def _text(value: Any) -> str | None:
    found = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    return found.replace("\x00", "\ufffd") if isinstance(found, str) and found.strip() else None


def _select(taken: Snapshot, table: str, *names: str, where: str = "") -> str:
    """A statement for these columns, NULL for those that the table lacks; texts as bytes, since they may be no UTF-8."""
    shown = [
        f"CASE WHEN typeof({name}) = 'text' THEN CAST({name} AS BLOB) ELSE {name} END" if taken.has(table, name) else "NULL"
        for name in names
    ]
    return f"SELECT {', '.join(shown)} FROM {table} {where}"


def _named(taken: Snapshot) -> Iterator[tuple[str, str | None]]:
    """Every session: its name, and the id of its current window."""
    table = next((name for name in _NODES if taken.has(name, "session_key")), None)
    if table is None:
        return
    column = next((name for name in ("current_session_id", "session_id") if taken.has(table, name)), None)
    order = f"ORDER BY {'updated_at' if taken.has(table, 'updated_at') else 'rowid'}"
    for name, current in taken.rows(_select(taken, table, "session_key", column or "current_session_id", where=order)):
        if (node := _text(name)) is not None:
            yield node, _text(current) or (None if column else text_of(_entry(taken, node), "sessionId"))


def _current(taken: Snapshot, source: Database) -> list[tuple[str, str, str | None]]:
    """``(name, full key, current window)`` of every session; a full name's after a bare alias of the same, so that it wins."""
    found = [(node, full_key(node, source.owner, source.override), current) for node, current in _named(taken)]
    return sorted(((node, key, current) for node, key, current in found if key), key=lambda one: keys.is_key(one[0]))


def _windows(taken: Snapshot, source: Database, nodes: set[str]) -> dict[str, Generation]:
    """Windows by id: those that the database lists, and those that only rows speak of."""
    listed: dict[str, Sequence[Any]] = {}
    table = next((name for name in _WINDOWS if taken.has(name, "session_id", "session_key")), None)
    if table is not None:
        statement = _select(taken, table, "session_id", "session_key", "previous_session_id", "reason", "created_at", "updated_at")
        listed = {name: rest for first, *rest in taken.rows(statement) if (name := _text(first))}
    else:
        listed = {current: (node, None, None, None, None) for node, current in _named(taken) if current}
    lasts = f"SELECT CAST(session_id AS BLOB), max(seq) FROM {_EVENTS} WHERE typeof(seq) = 'integer' GROUP BY session_id"
    ends = {name: last for first, last in taken.rows(lasts) if (name := _text(first))}
    marks: dict[str, str] = {}
    if taken.has(_MARKS, "session_id", "generation"):
        marks = {
            name: str(_text(mark) or mark)
            for first, mark in taken.rows(_select(taken, _MARKS, "session_id", "generation"))
            if (name := _text(first))
        }
    found = {}
    for name in dict.fromkeys((*listed, *ends)):
        node, previous, reason, created, updated = listed.get(name, (None,) * 5)
        own = _text(node)
        key = full_key(own, source.owner, source.override) if own else None
        if key is None or (own not in nodes and not keys.is_incognito(key)):
            own, key = None, str(keys.imported(source.agent, printable(name)))
        found[name] = Generation(
            session_id=name,
            key=key,
            node=own,
            previous=_text(previous),
            reason=_text(reason),
            created_at=moment(created) or 0,
            last=ends.get(name, -1),
            mark=marks.get(name, ""),
            touched=0 if name in marks else moment(updated) or 0,
        )
    return found


def _raw_entry(taken: Snapshot, node: str) -> tuple[Any, ...]:
    """The JSON of a session's row, and the columns beside it."""
    table = next((name for name in _NODES if taken.has(name, "session_key")), None)
    names = ("entry_json", *_COLUMNS)
    found = taken.rows(_select(taken, table, *names, where="WHERE session_key = ?"), (node,)) if table else iter(())
    return next(found, (None,) * len(names))


def _entry(taken: Snapshot, node: str) -> dict[str, Any]:
    """A session's row as ``sessions.json`` had it."""
    said, *columns = _raw_entry(taken, node)
    beside = {name: _text(value) or value for name, value in zip(_COLUMNS.values(), columns, strict=True) if value is not None}
    records = row(said if isinstance(said, bytes) else b"", 0).records
    entry = {**beside, **(records[0] if records else {})}
    delivery = entry.get("delivery")
    for part in ("route", "context"):
        route = delivery.get(part) if isinstance(delivery, dict) else None
        if isinstance(route, dict) and isinstance(route.get("channel"), str):
            entry.setdefault("channel", route["channel"])
    return entry


def _order(windows: list[Generation], current: str | None) -> None:
    """Ordinals: by time, none before the one that it follows where times are the same, the current one last."""
    depths = _depths(windows)
    windows.sort(key=lambda one: (one.session_id == current, one.created_at, depths[one.session_id], one.session_id))
    before = -1
    for window in windows:
        window.ordinal = before = max(window.created_at, before + 1)


def _depths(windows: list[Generation]) -> dict[str, int]:
    """How many windows each follows; a ring is cut somewhere."""
    by_id = {window.session_id: window for window in windows}
    depths: dict[str, int] = {}
    for window in windows:
        way: dict[str, None] = {}
        at: Generation | None = window
        while at is not None and at.session_id not in depths and at.session_id not in way:
            way[at.session_id] = None
            at = by_id.get(at.previous or "")
        depth = depths.get(at.session_id, 0) if at is not None else 0
        for name in reversed(way):
            depth += 1
            depths[name] = depth
    return depths


def _hide(taken: Snapshot, windows: list[Generation], current: str | None) -> None:
    """Which windows must not be found: those that a rewind or switch replaced, and what they repeat (docs/decisions/0006, "Windows")."""
    by_id = {window.session_id: window for window in windows}
    hidden: set[str] = set()
    for window in windows:
        older = by_id.get(window.previous or "")
        if older is None or older is window or not _replaces(taken, window, older):
            continue
        while older is not None and older.session_id not in hidden:
            hidden.add(older.session_id)
            before = by_id.get(older.previous or "")
            # Nothing of the chain stands in what came before a plain reset.
            goes_on = before is not None and (older.reason in _REPLACING or _repeats(taken, older, before))
            older = before if goes_on else None
    for window in windows:
        window.findable = window.session_id == current or window.session_id not in hidden


def _replaces(taken: Snapshot, newer: Generation, older: Generation) -> bool:
    """Whether a window is there instead of the one before it. Without a reason: when it has the same beginning, as a rewind's copy has."""
    if newer.reason is not None:
        return newer.reason in _REPLACING
    first = next(iter(_beginning(taken, newer.session_id).items()), None)
    return first is not None and first == next(iter(_beginning(taken, older.session_id).items()), None)


def _repeats(taken: Snapshot, newer: Generation, older: Generation) -> bool:
    """Whether a window's first entries stand in the one before it: the same id and the same record."""
    begun = _beginning(taken, newer.session_id)
    if not taken.has(_NAMES, "session_id", "event_id", "seq"):
        return not begun.items().isdisjoint(_beginning(taken, older.session_id).items())
    for name, said in begun.items():
        found = next(taken.rows(f"SELECT seq FROM {_NAMES} WHERE session_id = ? AND event_id = ?", (older.session_id, name)), None)
        if found is not None and isinstance(found[0], int):
            copied = next(rows(taken, older.session_id, found[0] - 1), None)
            if copied is not None and copied.line.records and _said(copied.line.records[0]) == said:
                return True
    return False


def _beginning(taken: Snapshot, session_id: str) -> dict[str, str]:
    """The first entries of a window: their ids, and digests of what they say."""
    found = {}
    for count, each in enumerate(rows(taken, session_id, -1)):
        for record in each.line.records:
            name = text_of(record, "id")
            if name and record.get("type") != "session":
                found[name] = _said(record)
        if count >= limits.WINDOW_ROWS_COMPARED:
            break
    return found


def _said(record: Mapping[str, Any]) -> str:
    return _digest(msgspec.json.encode(record, order="sorted"))


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).hexdigest()


__all__ = [
    "FILE",
    "Generation",
    "Row",
    "agent_of",
    "facts_digest",
    "generations",
    "is_openclaws",
    "is_without",
    "reader",
    "rows",
    "source_of",
    "tail",
]

"""What the memory engine keeps, and what follows from it: rows in lists, the visible path and the index worked out on demand.

It refuses to know transactions and questions. Invariants: a row's ``seq`` is its place in the window's list; rows are never changed,
only added or replaced whole, so a copy of the lists is a snapshot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from wesaid import limits
from wesaid.rules import branch
from wesaid.values import Facts, Flag, Folder, Lost, Prepared, Said, SourceState, StoredEvent, Tombstone, Versions, WindowSpec


@dataclass(frozen=True, slots=True)
class Row:
    """A transcript row. ``rowid`` is the place in time of its index row, kept even while the row is off the path."""

    seq: int
    rowid: int
    prepared: Prepared

    @property
    def id(self) -> str | None:
        """The event's id."""
        return self.prepared.event.nav.id


@dataclass(slots=True)
class Window:
    """One generation of a session."""

    number: int
    spec: WindowSpec
    rows: list[Row] = field(default_factory=list)


@dataclass(slots=True)
class Session:
    """A session with its windows, oldest first."""

    token: int
    facts: Facts
    windows: list[Window] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Entry:
    """An index row: a visible row that said something."""

    position: int
    row: Row
    said: Said
    flags: Flag


@dataclass(slots=True)
class State:
    """Everything of one agent. A reader holds a state that nobody changes; a writer changes its own copy."""

    sessions: dict[str, Session] = field(default_factory=dict)
    tombstones: dict[str, Tombstone] = field(default_factory=dict)
    sources: dict[str, SourceState] = field(default_factory=dict)
    origins: set[tuple[str, str]] = field(default_factory=set)  # key and path: which session came from which source
    folders: dict[str, Folder] = field(default_factory=dict)
    taken: set[int] = field(default_factory=set)
    tokens: int = 0
    windows: int = 0
    marked: dict[int, int] = field(default_factory=dict)  # window -> position from which its rows are to be looked at
    missed: set[int] = field(default_factory=set)  # those of them that count as incomplete until then
    versions: Versions | None = None
    lost: Lost | None = None
    turn: tuple[str, int] | None = None  # who reconciles, and until when

    def copy(self) -> State:
        """A state that may be changed without this one noticing."""
        sessions = {
            key: Session(session.token, session.facts, [Window(w.number, w.spec, list(w.rows)) for w in session.windows])
            for key, session in self.sessions.items()
        }
        return replace(
            self,
            sessions=sessions,
            tombstones=dict(self.tombstones),
            sources=dict(self.sources),
            origins=set(self.origins),
            folders=dict(self.folders),
            taken=set(self.taken),
            marked=dict(self.marked),
            missed=set(self.missed),
        )

    def window(self, number: int) -> Window | None:
        """The window of a number, of whatever session."""
        return next((w for s in self.sessions.values() for w in s.windows if w.number == number), None)

    def claim(self, timestamp: int) -> int:
        """The next free rowid from the second of ``timestamp`` on."""
        rowid = timestamp // limits.SECONDS_MS
        while rowid in self.taken:
            rowid += 1
        self.taken.add(rowid)
        return rowid


def resolved(window: Window) -> branch.Resolution:
    """The window's branch, always worked out from all of its rows."""
    return branch.resolve([row.prepared.event.nav for row in window.rows])


def visible(window: Window) -> list[Row]:
    """The rows of the visible path, by position."""
    return [window.rows[seq] for seq in resolved(window).path]


def entries(window: Window) -> list[Entry]:
    """The window's index: every visible row that said something, with copies marked; nothing of a window that may not be found."""
    if not window.spec.findable:
        return []
    found = [
        Entry(position, row, row.prepared.said, row.prepared.said.flags)
        for position, row in enumerate(visible(window))
        if row.prepared.said is not None
    ]
    return [Entry(e.position, e.row, e.said, e.flags | Flag.COPY) if _is_copy(e, found) else e for e in found]


def _is_copy(entry: Entry, among: Sequence[Entry]) -> bool:
    """Whether a delivery mirror repeats a reply near it on the path, before or after (races reorder the two), or an earlier mirror."""
    return Flag.MIRROR in entry.flags and any(
        other.said.role == "assistant"
        and (Flag.MIRROR not in other.flags or other.position < entry.position)
        and other.said.digest == entry.said.digest
        and abs(other.position - entry.position) <= limits.MIRROR_LOOK_BACK
        for other in among
    )


def stored_rows(window: Window) -> list[StoredEvent]:
    """All rows of a window as they are read back, in order of seq."""
    path = visible(window)
    positions = {row.seq: position for position, row in enumerate(path)}
    counts = accumulate(int(row.prepared.shown) for row in path)
    shown = {row.seq: count for row, count in zip(path, counts, strict=True)}
    index = {entry.row.seq: entry for entry in entries(window)}
    return [_stored(window, row, (positions.get(row.seq), shown.get(row.seq, 0)), index.get(row.seq)) for row in window.rows]


def stored_path(window: Window) -> list[StoredEvent]:
    """The visible rows of a window as they are read back, by position."""
    rows = stored_rows(window)
    return [rows[row.seq] for row in visible(window)]


def _stored(window: Window, row: Row, place: tuple[int | None, int], entry: Entry | None) -> StoredEvent:
    """A row as it is read back; ``place`` is its position and how many rows history shows up to it."""
    return StoredEvent(
        window=window.number,
        session_id=window.spec.session_id,
        seq=row.seq,
        position=place[0],
        shown=place[1],
        id=row.id,
        type=row.prepared.event.type,
        timestamp=row.prepared.event.timestamp,
        body=row.prepared.body,
        spans=entry.said.spans if entry else (),
        redact_version=entry.said.redact_version if entry else None,
        flags=entry.flags if entry else Flag.NONE,
    )

"""Rows out of a database whose pages are damaged: read forwards to the first damage, backwards to the last, and in between by halving.

What is read is checked before it counts: SQLite's types (the new tables are STRICT), rowids that rise, bodies that unpack to JSON. Refuses to know
files. Work is bounded by ``limits.RESCUE_PROBES`` questions a table.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, islice
from typing import Any, Final

import apsw

from wesaid import limits
from wesaid.engines.sqlite import losses
from wesaid.engines.sqlite.connection import fetch
from wesaid.engines.sqlite.leaves import Row
from wesaid.engines.sqlite.records import LOW, SHIFT, unpack_body
from wesaid.errors import StoreError
from wesaid.rules import branch

_BROKEN: Final = (apsw.Error, UnicodeDecodeError, ValueError, OverflowError)  # what a damaged row may raise while it is read
_LOWEST: Final = -(1 << 63)  # of a rowid: 64 bits
_HIGHEST: Final = (1 << 63) - 1  # the same
_GUESSED_ROWS: Final = 1 << 20  # of a table whose own count cannot be read
_TYPES: Final[dict[str, type]] = {"TEXT": str, "INTEGER": int, "BLOB": bytes}  # as the tables declare them
Leaves = Callable[[int], Iterator[Row]]
_PAIRS: Final = ("source", "source_session", "tombstone", "tombstone_window")


@dataclass(slots=True)
class Read:
    """What was read, and what was not."""

    sessions: int = 0
    events: int = 0
    lost: dict[str | None, int] = field(default_factory=dict)  # events by session key; None: of no session that is known
    unreadable: list[str] = field(default_factory=list)  # tables with damage
    uncounted: bool = False  # and events of which it is not known how many they were
    deletions: bool = False  # which sessions were deleted could not be read


class _Space:
    """Which rowids a table may have: half-open ranges, in order; counted through, so that halving skips what cannot be."""

    def __init__(self, ranges: Sequence[tuple[int, int]]) -> None:
        self._firsts = [start for start, _ in ranges]
        self._ends = [end for _, end in ranges]
        self._before = [0, *accumulate(end - start for start, end in ranges)]

    def number(self, rowid: int) -> int:
        """How many possible rowids are below this one."""
        at = bisect_right(self._firsts, rowid) - 1
        return 0 if at < 0 else self._before[at] + min(rowid, self._ends[at]) - self._firsts[at]

    def rowid(self, number: int) -> int:
        """The ``number``-th possible rowid."""
        at = bisect_right(self._before, number) - 1
        return self._firsts[at] + number - self._before[at]


def rescue(source: apsw.Connection, target: apsw.Connection, leaves: Leaves | None) -> Read:
    """Every readable row of the transcripts, written to the empty tables of ``target``.

    ``leaves`` gives the rows of a number of columns in all pages of the file, whether or not a tree leads to them.
    """
    work = _Rescue(source, target, leaves)
    read = work.read
    work.copy("session", "token", _Space([(1, work.last("session") + 1)]))
    work.copy("window", "window", _Space([(1, work.last("window") + 1)]))
    expected = {
        window: count
        for window, count in fetch(target, "SELECT window, next_seq FROM window")
        if 0 <= count <= LOW and 0 < window <= LOW >> 1
    }
    ranges = [(window << SHIFT, (window << SHIFT) + count) for window, count in sorted(expected.items()) if count]
    work.copy("event", "place", _Space(ranges or [(1 << SHIFT, (1 << SHIFT) + _GUESSED_ROWS)]))
    for table in _PAIRS:
        work.both_ways(table)
    target.execute("UPDATE window SET path_length = 0, next_seq = 0, cursor = ?", (branch.START.to_json(),))
    read.sessions = int(target.execute("SELECT count(*) FROM session").get)
    read.events = int(target.execute("SELECT count(*) FROM event").get)
    _account(target, expected, read)
    return read


def _account(target: apsw.Connection, expected: dict[int, int], read: Read) -> None:
    """What each session lost, and which sources are to be read again for it."""
    for window, count in expected.items():
        base = window << SHIFT
        there = int(target.execute("SELECT count(*) FROM event WHERE place >= ? AND place < ?", (base, (window + 1) << SHIFT)).get)
        if there < count:
            key = target.execute("SELECT s.key FROM window w JOIN session s ON s.token = w.session WHERE w.window = ?", (window,)).get
            read.lost[key] = read.lost.get(key, 0) + count - there
    if read.unreadable == ["event"] and not read.lost:
        read.unreadable.clear()  # whatever was damaged, every event that was counted is there
    damaged = set(read.unreadable)
    unknown = None in read.lost or not damaged.isdisjoint(("session", "window"))
    read.uncounted = {"event", "window"} <= damaged
    if unknown or read.lost:
        losses.read_anew(target, None if unknown else [key for key in read.lost if key is not None])
    read.deletions = not damaged.isdisjoint(("tombstone", "tombstone_window"))
    if read.deletions and "session" not in damaged:
        _deleted_again(target)


def _deleted_again(target: apsw.Connection) -> None:
    """Tombstones of sessions that came from a source and are not there: whatever else took them out, they were deleted."""
    for (told,) in fetch(target, "SELECT keys FROM source"):
        for key in _list(told):
            target.execute(
                "INSERT OR IGNORE INTO tombstone (key, deleted_at) SELECT ?1, 0 WHERE NOT EXISTS (SELECT 1 FROM session WHERE key = ?1)",
                (key,),
            )


def _list(text: str) -> list[str]:
    try:
        found = json.loads(text)
    except ValueError:
        return []
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────────────
class _Rescue:
    """Two files, and the account of what went from one into the other."""

    def __init__(self, source: apsw.Connection, target: apsw.Connection, leaves: Leaves | None) -> None:
        self._source = source
        self._target = target
        self._leaves = leaves
        self.read = Read()

    def last(self, table: str) -> int:
        """The highest number that a table has given out; a guess when that cannot be read."""
        try:
            return min(int(self._source.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).get or 0), _GUESSED_ROWS)
        except (*_BROKEN, TypeError):
            return _GUESSED_ROWS

    def _columns(self, table: str) -> list[str]:
        """The columns that both have: an older file has fewer."""
        new = [row[1] for row in fetch(self._target, f"PRAGMA table_info({table})")]
        try:
            old = {row[1] for row in fetch(self._source, f"PRAGMA table_info({table})")}
        except _BROKEN:
            return []
        return [name for name in new if name in old]

    def copy(self, table: str, key: str, space: _Space) -> None:
        """A table with rowids: around its damage, then, when there is any, out of every page that may be a leaf of it."""
        names = self._columns(table)
        damaged = [key not in names]
        if not damaged[0]:
            select = f"SELECT {', '.join(names)} FROM {table}"
            for row in _around(self._source, select, key, names.index(key), space, damaged):
                if not self._insert(table, names, row):
                    damaged[0] = True
        if damaged[0]:
            self.read.unreadable.append(table)
            self._stray(table)

    def _insert(self, table: str, names: Sequence[str], row: Sequence[Any]) -> bool:
        """Write a row, unless it is there; whether it is one of ours."""
        if "body" in names and not _is_record(row[names.index("body")]):
            return False
        try:
            self._target.execute(f"INSERT OR IGNORE INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})", tuple(row))
        except (apsw.ConstraintError, OverflowError):  # a type that the table does not have
            return False
        return True

    def _stray(self, table: str) -> None:
        """Rows of leaves that no tree leads to. Their types say whose they are, since nothing else does."""
        if self._leaves is None:
            return
        columns = fetch(self._target, f"PRAGMA table_info({table})")
        names = [row[1] for row in columns]
        kinds = [(_TYPES[row[2]], bool(row[3])) for row in columns]
        for rowid, values in self._leaves(len(columns)):
            fits = all(
                isinstance(value, kind) or (value is None and not needed)
                for value, (kind, needed) in zip(values[1:], kinds[1:], strict=True)
            )
            if values[0] is None and fits and (table != "event" or 0 < rowid >> SHIFT <= LOW >> 1):
                self._insert(table, names, (rowid, *values[1:]))

    def both_ways(self, table: str) -> None:
        """A table without rowids: from its beginning to the first damage, from its end back to the last."""
        names = self._columns(table)
        if not names:
            self.read.unreadable.append(table)
            return
        order = [row[1] for row in sorted(fetch(self._target, f"PRAGMA table_info({table})"), key=lambda row: row[5]) if row[5]]
        for way in ("ASC", "DESC"):
            sql = f"SELECT {', '.join(names)} FROM {table} ORDER BY {', '.join(f'{name} {way}' for name in order)}"
            try:
                for row in islice(self._source.execute(sql), _GUESSED_ROWS):
                    self._insert(table, names, row)
            except _BROKEN:
                if table not in self.read.unreadable:
                    self.read.unreadable.append(table)
                continue
            return


def _is_record(stored: object) -> bool:
    """Whether a body unpacks to JSON."""
    try:
        json.loads(unpack_body(stored)) if isinstance(stored, bytes) else json.loads("")
    except (StoreError, ValueError, RecursionError):
        return False
    return True


def _around(  # noqa: PLR0913, PLR0917 - a statement, its key, where to look, and whether there was damage
    db: apsw.Connection, select: str, key: str, at: int, space: _Space, damaged: list[bool]
) -> Iterator[tuple[Any, ...]]:
    """Every row that can be read, around whatever cannot."""
    waiting = deque([(_LOWEST, _HIGHEST)])
    for _ in range(limits.RESCUE_PROBES):
        if not waiting:
            return
        low, high = waiting.popleft()
        whole = [True]
        for row in _walk(db, f"{select} WHERE {key} BETWEEN ? AND ? ORDER BY {key}", (low, high), at, whole):
            yield row
            low = row[at] + 1
        if whole[0]:
            continue
        damaged[0] = True
        for row in _walk(db, f"{select} WHERE {key} BETWEEN ? AND ? ORDER BY {key} DESC", (low, high), at, whole):
            yield row
            high = row[at] - 1
        first, last = space.number(low), space.number(high + 1)
        if last - first > 1:
            middle = (first + last) // 2
            waiting.append((space.rowid(first), space.rowid(middle) - 1))
            waiting.append((space.rowid(middle), space.rowid(last - 1)))
    damaged[0] = True


def _walk(db: apsw.Connection, sql: str, between: tuple[int, int], at: int, whole: list[bool]) -> Iterator[tuple[Any, ...]]:
    """Rows until one cannot be read, or is none that can follow; ``whole`` says whether that was the end."""
    low, high = between
    if low > high:
        return
    down = sql.endswith("DESC")
    try:
        for row in db.execute(sql, between):
            rowid = row[at]
            if not isinstance(rowid, int) or not low <= rowid <= high:
                whole[0] = False
                return
            low, high = (low, rowid - 1) if down else (rowid + 1, high)
            yield row
    except _BROKEN:
        whole[0] = False


__all__ = ["Read", "rescue"]

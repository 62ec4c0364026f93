"""Carrying out the steps of ``rules.branch`` on stored paths and index rows.

A window's state is read once a transaction and written back at the end of each call. Invariants: path rows are always the visible path; an index row off
the path exists only in a stale window whose ``purge`` says from where to look for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import apsw

from wesaid import limits
from wesaid.engines.sqlite.connection import fetch
from wesaid.engines.sqlite.index import Index, rids_of
from wesaid.engines.sqlite.records import LOW, SHIFT, SHOWN, SPEAKS, unpack_nav
from wesaid.errors import StoreDamagedError
from wesaid.rules import branch
from wesaid.rules.branch import Cursor, Cuts, Diverges, Extends, Known, Step
from wesaid.values import Flag, NavKind, Prepared, Said


@dataclass(slots=True)
class WindowState:
    """A window while its transaction writes to it."""

    window: int
    session: int
    findable: bool
    next_seq: int
    path_length: int
    cursor: Cursor
    messages: int = 0  # change of the session's message count, not yet written

    def take_messages(self) -> int:
        """The change of the message count since it was last taken."""
        change, self.messages = self.messages, 0
        return change


class Placing:
    """Paths and index rows of one database, inside the caller's transaction."""

    def __init__(self, db: apsw.Connection, index: Index) -> None:
        self._db = db
        self._index = index
        self._windows: dict[int, WindowState] = {}

    def window(self, window: int) -> WindowState:
        """A window's state, read once."""
        state = self._windows.get(window)
        if state is None:
            session, findable, next_seq, length, cursor = self._db.execute(
                "SELECT session, findable, next_seq, path_length, cursor FROM window WHERE window = ?", (window,)
            ).get
            try:
                known = Cursor.from_json(cursor)
            except ValueError as error:
                raise StoreDamagedError("where a window stands cannot be read", hint="`wesaid doctor --fix` makes it anew") from error
            state = WindowState(window, session, bool(findable), next_seq, length, known)
            self._windows[window] = state
        return state

    def forget_all(self) -> None:
        """Drop all that is remembered: the index was changed as a whole."""
        self._windows.clear()

    def forget(self, window: int) -> None:
        """Drop what is remembered of a window that is deleted or changed behind this file's back."""
        self._windows.pop(window, None)

    def save(self, state: WindowState) -> None:
        """Write a window's state back."""
        self._db.execute(
            "UPDATE window SET next_seq = ?, path_length = ?, cursor = ? WHERE window = ?",
            (state.next_seq, state.path_length, state.cursor.to_json(), state.window),
        )

    def known(self, window: int, name: str) -> Known | None:
        """``branch.Lookup``: the newest event of a window with this id that stands in the tree."""
        rows = self._db.execute(
            "SELECT e.place, e.nav, e.id, e.parent, e.target, e.append_parent, p.spot FROM event e LEFT JOIN path p ON p.place = e.place"
            " WHERE e.id = ? AND e.place >= ? AND e.place < ? ORDER BY e.place DESC",
            (name, window << SHIFT, (window + 1) << SHIFT),
        )
        for place, packed, identity, parent, target, append_parent, spot in rows:
            kind = branch.standing(unpack_nav(packed, identity, parent, target, append_parent))
            if kind is not NavKind.NONE:
                return Known(kind=kind, seq=place & LOW, position=None if spot is None else spot & LOW, target=target)
        return None

    def carry_out(self, state: WindowState, step: Step, place: int, prepared: Prepared) -> bool:
        """Do what the branch says with an event that was just written at ``place``; whether it is indexed now."""
        state.cursor = step.cursor
        if isinstance(step, Diverges):
            self.resolve(state, {place: prepared})
            return bool(self._db.execute("SELECT EXISTS (SELECT 1 FROM entry WHERE place = ?)", (place,)).get)
        if isinstance(step, Cuts):
            self._cut(state, step.keep)
        if isinstance(step, Extends) or (isinstance(step, Cuts) and step.adds):
            return self._extend(state, place, prepared)
        return False

    def _extend(self, state: WindowState, place: int, prepared: Prepared) -> bool:
        spot = (state.window << SHIFT) + state.path_length
        before = self._db.execute("SELECT shown FROM path WHERE spot = ?", (spot - 1,)).get if state.path_length else 0
        self._db.execute("INSERT INTO path (spot, place, shown) VALUES (?, ?, ?)", (spot, place, int(before or 0) + prepared.shown))
        # What is entered now is not missing from a window that waits for other work.
        self._db.execute("UPDATE stale SET keep = keep + 1 WHERE window = ? AND keep = ?", (state.window, state.path_length))
        state.path_length += 1
        return self._enter(state, spot, place, (prepared.event.timestamp, prepared.said))

    def _enter(self, state: WindowState, spot: int, place: int, spoken: tuple[int, Said | None]) -> bool:
        """The index row of a visible event, if it said something in a window that may be found. ``spoken``: when, and what."""
        timestamp, said = spoken
        if said is None or not state.findable:
            return False
        flags = said.flags
        if said.role == "assistant":
            flags |= self._copy_flag(state, spot, said.digest, mirror=bool(flags & Flag.MIRROR))
        self._index.add(place, state.session, timestamp, said, flags)
        state.messages += 0 if flags & Flag.COPY else 1
        return True

    def _copy_flag(self, state: WindowState, spot: int, digest: int, *, mirror: bool) -> Flag:
        """COPY for a mirror whose text a near neighbour has. When the mirror came first, it is the one that gets the flag."""
        first = max(spot - limits.MIRROR_LOOK_BACK, state.window << SHIFT)
        near = fetch(
            self._db,
            "SELECT e.rid, e.flags FROM path p JOIN entry e ON e.place = p.place WHERE p.spot >= ? AND p.spot < ? AND e.digest = ? AND e.role = 1",
            (first, spot, digest),
        )
        if mirror and near:
            return Flag.COPY
        for rid, flags in near:
            if flags & Flag.MIRROR and not flags & Flag.COPY:
                self._db.execute("UPDATE entry SET flags = ? WHERE rid = ?", (flags | Flag.COPY, rid))
                state.messages -= 1
        return Flag.NONE

    def _cut(self, state: WindowState, keep: int) -> None:
        """Shorten the path to its first ``keep`` positions; its index rows go too, or are hidden when they are many."""
        low, high = (state.window << SHIFT) + keep, (state.window + 1) << SHIFT
        if state.path_length - keep <= limits.PATH_CUT_ROWS:
            places = "e.place IN (SELECT place FROM path WHERE spot >= ? AND spot < ?)"
            self._drop(state, rids_of(self._db, places, (low, high)))
            self._db.execute("UPDATE stale SET keep = min(keep, ?1), old = min(old, ?1) WHERE window = ?2", (keep, state.window))
        else:
            first = self._db.execute("SELECT min(place) FROM path WHERE spot >= ? AND spot < ?", (low, high)).get
            counted = "SELECT count(*) FROM path p JOIN entry e ON e.place = p.place WHERE p.spot >= ? AND p.spot < ? AND NOT e.flags & ?"
            state.messages -= int(self._db.execute(counted, (low, high, int(Flag.COPY))).get)
            self._mark(state, keep, int(first) & LOW)
        self._db.execute("DELETE FROM path WHERE spot >= ? AND spot < ?", (low, high))
        state.path_length = keep
        first = self._db.execute("SELECT keep FROM stale WHERE window = ?", (state.window,)).get
        if first is not None and first < keep:  # what was missing may have been cut away
            self._db.execute("UPDATE stale SET keep = ? WHERE window = ?", (self._first_missing(state, first), state.window))
        self._reconsider(state)

    def _reconsider(self, state: WindowState) -> None:
        """After a cut: a mirror whose reply is gone is a message again, its text must not be lost with it."""
        end = (state.window << SHIFT) + state.path_length
        reach = limits.MIRROR_LOOK_BACK
        rows = fetch(
            self._db,
            "SELECT p.spot, e.rid, e.flags, e.digest FROM path p JOIN entry e ON e.place = p.place WHERE p.spot >= ? AND p.spot < ? AND e.role = 1",
            (max(end - 2 * reach, state.window << SHIFT), end),
        )
        for spot, rid, flags, digest in rows:
            repeats = any(
                other[1] != rid and other[3] == digest and abs(other[0] - spot) <= reach and (not other[2] & Flag.MIRROR or other[0] < spot)
                for other in rows
            )
            if flags & Flag.COPY and spot >= end - reach and not repeats:
                self._db.execute("UPDATE entry SET flags = ? WHERE rid = ?", (flags & ~Flag.COPY, rid))
                state.messages += 1

    def _drop(self, state: WindowState, rows: list[tuple[int, int]]) -> None:
        self._index.drop([rid for rid, _ in rows])
        state.messages -= sum(1 for _, flags in rows if not flags & Flag.COPY)

    def _mark(self, state: WindowState, keep: int, purge: int | None) -> None:
        """Remember that a window is stale from ``keep`` on, and from which seq on rows may be off the path."""
        self._db.execute(
            "INSERT INTO stale (window, keep, purge) VALUES (?1, ?2, ?3) ON CONFLICT (window) DO UPDATE SET keep = min(keep, ?2),"
            " purge = CASE WHEN purge IS NULL THEN ?3 WHEN ?3 IS NULL THEN purge ELSE min(purge, ?3) END",
            (state.window, keep, purge),
        )

    def resolve(self, state: WindowState, fresh: Mapping[int, Prepared] | None = None) -> None:
        """Read the whole window's navigation and store its path anew; what both paths begin with stays indexed.

        ``fresh`` are events of this transaction, by place, which need no second preparation.
        """
        base = state.window << SHIFT
        rows = fetch(
            self._db,
            "SELECT nav, id, parent, target, append_parent FROM event WHERE place >= ? AND place < ? ORDER BY place",
            (base, (state.window + 1) << SHIFT),
        )
        resolution = branch.resolve(unpack_nav(*row) for row in rows)
        stored = self._db.execute("SELECT place FROM path WHERE spot >= ? AND spot < ? ORDER BY spot", (base, (state.window + 1) << SHIFT))
        common = 0
        for (place,), seq in zip(stored, resolution.path, strict=False):
            if place & LOW != seq:
                break
            common += 1
        self._cut(state, common)
        state.cursor = resolution.cursor
        counts = accumulate(int(bool(rows[seq][0] & SHOWN)) for seq in resolution.path)
        whole = zip(range(len(resolution.path)), resolution.path, counts, strict=True)
        self._db.executemany(
            "INSERT INTO path (spot, place, shown) VALUES (?, ?, ?)",
            [(base + position, base + seq, shown) for position, seq, shown in whole if position >= common],
        )
        state.path_length = len(resolution.path)
        # Rows that an earlier rewind hid and this path shows again count again; `complete` looks at their flags.
        back = "SELECT count(*) FROM path p JOIN entry e ON e.place = p.place WHERE p.spot >= ? AND p.spot < ? AND NOT e.flags & ?"
        state.messages += int(self._db.execute(back, (base + common, base + state.path_length, int(Flag.COPY))).get)
        self._mark(state, common, None)
        before = self._db.execute("SELECT keep FROM stale WHERE window = ?", (state.window,)).get
        self._db.execute(
            "UPDATE stale SET keep = ?1, old = min(coalesce(old, ?2), ?2) WHERE window = ?3",
            (self._first_missing(state, before), common, state.window),
        )
        if state.path_length - common <= limits.PATH_CUT_ROWS:
            self.complete(state, state.path_length, {place & LOW: event.said for place, event in (fresh or {}).items()})

    def move(self, window: int, start: int, end: int, by: int) -> None:
        """Give the events of a window from seq ``start`` up to ``end`` numbers that are higher; their path and index rows follow."""
        base = window << SHIFT
        for table in ("event", "entry", "path"):
            rows = fetch(
                self._db, f"SELECT place FROM {table} WHERE place >= ? AND place < ? ORDER BY place DESC", (base + start, base + end)
            )
            self._db.executemany(f"UPDATE {table} SET place = place + ? WHERE place = ?", [(by, place) for (place,) in rows])

    def _first_missing(self, state: WindowState, common: int) -> int:
        """The first position from ``common`` on whose index row is not there; the end of the path when none lacks: hidden ones came back."""
        base = state.window << SHIFT
        found = self._db.execute(
            "SELECT p.spot FROM path p JOIN event v ON v.place = p.place LEFT JOIN entry e ON e.place = p.place WHERE p.spot >= ? AND p.spot < ?"
            f" AND e.rid IS NULL AND {SPEAKS} ORDER BY p.spot LIMIT 1",
            (base + common, base + state.path_length),
        ).get
        return state.path_length if found is None else int(found) & LOW

    def show(self, state: WindowState, *, findable: bool) -> None:
        """A window that may be found from now on, or no longer: its tool has rewound the chain that it belongs to (contract.md §4)."""
        if findable == state.findable:
            return
        state.findable = findable
        if findable:
            self._mark(state, 0, None)
            return
        whole = (state.window << SHIFT, (state.window + 1) << SHIFT)
        on_path = "e.place >= ? AND e.place < ? AND EXISTS (SELECT 1 FROM path p WHERE p.place = e.place)"
        self._drop(state, rids_of(self._db, on_path, whole))
        self._index.drop([rid for rid, _ in rids_of(self._db, "e.place >= ? AND e.place < ?", whole)])  # hidden ones, uncounted already
        self._db.execute("DELETE FROM stale WHERE window = ?", (state.window,))

    def complete(self, state: WindowState, end: int, said: Mapping[int, Said | None]) -> None:
        """Index what is given up to position ``end``, as far as it goes without a gap; clear a slice of hidden rows; end the staleness."""
        found = self._db.execute("SELECT keep, purge, old FROM stale WHERE window = ?", (state.window,)).get
        if found is None:
            return
        keep, purge, old = found
        at = keep if old is None else min(keep, old)
        base = state.window << SHIFT
        rows = fetch(
            self._db,
            f"SELECT p.spot, p.place, v.timestamp, {SPEAKS}, e.rid, e.flags, e.digest, e.role"
            " FROM path p JOIN event v ON v.place = p.place LEFT JOIN entry e ON e.place = p.place"
            " WHERE p.spot >= ? AND p.spot < ? ORDER BY p.spot LIMIT ?",
            (base + at, base + min(end, state.path_length), limits.REBUILD_LOOK_ROWS),
        )
        for spot, place, timestamp, speaks, *row in rows:
            seq = place & LOW
            if seq in said:
                if row[0] is not None:
                    self._drop(state, [(row[0], row[1])])
                self._enter(state, spot, place, (timestamp, said[seq]))
            elif row[0] is not None:
                self._look_again(state, spot, row)
            elif speaks and state.findable:
                break  # it said something, and was not given
            at += 1
        if purge is not None:
            purge = self._purge(base, purge)
        keep = self._first_missing(state, max(keep, at))
        old = None if old is None or at >= state.path_length else max(old, at)
        if keep >= state.path_length and old is None and purge is None:
            self._db.execute("DELETE FROM stale WHERE window = ?", (state.window,))
        else:
            self._db.execute("UPDATE stale SET keep = ?, purge = ?, old = ? WHERE window = ?", (keep, purge, old, state.window))

    def _look_again(self, state: WindowState, spot: int, row: Sequence[int]) -> None:
        """A row that was indexed before this path was: whether it is a copy may have changed."""
        rid, flags, digest, role = row
        now = flags & ~Flag.COPY
        if role:
            now |= self._copy_flag(state, spot, digest, mirror=bool(flags & Flag.MIRROR))
        if now != flags:
            self._db.execute("UPDATE entry SET flags = ? WHERE rid = ?", (int(now), rid))
            state.messages += -1 if now & Flag.COPY else 1

    def _purge(self, base: int, purge: int) -> int | None:
        """Drop hidden index rows among the next slice of places; where to go on, or None at the end. Their messages are uncounted already."""
        rows = fetch(
            self._db,
            "SELECT e.rid, e.place, p.spot FROM entry e LEFT JOIN path p ON p.place = e.place WHERE e.place >= ? AND e.place < ?"
            " ORDER BY e.place LIMIT ?",
            (base + purge, base + LOW, limits.REBUILD_SLICE_ROWS),
        )
        self._index.drop([rid for rid, _, spot in rows if spot is None])
        return (rows[-1][1] & LOW) + 1 if len(rows) == limits.REBUILD_SLICE_ROWS else None

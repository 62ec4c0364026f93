"""A consistent reading of one agent's database: sessions, windows, events, paths, sources. The index's side is in ``lookup``.

Every method is one or two statements over an index; none walks all sessions unless it is asked for all of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import apsw

from wesaid import limits
from wesaid.engines.sqlite import erasing, following, losses, marking, narrowing
from wesaid.engines.sqlite.connection import reader
from wesaid.engines.sqlite.lookup import Lookup
from wesaid.engines.sqlite.records import SHIFT, SHOWN
from wesaid.engines.sqlite.rows import EVENT, NAMED_WINDOW, PATH, SESSION, WINDOW, event_of, session_of, source_of, window_of
from wesaid.values import (
    NO_FILTERS,
    Clause,
    Filters,
    Folder,
    Found,
    Gap,
    KnownFile,
    Lost,
    Match,
    Scope,
    SessionRow,
    SourceState,
    StaleWindow,
    StoredEvent,
    Term,
    Tombstone,
    Versions,
    WindowRow,
)


@reader
class SqliteView:
    """``engines.contract.View`` over one connection that has a read transaction open."""

    def __init__(self, db: apsw.Connection, path: Path, lookup: Lookup) -> None:
        self._db = db
        self._path = path
        self._lookup = lookup
        self.agent_id = lookup.agent_id

    # ── sessions ─────────────────────────────────────────────────────────────────────────────────────────────────
    def session(self, key: str) -> SessionRow | None:
        """See the contract."""
        row = self._db.execute(f"{SESSION} WHERE s.key = ?", (key,)).get
        return session_of(row) if row else None

    def session_by_id(self, session_id: str, scope: Scope) -> SessionRow | None:
        """See the contract."""
        where, bindings = _within(scope)
        row = self._db.execute(
            f"{SESSION} {where or 'WHERE 1'} AND s.token IN (SELECT session FROM window WHERE session_id = ?)"
            " ORDER BY s.updated_at DESC, s.key LIMIT 1",
            (*bindings, session_id),
        ).get
        return session_of(row) if row else None

    def sessions(self, scope: Scope, *, offset: int = 0, limit: int | None = None, filters: Filters = NO_FILTERS) -> list[SessionRow]:
        """See the contract."""
        where, bindings = _within(scope)
        asked, more = narrowing.conditions(filters)
        where = " AND ".join([where or "WHERE 1", *asked])
        rows = self._db.execute(
            f"{SESSION} {where} ORDER BY s.updated_at DESC, s.key LIMIT ? OFFSET ?",
            (*bindings, *more, -1 if limit is None else limit, offset),
        )
        return [session_of(row) for row in rows]

    def tools(self, scope: Scope) -> list[str]:
        """See the contract."""
        where, bindings = _within(scope)
        rows = self._db.execute(f"SELECT DISTINCT s.tool FROM session s {where or 'WHERE 1'} AND s.tool IS NOT NULL ORDER BY 1", bindings)
        return [row[0] for row in rows]

    def sessions_with(self, event_id: str, scope: Scope) -> list[SessionRow]:
        """See the contract."""
        where, bindings = _within(scope)
        rows = self._db.execute(
            f"{SESSION} {where or 'WHERE 1'} AND s.token IN (SELECT w.session FROM event e JOIN window w ON w.window = e.place >> 32 WHERE e.id = ?)"
            " ORDER BY s.updated_at DESC, s.key LIMIT ?",
            (*bindings, event_id, limits.RESULTS_MAX),
        )
        return [session_of(row) for row in rows]

    def count_sessions(self, scope: Scope, filters: Filters = NO_FILTERS) -> int:
        """See the contract."""
        where, bindings = _within(scope)
        asked, more = narrowing.conditions(filters)
        if where or asked:  # without any condition, not even `WHERE 1`, SQLite counts pages and not rows: every search asks
            where = " AND ".join([where or "WHERE 1", *asked])
        return int(self._db.execute(f"SELECT count(*) FROM session s {where}", (*bindings, *more)).get)

    def children(self, key: str) -> list[str]:
        """See the contract."""
        return [row[0] for row in self._db.execute("SELECT key FROM session WHERE spawned_by = ? ORDER BY key", (key,))]

    def forks(self, scope: Scope) -> list[tuple[str, str]]:
        """See the contract."""
        where, bindings = _within(scope)
        rows = self._db.execute(
            f"SELECT s.key, s.forked_from FROM session s {where or 'WHERE 1'} AND s.forked_from IS NOT NULL ORDER BY s.key", bindings
        )
        return [(row[0], row[1]) for row in rows]

    def windows(self, key: str) -> list[WindowRow]:
        """See the contract."""
        rows = self._db.execute(f"{WINDOW} WHERE s.key = ? ORDER BY w.ordinal, w.window", (key,))
        return [window_of(row) for row in rows]

    def window(self, key: str, session_id: str | None = None) -> WindowRow | None:
        """See the contract."""
        if session_id is None:
            row = self._db.execute(f"{WINDOW} WHERE s.key = ? ORDER BY w.ordinal DESC, w.window DESC LIMIT 1", (key,)).get
        else:
            row = self._db.execute(f"{NAMED_WINDOW} WHERE w.session_id = ? AND s.key = ?", (session_id, key)).get
        return window_of(row) if row else None

    def tombstone(self, key: str) -> Tombstone | None:
        """See the contract."""
        row = self._db.execute("SELECT deleted_at, erased_at FROM tombstone WHERE key = ?", (key,)).get
        if row is None:
            return None
        ids = tuple(r[0] for r in self._db.execute("SELECT session_id FROM tombstone_window WHERE key = ? ORDER BY session_id", (key,)))
        return Tombstone(key=key, session_ids=ids, deleted_at=row[0], erased_at=row[1] or None)  # 0: a round is under way

    def tombstone_by_id(self, session_id: str) -> Tombstone | None:
        """See the contract."""
        key = self._db.execute("SELECT key FROM tombstone_window WHERE session_id = ?", (session_id,)).get
        return self.tombstone(key) if key else None

    def unerased(self) -> bool:
        """See the contract."""
        return erasing.is_pending(self._db)

    def stored(self, key: str) -> Iterator[bytes]:
        """See the contract."""
        for window in self.windows(key):
            low, high = window.window << SHIFT, (window.window + 1) << SHIFT
            for (body,) in self._db.execute("SELECT body FROM event WHERE place >= ? AND place < ? ORDER BY place", (low, high)):
                yield body
        for columns in self._db.execute("SELECT title, label, project, extra FROM session WHERE key = ?", (key,)):
            yield from (str(text).encode("utf-8", "replace") for text in columns if text)

    # ── events ───────────────────────────────────────────────────────────────────────────────────────────────────
    def events(self, window: int, *, after_seq: int = -1, limit: int) -> list[StoredEvent]:
        """See the contract."""
        rows = self._db.execute(
            f"{EVENT} WHERE e.place > ? AND e.place < ? ORDER BY e.place LIMIT ?",
            ((window << SHIFT) + after_seq, (window + 1) << SHIFT, limit),
        )
        return [event_of(row) for row in rows]

    def event(self, window: int, event_id: str) -> StoredEvent | None:
        """See the contract."""
        row = self._db.execute(
            f"{EVENT} WHERE e.id = ? AND e.place >= ? AND e.place < ? ORDER BY e.place DESC LIMIT 1",
            (event_id, window << SHIFT, (window + 1) << SHIFT),
        ).get
        return event_of(row) if row else None

    def path(self, window: int, *, start: int, count: int, shown: bool = False) -> list[StoredEvent]:
        """See the contract."""
        first = max(start, 0)
        rows = self._db.execute(
            f"{PATH} WHERE p.spot >= ? AND p.spot < ? AND e.nav & ? = ? ORDER BY p.spot LIMIT ?",
            ((window << SHIFT) + first, (window + 1) << SHIFT, *((SHOWN, SHOWN) if shown else (0, 0)), max(count, 0)),
        )
        return [event_of(row) for row in rows]

    def path_length(self, window: int) -> int:
        """See the contract."""
        return int(self._db.execute("SELECT path_length FROM window WHERE window = ?", (window,)).get or 0)

    def shown(self, window: int) -> int:
        """See the contract."""
        last = "SELECT shown FROM path WHERE spot >= ? AND spot < ? ORDER BY spot DESC LIMIT 1"
        return int(self._db.execute(last, (window << SHIFT, (window + 1) << SHIFT)).get or 0)

    def shown_at(self, window: int, number: int) -> int | None:
        """See the contract. The running count never falls, so that a position is found by halving."""
        base, low, high = window << SHIFT, 0, self.path_length(window)
        if number < 0 or number >= self.shown(window):
            return None
        while low < high:
            middle = (low + high) // 2
            if self._db.execute("SELECT shown FROM path WHERE spot = ?", (base + middle,)).get > number:
                high = middle
            else:
                low = middle + 1
        return low

    def locate(self, key: str, event_id: str, session_id: str | None = None) -> StoredEvent | None:
        """See the contract."""
        row = self._db.execute(
            f"{EVENT} JOIN session s ON s.token = w.session WHERE e.id = ?1 AND s.key = ?2 AND w.findable AND p.spot IS NOT NULL"
            " AND (?3 IS NULL OR w.session_id = ?3) ORDER BY w.ordinal DESC, e.place DESC LIMIT 1",
            (event_id, key, session_id),
        ).get
        return event_of(row) if row else None

    def known_ids(self, key: str, ids: Iterable[str]) -> set[str]:
        """See the contract."""
        wanted = json.dumps(list(ids))
        rows = self._db.execute(
            "SELECT DISTINCT e.id FROM json_each(?) j CROSS JOIN event e ON e.id = j.value JOIN window w ON w.window = e.place >> 32"
            " JOIN session s ON s.token = w.session WHERE s.key = ?",
            (wanted, key),
        )
        return {row[0] for row in rows}

    def holders(self, ids: Iterable[str]) -> list[tuple[str, str]]:
        """See the contract."""
        rows = self._db.execute(
            "SELECT DISTINCT e.id, s.key FROM json_each(?) j CROSS JOIN event e ON e.id = j.value JOIN window w ON w.window = e.place >> 32"
            " JOIN session s ON s.token = w.session ORDER BY e.id, s.key",
            (json.dumps(list(ids)),),
        )
        return [(str(own), str(key)) for own, key in rows]

    # ── the index: see lookup ────────────────────────────────────────────────────────────────────────────────────
    def frequency(self, term: Term, scope: Scope, *, bound: int) -> int:
        """See the contract."""
        return self._lookup.frequency(term, scope, bound)

    def indexed(self, scope: Scope, *, bound: int) -> int:
        """See the contract."""
        return self._lookup.indexed(scope, bound)

    def candidates(  # noqa: PLR0913 - the contract's
        self, match: Match, scope: Scope, filters: Filters, *, limit: int, oldest_first: bool = False, beyond: int | None = None
    ) -> Found:
        """See the contract."""
        return self._lookup.candidates(match, scope, filters, limit=limit, oldest_first=oldest_first, beyond=beyond)

    def titles(self, clauses: Sequence[Clause], scope: Scope, *, limit: int) -> list[str]:
        """See the contract."""
        return self._lookup.titles(clauses, scope, limit)

    def stale(self, scope: Scope, *, limit: int, lacking: bool = False) -> list[StaleWindow]:
        """See the contract."""
        columns = "s.key, t.window, t.keep, w.path_length, coalesce(min(t.keep, t.old), t.keep)"
        what = f"SELECT {columns} FROM stale t JOIN window w USING (window) JOIN session s ON s.token = w.session"
        only = "t.keep < w.path_length" if lacking else "1"
        bindings: tuple[str | int, ...] = (limit,)
        if scope.keys is not None:
            if len(scope.keys) < self._db.execute("SELECT count(*) FROM (SELECT 1 FROM stale LIMIT ?)", (len(scope.keys) + 1,)).get:
                what = (  # more windows are stale than keys are in scope: from the keys, then
                    f"SELECT {columns} FROM json_each(?) j CROSS JOIN session s ON s.key = j.value"
                    " CROSS JOIN window w ON w.session = s.token CROSS JOIN stale t USING (window)"
                )
            else:
                only += " AND s.key IN (SELECT value FROM json_each(?))"
            bindings = (json.dumps(sorted(scope.keys)), limit)
        rows = self._db.execute(f"{what} WHERE {only} ORDER BY t.window LIMIT ?", bindings)
        return [
            StaleWindow(key=key, window=window, keep=keep, left=max(length - begin, 0), lacks=keep < length)
            for key, window, keep, length, begin in rows
        ]

    def unindexed(self, window: int, versions: Versions, *, start: int | None = None, limit: int) -> Gap | None:
        """See the contract."""
        found = self._db.execute(
            "SELECT coalesce(min(t.keep, t.old), t.keep), w.path_length FROM stale t JOIN window w USING (window) WHERE window = ?",
            (window,),
        ).get
        if found is None:
            return None
        keep, length = found
        first = keep if start is None else max(start, keep)
        if first >= length:
            return Gap(window=window, start=first, end=length) if start is None else None
        last = min(first + limits.REBUILD_LOOK_ROWS, length)
        base = window << SHIFT
        rows = self._db.execute(
            f"{PATH} WHERE p.spot >= ? AND p.spot < ? AND e.nav & ? AND (n.rid IS NULL OR n.fold <> ? OR n.redact <> ?) ORDER BY p.spot",
            (base + first, base + last, SHOWN, versions.fold, versions.redact),
        )
        events: list[StoredEvent] = []
        size = 0
        for row in rows:
            event = event_of(row)
            if len(events) >= limit or (size + len(event.body) > limits.REBUILD_SLICE_BYTES and events):
                return Gap(window=window, start=first, end=int(event.position or 0), events=tuple(events))
            events.append(event)
            size += len(event.body)
        return Gap(window=window, start=first, end=last, events=tuple(events))

    def versions(self) -> Versions | None:
        """See the contract."""
        return marking.versions(self._db)

    def renewing(self, *, limit: int) -> list[SessionRow] | None:
        """See the contract."""
        keys = marking.renewing(self._db, limit)
        return None if keys is None else [row for row in map(self.session, keys) if row is not None]

    def unmarked(self) -> bool:
        """See the contract."""
        return marking.unmarked(self._db)

    # ── sources and totals ───────────────────────────────────────────────────────────────────────────────────────
    def source(self, path: str) -> SourceState | None:
        """See the contract."""
        row = self._db.execute("SELECT * FROM source WHERE path = ?", (path,)).get
        return source_of(row) if row else None

    def sources(self, key: str | None = None) -> list[SourceState]:
        """See the contract."""
        only = "" if key is None else "WHERE path IN (SELECT path FROM source_session WHERE key = ?)"
        rows = self._db.execute(f"SELECT * FROM source {only} ORDER BY path", () if key is None else (key,))
        return [state for row in rows if (state := source_of(row)) is not None]

    def recent_files(self, scope: Scope, *, limit: int) -> list[KnownFile]:
        """See the contract."""
        return following.recent_files(self._db, scope, limit)

    def files(self, *, after: str, limit: int) -> list[KnownFile]:
        """See the contract."""
        return following.files(self._db, after, limit)

    def known_paths(self, paths: Iterable[str]) -> set[str]:
        """See the contract."""
        return following.known_paths(self._db, paths)

    def folders(self) -> list[Folder]:
        """See the contract."""
        return following.folders(self._db)

    def lost(self) -> Lost | None:
        """See the contract."""
        return losses.lost(self._db)

    def totals(self) -> Mapping[str, int]:
        """See the contract."""
        count = {
            name: int(self._db.execute(f"SELECT count(*) FROM {table}").get)
            for name, table in (("sessions", "session"), ("windows", "window"), ("stale", "stale"), ("tombstones", "tombstone"))
        }
        count["events"] = int(self._db.execute("SELECT coalesce(sum(next_seq), 0) FROM window").get)
        count["messages"] = self._lookup.messages()
        count["bytes"] = int(self._db.pragma("page_count") or 0) * int(self._db.pragma("page_size") or 0)
        return count


def _within(scope: Scope) -> tuple[str, tuple[str, ...]]:
    if scope.keys is None:
        return "", ()
    return "WHERE s.key IN (SELECT value FROM json_each(?))", (json.dumps(sorted(scope.keys)),)

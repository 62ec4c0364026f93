"""Reading: every answer is worked out from the rows, by scanning all of them.

It refuses to know how rows came in and who asks. Invariant: scope and filters are applied to every message before any limit.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from wesaid import folders, limits
from wesaid.engines.memory import matching
from wesaid.engines.memory.state import Entry, Session, State, Window, entries, resolved, stored_path, stored_rows, visible
from wesaid.errors import StoreError
from wesaid.values import (
    EVERYTHING,
    NO_FILTERS,
    Candidate,
    Clause,
    Facts,
    Filters,
    Flag,
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


class MemoryView:
    """A reading of one state (see ``contract.View``)."""

    def __init__(self, agent_id: str, state: State) -> None:
        self._agent_id = agent_id
        self._kept: State | None = state

    def end(self) -> None:
        """Leave the block: every later use is an error."""
        self._kept = None

    @property
    def _state(self) -> State:
        if self._kept is None:
            raise StoreError("this reading has ended", hint="use a view inside its `with` block only")
        return self._kept

    # sessions
    def session(self, key: str) -> SessionRow | None:
        """The session of a full key."""
        session = self._state.sessions.get(key)
        return None if session is None else self._row(session)

    def session_by_id(self, session_id: str, scope: Scope) -> SessionRow | None:
        """The newest session in scope that has a window of this id."""
        having = [s for s in self._inside(scope) if any(w.spec.session_id == session_id for w in s.windows)]
        return self._row(min(having, key=_latest_first)) if having else None

    def sessions(self, scope: Scope, *, offset: int = 0, limit: int | None = None, filters: Filters = NO_FILTERS) -> list[SessionRow]:
        """Sessions in scope, of a tool and a project, latest first, ties by key."""
        inside = sorted((s for s in self._inside(scope) if _is_of(s.facts, filters)), key=_latest_first)
        return [self._row(s) for s in inside[offset : None if limit is None else offset + limit]]

    def tools(self, scope: Scope) -> list[str]:
        """The tools of the sessions in scope, sorted."""
        return sorted({s.facts.tool for s in self._inside(scope) if s.facts.tool is not None})

    def sessions_with(self, event_id: str, scope: Scope) -> list[SessionRow]:
        """Sessions in scope one of whose windows has an event of this id, latest first."""
        having = [s for s in self._inside(scope) if any(row.id == event_id for w in s.windows for row in w.rows)]
        return [self._row(s) for s in sorted(having, key=_latest_first)[: limits.RESULTS_MAX]]

    def count_sessions(self, scope: Scope, filters: Filters = NO_FILTERS) -> int:
        """How many sessions are in scope, of a tool and a project."""
        return sum(1 for s in self._inside(scope) if _is_of(s.facts, filters))

    def children(self, key: str) -> list[str]:
        """Keys of the sessions that this one spawned, sorted."""
        return sorted(s.facts.key for s in self._state.sessions.values() if s.facts.spawned_by == key)

    def forks(self, scope: Scope) -> list[tuple[str, str]]:
        """Every fork in scope with what it was forked from."""
        return sorted((s.facts.key, s.facts.forked_from) for s in self._inside(scope) if s.facts.forked_from is not None)

    def windows(self, key: str) -> list[WindowRow]:
        """Every window of a session, oldest first."""
        session = self._state.sessions.get(key)
        return [] if session is None else [_window_row(w) for w in session.windows]

    def window(self, key: str, session_id: str | None = None) -> WindowRow | None:
        """The window of this id, or the current one."""
        return next((row for row in reversed(self.windows(key)) if session_id in {None, row.session_id}), None)

    def tombstone(self, key: str) -> Tombstone | None:
        """What a deleted session left."""
        return self._state.tombstones.get(key)

    def tombstone_by_id(self, session_id: str) -> Tombstone | None:
        """The same, by the id of one of its windows."""
        return next((t for t in self._state.tombstones.values() if session_id in t.session_ids), None)

    def unerased(self) -> bool:
        """Whether a tombstone has not been told that nothing is left."""
        return any(stone.erased_at is None for stone in self._state.tombstones.values())

    def stored(self, key: str) -> Iterator[bytes]:
        """Bodies, then what the facts say in words."""
        session = self._state.sessions.get(key)
        if session is not None:
            yield from (row.prepared.body for window in session.windows for row in window.rows)
            facts = session.facts
            texts = (facts.title, facts.label, facts.project, json.dumps(dict(facts.extra)))
            yield from (text.encode("utf-8", "replace") for text in texts if text)

    # events
    def events(self, window: int, *, after_seq: int = -1, limit: int) -> list[StoredEvent]:
        """Rows of a window in order of seq."""
        found = self._state.window(window)
        return [] if found is None else [e for e in stored_rows(found) if e.seq > after_seq][:limit]

    def event(self, window: int, event_id: str) -> StoredEvent | None:
        """The newest row with this id in a window."""
        found = self._state.window(window)
        same = [] if found is None else [e for e in stored_rows(found) if e.id == event_id]
        return same[-1] if same else None

    def path(self, window: int, *, start: int, count: int, shown: bool = False) -> list[StoredEvent]:
        """Rows of the visible path by position, all or only those that history shows."""
        found = self._state.window(window)
        rows = [] if found is None else stored_path(found)[max(start, 0) :]
        if shown and found is not None:
            rows = [event for event in rows if found.rows[event.seq].prepared.shown]
        return rows[: max(count, 0)]

    def path_length(self, window: int) -> int:
        """Number of positions of the visible path."""
        found = self._state.window(window)
        return 0 if found is None else len(visible(found))

    def shown(self, window: int) -> int:
        """How many rows of the visible path history shows."""
        return len(self._shown_positions(window))

    def shown_at(self, window: int, number: int) -> int | None:
        """The position of the ``number``-th shown row."""
        positions = self._shown_positions(window)
        return positions[number] if 0 <= number < len(positions) else None

    def locate(self, key: str, event_id: str, session_id: str | None = None) -> StoredEvent | None:
        """The visible row with this id in the newest window that has one."""
        session = self._state.sessions.get(key)
        for window in reversed(session.windows if session else []):
            if window.spec.findable and session_id in (None, window.spec.session_id):
                for event in reversed(stored_path(window)):
                    if event.id == event_id:
                        return event
        return None

    def known_ids(self, key: str, ids: Iterable[str]) -> set[str]:
        """Which of these ids some window of the session has."""
        session = self._state.sessions.get(key)
        return set(ids) & {row.id for w in (session.windows if session else []) for row in w.rows if row.id is not None}

    def holders(self, ids: Iterable[str]) -> list[tuple[str, str]]:
        """Which sessions have which of these ids."""
        wanted = frozenset(ids)
        return sorted((own, key) for key in self._state.sessions for own in self.known_ids(key, wanted))

    # index
    def frequency(self, term: Term, scope: Scope, *, bound: int) -> int:
        """In how many indexed messages of the scope a term occurs."""
        return min(bound, sum(1 for _, _, e in self._index(scope) if matching.count(matching.words_of(e.said), term)))

    def indexed(self, scope: Scope, *, bound: int) -> int:
        """How many messages the scope's index has."""
        number = sum(1 for _ in self._index(scope))
        return number if scope == EVERYTHING else min(bound, number)

    def candidates(  # noqa: PLR0913 (the contract's signature)
        self, match: Match, scope: Scope, filters: Filters, *, limit: int, oldest_first: bool = False, beyond: int | None = None
    ) -> Found:
        """Messages that match, newest first; scope, filters, words, walk, and only then the limit."""
        found = [
            self._candidate(session, window, entry, match)
            for session, window, entry in self._index(scope)
            if _passes(session.facts, entry, filters) and matching.matches(matching.words_of(entry.said), match)
        ]
        if beyond is not None:
            found = [c for c in found if (c.rowid > beyond if oldest_first else c.rowid < beyond)]
        found.sort(key=lambda c: c.rowid, reverse=not oldest_first)
        return Found(candidates=tuple(found[:limit]), complete=len(found) <= limit)

    def titles(self, clauses: Sequence[Clause], scope: Scope, *, limit: int) -> list[str]:
        """Keys of sessions whose title or label has every clause, latest first."""
        having = []
        for session in sorted(self._inside(scope), key=_latest_first):
            names = [matching.words_in(name) for name in (session.facts.title, session.facts.label) if name]
            if clauses and all(any(matching.has(words, clause) for words in names) for clause in clauses):
                having.append(session.facts.key)
        return having[:limit]

    def stale(self, scope: Scope, *, limit: int, lacking: bool = False) -> list[StaleWindow]:
        """Windows that were marked: nothing else can lag here."""
        marked = self._state.marked
        found = [
            StaleWindow(
                key=s.facts.key,
                window=w.number,
                keep=marked[w.number],
                left=max(len(visible(w)) - marked[w.number], 0),
                lacks=w.number in self._state.missed and len(visible(w)) > marked[w.number],
            )
            for s in self._inside(scope)
            for w in s.windows
            if w.number in marked
        ]
        return sorted((one for one in found if one.lacks or not lacking), key=lambda one: one.window)[:limit]

    def unindexed(self, window: int, versions: Versions, *, start: int | None = None, limit: int) -> Gap | None:
        """What other rules made of a marked window, from a position on."""
        found, keep = self._state.window(window), self._state.marked.get(window)
        if found is None or keep is None:
            return None
        path = visible(found)
        first = keep if start is None else max(start, keep)
        if first >= len(path):
            return Gap(window=window, start=first, end=len(path)) if start is None else None
        old = {e.row.seq for e in entries(found) if (e.said.fold_version, e.said.redact_version) != (versions.fold, versions.redact)}
        events = [event for event in stored_path(found)[first:] if event.seq in old]
        end = len(path) if len(events) <= limit else int(events[limit].position or 0)
        return Gap(window=window, start=first, end=end, events=tuple(events[:limit]))

    def versions(self) -> Versions | None:
        """What was marked last; before that, what made the first row."""
        return self._state.versions

    def renewing(self, *, limit: int) -> list[SessionRow] | None:
        """Sessions by token, from behind the last one that was looked at."""
        after = self._state.renewing
        if after is None:
            return None
        left = sorted((s for s in self._state.sessions.values() if s.token > after), key=lambda s: s.token)
        return [self._row(s) for s in left[:limit]]

    def unmarked(self) -> bool:
        """Never: there is no index that could be lost."""
        return False

    # sources, totals
    def source(self, path: str) -> SourceState | None:
        """How far a transcript file was read."""
        return self._state.sources.get(path)

    def sources(self, key: str | None = None) -> list[SourceState]:
        """Every known source (that a session came from), by path."""
        return [self._state.sources[path] for path in sorted(self._state.sources) if key is None or (key, path) in self._state.origins]

    def recent_files(self, scope: Scope, *, limit: int) -> list[KnownFile]:
        """Sources of sessions in scope and of no other, latest session first."""
        paths: dict[str, None] = {}
        for session in sorted(self._inside(scope), key=_latest_first):
            for state in self.sources(session.facts.key):
                if all(scope.allows(key) for key in state.keys):
                    paths[state.path] = None
        return [_known(self._state.sources[path]) for path in paths][:limit]

    def files(self, *, after: str, limit: int) -> list[KnownFile]:
        """Sources by path."""
        return [_known(state) for state in self.sources() if state.path > after][:limit]

    def known_paths(self, paths: Iterable[str]) -> set[str]:
        """Which of these paths are known sources."""
        return {path for path in paths if path in self._state.sources}

    def folders(self) -> list[Folder]:
        """The folders that are followed, by path."""
        return [self._state.folders[path] for path in sorted(self._state.folders)]

    def lost(self) -> Lost | None:
        """What repairs could not save."""
        return self._state.lost

    def totals(self) -> Mapping[str, int]:
        """Counts of everything; ``bytes`` are those of the bodies."""
        windows = [w for s in self._state.sessions.values() for w in s.windows]
        return {
            "sessions": len(self._state.sessions),
            "windows": len(windows),
            "events": sum(len(w.rows) for w in windows),
            "messages": self.indexed(EVERYTHING, bound=0),
            "stale": len(self._state.marked),
            "tombstones": len(self._state.tombstones),
            "bytes": sum(len(row.prepared.body) for w in windows for row in w.rows),
        }

    def _inside(self, scope: Scope) -> Iterator[Session]:
        return (s for s in self._state.sessions.values() if scope.allows(s.facts.key))

    def _index(self, scope: Scope) -> Iterator[tuple[Session, Window, Entry]]:
        return ((s, w, e) for s in self._inside(scope) for w in s.windows for e in entries(w))

    def _shown_positions(self, window: int) -> list[int]:
        found = self._state.window(window)
        return [] if found is None else [at for at, row in enumerate(visible(found)) if row.prepared.shown]

    def _row(self, session: Session) -> SessionRow:
        sources = [source for source in self.sources() if (session.facts.key, source.path) in self._state.origins]
        return SessionRow(
            facts=session.facts,
            token=session.token,
            message_count=sum(1 for w in session.windows for e in entries(w) if Flag.COPY not in e.flags),
            stale=any(window.lacks for window in self.stale(Scope(keys=frozenset((session.facts.key,))), limit=1)),
            source_path=sources[0].path if sources else None,
            source_missing=any(source.missing for source in sources),
        )

    def _candidate(self, session: Session, window: Window, entry: Entry, match: Match) -> Candidate:
        words = matching.words_of(entry.said)
        return Candidate(
            agent_id=self._agent_id,
            key=session.facts.key,
            window=window.number,
            seq=entry.row.seq,
            rowid=entry.row.rowid,
            role=entry.said.role,
            timestamp=entry.row.prepared.event.timestamp,
            flags=entry.flags,
            digest=entry.said.digest,
            length=len(words.text),
            counts=tuple(matching.count(words, term) for term in match.score),
            span=matching.span(words, match.score),
        )


def _latest_first(session: Session) -> tuple[int, str]:
    return (-session.facts.updated_at, session.facts.key)


def _window_row(window: Window) -> WindowRow:
    resolution = resolved(window)
    return WindowRow(
        window=window.number,
        session_id=window.spec.session_id,
        ordinal=window.spec.ordinal,
        reason=window.spec.reason,
        findable=window.spec.findable,
        events=len(window.rows),
        path=len(resolution.path),
        leaf=resolution.cursor.leaf,
    )


def _passes(facts: Facts, entry: Entry, filters: Filters) -> bool:
    """Every filter that is set, read off the session's facts or the message."""
    at = entry.row.prepared.event.timestamp
    return (
        filters.role in (None, entry.said.role)
        and (filters.after is None or at >= filters.after)
        and (filters.before is None or at < filters.before)
        and _is_of(facts, filters)
        and facts.key not in filters.exclude_keys
    )


def _is_of(facts: Facts, filters: Filters) -> bool:
    """Whether a session is of the tool and the project that are asked for."""
    return filters.tool in (None, facts.tool) and (filters.project is None or folders.inside(facts.project, filters.project))


def _known(state: SourceState) -> KnownFile:
    return KnownFile(state.path, state.tool, state.size, state.mtime_ns, state.missing)

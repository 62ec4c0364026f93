"""Writing on a copy of the state. Each method checks, then changes; the transaction around it is the store's.

It refuses to know commits. Invariants: a row once written is only ever replaced by the same event prepared anew; ``facts.session_id``
is that of the newest window.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from wesaid import keys, limits
from wesaid.engines.memory.state import Row, Session, Window, entries, visible
from wesaid.engines.memory.view import MemoryView
from wesaid.errors import ConflictError, InputError, NotFoundError
from wesaid.values import Facts, Folder, Lost, Placed, Prepared, Said, SessionRow, SourceState, Tombstone, Versions, WindowSpec


class MemoryWriter(MemoryView):
    """One transaction (see ``contract.Writer``)."""

    def create(self, facts: Facts) -> SessionRow:
        """A new session with one empty window."""
        if keys.is_incognito(facts.key):
            raise InputError(f"session {facts.key!r} is incognito, and incognito sessions are never stored", hint="use another key")
        if facts.key in self._state.sessions:
            raise ConflictError(f"session {facts.key!r} exists already", hint="append to it, or choose another key")
        self._state.tokens += 1
        session = Session(self._state.tokens, facts)
        self._state.sessions[facts.key] = session
        self._open(session, WindowSpec(session_id=facts.session_id, created_at=facts.created_at))
        return self._row(session)

    def append(self, key: str, prepared: Sequence[Prepared], *, window: WindowSpec | None = None) -> list[Placed]:
        """Add events in order; an id with an equal body that the window has already is a duplicate."""
        session = self._session(key)
        target = session.windows[-1] if window is None else self._open(session, window)
        have = {(row.id, row.prepared.body) for row in target.rows if row.id is not None}
        placed: list[tuple[Prepared, bool, int]] = []
        for item in prepared:
            mark = (item.event.nav.id, item.body)
            duplicate = mark in have
            placed.append((item, duplicate, len(target.rows)))
            if not duplicate:
                target.rows.append(Row(len(target.rows), self._state.claim(item.event.timestamp) if item.said else -1, item))
                if item.event.nav.id is not None:
                    have.add((item.event.nav.id, item.body))
        first = next((item.said for item in prepared if item.said is not None), None)
        if first is not None and self._state.versions is None:
            self._state.versions = Versions(first.fold_version, first.redact_version)
        latest = max((item.event.timestamp for item in prepared), default=0)
        session.facts = replace(session.facts, updated_at=max(session.facts.updated_at, latest))
        found = {entry.row.seq for entry in entries(target)}
        return [
            Placed(id=item.event.nav.id, timestamp=item.event.timestamp, indexed=not duplicate and seq in found, duplicate=duplicate)
            for item, duplicate, seq in placed
        ]

    def insert(self, window: int, before: Mapping[int, Sequence[Prepared]]) -> None:
        """Put events in front of others, which are numbered anew."""
        target = self._state.window(window)
        if target is None:
            return
        rows: list[Row] = []
        for row in target.rows:
            for item in before.get(row.seq, ()):
                rows.append(Row(len(rows), self._state.claim(item.event.timestamp) if item.said else -1, item))
            rows.append(replace(row, seq=len(rows)))
        target.rows = rows

    def rebuild(self, window: int) -> None:
        """Nothing to do: the path is resolved at every reading."""

    def index(self, window: int, end: int, said: Mapping[int, Said | None]) -> None:
        """Take what was prepared anew in place of what was prepared before."""
        target = self._state.window(window)
        if target is None or window not in self._state.marked:
            return
        path = visible(target)
        for row in path[:end]:
            if row.seq in said:
                new = said[row.seq]
                rowid = self._state.claim(row.prepared.event.timestamp) if new and row.rowid < 0 else row.rowid
                target.rows[row.seq] = Row(row.seq, rowid, replace(row.prepared, said=new))
        self._state.marked[window] = max(self._state.marked[window], end)
        if self._state.marked[window] >= len(path):
            del self._state.marked[window]
            self._state.missed.discard(window)

    def mark(self, versions: Versions) -> None:
        """Every window is to be looked at when other rules made the rows."""
        before = self._state.versions
        if before not in {None, versions}:
            self._mark_all()
        if before is not None and before.fold != versions.fold:
            self._state.missed = set(self._state.marked)
        self._state.versions = versions

    def drop_index(self) -> None:
        """There is none; what is visible is marked all the same."""
        self._mark_all()
        self._state.missed = set(self._state.marked)

    def _mark_all(self) -> None:
        self._state.marked = {w.number: 0 for s in self._state.sessions.values() for w in s.windows if entries(w)}

    def turn(self, owner: str, *, now: int, until: int, instead_of: str = "") -> str:
        """Take, keep or give back the turn."""
        holder, end = self._state.turn or (owner, 0)
        if holder not in {owner, instead_of} and now < end <= now + limits.TURN_MS_MAX:
            return holder
        self._state.turn = (owner, until) if until > now else None
        return owner

    def patch(self, key: str, facts: Facts) -> SessionRow:
        """Replace a session's facts; its key, its newest session id and a lineage once set stay."""
        session = self._session(key)
        before = session.facts
        if before.spawned_by is not None and facts.spawned_by not in (None, before.spawned_by):
            raise ConflictError(
                f"session {key!r} was spawned by {before.spawned_by!r}, not by {facts.spawned_by!r}",
                hint="lineage is set once; leave spawned_by out",
            )
        spawned_by = before.spawned_by if before.spawned_by is not None else facts.spawned_by
        session.facts = replace(facts, key=key, session_id=before.session_id, spawned_by=spawned_by)
        return self._row(session)

    def delete(self, key: str, now: int) -> Tombstone:
        """Remove a session and everything of it, leaving a tombstone."""
        session = self._session(key)
        before = self._state.tombstones.get(key)
        ids = {w.spec.session_id for w in session.windows} | set(before.session_ids if before else ())
        tombstone = Tombstone(key=key, session_ids=tuple(sorted(ids)), deleted_at=now)
        self._state.taken -= {row.rowid for w in session.windows for row in w.rows}
        self._state.origins = {origin for origin in self._state.origins if origin[0] != key}
        self._state.marked = {number: at for number, at in self._state.marked.items() if number not in {w.number for w in session.windows}}
        del self._state.sessions[key]
        self._state.tombstones[key] = tombstone
        return tombstone

    def lift(self, key: str) -> None:
        """Forget a tombstone."""
        self._state.tombstones.pop(key, None)

    def note_source(self, state: SourceState) -> None:
        """Remember how far a file was read."""
        self._state.sources[state.path] = state
        self._state.origins |= {(key, state.path) for key in state.keys}

    def forget_source(self, path: str) -> None:
        """Forget a file; sessions that came from it stay."""
        self._state.sources.pop(path, None)
        self._state.origins = {origin for origin in self._state.origins if origin[1] != path}

    def note_lost(self, lost: Lost | None) -> None:
        """Remember what was lost."""
        self._state.lost = lost

    def note_folder(self, folder: Folder) -> None:
        """Follow a folder, or remember what of it was looked at."""
        self._state.folders[folder.path] = folder

    def forget_folder(self, path: str) -> None:
        """Follow a folder no more."""
        self._state.folders.pop(path, None)

    def erased(self, now: int) -> None:
        """Every tombstone so far gets the time at which nothing was left."""
        for key, stone in self._state.tombstones.items():
            self._state.tombstones[key] = replace(stone, erased_at=stone.erased_at or now)

    def _session(self, key: str) -> Session:
        session = self._state.sessions.get(key)
        if session is None:
            raise NotFoundError(f"no session {key!r}", hint="`wesaid sessions` lists what there is")
        return session

    def _open(self, session: Session, spec: WindowSpec) -> Window:
        """The session's window of this id, made when absent; the last by ordinal is current.

        A window takes what its spec says now: ``create`` made it before anyone said which generation it is, and a tool that rewinds a
        chain makes its older windows unfindable.
        """
        window = next((w for w in session.windows if w.spec.session_id == spec.session_id), None)
        if window is None:
            self._state.windows += 1
            window = Window(self._state.windows, spec)
            session.windows.append(window)
        window.spec = replace(spec, created_at=window.spec.created_at) if window.rows else spec
        session.windows.sort(key=lambda w: (w.spec.ordinal, w.number))
        session.facts = replace(session.facts, session_id=session.windows[-1].spec.session_id)
        return window

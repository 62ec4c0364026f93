"""One writing transaction: sessions, windows, events, with path and index rows of the same moment.

The branch decides (``rules.branch``), this file only carries out its steps. Work is bounded by what a step touches: an append that extends the
branch writes one event, one path row, one index row; a rewind drops what it abandons, or hides it when that is much.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import apsw

from wesaid import keys, limits
from wesaid.engines.sqlite import following, losses, marking
from wesaid.engines.sqlite.connection import fetch
from wesaid.engines.sqlite.erasing import PENDING
from wesaid.engines.sqlite.index import Index
from wesaid.engines.sqlite.lookup import Lookup
from wesaid.engines.sqlite.placing import Placing, WindowState
from wesaid.engines.sqlite.records import SHIFT, SHOWN, pack_body, pack_nav, unpack_body
from wesaid.engines.sqlite.view import SqliteView
from wesaid.errors import ConflictError, InputError, NotFoundError
from wesaid.rules import branch
from wesaid.values import Facts, Folder, Lost, Placed, Prepared, Said, SessionRow, SourceState, Tombstone, Versions, WindowSpec

_DIGEST_BYTES = 16  # nobody finds two bodies of one digest
_NEVER_USED = 1 << 31  # windows are numbered below this, so that a place fits 63 bits


class SqliteWriter(SqliteView):
    """``engines.contract.Writer`` inside ``BEGIN IMMEDIATE``; the store commits or rolls back."""

    def __init__(self, db: apsw.Connection, path: Path, lookup: Lookup, index: Index) -> None:
        super().__init__(db, path, lookup)
        self._index = index
        self._placing = Placing(db, index)
        self._bodies: dict[tuple[int, str], set[bytes]] = {}  # window and id -> digests of the bodies of events that share the id
        self._remembered = 0  # digests, of all of them

    def finish(self) -> None:
        """The end of the transaction, before its commit."""
        self._index.finish()

    # ── sessions ─────────────────────────────────────────────────────────────────────────────────────────────────
    def create(self, facts: Facts) -> SessionRow:
        """See the contract."""
        if keys.is_incognito(facts.key):
            raise InputError("incognito sessions are never stored", hint="take a key without `incognito-`", details={"field": "sessionKey"})
        if self._db.execute("SELECT 1 FROM session WHERE key = ?", (facts.key,)).get:
            raise ConflictError(f"session {facts.key} exists already", details={"sessionKey": facts.key})
        self._db.execute(
            "INSERT INTO session (key, session_id, dialect, kind, title, label, tool, project, created_at, updated_at, archived_at, spawned_by,"
            " forked_from, extra) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            _columns(facts),
        )
        token = self._db.last_insert_rowid()
        marking.enter_title(self._db, token, facts.title, facts.label)
        self._window(token, WindowSpec(session_id=facts.session_id, created_at=facts.created_at))
        return self._row(facts.key)

    def patch(self, key: str, facts: Facts) -> SessionRow:
        """See the contract."""
        before = self._row(key)
        if before.facts.spawned_by is not None and facts.spawned_by not in {None, before.facts.spawned_by}:
            raise ConflictError(
                f"session {key} was spawned by another session",
                hint="lineage is set once, when a session is created",
                details={"field": "spawnedBy"},
            )
        facts = replace(facts, key=key, session_id=before.facts.session_id, spawned_by=before.facts.spawned_by or facts.spawned_by)
        if facts == before.facts:
            return before
        self._db.execute(
            "UPDATE session SET key = ?, session_id = ?, dialect = ?, kind = ?, title = ?, label = ?, tool = ?, project = ?, created_at = ?,"
            " updated_at = ?, archived_at = ?, spawned_by = ?, forked_from = ?, extra = ? WHERE token = ?",
            (*_columns(facts), before.token),
        )
        if (facts.title, facts.label) != (before.facts.title, before.facts.label):
            self._db.execute("DELETE FROM titles WHERE rowid = ?", (before.token,))
            marking.enter_title(self._db, before.token, facts.title, facts.label)
        return self._row(key)

    def delete(self, key: str, now: int) -> Tombstone:
        """See the contract."""
        row = self._row(key)
        windows = self.windows(key)
        with self._index.unmerged():
            for window in windows:
                self._placing.forget(window.window)
                low, high = window.window << SHIFT, (window.window + 1) << SHIFT
                rids = fetch(self._db, "SELECT rid FROM entry WHERE place >= ? AND place < ?", (low, high))
                self._index.drop([rid for (rid,) in rids])
                self._db.execute("DELETE FROM path WHERE spot >= ? AND spot < ?", (low, high))
                self._db.execute("DELETE FROM event WHERE place >= ? AND place < ?", (low, high))
                self._db.execute("DELETE FROM stale WHERE window = ?", (window.window,))
        self._index.count()
        self._db.execute("DELETE FROM window WHERE session = ?", (row.token,))
        self._db.execute("DELETE FROM titles WHERE rowid = ?", (row.token,))
        self._db.execute("DELETE FROM source_session WHERE key = ?", (key,))
        self._db.execute("DELETE FROM session WHERE token = ?", (row.token,))
        before = self.tombstone(key)
        self._db.execute("INSERT OR REPLACE INTO tombstone (key, deleted_at) VALUES (?, ?)", (key, now))
        self._db.execute("INSERT OR REPLACE INTO meta (name, value) VALUES (?, 1)", (PENDING,))
        names = sorted({window.session_id for window in windows} | {row.facts.session_id} | set(before.session_ids if before else ()))
        self._db.executemany(
            "INSERT OR REPLACE INTO tombstone_window (session_id, key) VALUES (?, ?)", [(session_id, key) for session_id in names]
        )
        return Tombstone(key=key, session_ids=tuple(names), deleted_at=now)

    def lift(self, key: str) -> None:
        """See the contract."""
        self._db.execute("DELETE FROM tombstone WHERE key = ?", (key,))
        self._db.execute("DELETE FROM tombstone_window WHERE key = ?", (key,))

    # ── events ───────────────────────────────────────────────────────────────────────────────────────────────────
    def append(self, key: str, prepared: Sequence[Prepared], *, window: WindowSpec | None = None) -> list[Placed]:
        """See the contract."""
        found = self._db.execute("SELECT token FROM session WHERE key = ?", (key,)).get
        if found is None:
            raise NotFoundError(f"there is no session {key}", hint="`wesaid sessions` lists them", details={"sessionKey": key})
        state = self._placing.window(self._number(int(found), window))
        if prepared:
            self._placing.check_end(state)
        placed = self._add(state, prepared)
        self._placing.save(state)
        self._index.count()
        latest = max((each.event.timestamp for each in prepared), default=0)
        self._db.execute(
            "UPDATE session SET message_count = message_count + ?, updated_at = max(updated_at, ?) WHERE token = ?",
            (state.take_messages(), latest, found),
        )
        return placed

    def _add(self, state: WindowState, prepared: Sequence[Prepared]) -> list[Placed]:
        """Add events in order. A transcript whose branch is made anew again and again is resolved once, behind its last event."""
        places: list[int | None] = []
        waiting: dict[int, Prepared] = {}
        resolved = 0
        for each in prepared:
            nav = each.event.nav
            if nav.id is not None and self._has(state.window, nav.id, each.body):
                places.append(None)
                continue
            step = branch.advance(state.cursor, nav, lambda name: self._placing.known(state.window, name)) if not waiting else None
            place = (state.window << SHIFT) + state.next_seq
            self._write(place, each)
            state.next_seq += 1
            places.append(place)
            resolved += isinstance(step, branch.Diverges)
            if step is None or resolved > limits.APPEND_RESOLUTIONS:
                waiting[place] = each
            else:
                self._placing.carry_out(state, step, place, each)
        if waiting:
            self._placing.resolve(state, waiting)
        found = self._indexed([place for place in places if place is not None])
        return [
            Placed(id=each.event.nav.id, timestamp=each.event.timestamp, indexed=place in found, duplicate=place is None)
            for each, place in zip(prepared, places, strict=True)
        ]

    def _write(self, place: int, prepared: Prepared) -> None:
        """The row of an event."""
        event, nav = prepared.event, prepared.event.nav
        self._db.execute(
            "INSERT INTO event (place, id, type, nav, parent, target, append_parent, timestamp, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                place,
                nav.id,
                event.type,
                pack_nav(nav) | (SHOWN if prepared.shown else 0),
                nav.parent,
                nav.target,
                nav.append_parent,
                event.timestamp,
                pack_body(prepared.body),
            ),
        )

    def _indexed(self, places: Sequence[int]) -> set[int]:
        """Which of these places have an index row now."""
        wanted = json.dumps(places)
        return {
            place for (place,) in fetch(self._db, "SELECT n.place FROM json_each(?) j CROSS JOIN entry n ON n.place = j.value", (wanted,))
        }

    def insert(self, window: int, before: Mapping[int, Sequence[Prepared]]) -> None:
        """See the contract."""
        state = self._placing.window(window)
        self._bodies.clear()
        self._remembered = 0
        left, end, fresh = sum(len(group) for group in before.values()), state.next_seq, dict[int, Prepared]()
        state.next_seq += left
        for seq in sorted(before, reverse=True):  # from behind, so that each event moves once, to where nothing is
            self._placing.move(window, seq, end, left)
            left -= len(before[seq])
            for place, prepared in enumerate(before[seq], (window << SHIFT) + seq + left):
                self._write(place, prepared)
                fresh[place] = prepared
            end = seq
        self._placing.resolve(state, fresh)
        self._placing.save(state)
        self._count(state)

    def _has(self, window: int, name: str, body: bytes) -> bool:
        """Whether a window has an event of this id and body. Of an id that comes again the bodies are unpacked once a transaction."""
        seen = self._bodies.get((window, name))
        if seen is None:
            rows = fetch(
                self._db, "SELECT body FROM event WHERE id = ? AND place >= ? AND place < ?", (name, window << SHIFT, (window + 1) << SHIFT)
            )
            if not rows:
                return False
            if self._remembered > limits.BODIES_REMEMBERED:
                self._bodies.clear()
                self._remembered = 0
            seen = self._bodies[window, name] = {_digest(unpack_body(stored)) for (stored,) in rows}
            self._remembered += len(seen)
        digest = _digest(body)
        is_there = digest in seen
        seen.add(digest)  # whoever asks writes it now
        self._remembered += not is_there
        return is_there

    # ── rebuilding ───────────────────────────────────────────────────────────────────────────────────────────────
    def rebuild(self, window: int) -> None:
        """See the contract."""
        state = self._placing.window(window)
        self._placing.resolve(state)
        self._placing.save(state)
        self._count(state)

    def index(self, window: int, end: int, said: Mapping[int, Said | None]) -> None:
        """See the contract."""
        if self._db.execute("SELECT 1 FROM stale WHERE window = ?", (window,)).get is None:
            return  # another was faster, or the session is gone
        state = self._placing.window(window)
        self._placing.complete(state, end, said)
        self._count(state)

    def mark(self, versions: Versions) -> None:
        """See the contract."""
        strange = marking.strange_windows(self._db)
        marking.mark(self._db, versions)
        self._placing.forget_all()
        for window in strange:
            self.rebuild(window)

    def renewed(self, token: int | None) -> None:
        """See the contract."""
        marking.renewed(self._db, token)

    def drop_index(self) -> None:
        """See the contract."""
        marking.drop_index(self._db)
        self._placing.forget_all()

    def turn(self, owner: str, *, now: int, until: int, instead_of: str = "") -> str:
        """See the contract."""
        return marking.turn(self._db, owner, now=now, until=until, instead_of=instead_of)

    # ── sources ──────────────────────────────────────────────────────────────────────────────────────────────────
    def note_source(self, state: SourceState) -> None:
        """See the contract."""
        self._db.execute(
            "INSERT OR REPLACE INTO source (path, tool, size, mtime_ns, offset, head_digest, state, keys, missing) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                state.path,
                state.tool,
                following.size_of(state),
                state.mtime_ns,
                state.offset,
                state.head_digest,
                json.dumps(dict(state.state)),
                json.dumps(list(state.keys)),
                int(state.missing),
            ),
        )
        self._db.executemany("INSERT OR IGNORE INTO source_session (key, path) VALUES (?, ?)", [(key, state.path) for key in state.keys])

    def forget_source(self, path: str) -> None:
        """See the contract."""
        self._db.execute("DELETE FROM source WHERE path = ?", (path,))
        self._db.execute("DELETE FROM source_session WHERE path = ?", (path,))

    def note_lost(self, lost: Lost | None) -> None:
        """See the contract."""
        losses.note(self._db, lost)

    def note_folder(self, folder: Folder) -> None:
        """See the contract."""
        following.note_folder(self._db, folder)

    def forget_folder(self, path: str) -> None:
        """See the contract."""
        following.forget_folder(self._db, path)

    def _count(self, state: WindowState) -> None:
        self._index.count()
        self._db.execute("UPDATE session SET message_count = message_count + ? WHERE token = ?", (state.take_messages(), state.session))

    # ── helpers ──────────────────────────────────────────────────────────────────────────────────────────────────
    def _row(self, key: str) -> SessionRow:
        row = self.session(key)
        if row is None:
            raise NotFoundError(f"there is no session {key}", hint="`wesaid sessions` lists them", details={"sessionKey": key})
        return row

    def _number(self, session: int, spec: WindowSpec | None) -> int:
        """The window to write to: the current one, or the one of a session id, made when absent."""
        if spec is None:
            return int(
                self._db.execute("SELECT window FROM window WHERE session = ? ORDER BY ordinal DESC, window DESC LIMIT 1", (session,)).get
            )
        found = self._db.execute(
            "SELECT window, ordinal, reason, findable FROM window WHERE +session = ? AND session_id = ?", (session, spec.session_id)
        ).get
        if found is None:
            return self._window(session, spec)
        window, ordinal, reason, findable = found
        if (ordinal, reason, findable) != (spec.ordinal, spec.reason, int(spec.findable)):
            self._placing.show(self._placing.window(window), findable=spec.findable)
            self._db.execute(
                "UPDATE window SET ordinal = ?, reason = ?, findable = ? WHERE window = ?",
                (spec.ordinal, spec.reason, int(spec.findable), window),
            )
        self._newest(session)
        return int(window)

    def _newest(self, session: int) -> None:
        """A session's id is that of its newest window."""
        self._db.execute(
            "UPDATE session SET session_id = (SELECT session_id FROM window WHERE session = ?1 ORDER BY ordinal DESC, window DESC LIMIT 1)"
            " WHERE token = ?1",
            (session,),
        )

    def _window(self, session: int, spec: WindowSpec) -> int:
        self._db.execute(
            "INSERT INTO window (session, session_id, ordinal, reason, created_at, findable, cursor) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (session, spec.session_id, spec.ordinal, spec.reason, spec.created_at, int(spec.findable), branch.START.to_json()),
        )
        window = self._db.last_insert_rowid()
        if window >= _NEVER_USED:
            raise ConflictError("this database has used up its window numbers", hint="import its sources into a new --home")
        self._db.execute("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)", (marking.WINDOWS, window))
        self._newest(session)
        return window


def _digest(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=_DIGEST_BYTES).digest()


def _columns(facts: Facts) -> tuple[str | int | None, ...]:
    return (
        facts.key,
        facts.session_id,
        facts.dialect,
        facts.kind,
        facts.title,
        facts.label,
        facts.tool,
        facts.project,
        facts.created_at,
        facts.updated_at,
        facts.archived_at,
        facts.spawned_by,
        facts.forked_from,
        json.dumps(dict(facts.extra)),
    )

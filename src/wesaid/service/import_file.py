"""One transcript file into its sessions: read, compare, write, batch by batch.

Each batch is one transaction that holds events, path, index rows and how far the file was read, so that a kill loses no row and the next
import goes on. Invariants: a file is read on only where it is provably the file that was read before (its beginning and the bytes
before the offset are the same), else it is read anew and compared with what is stored; nothing stored is ever taken away because a
file changed; each message is counted once, under one figure (see ``import_account``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from wesaid import keys, limits
from wesaid.importers import reading
from wesaid.importers.known import MAIN, Holding, Reader, Reason, Source, Told, moment
from wesaid.service import exporting, import_refusing
from wesaid.service.import_facts import Target, has_begun, is_own_id, mark_of, reset_event, titles_told
from wesaid.service.import_refusing import Around, Copied, Gone
from wesaid.service.import_writing import Intake
from wesaid.service.preparing import prepare
from wesaid.values import Event, SourceState, WindowSpec


@dataclass(slots=True)
class FileImport(Intake):
    """One file's import. ``gone`` tells what deleted sessions' lines are."""

    gone: Gone | None = None
    _state: SourceState | None = field(init=False, default=None)
    _around: bool = field(init=False, default=False)  # the session around it says that it is not to be indexed
    _copied: Copied = field(init=False)
    _titles: int = field(init=False, default=0)  # that it had named when this reading began

    def __post_init__(self) -> None:
        Intake.__post_init__(self)
        self._copied = (self.gone or Gone(self.store, self.again)).copied(self._file)

    @property
    def _file(self) -> Source:
        if not isinstance(self.source, Source):
            raise TypeError(self.source)
        return self.source

    # ── deciding where to begin ──────────────────────────────────────────────────────────────────────────────────
    def read_all(self) -> None:
        """Read on where the last import ended, or anew."""
        with self.view() as view:
            self._state = self.pace.stored = view.source(self.source.name) if view else None
            around = Around(self._file, view)
        if not self.pace.is_quick(around.unread, 0, anew=False):
            return
        self._around = around.is_marked()
        identity = reading.identify(self.source.path, like=self._state.head_digest if self._state else "")
        if self._state and self._is_unchanged(self._state, identity):
            return
        offset = self._resume_at(identity)
        if not self.pace.is_quick(identity.size, offset, anew=offset == 0 and self._state is not None):
            return
        refused: Reason | None = import_refusing.REFUSED if self._around or self._is_marked(offset) else None
        self._read(identity, 0 if refused else offset, refused)

    def _is_unchanged(self, state: SourceState, now: reading.Identity) -> bool:
        """Whether nothing of the file is new; then the account is what the last import said."""
        if (
            state.missing
            or not state.state.get("complete")
            or (state.size, state.mtime_ns, state.head_digest) != (now.size, now.mtime_ns, now.head_digest)
            or state.state.get("around", False) != self._around
        ):
            return False
        figures = state.state["figures"]
        if self.again in state.state["slots"].values() and self.again not in state.keys:
            return False
        deleted, live = 0, set(state.keys)
        with self.view() as view:
            for key, count in figures["keys"].items():
                is_deleted = view is not None and view.tombstone(key) is not None
                if view is None or view.session(key) is None or is_deleted:
                    if not is_deleted or key == self.again:
                        return False
                    deleted += count
                    live.discard(key)
        self._carry(figures)
        self.account.unchanged -= deleted
        if deleted:
            self.account.skip("deleted", deleted)
        self.account.keys = live
        self.account.pending = figures["pending"]
        return True

    def _carry(self, figures: Mapping[str, Any]) -> None:
        """Account for what earlier imports of this file met."""
        self.account.unchanged = sum(figures["keys"].values())
        self.account.skipped = dict(figures["skipped"])
        self.account.damaged_lines = figures["damaged"]

    def _resume_at(self, now: reading.Identity) -> int:
        """The offset to go on from: 0 when the file, or what is stored of it, is not what it was."""
        state = self._state
        if state is not None and (state.state["refused"] or self.again in state.state["slots"].values()):
            return 0  # of what is not imported nothing is kept to go on from
        if self._file.beside or (state is not None and state.state.get("compares")):
            return 0  # compared with the database each time
        if state is None or now.head_digest != state.head_digest or now.size < state.offset or not state.keys:
            return 0
        if now.size == state.size and now.mtime_ns != state.mtime_ns and state.state["complete"]:
            return 0  # changed in place
        with self.view() as view:
            if view is None or any(view.session(key) is None for key in state.keys):
                return 0
        return state.offset if reading.digest_before(self.source.path, state.offset) == state.state["tail"] else 0

    def _is_marked(self, offset: int) -> bool:
        """Whether somebody said in it that it is not to be indexed: looked for behind what earlier imports have looked through."""
        start = import_refusing.clear_until(self.source.path, self._state) if offset else 0
        return import_refusing.is_marked(self._file, max(start, offset))

    def is_copied(self, event: Event) -> bool:
        """Whether a line is one that was copied from a deleted session's transcript."""
        return self._copied.has(event)

    # ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────
    def _read(self, identity: reading.Identity, offset: int, refused: Reason | None) -> None:
        reader = self._reader(identity, self._state.state if self._state and offset else None)
        waiting = size = 0
        anew = offset == 0 and self._state is not None
        for line in reading.lines(self.source.path, offset):
            self.account.damaged_lines += line.damaged
            self.account.pending += line.pending
            size += self._take_back(reader) if line.records else 0
            for record in line.records:
                slot, event = reader.read(record)
                target = self.targets.get(slot) or self._meet(slot, reader.told[slot], refused)
                size += self.take(target, event)
                waiting += 1
            offset = line.end
            if (line.piece or line.damaged) and not anew and not self.holds and self.pace.is_over():
                if self._may_stop():
                    self._write(identity, offset, reader, complete=False)
                return
            is_full = size >= limits.IMPORT_HELD_BYTES or (
                not self.holds and (waiting >= limits.IMPORT_BATCH_MESSAGES or size >= limits.IMPORT_BATCH_BYTES)
            )
            is_due = waiting > 0 and not self.holds and self.pace.is_due(anew=anew) and (is_full or self._may_stop())
            if is_due or is_full:
                self._write(identity, offset, reader, complete=False)
                waiting = size = 0
                if is_due and not self.pace.goes_on():
                    return
        for slot, event in reader.rest() if isinstance(reader, Holding) else ():
            self.take(self.targets[slot], event)
        if refused and self._state is not None:
            self.forget_refused(self._state.keys)
        self._write(identity, offset, reader, complete=True)

    def _may_stop(self) -> bool:
        """Whether half a file may be written: what was read begins no session in which nobody has spoken yet."""
        begun = {slot for slot, target in self.targets.items() if has_begun(target)}
        return bool(begun) and all(slot in begun for slot, target in self.targets.items() if target.batch)

    def _reader(self, identity: reading.Identity, kept: Mapping[str, Any] | None) -> Reader:
        """A reader at the file's beginning, or where the last import stood."""
        reader = self.dialect.reader(self._file, kept["reader"] if kept else None, self._fallback(identity))
        if kept:
            self._carry(kept["figures"])
            self._titles = titles_told(reader) if kept["complete"] else 0
            self._copied.goes_on(None if kept["complete"] else kept.get("copied"))
            for slot, told in reader.told.items():
                self._go_on(slot, told, kept)
        return reader

    def _take_back(self, reader: Reader) -> int:
        """What leads back from prompts that waited where the file ended then; the bytes that it takes."""
        return sum(self.take(self.targets[slot], event) for slot, event in reader.resumed()) if isinstance(reader, Holding) else 0

    def _fallback(self, identity: reading.Identity) -> int:
        """A time for records before the first that has one: the first that is told, else the file's, which says when it was copied."""
        told = (moment(record.get("timestamp")) for record in reading.head(self.source.path))
        return next((time for time in told if time is not None), identity.mtime_ns // limits.MILLISECOND_NS)

    def _go_on(self, slot: str, told: Told, kept: Mapping[str, Any]) -> None:
        """A conversation that an earlier import of this file began."""
        key = kept["slots"].get(slot, told.key)
        self.renamed[told.key] = key
        known = kept["figures"]["keys"]
        self.targets[slot] = Target(
            slot,
            key,
            told,
            refused=kept["refused"].get(slot),
            messages=known.get(key, 0),
            first=kept["firsts"].get(key),
            begins=not kept["complete"],
            window=self._window(slot),
        )

    def _window(self, slot: str) -> WindowSpec | None:
        return self._file.window if slot == MAIN else None

    def _meet(self, slot: str, told: Told, refused: Reason | None) -> Target:
        """A conversation that begins in what is read now: new, known from before, or somebody else's."""
        target = Target(slot, told.key, told, refused=refused, window=self._window(slot), beside=self._file.beside and slot == MAIN)
        self.targets[slot] = target
        if target.beside and self.dry_run:
            target.refused = refused or "copy"  # what the database has is not known before it is imported: most likely all of it
            return target
        if refused or self.store is None:
            return target
        with self.store.reading() as view:
            own = self._state.keys if self._state else ()
            marked = f"{told.key}:{keys.short_digest(self.source.name)}"
            for key in dict.fromkeys((told.key, str(keys.fit(keys.SessionKey(*keys.parse(marked)))))):
                target.key = key
                tombstone = view.tombstone(key) or (view.tombstone_by_id(told.session_id) if key == told.key else None)
                if tombstone and self.again in (key, tombstone.key):
                    target.lifts = tombstone.key
                elif tombstone:
                    target.refused = "deleted"
                if view.session(key) is None or target.refused:
                    break
                self.load(target, view)
                target.known_as = "unchanged" if key in own and not target.beside else "copy"
                target.renews = target.known_as == "unchanged"
                if target.window:
                    if target.renews and target.has_sources and not self._overlaps(target):
                        target.batch.append(prepare(self.home.redactor, self.dialect.name, reset_event(self.source.name, self.home.now())))
                    break
                row = view.session(key)
                is_empty = (
                    not target.has_sources and row is not None and row.facts.tool == self.source.tool
                )  # all of it was lost, or none was there
                if key in own or target.lifts or is_empty or self._overlaps(target):
                    break
                target.known = None  # another conversation that happens to have this id
        self.renamed[told.key] = target.key
        return target

    def _overlaps(self, target: Target) -> bool:
        """Whether a message of this file is one that the session has: then they are one conversation."""
        reader = self.dialect.reader(self._file, None, 0)
        for line in reading.lines(self.source.path):
            for record in line.records:
                slot, event = reader.read(record)
                if slot == target.slot and event.nav.has_message and (mark_of(event) in (target.known or ()) or is_own_id(event, target)):
                    return True
        return False

    # ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────
    def _write(self, identity: reading.Identity, offset: int, reader: Reader, *, complete: bool) -> None:
        """One transaction: what waits, and how far the file was read."""
        told = reader.state()
        self.commit(
            list(self.targets.values()) if complete else (),
            lambda writer, live: writer.note_source(self._source_state(identity, offset, told, live=live, complete=complete)),
        )
        self.told_titles = titles_told(reader) > self._titles

    def _source_state(
        self, identity: reading.Identity, offset: int, reader: Mapping[str, Any], *, live: list[Target], complete: bool
    ) -> SourceState:
        refused = {target.slot: target.refused for target in self.targets.values() if target.refused}
        figures = {
            "keys": {target.key: target.messages for target in self.targets.values() if not target.refused and target.messages},
            "skipped": self.account.skipped,
            "damaged": self.account.damaged_lines,
            "pending": self.account.pending,
        }
        return SourceState(
            path=self.source.name,
            tool=self.source.tool,
            size=identity.size if complete else min(offset, identity.size - 1),  # never what the file has: it is to be read on
            mtime_ns=identity.mtime_ns,
            offset=offset,
            head_digest=identity.head_digest,
            keys=tuple(target.key for target in live),
            state={
                "complete": complete,
                "around": self._around,
                "compares": not complete and any(target.known for target in self.targets.values()),
                "copied": self._copied.state(),
                "tail": reading.digest_before(self.source.path, offset),
                "clear": [identity.size, reading.digest_before(self.source.path, identity.size)],  # of the mark; see clear_until
                "reader": {} if refused else exporting.redacted(self.home.redactor, dict(reader)),
                "figures": figures,
                "slots": {target.slot: target.key for target in self.targets.values()},
                "refused": refused,
                "firsts": {target.key: target.first for target in live if target.first},
            },
        )

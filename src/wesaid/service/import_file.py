"""One transcript file into its sessions: read, compare, write, batch by batch.

Each batch is one transaction that holds events, path, index rows and how far the file was read, so that a kill loses no row and the next
import goes on. Invariants: a file is read on only where it is provably the file that was read before (its beginning and the bytes
before the offset are the same), else it is read anew and compared with what is stored; nothing stored is ever taken away because a
file changed; each message is counted once, under one figure (see ``import_account``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

from wesaid import keys, limits
from wesaid.engines.contract import Store, View, Writer
from wesaid.errors import SourceError, StoreError
from wesaid.importers import DIALECTS, reading
from wesaid.importers.known import MAIN, Dialect, Source, Told, moment
from wesaid.rules import searchable
from wesaid.rules.redact import joined
from wesaid.service import exporting
from wesaid.service.import_account import SourceAccount, failure_of
from wesaid.service.import_facts import Target, after_ours, again, facts_of, mark_of, reset_event, return_to, stored_mark, words_of
from wesaid.service.import_pace import OvertakenError, Pace
from wesaid.service.opening import Home
from wesaid.service.preparing import prepare
from wesaid.values import Event, Facts, NavKind, SourceState, WindowSpec

MARKER: Final = "<!-- wesaid: do not index -->"
_NEEDLE: Final = b"wesaid: do not index"  # the part of it that no JSON writer escapes


@dataclass(slots=True)
class FileImport:
    """One file's import. ``again`` is the key of a deleted session to bring back.

    At a ``pace`` that ends it stops there, after a batch; what it did not read, the next import does.
    """

    home: Home
    source: Source
    store: Store | None  # None: a dry run where nothing is stored yet
    dry_run: bool = False
    again: str | None = None
    tick: Callable[[], None] = lambda: None
    pace: Pace = field(default_factory=Pace)
    account: SourceAccount = field(init=False)
    targets: dict[str, Target] = field(init=False, default_factory=dict)
    _state: SourceState | None = field(init=False, default=None)
    _renamed: dict[str, str] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.account = SourceAccount(path=self.source.name, tool=self.source.tool, agent_id=self.source.agent)

    @property
    def _dialect(self) -> Dialect:
        return DIALECTS[self.source.tool]

    @property
    def touched(self) -> list[Target]:
        """The sessions that were written to."""
        return [target for target in self.targets.values() if target.stored]

    @contextmanager
    def _view(self) -> Iterator[View | None]:
        if self.store is None:
            yield None
        else:
            with self.store.reading() as view:
                yield view

    # ── deciding where to begin ──────────────────────────────────────────────────────────────────────────────────
    def run(self) -> SourceAccount:
        """Import what is new. A file that cannot be read to its end keeps what was committed, and carries its error."""
        path = self.source.path
        try:
            with self._view() as view:
                self._state = self.pace.stored = view.source(self.source.name) if view else None
            identity = reading.identify(path, like=self._state.head_digest if self._state else "")
            if self._state and self._is_unchanged(self._state, identity):
                return self.account
            offset = self._resume_at(identity)
            if not self.pace.is_quick(identity.size, offset, anew=offset == 0 and self._state is not None):
                return self.account
            refused = "do-not-index" if self._is_marked(offset) else None
            self._read(identity, 0 if refused else offset, refused)
        except SourceError as error:
            self.account.error = error
        except OvertakenError:
            raise
        except StoreError:  # not this file's fault: no file would fare better
            raise
        except Exception as error:  # noqa: BLE001 - one file that we cannot make sense of must not keep the others out
            self.account.error = failure_of(error)
        return self.account

    def _is_unchanged(self, state: SourceState, now: reading.Identity) -> bool:
        """Whether nothing of the file is new; then the account is what the last import said."""
        if (
            state.missing
            or not state.state.get("complete")
            or (state.size, state.mtime_ns, state.head_digest) != (now.size, now.mtime_ns, now.head_digest)
        ):
            return False
        figures = state.state["figures"]
        if self.again in state.state["slots"].values() and self.again not in state.keys:
            return False
        deleted, live = 0, set(state.keys)
        with self._view() as view:
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
        if state is None or now.head_digest != state.head_digest or now.size < state.offset or not state.keys:
            return 0
        if now.size == state.size and now.mtime_ns != state.mtime_ns and state.state["complete"]:
            return 0  # changed in place
        with self._view() as view:
            if view is None or any(view.session(key) is None for key in state.keys):
                return 0
        return state.offset if reading.digest_before(self.source.path, state.offset) == state.state["tail"] else 0

    def _is_marked(self, offset: int) -> bool:
        """Whether somebody said in it that it is not to be indexed. Bytes first: the marker is rare, and reading is not free."""
        start, before = self._state.state.get("clear", (0, "")) if offset and self._state else (0, "")
        if start <= offset or reading.digest_before(self.source.path, start) != before:
            start = offset
        if not reading.contains(self.source.path, _NEEDLE, start=start):
            return False
        for line in reading.lines(self.source.path):
            for record in line.records:
                found = searchable.searchable(self._dialect.view(record), joined)
                if found is not None and MARKER in found.text:
                    return True
        return False

    # ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────
    def _read(self, identity: reading.Identity, offset: int, refused: str | None) -> None:
        kept = self._state.state if self._state and offset else {}
        if self._state and offset:
            self._carry(kept["figures"])
        reader = self._dialect.reader(self.source, kept.get("reader"), self._fallback(identity))
        if offset and self._state:
            for slot, told in reader.told.items():
                self._go_on(slot, told, kept)
        waiting = size = 0
        anew = offset == 0 and self._state is not None
        for line in reading.lines(self.source.path, offset):
            self.account.damaged_lines += line.damaged
            self.account.pending += line.pending
            for record in line.records:
                slot, event = reader.read(record)
                target = self.targets.get(slot) or self._meet(slot, reader.told[slot], refused)
                size += self._take(target, event)
                waiting += 1
            offset = line.end
            is_due = waiting > 0 and self.pace.is_due(anew=anew)
            if is_due or waiting >= limits.IMPORT_BATCH_MESSAGES or size >= limits.IMPORT_BATCH_BYTES:
                self._write(identity, offset, reader.state(), complete=False)
                waiting = size = 0
                if is_due and not self.pace.goes_on():
                    return
        if refused:
            self._forget_refused()
        self._write(identity, offset, reader.state(), complete=True)

    def _fallback(self, identity: reading.Identity) -> int:
        """A time for records before the first that has one: the first that is told, else the file's, which says when it was copied."""
        told = (moment(record.get("timestamp")) for record in reading.head(self.source.path))
        return next((time for time in told if time is not None), identity.mtime_ns // limits.MILLISECOND_NS)

    def _go_on(self, slot: str, told: Told, kept: Mapping[str, Any]) -> None:
        """A conversation that an earlier import of this file began."""
        key = kept["slots"].get(slot, told.key)
        self._renamed[told.key] = key
        known = kept["figures"]["keys"]
        self.targets[slot] = Target(
            slot, key, told, refused=kept["refused"].get(slot), messages=known.get(key, 0), first=kept["firsts"].get(key)
        )

    def _meet(self, slot: str, told: Told, refused: str | None) -> Target:
        """A conversation that begins in what is read now: new, known from before, or somebody else's."""
        target = Target(slot, told.key, told, refused=refused)
        self.targets[slot] = target
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
                self._load(target, view)
                target.known_as = "unchanged" if key in own else "copy"
                if self.source.window and slot == MAIN:
                    if key in own and not self._overlaps(target):
                        target.batch.append(prepare(self.home.redactor, self._dialect.name, reset_event(self.source.name, self.home.now())))
                    break
                if key in own or target.lifts or self._overlaps(target):
                    break
                target.known = None  # another conversation that happens to have this id
        self._renamed[told.key] = target.key
        return target

    def _load(self, target: Target, view: View) -> None:
        """What the session has already, as ids and digests."""
        target.known, target.ids = set(), set()
        for window in view.windows(target.key):
            after = -1
            while rows := view.events(window.window, after_seq=after, limit=limits.REBUILD_SLICE_ROWS):
                after = rows[-1].seq
                target.known.update(stored_mark(row) for row in rows)
                target.ids.update(row.id for row in rows if row.id)

    def _overlaps(self, target: Target) -> bool:
        """Whether a message of this file is one that the session has: then they are one conversation."""
        reader = self._dialect.reader(self.source, None, 0)
        for line in reading.lines(self.source.path):
            for record in line.records:
                slot, event = reader.read(record)
                if slot == target.slot and event.nav.has_message and target.known and mark_of(event) in target.known:
                    return True
        return False

    def _take(self, target: Target, event: Event) -> int:
        """Count an event, and keep it for the next transaction if it is new; the bytes that it takes."""
        prepared = prepare(self.home.redactor, self._dialect.name, event, subagent=":subagent:" in target.key)
        said, target.before = prepared.said, target.at
        if event.nav.kind in (NavKind.ENTRY, NavKind.RESET):
            target.at = event.nav.id
        if target.refused:
            if said:
                self.account.skip(target.refused)
            return 0
        if target.known is not None:
            if mark_of(event) in target.known:
                self._known(target, said is not None)
                return 0
            if event.nav.id in target.ids and target.known_as == "copy" and self.source.window is None:
                self._known(target, said is not None)  # an older state of a message that is there
                return 0
            if event.nav.id in target.ids and target.known_as == "unchanged":
                prepared = replace(prepared, event=again(event, target.before))
                target.moved = True
        if said and target.first is None and event.nav.id in (event.record.get("id"), event.record.get("uuid")):
            target.first = f"{event.nav.id}:{said.digest}"
        target.batch.append(prepared)
        return len(prepared.body)

    def _known(self, target: Target, counts: bool) -> None:  # noqa: FBT001 (a figure or none)
        if counts and target.known_as == "copy":
            self.account.skip("copy")
        elif counts:
            self.account.unchanged += 1
            target.messages += 1

    # ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────
    def _write(self, identity: reading.Identity, offset: int, reader: Mapping[str, Any], *, complete: bool) -> None:
        """One transaction: events with path and index rows, facts, and how far the file was read."""
        if complete:
            self._finish()
        writes = [target for target in self.targets.values() if target.batch]
        if self.dry_run or self.store is None:
            for target in writes:
                self._count(target, [False] * len(target.batch))
        else:
            with self.pace.writing(self.store, self.source.name) as writer:
                for target in writes:
                    self._count(target, self._append(writer, target))
                live = [t for t in self.targets.values() if not t.refused and writer.session(t.key)]
                if complete:
                    for target in live:
                        writer.patch(target.key, self._facts(writer, target))
                writer.note_source(self._source_state(identity, offset, reader, live=live, complete=complete))
        self.account.keys = {t.key for t in self.targets.values() if not t.refused and (t.stored or t.known is not None or t.messages)}
        self.tick()

    def _finish(self) -> None:
        """What is only known at the end: conversations that nobody spoke in are not begun; a changed branch is led back to its end."""
        for target in self.targets.values():
            begun = target.stored or target.known is not None or target.messages
            if not begun and not any(p.event.nav.has_message or p.event.type == "session" for p in target.batch):
                target.batch.clear()
            last = target.told.last_id
            end = target.batch[-1].event.nav.id if target.batch else target.last
            if target.moved and last and end != last:
                event = return_to(last, end, when=target.told.updated_at, unique=f"{len(target.ids)}:{self.home.now()}")
                target.batch.append(prepare(self.home.redactor, self._dialect.name, event))

    def _append(self, writer: Writer, target: Target) -> list[bool]:
        """Write a conversation's waiting events; which of them were there already."""
        if target.lifts:
            writer.lift(target.lifts)
        window = self.source.window if target.slot == MAIN else None
        if writer.session(target.key) is None:
            writer.create(self._facts(writer, target))
        elif target.lifts and window is None:  # somebody went on under the key: what comes back is an earlier window of it
            window = WindowSpec(session_id=target.told.session_id, ordinal=-1, reason="recovery")
        target.batch[0] = after_ours(writer, target.key, window.session_id if window else None, target.batch[0])
        placed = writer.append(target.key, target.batch, window=window)
        target.stored = True
        target.last = target.batch[-1].event.nav.id or target.last
        return [each.duplicate for each in placed]

    def _count(self, target: Target, duplicates: list[bool]) -> None:
        for prepared, duplicate in zip(target.batch, duplicates, strict=True):
            if prepared.said is None:
                continue
            if duplicate:
                self.account.skip("duplicate")
                continue
            target.messages += 1
            if target.known_as == "unchanged" and prepared.event.nav.id in target.ids:
                self.account.updated += 1
            else:
                self.account.imported += 1
        target.batch.clear()

    def _forget_refused(self) -> None:
        """A session that must not be indexed goes, if an earlier import brought it in. No tombstone: the file itself says no."""
        if self.store is None or self.dry_run or self._state is None:
            return
        with self.pace.writing(self.store, self.source.name) as writer:
            for key in self._state.keys:
                if writer.session(key) is not None:
                    writer.delete(key, self.home.now())
                    writer.lift(key)

    def _facts(self, view: View, target: Target) -> Facts:
        row = view.session(target.key)
        windows = view.windows(target.key) if row else []
        told = target.told
        spoken = words_of(view, windows[-1].window, self._dialect) if windows else None
        shown = [told.summaries[leaf] for leaf in told.summaries if row and view.known_ids(target.key, (leaf,))]
        facts = facts_of(self.home.redactor, self.source, told, row, titles=(told.title, told.better_title, *shown, spoken))
        spawner = self._renamed.get(facts.spawned_by or "", facts.spawned_by)
        return replace(facts, key=target.key, session_id=windows[-1].session_id if windows else told.session_id, spawned_by=spawner)

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
                "tail": reading.digest_before(self.source.path, offset),
                "clear": [identity.size, reading.digest_before(self.source.path, identity.size)],  # of the marker; see _is_marked
                "reader": {} if refused else exporting.redacted(self.home.redactor, dict(reader)),
                "figures": figures,
                "slots": {target.slot: target.key for target in self.targets.values()},
                "refused": refused,
                "firsts": {target.key: target.first for target in live if target.first},
            },
        )

"""What every import does with the events that a source gives: compare with what is stored, count, and write, one transaction at a time.

A transaction holds events, path, index rows and how far the source was read, so that a kill loses no row and the next import goes on.
Invariants: nothing stored is ever taken away because a source changed; each message is counted once, under one figure (see
``import_account``). It refuses to know whether records are lines of a file or rows of a database.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from wesaid.engines.contract import Store, View, Writer
from wesaid.errors import SourceError, StoreError
from wesaid.importers import DIALECTS
from wesaid.importers.known import Database, Dialect, Reason, Source, text_of
from wesaid.service import import_refusing
from wesaid.service.import_account import SourceAccount, failure_of
from wesaid.service.import_facts import (
    ELSEWHERE,
    TITLED_BY,
    Place,
    Target,
    again,
    behind_ours,
    facts_of,
    has_begun,
    insert,
    load,
    mark_of,
    return_to,
    words_of,
)
from wesaid.service.import_pace import OvertakenError, Pace
from wesaid.service.opening import Home
from wesaid.service.preparing import prepare
from wesaid.values import Event, Facts, NavKind, Prepared, SessionRow, WindowSpec


@dataclass(slots=True)
class Intake(ABC):
    """One source's import. ``again`` is the key of a deleted session to bring back.

    At a ``pace`` that ends it stops there, after a batch; what it did not read, the next import does.
    """

    home: Home
    source: Source | Database
    store: Store | None  # None: a dry run where nothing is stored yet
    dry_run: bool = False
    again: str | None = None
    tick: Callable[[], None] = lambda: None
    pace: Pace = field(default_factory=Pace)
    account: SourceAccount = field(init=False)
    targets: dict[str, Target] = field(init=False, default_factory=dict)
    written: dict[str, str | None] = field(init=False, default_factory=dict)  # sessions written to; first messages of those that begin
    told_titles: bool = field(init=False, default=False)  # it may name titles of other sources' conversations
    renamed: dict[str, str] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.account = SourceAccount(path=self.source.name, tool=self.source.tool, agent_id=self.source.agent)

    @property
    def dialect(self) -> Dialect:
        """The tool's record format."""
        return DIALECTS[self.source.tool]

    @contextmanager
    def view(self) -> Iterator[View | None]:
        """What is stored, None where nothing is."""
        if self.store is None:
            yield None
        else:
            with self.store.reading() as view:
                yield view

    def run(self) -> SourceAccount:
        """Import what is new. A source that cannot be read to its end keeps what was committed, and carries its error."""
        try:
            self.read_all()
        except SourceError as error:
            self.account.error = error
        except OvertakenError:
            raise
        except StoreError:  # not this source's fault: none would fare better
            raise
        except Exception as error:  # noqa: BLE001 - one source that we cannot make sense of must not keep the others out
            self.account.error = failure_of(error)
        return self.account

    @abstractmethod
    def read_all(self) -> None:
        """Read the source, ``take`` what it holds and ``commit`` it; each kind of source has its own."""

    def is_copied(self, _event: Event) -> bool:
        """Whether an event is a deleted session's that was copied into this source; lines of files may be."""
        return False

    def load(self, target: Target, view: View, *, session_id: str | None = None) -> None:
        """What a session has already, of all its windows or of one."""
        load(self.home.redactor, target, view, session_id=session_id)

    # ── events ───────────────────────────────────────────────────────────────────────────────────────────────────
    def take(self, target: Target, event: Event) -> int:
        """Count an event, and keep it for the next transaction if it is new; the bytes that it takes."""
        prepared = prepare(self.home.redactor, self.dialect.name, event, subagent=":subagent:" in target.key)
        said, target.before = prepared.said, target.at
        if event.nav.kind in (NavKind.ENTRY, NavKind.RESET):
            target.at = event.nav.id
        if target.refused:
            if said:
                self._skip(target, target.refused)
            return 0
        if self._is_passed_over(target, prepared):
            return 0
        if target.known is not None and event.nav.id in target.ids and target.renews:
            prepared = replace(prepared, event=again(event, target.before))
            target.moved = True
        if said and target.first is None and event.nav.id in (event.record.get("id"), event.record.get("uuid")):
            target.first, target.begins = f"{event.nav.id}:{said.digest}", True
        target.batch.append(prepared)
        return len(prepared.body)

    def _is_passed_over(self, target: Target, prepared: Prepared) -> bool:
        """Whether the session has an event already, in this state or a newer one, or must not have it."""
        event, counts = prepared.event, prepared.said is not None
        if target.known is not None:
            older = event.nav.id in target.ids and target.known_as == "copy" and target.window is None
            place = target.known.get(mark_of(event))
            if place is not None and event.nav.id:  # lines without an id repeat each other
                self._comes_before(target, place)
            if older or place is not None or (target.beside and self._is_there(target, prepared)):
                self._known(target, counts)
                return True
        if self.is_copied(event):
            if counts:
                self._skip(target, "deleted")
            return True
        return target.beside and not event.nav.has_message  # what it hangs from stands in the database's window

    def _comes_before(self, target: Target, place: Place) -> None:
        """An event was met that is stored: what waits stands in front of it in the source, and has to there too."""
        if target.beside or place == ELSEWHERE:
            return
        if target.flushed:  # too much to wait for: at least the branch ends where the source's does
            target.moved = True
        early = [prepared for prepared in target.batch if prepared.event.nav.id not in target.ids]
        if early:  # what is written again under its id stays behind, as the newest of that id
            target.early.setdefault(place, []).extend(early)
            target.batch = [prepared for prepared in target.batch if prepared.event.nav.id in target.ids]

    @property
    def holds(self) -> bool:
        """Whether something waits of which it is not known yet whether stored events follow it."""
        return any(target.batch and target.known for target in self.targets.values())

    def _is_there(self, target: Target, prepared: Prepared) -> bool:
        """Whether a database has a file's message in some state: by its id, or by its words when the file gives it none."""
        nav, said = prepared.event.nav, prepared.said
        if nav.id in target.ids:
            return True
        return said is not None and text_of(prepared.event.record, "id") is None and (said.role, said.digest) in target.words

    def _skip(self, target: Target, reason: Reason) -> None:
        self.account.skip(reason)
        target.skipped[reason] = target.skipped.get(reason, 0) + 1

    def _known(self, target: Target, counts: bool) -> None:  # noqa: FBT001 (a figure or none)
        if counts and target.known_as == "copy":
            self._skip(target, "copy")
        elif counts:
            self.account.unchanged += 1
            target.messages += 1

    # ── transactions ─────────────────────────────────────────────────────────────────────────────────────────────
    def commit(self, finished: Collection[Target], note: Callable[[Writer, list[Target]], object]) -> None:
        """One transaction: waiting events, facts of what is read to its end, and what ``note`` writes of how far the source was read."""
        for target in finished:
            self._finish(target)
        writes = [target for target in self.targets.values() if target.batch or target.early or target.respec]
        if self.dry_run or self.store is None:
            for target in writes:
                for group in (*target.early.values(), target.batch):
                    self._count(target, group, [False] * len(group))
                target.early, target.batch = {}, []
        else:
            with self.pace.writing(self.store, self.source.name) as writer:
                there = set[str]()  # keys: a session may have thousands of windows, each of which is a target
                for target in writes:
                    self._write_early(writer, target)
                    self._count(target, target.batch, self._append(writer, target, there))
                    target.batch = []
                there |= {key for key in {target.key for target in self.targets.values()} - there if writer.session(key)}
                live = [target for target in self.targets.values() if not target.refused and target.key in there]
                done = {id(target) for target in finished}
                # Of a session that a file lies beside the database says more and newer things.
                self._patch(writer, [target for target in live if id(target) in done and not target.beside])
                note(writer, live)
        met = [t for t in self.targets.values() if not t.refused and (t.stored or t.known is not None or t.messages)]
        self.account.keys |= {target.key for target in met}
        for target in met:
            if target.stored:
                self.written[target.key] = target.first if target.begins else self.written.get(target.key)
        self.tick()

    def _finish(self, target: Target) -> None:
        """What is only known at the end: a conversation that nobody spoke in is not begun; a changed branch is led back to its end."""
        if not has_begun(target):
            target.batch.clear()
        last = target.told.last_id if target.ends else target.end
        end = target.batch[-1].event.nav.id if target.batch else target.last
        if target.moved and (last or not target.ends) and end != last:
            event = return_to(last, end, when=target.told.updated_at, unique=f"{len(target.ids)}:{self.home.now()}")
            target.batch.append(prepare(self.home.redactor, self.dialect.name, event))

    def _patch(self, writer: Writer, targets: list[Target]) -> None:
        """The facts of what is read to its end; each session is looked up and written once."""
        rows: dict[str, SessionRow] = {}
        for target in targets:
            row = rows.get(target.key) or writer.session(target.key)
            if row is not None:
                rows[target.key] = replace(row, facts=self._facts(writer, target, row))
        for key, row in rows.items():
            writer.patch(key, row.facts)

    def _append(self, writer: Writer, target: Target, there: set[str]) -> list[bool]:
        """Write a conversation's waiting events; which of them were there already. ``there``: sessions that are known to exist."""
        if target.lifts:
            writer.lift(target.lifts)
        window = target.window
        if target.key not in there and writer.session(target.key) is None:
            writer.create(self._facts(writer, target, None))
        elif target.lifts and window is None:  # somebody went on under the key: what comes back is an earlier window of it
            window = WindowSpec(session_id=target.told.session_id, ordinal=-1, reason="recovery")
        stored = writer.window(target.key, window.session_id) if window is not None and not target.respec else None
        if window is not None and stored is not None and not stored.findable:
            window = replace(window, findable=False)  # only the database that took it out may bring it back
        there.add(target.key)
        if target.batch:
            behind_ours(writer, target.key, window.session_id if window else None, target.batch)
            target.last = target.batch[-1].event.nav.id or target.last
            target.flushed = target.known is not None
        placed = writer.append(target.key, target.batch, window=window)
        target.stored, target.respec = True, False
        return [each.duplicate for each in placed]

    def _write_early(self, writer: Writer, target: Target) -> None:
        if not target.early or writer.session(target.key) is None:
            return
        groups = list(target.early.values())
        insert(writer, target)
        for group in groups:
            self._count(target, group, [False] * len(group))

    def _count(self, target: Target, batch: list[Prepared], duplicates: list[bool]) -> None:
        for prepared, duplicate in zip(batch, duplicates, strict=True):
            if prepared.said is None:
                continue
            if duplicate:
                self._skip(target, "duplicate")
                continue
            target.messages += 1
            if target.renews and prepared.event.nav.id in target.ids:
                self.account.updated += 1
            else:
                self.account.imported += 1

    def forget_refused(self, refused: Collection[str]) -> None:
        """Sessions that must not be indexed go, if an earlier import brought them in. No tombstone: the source itself says no."""
        if self.store is None or self.dry_run or not refused:
            return
        with self.pace.writing(self.store, self.source.name) as writer:
            import_refusing.forget(writer, refused, self.source.tool, self.home.now())

    def _facts(self, view: View, target: Target, row: SessionRow | None) -> Facts:
        current = view.window(target.key) if row else None
        told, titles = target.told, tuple[str | None, ...]()
        if target.retitle:
            spoken = words_of(view, current.window, self.dialect) if current else None
            shown = [told.summaries[leaf] for leaf in told.summaries if row and view.known_ids(target.key, (leaf,))]
            kept = row.facts.title if row and TITLED_BY in row.facts.extra else None  # a summary in another file
            titles = (told.title, told.better_title, *shown, kept, spoken)
        facts = facts_of(self.home.redactor, self.source.tool, told, row, titles=titles)
        spawner = self.renamed.get(facts.spawned_by or "", facts.spawned_by)
        return replace(facts, key=target.key, session_id=current.session_id if current else told.session_id, spawned_by=spawner)


__all__ = ["Intake"]

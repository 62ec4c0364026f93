"""Transcripts in: every source that the paths hold, one after the other, and the account of it (contract.md §6).

A source that fails does not stop the others. What was read before is told by ``SourceState`` and not read again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path, PurePath

from wesaid import keys, limits
from wesaid.engines.contract import Store
from wesaid.errors import NotFoundError, StoreBusyError, StoreError
from wesaid.importers import openclaw
from wesaid.importers.known import Database, LeftOut, Source
from wesaid.importers.reading import printable
from wesaid.service import import_linking, reconciling
from wesaid.service.import_account import Account, Failure, SourceAccount, account_of
from wesaid.service.import_database import DatabaseImport, Held, held_of
from wesaid.service.import_facts import facts_of
from wesaid.service.import_file import FileImport
from wesaid.service.import_pace import OvertakenError, Pace
from wesaid.service.import_refusing import Gone
from wesaid.service.import_sources import Met, Unread, Wanted, discover, is_gone, known_places
from wesaid.service.opening import Home
from wesaid.values import Folder, Scope

Progress = Callable[[int, int, str], None]  # sources done, sources in all, the one at work


def import_paths(  # noqa: PLR0913 (the command's options, each once)
    home: Home,
    paths: Iterable[str | Path],
    *,
    tool: str | None = None,
    agent: str | None = None,
    dry_run: bool = False,
    again: str | None = None,
    progress: Progress | None = None,
) -> Account:
    """Import every transcript of the paths; without paths, of every known place on this machine.

    Args:
        home: where to.
        paths: files and folders.
        tool: the tool that wrote them; guessed by content when not given.
        agent: the agent that the sessions are given to, whatever the tool says.
        dry_run: read and count, write nothing.
        again: key of a deleted session to bring back.
        progress: called with ``(sources done, sources in all, the path at work)`` after each transaction.

    Returns:
        The account; sources that could not be read carry their error and are listed in ``failed``.

    Raises:
        InputError: the tool or agent is not known or not allowed.
        StoreError: no source could be imported for it. Else the sources of an agent whose store failed carry that error; what was
            committed stays, and the next import goes on from there.
    """
    run = Run(home, dry_run=dry_run, again=str(keys.parse(again)) if again else None)
    wanted = Wanted(tool=tool, agent=agent, ignore=home.settings.import_ignore)
    if run.again is not None:
        _check_deleted(home, run.again)
    asked = list(paths)
    met = discover(asked or known_places(), wanted)
    accounts: list[SourceAccount] = []
    broken: dict[str | None, StoreError] = {}  # agents whose stores failed: theirs are told so, the others' are imported
    for done, found in enumerate(met):
        report = _reporter(progress, done, len(met), home.redactor.redact(PurePath(printable(found.path)).name))
        report()
        accounts.append(_one(run, found, report, broken))
    if broken and all(isinstance(one.error, StoreError) for one in accounts):
        raise next(iter(broken.values()))  # nothing to give an account of
    run.broken.update(agent for agent in broken if agent is not None)
    run.link()
    if not dry_run:
        _acknowledge(home, accounts)
    run.mark_missing(list(_absolute(asked)))
    run.follow(list(_absolute(asked or known_places())), met, wanted)
    if progress is not None:
        progress(len(met), len(met), "")
    for one in accounts:
        one.path = home.redactor.redact(one.path)
        if one.error is not None:
            home.clean(one.error)
    return account_of(accounts)


def _one(run: Run, found: Met, report: Callable[[], None], broken: dict[str | None, StoreError]) -> SourceAccount:
    """The account of what was met at one path, also where the store of its agent fails."""
    agent = None if isinstance(found, Unread) else found.agent
    error = broken.get(agent) if isinstance(found, Database | Source) else None
    if error is None:
        try:
            return run.one(found, report)
        except StoreError as failed:
            error = broken.setdefault(agent, failed)
    return SourceAccount(path=printable(found.path), tool=getattr(found, "tool", None), agent_id=agent, error=error)


def _acknowledge(home: Home, accounts: Iterable[SourceAccount]) -> None:
    """What a repair had lost of sessions that were read now is missed no more: their sources have no more to give."""
    read: dict[str, set[str]] = {}
    for one in accounts:
        if one.error is None and one.agent_id is not None and one.keys:
            read.setdefault(one.agent_id, set()).update(one.keys)
    for agent, names in read.items():
        store = home.engine.store(agent)
        if store is None:
            continue
        with store.reading() as view:
            lost = view.lost()
        if lost is not None:
            with store.writing() as writer:
                writer.note_lost(
                    replace(
                        lost,
                        events={key: count for key, count in lost.events.items() if key and key not in names},
                        uncounted=False,
                        deletions=False,
                    )
                )


def _reporter(progress: Progress | None, done: int, total: int, path: str) -> Callable[[], None]:
    def report() -> None:
        if progress is not None:
            progress(done, total, path)

    return report


def _absolute(paths: Iterable[str | Path]) -> Iterator[str]:
    """The paths that can be paths."""
    for path in paths:
        with suppress(OSError, ValueError):
            yield os.path.realpath(Path(path).expanduser())


def _check_deleted(home: Home, key: str) -> None:
    """NotFoundError unless a session of this key was deleted: a misspelt one must not pass in silence."""
    store = home.engine.store(keys.parse(key).agent_id)
    if store is not None:
        with store.reading() as view:
            if view.tombstone(key) is not None:
                return
    raise NotFoundError(f"no deleted session {key!r}", hint="--again brings back what `wesaid delete` removed", details={"field": "again"})


@dataclass(slots=True)
class Run:
    """One import, and with which messages the sessions begin that it wrote."""

    home: Home
    dry_run: bool = False
    again: str | None = None
    until: float = inf  # of time.monotonic: see Pace
    broken: set[str] = field(default_factory=set)  # agents whose stores failed
    _begun: set[tuple[str, str]] = field(default_factory=set)  # agent and first message
    _titled: set[tuple[str, str]] = field(default_factory=set)  # agent and name of files that name titles
    _gone: dict[str, Gone] = field(default_factory=dict)  # agent -> what tells its deleted sessions
    _held: dict[str, Held] = field(default_factory=dict)  # by database

    # ── one source ───────────────────────────────────────────────────────────────────────────────────────────────
    def one(self, met: Met, report: Callable[[], None]) -> SourceAccount:
        """The account of what was met at one path."""
        if isinstance(met, Unread):
            return SourceAccount(path=printable(met.path), tool=None, agent_id=None, error=met.error)
        if isinstance(met, LeftOut):
            kept = self._kept(printable(met.path)) if met.reason == "ignored" else 0
            return SourceAccount(path=printable(met.path), tool=met.tool, agent_id=met.agent, skipped={met.reason: 1}, kept=kept)
        if isinstance(met, Source) and met.database is not None:
            beside = openclaw.held(met, self._held_by(met.database, met.agent))
            if isinstance(beside, LeftOut):
                return self.one(beside, report)
            met = beside
        store = self.home.engine.store(met.agent, create=not self.dry_run)
        if isinstance(met, Source) and met.missing:
            return self._missing(met)
        work, account = self._source(met, store, report)
        if isinstance(work, DatabaseImport) and (account.error is None or work.held):
            self._held[met.path] = work.held
        written = frozenset(work.written)
        if written and self.until == inf:  # else a search does it next
            # Rewinds inside a file leave rows to index: the import ends with everything findable.
            reconciling.settle(self.home, {met.agent: Scope(keys=written)}, seconds=float("inf"))
        self._titled.update([(met.agent, met.name)] if work.told_titles else [])
        self._begun.update((met.agent, first) for first in work.written.values() if first)
        return account

    def _source(
        self, met: Database | Source, store: Store | None, report: Callable[[], None]
    ) -> tuple[DatabaseImport | FileImport, SourceAccount]:
        """Import one source; begun again when another process got there first."""
        for _ in range(limits.IMPORT_TRIES):
            work: DatabaseImport | FileImport
            pace = Pace(self.until)
            if isinstance(met, Database):
                work = DatabaseImport(self.home, met, store, dry_run=self.dry_run, again=self.again, tick=report, pace=pace)
            else:
                gone = self._gone.setdefault(met.agent, Gone(store, self.again, quick=self.until != inf))
                work = FileImport(self.home, met, store, dry_run=self.dry_run, again=self.again, tick=report, pace=pace, gone=gone)
            with suppress(OvertakenError):
                return work, work.run()
        raise StoreBusyError("other processes are importing the same sources", hint="try again when they are done")

    def _held_by(self, database: str, first: str) -> Held | None:
        """What a database holds: as this import has met it, else as an earlier one did; nothing when none ever has; None when it is not there."""
        if database in self._held or not os.path.lexists(database):
            return self._held.get(database)
        for agent in dict.fromkeys((first, *self.home.engine.agents())):
            with suppress(StoreError):
                store = self.home.engine.store(agent)
                if store is not None:
                    with store.reading() as view:
                        state = view.source(printable(database))
                    if state is not None:
                        return held_of(state)
        return {}

    def _kept(self, path: str) -> int:
        """How many sessions stay that an earlier import brought in from a path: to ignore a file is no command to forget it."""
        count = 0
        for agent in self.home.engine.agents():
            with suppress(StoreError):
                store = self.home.engine.store(agent)
                if store is not None:
                    with store.reading() as view:
                        state = view.source(path)
                        count += sum(view.session(key) is not None for key in state.keys) if state is not None else 0
        return count

    def _missing(self, source: Source) -> SourceAccount:
        """A session whose transcript is gone: its name and lineage are worth keeping, its messages cannot be had."""
        account = SourceAccount(path=source.name, tool=source.tool, agent_id=source.agent, keys={source.key}, skipped={"missing-file": 1})
        store = self.home.engine.store(source.agent)
        if store is None or self.dry_run:
            return account
        with store.reading() as view:
            state = view.source(source.name)
            if view.tombstone(source.key) or view.tombstone_by_id(source.session_id):
                return SourceAccount(path=source.name, tool=source.tool, agent_id=source.agent, skipped={"deleted": 1})
        told = openclaw.from_row(source)
        with store.writing() as writer:
            row = writer.session(source.key)
            if row is None:
                writer.create(facts_of(self.home.redactor, source.tool, told, None, titles=(told.better_title,)))
            if state is not None and not state.missing:
                writer.note_source(replace(state, missing=True))
        return account

    # ── across sources ───────────────────────────────────────────────────────────────────────────────────────────
    def link(self) -> None:
        """What only all files together tell: forks, and titles that stand in another session's file."""
        for agent in sorted({agent for agent, _ in self._begun | self._titled} - self.broken):
            store = self.home.engine.store(agent)
            if store is not None and not self.dry_run:
                link = import_linking.Link(store, quick=self.until != inf)
                link.forks({first for own, first in self._begun if own == agent})
                link.titles(self.home.redactor, {name for own, name in self._titled if own == agent})

    def follow(self, tops: list[str], met: Sequence[Met], wanted: Wanted) -> None:
        """Folders that were named: transcripts that appear in them later are found by searches, for the agents that got something from there."""
        for top in tops if not self.dry_run else ():
            if not Path(top).is_dir() or printable(top) != top:
                continue
            below = {found.agent for found in met if isinstance(found, Database | Source) and PurePath(found.path).is_relative_to(top)}
            for agent in sorted(below - self.broken):
                store = self.home.engine.store(agent)
                if store is None:
                    continue
                with store.reading() as view:
                    known = {(folder.path, folder.tool, folder.agent) for folder in view.folders()}
                if (top, wanted.tool, wanted.agent) not in known:
                    with store.writing() as writer:
                        writer.note_folder(Folder(top, wanted.tool, wanted.agent))

    def mark_missing(self, tops: list[str]) -> None:
        """Files below these paths that were imported once and are gone: what they said stays, and its sessions say so."""
        for agent in self.home.engine.agents() if tops and not self.dry_run else ():
            with suppress(StoreError):  # an agent that cannot be read is for others to report; these files are not its own
                self._mark_missing(agent, tops)

    def _mark_missing(self, agent: str, tops: list[str]) -> None:
        store = self.home.engine.store(agent)
        if store is None:
            return
        with store.reading() as view:
            known = [state for state in view.sources() if not state.missing]
        below = [state for state in known if any(PurePath(state.path).is_relative_to(top) for top in tops)]
        gone = [state for state in below if is_gone(state.path) and "\\x" not in state.path]
        if gone:
            with store.writing() as writer:
                for state in gone:
                    writer.note_source(replace(state, missing=True))


__all__ = ["Account", "Failure", "Progress", "SourceAccount", "import_paths"]

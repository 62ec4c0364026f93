"""Before a search: have known transcripts grown, and have new ones appeared? What is quick is imported, the rest is counted (contract.md §6).

    look at known files, those of the latest sessions first -> look at followed folders -> import newest first, until the time is up

Nothing here makes a search fail: what cannot be read, written or finished in time stays behind, and is tried again by the next search; no
failure is remembered. A session caller causes looks at sources of sessions that it may see, and at nothing else, so that what is counted
tells it of no other.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from time import monotonic

from wesaid import limits
from wesaid.errors import StoreError, WesaidError
from wesaid.importers import reading
from wesaid.importers.known import Database, LeftOut, Source
from wesaid.service.import_sources import SESSION_LIST, Unread, Wanted, some
from wesaid.service.importing import Run
from wesaid.service.looking import Listed, Look
from wesaid.service.opening import Home
from wesaid.values import Folder, Policy

_UNSETTLED = "empty"  # a file that was left out for this may be a transcript in a moment


@dataclass(frozen=True, slots=True)
class Fresh:
    """What came of it: how many sources are behind, and whether anything was imported."""

    behind: int = 0
    imported: bool = False


def freshen(home: Home, policy: Policy, agents: Iterable[str], *, operator: bool, seconds: float = limits.FRESH_SECONDS) -> Fresh:
    """Import what has grown in sources of these agents that the policy allows, for about so long; the operator's search finds new files too."""
    until = monotonic() + seconds
    look = Look(home)
    for agent in agents:
        look.recent(agent, policy.scope(agent), whole=operator)
    if operator:
        look.rest()
        look.folders()
    if not (look.changed or look.gone or look.listed):
        return Fresh()
    work = _Work(home, Run(home, until=until), look, min(seconds, limits.FRESH_LEAST_SECONDS))
    work.known_files()
    work.new_files()
    work.end()
    return Fresh(len(work.behind), work.imported)


@dataclass(slots=True)
class _Work:
    """The imports of one search. ``behind`` are paths that are not read to their end."""

    home: Home
    run: Run
    look: Look
    least: float  # seconds for new files
    behind: set[str] = field(default_factory=set)
    imported: bool = False
    _tried: set[str] = field(default_factory=set)
    _settled: set[Folder] = field(default_factory=set)  # folders in which nothing is left to look at until they change
    _writable: dict[str, bool] = field(default_factory=dict)

    # ── what to import ───────────────────────────────────────────────────────────────────────────────────────────
    def known_files(self) -> None:
        """Those that have grown or changed, the newest first; of one folder together, since an OpenClaw folder is planned as a whole."""
        self.behind.update(file.path for _, _, file in self.look.changed)
        groups: dict[tuple[str, str, str], list[str]] = {}
        for _, agent, file in sorted(self.look.changed, reverse=True):
            pure = PurePath(file.path)
            groups.setdefault((str(pure.parent), agent, file.tool), []).append(pure.name)
        for (folder, agent, tool), names in groups.items():
            if monotonic() < self.run.until and self._may_write(agent):
                for some_names in self._slices(names):
                    self._some(folder, some_names, (tool, agent), known=True)

    def new_files(self) -> None:
        """Those that appeared in folders that are followed. However long it took to look, some are imported."""
        new: list[tuple[Listed, list[str]]] = []
        for listed in self.look.listed:
            unseen = self.look.unseen(listed)
            if all(map(self._may_write, listed.agents)):
                new.append((listed, names := self.look.new(listed, unseen)))
                unseen = names
            self.behind.update(f"{listed.folder.path}/{name}" for name in unseen)
        self.run.until = max(self.run.until, monotonic() + self.least)
        for listed, names in new:
            is_settled = True
            for some_names in self._slices(names):
                is_settled = (
                    self._some(listed.folder.path, some_names, (listed.folder.tool, listed.folder.agent), known=False) and is_settled
                )
            if is_settled:
                self._settled.add(listed.folder)

    def _slices(self, names: list[str]) -> Iterator[list[str]]:
        """The latest names, then the others from wherever the clock says: names that are left out each time must not stand before others."""
        first, rest = names[: limits.FRESH_NEW_FILES], names[limits.FRESH_NEW_FILES :]
        yield first
        at = self.home.now() % len(rest) if rest else 0
        turned = [*rest[at:], *rest[:at]]
        yield from (turned[begin : begin + limits.FRESH_NEW_FILES] for begin in range(0, len(turned), limits.FRESH_NEW_FILES))

    def _some(self, folder: str, names: list[str], told: tuple[str | None, str | None], *, known: bool) -> bool:
        """Files of one folder; whether nothing of them is left to do. What an import would leave out is not behind."""
        if not names or monotonic() >= self.run.until:
            return not names
        wanted = Wanted(tool=told[0], agent=told[1], ignore=self.home.settings.import_ignore)
        is_settled = True
        with suppress(WesaidError, OSError):
            for found in some(folder, names, wanted, known=known):
                if isinstance(found, Database) or (isinstance(found, Source) and not found.missing):
                    is_settled = self._one(found) and is_settled
                elif isinstance(found, LeftOut):
                    is_settled = is_settled and found.reason != _UNSETTLED
                elif isinstance(found, Unread):
                    is_settled = self._unread(folder, found)
                if monotonic() >= self.run.until:
                    return False
            self.behind -= {path for name in names if (path := f"{folder}/{name}") not in self._tried}
            return is_settled
        return False

    def _unread(self, folder: str, found: Unread) -> bool:
        """A file that cannot be looked at stays behind, and keeps none of the others out; without the folder's own list nothing is sure."""
        if PurePath(found.path).name == SESSION_LIST or found.path == folder:
            raise found.error
        self._tried.add(found.path)
        self.behind.add(found.path)
        return False

    def _one(self, source: Database | Source) -> bool:
        """Import one file; whether the store has all of it now."""
        self._tried.add(source.path)
        self.behind.add(source.path)
        if not self._may_write(source.agent):
            return False
        self.imported = True
        try:
            account = self.run.one(source, lambda: None)
            is_read = account.error is None and self._is_read(source, left_out=bool(account.skipped))
        except (WesaidError, OSError):
            self._writable[source.agent] = False  # for this search: no other file would fare better
            return False
        if is_read:
            self.behind.discard(source.path)
        return is_read

    def _is_read(self, source: Database | Source, *, left_out: bool) -> bool:
        """Whether the store has all of a file as it is now, or the import left the file out as a whole."""
        store = self.home.engine.store(source.agent)
        if store is None:
            return left_out
        now = reading.identify(source.path)
        with store.reading() as view:
            state = view.source(source.name)
        return left_out if state is None else (state.size, state.mtime_ns) == (now.size, now.mtime_ns)

    def _may_write(self, agent: str) -> bool:
        """Whether a transaction can begin at once: nothing is read for a store that is busy or read-only."""
        if agent not in self._writable:
            self._writable[agent] = False
            with suppress(WesaidError, OSError):
                store = self.home.engine.store(agent, create=True)
                if store is not None:
                    with store.writing(seconds=limits.FRESH_BUSY_SECONDS):
                        self._writable[agent] = True
        return self._writable[agent]

    # ── what is kept of it ───────────────────────────────────────────────────────────────────────────────────────
    def end(self) -> None:
        """Link forks and titles, and remember which files are gone and which folders need no look before they change."""
        with suppress(StoreError):
            self.run.link()
        for agent, paths in self.look.gone.items():
            if self._may_write(agent):
                with suppress(StoreError):
                    self._mark_missing(agent, paths)
        for agent in {agent for listed in self.look.listed for agent in listed.agents}:
            if self._may_write(agent):
                with suppress(StoreError):
                    self._note_folders(agent)

    def _mark_missing(self, agent: str, paths: list[str]) -> None:
        with self.home.store(agent).writing(seconds=limits.FRESH_BUSY_SECONDS) as writer:
            for path in paths:
                state = writer.source(path)
                if state is not None and not os.path.lexists(path):
                    writer.note_source(replace(state, missing=True))
                if monotonic() >= self.run.until:
                    return

    def _note_folders(self, agent: str) -> None:
        with self.home.store(agent).reading() as view:
            known = set(view.folders())
        news = [noted for listed in self.look.listed if agent in listed.agents for noted in self._noted(listed)]
        if not known.issuperset(news):
            with self.home.store(agent).writing(seconds=limits.FRESH_BUSY_SECONDS) as writer:
                for folder in news:
                    writer.note_folder(folder)

    def _noted(self, listed: Listed) -> Iterator[Folder]:
        """The folder with its time, when nothing in it is left to look at; else as it was."""
        is_old = self.home.now() * limits.MILLISECOND_NS - listed.mtime_ns > limits.FRESH_SETTLED_NS
        yield replace(listed.folder, mtime_ns=listed.mtime_ns) if is_old and listed.folder in self._settled else listed.folder


__all__ = ["Fresh", "freshen"]

"""Which known files are not what they were, and which followed folders have changed? Looks of the file system only, bounded in time.

It refuses to read files and to write anything. The clock of files is compared with what the store kept, never with the present.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Final

from wesaid import limits
from wesaid.errors import StoreError
from wesaid.importers.reading import printable
from wesaid.service.opening import Home
from wesaid.values import Folder, KnownFile, Scope

_ESCAPED: Final = "\\x"  # in the name of a file that is no Unicode: it cannot be looked at by it
_DATABASE: Final = ".sqlite"
_SUFFIXES: Final = (".jsonl", ".ndjson", _DATABASE)
_RESET: Final = ".jsonl.reset."


@dataclass(frozen=True, slots=True)
class Listed:
    """A followed folder that has changed: its time now, the transcripts' names in it, latest first, and the agents that follow it."""

    folder: Folder
    mtime_ns: int
    names: tuple[str, ...]
    agents: tuple[str, ...]


@dataclass(slots=True)
class Look:
    """One look. ``changed`` holds (time of last change, agent, file), ``gone`` paths by agent, ``listed`` folders."""

    home: Home
    changed: list[tuple[int, str, KnownFile]] = field(default_factory=list)
    gone: dict[str, list[str]] = field(default_factory=dict)
    listed: list[Listed] = field(default_factory=list)
    _known: dict[str, set[str]] = field(default_factory=dict)  # agent -> paths looked at
    _starts: dict[str, str] = field(default_factory=dict)  # agent -> where the look at the rest begins
    _until: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        self._until = monotonic() + limits.FRESH_LOOK_SECONDS

    # ── files ────────────────────────────────────────────────────────────────────────────────────────────────────
    def recent(self, agent: str, scope: Scope, *, whole: bool) -> None:
        """The files of the latest sessions in scope; ``whole``: the others follow by ``rest``."""
        with suppress(StoreError):
            store = self.home.engine.store(agent)
            if store is None:
                return
            with store.reading() as view:
                files = view.recent_files(scope, limit=limits.FRESH_RECENT_FILES if whole else limits.FRESH_FILES)
            self._known[agent] = set()
            # Where there are more than time allows, each look begins somewhere else.
            self._starts[agent] = files[self.home.now() % len(files)].path if files else ""
            self._look_at(agent, files)

    def rest(self) -> None:
        """All known files of the agents looked at, as far as time allows."""
        for agent in list(self._starts):
            with suppress(StoreError):
                self._round(agent, self._starts[agent])

    def _round(self, agent: str, start: str) -> None:
        """From ``start`` to the end, then from the beginning to ``start``."""
        after, wrapped = start, not start
        while monotonic() < self._until:
            with self.home.store(agent).reading() as view:
                files = view.files(after=after, limit=limits.FRESH_PAGE_FILES)
            self._look_at(agent, files if not wrapped or not start else [file for file in files if file.path <= start])
            if len(files) == limits.FRESH_PAGE_FILES and not (wrapped and start and files[-1].path >= start):
                after = files[-1].path
            elif wrapped:
                return
            else:
                after, wrapped = "", True

    def _look_at(self, agent: str, files: Iterable[KnownFile]) -> None:
        known = self._known[agent]
        new = [file for file in files if file.path not in known]
        for begin in range(0, len(new), limits.FRESH_FILES_A_CLOCK):
            if monotonic() >= self._until:
                return
            some = new[begin : begin + limits.FRESH_FILES_A_CLOCK]
            known.update(file.path for file in some)
            for file in some:
                self._look_at_one(agent, file)

    def _look_at_one(self, agent: str, file: KnownFile) -> None:
        path, _, size, mtime_ns, missing = file
        try:
            now = os.stat(path)  # noqa: PTH116 - making ten thousand Paths takes longer than asking
        except (FileNotFoundError, NotADirectoryError):
            if not missing and _ESCAPED not in path:
                self.gone.setdefault(agent, []).append(path)
        except (OSError, ValueError):
            return  # a folder that may not be entered now: nothing is known of what is in it
        else:
            changed, length = now.st_mtime_ns, now.st_size
            if path.endswith(_DATABASE):
                with suppress(OSError, ValueError):  # what lies in its log counts, as an import counts it (reading.identify)
                    log = Path(f"{os.path.realpath(path)}-wal").stat()
                    changed, length = max(changed, log.st_mtime_ns), length + log.st_size
            if changed != mtime_ns or length != size or missing:
                self.changed.append((changed, agent, file))

    # ── folders ──────────────────────────────────────────────────────────────────────────────────────────────────
    def folders(self) -> None:
        """Followed folders that have changed since everything in them was imported, and folders that are new in them."""
        self._until = monotonic() + limits.FRESH_FOLDERS_SECONDS
        followed: dict[tuple[str, str | None, str | None], tuple[Folder, list[str]]] = {}
        for agent in self._starts:
            with suppress(StoreError), self.home.store(agent).reading() as view:
                for folder in view.folders():
                    followed.setdefault((folder.path, folder.tool, folder.agent), (folder, []))[1].append(agent)
        waiting = list(followed.values())
        for folder, agents in waiting:
            if monotonic() >= self._until:
                return
            with suppress(OSError, ValueError):
                now = Path(folder.path).stat()
                if stat.S_ISDIR(now.st_mode) and now.st_mtime_ns != folder.mtime_ns:
                    inner, names = _inside(folder)
                    self.listed.append(Listed(folder, now.st_mtime_ns, names, tuple(agents)))
                    for new in inner:
                        if (new.path, new.tool, new.agent) not in followed:
                            followed[new.path, new.tool, new.agent] = (new, agents)
                            waiting.append((new, agents))

    def unseen(self, listed: Listed) -> list[str]:
        """Those names of a listed folder that were not met as known files of its agents, latest first; unless time was short all are ``new``."""
        return [name for name in listed.names if not any(f"{listed.folder.path}/{name}" in self._known[agent] for agent in listed.agents)]

    def new(self, listed: Listed, unseen: list[str]) -> list[str]:
        """Those of the unseen names of a listed folder that none of its agents knows as a source, latest first."""
        names = {printable(f"{listed.folder.path}/{name}"): name for name in unseen}
        for agent in listed.agents:
            with self.home.store(agent).reading() as view:
                for path in view.known_paths(list(names)):
                    del names[path]
        return list(names.values())


def _inside(folder: Folder) -> tuple[list[Folder], tuple[str, ...]]:
    """The folders in a folder, to be followed likewise, and the names of what may be transcripts, latest first. Links to folders are not followed."""
    inner: list[Folder] = []
    names: list[tuple[int, str]] = []
    with os.scandir(folder.path) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if printable(entry.path) == entry.path:
                    inner.append(Folder(entry.path, folder.tool, folder.agent))
            elif entry.name.endswith(_SUFFIXES) or _RESET in entry.name:
                names.append((-_changed(entry), entry.name))
    return inner, tuple(name for _, name in sorted(names))


def _changed(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat().st_mtime_ns
    except OSError:  # a link that leads nowhere
        return 0


__all__ = ["Listed", "Look"]

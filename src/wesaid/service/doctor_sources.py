"""What a doctor has to say of transcript files: gone, not readable, grown, half read, never read. Looks at names, sizes and beginnings; writes nothing."""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any, Self

from wesaid import limits
from wesaid.engines.contract import View
from wesaid.importers.known import Database, Source
from wesaid.service import doctor_losses
from wesaid.service.doctor_codes import FIX
from wesaid.service.import_sources import Unread, Wanted, discover, is_gone, known_places
from wesaid.values import Flaw, SourceState, counted

_CLOSED = "give this user the right to read it (chmod u+r; u+rx for a folder), or leave it out with import.ignore"


@dataclass(slots=True)
class Sources:
    """What the agents' stores say of files, gathered while they are looked at, against what lies in the places that we know."""

    places: list[Source] = field(default_factory=list)
    closed: list[Unread] = field(default_factory=list)  # in those places, and could not be looked at
    known: set[str] = field(default_factory=set)  # read once, or of a session that was deleted
    tools: set[str] = field(default_factory=set)  # that something was imported from
    again: dict[str, str] = field(default_factory=dict)  # path -> agent, of files that are there and are to be read again
    unread: set[str] = field(default_factory=set)  # agents whose stores could not be read: what they know is not known
    kept_out: set[str] = field(default_factory=set)  # agents that nothing is imported into by itself

    @classmethod
    def of(cls, ignore: tuple[str, ...]) -> Self:
        """With every transcript of the known places."""
        met = discover(known_places(), Wanted(ignore=ignore))
        places = [found for found in met if isinstance(found, Source) and not found.missing]
        return cls(places, [found for found in met if isinstance(found, Unread)])

    def flaws(self, view: View, agent: str) -> Iterator[Flaw]:
        """What is wrong with the sources of one agent."""
        states = view.sources()
        self.known.update(state.path for state in states)
        self.tools.update(state.tool for state in states)
        for source in self.places:
            if source.agent == agent and (view.tombstone(source.key) or view.tombstone_by_id(source.session_id)):
                self.known.add(source.name)
        if doctor_losses.forgot_deletions(view):
            self.kept_out.add(agent)
        gone = [state for state in states if "\\x" not in state.path and is_gone(state.path)]
        left = [state for state in states if state not in gone and not state.missing]
        closed = [state for state in left if "\\x" not in state.path and not os.access(state.path, os.R_OK)]
        half = [state for state in left if state not in closed and not state.state.get("complete")]
        grown = [state for state in left if state not in closed and state not in half and _has_changed(state)]
        self.again.update((state.path, agent) for state in (*half, *grown))
        if gone:
            oldest = min(state.mtime_ns for state in gone) // limits.MILLISECOND_NS // limits.SECONDS_MS
            day = datetime.fromtimestamp(max(oldest, 0), UTC).date()
            yield _told("source.missing", gone, f"gone, the oldest of {day}; what was said in {'it' if len(gone) == 1 else 'them'} is kept")
        if closed:
            yield _told("source.failed", closed, "there and cannot be read", advice=_CLOSED)
        if half:
            yield _told("source.incomplete", half, "to be read anew or on: an import was interrupted, or a repair has lost something")
        yield from _changed(grown)
        yield from _damaged(left)

    def never(self) -> Iterator[Flaw]:
        """Transcripts in places that we know, which no store has read: one flaw a tool. While a store cannot be read nobody can tell."""
        closed = [found for found in self.closed if found.path not in self.known]
        if closed:
            yield Flaw(
                code="source.failed",
                message=f"{counted(len(closed), 'transcript or folder', 'transcripts or folders')} cannot be read: {closed[0].error.message}",
                path=closed[0].path,
                advice=closed[0].error.hint,
            )
        for tool, sources in sorted(self.unknown().items()):
            folder = os.path.commonpath([str(PurePath(source.name).parent) for source in sources])
            was = "transcript of {} was" if len(sources) == 1 else "transcripts of {} were"
            yield Flaw(
                code="source.never",
                message=f"{len(sources)} {was.format(tool)} never imported, below {folder}",
                path=folder,
                command=FIX if tool in self.wanted() else f"wesaid import {shlex.quote(folder)}",
            )

    def unknown(self) -> dict[str, list[Source]]:
        """By tool, those that no store has read."""
        found: dict[str, list[Source]] = {}
        for source in self.places if not self.unread else ():
            if source.name not in self.known:
                found.setdefault(source.tool, []).append(source)
        return found

    def wanted(self) -> Collection[str]:
        """Tools whose transcripts a mending imports: those that something was imported from before, or all while nothing ever was."""
        return {
            tool
            for tool, sources in self.unknown().items()
            if (tool in self.tools or not (self.tools or self.kept_out)) and self.kept_out.isdisjoint(source.agent for source in sources)
        }

    def own(self, path: str, agent: str) -> str | None:
        """The agent to name when a file is read again, so that it lands where it did: None when it does so by itself."""
        mine = [met for met in discover([path], Wanted()) if isinstance(met, Source | Database)]
        return None if any(met.agent == agent for met in mine) else agent


def _changed(grown: list[SourceState]) -> Iterator[Flaw]:
    if grown:
        yield _told(
            "source.behind", grown, "not what it was when it was read" if len(grown) == 1 else "not what they were when they were read"
        )
    shrunk = [state for state in grown if (now := _stat(state)) is not None and now.st_size < state.size and state.state.get("complete")]
    if shrunk:
        yield _told("source.shrunk", shrunk, "shorter than when it was read; what was said there is kept")


def _damaged(states: list[SourceState]) -> Iterator[Flaw]:
    counts = [(state, sum(_lines(state.state))) for state in states]
    damaged = [(state, count) for state, count in counts if count]
    if damaged:
        lines = counted(sum(count for _, count in damaged), "line")
        files = counted(len(damaged), "transcript file")
        yield Flaw(code="source.damaged", message=f"{lines} of {files} could not be read and were passed over", path=damaged[0][0].path)


def _lines(state: Any) -> Iterator[int]:
    """Damaged lines, as the import of a file, or of each window of a database, has counted them."""
    windows = state.get("windows")
    for figures in windows.values() if isinstance(windows, dict) else [state.get("figures")]:
        count = figures.get("damaged") if isinstance(figures, dict) else None
        yield count if isinstance(count, int) else 0


def _stat(state: SourceState) -> os.stat_result | None:
    try:
        return os.stat(state.path)  # noqa: PTH116 - a path as it was kept, which may be no Path
    except (OSError, ValueError):
        return None  # a member of an archive, or a name that cannot be asked for


def _has_changed(state: SourceState) -> bool:
    now = _stat(state)
    return now is not None and (now.st_size, now.st_mtime_ns) != (state.size, state.mtime_ns)


def _told(code: str, states: list[SourceState], what: str, *, advice: str | None = None) -> Flaw:
    files = f"{counted(len(states), 'transcript file')} {'is' if len(states) == 1 else 'are'}"
    return Flaw(code=code, message=f"{files} {what}", path=states[0].path, advice=advice)

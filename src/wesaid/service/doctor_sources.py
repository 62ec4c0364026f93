"""What a doctor has to say of transcript files: gone, grown, half read, never read. Looks at names, sizes and beginnings; writes nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Self

from wesaid import limits
from wesaid.engines.contract import View
from wesaid.importers.known import Source
from wesaid.service.import_sources import Wanted, discover, known_places
from wesaid.values import Flaw, SourceState


@dataclass(slots=True)
class Sources:
    """What the agents' stores say of files, gathered while they are looked at, against what lies in the places that we know."""

    places: list[Source] = field(default_factory=list)
    known: set[str] = field(default_factory=set)  # read once, or of a session that was deleted
    again: dict[str, str] = field(default_factory=dict)  # path -> agent, of files that are there and are to be read again

    @classmethod
    def of(cls, ignore: tuple[str, ...]) -> Self:
        """With every transcript of the known places."""
        return cls([met for met in discover(known_places(), Wanted(ignore=ignore)) if isinstance(met, Source) and not met.missing])

    def flaws(self, view: View, agent: str) -> Iterator[Flaw]:
        """What is wrong with the sources of one agent."""
        states = view.sources()
        self.known.update(state.path for state in states)
        for source in self.places:
            if source.agent == agent and (view.tombstone(source.key) or view.tombstone_by_id(source.session_id)):
                self.known.add(source.name)
        gone = [state for state in states if "\\x" not in state.path and not os.path.lexists(state.path)]
        left = [state for state in states if state not in gone]
        half = [state for state in left if not state.state.get("complete")]
        grown = [state for state in left if state not in half and _has_changed(state)]
        self.again.update((state.path, agent) for state in (*half, *grown))
        if gone:
            oldest = min(state.mtime_ns for state in gone) // limits.MILLISECOND_NS // limits.SECONDS_MS
            day = datetime.fromtimestamp(max(oldest, 0), UTC).date()
            yield _told("source.missing", f"{len(gone)} transcript files are gone, the oldest of {day}; what they said is kept", gone)
        if half:
            yield _told("source.incomplete", f"{len(half)} transcript files were not read to their end", half)
        if grown:
            yield _told("source.behind", f"{len(grown)} transcript files have changed since they were read", grown)

    def never(self) -> Iterator[Flaw]:
        """Transcripts in places that we know, which no store has read: one flaw a tool."""
        counts: dict[str, list[str]] = {}
        for source in self.places:
            if source.name not in self.known:
                counts.setdefault(source.tool, []).append(source.name)
        for tool, paths in sorted(counts.items()):
            folder = os.path.commonpath([str(PurePath(path).parent) for path in paths])
            yield Flaw(code="source.never", message=f"{len(paths)} transcripts of {tool} were never imported, below {folder}", path=folder)

    def own(self, path: str, agent: str) -> str | None:
        """The agent to name when a file is read again, so that it lands where it did: None when it does so by itself."""
        mine = [met for met in discover([path], Wanted()) if isinstance(met, Source)]
        return None if any(met.agent == agent for met in mine) else agent


def _has_changed(state: SourceState) -> bool:
    try:
        now = os.stat(state.path)  # noqa: PTH116 - a path as it was kept, which may be no Path
    except (OSError, ValueError):
        return False  # a member of an archive, or a name that cannot be asked for
    return (now.st_size, now.st_mtime_ns) != (state.size, state.mtime_ns)


def _told(code: str, message: str, states: list[SourceState]) -> Flaw:
    return Flaw(code=code, message=message, path=states[0].path)

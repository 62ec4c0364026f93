"""The account of an import (contract.md §6): what each source held, and what became of it. No I/O.

Figures are messages: a user's or an assistant's line with searchable text, wherever it hangs. ``found`` is by definition the sum of
what was imported, updated, unchanged and skipped, so that an account always adds up. Each run accounts for the whole file, also for
what an earlier run brought in. A file that is left out whole counts as one under its reason, since its messages were not read.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Final

from wesaid.errors import SourceError, WesaidError
from wesaid.importers.known import Reason

# Reasons that say that a file is no transcript of a conversation at all.
NOT_TRANSCRIPTS: Final = frozenset({"not-a-transcript", "prompt-log", "session-list", "unsupported-format", "other-format", "empty"})


@dataclass(slots=True, kw_only=True)
class SourceAccount:
    """One transcript file."""

    path: str
    tool: str | None
    agent_id: str | None
    keys: set[str] = field(default_factory=set)  # of the sessions that it is in
    imported: int = 0
    updated: int = 0
    unchanged: int = 0
    skipped: dict[Reason, int] = field(default_factory=dict)
    damaged_lines: int = 0
    pending: int = 0
    kept: int = 0  # sessions that an earlier import brought in of a source that is ignored now; they stay
    error: WesaidError | None = None

    @property
    def sessions(self) -> int:
        """How many sessions it is in."""
        return len(self.keys)

    @property
    def found(self) -> int:
        """All that was met."""
        return self.imported + self.updated + self.unchanged + sum(self.skipped.values())

    def skip(self, reason: Reason, count: int = 1) -> None:
        """Count what was left out."""
        self.skipped[reason] = self.skipped.get(reason, 0) + count

    def as_json(self) -> dict[str, Any]:
        """The source's part of the account; ``error`` only when it failed."""
        error = {"error": self.error.as_json()["error"]} if self.error else {}
        kept = {"keptSessions": self.kept} if self.kept else {}
        return {"path": self.path, "tool": self.tool, "agentId": self.agent_id, **_figures(self), **kept, **error}


@dataclass(frozen=True, slots=True)
class Failure:
    """A source that could not be read, and why."""

    path: str
    error: WesaidError


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Everything that one import met. ``sources`` is empty when the paths held no transcript."""

    sources: tuple[SourceAccount, ...]

    @property
    def failed(self) -> tuple[Failure, ...]:
        """Sources that could not be read to their end."""
        return tuple(Failure(source.path, source.error) for source in self.sources if source.error is not None)

    @property
    def holds_transcripts(self) -> bool:
        """Whether any source was one, or could not be looked at."""
        return _has_transcripts(self.sources)

    @property
    def totals(self) -> SourceAccount:
        """The sum over all sources; a session of several sources is one."""
        total = SourceAccount(path="", tool=None, agent_id=None)
        for source in self.sources:
            total.keys |= source.keys
            for name in ("imported", "updated", "unchanged", "damaged_lines", "pending"):
                setattr(total, name, getattr(total, name) + getattr(source, name))
            for reason, count in source.skipped.items():
                total.skip(reason, count)
        return total

    def as_json(self) -> dict[str, Any]:
        """``{sources, totals}`` of contract.md §6."""
        return {"sources": [source.as_json() for source in self.sources], "totals": _figures(self.totals)}


def account_of(sources: list[SourceAccount]) -> Account:
    """The account of these sources; files that are no transcripts are mentioned only beside one that is, or that is another tool's than was said."""
    told = _has_transcripts(sources) or any("other-format" in source.skipped for source in sources)
    return Account(sources=tuple(sources) if told else ())


def _has_transcripts(sources: Iterable[SourceAccount]) -> bool:
    return any(source.error or not (source.skipped and NOT_TRANSCRIPTS.issuperset(source.skipped)) for source in sources)


def _figures(source: SourceAccount) -> Mapping[str, Any]:
    return {
        "sessions": source.sessions,
        "found": source.found,
        "imported": source.imported,
        "updated": source.updated,
        "unchanged": source.unchanged,
        "skipped": dict(sorted(source.skipped.items())),
        "damagedLines": source.damaged_lines,
        "pending": source.pending,
    }


def failure_of(error: Exception) -> SourceError:
    """What kept one file out, as its account tells it: our own error's words, or where a defect of ours is. Never text of the file."""
    if isinstance(error, WesaidError):
        return SourceError(error.message, hint=error.hint, details=error.details)
    where = traceback.extract_tb(error.__traceback__)[-1]
    return SourceError(
        f"cannot make sense of it: {type(error).__name__} at {PurePath(where.filename).name}:{where.lineno}",
        hint="please report this with the kind of file it is; the other files are imported",
    )


__all__ = ["NOT_TRANSCRIPTS", "Account", "Failure", "SourceAccount", "account_of", "failure_of"]

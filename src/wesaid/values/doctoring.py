"""What an examination of a store finds. Codes and what mends them are the service's table (``service.doctor_codes``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Flaw:
    """One kind of thing that is not as it should be, said once with its numbers. ``message`` is one sentence without transcript text."""

    code: str
    message: str
    path: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mended:
    """What repairing a store in place did."""

    paths: int = 0  # windows whose visible path was stored anew
    orphans: int = 0  # rows that referred to nothing
    indexes: int = 0  # windows whose index is to be filled again
    counters: int = 0  # wrong counters


@dataclass(frozen=True, slots=True, kw_only=True)
class Salvaged:
    """What was read out of a damaged database into a new one. ``lost`` counts events by session key; None: of a session that is not known."""

    aside: str  # the damaged file, copied here first
    sessions: int
    events: int
    lost: Mapping[str | None, int] = field(default_factory=dict)
    unreadable: tuple[str, ...] = ()  # tables of which some rows could not be read, and how many there were is not known
    sources: tuple[str, ...] = ()  # transcript files that have to be read again


__all__ = ["Flaw", "Mended", "Salvaged"]

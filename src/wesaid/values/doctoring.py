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
    advice: str | None = None  # what a person is to do, where no command of ours does it, or before it
    command: str | None = None  # that mends it, where another one does than the table says


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """What repairs of a store could not save, until it is back or nobody misses it.

    ``events`` counts by session key; ``""``: of sessions that are not known. ``deletions``: which sessions were deleted is not known any more.
    """

    at: int = 0  # Unix milliseconds of the latest repair
    events: Mapping[str, int] = field(default_factory=dict)
    uncounted: bool = False  # and more, of which it is not known how many they were
    deletions: bool = False
    aside: str = ""  # the copy of the damaged file; when somebody has removed it, nothing is missed


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun: ``1 event``, ``2 events``."""
    return f"{number} {one if number == 1 else many or one + 's'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mended:
    """What repairing a store in place did."""

    paths: int = 0  # windows whose visible path was stored anew
    orphans: int = 0  # rows that referred to nothing
    indexes: int = 0  # windows whose index is to be filled again
    counters: int = 0  # wrong counters
    lost: int = 0  # events that were counted once and are not there


@dataclass(frozen=True, slots=True, kw_only=True)
class Salvaged:
    """What was read out of a damaged database into a new one. ``lost`` counts events by session key; None: of a session that is not known."""

    aside: str  # the damaged file, copied here first
    sessions: int
    events: int
    lost: Mapping[str | None, int] = field(default_factory=dict)
    unreadable: tuple[str, ...] = ()  # tables of which some rows could not be read, and how many there were is not known
    uncounted: bool = False  # and events of which it is not known how many they were
    deletions: bool = False  # which sessions were deleted could not be read


__all__ = ["Flaw", "Lost", "Mended", "Salvaged", "counted"]

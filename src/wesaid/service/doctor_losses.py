"""What repairs could not save, for as long as somebody may miss it; and stores that hold nothing at all.

It refuses to read transcripts and to write. A loss is missed until the sessions were read again or forgotten, or the copy of the damaged file,
out of which one could still look for it, was removed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from wesaid import limits
from wesaid.engines.contract import View
from wesaid.service import counting
from wesaid.service.doctor_files import COPY
from wesaid.values import Flaw, Lost, counted

_MISSED: Final = "if you have transcripts of them: `wesaid import PATH`; when nothing is missed, delete the copy of the damaged database or forget the sessions"


def flaws(view: View, folder: Path) -> Iterator[Flaw]:
    """What is missed of one agent, or that it has nothing. ``folder`` is where its database lies."""
    lost = missed(view)
    if lost is not None:
        yield from _told(lost)
    if lost is None and folder.is_dir() and counting.is_empty(view):
        yield _empty(folder)


def missed(view: View) -> Lost | None:
    """What a repair has lost that is still missed."""
    lost = view.lost()
    if lost is None or (lost.aside and not os.path.lexists(lost.aside)):
        return None
    lost = replace(lost, events={key: count for key, count in lost.events.items() if not key or view.session(key) is not None})
    return lost if lost.events or lost.uncounted or lost.deletions else None


def forgot_deletions(view: View) -> bool:
    """Whether it is not known any more which sessions were deleted, or the store may be one that somebody has emptied: importing could bring them back."""
    lost = missed(view)
    return bool(lost and lost.deletions) or counting.is_empty(view)


def events(view: View, keys: Mapping[str, int]) -> dict[str, int]:
    """How many events sessions have now."""
    return {key: sum(window.events for window in view.windows(key)) for key in keys if key}


def _told(lost: Lost) -> Iterator[Flaw]:
    day = datetime.fromtimestamp(max(lost.at, 0) / limits.SECONDS_MS, UTC).date()
    if lost.events or lost.uncounted:
        count = sum(lost.events.values())
        keys = sorted(key for key in lost.events if key)
        named = ", ".join(keys[: limits.DOCTOR_NAMES]) + (
            f" and {len(keys) - limits.DOCTOR_NAMES} more" if len(keys) > limits.DOCTOR_NAMES else ""
        )
        said = f"{counted(count, 'event was', 'events were')} lost" if count else "an unknown number of events was lost"
        more = ", and more that could not be counted" if count and lost.uncounted else ""
        where = f", of {named}" if named else ", of sessions that are not known"
        yield Flaw(code="rows.lost", message=f"{said} in a repair on {day}{where}{more}", path=lost.aside or None, advice=_MISSED)
    if lost.deletions:
        yield Flaw(
            code="deletions.lost",
            message=f"which sessions were deleted could not be read in a repair on {day}: an import may bring them back, and nothing is imported by itself",
            path=lost.aside or None,
            advice="import what you want to have, then delete again what should be gone",
        )


def _empty(folder: Path) -> Flaw:
    try:
        copies = sorted(path.name for path in folder.iterdir() if path.name.startswith(COPY) and not path.name.endswith(("-wal", "-shm")))
    except OSError:
        copies = []
    beside = f"copies of a damaged one lie beside it: {', '.join(copies[: limits.DOCTOR_NAMES])}" if copies else "no copy lies beside it"
    return Flaw(
        code="store.empty",
        message=f"the database is empty: it was begun and never used, or what it held was taken away; {beside}",
        path=str(folder),
        advice="put a backup in its place, or import transcripts again; if it was never used, remove its folder",
    )


__all__ = ["events", "flaws", "forgot_deletions", "missed"]

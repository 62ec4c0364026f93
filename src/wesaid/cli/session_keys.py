"""The store's session keys, for completion and for the one that may have been meant."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from wesaid import limits
from wesaid.service import listing, methods, opening
from wesaid.values import OPERATOR


def beginning_with(home: Path | None, start: str) -> list[str]:
    """Keys that begin so, the newest first; at most ``limits.CLI_COMPLETION_KEYS`` are looked at."""
    wanted = methods.ListParams(limit=limits.CLI_COMPLETION_KEYS, search=start or None)
    with opening.open_home(home) as store:
        return [row.key for row in listing.sessions(store, OPERATOR, wanted).rows if row.key.startswith(start)]


def alike(home: Path | None, wanted: str) -> str | None:
    """The operator's key that may have been meant: one that ends so (``notes``), or that differs by a slip of the finger.

    Of the newest ``limits.CLI_COMPLETION_KEYS``, as with completion.
    """
    keys = beginning_with(home, "")
    ending = (key for key in keys if key.endswith(f":{wanted}"))
    return next(ending, None) or next(iter(get_close_matches(wanted, keys, n=1, cutoff=0.85)), None)  # keys share half of their letters

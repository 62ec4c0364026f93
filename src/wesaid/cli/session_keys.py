"""The store's session keys, for completion."""

from __future__ import annotations

from pathlib import Path

from wesaid import limits
from wesaid.service import listing, methods, opening
from wesaid.values import OPERATOR


def beginning_with(home: Path | None, start: str) -> list[str]:
    """Keys that begin so, the newest first; at most ``limits.CLI_COMPLETION_KEYS`` are looked at."""
    wanted = methods.ListParams(limit=limits.CLI_COMPLETION_KEYS, search=start or None)
    with opening.open_home(home) as store:
        return [row.key for row in listing.sessions(store, OPERATOR, wanted).rows if row.key.startswith(start)]

"""What an erasure proved, and what it left, in a few lines. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wesaid import limits
from wesaid.cli.output import quoted
from wesaid.values import Traces

_MEGABYTE = 1_000_000  # as people count them


def proof_line(proof: Traces) -> str:
    """Where was looked for what, and that nothing was found."""
    shared = f"; {proof.shared} of them stand in other sessions too" if proof.shared else ""
    return f"erased: none of {proof.pieces} pieces is left in {proof.bytes / _MEGABYTE:.1f} MB of {', '.join(proof.files)}{shared}"


def spawned_lines(keys: Sequence[str], place: str) -> Iterator[str]:
    """That sessions which the deleted ones had spawned are still there, and how each is deleted. ``place`` as in ``Run``."""
    if not keys:
        return
    yield f"{len(keys)} {'session' if len(keys) == 1 else 'sessions'} that it spawned {'stays' if len(keys) == 1 else 'stay'}; to delete too:"
    for key in keys[: limits.HINT_NAMES]:
        yield f"  wesaid delete {quoted(key)}{place}"
    if len(keys) > limits.HINT_NAMES:
        yield f"  and {len(keys) - limits.HINT_NAMES} more; wesaid sessions --kind subagent{place} lists sessions like these"

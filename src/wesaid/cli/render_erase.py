"""What an erasure proved, in one line. Pure."""

from __future__ import annotations

from wesaid.values import Traces

_MEGABYTE = 1_000_000  # as people count them


def proof_line(proof: Traces) -> str:
    """Where was looked for what, and that nothing was found."""
    shared = f"; {proof.shared} of them stand in other sessions too" if proof.shared else ""
    return f"erased: none of {proof.pieces} pieces is left in {proof.bytes / _MEGABYTE:.1f} MB of {', '.join(proof.files)}{shared}"

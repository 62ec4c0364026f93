"""``wesaid delete``."""

from __future__ import annotations

import sys

from wesaid import limits
from wesaid.cli.command import FOUND, Run
from wesaid.cli.facts import facts_lines
from wesaid.cli.render_erase import proof_line
from wesaid.service import erasing, opening, reconciling, wire
from wesaid.values import OPERATOR


def execute(run: Run, session_key: str, *, wait: bool) -> int:
    """`wesaid delete`; its exit code."""
    with opening.open_home(run.home) as home:
        erased = erasing.delete(home, OPERATOR, session_key, wait=wait)
        [stone] = erased.tombstones
        facts = wire.tombstone_json(stone, erased.proof)
        if run.out.as_json:
            run.out.object({name: value for name, value in facts.items() if value is not None})
        else:
            run.out.lines(facts_lines({name: value for name, value in facts.items() if name not in {"deleted", "proof"}}))
            if erased.proof is not None:
                run.out.note(proof_line(erased.proof))
        sys.stdout.flush()  # the answer first; then the bytes
        if not wait:
            reconciling.reconcile(home, seconds=limits.CLI_REBUILD_SECONDS)
    return FOUND

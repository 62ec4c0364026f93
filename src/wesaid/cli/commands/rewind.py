"""``wesaid rewind``."""

from __future__ import annotations

import sys

from wesaid import limits
from wesaid.cli.asking import caller_of
from wesaid.cli.command import FOUND, Run
from wesaid.cli.facts import facts_lines
from wesaid.service import opening, reconciling, writing


def execute(run: Run, session_key: str, to: str, *, as_key: str | None) -> int:
    """`wesaid rewind`; its exit code."""
    with opening.open_home(run.home) as home:
        row = writing.rewind(home, caller_of(as_key), session_key, to)
        facts = {"sessionKey": row.facts.key, "sessionId": row.facts.session_id, "messageId": to}
        if run.out.as_json:
            run.out.object(facts)
        else:
            run.out.lines(facts_lines(facts))
        sys.stdout.flush()  # the answer first; then the work that it left
        reconciling.reconcile(home, seconds=limits.CLI_REBUILD_SECONDS)
    return FOUND

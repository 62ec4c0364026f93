"""``wesaid delete``."""

from __future__ import annotations

from wesaid.cli.command import FOUND, Run
from wesaid.cli.facts import facts_lines
from wesaid.service import opening, writing
from wesaid.values import OPERATOR


def execute(run: Run, session_key: str) -> int:
    """`wesaid delete`; its exit code."""
    with opening.open_home(run.home) as home:
        stone = writing.delete(home, OPERATOR, session_key)
    facts = {"sessionKey": stone.key, "sessionIds": list(stone.session_ids), "deletedAt": stone.deleted_at, "erasedAt": stone.erased_at}
    if run.out.as_json:
        run.out.object({name: value for name, value in facts.items() if value is not None})
    else:
        run.out.lines(facts_lines(facts))
    return FOUND

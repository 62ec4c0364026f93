"""``wesaid delete``."""

from __future__ import annotations

import click

from wesaid.cli.command import FOUND, Run, command
from wesaid.cli.complete import SESSION_KEY
from wesaid.cli.facts import facts_lines
from wesaid.service import opening, writing
from wesaid.values import OPERATOR


@command("delete", examples=("wesaid delete agent:claude-code:import:3f2a",))
@click.argument("session_key", type=SESSION_KEY)
def cli(run: Run, session_key: str) -> int:
    """Delete a session for good.

    Nobody finds or reads it any more, and importing its transcript again does not bring it back (`wesaid import --again KEY` does).
    """
    with opening.open_home(run.home) as home:
        stone = writing.delete(home, OPERATOR, session_key)
    facts = {"sessionKey": stone.key, "sessionIds": list(stone.session_ids), "deletedAt": stone.deleted_at, "erasedAt": stone.erased_at}
    if run.out.as_json:
        run.out.object({name: value for name, value in facts.items() if value is not None})
    else:
        run.out.lines(facts_lines(facts))
    return FOUND

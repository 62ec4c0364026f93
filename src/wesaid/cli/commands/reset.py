"""``wesaid reset``."""

from __future__ import annotations

import click

from wesaid.cli.command import FOUND, Run, command
from wesaid.cli.complete import SESSION_KEY
from wesaid.cli.facts import facts_lines
from wesaid.service import opening, writing
from wesaid.values import OPERATOR


@command("reset", examples=("wesaid reset agent:main:main",))
@click.argument("session_key", type=SESSION_KEY)
def cli(run: Run, session_key: str) -> int:
    """Start a session anew; what was said stays readable."""
    with opening.open_home(run.home) as home:
        row = writing.reset(home, OPERATOR, session_key)
    facts = {"sessionKey": row.facts.key, "sessionId": row.facts.session_id}
    if run.out.as_json:
        run.out.object(facts)
    else:
        run.out.lines(facts_lines(facts))
    return FOUND

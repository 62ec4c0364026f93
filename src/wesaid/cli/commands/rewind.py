"""``wesaid rewind``."""

from __future__ import annotations

import sys

import click

from wesaid import limits
from wesaid.cli.command import FOUND, Run, command
from wesaid.cli.complete import SESSION_KEY
from wesaid.cli.facts import facts_lines
from wesaid.service import opening, reconciling, writing
from wesaid.values import OPERATOR


@command("rewind", examples=("wesaid rewind agent:main:main --to m42",))
@click.argument("session_key", type=SESSION_KEY)
@click.option("--to", required=True, metavar="MESSAGE_ID", help="This message stays and becomes the last one.")
def cli(run: Run, session_key: str, to: str) -> int:
    """Make an earlier message the last one of a session.

    What was said after it is no longer found or read; the transcript keeps it.
    """
    with opening.open_home(run.home) as home:
        row = writing.rewind(home, OPERATOR, session_key, to)
        facts = {"sessionKey": row.facts.key, "sessionId": row.facts.session_id, "messageId": to}
        if run.out.as_json:
            run.out.object(facts)
        else:
            run.out.lines(facts_lines(facts))
        sys.stdout.flush()  # the answer first; then the work that it left
        reconciling.reconcile(home, seconds=limits.CLI_REBUILD_SECONDS)
    return FOUND

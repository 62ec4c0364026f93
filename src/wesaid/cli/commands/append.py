"""``wesaid append``."""

from __future__ import annotations

import sys
from typing import Any

import click

from wesaid import limits
from wesaid.cli.command import FOUND, Run, Words, command, given
from wesaid.cli.complete import SESSION_KEY
from wesaid.cli.facts import facts_lines
from wesaid.service import opening, writing
from wesaid.values import OPERATOR


@command(
    "append",
    cls=Words,
    examples=(
        'wesaid append agent:main:main --role user "we moved the ferry timetable to Postgres"',
        "make 2>&1 | wesaid append agent:ci:main --role assistant -",
    ),
)
@click.argument("session_key", type=SESSION_KEY)
@click.option("--role", type=click.Choice(["user", "assistant"]), required=True, help="Who said it.")
@click.option("--spawned-by", type=SESSION_KEY, metavar="KEY", help="The session that started this one; set once, when it is created.")
@click.option("--idempotency-key", metavar="K", help="The same key again appends nothing and answers the same.")
@click.argument("text", metavar="TEXT|-")
def cli(run: Run, session_key: str, text: str, **options: Any) -> int:
    """Add one message to a session.

    A session that is new is created. The text is read from stdin when it is a single dash. What was said can be found as soon as this
    returns.
    """
    said = _stdin() if text == "-" else text
    message = given(role=options["role"], text=said, idempotencyKey=options["idempotency_key"])
    with opening.open_home(run.home) as home:
        (done,) = writing.append(home, OPERATOR, session_key, [message], spawned_by=options["spawned_by"])
    facts = {"sessionKey": done.session_key, "sessionId": done.session_id, "messageId": done.message_id, "timestamp": done.timestamp}
    if run.out.as_json:
        run.out.object(facts)
    else:
        run.out.lines(facts_lines(facts))
    return FOUND


def _stdin() -> str:
    """All of stdin, but for the line end that a pipe adds; bounded, so that the service can refuse what is too long."""
    text = sys.stdin.buffer.read(limits.TEXT_BYTES + 3).decode("utf-8", "replace")
    return text.removesuffix("\n")

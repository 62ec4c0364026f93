"""``wesaid history``."""

from __future__ import annotations

import sys
from typing import Any

import click

from wesaid import limits
from wesaid.cli.command import FOUND, NOTHING, Run, command, given, reveal_option, warn_revealed
from wesaid.cli.complete import SESSION_KEY
from wesaid.cli.render_history import history_lines
from wesaid.service import history, methods, opening, reconciling, wire
from wesaid.values import OPERATOR


@command(
    "history",
    examples=(
        "wesaid history agent:main:main                          the newest messages",
        "wesaid history agent:main:main --around m42             what surrounds a message",
        "wesaid history agent:main:main --around m42 --before 2 --after 10",
        "wesaid history agent:main:main --limit 50 --offset 50   the page before",
    ),
)
@click.argument("session_key", type=SESSION_KEY)
@click.option("--around", metavar="MESSAGE_ID", help="The messages around this one.")
@click.option("--before", type=int, metavar="N", help="With --around: N messages before it.")
@click.option("--after", type=int, metavar="N", help="With --around: N messages after it.")
@click.option("--limit", type=int, metavar="N", help=f"At most N messages, 1 to {limits.HISTORY_MAX} (default {limits.HISTORY_DEFAULT}).")
@click.option("--offset", type=int, metavar="N", help="Leave out the N newest.")
@click.option("--include-tools", is_flag=True, help="Show the results of tools too.")
@reveal_option()
def cli(run: Run, session_key: str, **options: Any) -> int:
    """Read a session, or what surrounds a message.

    SESSION_KEY is a result's key, or a session id. What a search finds, this opens.
    """
    warn_revealed(options["reveal"])
    wanted = given(
        sessionKey=session_key,
        messageId=options["around"],
        messagesBefore=options["before"],
        messagesAfter=options["after"],
        limit=options["limit"],
        offset=options["offset"],
        includeTools=options["include_tools"],
        reveal=options["reveal"],
    )
    with opening.open_home(run.home) as home:
        page = history.history(home, OPERATOR, methods.convert(methods.HistoryParams, wanted))
        if run.out.as_json:
            run.out.object(wire.history_json(page))
        elif page.messages:
            run.out.lines(history_lines(page, now=home.now()), prose=True)
        else:
            run.out.note(f"no messages here; the session has {page.total_messages}")
        if page.indexing:
            sys.stdout.flush()  # the answer first; then the work that it found undone
            reconciling.reconcile(home, seconds=limits.CLI_REBUILD_SECONDS)
    return FOUND if page.messages else NOTHING

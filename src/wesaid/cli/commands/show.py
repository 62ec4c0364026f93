"""``wesaid show``."""

from __future__ import annotations

import click

from wesaid.cli.command import FOUND, Run, command, reveal_option, warn_revealed
from wesaid.cli.complete import SESSION_KEY
from wesaid.cli.output import safe
from wesaid.cli.render_history import message_lines
from wesaid.errors import UsageError
from wesaid.service import history, opening, wire
from wesaid.values import OPERATOR


@command("show", examples=("wesaid show m42                     wherever it is", "wesaid show agent:main:main m42     in this session"))
@click.argument("names", nargs=-1, required=True, type=SESSION_KEY, metavar="[SESSION_KEY] MESSAGE_ID")
@reveal_option()
def cli(run: Run, names: tuple[str, ...], *, reveal: bool) -> int:
    """Print one message whole.

    With --json it is one message of `wesaid history`.
    """
    if len(names) > 2:
        raise UsageError(f"show takes a session key and a message id, {len(names)} words were given", hint="wesaid show [SESSION_KEY] MESSAGE_ID")
    warn_revealed(reveal)
    *keys, message_id = names
    with opening.open_home(run.home) as home:
        key, message = history.message(home, OPERATOR, keys[0] if keys else None, message_id, reveal=reveal)
        if run.out.as_json:
            run.out.object({"sessionKey": key, **wire.message_json(message)})
        else:
            run.out.lines([[(safe(key), "key")]])
            run.out.lines(message_lines(message, now=home.now()), prose=True)
    return FOUND

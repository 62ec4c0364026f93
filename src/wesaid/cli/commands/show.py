"""``wesaid show``."""

from __future__ import annotations

from wesaid.cli.asking import caller_of
from wesaid.cli.command import FOUND, Run, warn_revealed
from wesaid.cli.output import safe
from wesaid.cli.render_history import message_lines
from wesaid.errors import UsageError
from wesaid.service import history, opening, wire


def execute(run: Run, names: tuple[str, ...], *, reveal: bool, as_key: str | None, sandboxed: bool) -> int:
    """`wesaid show`; its exit code."""
    if len(names) > 2:
        raise UsageError(
            f"show takes a session key and a message id, {len(names)} words were given", hint="wesaid show [SESSION_KEY] MESSAGE_ID"
        )
    caller = caller_of(as_key, sandboxed=sandboxed, reveal=reveal)
    warn_revealed(reveal)
    *keys, message_id = names
    with opening.open_home(run.home) as home:
        key, message = history.message(home, caller, keys[0] if keys else None, message_id, reveal=reveal)
        if run.out.as_json:
            run.out.object({"sessionKey": key, **wire.message_json(message)})
        else:
            run.out.lines([[(safe(key), "key")]])
            run.out.lines(message_lines(message, now=home.now(), whole=True), prose=True)
    return FOUND

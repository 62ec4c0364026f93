"""``wesaid delete``."""

from __future__ import annotations

from wesaid.cli.ages import instant
from wesaid.cli.command import FOUND, Run
from wesaid.cli.facts import facts_lines
from wesaid.cli.render_import import again_command
from wesaid.service import addressing, opening, writing
from wesaid.values import OPERATOR


def execute(run: Run, session_key: str) -> int:
    """`wesaid delete`; its exit code."""
    with opening.open_home(run.home) as home:
        row = addressing.visible_session(home, OPERATOR, session_key)
        stone = writing.delete(home, OPERATOR, session_key)
    facts = {"sessionKey": stone.key, "sessionIds": list(stone.session_ids), "deletedAt": stone.deleted_at, "erasedAt": stone.erased_at}
    if run.out.as_json:
        run.out.object({name: value for name, value in facts.items() if value is not None})
    else:
        times = {"deletedAt": stone.deleted_at, "erasedAt": stone.erased_at}
        told = {name: instant(time, home.now()) for name, time in times.items() if time is not None}
        run.out.lines(facts_lines({**facts, **told, "messages": row.message_count}))
        if again := again_command(row):
            run.out.note(f"to bring it back: {again}{run.place}")
    return FOUND

"""``wesaid reset``."""

from __future__ import annotations

from wesaid.cli.ages import instant
from wesaid.cli.asking import caller_of
from wesaid.cli.command import FOUND, Run
from wesaid.cli.facts import facts_lines
from wesaid.service import opening, writing


def execute(run: Run, session_key: str, *, as_key: str | None) -> int:
    """`wesaid reset`; its exit code."""
    with opening.open_home(run.home) as home:
        row = writing.reset(home, caller_of(as_key), session_key)
    facts = {"sessionKey": row.facts.key, "sessionId": row.facts.session_id}
    if run.out.as_json:
        run.out.object(facts | {"resetAt": row.facts.updated_at})
    else:
        run.out.lines(facts_lines(facts | {"resetAt": instant(row.facts.updated_at, home.now())}))
    return FOUND

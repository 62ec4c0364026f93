"""``wesaid append``."""

from __future__ import annotations

import sys
from typing import Any

from wesaid import limits
from wesaid.cli.ages import instant
from wesaid.cli.asking import caller_of
from wesaid.cli.command import FOUND, Run, given
from wesaid.cli.facts import facts_lines
from wesaid.cli.progress import note_when_slow
from wesaid.service import opening, writing


def execute(run: Run, session_key: str, text: str, **options: Any) -> int:
    """`wesaid append`; its exit code."""
    said = _stdin() if text == "-" else text
    message = given(role=options["role"], text=said, idempotencyKey=options["idempotency_key"])
    with opening.open_home(run.home) as home, note_when_slow(run.out.note):
        (done,) = writing.append(home, caller_of(options["as_key"]), session_key, [message], spawned_by=options["spawned_by"])
    facts = {"sessionKey": done.session_key, "sessionId": done.session_id, "messageId": done.message_id, "timestamp": done.timestamp}
    if run.out.as_json:
        run.out.object(facts)
    else:
        run.out.lines(facts_lines(facts | {"timestamp": instant(done.timestamp, home.now())}))
    return FOUND


def _stdin() -> str:
    """All of stdin, but for the line end that a pipe adds; bounded, so that the service can refuse what is too long."""
    text = sys.stdin.buffer.read(limits.TEXT_BYTES + 3).decode("utf-8", "replace")
    return text.removesuffix("\n")

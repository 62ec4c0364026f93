"""``wesaid rewind``."""

from __future__ import annotations

import shlex
import sys

from wesaid import keys, limits
from wesaid.cli.ages import instant
from wesaid.cli.asking import PLACE, caller_of, typed
from wesaid.cli.command import FOUND, Run
from wesaid.cli.facts import facts_lines
from wesaid.cli.output import quoted
from wesaid.service import addressing, opening, reconciling, writing
from wesaid.service.opening import Home
from wesaid.values import SessionRow


def execute(run: Run, session_key: str, to: str, *, as_key: str | None) -> int:
    """`wesaid rewind`; its exit code."""
    caller = caller_of(as_key)
    with opening.open_home(run.home) as home:
        before = addressing.visible_session(home, caller, session_key)
        leaf = writing.leaf_of(home, caller, session_key)
        is_back = _is_visible(home, before, to)
        row = writing.switch(home, caller, session_key, to)
        facts = {"sessionKey": row.facts.key, "sessionId": row.facts.session_id, "messageId": to}
        after = addressing.visible_session(home, caller, session_key)
        gone = before.message_count - after.message_count
        is_on = leaf is not None and _is_visible(home, after, leaf)
        undo = ["wesaid", "rewind", row.facts.key, "--to", leaf, *shlex.split(typed(PLACE))] if leaf is not None and leaf != to else None
        follows = row.source_path is not None and not row.source_missing
        now = home.now()
        if run.out.as_json:
            told = {"rewoundAt": now, "undo": undo, "hiddenMessages": gone if is_back else None, "followsSource": follows or None}
            run.out.object(facts | {name: value for name, value in told.items() if value is not None})
        else:
            run.out.lines(facts_lines({**facts, "rewoundAt": instant(now, now)}))
            run.out.note(_said(gone, is_back=is_back, is_on=is_on))
            if follows:
                run.out.note(
                    "it was imported: when its transcript grows, the next import goes on where the transcript does, whatever was rewound here"
                )
            if undo is not None:
                run.out.note(f"to undo it: {' '.join(map(quoted, undo))}")
        sys.stdout.flush()  # the answer first; then the work that it left
        reconciling.reconcile(home, seconds=limits.CLI_REBUILD_SECONDS)
    return FOUND


def _said(gone: int, *, is_back: bool, is_on: bool) -> str:
    """What became of the messages. Only the way back has a figure: what is found again is counted when it is indexed, which comes after."""
    if is_back and is_on:
        return "it was the last one already"
    if is_back:
        return f"{gone} {'message' if gone == 1 else 'messages'} can no longer be found"
    if is_on:
        return "what an earlier rewind left out can be found again"
    return "this is another branch: it can be found again, what followed on the one before can no longer be found"


def _is_visible(home: Home, row: SessionRow, message_id: str) -> bool:
    """Whether a message is on the visible path."""
    with home.store(keys.parse(row.facts.key).agent_id).reading() as view:
        found = view.locate(row.facts.key, message_id)
    return found is not None and found.position is not None

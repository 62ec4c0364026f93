"""``wesaid history``."""

from __future__ import annotations

import sys
from typing import Any, Final

from wesaid import limits
from wesaid.cli.asking import PLACE, caller_of, typed
from wesaid.cli.command import FOUND, NOTHING, Run, given, warn_revealed
from wesaid.cli.render_history import history_lines
from wesaid.errors import UsageError
from wesaid.service import history, methods, opening, reconciling, wire

_TAKEN: Final = (*PLACE, "include_tools", "limit", "reveal")  # what the next page takes over from this one


def execute(run: Run, session_key: str, **options: Any) -> int:
    """`wesaid history`; its exit code."""
    if options["around"] is None and (options["before"] is not None or options["after"] is not None):
        raise UsageError(
            "--before and --after need --around", hint="--around MESSAGE_ID says around what; --limit and --offset page without it"
        )
    caller = caller_of(options["as_key"], sandboxed=options["sandboxed"], reveal=options["reveal"])
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
        page = history.history(home, caller, methods.convert(methods.HistoryParams, wanted))
        if run.out.as_json:
            run.out.object(wire.history_json(page))
        elif page.messages:
            run.out.lines(history_lines(page, now=home.now(), place=typed(_TAKEN), wider=typed(PLACE)), prose=True)
        else:
            run.out.note(f"no messages here; the session has {page.total_messages}")
        if page.indexing:
            sys.stdout.flush()  # the answer first; then the work that it found undone
            reconciling.reconcile(home, seconds=limits.CLI_REBUILD_SECONDS)
    return FOUND if page.messages else NOTHING

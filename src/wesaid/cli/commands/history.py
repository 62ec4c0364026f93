"""``wesaid history``."""

from __future__ import annotations

import sys
from typing import Any, Final

from wesaid import limits
from wesaid.cli.asking import PLACE, caller_of, params_of, typed
from wesaid.cli.command import FOUND, NOTHING, Run, given, warn_revealed
from wesaid.cli.render_history import Around, history_lines
from wesaid.errors import UsageError
from wesaid.service import history, methods, opening, reconciling, wire
from wesaid.service.preparing import lost

_TAKEN: Final = (*PLACE, "include_tools", "reveal")  # what the next page takes over from this one, besides its size


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
        limit=_size(options),
        offset=options["offset"],
        includeTools=options["include_tools"],
        reveal=options["reveal"],
    )
    with opening.open_home(run.home) as home:
        page = history.history(home, caller, params_of(methods.HistoryParams, wanted))
        if run.out.as_json:
            run.out.object(wire.history_json(page))
        elif page.messages:
            asked = Around(_again(options), typed(PLACE), tools=options["include_tools"])
            run.out.lines(history_lines(page, asked, now=home.now()), prose=True)
        else:
            run.out.note(f"no messages here; the session has {page.total_messages}")
        if page.unreadable and not run.out.as_json:
            run.out.note(lost(page.unreadable))
        if page.indexing:
            sys.stdout.flush()  # the answer first; then the work that it found undone
            reconciling.reconcile(home, seconds=limits.CLI_REBUILD_SECONDS)
    return FOUND if page.messages else NOTHING


def _size(options: dict[str, Any]) -> int | None:
    """How many messages a page has, an anchor's too: the pages beside it are as large."""
    before, after = options["before"], options["after"]
    if options["limit"] is not None or (before is None and after is None):
        limit: int | None = options["limit"]
        return limit
    return max(min((before or 0) + (after or 0) + 1, limits.HISTORY_MAX), 1)


def _again(options: dict[str, Any]) -> str:
    """What the next page takes over from this one, as it is typed."""
    size = _size(options)
    return ("" if size is None else f" --limit {size}") + typed(_TAKEN)

"""``wesaid search``."""

from __future__ import annotations

import sys
from dataclasses import replace
from time import monotonic
from typing import Any, Final

from wesaid import limits
from wesaid.cli.asking import PLACE, as_options, caller_of, folder_of, params_of, typed
from wesaid.cli.command import FAILED, FOUND, NOTHING, Run, given, warn_revealed
from wesaid.cli.render_search import Asked, nothing_lines, page_lines
from wesaid.service import methods, opening, reconciling, searching, wire
from wesaid.values import Page

# What the search that is offered to be typed takes over from the one that was.
_NARROWING: Final = ("agents", "role", "after", "before", "tool", "project", "order", "context", "detail", "explain")


def execute(run: Run, query: tuple[str, ...], *, explain: bool, **options: Any) -> int:
    """`wesaid search`; its exit code."""
    text = " ".join(query)
    caller = caller_of(options["as_key"], sandboxed=options["sandboxed"], reveal=options["reveal"])
    warn_revealed(options["reveal"])
    filters = {name: options[name] for name in ("session", "role", "after", "before", "tool", "project") if options[name] is not None}
    wanted = given(
        query=text,
        agentIds=list(options["agents"]) or None,
        sessionKey=options["session"],
        project=folder_of(options["project"] or searching.project_in(text)),
        **{name: options[name] for name in ("role", "after", "before", "tool", "order")},
        **{name: options[name] for name in ("limit", "context", "detail", "reveal")},
    )
    params = params_of(methods.SearchParams, wanted)
    with opening.open_home(run.home) as home:
        page = _told(searching.search(home, caller, params))
        safe = home.redactor.redact  # what was asked is said again below, and may hold a secret
        if run.out.as_json:
            run.out.object(_with_parts(wire.page_json(page), page) if explain else wire.page_json(page))
        elif page.hits:
            asked = Asked(safe(text), params.limit, narrowing=safe(typed(_NARROWING)), place=safe(typed(PLACE)))
            run.out.lines(page_lines(page, asked, now=home.now(), explain=explain), prose=True)
        else:
            for line in nothing_lines(safe(text), page, {"agent": options["agents"], **filters} if options["agents"] else filters):
                run.out.note(safe(line))
        _notes(run, page)
        if page.indexing or page.diagnostics.stale_sessions or page.diagnostics.sources_behind:
            sys.stdout.flush()  # the answer first; then the work that it found undone
            until = monotonic() + limits.CLI_REBUILD_SECONDS
            if page.diagnostics.sources_behind:
                searching.go_on(home, caller, params, seconds=limits.CLI_REBUILD_SECONDS)
            reconciling.reconcile(home, seconds=max(until - monotonic(), 0.0))
        else:
            sys.stdout.flush()
            reconciling.reconcile(home, seconds=limits.BY_THE_WAY_SECONDS)
    if page.diagnostics.failed_agents:
        return FAILED
    return FOUND if page.hits else NOTHING


def _told(page: Page) -> Page:
    """The answer with its hint in this door's words."""
    return replace(page, diagnostics=replace(page.diagnostics, hint=as_options(page.diagnostics.hint)))


def _with_parts(answer: dict[str, Any], page: Page) -> dict[str, Any]:
    """The answer with each result's score taken apart."""
    for result, hit in zip(answer["results"], page.hits, strict=False):
        result["explain"] = dict(hit.parts)
    return answer


def _notes(run: Run, page: Page) -> None:
    """What a person should know of an answer, besides the answer. Programs read it in the answer's own fields."""
    if run.out.as_json:
        return
    if page.indexing:
        run.out.note("some sessions are still being indexed: the same search finds more in a moment")
    behind = page.diagnostics.sources_behind
    if behind:
        have = "source has" if behind == 1 else "sources have"
        run.out.note(f"{behind} {have} grown and not all of it is read yet: the same search finds more in a moment, or run `wesaid import`")
    if page.diagnostics.ignored:
        run.out.note(f"too common to search for: {', '.join(page.diagnostics.ignored)}")
    if page.hits and page.diagnostics.hint:
        run.out.note(page.diagnostics.hint)

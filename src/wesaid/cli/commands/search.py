"""``wesaid search``."""

from __future__ import annotations

import sys
from typing import Any

import click

from wesaid import limits
from wesaid.cli.command import FAILED, FOUND, NOTHING, Run, Words, command, given, reveal_option, warn_revealed
from wesaid.cli.complete import SESSION_KEY
from wesaid.cli.render_search import nothing_lines, page_lines
from wesaid.service import methods, opening, reconciling, searching, wire
from wesaid.values import OPERATOR, Page


@command(
    "search",
    cls=Words,
    examples=(
        'wesaid search "ferry timetable"                    the words; next to each other ranks first',
        "wesaid search why did we move the timetable        a plain question",
        "wesaid search deploy -banana                       without messages that have banana",
        "wesaid search 'deploy*' --after 2w --role user     beginnings of words, of the last two weeks",
        "wesaid search DEC-0054 --json                      for programs",
    ),
)
@click.argument("query", nargs=-1, required=True, metavar="QUERY...")
@click.option("--agent", "agents", multiple=True, metavar="ID", help="Only this agent; may be given several times.")
@click.option("--session", type=SESSION_KEY, metavar="KEY", help="Only this session; then nothing is folded away.")
@click.option("--role", type=click.Choice(["user", "assistant"]), help="Only what people, or what assistants said.")
@click.option("--after", metavar="TIME", help="Not before: 2026-01-31, 7d, 2w, 3mo, yesterday, last month.")
@click.option("--before", metavar="TIME", help="Only before this time.")
@click.option("--tool", metavar="TOOL", help="Only sessions of this tool, such as claude-code.")
@click.option("--project", metavar="PATH", help="Only sessions that worked in this folder.")
@click.option("--order", type=click.Choice(["relevance", "newest", "oldest"]), help="Default: relevance.")
@click.option("--limit", type=int, metavar="N", help=f"At most N hits, 1 to {limits.RESULTS_MAX} (default {limits.RESULTS_DEFAULT}).")
@click.option("--context", type=int, metavar="N", help=f"N messages around each hit, 0 to {limits.CONTEXT_MESSAGES_MAX}.")
@click.option("--detail", type=click.Choice(["index", "snippet", "full"]), help="How much of each message (default: snippet).")
@click.option("--explain", is_flag=True, help="Show what each score is made of.")
@reveal_option()
def cli(run: Run, query: tuple[str, ...], *, explain: bool, **options: Any) -> int:
    """Find what was said.

    Several words are one query. "a phrase" in quotes, prefix*, -word (not that word), OR, and fields such as role:user or after:7d work
    inside it; everything else is plain text. Quote for your shell what your shell would take for itself.
    """
    text = " ".join(query)
    warn_revealed(options["reveal"])
    filters = {name: options[name] for name in ("session", "role", "after", "before", "tool", "project") if options[name] is not None}
    wanted = given(
        query=text,
        agentIds=list(options["agents"]) or None,
        sessionKey=options["session"],
        **{name: options[name] for name in ("role", "after", "before", "tool", "project", "order")},
        **{name: options[name] for name in ("limit", "context", "detail", "reveal")},
    )
    params = methods.convert(methods.SearchParams, wanted)
    with opening.open_home(run.home) as home:
        page = searching.search(home, OPERATOR, params)
        if run.out.as_json:
            run.out.object(_with_parts(wire.page_json(page), page) if explain else wire.page_json(page))
        elif page.hits:
            run.out.lines(page_lines(page, now=home.now(), explain=explain), prose=True)
        else:
            for line in nothing_lines(text, page, {"agent": options["agents"], **filters} if options["agents"] else filters):
                run.out.note(line)
        _notes(run, page)
        if page.indexing or page.diagnostics.stale_sessions:
            sys.stdout.flush()  # the answer first; then the work that it found undone
            reconciling.reconcile(home, seconds=limits.CLI_REBUILD_SECONDS)
    if page.diagnostics.failed_agents:
        return FAILED
    return FOUND if page.hits else NOTHING


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
    if page.diagnostics.ignored:
        run.out.note(f"too common to search for: {', '.join(page.diagnostics.ignored)}")
    if page.diagnostics.failed_agents:
        run.out.note(f"could not be read, and was left out: {', '.join(page.diagnostics.failed_agents)}")
    if page.hits and page.diagnostics.hint:
        run.out.note(page.diagnostics.hint)

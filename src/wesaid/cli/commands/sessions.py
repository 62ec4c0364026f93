"""``wesaid sessions``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from wesaid.cli.ages import age
from wesaid.cli.asking import caller_of
from wesaid.cli.command import FOUND, NOTHING, Run, given
from wesaid.cli.output import safe
from wesaid.cli.paint import Line, table
from wesaid.cli.render_search import short_path
from wesaid.service import listing, methods, opening, wire
from wesaid.service.listed import ListedSession

_KINDS = ("main", "group", "cron", "hook", "subagent", "import", "other")


def execute(run: Run, **options: Any) -> int:
    """`wesaid sessions`; its exit code."""
    wanted = given(
        agentId=options["agent"],
        kinds=list(options["kinds"]) or None,
        activeMinutes=options["active_minutes"],
        includeDerivedTitles=True,
        **{name: options[name] for name in ("label", "search", "tool", "project", "archived", "limit", "offset")},
    )
    caller = caller_of(options["as_key"], sandboxed=options["sandboxed"])
    with opening.open_home(run.home) as home:
        page = listing.sessions(home, caller, methods.convert(methods.ListParams, wanted))
        if run.out.as_json:
            run.out.object(wire.sessions_json(page))
        elif page.rows:
            run.out.lines((_blocks if run.out.is_terminal else _columns)(page.rows, home.now()))
            if page.has_more:
                run.out.note(f"{len(page.rows)} shown; --offset {page.next_offset} shows the next")
        else:
            run.out.note(
                "no sessions" + (" like that" if len(wanted) > 1 else ": `wesaid import` reads what the agents on this machine said")
            )
    return FOUND if page.rows else NOTHING


def _blocks(rows: Sequence[ListedSession], now: int) -> Iterator[Line]:
    """For reading: a key is long, so that a row of everything fits on few terminals."""
    for row in rows:
        count = f"{row.message_count} {'message' if row.message_count == 1 else 'messages'}"
        facts = [row.tool, short_path(row.project), age(row.updated_at, now), count]
        yield [(safe(row.label or row.title or "Untitled session"), "title")]
        yield [("  ", ""), (safe(row.key), "key"), *[(f" · {safe(fact)}", "dim") for fact in facts if fact]]


def _columns(rows: Sequence[ListedSession], now: int) -> list[Line]:
    """For pipes: one row each, the key first."""
    head = ("SESSION", "MESSAGES", "UPDATED", "TOOL", "PROJECT", "TITLE")
    return table(head, [[safe(word) for word in _words(row, now)] for row in rows])


def _words(row: ListedSession, now: int) -> tuple[str, ...]:
    return (
        row.key,
        str(row.message_count),
        age(row.updated_at, now),
        row.tool or "-",
        short_path(row.project) or "-",
        row.label or row.title or "-",
    )

"""``wesaid sessions``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from wesaid import limits
from wesaid.cli.ages import age
from wesaid.cli.asking import caller_of, folder_of, params_of
from wesaid.cli.command import FAILED, FOUND, NOTHING, Run, given
from wesaid.cli.output import safe
from wesaid.cli.paint import Line, clip_start, clip_words, table, width
from wesaid.cli.render_search import short_path
from wesaid.service import listing, methods, opening, wire
from wesaid.service.listed import ListedSession


def execute(run: Run, **options: Any) -> int:
    """`wesaid sessions`; its exit code."""
    wanted = given(
        agentId=options["agent"],
        kinds=list(options["kinds"]) or None,
        activeMinutes=options["active_minutes"],
        includeDerivedTitles=True,
        project=folder_of(options["project"]),
        **{name: options[name] for name in ("label", "search", "tool", "archived", "limit", "offset")},
    )
    caller = caller_of(options["as_key"], sandboxed=options["sandboxed"])
    with opening.open_home(run.home) as home:
        page = listing.sessions(home, caller, params_of(methods.ListParams, wanted))
        failed = f"the database of {', '.join(page.failed_agents)} cannot be read; `wesaid doctor` says why" if page.failed_agents else None
        if run.out.as_json:
            run.out.object(wire.sessions_json(page))
        elif page.rows:
            room = run.out.width
            run.out.lines(_columns(page.rows, home.now()) if room is None else _blocks(page.rows, home.now(), room))
            if page.has_more:
                run.out.note(f"{len(page.rows)} shown; --offset {page.next_offset} shows the next")
            if page.hint:
                run.out.note(page.hint)
        else:
            run.out.note(
                page.hint
                or failed
                or "no sessions" + (" like that" if len(wanted) > 1 else ": `wesaid import` reads what the agents on this machine said")
            )
        if failed and page.rows and not run.out.as_json:
            run.out.note(failed)
    if page.failed_agents:
        return FAILED
    return FOUND if page.rows else NOTHING


def _blocks(rows: Sequence[ListedSession], now: int, room: int) -> Iterator[Line]:
    """For reading: title, key and facts in rows of ``room`` cells; a key is never cut, so that it can be copied."""
    for row in rows:
        count = f"{row.message_count} {'message' if row.message_count == 1 else 'messages'}"
        facts = [safe(fact) for fact in (row.tool, short_path(row.project), age(row.updated_at, now), count) if fact]
        project = safe(short_path(row.project) or "")
        key = safe(row.key)
        yield [(clip_words(safe(row.label or row.title or "Untitled session"), room), "title")]
        used = len("  ") + len(" · ") * len(facts) + width("".join(facts)) - width(project)
        for_project = room - used - width(key)
        if for_project >= min(width(project), limits.CLI_PATH_CELLS_MIN):
            yield [("  ", ""), (key, "key"), *[(f" · {_within(fact, project, for_project)}", "dim") for fact in facts]]
        else:
            yield [("  ", ""), (key, "key")]
            fitting = [_within(fact, project, max(room - used, limits.CLI_PATH_CELLS_MIN)) for fact in facts]
            yield [(f"  {' · '.join(fitting)}", "dim")]


def _within(fact: str, project: str, room: int) -> str:
    """A fact; of the project's folder as much of its end as there is room for."""
    return clip_start(fact, room) if fact == project else fact


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

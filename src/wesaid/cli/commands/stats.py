"""``wesaid stats``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from wesaid.cli.command import FAILED, FOUND, Run
from wesaid.cli.facts import facts_lines
from wesaid.cli.output import safe
from wesaid.cli.paint import Line, Piece, table
from wesaid.service import counting, opening


def execute(run: Run) -> int:
    """`wesaid stats`; its exit code."""
    with opening.open_home(run.home) as home:
        counted = counting.stats(home)
    if run.out.as_json:
        run.out.object(counted)
    else:
        run.out.lines(stats_lines(counted))
        for agent in counted["agents"]:
            if "error" in agent:
                run.out.note(f"{agent['agentId']} could not be read: {agent['error']['message']}")
    return FAILED if any("error" in agent for agent in counted["agents"]) else FOUND


def stats_lines(counted: Mapping[str, Any]) -> Iterator[Line]:
    """Where the store lies, then a row for each agent that can be read, and their sum."""
    yield from facts_lines({"home": counted["home"]})
    rows = [agent for agent in counted["agents"] if "error" not in agent]
    names = list(dict.fromkeys(name for row in rows for name in row if name != "agentId"))
    if rows:
        yield []
        body: list[list[Piece | str]] = [[(safe(str(row["agentId"])), "key"), *[str(row.get(name, 0)) for name in names]] for row in rows]
        body.append(["", *[str(counted["totals"].get(name, 0)) for name in names]])
        yield from table(("AGENT", *map(str.upper, names)), body)

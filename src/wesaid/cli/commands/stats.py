"""``wesaid stats``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from wesaid.cli.command import FOUND, Run, command
from wesaid.cli.facts import facts_lines
from wesaid.cli.output import safe
from wesaid.cli.paint import Line, table
from wesaid.service import counting, opening


@command("stats", examples=("wesaid stats", "wesaid stats --json"))
def cli(run: Run) -> int:
    """Count what the store holds."""
    with opening.open_home(run.home) as home:
        counted = counting.stats(home)
    if run.out.as_json:
        run.out.object(counted)
    else:
        run.out.lines(stats_lines(counted))
    return FOUND


def stats_lines(counted: Mapping[str, Any]) -> Iterator[Line]:
    """Plain figures as facts, lists of figures as tables."""
    plain = {name: value for name, value in counted.items() if not isinstance(value, (list, Mapping))}
    for name, value in counted.items():
        if isinstance(value, Mapping):
            plain |= {f"{name}.{inner}": figure for inner, figure in value.items() if not isinstance(figure, (list, Mapping))}
    yield from facts_lines(plain)
    for value in counted.values():
        if isinstance(value, list) and value and isinstance(value[0], Mapping):
            yield []
            yield from table([name.upper() for name in value[0]], [[safe(str(row.get(name, ""))) for name in value[0]] for row in value])

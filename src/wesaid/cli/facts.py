"""Results that are a handful of names and values: one line each for people. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from wesaid.cli.output import safe
from wesaid.cli.paint import Line, pad, width


def facts_lines(facts: Mapping[str, Any]) -> Iterator[Line]:
    """``name  value`` lines, aligned; None is left out."""
    room = max(map(width, facts), default=0)
    for name, value in facts.items():
        if value is not None:
            text = ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
            yield [(pad(name, room), "dim"), ("  ", ""), (safe(text), "")]

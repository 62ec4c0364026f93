"""The closing account of an import for people (its JSON is contract.md §6's). Pure; paths pass `safe`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from wesaid import limits
from wesaid.cli.facts import facts_lines
from wesaid.cli.output import safe
from wesaid.cli.paint import Line, table
from wesaid.cli.render_search import short_path

_FIGURES: Final = ("sessions", "found", "imported", "updated", "unchanged")
_HEAD: Final = ("SOURCE", "TOOL", "AGENT", "SESSIONS", "FOUND", "IMPORTED", "UPDATED", "UNCHANGED", "DAMAGED LINES")


def account_lines(account: Mapping[str, Any], *, room: int | None = None) -> Iterator[Line]:
    """A table of the sources when they are few, then the totals, then each source that failed; ``room`` cells wide."""
    sources = account["sources"]
    if len(sources) <= limits.CLI_SOURCES_SHOWN:
        yield from table(_HEAD, [_row(source) for source in sources], room=room)
        yield []
    yield from facts_lines({"sources": len(sources), **_totals(account["totals"])})
    for source in sources:
        if source.get("error"):
            yield [("failed: ", "error"), (f"{safe(str(source['path']))}: {safe(_message(source['error']))}", "")]


def _row(source: Mapping[str, Any]) -> list[str]:
    words = [short_path(str(source["path"])) or "", str(source.get("tool") or "?"), str(source.get("agentId") or "")]
    return [*map(safe, words), *[str(source.get(name, 0)) for name in (*_FIGURES, "damagedLines")]]


def _totals(totals: Mapping[str, Any]) -> dict[str, Any]:
    """What happened, without the things that did not."""
    shown: dict[str, Any] = {name: totals[name] for name in _FIGURES if name in totals}
    skipped = totals.get("skipped") or {}
    shown["skipped"] = [f"{reason} {count}" for reason, count in skipped.items()] or None
    shown["damaged lines"] = totals.get("damagedLines") or None
    shown["pending"] = totals.get("pending") or None
    return shown


def _message(error: Any) -> str:
    return str(error["message"]) if isinstance(error, Mapping) else str(error)

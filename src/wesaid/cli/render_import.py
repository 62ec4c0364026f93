"""The closing account of an import for people (its JSON is contract.md §6's). Pure; paths pass `safe`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from wesaid import keys, limits
from wesaid.cli.facts import facts_lines
from wesaid.cli.output import quoted, safe
from wesaid.cli.paint import Line, clip_start, table, width
from wesaid.cli.render_search import short_path
from wesaid.values import SessionRow

_FIGURES: Final = ("sessions", "found", "imported", "updated", "unchanged")
_FACTS: Final = ("SOURCE", "TOOL", "AGENT", "SESSIONS", "FOUND")  # columns that are always there, room permitting
_DROPPED: Final = (
    "AGENT",
    "TOOL",
    "SESSIONS",
    "FOUND",
    "UNCHANGED",
    "UPDATED",
    "SKIPPED",
    "DAMAGED",
)  # for a narrow terminal, in this order


def account_lines(account: Mapping[str, Any], *, room: int = limits.CLI_PIPE_CELLS) -> Iterator[Line]:
    """A table of the sources when they are few, then the totals, then each source that failed; the table is at most ``room`` cells wide."""
    sources = account["sources"]
    read = [source for source in sources if source["found"] or not source.get("error")]
    if read and len(sources) <= limits.CLI_SOURCES_SHOWN:
        yield from _table([_row(source) for source in read], room)
        yield []
    yield from facts_lines({"sources": len(sources), **_totals(account["totals"])})
    for source in sources:
        if source.get("error"):
            yield [("failed: ", "error"), (f"{safe(str(source['path']))}: {safe(_message(source['error']))}", "")]
            if isinstance(source["error"], Mapping) and source["error"].get("hint"):
                yield [(f"  {safe(str(source['error']['hint']))}", "hint")]


def has_reasons(account: Mapping[str, Any]) -> bool:
    """Whether the account has words that need an explanation."""
    return bool(account["totals"].get("skipped") or account["totals"].get("pending"))


def again_command(row: SessionRow) -> str | None:
    """What brings a session back after its deletion; None for one that came from no file, or whose file is gone."""
    if row.source_path is None or row.source_missing:
        return None
    agent = keys.parse(row.facts.key).agent_id
    is_own = agent == row.facts.tool or f"/agents/{agent}/" in row.source_path  # where an import puts it that names no agent
    return f"wesaid import {quoted(row.source_path)} --again {quoted(row.facts.key)}" + ("" if is_own else f" --agent {agent}")


def _table(rows: Sequence[Mapping[str, str]], room: int) -> list[Line]:
    """Rows of columns by name; figures that are 0 everywhere have none, and others give way where there is no room for the source's name."""
    names = [name for name in rows[0] if name in _FACTS or any(row[name] != "0" for row in rows)]
    for dropped in _DROPPED:
        others = sum(max(width(name), *(width(row[name]) for row in rows)) + 2 for name in names[1:])
        if room - others >= limits.CLI_SOURCE_CELLS_MIN:
            break
        names = [name for name in names if name != dropped]
    return table(names, [[row[name] for name in names] for row in rows], room=room, cut=clip_start)


def _row(source: Mapping[str, Any]) -> dict[str, str]:
    figures = {name.upper(): str(source.get(name, 0)) for name in _FIGURES}
    return {
        "SOURCE": safe(short_path(str(source["path"])) or ""),
        "TOOL": safe(str(source.get("tool") or "?")),
        "AGENT": safe(str(source.get("agentId") or "")),
        **figures,
        "SKIPPED": str(sum((source.get("skipped") or {}).values())),
        "DAMAGED": str(source.get("damagedLines", 0)),
    }


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

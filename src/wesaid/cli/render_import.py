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
_CHANGEABLE: Final = ("ignored", "compressed", "unsupported-format", "other-format")
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


def account_lines(account: Mapping[str, Any], *, room: int | None = None) -> Iterator[Line]:
    """A table of the sources when they are few, then the totals, then what needs attention and each source that failed.

    On a terminal the table is at most ``room`` cells wide; in a pipe it is data, and nothing of it is cut.
    """
    sources = account["sources"]
    read = [source for source in sources if source["found"] or not source.get("error")]
    if read and len(sources) <= limits.CLI_SOURCES_SHOWN:
        yield from _table([_row(source) for source in read], room)
        yield []
    yield from facts_lines({"sources": len(sources), **_totals(account["totals"])})
    yield from _attention(sources)
    for source in sources:
        if source.get("error"):
            yield [("failed: ", "error"), (f"{safe(str(source['path']))}: {safe(_message(source['error']))}", "")]
            if isinstance(source["error"], Mapping) and source["error"].get("hint"):
                yield [(f"  {safe(str(source['error']['hint']))}", "hint")]


def _attention(sources: Sequence[Mapping[str, Any]]) -> Iterator[Line]:
    """A line for each source of which something is missing that a person could do something about; a screen of them at most."""
    told = [(source, words) for source in sources if (words := _wants(source))]
    for source, words in told[: limits.CLI_SOURCES_SHOWN]:
        yield [("look: ", "warning"), (f"{safe(str(source['path']))}: {', '.join(words)}", "")]
    if len(told) > limits.CLI_SOURCES_SHOWN:
        yield [(f"and {len(told) - limits.CLI_SOURCES_SHOWN} more like these; --json has each", "dim")]


def _wants(source: Mapping[str, Any]) -> list[str]:
    """What is to be said of one source: lines that could not be read or are not complete, and reasons that somebody may want to change."""
    words = [reason for reason in _CHANGEABLE if reason in (source.get("skipped") or {})]
    damaged = source.get("damagedLines") or 0
    if damaged:
        words.append(f"{damaged} damaged {'line' if damaged == 1 else 'lines'}")
    if source.get("pending"):
        words.append("the last line is still being written (pending)")
    return words


def kept_command(account: Mapping[str, Any]) -> str | None:
    """What takes out sessions of sources that are ignored now; None when no session of such a source is there."""
    kept = [source for source in account["sources"] if source.get("keptSessions")]
    if not kept:
        return None
    count = sum(source["keptSessions"] for source in kept)
    path = quoted(str(kept[0]["path"])) if len(kept) == 1 else "PATH"
    told = f"{count} {'session' if count == 1 else 'sessions'} of ignored files {'was' if count == 1 else 'were'} imported before and"
    return f"{told} {'stays' if count == 1 else 'stay'}; to take out what came from there: wesaid forget --source {path}"


def has_reasons(account: Mapping[str, Any]) -> bool:
    """Whether the account has words that need an explanation."""
    return bool(account["totals"].get("skipped") or account["totals"].get("pending"))


def again_words(row: SessionRow) -> list[str] | None:
    """The command that brings a session back after its deletion; None for one that came from no file, or whose file is gone."""
    if row.source_path is None or row.source_missing:
        return None
    agent = keys.parse(row.facts.key).agent_id
    is_own = agent == row.facts.tool or f"/agents/{agent}/" in row.source_path  # where an import puts it that names no agent
    return ["wesaid", "import", row.source_path, "--again", row.facts.key, *([] if is_own else ["--agent", agent])]


def _table(rows: Sequence[Mapping[str, str]], room: int | None) -> list[Line]:
    """Rows of columns by name; figures that are 0 everywhere have none, and others give way where there is no room for the source's name."""
    names = [name for name in rows[0] if name in _FACTS or any(row[name] != "0" for row in rows)]
    for dropped in _DROPPED:
        others = sum(max(width(name), *(width(row[name]) for row in rows)) + 2 for name in names[1:])
        if room is None or room - others >= limits.CLI_SOURCE_CELLS_MIN:
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

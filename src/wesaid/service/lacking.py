"""Why nothing passed the filters on tool and project: there is no such session, of what the caller may see. One sentence for search and list."""

from __future__ import annotations

from collections.abc import Mapping

from wesaid import folders, limits
from wesaid.engines.contract import View
from wesaid.errors import quoted
from wesaid.rules.redact import Redactor
from wesaid.values import Filters, Scope


def reason(redactor: Redactor, views: Mapping[str, View], scopes: Mapping[str, Scope], filters: Filters) -> str | None:
    """The sentence; None when some session in scope passes both, or there is none at all. ``filters`` are redacted already."""

    def any_of(asked: Filters) -> bool:
        return any(view.sessions(scopes[agent], limit=1, filters=asked) for agent, view in views.items())

    if (filters.tool is None and filters.project is None) or not any_of(Filters()):
        return None
    if filters.tool is not None and not any_of(Filters(tool=filters.tool)):
        tools = sorted({tool for agent, view in views.items() for tool in view.tools(scopes[agent])})
        there = f"there are sessions of {', '.join(tools)}" if tools else "no session here came from a tool"
        return f"no session of tool {quoted(filters.tool, limits.LABEL_CODE_POINTS)} that you may see; {there}"
    if filters.project is not None and not any_of(Filters(project=filters.project)):
        known = _projects(redactor, views, scopes, folders.normal(filters.project).rpartition("/")[2])
        there = f"; there are {', '.join(known)}" if known else ""
        named = quoted(filters.project, limits.LABEL_CODE_POINTS)
        return f"no session in project {named} that you may see; it is compared as a path, whole folders{there}"
    if filters.tool is not None and filters.project is not None and not any_of(Filters(tool=filters.tool, project=filters.project)):
        return "no session of that tool in that project that you may see"
    return None


def _projects(redactor: Redactor, views: Mapping[str, View], scopes: Mapping[str, Scope], name: str) -> list[str]:
    """A few folders of the newest sessions in scope: first those that have the name in theirs, which may have been meant."""
    found: dict[str, int] = {}  # folder -> when it was last worked in
    for agent, view in views.items():
        for row in view.sessions(scopes[agent], limit=limits.LIST_SLICE_ROWS):
            if row.facts.project:
                project = redactor.redact(row.facts.project)
                found[project] = max(found.get(project, 0), row.facts.updated_at)
    wanted = name.casefold()
    ordered = sorted(found, key=lambda project: (wanted not in project.casefold(), -found[project], project))
    return [quoted(project, limits.LABEL_CODE_POINTS) for project in ordered[: limits.HINT_NAMES]]

"""Why nothing passed the filters on tool and project: there is no such session, of what the caller may see. One sentence for search and list."""

from __future__ import annotations

from collections.abc import Mapping

from wesaid import limits
from wesaid.engines.contract import View
from wesaid.errors import quoted
from wesaid.values import Filters, Scope


def reason(views: Mapping[str, View], scopes: Mapping[str, Scope], filters: Filters) -> str | None:
    """The sentence; None when some session in scope passes both. ``filters`` are redacted already."""

    def any_of(asked: Filters) -> bool:
        return any(view.sessions(scopes[agent], limit=1, filters=asked) for agent, view in views.items())

    if filters.tool is not None and not any_of(Filters(tool=filters.tool)):
        tools = sorted({tool for agent, view in views.items() for tool in view.tools(scopes[agent])})
        there = f"there are sessions of {', '.join(tools)}" if tools else "no session here came from a tool"
        return f"no session of tool {quoted(filters.tool, limits.LABEL_CODE_POINTS)} that you may see; {there}"
    if filters.project is not None and not any_of(Filters(project=filters.project)):
        return f"no session in project {quoted(filters.project, limits.LABEL_CODE_POINTS)} that you may see; it is compared as a path, whole folders"
    if filters.tool is not None and filters.project is not None and not any_of(Filters(tool=filters.tool, project=filters.project)):
        return "no session of that tool in that project that you may see"
    return None

"""Conditions on rows of ``session``, as SQL: what filters ask of a session. One place for search and list."""

from __future__ import annotations

from wesaid import folders
from wesaid.values import Filters


def conditions(filters: Filters) -> tuple[list[str], list[str]]:
    """Conditions and their bindings; none when neither tool nor project is asked for. Columns are named without a table."""
    where: list[str] = []
    bindings: list[str] = []
    if filters.tool is not None:
        where.append("tool = ?")
        bindings.append(filters.tool)
    if filters.project is not None:
        project = r"lower(replace(project, '\', '/'))" if folders.is_windows(filters.project) else "project"
        where.append(f"(rtrim({project}, '/') = ? OR substr({project}, 1, length(?)) = ?)")
        folder = folders.normal(filters.project)
        bindings += [folder, folder + "/", folder + "/"]
    return where, bindings

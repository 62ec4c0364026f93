"""``wesaid config``."""

from __future__ import annotations

from wesaid.cli.command import FOUND, Run
from wesaid.cli.output import safe
from wesaid.cli.paint import table
from wesaid.service import opening


def execute(run: Run) -> int:
    """`wesaid config`; its exit code."""
    with opening.open_home(run.home) as home:
        path, explained = str(home.path), home.settings.explain()
    if run.out.as_json:
        rows = [{"name": name, "value": value, "source": source} for name, value, source in explained]
        run.out.object({"home": path, "settings": rows})
    else:
        run.out.lines([[("home  ", "dim"), (safe(path), "")], []])
        run.out.lines(
            table(("SETTING", "VALUE", "FROM"), [[(name, "key"), safe(_shown(value)), safe(source)] for name, value, source in explained])
        )
    return FOUND


def _shown(value: object) -> str:
    """A value as it would be typed."""
    if isinstance(value, (list, tuple, set, frozenset)):
        return ", ".join(sorted(map(str, value))) or "(none)"
    return str(value).lower() if isinstance(value, bool) else "(not set)" if value is None else str(value)

"""Progress of long work: a bar on stderr when a person watches, nothing otherwise."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from wesaid.cli.output import safe

Report = Callable[[int, int, str], None]


@contextmanager
def progress() -> Iterator[Report | None]:
    """Yields what to call with ``(done, total, what)``; None when nobody watches, so that nobody pays for it."""
    if not sys.stderr.isatty():
        yield None
        return
    # 70 ms that only a person who watches an import pays.
    bars: Any = importlib.import_module("rich.progress")
    console: Any = importlib.import_module("rich.console").Console(stderr=True)
    columns = (bars.SpinnerColumn(), bars.TextColumn("{task.description}", markup=False), bars.BarColumn(), bars.MofNCompleteColumn())
    with bars.Progress(*columns, console=console, transient=True) as shown:
        task = shown.add_task("reading", total=None)

        def report(done: int, total: int, what: str) -> None:
            shown.update(task, completed=done, total=total, description=safe(what) or "reading")

        yield report

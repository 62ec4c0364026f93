"""Progress of long work: a bar on stderr when a person watches, nothing otherwise."""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from wesaid import limits
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


@contextmanager
def note_when_slow(say: Callable[[str], None], *, seconds: float = limits.CLI_SLOW_SECONDS) -> Iterator[None]:
    """Tell a person who watches why a write is not done yet, once it takes longer than ``seconds``."""
    if not sys.stderr.isatty():
        yield
        return
    note = f"waiting: another program is writing to this store (for at most {limits.BUSY_MS // limits.SECONDS_MS} seconds)"
    timer = threading.Timer(seconds, say, (note,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()

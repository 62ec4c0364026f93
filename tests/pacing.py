"""Imports that stop after every line, as those do that a search has no more time for."""

from __future__ import annotations

import sys
from pathlib import Path
from time import monotonic

from wesaid.importers.known import Source
from wesaid.service.import_file import FileImport
from wesaid.service.import_pace import Pace
from wesaid.service.import_refusing import Gone
from wesaid.service.import_sources import Wanted, discover
from wesaid.service.opening import Home

_HOUR = 3600.0


class Stopping(Pace):
    """Everything is quick enough to be begun, and after each batch the time is up."""

    def __init__(self) -> None:
        super().__init__(monotonic() + _HOUR)
        self.due = 0.0

    def goes_on(self) -> bool:
        return False


def bring_by_lines(home: Home, path: Path) -> int:
    """Import a file, each line by another reading; how many readings it took."""
    for count in range(1, sys.maxsize):
        [source] = discover([path], Wanted())
        assert isinstance(source, Source)
        store = home.engine.store(source.agent, create=True)
        assert store is not None
        account = FileImport(home, source, store, pace=Stopping(), gone=Gone(store, None, quick=True)).run()
        assert account.error is None
        with store.reading() as view:
            state = view.source(source.name)
        if state is not None and state.state["complete"]:
            return count
    raise AssertionError

"""Every engine passes the same tests: each test that asks for ``engine`` or ``store`` runs on all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import engine_tools


@pytest.fixture(params=engine_tools.ENGINES)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """An empty engine."""
    made = engine_tools.open_engine(request.param, tmp_path)
    yield made
    made.close()


@pytest.fixture
def store(engine: Any) -> Any:
    """The empty database of agent ``main``."""
    return engine.store("main", create=True)


@pytest.fixture
def reopened(engine: Any, tmp_path: Path) -> Iterator[Callable[[], Any]]:
    """The same database through another handle, as another process has it; memory has only the one."""
    opened = []

    def another() -> Any:
        if "memory" in type(engine).__module__:
            return engine.store("main")
        opened.append(engine_tools.open_engine("sqlite", tmp_path))
        return opened[-1].store("main")

    yield another
    for each in opened:
        each.close()

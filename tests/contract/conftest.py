"""The door fixtures: each test of the contract runs through every door that exists."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from contract.doors import DOORS, THAT_WAIT, Door


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home of the test's own."""
    return tmp_path / "home"


@pytest.fixture(params=DOORS)
def door(request: pytest.FixtureRequest, home: Path) -> Iterator[Door]:
    """Every door, the operator asking."""
    opened = DOORS[request.param](home)
    yield opened
    opened.close()


@pytest.fixture(params=THAT_WAIT)
def waiting_door(request: pytest.FixtureRequest, home: Path) -> Iterator[Door]:
    """The doors through which it is said how long a search may wait."""
    opened = DOORS[request.param](home)
    yield opened
    opened.close()

"""``@promise("id")``: the row of requirements.py that a test proves. An id that is no row is an error when the test is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import pytest

from contract.requirements import REQUIREMENTS

Test = TypeVar("Test", bound=Callable[..., None])


def promise(requirement: str) -> Callable[[Test], Test]:
    """Mark a test with the promise it proves."""
    if requirement not in REQUIREMENTS:
        message = f"{requirement!r} is no row of tests/contract/requirements.py"
        raise LookupError(message)
    return pytest.mark.promise(requirement)

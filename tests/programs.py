"""Programs that some tests call: skipped with the line that installs them, or failed where everything is required."""

from __future__ import annotations

import os
import shutil

import pytest


def requires_program(name: str, install_line: str) -> str:
    """The path of a program. Without it the test is skipped, or fails under ``WESAID_REQUIRE_ALL=1`` (contract.md §1)."""
    found = shutil.which(name)
    if found is not None:
        return found
    message = f"{name} is missing; install it with: {install_line}"
    if os.environ.get("WESAID_REQUIRE_ALL") == "1":
        pytest.fail(message)
    pytest.skip(message)

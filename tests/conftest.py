"""What every test has: a home of its own, hypothesis without deadlines, and a way to ask for a program."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

import programs

settings.register_profile("wesaid", deadline=None, max_examples=100)  # shared machines make deadlines lie
settings.load_profile("wesaid")


@pytest.fixture
def requires_program() -> Callable[[str, str], str]:
    """``requires_program(name, install_line)``: its path, or a skip that says how to install it."""
    return programs.requires_program


@pytest.fixture(autouse=True)
def _no_settings_of_the_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test sees the developer's own store, settings or transcripts."""
    for name in [name for name in os.environ if name.startswith("WESAID_") and name != "WESAID_REQUIRE_ALL"]:
        monkeypatch.delenv(name)
    nowhere = tmp_path / "nowhere"
    monkeypatch.setenv("HOME", str(nowhere))
    monkeypatch.setenv("WESAID_HOME", str(nowhere / "wesaid"))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "OPENCLAW_STATE_DIR"):
        monkeypatch.delenv(name, raising=False)

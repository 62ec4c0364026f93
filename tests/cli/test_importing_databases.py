"""``wesaid import`` and OpenClaw's databases: found without a path, told as one source each, and errors that say what to do."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ERA = Path(__file__).parents[1] / "fixtures" / "openclaw-state" / "sqlite-era"


@pytest.mark.parametrize("options", [[], ["--from", "openclaw"]])
def test_an_import_without_a_path_finds_openclaws_databases(wesaid: Callable[..., Any], tmp_path: Path, options: list[str]) -> None:
    """In the state folder of this machine, or the one that ``OPENCLAW_STATE_DIR`` names; a second run has nothing new."""
    shutil.copytree(ERA, tmp_path / "nowhere" / ".openclaw")
    ran = wesaid("import", *options, "--json")
    sources = {Path(source["path"]).parts[-3]: source for source in ran.json["sources"] if source["path"].endswith(".sqlite")}
    assert (ran.code, set(sources), sources["main"]["imported"], sources["work"]["imported"]) == (0, {"main", "work"}, 81, 2)
    again = wesaid("import", *options, "--json", OPENCLAW_STATE_DIR=str(tmp_path / "nowhere" / ".openclaw"))
    assert (again.code, again.json["totals"]["imported"], again.json["totals"]["unchanged"]) == (0, 0, 83)
    assert wesaid("search", "abandonedbranch").code == 1
    assert "rewindbase common answer" in wesaid("search", "rewindbase answer").out
    assert "activebranch" not in wesaid("history", "agent:main:dashboard:00000000-0000-4000-8000-000000001006").out


def test_a_damaged_database_fails_alone(wesaid: Callable[..., Any], tmp_path: Path) -> None:
    """Exit code 4 with the path and a way out; the other agent's sessions are imported, and no text of the file is quoted."""
    state = tmp_path / "state"
    shutil.copytree(ERA, state)
    damaged = state / "agents" / "main" / "agent" / "openclaw-agent.sqlite"
    damaged.write_bytes(b"private words of somebody " * 500)
    ran = wesaid("import", str(state))
    assert ran.code == 4
    assert "openclaw doctor" in ran.out + ran.err
    assert "private words" not in ran.out + ran.err
    assert "work reply axolotl" in wesaid("search", "work reply axolotl").out


def test_secrets_of_a_database_are_hidden(wesaid: Callable[..., Any]) -> None:
    """What people said into OpenClaw's database leaves redacted: list, search and history."""
    wesaid("import", str(ERA))
    out = "".join(
        wesaid(*words).out
        for words in (
            ["history", "agent:main:dashboard:00000000-0000-4000-8000-000000001020", "--limit", "100"],
            ["search", "key"],
            ["sessions"],
        )
    )
    assert "[redacted:" in out
    assert "BEGIN RSA" not in out or "MII" not in out

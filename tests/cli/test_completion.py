"""Completion: scripts that real shells accept, and what they offer."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
Requires = Callable[[str, str], str]


@pytest.fixture
def on_path(tmp_path: Path) -> dict[str, str]:
    """An environment in which ``wesaid`` is our program."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "wesaid"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m wesaid "$@"\n')
    program.chmod(0o755)
    source = Path(__file__).parents[2] / "src"
    return {**os.environ, "PYTHONPATH": str(source), "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


def shell(command: list[str], environ: dict[str, str] | None = None, said: str | None = None) -> str:
    done = subprocess.run(command, env=environ, input=said, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, ""), done
    return done.stdout


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_a_shell_accepts_its_script(wesaid: Run, requires_program: Requires, tmp_path: Path, name: str) -> None:
    """Read by the shell itself, without running it."""
    program = requires_program(name, f"apt-get install {name}")
    ran = wesaid("completion", name)
    assert (ran.code, ran.err) == (0, "")
    script = tmp_path / "script"
    script.write_text(ran.out)
    shell([program, "--no-execute" if name == "fish" else "-n", str(script)])
    assert wesaid("completion", name, "--json").json["script"] == ran.out


BASH = """
eval "$(wesaid completion bash)"
COMP_LINE="$1" COMP_POINT=${#1}
_wesaid_completion wesaid
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("wesaid se", ["search", "sessions"]),
        ("wesaid search ferry --role ", ["user", "assistant"]),
        ("wesaid search ferry --order n", ["newest"]),
        ("wesaid search ferry --detail f", ["full"]),
        ("wesaid export agent:main:main --format m", ["md"]),
        ("wesaid import --from c", ["claude-code", "codex"]),
        ("wesaid search ferry --lim", ["--limit"]),
        ("wesaid history agent:main:no", ["notes"]),
        ("wesaid history age", ["agent:main:main", "agent:main:notes"]),
        ("wesaid search ferry --session agent:main:m", ["main"]),
    ],
)
def test_bash_completes(requires_program: Requires, on_path: dict[str, str], ferry: dict[str, str], line: str, offered: list[str]) -> None:
    """Commands, options, values and session keys; of a key what stands behind its last colon, as bash wants it."""
    assert ferry
    bash = requires_program("bash", "apt-get install bash")
    assert sorted(shell([bash, "-c", BASH, "bash", line], on_path).split()) == sorted(offered)


def test_fish_completes(requires_program: Requires, on_path: dict[str, str], ferry: dict[str, str]) -> None:
    """Fish keeps a key whole."""
    assert ferry
    fish = requires_program("fish", "apt-get install fish")
    command = 'wesaid completion fish | source; complete -C "wesaid history agent:main:no"; complete -C "wesaid exp"'
    assert shell([fish, "-c", command], on_path).splitlines() == [
        "agent:main:notes",
        "export\tWrite a session out as JSON lines or Markdown.",
    ]


def test_completion_is_quiet_when_the_store_is_damaged(on_path: dict[str, str], tmp_path: Path) -> None:
    """A tab never prints an error."""
    file = tmp_path / "damaged" / "agents" / "main" / "agent.sqlite"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"this is no database" * 1000)
    environ = {
        **on_path,
        "WESAID_HOME": str(tmp_path / "damaged"),
        "_WESAID_COMPLETE": "bash_complete",
        "_WESAID_LINE": "wesaid history ag",
    }
    assert shell([sys.executable, "-m", "wesaid"], environ) == "\n"


def test_another_shell_is_wrong_usage(wesaid: Run) -> None:
    """The three there are are named."""
    ran = wesaid("completion", "tcsh")
    assert (ran.code, ran.out) == (2, "")
    assert "fish" in ran.err

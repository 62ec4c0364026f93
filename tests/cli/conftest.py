"""Two ways to run the program: in this process, and as a process of its own; and a small store that was made by appending."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from wesaid.cli.program import program

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Ran:
    """What a run of the program left."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """Stdout as the one object that it has to be."""
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found


@pytest.fixture
def wesaid() -> Callable[..., Ran]:
    """``wesaid("search", "ferry")`` in this process."""

    def run(*words: str, said: str | None = None, **environ: str) -> Ran:
        done = CliRunner().invoke(program, list(words), input=said, env=environ)
        return Ran(done.exit_code, done.stdout, done.stderr)

    return run


def environment(**more: str) -> dict[str, str]:
    """The test's environment, with our sources on the path."""
    return {**os.environ, "PYTHONPATH": str(ROOT / "src"), **more}


@pytest.fixture
def process() -> Callable[..., Ran]:
    """``process("search", "ferry")`` as ``python -m wesaid``."""

    def run(*words: str, said: str = "", **environ: str) -> Ran:
        command = [sys.executable, "-m", "wesaid", *words]
        done = subprocess.run(
            command, input=said, capture_output=True, encoding="utf-8", env=environment(**environ), check=False, timeout=60
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def ferry(wesaid: Callable[..., Ran]) -> dict[str, str]:
    """A store of two sessions; message ids by what was said."""
    said = {
        "move": ("agent:main:main", "user", "we moved the ferry timetable to Postgres"),
        "done": ("agent:main:main", "assistant", "done, the harbour reads it from there"),
        "banana": ("agent:main:notes", "user", "deploy the banana service"),
        "apple": ("agent:main:notes", "user", "deploy the apple service"),
    }
    ids = {}
    for name, (key, role, text) in said.items():
        ran = wesaid("append", key, "--role", role, text, "--json")
        assert ran.code == 0, ran
        ids[name] = ran.json["messageId"]
    return ids


@pytest.fixture
def transcript() -> Callable[..., Path]:
    """``transcript(path, "ferry", "harbour")``: a Claude Code transcript in which a person says these texts."""

    def write(path: Path, *texts: str, damage: str = "", session: str = "s-1", cwd: str = "/srv/ferry") -> Path:
        lines, parent = [], None
        for number, text in enumerate(texts):
            record = {"type": "user", "uuid": f"u{number}", "parentUuid": parent, "sessionId": session, "cwd": cwd, "isSidechain": False}
            record |= {"timestamp": f"2026-01-0{number + 1}T00:00:00.000Z", "message": {"role": "user", "content": text}}
            lines.append(json.dumps(record))
            parent = f"u{number}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join([*lines, *([damage] if damage else [])]) + "\n")
        return path

    return write

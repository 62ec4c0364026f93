"""Growth on the command line: what a search finds, says and goes on with; filters as people type them."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


def line(number: int, text: str, cwd: str = "/work/ferry", session: str = "one") -> str:
    record = {"type": "user", "uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else None, "sessionId": session, "cwd": cwd}
    return json.dumps(record | {"message": {"role": "user", "content": text}}) + "\n"


@pytest.fixture
def file(wesaid: Run, tmp_path: Path) -> Path:
    made = tmp_path / "projects" / "one.jsonl"
    made.parent.mkdir()
    made.write_text(line(0, "the ferry leaves"), encoding="utf-8")
    assert wesaid("import", str(made.parent)).code == 0
    return made


def test_a_search_finds_what_was_said_since_the_import(wesaid: Run, file: Path) -> None:
    """Without an import between."""
    with file.open("a", encoding="utf-8") as stream:
        stream.write(line(1, "a pelican came"))
    ran = wesaid("search", "pelican")
    assert ran.code == 0
    assert "not all" not in ran.err


def test_a_source_that_cannot_be_read_is_said_to_be_behind(wesaid: Run, file: Path) -> None:
    """In words and in JSON."""
    with file.open("a", encoding="utf-8") as stream:
        stream.write(line(1, "a pelican came"))
    file.unlink()
    os.mkfifo(file)  # root could read a file without permissions
    assert wesaid("search", "ferry", "--json").json["diagnostics"]["sourcesBehind"] == 1
    assert "1 source has grown" in wesaid("search", "ferry").err


def test_a_file_that_takes_longer_is_read_by_repeating_the_search(wesaid: Run, file: Path) -> None:
    """The command goes on after its answer, so that repeated searches always finish."""
    total = 6000
    with file.open("a", encoding="utf-8") as stream:
        stream.writelines(line(number, f"seagull number{number} " + "salt and wind " * 40) for number in range(1, total))
    for _ in range(total):
        if "sourcesBehind" not in wesaid("search", "ferry", "--json").json["diagnostics"]:
            break
    assert wesaid("search", f"number{total - 1}").code == 0


def test_the_command_that_goes_on_is_printed_so_that_a_shell_takes_it(wesaid: Run, tmp_path: Path) -> None:
    """Whatever the folder is called."""
    folder = "/work/it's a $(ferry); rm"
    made = tmp_path / "one.jsonl"
    made.write_text(line(0, "the ferry leaves", folder), encoding="utf-8")
    wesaid("import", str(made))
    shown = wesaid("search", "ferry").out
    command = next(each for each in shown.splitlines() if "Go on there: " in each).partition("Go on there: ")[2]
    assert shlex.split(command) == ["cd", folder, "&&", "claude", "--resume", "one"]


@pytest.mark.parametrize("project", ["~/ferry", ".", "web/..", "../ferry/"])
def test_a_project_is_typed_as_people_type_folders(wesaid: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, project: str) -> None:
    """From the home folder and from where they are, in search and list."""
    here = tmp_path / "ferry"
    here.mkdir()
    made = tmp_path / "one.jsonl"
    made.write_text(line(0, "the ferry leaves", str(here / "web")), encoding="utf-8")
    wesaid("import", str(made))
    monkeypatch.chdir(here)
    assert wesaid("search", "leaves", "--project", project, HOME=str(tmp_path)).code == 0
    assert wesaid("sessions", "--project", project, HOME=str(tmp_path)).code == 0


def test_an_empty_answer_says_which_tools_there_are(wesaid: Run, file: Path) -> None:
    """In search and list."""
    for command in (("search", "ferry"), ("sessions",)):
        ran = wesaid(*command, "--tool", "gemini")
        assert ran.code == 1
        assert "no session of tool 'gemini' that you may see; there are sessions of claude-code" in " ".join(ran.err.split())

"""The program around the commands: help, usage, exit codes, streams."""

from __future__ import annotations

import importlib
import inspect
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from wesaid.cli.syntax import COMMANDS

Run = Callable[..., Any]
EACH = pytest.mark.parametrize("name", COMMANDS)


def test_help_names_every_command_and_imports_none() -> None:
    """``--help`` answers at once, a command's own too: no command's module, no engine, no Rich."""
    code = (
        "import sys, wesaid.cli.program as p; p.program.main(['search', '--help'], standalone_mode=False);"
        "p.program.main(['--help'], standalone_mode=False); print(sorted(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    shown, loaded = done.stdout.rsplit("\n", 2)[:2]
    assert all(f"  {name} " in shown for name in COMMANDS)
    for module in ("wesaid.cli.commands.search", "wesaid.service.opening", "apsw", "msgspec", "rich"):
        assert f"'{module}'" not in loaded


@EACH
def test_every_declaration_has_its_work(name: str) -> None:
    """What can be typed is done by a module of the same name, with the options that were declared."""
    work = importlib.import_module(f"wesaid.cli.commands.{name}{'_' if name == 'import' else ''}")
    declared = {param.name for param in COMMANDS[name].params} - {"home", "as_json"}
    taken = inspect.signature(work.execute).parameters
    names = set(taken) - {"run", "options"}
    assert names == declared or (names <= declared and "options" in taken)


@EACH
def test_a_command_begins_with_its_line_in_the_table(name: str) -> None:
    """The first sentence of a command's help is its line in ``wesaid --help``."""
    assert (COMMANDS[name].help or "").split("\n")[0] == COMMANDS[name].short_help


@EACH
def test_each_command_has_json_home_and_an_example(wesaid: Run, name: str) -> None:
    """The help of a command shows it in use, and the two options that all have."""
    ran = wesaid(name, "--help")
    assert ran.code == 0
    assert f"  wesaid {name}" in ran.out.split("Examples:")[1] or f"$(wesaid {name}" in ran.out.split("Examples:")[1]
    assert "--json" in ran.out
    assert "--home" in ran.out


@EACH
def test_no_option_has_one_letter(name: str) -> None:
    """One dash begins a word that is excluded, never an option."""
    for param in COMMANDS[name].get_params(click.Context(COMMANDS[name])):
        if isinstance(param, click.Option):
            assert all(option.startswith("--") for option in param.opts)


@EACH
def test_an_unknown_option_is_wrong_usage(wesaid: Run, name: str) -> None:
    """It is named, on stderr, and stdout stays empty."""
    ran = wesaid(name, "--wrong")
    assert ran.code == 2
    assert ran.out == ""
    assert "--wrong" in ran.err
    assert "--help" in ran.err


def test_an_unknown_command_is_wrong_usage_and_names_those_there_are(wesaid: Run) -> None:
    """Commands of later issues are unknown like any other."""
    for name in ("serch", "serve", "mcp"):
        ran = wesaid(name)
        assert (ran.code, ran.out) == (2, "")
        assert name in ran.err
        assert "search" in ran.err.split("hint")[1]


def test_a_call_without_a_command_shows_the_help(wesaid: Run) -> None:
    """On stderr, as wrong usage: a script that forgot its command must not read help as data."""
    ran = wesaid()
    assert (ran.code, ran.out) == (2, "")
    assert "Commands:" in ran.err


def test_wrong_usage_with_json_is_one_object_on_stdout(wesaid: Run) -> None:
    """Programs read refusals where they read answers, those of the parser too."""
    ran = wesaid("search", "ferry", "--limt", "3", "--json")
    assert ran.code == 2
    assert ran.err == ""
    assert ran.json["schemaVersion"] == 1
    assert ran.json["error"]["code"] == "usage"
    assert set(ran.json["error"]) == {"code", "message", "hint", "details"}


def test_json_after_two_dashes_is_text(wesaid: Run) -> None:
    """A query about --json does not switch JSON on."""
    ran = wesaid("search", "--limit", "x", "--", "--json")
    assert ran.code == 2
    assert ran.err.startswith("error: ")


def test_python_dash_m_is_the_program(process: Run) -> None:
    """``python -m wesaid`` answers as ``wesaid`` does."""
    ran = process("--version")
    assert ran.code == 0
    assert ran.out.startswith("wesaid ")


def test_an_interrupt_is_130_without_a_traceback(tmp_path: Path) -> None:
    """Ctrl-C while text is awaited from stdin leaves one word on stderr."""
    command = [sys.executable, "-c", _READY, str(tmp_path / "ready")]
    source = str(Path(__file__).parents[2] / "src")
    environ = {**os.environ, "PYTHONPATH": source}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=environ, text=True, **pipes) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "reading\n"
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert out == ""
    assert err.strip() == "interrupted"


# Says when it reads, so that the signal comes then and not while Python starts.
_READY = """
import io, sys
import wesaid.cli.commands.append
from wesaid.cli.program import program

class Stdin(io.RawIOBase):
    @property
    def buffer(self):
        return self
    def read(self, size=-1):
        print("reading", flush=True)
        return sys.__stdin__.buffer.read(size)

sys.stdin = Stdin()
program.main(["append", "agent:main:main", "--role", "user", "-"])
"""


def test_a_reader_that_goes_away_is_no_error(process: Run, ferry: dict[str, str]) -> None:
    """``wesaid … | head -0`` is quiet and not *nothing found*."""
    assert ferry
    command = [sys.executable, "-m", "wesaid", "search", "ferry"]
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, env=environ, check=False, timeout=60)
    finally:
        os.close(writer)
    assert done.returncode == 0
    assert done.stderr == b""

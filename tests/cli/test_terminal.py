"""On a real terminal (a pty): colour, the marked match, wrapping, and NO_COLOR."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from wesaid.cli.paint import width

KEY = "agent:main:main"


def on_terminal(*words: str, columns: int = 60, **environ: str) -> str:
    """What a terminal of so many columns gets from ``wesaid`` on stdout."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    source = str(Path(__file__).parents[2] / "src")
    hidden = ("NO_COLOR", "COLUMNS", "LINES")
    everything = {name: value for name, value in os.environ.items() if name not in hidden}
    everything |= {"PYTHONPATH": source, "TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8", **environ}
    command = [sys.executable, "-m", "wesaid", *words]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL, env=everything) as running:
        os.close(theirs)
        chunks = []
        while True:
            try:
                chunk = os.read(ours, 65536)
            except OSError:  # Linux says so when the other end is closed
                break
            if not chunk:
                break
            chunks.append(chunk)
        running.wait(timeout=60)
    os.close(ours)
    return b"".join(chunks).decode().replace("\r\n", "\n")


def test_the_match_is_marked_and_the_role_coloured(ferry: dict[str, str]) -> None:
    """Bold and reversed, so that it is seen without colours too."""
    assert ferry
    shown = on_terminal("search", "ferry")
    assert "\x1b[1;7mferry\x1b[0m" in shown
    assert "\x1b[1;34muser\x1b[0m" in shown


def test_no_color_means_no_escape_sequence(ferry: dict[str, str]) -> None:
    """Not one, whatever the terminal."""
    assert ferry
    shown = on_terminal("search", "ferry", NO_COLOR="1")
    assert "ferry" in shown
    assert "\x1b" not in shown


def test_prose_is_wrapped_and_commands_are_not(wesaid, ferry: dict[str, str]) -> None:
    """Rows of a conversation fit the terminal; what is to be copied stays whole."""
    wesaid("append", KEY, "--role", "user", "the harbour " * 40 + "数据库 " * 20)
    shown = re.sub(r"\x1b\[[0-9;]*m", "", on_terminal("history", KEY, columns=40))
    assert all(width(line) <= 40 for line in shown.splitlines() if line.startswith("  "))
    assert len(shown.splitlines()) > 10
    found = re.sub(r"\x1b\[[0-9;]*m", "", on_terminal("search", "ferry", columns=40))
    assert f"  Read on: wesaid history {KEY} --around {ferry['move']}" in found.splitlines()


@pytest.mark.parametrize("columns", [80, 120])
def test_sessions_fit_the_terminal_and_their_keys_are_whole(wesaid, transcript, tmp_path: Path, columns: int) -> None:
    """Title and folder give way, the title behind a word; the key, which is to be copied, does not."""
    title = "the ferry timetable moves to Postgres " * 4
    name = "7f3c9a10-52d4-4e8b-9b1d-000000000001"
    wesaid("import", str(transcript(tmp_path / f"{name}.jsonl", title, session=name, cwd="/srv/" + "harbour-office/" * 9)))
    rows = on_terminal("sessions", columns=columns, NO_COLOR="1").splitlines()
    assert len(rows) == 3
    assert all(width(row) <= columns for row in rows)
    assert rows[0].endswith("…")
    assert title.startswith(rows[0].rstrip("…") + " ")
    assert rows[1] == f"  agent:claude-code:import:{name}"
    assert "…/harbour-office" in rows[2]


@pytest.mark.parametrize("columns", [30, 80, 120])
def test_an_imports_table_fits_the_terminal_and_shows_the_files(transcript, tmp_path: Path, columns: int) -> None:
    """Long folders and columns without figures give way to the names of the files."""
    for name in ("fe5e1c67-52d4-4e8b-9b1d-000000000001", "fe5e1c67-52d4-4e8b-9b1d-000000000002"):
        transcript(tmp_path / "a-long-name-of-a-folder" / f"{name}.jsonl", f"the ferry sails {name}", session=name)
    shown = on_terminal("import", str(tmp_path), columns=columns, NO_COLOR="1").splitlines()
    rows = shown[: shown.index("")]
    assert len(rows) == 3
    assert all(width(row) <= columns for row in rows)
    assert "IMPORTED" in rows[0]
    assert "UPDATED" not in rows[0]
    if columns > 30:
        assert "fe5e1c67-52d4-4e8b-9b1d-000000000001.jsonl " in rows[1]


def test_an_escape_sequence_of_a_transcript_does_not_reach_the_terminal(wesaid) -> None:
    """All that is there is ours: styles."""
    wesaid("append", KEY, "--role", "user", "ferry \x1b]0;owned\x07\x1b[2J \x9b2J \u202egnirts")
    for words in (
        ["search", "ferry"],
        ["search", "ferry", "--json"],
        ["history", KEY],
        ["sessions"],
        ["export", KEY],
        ["export", KEY, "--format", "md"],
    ):
        rest = re.sub(r"\x1b\[[0-9;]*m", "", on_terminal(*words))
        assert not set(rest) & set("\x1b\x07\x9b\u202e"), words

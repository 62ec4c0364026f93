"""Claims about `wesaid delete --wait` and `wesaid forget`: what they print, ask and refuse, and that the bytes are gone when they return."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
Said = dict[str, str]
KEY = "agent:main:main"
NOTES = "agent:main:notes"
ROOT = Path(__file__).parents[2]


def left(text: str) -> list[str]:
    """Files of the home that hold a text."""
    home = Path(os.environ["WESAID_HOME"])
    return [path.name for path in home.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


@pytest.fixture
def imported(wesaid: Run, tmp_path: Path) -> Path:
    """The folder of an imported transcript."""
    folder = tmp_path / "logs"
    folder.mkdir()
    line = (
        '{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"aaaa","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/w",'
        '"message":{"role":"user","content":"a zeppelin over the harbour"}}\n'
    )
    (folder / "aaaa.jsonl").write_text(line, encoding="utf-8")
    assert wesaid("import", str(folder)).code == 0
    return folder


def test_a_delete_that_waits_reports_its_proof(wesaid: Run, ferry: Said) -> None:
    """JSON has erasedAt and the proof; the words are in no file."""
    assert ferry
    assert left("timetable")
    ran = wesaid("delete", KEY, "--wait", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.json["erasedAt"] >= ran.json["deletedAt"]
    assert ran.json["deleted"] is True
    assert ran.json["proof"]["left"] == 0
    assert ran.json["proof"]["pieces"] > 0
    assert "main/agent.sqlite" in ran.json["proof"]["files"]
    assert left("timetabl") == []
    assert wesaid("search", "banana").code == 0


def test_a_delete_goes_on_erasing_after_its_answer(wesaid: Run, ferry: Said) -> None:
    """Without --wait the answer says that nothing is erased yet, and a small store is clean when the command ends."""
    assert ferry
    ran = wesaid("delete", KEY, "--json")
    assert "erasedAt" not in ran.json
    assert "proof" not in ran.json
    assert left("timetabl") == []


def test_people_read_what_was_proven(wesaid: Run, ferry: Said) -> None:
    """One line on stderr: how many pieces, in how much of which files."""
    assert ferry
    ran = wesaid("delete", KEY, "--wait")
    assert ran.code == 0
    assert "erased: none of" in ran.err
    assert "main/agent.sqlite" in ran.err
    assert KEY in ran.out


def test_forgetting_a_session_is_a_delete_that_waits(wesaid: Run, ferry: Said) -> None:
    """It asks nobody; the account has the session and the proof."""
    assert ferry
    ran = wesaid("forget", KEY, "--json")
    assert (ran.code, ran.err) == (0, "")
    assert [row["sessionKey"] for row in ran.json["sessions"]] == [KEY]
    assert ran.json["proof"]["left"] == 0
    assert left("timetabl") == []


def test_forgetting_a_source_needs_a_yes_where_nobody_can_be_asked(wesaid: Run, imported: Path) -> None:
    """Without --yes it lists what would go and is wrong usage; with it the session and its bytes go, and the file stays."""
    ran = wesaid("forget", "--source", str(imported))
    assert (ran.code, ran.out) == (2, "")
    assert "agent:claude-code:import:aaaa" in ran.err
    assert "--yes" in ran.err
    assert wesaid("search", "zeppelin").code == 0
    ran = wesaid("forget", "--source", str(imported), "--yes", "--json")
    assert ran.code == 0
    assert ran.json["sources"] == [str(imported.resolve() / "aaaa.jsonl")]
    assert left("zeppelin") == []
    assert (imported / "aaaa.jsonl").exists()
    assert wesaid("import", str(imported)).code == 0
    assert wesaid("search", "zeppelin").code == 1


def test_forgetting_a_tool_takes_old_sessions_only(wesaid: Run, imported: Path) -> None:
    """Before its last message nothing goes; after it the session does."""
    assert imported
    ran = wesaid("forget", "--tool", "claude-code", "--before", "2024-01-01", "--yes", "--json")
    assert (ran.code, ran.json["sessions"]) == (0, [])
    assert wesaid("search", "zeppelin").code == 0
    ran = wesaid("forget", "--tool", "claude-code", "--before", "2026-01-01", "--yes", "--json")
    assert [row["sessionKey"] for row in ran.json["sessions"]] == ["agent:claude-code:import:aaaa"]
    assert wesaid("search", "zeppelin").code == 1


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["forget"], 2),
        (["forget", KEY, "--source", "x"], 2),
        (["forget", "--tool", "claude-code"], 2),
        (["forget", "--before", "2025-01-01"], 2),
        (["forget", "--tool", "nobody", "--before", "2025-01-01", "--yes"], 2),
        (["forget", "--tool", "claude-code", "--before", "someday", "--yes"], 2),
        (["forget", "agent:main:nobody"], 3),
        (["forget", "--source", "/no/such/file", "--yes"], 3),
        (["delete", "agent:main:nobody", "--wait"], 3),
    ],
)
def test_what_cannot_be_forgotten_has_its_exit_code(wesaid: Run, ferry: Said, imported: Path, words: list[str], code: int) -> None:
    """2 for wrong usage, 3 for what is not there; nothing is deleted."""
    assert ferry
    assert imported
    ran = wesaid(*words)
    assert (ran.code, ran.out) == (code, "")
    assert "error: " in ran.err
    assert len(wesaid("sessions", "--json").json["sessions"]) == 3


@pytest.mark.parametrize(("answer", "code", "found"), [("n\n", 130, 0), ("y\n", 0, 1)])
def test_a_person_is_asked(wesaid: Run, imported: Path, answer: str, code: int, found: int) -> None:
    """On a terminal the answer decides: no leaves everything as it is."""
    ours, theirs = pty.openpty()
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "wesaid", "forget", "--source", str(imported)]
    with subprocess.Popen(command, stdin=theirs, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environ, text=True) as running:
        os.close(theirs)
        os.write(ours, answer.encode())
        said = running.communicate(timeout=60)[1]
    os.close(ours)
    assert running.returncode == code, said
    assert "1 session will be deleted for good" in said
    assert "delete it?" in said
    assert wesaid("search", "zeppelin").code == found

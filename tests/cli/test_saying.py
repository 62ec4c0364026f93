"""What a command that changed something says of it: all that is left to know, for people and in the object alike."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wesaid import limits
from wesaid.cli.progress import note_when_slow

Run = Callable[..., Any]
Said = dict[str, str]
MAIN = "agent:main:main"


# ── delete and forget ────────────────────────────────────────────────────────────────────────────────────────────
@pytest.fixture
def family(wesaid: Run, ferry: Said) -> list[str]:
    """The keys of what agent:main:main spawned: two, and one of these another, which is another agent's."""
    made = {"agent:main:subagent:a": MAIN, "agent:main:subagent:b": MAIN, "agent:work:subagent:c": "agent:main:subagent:a"}
    for key, parent in made.items():
        assert wesaid("append", key, "--role", "user", "a quay", "--spawned-by", parent).code == 0
    return sorted(made)


@pytest.mark.parametrize("words", [("delete", MAIN), ("delete", MAIN, "--wait"), ("forget", MAIN)])
def test_what_a_deleted_session_had_spawned_stays_and_that_is_said(wesaid: Run, family: list[str], words: tuple[str, ...]) -> None:
    """With the command for each; who follows these has deleted all of it."""
    ran = wesaid(*words)
    assert ran.code == 0
    assert "3 sessions that it spawned stay" in ran.err
    commands = [line.split()[1:] for line in ran.err.splitlines() if line.startswith("  wesaid delete ")]
    assert sorted(words[1] for words in commands) == family
    for command in commands:
        assert wesaid(*command).code == 0
    assert wesaid("search", "quay").code == 1


def test_a_delete_tells_programs_the_same(wesaid: Run, family: list[str], transcript: Run, tmp_path: Path) -> None:
    """How many messages went, what stays, and the words of the command that brings it back."""
    told = wesaid("delete", MAIN, "--json").json
    assert (told["messages"], told["spawnedStay"]) == (2, {"count": 3, "keys": family})
    assert "again" not in told
    path = transcript(tmp_path / "s-1.jsonl", "a pier")
    wesaid("import", str(path))
    told = wesaid("delete", "s-1", "--json").json
    assert "spawnedStay" not in told
    assert told["again"][0] == "wesaid"
    assert wesaid("search", "pier").code == 1
    assert wesaid(*told["again"][1:]).code == 0
    assert wesaid("search", "pier").code == 0
    told = wesaid("forget", "agent:main:subagent:a", "--json").json
    assert told["spawnedStay"] == {"count": 1, "keys": ["agent:work:subagent:c"]}


def test_one_session_is_not_called_sessions(wesaid: Run, transcript: Run, tmp_path: Path) -> None:
    """Nor are two one."""
    for number in (1, 2):
        wesaid("import", str(transcript(tmp_path / str(number) / f"s-{number}.jsonl", "a pier", session=f"s-{number}")))
    assert "1 session will be deleted for good" in wesaid("forget", "--source", str(tmp_path / "1"), "--yes").err
    wesaid("import", str(transcript(tmp_path / "s-3.jsonl", "a pier", session="s-3")))
    assert "2 sessions will be deleted for good" in wesaid("forget", "--source", str(tmp_path), "--yes").err


# ── rewind and reset ─────────────────────────────────────────────────────────────────────────────────────────────
def test_a_rewind_and_a_reset_tell_programs_what_they_tell_people(wesaid: Run, ferry: Said) -> None:
    """The time in milliseconds, how many messages are hidden, and the words of the command back."""
    told = wesaid("rewind", MAIN, "--to", ferry["move"], "--json").json
    assert told["hiddenMessages"] == 1
    assert told["rewoundAt"] > 1_700_000_000_000
    assert "followsSource" not in told
    assert wesaid("search", "harbour").code == 1
    assert wesaid(*told["undo"][1:]).code == 0
    assert wesaid("search", "harbour").code == 0
    told = wesaid("rewind", MAIN, "--to", ferry["done"], "--json").json
    assert told["hiddenMessages"] == 0
    assert "undo" not in told
    assert wesaid("reset", MAIN, "--json").json["resetAt"] > 1_700_000_000_000


def test_a_rewind_of_an_imported_session_says_whose_word_is_last(wesaid: Run, transcript: Run, tmp_path: Path) -> None:
    """And that is so: when the transcript grows, its own branch goes on."""
    path = transcript(tmp_path / "s-1.jsonl", "a pier", "a quay")
    wesaid("import", str(path))
    ran = wesaid("rewind", "s-1", "--to", "u0")
    assert ran.code == 0
    assert "when its transcript grows" in ran.err
    assert wesaid("search", "quay").code == 1
    transcript(path, "a pier", "a quay", "a mole")
    wesaid("import", str(path))
    assert wesaid("search", "mole").code == 0
    assert wesaid("search", "quay").code == 0
    assert wesaid("rewind", "s-1", "--to", "u0", "--json").json["followsSource"] is True


# ── export ───────────────────────────────────────────────────────────────────────────────────────────────────────
def test_an_export_by_a_session_id_names_the_whole_key(wesaid: Run, transcript: Run, tmp_path: Path) -> None:
    """As every other answer does."""
    wesaid("import", str(transcript(tmp_path / "s-1.jsonl", "a pier")))
    assert wesaid("export", "s-1", "--json").json["sessionKey"] == "agent:claude-code:import:s-1"


# ── import ───────────────────────────────────────────────────────────────────────────────────────────────────────
def test_an_import_names_each_source_that_needs_a_look(
    wesaid: Run, transcript: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a path too, and of many sources too: damaged, pending, ignored; a screen of them at most, and the others are counted."""
    projects = tmp_path / "claude" / "projects"
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    for number in range(60):
        transcript(projects / f"p{number}" / f"s-{number}.jsonl", "a pier", session=f"s-{number}", damage='{"bro' if number % 2 else "")
    with (projects / "p0" / "s-0.jsonl").open("a") as file:
        file.write('{"type": "user", "uu')
    (projects / "p2" / ".wesaidignore").write_text("*\n")
    ran = wesaid("import")
    assert ran.code == 0
    looks = [line.removeprefix("look: ") for line in ran.out.splitlines() if line.startswith("look: ")]
    assert len(looks) == limits.CLI_SOURCES_SHOWN
    assert any(line.endswith("s-1.jsonl: 1 damaged line") for line in looks)
    assert any("s-0.jsonl: " in line and "pending" in line for line in looks)
    assert f"and {32 - limits.CLI_SOURCES_SHOWN} more like these" in ran.out
    for number in range(1, 60, 2):
        transcript(projects / f"p{number}" / f"s-{number}.jsonl", "a pier", session=f"s-{number}")
    assert any("s-2.jsonl: ignored" in line for line in wesaid("import").out.splitlines())


def test_what_was_imported_before_it_was_ignored_stays_and_that_is_said(wesaid: Run, transcript: Run, tmp_path: Path) -> None:
    """With the command that takes it out; nothing is said of an ignored file that was never imported."""
    path = transcript(tmp_path / "logs" / "s-1.jsonl", "a pier")
    wesaid("import", str(tmp_path / "logs"))
    (tmp_path / "logs" / ".wesaidignore").write_text("*.jsonl\n")
    ran = wesaid("import", str(tmp_path / "logs"))
    assert "1 session of ignored files was imported before and stays" in ran.err
    [command] = [line.partition("wesaid forget ")[2] for line in ran.err.splitlines() if "wesaid forget" in line]
    assert command == f"--source {path}"
    assert wesaid("import", str(tmp_path / "logs"), "--json").json["sources"][0]["keptSessions"] == 1
    assert wesaid("search", "pier").code == 0
    assert wesaid("forget", *command.split(), "--yes").code == 0
    assert wesaid("search", "pier").code == 1
    assert "forget" not in wesaid("import", str(tmp_path / "logs")).err


def test_a_file_of_another_tool_than_was_said_has_its_account(wesaid: Run, transcript: Run, tmp_path: Path) -> None:
    """Nothing was imported: exit code 1, and the reason is there."""
    path = transcript(tmp_path / "s-1.jsonl", "a pier")
    for where in (path, tmp_path):
        ran = wesaid("import", str(where), "--from", "codex")
        assert ran.code == 1
        assert "other-format 1" in ran.out
        assert f"look: {path}: other-format" in ran.out
        told = wesaid("import", str(where), "--from", "codex", "--json")
        assert told.code == 1
        assert told.json["totals"]["skipped"] == {"other-format": 1}


# ── waiting ──────────────────────────────────────────────────────────────────────────────────────────────────────
def test_a_person_is_told_what_a_write_waits_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once it takes long, and never when nobody watches."""
    heard = threading.Event()
    said: list[str] = []

    def say(text: str) -> None:
        said.append(text)
        heard.set()

    with note_when_slow(say, seconds=0):
        assert said == []
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with note_when_slow(say, seconds=0):
        assert heard.wait(30)
    assert "another program is writing" in said[0]
    said.clear()
    with note_when_slow(say):
        pass
    assert said == []

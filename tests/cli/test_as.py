"""Claims about ``--as``: the command line asks as a session, sees what it may, and leaves the operator's work to the operator."""

from __future__ import annotations

import pytest

NOTES = "agent:main:notes"
MAIN = "agent:main:main"


@pytest.mark.parametrize("words", [["search", "deploy"], ["history", MAIN], ["show", "x"], ["export", MAIN]], ids=lambda words: words[0])
def test_raw_text_is_refused_to_a_session(wesaid, ferry, words):
    """`--reveal` with `--as` is wrong usage on every command that has both, and prints nothing of the store."""
    ran = wesaid(*words, "--as", NOTES, "--reveal")
    assert (ran.code, ran.out) == (2, "")
    assert "operator" in ran.err


@pytest.mark.parametrize("words", [["search", "deploy"], ["history", MAIN], ["sessions"], ["export", MAIN]], ids=lambda words: words[0])
def test_a_sandbox_without_a_session_is_wrong_usage(wesaid, ferry, words):
    """`--sandboxed` says something about a caller, so there has to be one."""
    assert wesaid(*words, "--sandboxed").code == 2


def test_a_key_that_is_none_is_wrong_usage(wesaid, ferry):
    """It never becomes the operator."""
    for key in ("", "main", "nobody"):
        assert wesaid("search", "deploy", "--as", key).code == 2
        assert wesaid("sessions", "--as", key).code == 2


def test_every_reading_command_asks_as_the_session(wesaid, ferry):
    """What it may not see is nothing found, or exit code 3, and says the same as what is not there."""
    assert wesaid("search", "deploy", "--as", NOTES).code == 0
    assert wesaid("search", "timetable", "--as", NOTES).code == 1
    assert [row["key"] for row in wesaid("sessions", "--as", NOTES, "--json").json["sessions"]] == [NOTES]
    assert wesaid("history", NOTES, "--as", NOTES).code == wesaid("history", "current", "--as", NOTES).code == 0
    for words in (
        ["history", MAIN],
        ["export", MAIN],
        ["show", ferry["move"]],
        ["show", MAIN, ferry["move"]],
        ["search", "deploy", "--session", MAIN],
    ):
        assert wesaid(*words, "--as", NOTES).code == 3
    assert wesaid("show", ferry["banana"], "--as", NOTES).code == 0
    assert wesaid("show", ferry["banana"], "--as", MAIN, "--sandboxed").code == 3
    answer = wesaid("search", "deploy", "--as", MAIN, "--sandboxed", "--json")
    assert (answer.code, answer.json["diagnostics"]["scope"], answer.json["diagnostics"]["sandboxed"]) == (1, "tree", True)


def test_a_session_writes_to_itself_only(wesaid, ferry):
    """Append, rewind and reset; others look absent, also those that it sees."""
    assert wesaid("append", NOTES, "--role", "user", "more", "--as", NOTES).code == 0
    assert wesaid("append", NOTES, "--role", "user", "more", "--as", MAIN).code == 3
    assert wesaid("append", "agent:none:main", "--role", "user", "more", "--as", NOTES).code == 3
    assert wesaid("rewind", NOTES, "--to", ferry["banana"], "--as", MAIN).code == 3
    assert wesaid("reset", NOTES, "--as", MAIN).code == 3
    assert wesaid("rewind", NOTES, "--to", ferry["banana"], "--as", NOTES).code == 0
    assert wesaid("reset", NOTES, "--as", NOTES).code == 0
    assert wesaid("append", "agent:main:subagent:1", "--role", "user", "hi", "--spawned-by", NOTES, "--as", NOTES).code == 0
    assert wesaid("search", "hi", "--as", NOTES).code == 0


def test_the_next_command_asks_as_the_same_session(wesaid, ferry):
    """What is offered to be typed keeps the caller, so that it never shows more."""
    for number in range(3):
        wesaid("append", NOTES, "--role", "user", f"message {number}")
    read_on = wesaid("history", NOTES, "--limit", "2", "--as", NOTES, "--sandboxed").out.splitlines()[-1]
    assert f"--as {NOTES} --sandboxed" in read_on

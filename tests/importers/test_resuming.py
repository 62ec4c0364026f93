"""The command that opens a conversation again: its words, and never one that an id made up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wesaid.importers import resuming


@pytest.mark.parametrize(
    ("tool", "key", "words"),
    [
        ("claude-code", "agent:claude-code:import:x", ("claude", "--resume", "7f3c-1")),
        ("codex", "agent:codex:import:x", ("codex", "resume", "7f3c-1")),
        ("openclaw", "agent:main:telegram:1", ("openclaw", "tui", "--session", "agent:main:telegram:1")),
        ("openclaw", "agent:main:import:x", ()),
        ("gemini", "agent:gemini:import:x", ()),
        (None, "agent:main:main", ()),
    ],
)
def test_each_tool_has_its_own_words(tool: str | None, key: str, words: tuple[str, ...]) -> None:
    """OpenClaw opens by key, and knows none of ours; a tool that nobody asked has no command."""
    assert resuming.resume(tool, "7f3c-1", key) == words


@given(st.sampled_from(["claude-code", "codex", "openclaw"]), st.text(), st.text())
def test_no_id_becomes_an_option_or_anything_that_a_shell_reads(tool: str, session_id: str, rest: str) -> None:
    """For every id and key: the last word is harmless, or there is no command."""
    words = resuming.resume(tool, session_id, f"agent:{rest}")
    assert not words or (words[-1][0].isalnum() and not set(words[-1]) & set(" \t\n'\"`$&|;<>()*?[]{}!#~\\\x00\x1b"))


@pytest.mark.parametrize(
    "session_id", ["--dangerously-skip-permissions", "-p", "", "a b", "$(id)", "a;b", "../x", "a\nb", "x" * 201, "id\n"]
)
def test_an_id_that_is_none_gives_no_command(session_id: str) -> None:
    """Options, paths, what a shell would read, and what has no end."""
    assert resuming.resume("claude-code", session_id, "agent:claude-code:import:x") == ()
    assert resuming.resume("codex", session_id, "agent:codex:import:x") == ()

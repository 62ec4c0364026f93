"""What importers have in common: times, places, and whose a file is."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wesaid.importers import known


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-03-01T10:00:00.000Z", 1772359200000),
        ("2026-03-01T10:00:00+14:00", 1772308800000),
        ("2026-03-01T10:00:00", 1772359200000),
        (1772359200000, 1772359200000),
        (1772359200, 1772359200000),
        (1772359200.5, 1772359200500),
        ("1772359200", 1772359200000),
        ("not a date", None),
        ("", None),
        (True, None),
        (None, None),
        (-5, None),
        (float("nan"), None),
        (float("inf"), None),
        (10**400, None),
        ({"ms": 1}, None),
    ],
)
def test_a_time_is_understood_in_each_form_that_occurs(value: object, expected: int | None) -> None:
    """ISO with and without zone, seconds, milliseconds; anything else is no time, and nothing raises."""
    assert known.moment(value) == expected


@given(st.one_of(st.text(max_size=30), st.integers(), st.floats(), st.none(), st.booleans()))
def test_no_value_makes_the_clock_raise(value: object) -> None:
    """For every value: None, or milliseconds that are a date."""
    found = known.moment(value)
    assert found is None or 0 <= found < 253_402_300_800_000


@pytest.mark.parametrize(
    ("record", "tool"),
    [
        ({"type": "session", "version": 3, "id": "s", "timestamp": 1}, "openclaw"),
        ({"type": "message", "id": "a", "parentId": None, "message": {"role": "user", "content": "x"}}, "openclaw"),
        ({"type": "message", "message": {"role": "user", "content": "x"}}, "openclaw"),
        ({"type": "user", "uuid": "u", "parentUuid": None, "sessionId": "s", "message": {"role": "user", "content": "x"}}, "claude-code"),
        ({"type": "summary", "summary": "x", "leafUuid": "u"}, "claude-code"),
        ({"type": "system", "subtype": "init", "session_id": "s", "uuid": "u"}, "stream-json"),
        ({"display": "x", "pastedContents": {}, "timestamp": 1, "sessionId": "s"}, "prompt-log"),
        ({"timestamp": "2026-03-01T10:00:00Z", "type": "session_meta", "payload": {"id": "x"}}, "codex"),
        ({"timestamp": "2026-03-01T10:00:00Z", "type": "world_state", "payload": {}}, "codex"),
        ({"timestamp": "2026-03-01T10:00:00Z", "type": "something", "payload": {}}, None),
        ({"id": "x", "timestamp": "2025-06-01T00:00:00Z", "instructions": None}, "codex"),
        ({"record_type": "state"}, "codex"),
        ({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "x"}]}, "codex"),
        ({"type": "function_call_output", "call_id": "c", "output": "x"}, "codex"),
        ({"type": "thread.started", "thread_id": "x"}, "stream-json"),
        ({"session_id": "x", "ts": 1747500000, "text": "x"}, "prompt-log"),
        ({"role": "user", "content": "x"}, None),
        ({"type": 5}, None),
    ],
)
def test_a_format_is_told_by_its_records(record: dict[str, object], tool: str | None) -> None:
    """One telling record is enough; what looks like nothing is nothing."""
    assert known.guess([{"other": 1}, record]) == tool


def test_the_places_of_tools_follow_their_variables(tmp_path: Path) -> None:
    """A tool's own variable moves its place; without it the usual folders of the home are meant."""
    usual = known.places({}, tmp_path)
    assert ("claude-code", tmp_path / ".claude" / "projects") in usual
    assert ("openclaw", tmp_path / ".clawdbot" / "agents") in usual
    moved = known.places({"OPENCLAW_STATE_DIR": "/x", "CLAUDE_CONFIG_DIR": "/y", "CODEX_HOME": "/z"}, tmp_path)
    codex = [("codex", Path("/z/sessions")), ("codex", Path("/z/archived_sessions"))]
    assert moved == [("openclaw", Path("/x/agents")), ("claude-code", Path("/y/projects")), *codex]
    assert ("codex", tmp_path / ".codex" / "sessions") in usual

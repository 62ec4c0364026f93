"""Whatever a line holds: reading, navigating, viewing and preparing it never raises, and what comes out can be stored."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wesaid import importers
from wesaid.importers import known, reading
from wesaid.rules.redact import BUILT_IN
from wesaid.service.preparing import prepare

FIELDS = ("type", "id", "parentId", "uuid", "parentUuid", "logicalParentUuid", "timestamp", "message", "isSidechain", "agentId", "sessionId", "targetId",
          "appendParentId", "appendMode", "leafUuid", "summary", "customTitle", "name", "cwd", "origin", "toolUseResult", "role", "content", "text",
          "source", "data", "model", "parentSession", "gitBranch", "payload", "item", "turn_id", "num_turns", "ordinal", "history_base", "thread_id",
          "end_ordinal_exclusive", "forked_from_id", "subagent", "thread_spawn", "depth", "record_type", "call_id", "output")  # fmt: skip
TYPES = ("message", "user", "assistant", "session", "leaf", "reset", "label", "summary", "system", "attachment", "session_info", "custom-title", "tool_result",
         "text", "image", "tool_use", "thinking", "side", "session_meta", "response_item", "event_msg", "user_message", "agent_message", "item_completed",
         "UserMessage", "thread_rolled_back", "compacted", "turn_context", "function_call", "function_call_output", "input_text", "a", "b", "c", "", " ", "a\x00b", "\ud83d", "2026-03-01T10:00:00Z")  # fmt: skip
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.sampled_from(TYPES), st.text(max_size=5))
VALUES = st.recursive(
    LEAVES, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(FIELDS), inner, max_size=5)), max_leaves=12
)
RECORDS = st.lists(st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=8), max_size=6)


def through(tool: str, records: list[dict[str, Any]]) -> None:
    dialect = importers.DIALECTS[tool]
    source = dialect.source("/p/x.jsonl", records, "main")
    assert known.guess(records) in (None, "openclaw", "claude-code", "codex", "stream-json", "prompt-log")
    reader = dialect.reader(source, None, 5)
    for record in records:
        slot, event = reader.read(record)
        prepared = prepare(BUILT_IN, tool, event)
        prepared.body.decode()
        assert "\x00" not in f"{event.nav.id}{event.nav.parent}{event.nav.target}{event.type}{reader.told[slot].key}"
        assert 0 <= event.timestamp < 253_402_300_800_000
    again = dialect.reader(source, json.loads(msgspec.json.encode(reader.state())), 5)
    assert again.state() == reader.state()


@pytest.mark.parametrize("tool", sorted(importers.DIALECTS))
@settings(max_examples=60)
@given(records=RECORDS)
def test_no_record_raises(tool: str, records: list[dict[str, Any]]) -> None:
    """For every list of JSON objects, as a parser gives them: events with ids and times that can be stored, and a state that survives JSON."""
    found, _ = reading.parse("".join(json.dumps(record) for record in records)) if records else ([], 0)
    through(tool, [record for record in found if isinstance(record, dict)])


@pytest.mark.parametrize("depth", [100, 400, 900, 2000])
@pytest.mark.parametrize("tool", sorted(importers.DIALECTS))
def test_nesting_without_end_is_survived(tool: str, depth: int) -> None:
    """A record as deep as a parser will go is stored or is damage; nothing in between."""
    text = '{"type":"message","id":"a","message":{"role":"user","content":' + "[" * depth + "]" * depth + "}}"
    found, damaged = reading.parse(text)
    assert len(found) + damaged == 1
    through(tool, found)

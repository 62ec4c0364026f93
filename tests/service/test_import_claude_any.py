"""Any file of Claude Code's lines, however they hang and in however many pieces they are read, is imported as the whole file is."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pacing import bring_by_lines
from wesaid.service import importing, opening
from wesaid.service.opening import Home
from wesaid.service.preparing import words_of
from wesaid.values import EVERYTHING

KINDS = (
    "user",
    "queued",
    "meta",
    "text",
    "call",
    "thinking",
    "result",
    "enqueue",
    "dequeue",
    "remove",
    "popAll",
    "attachment",
    "hook",
    "error",
    "side",
    "title",
)
STEP = st.tuples(
    st.sampled_from(KINDS), st.integers(0, 3), st.integers(0, 5), st.integers(0, 2)
)  # kind, how far back the parent is, word, API id


def uuid(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012d}"


def made(steps: list[tuple[str, int, int, int]]) -> list[dict[str, Any]]:
    """Lines whose parents are recent ones, one that was never written now and then, or none."""
    lines: list[dict[str, Any]] = []
    ids: list[str | None] = [None]
    for number, (kind, back, word, api) in enumerate(steps):
        text = f"word{word}"
        parent = "never-written" if back == 3 and word == 5 else ids[max(-1 - back, -len(ids))]
        base = {"uuid": uuid(number), "parentUuid": parent, "sessionId": "s1", "timestamp": f"2026-03-01T10:00:{number:02}Z"}
        user = {**base, "type": "user", "message": {"role": "user", "content": text}}
        blocks = {"text": {"type": "text", "text": text}, "thinking": {"type": "thinking", "thinking": "shrike"},
                  "call": {"type": "tool_use", "id": "t", "name": "Task", "input": {"prompt": text, "description": "shrike"}}}  # fmt: skip
        reply = {"role": "assistant", "id": f"m{number // 6}-{api}", "content": [blocks.get(kind, blocks["text"])]}
        queue = {"type": "queue-operation", "operation": kind, "sessionId": "s1", **({} if back == 3 else {"content": text})}
        held = {"type": "queued_command", "prompt": text} if kind == "attachment" else {"type": "hook_success", "content": "shrike"}
        lines.append(
            {
                "user": user,
                "queued": {**user, "promptSource": "queued"},
                "meta": {**user, "isMeta": True},
                "result": {
                    **user,
                    "toolUseResult": {},
                    "message": {"role": "user", "content": [{"type": "tool_result", "content": "shrike"}]},
                },
                "side": {**user, "isSidechain": True, **({"agentId": "x"} if api else {})},
                "error": {**base, "type": "system", "subtype": "api_error"},
                "title": {"type": "summary", "summary": text, "leafUuid": parent or "none"},
                **{key: {**base, "type": "assistant", "message": reply} for key in ("text", "call", "thinking")},
                **{key: {**base, "type": "attachment", "attachment": held} for key in ("attachment", "hook")},
            }.get(kind, queue)
        )
        ids += [] if kind in ("side", "title") or lines[-1] is queue else [uuid(number)]
    return lines


def said(home: Home) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for agent in home.engine.agents():
        with home.store(agent).reading() as view:
            for row in view.sessions(EVERYTHING):
                rows = [each for window in view.windows(row.facts.key) for each in view.path(window.window, start=0, count=1000)]
                found[row.facts.key] = [words.text for each in rows if (words := words_of(home.redactor, row.facts.dialect, each))]
    return found


def bring(home: Home, path: Path, lines: list[str]) -> dict[str, Any]:
    path.write_text("".join(lines))
    account = importing.import_paths(home, [path]).as_json()
    assert not account.get("failed")
    return dict(account["totals"])


@settings(max_examples=60, deadline=None)
@given(steps=st.lists(STEP, min_size=1, max_size=30), cuts=st.lists(st.integers(1, 30), max_size=3))
def test_any_file_in_any_pieces_says_what_the_whole_file_says(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int, int, int]], cuts: list[int]
) -> None:
    """For every sequence of lines and set of cuts: no failure, the same visible words in every session, none of a tool's, nothing new the second time."""
    path = tmp_path_factory.mktemp("any") / "s1.jsonl"
    lines = [json.dumps(line) + "\n" for line in made(steps)]
    with opening.memory_home() as home:
        bring(home, path, lines)
        whole = said(home)
        again = bring(home, path, lines)
        os.utime(path, (1, 1))
        importing.import_paths(home, [path])
        assert (again["imported"], again["updated"], said(home)) == (0, 0, whole)
    assert not any("shrike" in text for texts in whole.values() for text in texts)
    with opening.memory_home() as home:
        for cut in [*sorted(min(cut, len(lines)) for cut in cuts), len(lines)]:
            bring(home, path, lines[:cut])
        assert said(home) == whole


@settings(max_examples=40, deadline=None)
@given(steps=st.lists(STEP, min_size=1, max_size=20), cut=st.integers(1, 20))
def test_any_file_that_is_read_line_by_line_says_what_the_whole_file_says(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int, int, int]], cut: int
) -> None:
    """For every sequence of lines: searches that have time for one line each come to what one import comes to, also as the file grows."""
    path = tmp_path_factory.mktemp("any") / "s1.jsonl"
    lines = [json.dumps(line) + "\n" for line in made(steps)]
    with opening.memory_home() as home:
        bring(home, path, lines)
        whole = said(home)
    with opening.memory_home() as home:
        path.write_text("".join(lines[:cut]))
        bring_by_lines(home, path)
        path.write_text("".join(lines))
        bring_by_lines(home, path)
        assert said(home) == whole
        assert bring(home, path, lines)["imported"] == 0

"""Calls and results of tools in `history --include-tools` and `show`: as people read them, whatever tool wrote them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
KEY_ID = "AKIAQWERTYUIOPASDFGH"
WHEN = "2026-03-01T10:00:0{}.000Z"


def claude() -> list[dict[str, Any]]:
    common = {"sessionId": "s-1", "isSidechain": False, "cwd": "/srv/ferry"}
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls harbour", "key": KEY_ID}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "boats\npiers", "is_error": True}
    said = [
        ("user", "list the harbour"),
        ("assistant", [call]),
        ("user", [result]),
        ("assistant", [{"type": "text", "text": "two things"}]),
    ]
    return [
        {**common, "type": role, "uuid": f"u{n}", "parentUuid": f"u{n - 1}" if n else None, "timestamp": WHEN.format(n)}
        | {"message": {"role": role, "content": content}}
        for n, (role, content) in enumerate(said)
    ]


def codex() -> list[dict[str, Any]]:
    def item(n: int, **payload: Any) -> dict[str, Any]:
        return {"timestamp": WHEN.format(n), "type": "response_item", "payload": payload}

    return [
        {"timestamp": WHEN.format(0), "type": "session_meta", "payload": {"id": "c-1", "timestamp": WHEN.format(0), "cwd": "/srv/ferry"}},
        item(1, type="message", role="user", content=[{"type": "input_text", "text": "list the harbour"}]),
        item(2, type="function_call", name="Bash", call_id="t1", arguments=json.dumps({"command": "ls harbour", "key": KEY_ID})),
        item(3, type="function_call_output", call_id="t1", output="boats\npiers"),
        item(4, type="message", role="assistant", content=[{"type": "output_text", "text": "two things"}]),
    ]


def openclaw() -> list[dict[str, Any]]:
    call = {"type": "toolCall", "id": "t1", "name": "Bash", "arguments": {"command": "ls harbour", "key": KEY_ID}}
    gave = {"role": "toolResult", "toolCallId": "t1", "toolName": "Bash", "content": [{"type": "text", "text": "boats\npiers"}]}
    said = [
        {"role": "user", "content": "list the harbour"},
        {"role": "assistant", "content": [call]},
        gave,
        {"role": "assistant", "content": [{"type": "text", "text": "two things"}]},
    ]
    return [
        {"type": "session", "id": "o-1", "version": 3, "timestamp": WHEN.format(0), "cwd": "/srv/ferry"},
        *(
            {"type": "message", "id": f"m{n}", "parentId": f"m{n - 1}" if n else None, "timestamp": WHEN.format(n + 1), "message": message}
            for n, message in enumerate(said)
        ),
    ]


@pytest.fixture(params=[claude, codex, openclaw], ids=["claude-code", "codex", "openclaw"])
def session(request: pytest.FixtureRequest, wesaid: Run, tmp_path: Path) -> str:
    """The key of an imported session in which a tool was called."""
    path = tmp_path / "s-1.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in request.param()))
    ran = wesaid("import", str(path))
    assert ran.code == 0, ran
    [row] = wesaid("sessions", "--json").json["sessions"]
    return str(row["key"])


def test_history_shows_calls_with_arguments_and_results(wesaid: Run, session: str) -> None:
    """No row of a page is blank; a secret is redacted; the line of facts does not count rows as messages."""
    ran = wesaid("history", session, "--include-tools")
    lines = ran.out.splitlines()
    call = next(line for line in lines if line.startswith("  calls Bash "))
    assert "ls harbour" in call
    assert KEY_ID not in ran.out
    assert "[redacted:" in call
    assert "  boats" in lines
    assert "  piers" in lines
    assert "of 2 messages" not in lines[0]
    assert "4 rows" in lines[0]
    assert "2 messages" in lines[0]
    heads = [at for at, line in enumerate(lines) if at > 1 and not lines[at - 1] and line and not line.startswith(("Read", "Long"))]
    assert len(heads) >= 3
    assert all(lines[at + 1].strip() for at in heads)
    plain = wesaid("history", session)
    assert plain.out.splitlines()[0].endswith("2 of 2 messages")
    assert "calls" not in plain.out


def test_show_prints_a_call_and_a_result(wesaid: Run, session: str) -> None:
    """Whole; by the ids that --json gives."""
    rows = wesaid("history", session, "--include-tools", "--json").json["messages"]
    shown = [wesaid("show", session, row["messageId"]).out for row in rows]
    assert any("calls Bash" in text and "ls harbour" in text for text in shown)
    assert any("  boats\n  piers" in text for text in shown)
    assert all(len(text.rstrip("\n").split("\n")) > 2 for text in shown)


def test_a_long_call_is_cut_in_history_and_whole_when_shown(wesaid: Run, tmp_path: Path) -> None:
    """What is bounded is what is on a page."""
    lines = claude()
    lines[1]["message"]["content"][0]["input"] = {"command": "begin " + "harbour " * 300 + "end"}
    lines[1]["message"]["content"].append({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD" * 20}})
    path = tmp_path / "s-1.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    wesaid("import", str(path))
    call = next(line for line in wesaid("history", "s-1", "--include-tools").out.splitlines() if "calls Bash" in line)
    assert len(call) < 450
    assert call.endswith("…")
    assert 'end"}' in wesaid("show", "u1").out


def test_a_page_around_a_message_leads_to_both_sides(wesaid: Run, ferry: dict[str, str]) -> None:
    """As large as it was, and without a gap: the whole session is walked either way."""
    ids = [wesaid("append", "agent:main:long", "--role", "user", f"boat {n}", "--json").json["messageId"] for n in range(30)]
    ran = wesaid("history", "agent:main:long", "--around", ids[15], "--before", "2", "--after", "1")
    seen = set[str]()
    for lead in ("Read on: wesaid ", "Read on, newer: wesaid "):
        page = ran
        while True:
            seen |= {name for name in ids if name in page.out}
            line = next((line for line in page.out.splitlines() if line.startswith(lead)), None)
            if line is None:
                break
            words = line.removeprefix(lead).split()
            assert words[-2:] == ["--limit", "4"] or "--limit 4" in line
            page = wesaid(*words)
            assert page.code == 0
    assert seen == set(ids)

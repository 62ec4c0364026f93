"""``resume`` in results and lists: the command that opens a session again in its tool, for what is there and may be seen."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from wesaid.service import importing, listing, methods, opening, searching, wire, writing
from wesaid.service.opening import Home
from wesaid.values import OPERATOR, Caller


@pytest.fixture(params=["memory", "sqlite"])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Home]:
    with opening.memory_home() if request.param == "memory" else opening.open_home(tmp_path / "home", environ={}) as made:
        yield made


def line(session: str, name: str, text: str, **more: Any) -> str:
    record = {"type": "user", "uuid": name, "parentUuid": None, "sessionId": session, "cwd": "/home/mai/ferry", **more}
    return json.dumps(record | {"message": {"role": "user", "content": text}}) + "\n"


def commands(home: Home, query: str, caller: Caller = OPERATOR) -> list[Any]:
    page = wire.page_json(searching.search(home, caller, methods.SearchParams(query=query)))
    return [hit.get("resume") for hit in page["results"]]


def listed(home: Home, caller: Caller = OPERATOR) -> dict[str, Any]:
    rows = wire.sessions_json(listing.sessions(home, caller, methods.ListParams()))["sessions"]
    return {row["key"]: row.get("resume") for row in rows}


def test_a_session_of_claude_code_is_resumed_by_its_id_and_a_subagent_by_its_parent(home: Home, tmp_path: Path) -> None:
    """In search and list alike; a session of wesaid's own has nothing to be resumed in."""
    file = tmp_path / "one.jsonl"
    side = line("one", "b", "a seal dives", isSidechain=True, agentId="x1")
    file.write_text(line("one", "a", "the ferry leaves") + side, encoding="utf-8")
    importing.import_paths(home, [file])
    writing.append(home, OPERATOR, "agent:main:main", [{"role": "user", "text": "a ferry of our own"}])
    command = ["claude", "--resume", "one"]
    assert commands(home, "leaves") == [command]
    assert commands(home, "seal") == [command]
    assert commands(home, "own") == [None]
    assert listed(home) == {
        "agent:claude-code:import:one": command,
        "agent:claude-code:subagent:x1": command,
        "agent:main:main": None,
    }


def test_who_may_not_see_the_parent_is_not_told_its_id(home: Home, tmp_path: Path) -> None:
    """A subagent sees itself, and not what spawned it."""
    file = tmp_path / "one.jsonl"
    side = line("one", "b", "a seal dives", isSidechain=True, agentId="x1")
    file.write_text(line("one", "a", "the ferry leaves") + side, encoding="utf-8")
    importing.import_paths(home, [file])
    caller = Caller("agent:claude-code:subagent:x1")
    assert commands(home, "seal", caller) == [None]
    assert listed(home, caller) == {"agent:claude-code:subagent:x1": None}
    assert commands(home, "leaves", Caller("agent:claude-code:import:one")) == [["claude", "--resume", "one"]]


def test_what_is_gone_cannot_be_resumed(home: Home, tmp_path: Path) -> None:
    """The words stay found, the command goes with the file."""
    file = tmp_path / "one.jsonl"
    file.write_text(line("one", "a", "the ferry leaves"), encoding="utf-8")
    importing.import_paths(home, [file])
    file.unlink()
    assert commands(home, "ferry") == [None]
    assert listed(home) == {"agent:claude-code:import:one": None}


@pytest.mark.parametrize("session", ["--dangerously-skip-permissions", "a b", "$(touch x)", "x;y"])
def test_an_id_that_is_no_id_gives_no_command(home: Home, tmp_path: Path, session: str) -> None:
    """Transcripts are other people's: what they call a session becomes no option and nothing that a shell reads."""
    file = tmp_path / "one.jsonl"
    file.write_text(line(session, "a", "the ferry leaves"), encoding="utf-8")
    importing.import_paths(home, [file])
    assert commands(home, "ferry") == [None]


def test_openclaw_opens_a_session_by_its_key(home: Home, tmp_path: Path) -> None:
    """One that its own list names; a transcript that it does not know has no command."""
    folder = tmp_path / "agents" / "main" / "sessions"
    folder.mkdir(parents=True)
    for name, text in (("a", "the ferry leaves"), ("b", "an otter swims")):
        said = {"type": "message", "id": name, "message": {"role": "user", "content": text}}
        (folder / f"{name}.jsonl").write_text(
            json.dumps({"type": "session", "id": name}) + "\n" + json.dumps(said) + "\n", encoding="utf-8"
        )
    (folder / "sessions.json").write_text(json.dumps({"agent:main:telegram:1": {"sessionId": "a"}}), encoding="utf-8")
    importing.import_paths(home, [tmp_path / "agents"])
    assert commands(home, "ferry") == [["openclaw", "tui", "--session", "agent:main:telegram:1"]]
    assert commands(home, "otter") == [None]

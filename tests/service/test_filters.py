"""``tool`` and ``project``: the same filter by parameter, by field and in lists, and an answer that says why nothing passed it (field report B114)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from wesaid.service import listing, methods, opening, searching, wire
from wesaid.service.opening import Home
from wesaid.service.preparing import prepare
from wesaid.values import OPERATOR, Caller, Event, Facts, Nav, NavKind

SESSIONS = {
    "a": ("claude-code", "/work/ferry"),
    "b": ("claude-code", "/work/ferry/web"),
    "c": ("codex", "/work/ferryman"),
    "d": ("codex", r"C:\Work\Ferry"),
    "e": (None, None),
}


@pytest.fixture(params=["memory", "sqlite"])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Home]:
    with opening.memory_home() if request.param == "memory" else opening.open_home(tmp_path / "home", environ={}) as made:
        with made.new_store("main").writing() as writer:
            for name, (tool, project) in SESSIONS.items():
                key = f"agent:main:import:{name}"
                record = {"type": "message", "id": name, "message": {"role": "user", "content": f"pelican {name}"}}
                nav = Nav(kind=NavKind.ENTRY, id=name, has_message=True)
                writer.create(Facts(key=key, session_id=name, tool=tool, project=project))
                writer.append(key, [prepare(made.redactor, "openclaw", Event(nav=nav, type="message", timestamp=1, record=record))])
        yield made


def searched(home: Home, query: str = "pelican", caller: Caller = OPERATOR, **more: Any) -> tuple[str, str | None]:
    answer = wire.page_json(searching.search(home, caller, methods.convert(methods.SearchParams, {"query": query, **more})))
    return "".join(sorted(hit["messageId"] for hit in answer["results"])), answer["diagnostics"].get("hint")


def listed(home: Home, caller: Caller = OPERATOR, **more: Any) -> tuple[str, str | None]:
    answer = wire.sessions_json(listing.sessions(home, caller, methods.convert(methods.ListParams, more)))
    return "".join(sorted(row["sessionId"] for row in answer["sessions"])), answer.get("hint")


@pytest.mark.parametrize(
    ("tool", "project", "found"),
    [
        ("claude-code", None, "ab"),
        ("codex", None, "cd"),
        (None, "/work/ferry", "ab"),
        (None, "/work/ferry/", "ab"),
        (None, "/work/ferry/web", "b"),
        (None, "/work", "abc"),
        (None, "/", "abc"),
        (None, "c:/work", "d"),
        (None, "C:\\work\\ferry\\", "d"),
        ("codex", "/work", "c"),
    ],
)
def test_every_way_to_filter_finds_the_same(home: Home, tool: str | None, project: str | None, found: str) -> None:
    """Parameters of search and list, and fields of the query; a folder is the prefix by whole names."""
    asked = {name: value for name, value in (("tool", tool), ("project", project)) if value}
    fields = " ".join(f"{name}:{value}" for name, value in asked.items())
    assert searched(home, **asked) == (found, None)
    assert searched(home, f"pelican {fields}") == (found, None)
    assert listed(home, **asked) == (found, None)


def test_a_tool_that_nobody_has_is_answered_with_those_that_there_are(home: Home) -> None:
    """In search and list."""
    for hits, hint in (searched(home, tool="gemini"), searched(home, "pelican tool:gemini"), listed(home, tool="gemini")):
        assert hits == ""
        assert hint == "no session of tool 'gemini' that you may see; there are sessions of claude-code, codex"


def test_a_project_that_nobody_has_is_said_to_be_so(home: Home) -> None:
    """Also one that only another tool has."""
    for ask in (searched, listed):
        hits, hint = ask(home, project="/work/fer")
        assert (hits, str(hint).partition(";")[0]) == ("", "no session in project '/work/fer' that you may see")
        assert ask(home, tool="codex", project="/work/ferry/web") == ("", "no session of that tool in that project that you may see")


def test_the_answer_names_no_tool_that_only_hidden_sessions_have(home: Home) -> None:
    """What a caller may see decides, here too."""
    caller = Caller("agent:main:import:a")
    for hits, hint in (searched(home, caller=caller, tool="codex"), listed(home, caller, tool="codex")):
        assert (hits, hint) == ("", "no session of tool 'codex' that you may see; there are sessions of claude-code")
    for hits, hint in (searched(home, caller=caller, project="/work/ferryman"), listed(home, caller, project="/work/ferryman")):
        assert hits == ""
        assert str(hint).startswith("no session in project '/work/ferryman' that you may see")


def test_a_secret_in_a_filter_is_not_said_again(home: Home) -> None:
    """Hints name what was asked, redacted."""
    secret = "sk-ant-api03-" + "a1B2" * 20
    for ask in (searched, listed):
        for name in ("tool", "project"):
            assert "a1B2" not in str(ask(home, **{name: f"/x/{secret}"}))

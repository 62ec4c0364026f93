"""What a search does about transcripts that go on (promises search.fresh, search.resume, search.filters), through the service."""

from __future__ import annotations

import json
from pathlib import Path

from contract.promises import promise
from wesaid.service import importing, listing, methods, opening, searching, wire
from wesaid.service.opening import Home
from wesaid.values import OPERATOR

SESSION = "7f3c9a10-52d4-4e8b-9b1d-000000000009"


def line(number: int, text: str) -> str:
    record = {
        "type": "user",
        "uuid": f"u{number}",
        "parentUuid": f"u{number - 1}" if number else None,
        "sessionId": SESSION,
        "cwd": "/work/ferry",
    }
    return json.dumps(record | {"message": {"role": "user", "content": text}}) + "\n"


def ask(home: Home, query: str, **more: object) -> dict[str, object]:
    return wire.page_json(searching.search(home, OPERATOR, methods.convert(methods.SearchParams, {"query": query, **more})))


def ids(answer: dict[str, object]) -> list[str]:
    results = answer["results"]
    assert isinstance(results, list)
    return [hit["messageId"] for hit in results]


@promise("search.fresh")
def test_a_line_that_a_program_has_just_written_is_found(tmp_path: Path) -> None:
    """By the search after it, in a home that another process imported into (field report B115)."""
    file = tmp_path / "one.jsonl"
    file.write_text(line(0, "the ferry leaves"), encoding="utf-8")
    with opening.open_home(tmp_path / "home", environ={}) as home:
        importing.import_paths(home, [file])
    with file.open("a", encoding="utf-8") as stream:
        stream.write(line(1, "a pelican came"))
    with opening.open_home(tmp_path / "home", environ={}) as home:
        answer = ask(home, "pelican")
    assert ids(answer) == ["u1"]
    assert "sourcesBehind" not in json.dumps(answer["diagnostics"])


@promise("search.resume")
def test_a_result_says_how_its_session_is_opened_again(tmp_path: Path) -> None:
    """As a list of words, which no shell has to take apart."""
    file = tmp_path / f"{SESSION}.jsonl"
    file.write_text(line(0, "the ferry leaves"), encoding="utf-8")
    with opening.open_home(tmp_path / "home", environ={}) as home:
        importing.import_paths(home, [file])
        [hit] = ask(home, "ferry")["results"]  # type: ignore[misc]
    assert hit["resume"] == ["claude", "--resume", SESSION]


@promise("search.filters")
def test_tool_and_project_narrow_and_an_empty_answer_says_so(tmp_path: Path) -> None:
    """By parameter and by field, in search and list."""
    file = tmp_path / "one.jsonl"
    file.write_text(line(0, "the ferry leaves"), encoding="utf-8")
    with opening.open_home(tmp_path / "home", environ={}) as home:
        importing.import_paths(home, [file])
        assert (
            ids(ask(home, "ferry", tool="claude-code", project="/work")) == ids(ask(home, "ferry tool:claude-code project:/work")) == ["u0"]
        )
        for query, more in (("ferry", {"tool": "codex"}), ("ferry tool:codex", {})):
            answer = ask(home, query, **more)
            assert ids(answer) == []
            assert "no session of tool 'codex' that you may see; there are sessions of claude-code" in json.dumps(answer["diagnostics"])
        listed = wire.sessions_json(listing.sessions(home, OPERATOR, methods.convert(methods.ListParams, {"project": "/wor"})))
        assert (listed["sessions"], "no session in project" in listed["hint"]) == ([], True)

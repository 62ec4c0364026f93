"""What an import brings in, what it leaves out and what it says of that (promises import.*)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import wesaid
from contract.doors import Door, bring_in
from contract.promises import promise
from wesaid.cli.program import program
from wesaid.service import importing, opening
from wesaid.values import Caller

FIXTURES = Path(__file__).parents[1] / "fixtures"
Import = Callable[[Path, Path], Mapping[str, Any]]


def by_service(home: Path, path: Path) -> Mapping[str, Any]:
    with opening.open_home(home) as opened:
        return importing.import_paths(opened, [path]).as_json()


def by_python(home: Path, path: Path) -> Mapping[str, Any]:
    with wesaid.open(home) as store:
        return store.import_paths([path]).as_json()


def by_command_line(home: Path, path: Path) -> Mapping[str, Any]:
    ran = CliRunner().invoke(program, ["import", str(path), "--json", "--home", str(home)])
    assert ran.exit_code == 0, ran.output
    return dict(json.loads(ran.stdout))


through_every_door = pytest.mark.parametrize("bring", [by_service, by_python, by_command_line], ids=["service", "python", "command line"])


def said(number: int, text: str, session: str = "pier") -> str:
    """A line of Claude Code."""
    record = {
        "type": "user",
        "uuid": f"{session}-{number}",
        "parentUuid": f"{session}-{number - 1}" if number else None,
        "sessionId": session,
    }
    record |= {"cwd": "/work", "isSidechain": False, "timestamp": f"2026-01-05T08:00:{number:02}.000Z"}
    return json.dumps(record | {"message": {"role": "user", "content": text}}) + "\n"


@promise("import.account")
@through_every_door
def test_the_account_counts_every_message_once(bring: Import, home: Path, tmp_path: Path) -> None:
    """Damage, a copy and a half written line included; what was pending is imported when it is whole, and then all is unchanged."""
    folder = tmp_path / "logs"
    folder.mkdir()
    last = said(3, "the last ferry")
    (folder / "pier.jsonl").write_text(said(0, "the first ferry") + '{"type": "us\n' + said(2, "the next ferry") + last[:40])
    (folder / "copy.jsonl").write_text(said(0, "the first ferry"))
    first = bring(home, folder)
    totals = first["totals"]
    assert (totals["imported"], totals["skipped"], totals["damagedLines"], totals["pending"]) == (2, {"copy": 1}, 1, 1)
    for figures in (totals, *first["sources"]):
        assert figures["found"] == figures["imported"] + figures["updated"] + figures["unchanged"] + sum(figures["skipped"].values())
    assert {(Path(source["path"]).name, source["tool"], source["agentId"]) for source in first["sources"]} == {
        ("copy.jsonl", "claude-code", "claude-code"),
        ("pier.jsonl", "claude-code", "claude-code"),
    }

    (folder / "pier.jsonl").write_text(said(0, "the first ferry") + '{"type": "us\n' + said(2, "the next ferry") + last)
    grown = bring(home, folder)["totals"]
    assert (grown["imported"], grown["unchanged"], grown["pending"]) == (1, 2, 0)
    again = bring(home, folder)["totals"]
    assert (again["found"], again["imported"], again["updated"], again["unchanged"]) == (4, 0, 0, 3)


@promise("import.places")
def test_each_conversation_lands_where_its_tool_and_id_say(door: Door, home: Path) -> None:
    """Claude Code's and Codex's under agents of their own, subagents below their session, OpenClaw's under its keys, a lone file under `main`."""
    bring_in(home, FIXTURES / "claude" / "subagents", "claude-code")
    bring_in(home, FIXTURES / "codex" / "compacted.jsonl", "codex")
    bring_in(home, FIXTURES / "tree" / "linear.jsonl", "openclaw")
    bring_in(home, FIXTURES / "openclaw-state" / "file-era", "openclaw")
    rows = {row["key"]: row for row in door.listed(limit=50)["sessions"]}
    assert {"agent:claude-code:import:cc1", "agent:main:import:s1", "agent:main:main", "agent:main:import:orphan-unreferenced"} <= set(rows)
    assert len([key for key in rows if key.startswith("agent:codex:import:")]) == 1
    assert rows["agent:claude-code:subagent:abc1234"]["spawnedBy"] == "agent:claude-code:import:cc1"
    child = rows["agent:main:subagent:00000000-0000-4000-8000-000000001002"]
    assert (child["spawnedBy"], child["kind"]) == ("agent:main:main", "subagent")


@promise("import.left-out")
def test_what_is_to_be_left_out_is_neither_found_nor_shown(door: Door, home: Path, tmp_path: Path) -> None:
    """A file by a rule, a session by its mark, a passage by its tags; the account counts the first two."""
    folder = tmp_path / "logs"
    (folder / "secret").mkdir(parents=True)
    (folder / ".wesaidignore").write_text("secret/\n")
    (folder / "secret" / "a.jsonl").write_text(said(0, "harbour ignoredword", "a"))
    (folder / "b.jsonl").write_text(said(0, "harbour markedword", "b") + said(1, "stop <!-- wesaid: do not index -->", "b"))
    (folder / "c.jsonl").write_text(said(0, "harbour <private>passageword</private> light", "c"))
    account = by_service(home, folder)
    assert account["totals"]["skipped"] == {"do-not-index": 2, "ignored": 1}
    assert [hit["sessionKey"] for hit in door.search("harbour")["results"]] == ["agent:claude-code:import:c"]
    shown = [door.search("ignoredword OR markedword OR passageword OR harbour"), door.listed(), door.history("agent:claude-code:import:c")]
    shown.append(door.exported("agent:claude-code:import:c"))
    assert not [word for word in ("ignoredword", "markedword", "passageword") if word in json.dumps(shown)]


@promise("import.stays")
def test_what_was_imported_outlives_its_file(door: Door, home: Path, tmp_path: Path) -> None:
    """Found as before; the operator's list says that the file is gone, a session's names no path (field report B56)."""
    file = tmp_path / "pier.jsonl"
    file.write_text(said(0, "the first ferry"))
    bring_in(home, file, "claude-code")
    file.unlink()

    [hit] = door.search("ferry")["results"]
    assert "resume" not in hit
    assert [message["text"] for message in door.history(hit["sessionKey"])["messages"]] == ["the first ferry"]
    [row] = door.listed()["sessions"]
    assert row["source"] == {"path": str(file), "missing": True}
    [own] = door.listed(caller=Caller(hit["sessionKey"]))["sessions"]
    assert str(file) not in json.dumps(own)

"""Transcripts in: what each file gives, what a second time gives, and what happens when something goes wrong."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from wesaid import limits
from wesaid.errors import InputError
from wesaid.service import history, importing, opening, searching
from wesaid.service.methods import HistoryParams, SearchParams
from wesaid.service.opening import Home
from wesaid.values import EVERYTHING, OPERATOR, Hit, SessionRow

FIXTURES = Path(__file__).parents[1] / "fixtures"
EXPECTED: dict[str, dict[str, Any]] = json.loads((FIXTURES / "expected.json").read_text(encoding="utf-8"))
CASES = [name for name in EXPECTED if name.split("/")[0] in ("tree", "jsonl", "claude", "codex") and name.count("/") == 1]
NOBODY = 65534
TOOLS = {"claude": "claude-code", "codex": "codex"}  # of a fixture folder; the others are OpenClaw's


@pytest.fixture(params=["memory", "sqlite"])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Home]:
    with opening.memory_home() if request.param == "memory" else opening.open_home(tmp_path / "home") as made:
        yield made


@pytest.fixture
def plain() -> Iterator[Home]:
    with opening.memory_home() as made:
        yield made


def bring(home: Home, path: Path | str, **how: Any) -> dict[str, Any]:
    totals: dict[str, Any] = importing.import_paths(home, [path], **how).as_json()["totals"]
    assert totals["found"] == totals["imported"] + totals["updated"] + totals["unchanged"] + sum(totals["skipped"].values())
    return totals


def sessions(home: Home) -> dict[str, SessionRow]:
    found = {}
    for agent in home.engine.agents():
        with home.store(agent).reading() as view:
            found |= {row.facts.key: row for row in view.sessions(EVERYTHING)}
    return found


def visible(home: Home, key: str) -> list[str | None]:
    with home.store(key.split(":")[1]).reading() as view:
        return [row.id for window in view.windows(key) for row in view.path(window.window, start=0, count=1000)]


def hits(home: Home, query: str) -> list[Hit]:
    return list(searching.search(home, OPERATOR, SearchParams(query=query)).hits)


def message(name: str, parent: str | None, text: str, role: str = "user", **more: Any) -> str:
    record = {"type": "message", "id": name, "parentId": parent, "timestamp": 1772359200000, "message": {"role": role, "content": text}}
    return json.dumps({**record, **more}) + "\n"


def header(name: str) -> str:
    return json.dumps({"type": "session", "version": 3, "id": name, "timestamp": "2026-03-01T10:00:00.000Z", "cwd": "/w/demo"}) + "\n"


CHAT = (
    header("s9")
    + message("a", None, "alpha albatross")
    + message("b", "a", "beta bittern", "assistant")
    + message("c", "b", "gamma gannet")
)


# ── what a file gives ────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("name", CASES)
def test_each_file_gives_what_is_expected(home: Home, name: str) -> None:
    """Messages, damage, visible path, title and hits of every minimal file (field reports B40, B41, B43, B44, B45, B50, B63, B65)."""
    expected = EXPECTED[name]
    totals = bring(home, FIXTURES / name, tool=TOOLS.get(name.split("/", maxsplit=1)[0], "openclaw"))
    rows = sessions(home)
    assert sum(row.message_count for row in rows.values()) == expected.get("messages", sum(row.message_count for row in rows.values()))
    assert (totals["damagedLines"], totals["pending"]) == (
        expected.get("malformed", 0 if "bad" not in name else 1),
        expected.get("pending", 0),
    )
    if "visible" in expected:
        path = visible(home, "agent:main:import:s1")
        assert path[-len(expected["visible"]) :] == expected["visible"]
        assert len(path) == len(expected["visible"]) or "missing_parent" in name  # a tolerant importer may keep the orphan
    if "title" in expected:
        assert [row.facts.title for row in rows.values()] == [expected["title"]]
    for query, found in expected.get("hits", {}).items():
        if isinstance(found, int):
            assert len(hits(home, query)) == found
            continue
        assert {hit.message_id[-1] for hit in hits(home, query)} == {
            str(one)[-1] for one in found
        }  # ids of Claude's end in the line's number
    again = bring(home, FIXTURES / name, tool=TOOLS.get(name.split("/", maxsplit=1)[0], "openclaw"))
    assert (again["imported"], again["updated"], again["unchanged"]) == (0, 0, totals["imported"])


def test_a_state_folder_gives_its_sessions_under_their_keys(home: Home) -> None:
    """Keys, lineage, labels and archive marks of ``sessions.json``; unnamed transcripts; a missing one; an alias that makes nothing."""
    account = importing.import_paths(home, [FIXTURES / "openclaw-state" / "file-era"], tool="openclaw").as_json()
    rows = sessions(home)
    assert account["totals"] == {
        "sessions": 13, "found": 49, "imported": 48, "updated": 0, "unchanged": 0, "skipped": {"missing-file": 1}, "damagedLines": 0, "pending": 1,
    }  # fmt: skip
    child = rows["agent:main:subagent:00000000-0000-4000-8000-000000001002"]
    assert (child.facts.spawned_by, child.facts.label, child.facts.kind) == ("agent:main:main", "research child", "subagent")
    assert rows["agent:main:dashboard:00000000-0000-4000-8000-000000001010"].facts.archived_at == 1753039600000
    assert rows["agent:main:ghost"].message_count == 0
    assert "agent:main:import:orphan-unreferenced" in rows
    assert len(rows) == 13
    assert [hit.session_key for hit in hits(home, "platypus")] == []
    assert {hit.session_key.split(":")[1] for hit in hits(home, "axolotl confidential")} >= {"work"}
    again = importing.import_paths(home, [FIXTURES / "openclaw-state" / "file-era"], tool="openclaw").as_json()["totals"]
    assert (again["imported"], again["unchanged"], again["found"]) == (0, 48, 49)


def test_a_fork_that_copied_its_chain_is_one_hit_and_knows_its_origin(home: Home) -> None:
    """The same message in two files is found once; the session that began later is the fork, whichever file came first (field report B51)."""
    bring(home, FIXTURES / "claude" / "resume_copy")
    found = hits(home, "godwit")
    assert [hit.copies for hit in found] == [2]
    rows = sessions(home)
    assert rows["agent:claude-code:import:cc2"].facts.forked_from == "agent:claude-code:import:cc1"
    assert rows["agent:claude-code:import:cc1"].facts.forked_from is None


def test_a_subagents_file_is_a_session_of_its_own(home: Home) -> None:
    """It is found, labelled as a subagent, and belongs to the session that spawned it."""
    bring(home, FIXTURES / "claude" / "subagents")
    assert hits(home, '"nine plovers"')[0].session_key == "agent:claude-code:subagent:abc1234"
    facts = sessions(home)["agent:claude-code:subagent:abc1234"].facts
    assert (facts.kind, facts.spawned_by) == ("subagent", "agent:claude-code:import:cc1")


def test_a_title_is_redacted_and_of_what_is_visible(home: Home, tmp_path: Path) -> None:
    """A secret in the first words, or in a given name, stays out of the title; an abandoned beginning is no title (field report B62)."""
    secret = "sk-abcdEFGH1234567890abcdEFGH"
    (tmp_path / "a.jsonl").write_text(header("t1") + message("a", None, f"my key is {secret} ok"))
    (tmp_path / "b.jsonl").write_text(header("t2") + message("a", None, "abandoned") + message("b", None, "kept"))
    bring(home, tmp_path)
    titles = {row.facts.session_id: row.facts.title for row in sessions(home).values()}
    assert secret not in (titles["t1"] or "")
    assert (titles["t1"] or "").startswith("my key is")
    assert titles["t2"] == "kept"


def test_a_damaged_line_makes_a_session_no_older(home: Home) -> None:
    """Its last message counts, also behind the damage (field report B41)."""
    bring(home, FIXTURES / "jsonl" / "bad_middle.jsonl", tool="openclaw")
    [row] = sessions(home).values()
    assert row.facts.updated_at == 1_772_359_251_000  # 2026-03-01T10:00:51Z, the time of its last line


@pytest.mark.parametrize("at_once", [True, False], ids=["at once", "one by one"])
def test_a_suffix_that_was_written_twelve_times_is_there_once(home: Home, tmp_path: Path, at_once: bool) -> None:
    """Each rewrite hangs the same prompts under a new parent: only the last of them is found, counted and shown (field report B61)."""
    path, text = tmp_path / "s.jsonl", header("s9") + message("a", None, "deploy to kestrel")
    for copy in range(12):
        text += message(f"b{copy}", "a", "the long osprey prompt") + message(f"c{copy}", f"b{copy}", "osprey is deployed", "assistant")
        path.write_text(text)
        if copy == 11 or not at_once:
            bring(home, path)
    assert [(hit.message_id, hit.copies) for hit in hits(home, '"long osprey prompt"')] == [("b11", 1)]
    assert sorted(hit.message_id for hit in hits(home, "osprey")) == ["b11", "c11"]
    assert visible(home, "agent:main:import:s9") == ["a", "b11", "c11"]
    assert sessions(home)["agent:main:import:s9"].message_count == 3


# ── a second time ────────────────────────────────────────────────────────────────────────────────────────────────
def test_a_grown_file_is_read_on(home: Home, tmp_path: Path) -> None:
    """Only what is new is imported; a line that was half written is read when it is whole; the account is of the whole file."""
    path = tmp_path / "s.jsonl"
    last = message("d", "c", "delta dunnock")
    path.write_text(CHAT + last[:30])
    assert (bring(home, path)["imported"], sessions(home)["agent:main:import:s9"].message_count) == (3, 3)
    path.write_text(CHAT + last + message("e", "d", "epsilon egret", "assistant"))
    totals = bring(home, path)
    assert (totals["found"], totals["imported"], totals["unchanged"], totals["pending"]) == (5, 2, 3, 0)
    assert visible(home, "agent:main:import:s9") == ["a", "b", "c", "d", "e"]
    assert [hit.message_id for hit in hits(home, "dunnock")] == ["d"]


def test_a_rewritten_file_updates_what_changed(home: Home, tmp_path: Path) -> None:
    """The changed message is found by its new words only, what follows it stays, and nothing is stored twice."""
    path = tmp_path / "s.jsonl"
    path.write_text(CHAT)
    bring(home, path)
    path.write_text(CHAT.replace("beta bittern", "beta buzzard"))
    totals = bring(home, path)
    assert (totals["imported"], totals["updated"], totals["unchanged"]) == (0, 1, 2)
    assert ([hit.message_id for hit in hits(home, "buzzard")], hits(home, "bittern")) == (["b"], [])
    assert visible(home, "agent:main:import:s9") == ["a", "b", "c"]
    assert (bring(home, path)["unchanged"], sessions(home)["agent:main:import:s9"].message_count) == (3, 3)


def test_a_grown_file_that_was_also_changed_is_read_anew(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The beginning is the same and there is more at the end, but the bytes before the offset are not what they were."""
    monkeypatch.setattr(limits, "HEAD_DIGEST_BYTES", 64)
    path = tmp_path / "s.jsonl"
    path.write_text(CHAT)
    bring(home, path)
    path.write_text(CHAT.replace("gamma gannet", "gamma grebe") + message("d", "c", "delta dunnock"))
    totals = bring(home, path)
    assert (totals["imported"], totals["updated"], totals["unchanged"]) == (1, 1, 2)
    assert (len(hits(home, "grebe")), hits(home, "gannet"), visible(home, "agent:main:import:s9")) == (1, [], ["a", "b", "c", "d"])


def test_a_rewritten_file_without_ids_is_updated_in_place(home: Home, tmp_path: Path) -> None:
    """Position names hold their order when one of them changes."""
    lines = [
        json.dumps({"type": "message", "timestamp": 1772359200000, "message": {"role": "user", "content": text}})
        for text in ("one", "two", "three")
    ]
    path = tmp_path / "old.jsonl"
    path.write_text("\n".join(lines) + "\n")
    bring(home, path)
    path.write_text("\n".join(lines).replace("two", "zwei") + "\n")
    assert bring(home, path)["updated"] == 1
    assert visible(home, "agent:main:import:old") == ["p0", "p1", "p2"]
    assert [hit.message_id for hit in hits(home, "zwei")] == ["p1"]


def test_a_file_that_shrank_takes_nothing_away(home: Home, tmp_path: Path) -> None:
    """Retention in the tool is not deletion here."""
    path = tmp_path / "s.jsonl"
    path.write_text(CHAT)
    bring(home, path)
    path.write_text(header("s9") + message("c", "b", "gamma gannet"))
    assert bring(home, path)["unchanged"] == 1
    assert [hit.message_id for hit in hits(home, "albatross")] == ["a"]


def test_a_transcript_begun_anew_keeps_what_was_said_before(home: Home, tmp_path: Path) -> None:
    """OpenClaw resets: the old file gets another name, a new one takes its place; both generations are found under the one key, once."""
    folder = tmp_path / "agents" / "main" / "sessions"
    folder.mkdir(parents=True)
    (folder / "sessions.json").write_text(json.dumps({"agent:main:main": {"sessionId": "u1"}}))
    (folder / "u1.jsonl").write_text(CHAT)
    bring(home, tmp_path)
    (folder / "u1.jsonl").rename(folder / "u1.jsonl.reset.2026-05-06T16-18-01.123Z")
    (folder / "u1.jsonl").write_text(header("s9") + message("n", None, "new nightjar"))
    bring(home, tmp_path)
    assert [len(hits(home, word)) for word in ("albatross", "gannet", "nightjar")] == [1, 1, 1]
    assert set(sessions(home)) == {"agent:main:main"}


def test_reset_generations_are_windows_of_one_session(home: Home, tmp_path: Path) -> None:
    """Imported together, each generation is a window, oldest first, and all are found and opened; a deleted one is not (field report B111)."""
    folder = tmp_path / "agents" / "main" / "sessions"
    folder.mkdir(parents=True)
    (folder / "u1.jsonl.reset.2026-05-06T16-18-01.123Z").write_text(header("u1") + message("b", None, "second siskin"))
    (folder / "u1.jsonl.reset.2026-04-06T16-18-01.123Z").write_text(header("u1") + message("a", None, "first fulmar"))
    (folder / "u1.jsonl").write_text(header("u1") + message("c", None, "third turnstone"))
    (folder / "u1.jsonl.deleted.2026-03-06T16-18-01.123Z").write_text(header("u1") + message("d", None, "removed redshank"))
    bring(home, tmp_path)
    with home.store("main").reading() as view:
        names = [window.session_id for window in view.windows("agent:main:import:u1")]
    assert names == ["u1@2026-04-06T16-18-01.123Z", "u1@2026-05-06T16-18-01.123Z", "u1"]
    assert [hits(home, word)[0].message_id for word in ("fulmar", "siskin", "turnstone")] == ["a", "b", "c"]
    assert hits(home, "redshank") == []
    for hit in (hits(home, word)[0] for word in ("fulmar", "siskin", "turnstone")):
        around = HistoryParams(session_key=hit.session_key, session_id=hit.session_id, message_id=hit.message_id, limit=1)
        assert [shown.text for shown in history.history(home, OPERATOR, around).messages] == [hit.snippet]
    assert sessions(home)["agent:main:import:u1"].facts.session_id == "u1"


def test_an_interrupted_import_goes_on_where_it_was(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped after any transaction, the next import brings the rest, and every message is there once."""
    monkeypatch.setattr(limits, "IMPORT_BATCH_MESSAGES", 2)
    path = tmp_path / "s.jsonl"
    path.write_text(header("s9") + "".join(message(f"m{at}", f"m{at - 1}" if at else None, f"bird number{at}") for at in range(9)))
    calls = []

    def stop(done: int, total: int, what: str) -> None:
        calls.append((done, total, what))
        if len(calls) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        importing.import_paths(home, [path], progress=stop)
    kept = sessions(home)["agent:main:import:s9"].message_count
    assert 0 < kept < 9
    totals = bring(home, path)
    assert (totals["unchanged"], totals["imported"]) == (kept, 9 - kept)
    assert visible(home, "agent:main:import:s9") == [f"m{at}" for at in range(9)]
    assert bring(home, path)["unchanged"] == 9


# ── deleted, refused, taken ──────────────────────────────────────────────────────────────────────────────────────
def test_a_deleted_session_stays_away_until_it_is_called_back(home: Home, tmp_path: Path) -> None:
    """Unchanged, grown, or under another path: it is skipped as deleted; ``again`` brings it back whole."""
    path = tmp_path / "s.jsonl"
    path.write_text(CHAT)
    bring(home, path)
    with home.store("main").writing() as writer:
        writer.delete("agent:main:import:s9", 5)
    assert bring(home, path)["skipped"] == {"deleted": 3}
    path.write_text(CHAT + message("d", "c", "delta dunnock"))
    assert bring(home, path)["skipped"] == {"deleted": 4}
    shutil.copy(path, tmp_path / "other.jsonl")
    assert bring(home, tmp_path / "other.jsonl")["skipped"] == {"deleted": 4}
    assert sessions(home) == {}
    assert bring(home, path, again="agent:main:import:s9")["imported"] == 4
    assert [hit.message_id for hit in hits(home, "albatross")] == ["a"]


def test_a_session_that_says_so_is_not_indexed(home: Home, tmp_path: Path) -> None:
    """Said by a person it holds for the session, also afterwards; quoted in a tool's output it says nothing."""
    mark = "<!-- wesaid: do not index -->"
    path, quoted = tmp_path / "s.jsonl", tmp_path / "q.jsonl"
    quoted.write_text(header("q") + message("a", None, "look at quail") + message("b", "a", f"README {mark}", "toolResult"))
    path.write_text(CHAT)
    bring(home, tmp_path)
    path.write_text(CHAT + message("d", "c", f"private {mark}"))
    assert bring(home, path)["skipped"] == {"do-not-index": 4}
    assert (hits(home, "albatross"), len(hits(home, "quail"))) == ([], 1)
    assert bring(home, path)["skipped"] == {"do-not-index": 4}


def test_a_copy_of_a_file_adds_nothing(home: Home, tmp_path: Path) -> None:
    """Overlapping messages make it a copy of the session; what it has beyond that is added."""
    (tmp_path / "a.jsonl").write_text(CHAT)
    (tmp_path / "b.jsonl").write_text(CHAT + message("d", "c", "delta dunnock"))
    totals = bring(home, tmp_path)
    assert (totals["imported"], totals["skipped"]) == (4, {"copy": 3})
    assert set(sessions(home)) == {"agent:main:import:s9"}
    assert (bring(home, tmp_path)["unchanged"], len(hits(home, "albatross"))) == (4, 1)


def test_another_conversation_with_the_same_id_gets_a_key_of_its_own(home: Home, tmp_path: Path) -> None:
    """Same session id and message ids, other words: two sessions."""
    (tmp_path / "a.jsonl").write_text(CHAT)
    (tmp_path / "b.jsonl").write_text(header("s9") + message("a", None, "something else: sandpiper"))
    bring(home, tmp_path)
    keys = sorted(sessions(home))
    assert keys[0] == "agent:main:import:s9"
    assert len(keys) == 2
    assert keys[1].startswith("agent:main:import:s9:")
    assert hits(home, "sandpiper")[0].session_key == keys[1]
    assert bring(home, tmp_path)["unchanged"] == 4


def test_incognito_sessions_are_never_imported(home: Home, tmp_path: Path) -> None:
    """Not even when a file of theirs lies there."""
    folder = tmp_path / "agents" / "main" / "sessions"
    folder.mkdir(parents=True)
    (folder / "sessions.json").write_text(json.dumps({"agent:main:dashboard:incognito-1": {"sessionId": "u1"}}))
    (folder / "u1.jsonl").write_text(CHAT)
    assert bring(home, tmp_path)["skipped"] == {"incognito": 1}
    assert (sessions(home), hits(home, "albatross") if home.engine.agents() else []) == ({}, [])


def test_ignored_files_are_not_read(plain: Home, tmp_path: Path) -> None:
    """A ``.wesaidignore`` holds for its folder and what is below it."""
    (tmp_path / "private").mkdir()
    for name in ("keep.jsonl", "drop.jsonl", "private/x.jsonl"):
        (tmp_path / name).write_text(CHAT.replace("s9", Path(name).stem))
    (tmp_path / ".wesaidignore").write_text("# mine\nprivate/\ndrop*\n")
    bring(plain, tmp_path)
    assert set(sessions(plain)) == {"agent:main:import:keep"}


def test_a_setting_names_what_no_import_reads(tmp_path: Path) -> None:
    """``import.ignore`` holds for every path."""
    (tmp_path / "in").mkdir()
    for name in ("keep.jsonl", "drop.jsonl"):
        (tmp_path / "in" / name).write_text(CHAT.replace("s9", Path(name).stem))
    with opening.open_home(tmp_path / "home", environ={"WESAID_IMPORT_IGNORE": "drop*"}) as home:
        bring(home, tmp_path / "in")
        assert set(sessions(home)) == {"agent:main:import:keep"}


def test_two_homes_with_one_key_lose_nothing(home: Home, tmp_path: Path) -> None:
    """The same key and the same short message ids in another OpenClaw home: another window, not a copy."""
    for name, text in (("one", "alpha albatross"), ("two", "omega ouzel")):
        folder = tmp_path / name / "agents" / "main" / "sessions"
        folder.mkdir(parents=True)
        (folder / "sessions.json").write_text(json.dumps({"agent:main:main": {"sessionId": f"u{name}"}}))
        (folder / f"u{name}.jsonl").write_text(header(f"u{name}") + message("a", None, text))
    totals = bring(home, tmp_path)
    assert (totals["imported"], totals["sessions"]) == (2, 1)
    assert [len(hits(home, word)) for word in ("albatross", "ouzel")] == [1, 1]


# ── where things go wrong ────────────────────────────────────────────────────────────────────────────────────────
def as_nobody(do: Callable[[], Any]) -> Any:
    """As a user whom file modes hold: root reads everything."""
    if os.geteuid() != 0:
        return do()
    os.seteuid(NOBODY)
    try:
        return do()
    finally:
        os.seteuid(0)


def test_a_file_that_cannot_be_read_stops_no_other(plain: Home) -> None:
    """It is named with what to do; the rest is imported."""
    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        top.chmod(0o755)
        (top / "good.jsonl").write_text(CHAT)
        (top / "bad.jsonl").write_text(CHAT.replace("s9", "s8"))
        (top / "bad.jsonl").chmod(0)
        (top / "good.jsonl").chmod(0o644)
        account = as_nobody(lambda: importing.import_paths(plain, [top]))
    assert [(Path(failure.path).name, failure.error.code) for failure in account.failed] == [("bad.jsonl", "source_failed")]
    assert "permission" in account.failed[0].error.hint
    assert set(sessions(plain)) == {"agent:main:import:s9"}


@pytest.mark.parametrize("content", ["", "# a page\n", '{"name": "x"}\n'])
def test_a_folder_without_transcripts_gives_an_empty_account(plain: Home, tmp_path: Path, content: str) -> None:
    """No source and no failure: the command says that nothing was found."""
    (tmp_path / "page.md").write_text(content)
    (tmp_path / "data.jsonl").write_text(content)
    account = importing.import_paths(plain, [tmp_path])
    assert (account.sources, account.failed, plain.engine.agents()) == ((), (), [])


def test_a_path_that_is_not_there_is_a_failure(plain: Home, tmp_path: Path) -> None:
    """It is named."""
    (failure,) = importing.import_paths(plain, [tmp_path / "gone"]).failed
    assert failure.path.endswith("gone")


@pytest.mark.parametrize("tool", ["nonsense", "gemini"])
def test_an_unknown_tool_is_an_error_that_names_the_known_ones(plain: Home, tmp_path: Path, tool: str) -> None:
    """Also a tool whose importer is still to come."""
    with pytest.raises(InputError) as caught:
        importing.import_paths(plain, [tmp_path], tool=tool)
    assert tool in caught.value.message
    assert "claude-code" in caught.value.hint


def test_a_damaged_list_of_sessions_costs_only_the_names(plain: Home, tmp_path: Path) -> None:
    """It is reported; its transcripts come in under their own ids."""
    folder = tmp_path / "agents" / "main" / "sessions"
    folder.mkdir(parents=True)
    (folder / "sessions.json").write_text("{")
    (folder / "u1.jsonl").write_text(CHAT)
    account = importing.import_paths(plain, [tmp_path])
    assert [Path(failure.path).name for failure in account.failed] == ["sessions.json"]
    assert set(sessions(plain)) == {"agent:main:import:u1"}


def test_a_source_that_is_gone_is_marked_and_its_messages_stay(home: Home, tmp_path: Path) -> None:
    """Retention in the tool: the session is found as before and says that its file is missing, until the file is back (field report B56)."""
    path = tmp_path / "s.jsonl"
    path.write_text(CHAT)
    bring(home, tmp_path)
    path.rename(tmp_path / "elsewhere")
    importing.import_paths(home, [tmp_path])
    assert (sessions(home)["agent:main:import:s9"].source_missing, len(hits(home, "albatross"))) == (True, 1)
    (tmp_path / "elsewhere").rename(path)
    assert bring(home, tmp_path)["unchanged"] == 3
    assert not sessions(home)["agent:main:import:s9"].source_missing


def test_a_name_that_is_no_utf8_is_imported_and_can_be_shown(home: Home, tmp_path: Path) -> None:
    """The account is JSON that can be written out, and a second run knows the file."""
    path = os.fsencode(tmp_path) + b"/caf\xe9.jsonl"
    Path(os.fsdecode(path)).write_text(message("a", None, "alpha albatross"))
    account = importing.import_paths(home, [tmp_path])
    assert "caf" in json.dumps(account.as_json(), ensure_ascii=False).encode().decode()
    assert account.totals.imported == 1
    assert bring(home, tmp_path)["unchanged"] == 1


def test_a_dry_run_counts_and_writes_nothing(home: Home, tmp_path: Path) -> None:
    """Its account is that of the import that follows."""
    path = tmp_path / "s.jsonl"
    path.write_text(CHAT)
    counted = bring(home, path, dry_run=True)
    assert home.engine.agents() == []
    assert bring(home, path) == counted


def test_an_agent_may_be_given(plain: Home, tmp_path: Path) -> None:
    """``--agent`` decides, for files of every tool; what is not an agent id is refused."""
    (tmp_path / "s.jsonl").write_text(CHAT)
    bring(plain, tmp_path, agent="old")
    assert set(sessions(plain)) == {"agent:old:import:s9"}
    with pytest.raises(InputError):
        importing.import_paths(plain, [tmp_path], agent="No Agent")


def test_without_paths_the_known_places_are_read(plain: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of this machine that exist."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    (tmp_path / "projects").mkdir()
    shutil.copy(FIXTURES / "claude" / "phantom_parent.jsonl", tmp_path / "projects")
    assert importing.import_paths(plain, []).totals.imported == 4

"""Claude Code's projects: subagents in every layout, forks and resumes, titles from other files, and what is left out on request."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pacing import bring_by_lines
from wesaid.importers.known import Source
from wesaid.service import erasing, exporting, history, importing, methods, opening, searching, wire, writing
from wesaid.service.import_refusing import MARKER, Around
from wesaid.service.import_sources import Wanted, discover
from wesaid.service.methods import SearchParams
from wesaid.service.opening import Home
from wesaid.service.preparing import words_of
from wesaid.values import EVERYTHING, OPERATOR, Hit, SessionRow

S1, S2 = "00000000-0000-4000-8000-00000000000a", "00000000-0000-4000-8000-00000000000b"
K1, K2 = f"agent:claude-code:import:{S1}", f"agent:claude-code:import:{S2}"
Line = dict[str, Any]


@pytest.fixture(params=["memory", "sqlite"])
def home(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    where = tmp_path_factory.mktemp("home")
    with opening.memory_home() if request.param == "memory" else opening.open_home(where) as made:
        yield made


def uuid(number: int, kind: str = "0") -> str:
    return f"0000000{kind}-0000-4000-8000-{number:012d}"


def line(number: int, parent: int | None, text: str, *, session: str = S1, kind: str = "0", **more: Any) -> Line:
    """Odd numbers are a person's, even ones the assistant's."""
    role = "user" if number % 2 else "assistant"
    message = {"role": role, "content": text if role == "user" else [{"type": "text", "text": text}]}
    parent_id = None if parent is None else uuid(parent, kind)
    return {"type": role, "uuid": uuid(number, kind), "parentUuid": parent_id, "sessionId": session, "isSidechain": False,
            "timestamp": f"2026-03-01T10:00:{number:02}.000Z", "cwd": "/w/demo", "gitBranch": "trunk", "message": message, **more}  # fmt: skip


def side(number: int, parent: int | None, text: str, agent: str = "abc1234", **more: Any) -> Line:
    return line(number, parent, text, **{"kind": "5", "isSidechain": True, "agentId": agent, **more})


def put(path: Path, lines: list[Line]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(each) + "\n" for each in lines))
    return path


def bring(home: Home, *paths: Path, **how: Any) -> dict[str, Any]:
    account = importing.import_paths(home, paths, **how).as_json()
    assert not account.get("failed")
    totals: dict[str, Any] = account["totals"]
    assert totals["found"] == totals["imported"] + totals["updated"] + totals["unchanged"] + sum(totals["skipped"].values())
    return totals


def sessions(home: Home) -> dict[str, SessionRow]:
    if "claude-code" not in home.engine.agents():
        return {}
    with home.store("claude-code").reading() as view:
        return {row.facts.key: row for row in view.sessions(EVERYTHING)}


def said(home: Home, key: str = K1) -> list[str]:
    with home.store("claude-code").reading() as view:
        rows = [row for window in view.windows(key) for row in view.path(window.window, start=0, count=1000)]
        return [words.text for row in rows if (words := words_of(home.redactor, "claude-code", row))]


def hits(home: Home, query: str) -> list[Hit]:
    return list(searching.search(home, OPERATOR, SearchParams(query=query)).hits) if home.engine.agents() else []


TALK = [line(1, None, "count the herons"), line(2, 1, "nine herons"), line(3, 2, "and gulls"), line(4, 3, "forty gulls")]
TASK = [side(1, None, "find plovers"), side(2, 1, "nine plovers")]


# ── subagents ────────────────────────────────────────────────────────────────────────────────────────────────────
def project(top: Path) -> list[Path]:
    """A session and what it spawned, a file in each layout; one of them nested."""
    folder = top / S1 / "subagents"
    made = [
        put(top / f"{S1}.jsonl", [*TALK[:2], side(11, None, "inline task", "inl"), side(12, 11, "inline plovers", "inl"), *TALK[2:]]),
        put(top / "agent-sib.jsonl", [side(21, None, "sibling task", "sib"), side(22, 21, "sibling plovers", "sib")]),
        put(folder / "agent-cur.jsonl", [side(31, None, "current task", "cur"), side(32, 31, "current plovers", "cur")]),
        put(folder / "workflows" / "w1" / "agent-flo.jsonl", [side(41, None, "flow task", "flo"), side(42, 41, "flow plovers", "flo")]),
        put(folder / "agent-nes.jsonl", [side(51, None, "nested task", "nes"), side(52, 51, "nested plovers", "nes")]),
    ]
    (folder / "agent-cur.meta.json").write_text('{"agentType": "Explore", "description": "Look for plovers", "spawnDepth": 1}')
    (folder / "agent-nes.meta.json").write_text('{"agentType": "Plan", "parentAgentId": "cur", "spawnDepth": 2}')
    (folder / "agent-flo.meta.json").write_text("{damaged")
    return made


def spawners(home: Home) -> dict[str, str | None]:
    return {key.rpartition(":")[2]: row.facts.spawned_by for key, row in sessions(home).items() if ":subagent:" in key}


SPAWNED = {"inl": K1, "sib": K1, "cur": K1, "flo": K1, "nes": "agent:claude-code:subagent:cur"}


@pytest.mark.parametrize("order", list(itertools.permutations(range(5)))[::17])
def test_subagents_of_every_layout_belong_to_their_session_in_whatever_order_files_come(
    home: Home, tmp_path: Path, order: tuple[int, ...]
) -> None:
    """One session each, of kind subagent, found once; the nested one belongs to the subagent that spawned it."""
    files = project(tmp_path)
    for at in order:
        bring(home, files[at])
    assert spawners(home) == SPAWNED
    assert {row.facts.kind for key, row in sessions(home).items() if key != K1} == {"subagent"}
    assert sorted(hit.session_key.rpartition(":")[2] for hit in hits(home, "plovers") if hit.role == "assistant") == sorted(SPAWNED)
    assert said(home) == ["count the herons", "nine herons", "and gulls", "forty gulls"]
    facts = sessions(home)["agent:claude-code:subagent:cur"].facts
    assert (facts.title, facts.extra["agentType"]) == ("Look for plovers", "Explore")
    again = bring(home, tmp_path)
    assert (again["imported"], again["unchanged"]) == (0, 14)


def test_a_folder_of_subagents_alone_is_enough(home: Home, tmp_path: Path) -> None:
    """They name the session that spawned them, whether or not anybody ever imports it."""
    project(tmp_path)
    bring(home, tmp_path / S1 / "subagents")
    assert spawners(home) == {name: key for name, key in SPAWNED.items() if name in ("cur", "flo", "nes")}
    assert K1 not in sessions(home)
    bring(home, tmp_path)
    assert spawners(home) == SPAWNED


@pytest.mark.parametrize("file_first", [False, True])
def test_a_subagent_inline_and_in_a_file_is_one_session(home: Home, tmp_path: Path, *, file_first: bool) -> None:
    """The same lines twice are copies; a line that looks a little different under its UUID too."""
    main = put(tmp_path / f"{S1}.jsonl", [*TALK, *TASK])
    own = put(tmp_path / S1 / "subagents" / "agent-abc1234.jsonl", [{**each, "slug": "x"} for each in TASK] + [side(3, 2, "are you sure")])
    for path in (own, main) if file_first else (main, own):
        bring(home, path)
    assert set(sessions(home)) == {K1, "agent:claude-code:subagent:abc1234"}
    assert said(home, "agent:claude-code:subagent:abc1234") == ["find plovers", "nine plovers", "are you sure"]
    assert [(hit.session_key, hit.copies) for hit in hits(home, '"nine plovers"')] == [("agent:claude-code:subagent:abc1234", 1)]


def test_two_sessions_may_have_a_subagent_of_the_same_id(home: Home, tmp_path: Path) -> None:
    """Their ids are short and come back: each keeps its own words and its own spawner."""
    put(tmp_path / S1 / "subagents" / "agent-abc1234.jsonl", TASK)
    put(tmp_path / S2 / "subagents" / "agent-abc1234.jsonl", [side(61, None, "find grebes", session=S2)])
    bring(home, tmp_path)
    found = {key: row.facts.spawned_by for key, row in sessions(home).items()}
    assert sorted(found.values(), key=str) == [K1, K2]
    assert [hits(home, word)[0].session_key in found for word in ("plovers", "grebes")] == [True, True]


def test_a_subagent_ranks_below_an_equal_hit_of_a_person(home: Home, tmp_path: Path) -> None:
    """The same sentence, once said in the talk and once in what it spawned."""
    put(tmp_path / f"{S1}.jsonl", [*TALK, line(5, 4, "where do plovers sleep at night")])
    put(tmp_path / S1 / "subagents" / "agent-abc1234.jsonl", [side(1, None, "tell me where do plovers sleep at night")])
    bring(home, tmp_path)
    assert hits(home, "where do plovers sleep at night")[0].session_key == K1


def test_warm_ups_and_compaction_copies_are_said_and_left_out(home: Home, tmp_path: Path) -> None:
    """The account names them."""
    put(tmp_path / "agent-w.jsonl", [side(1, None, "Warmup", "w"), side(2, 1, "ready for plovers", "w")])
    put(tmp_path / S1 / "subagents" / "agent-acompact-1.jsonl", TASK)
    sources = importing.import_paths(home, [tmp_path]).as_json()["sources"]
    assert sorted(reason for source in sources for reason in source["skipped"]) == ["compaction", "warm-up"]
    assert hits(home, "plovers") == []


def test_sessions_of_the_desktop_app_are_found_without_a_path(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each ran under a configuration folder of its own; the log that the app keeps beside it is another format, and says the same."""
    for name in ("CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME", "APPDATA", "OPENCLAW_STATE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    own = tmp_path / ".config" / "Claude" / "local-agent-mode-sessions" / "org" / "account" / "local_1"
    put(own / ".claude" / "projects" / "-w-demo" / f"{S1}.jsonl", TALK)
    put(own / "audit.jsonl", [{"type": "user", "session_id": S1, "message": {"role": "user", "content": "count the herons"}}])
    importing.import_paths(home, [])
    assert {hit.session_key for hit in hits(home, "count the herons")} == {K1}


# ── forks and resumes ────────────────────────────────────────────────────────────────────────────────────────────
def fork(*own: Line, session: str = S2) -> list[Line]:
    return [*({**each, "sessionId": session} for each in TALK), *own]


OWN = [line(5, 4, "what about terns", session=S2), line(6, 5, "no terns", session=S2)]


@pytest.mark.parametrize("keeps_ids", [False, True])
def test_a_fork_is_one_hit_and_knows_where_it_comes_from(home: Home, tmp_path: Path, *, keeps_ids: bool) -> None:
    """Whether the copied lines were given the new session id or kept the old one."""
    put(tmp_path / f"{S1}.jsonl", TALK)
    put(tmp_path / f"{S2}.jsonl", [*(TALK if keeps_ids else fork()), *OWN])
    bring(home, tmp_path)
    assert [hit.copies for hit in hits(home, '"nine herons"')] == [2]
    assert sessions(home)[K2].facts.forked_from == K1
    assert said(home, K2)[-2:] == ["what about terns", "no terns"]


@pytest.mark.parametrize("keeps_ids", [False, True])
def test_a_deleted_session_does_not_come_back_in_a_fork(home: Home, tmp_path: Path, *, keeps_ids: bool) -> None:
    """What the fork copied stays away, what it went on with comes in, and calling the first one back brings its words back."""
    first = put(tmp_path / f"{S1}.jsonl", TALK)
    bring(home, first)
    erasing.delete(home, OPERATOR, K1)
    second = put(tmp_path / f"{S2}.jsonl", [*(TALK if keeps_ids else fork()), *OWN])
    assert bring(home, second)["skipped"] == {"deleted": 4}
    assert (said(home, K2), hits(home, "herons")) == (["what about terns", "no terns"], [])
    put(second, [*(TALK if keeps_ids else fork()), *OWN, line(7, 6, "sure?", session=S2)])
    bring(home, tmp_path)
    assert (said(home, K2), hits(home, "herons")) == (["what about terns", "no terns", "sure?"], [])
    bring(home, first, again=K1)
    assert len(hits(home, '"nine herons"')) == 1


@pytest.mark.parametrize("keeps_ids", [False, True])
def test_a_deleted_session_does_not_come_back_in_parts_of_a_fork(home: Home, tmp_path: Path, *, keeps_ids: bool) -> None:
    """A search that has time for one line of it leaves it to the next one to go on, and that one still knows what was copied."""
    first = put(tmp_path / f"{S1}.jsonl", TALK)
    bring(home, first)
    erasing.delete(home, OPERATOR, K1)
    second = put(tmp_path / f"{S2}.jsonl", [side(1, None, "find plovers", session=S2), *(TALK if keeps_ids else fork()), *OWN])
    assert bring_by_lines(home, second) > len(TALK)
    assert (said(home, K2), hits(home, "herons")) == (["what about terns", "no terns"], [])
    assert bring(home, second)["skipped"] == {"deleted": 4}


def test_lines_that_name_a_deleted_session_stay_away_without_its_file(home: Home, tmp_path: Path) -> None:
    """The tool's retention took the first transcript; the copied lines still say whose they are."""
    first = put(tmp_path / f"{S1}.jsonl", TALK)
    bring(home, first)
    erasing.delete(home, OPERATOR, K1)
    first.unlink()
    assert bring(home, put(tmp_path / f"{S2}.jsonl", [*TALK, *OWN]))["skipped"] == {"deleted": 4}
    assert said(home, K2) == ["what about terns", "no terns"]


def test_a_deleted_fork_takes_nothing_from_the_session_it_copied(home: Home, tmp_path: Path) -> None:
    """The copy is gone; the first one, imported only now, is nobody's copy."""
    second = put(tmp_path / f"{S2}.jsonl", fork(*OWN))
    bring(home, second)
    erasing.delete(home, OPERATOR, K2)
    bring(home, put(tmp_path / f"{S1}.jsonl", [*TALK, line(7, 4, "no more")]))
    assert said(home) == ["count the herons", "nine herons", "and gulls", "forty gulls", "no more"]


def test_a_resume_that_appends_is_one_session(home: Home, tmp_path: Path) -> None:
    """The same file, longer, with a break in its chain."""
    path = put(tmp_path / f"{S1}.jsonl", TALK)
    bring(home, path)
    hook = {"type": "attachment", "uuid": uuid(90), "parentUuid": None, "sessionId": S1, "attachment": {"type": "hook_success"}}
    more = [{**line(5, 4, "go on"), "parentUuid": uuid(90)}, line(6, 5, "on it")]
    assert bring(home, put(path, [*TALK, hook, *more]))["imported"] == 2
    assert said(home) == ["count the herons", "nine herons", "and gulls", "forty gulls", "go on", "on it"]


def test_what_was_appended_here_stays_when_the_file_goes_on(home: Home, tmp_path: Path) -> None:
    """Also behind a prompt that was waiting in the tool's queue."""
    waits = {"type": "queue-operation", "operation": "enqueue", "content": "and knots", "sessionId": S1}
    path = put(tmp_path / f"{S1}.jsonl", [*TALK, waits])
    bring(home, path)
    writing.append(home, OPERATOR, K1, [{"role": "user", "text": "said here"}])
    bring(home, put(path, [*TALK, waits, line(6, 4, "wait")]))
    assert "said here" in said(home)


# ── titles ───────────────────────────────────────────────────────────────────────────────────────────────────────
SUMMARY = {"type": "summary", "summary": "Birds of the bay", "leafUuid": uuid(4)}


@pytest.mark.parametrize("summary_first", [False, True])
@pytest.mark.parametrize("leaf", [2, 4])
def test_a_summary_in_another_file_names_the_session_that_has_its_message(
    home: Home, tmp_path: Path, leaf: int, *, summary_first: bool
) -> None:
    """In whichever order the files come; it stays when the session grows, and what the tool or the person calls it comes first."""
    talk, other = put(tmp_path / f"{S1}.jsonl", TALK), put(tmp_path / f"{S2}.jsonl", [{**SUMMARY, "leafUuid": uuid(leaf)}])
    for path in (other, talk) if summary_first else (talk, other):
        bring(home, path)
    assert sessions(home)[K1].facts.title == "Birds of the bay"
    bring(home, put(talk, [*TALK, line(5, 4, "more")]))
    assert sessions(home)[K1].facts.title == "Birds of the bay"
    bring(home, put(talk, [*TALK, line(5, 4, "more"), {"type": "ai-title", "aiTitle": "Counting birds", "sessionId": S1}]))
    bring(home, other)
    assert sessions(home)[K1].facts.title == "Counting birds"
    bring(home, put(talk, [*TALK, line(5, 4, "more"), {"type": "custom-title", "customTitle": "Mine", "sessionId": S1}, SUMMARY]))
    assert sessions(home)[K1].facts.title == "Mine"


def test_a_search_names_a_session_by_a_summary_that_came_later(home: Home, tmp_path: Path) -> None:
    """The file with the summary is new when somebody searches."""
    put(tmp_path / f"{S1}.jsonl", TALK)
    bring(home, tmp_path)
    put(tmp_path / f"{S2}.jsonl", [SUMMARY, line(1, None, "and now", session=S2, kind="7")])
    assert [hit.title for hit in hits(home, '"nine herons"')] == ["Birds of the bay"]


def test_facts_are_what_the_lines_say(home: Home, tmp_path: Path) -> None:
    """Folder, branch, background, name."""
    path = put(
        tmp_path / f"{S1}.jsonl",
        [*TALK[:1], {**TALK[1], "sessionKind": "bg"}, {"type": "agent-name", "agentName": "birder", "sessionId": S1}],
    )
    bring(home, path)
    facts = sessions(home)[K1].facts
    assert (facts.project, facts.label, facts.extra) == ("/w/demo", "birder", {"gitBranch": "trunk", "sessionKind": "bg"})


# ── left out on request ──────────────────────────────────────────────────────────────────────────────────────────
def test_a_mark_leaves_out_a_session_and_what_it_spawned(home: Home, tmp_path: Path) -> None:
    """Also when it comes later, is typed while the agent is busy, and the subagents are imported on their own; and it can be taken back."""
    project(tmp_path)
    bring(home, tmp_path)
    talk = tmp_path / f"{S1}.jsonl"
    before = talk.read_text()
    with talk.open("a") as file:
        file.write(json.dumps({"type": "queue-operation", "operation": "enqueue", "content": f"oh, {MARKER}", "sessionId": S1}) + "\n")
    bring(home, talk)
    assert sessions(home) == {}
    assert set(bring(home, tmp_path)["skipped"]) == {"do-not-index"}
    bring(home, tmp_path / S1 / "subagents")
    assert (sessions(home), hits(home, "plovers")) == ({}, [])
    talk.write_text(before)
    bring(home, tmp_path)
    assert spawners(home) == SPAWNED


def test_a_search_takes_out_a_session_whose_subagents_grew_and_which_was_marked(home: Home, tmp_path: Path) -> None:
    """Whichever of the two files it reads first."""
    project(tmp_path)
    bring(home, tmp_path)
    with (tmp_path / S1 / "subagents" / "agent-cur.jsonl").open("a") as file:
        file.write(json.dumps(side(33, 32, "more plovers", "cur")) + "\n")
    with (tmp_path / f"{S1}.jsonl").open("a") as file:
        file.write(json.dumps(line(5, 4, f"oh, {MARKER}")) + "\n")
    assert hits(home, "plovers") == []
    assert sessions(home) == {}


def test_of_a_session_around_only_what_is_new_is_looked_through(home: Home, tmp_path: Path) -> None:
    """Its subagents grow by the second while it works: what its own import has looked through is not looked through for each of them."""
    talk, _, own, *_ = project(tmp_path)
    bring(home, tmp_path)
    more = json.dumps(line(5, 4, "more")) + "\n"
    with talk.open("a") as file:
        file.write(more)
    [source] = discover([own], Wanted())
    assert isinstance(source, Source)
    with home.store("claude-code").reading() as view:
        assert Around(source, view).unread == len(more)


def test_a_session_around_that_was_marked_stays_so_when_its_file_is_gone(home: Home, tmp_path: Path) -> None:
    """The tool's retention takes the transcript before what it spawned."""
    talk, *_ = project(tmp_path)
    with talk.open("a") as file:
        file.write(json.dumps(line(5, 4, f"oh, {MARKER}")) + "\n")
    bring(home, tmp_path)
    talk.unlink()
    assert set(bring(home, tmp_path)["skipped"]) == {"do-not-index"}
    assert sessions(home) == {}


def test_a_mark_in_a_subagent_leaves_out_that_one_alone(home: Home, tmp_path: Path) -> None:
    """What it says holds for its own session."""
    put(tmp_path / f"{S1}.jsonl", TALK)
    put(tmp_path / S1 / "subagents" / "agent-abc1234.jsonl", [*TASK, side(3, 2, f"secret {MARKER}")])
    assert bring(home, tmp_path)["skipped"] == {"do-not-index": 3}
    assert set(sessions(home)) == {K1}


def test_a_mark_that_a_tool_put_out_says_nothing(home: Home, tmp_path: Path) -> None:
    """Reading this project's own documentation must not hide a session."""
    tool = {
        **line(5, 4, ""),
        "toolUseResult": {"stdout": MARKER},
        "message": {"role": "user", "content": [{"type": "tool_result", "content": MARKER}]},
    }
    bring(home, put(tmp_path / f"{S1}.jsonl", [*TALK, tool]))
    assert set(sessions(home)) == {K1}


@pytest.mark.parametrize("rule", [f"{S1}.jsonl", "/proj/", "proj/*", "**/0*a.jsonl", "*"])
def test_what_is_ignored_is_ignored_with_what_it_spawned(home: Home, tmp_path: Path, rule: str) -> None:
    """By rules of any folder above, for folders and single files that are named too; the account says so."""
    files = project(tmp_path / "proj")
    (tmp_path / ".wesaidignore").write_text(f"# birds\n{rule}\n")
    for path in (tmp_path, tmp_path / "proj", *files):
        sources = importing.import_paths(home, [path]).as_json()["sources"]
        assert {reason for source in sources for reason in source["skipped"]} == {"ignored"}
    assert sessions(home) == {}


def test_a_search_leaves_out_what_an_import_leaves_out(home: Home, tmp_path: Path) -> None:
    """New files beside known ones: rules of the folders above, what they take back in, and what an ignored session spawned."""
    put(tmp_path / "proj" / f"{S1}.jsonl", TALK)
    (tmp_path / ".wesaidignore").write_text(f"new-*.jsonl\n!new-kept.jsonl\n{S2}.jsonl\n")
    bring(home, tmp_path / "proj")
    for number, name in enumerate(("new-kept", "new-drop")):
        put(tmp_path / "proj" / f"{name}.jsonl", [line(number, None, f"knots {name}", session=name, kind="7")])
    put(tmp_path / "proj" / S2 / "subagents" / "agent-x.jsonl", [side(1, None, "knots inside", "x", session=S2)])
    page = searching.search(home, OPERATOR, SearchParams(query="knots"))
    assert [hit.snippet for hit in page.hits] == ["knots new-kept"]
    assert page.diagnostics.sources_behind == 0


PRIVATE = [line(1, None, "<private>my corncrake</private> count the herons"), line(2, 1, "herons <PRIVATE>corncrake</private> nine"),
           line(3, 2, [{"type": "text", "text": "gulls <private>cor"}, {"type": "text", "text": "corncrake"}, {"type": "text", "text": "x</private> too"}]),
           line(4, 3, [{"type": "text", "text": "rails <private why='x'>"}, {"type": "document", "title": "corncrake", "source": {"data": "corncrake"}},
                       {"type": "tool_use", "id": "t", "name": "Edit", "input": {"edits": [{"a": "<private\n>"}, {"b": "corncrake"}, {"c": "</private>"}]}},
                       {"type": "text", "text": "</private >"}], cwd="/w/<private>corncrake</private>", **{"<private>corncrake</private>": 1}),
           line(5, 2, "terns <private>and a corncrake, I forgot to close it"),
           {"type": "custom-title", "customTitle": "Birds <private>corncrake", "sessionId": S1},
           {"type": "last-prompt", "lastPrompt": "terns <private>and a corncrake", "sessionId": S1},
           {"type": "queue-operation", "operation": "enqueue", "content": "later <private>corncrake</private> knots", "sessionId": S1}]  # fmt: skip


def test_private_spans_are_shown_nowhere(home: Home, tmp_path: Path) -> None:
    """Not found, not in titles, lists, history, exports of either format; the records keep them for the operator who asks to see all."""
    bring(home, put(tmp_path / f"{S1}.jsonl", PRIVATE))
    assert hits(home, "corncrake") == []
    assert len(hits(home, "herons")) == 2
    assert sessions(home)[K1].facts.title == "Birds"
    shown = [
        *exporting.export(home, OPERATOR, K1),
        *exporting.export(home, OPERATOR, K1, format="md"),
        *said(home),
        sessions(home)[K1].facts.project or "",
    ]
    shown += [json.dumps(wire.history_json(history.history(home, OPERATOR, methods.HistoryParams(session_key=K1, include_tools=True))))]
    assert "corncrake" not in "".join(shown)
    assert "herons" in "".join(shown)
    assert "corncrake" in "".join(exporting.export(home, OPERATOR, K1, reveal=True))
    with home.store("claude-code").reading() as view:
        assert "corncrake" not in json.dumps([dict(state.state) for state in view.sources()])


# ── whatever the order ───────────────────────────────────────────────────────────────────────────────────────────
WHOLE = [*TALK[:2], {"type": "queue-operation", "operation": "enqueue", "content": "and knots", "sessionId": S1}, side(1, None, "find plovers"), *TALK[2:],
         side(2, 1, "nine plovers"), {"type": "queue-operation", "operation": "dequeue", "sessionId": S1}, line(5, 4, "and knots", promptSource="queued"),
         line(6, 5, "ten knots"), line(7, 2, "no, count the terns"), line(8, 7, "no terns"),
         {"type": "queue-operation", "operation": "enqueue", "content": "why?", "sessionId": S1}]  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(cuts=st.lists(st.integers(1, len(WHOLE)), max_size=3))
def test_a_file_imported_as_it_grows_gives_what_the_whole_file_gives(tmp_path_factory: pytest.TempPathFactory, cuts: list[int]) -> None:
    """For every set of cuts: the same visible words, each once, and an import that ends with nothing left to do."""
    path = tmp_path_factory.mktemp("grow") / f"{S1}.jsonl"
    with opening.memory_home() as home:
        for cut in [*sorted(cuts), len(WHOLE)]:
            bring(home, put(path, WHOLE[:cut]))
        assert said(home) == ["count the herons", "nine herons", "no, count the terns", "no terns", "why?"]
        assert said(home, "agent:claude-code:subagent:abc1234") == ["find plovers", "nine plovers"]
        assert [len(hits(home, word)) for word in ("knots", "why", "plovers", "gulls")] == [0, 1, 2, 0]
        assert bring(home, path)["imported"] == 0

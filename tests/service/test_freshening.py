"""A search looks whether transcripts have grown: what it finds at once, what it says is behind, and what never makes it fail."""

from __future__ import annotations

import json
import os
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from wesaid import limits
from wesaid.service import addressing, freshening, importing, listing, opening, searching, writing
from wesaid.service.freshening import Fresh
from wesaid.service.methods import ListParams, SearchParams
from wesaid.service.opening import Home
from wesaid.values import EVERYTHING, OPERATOR, Caller, Page

KEY = "agent:claude-code:import:one"
NOBODY = 65534


def line(text: str, number: int, session: str = "one", **more: Any) -> str:
    """A line of Claude Code's, that hangs from the one before it."""
    record = {
        "type": "user",
        "uuid": f"{session}-{number}",
        "parentUuid": f"{session}-{number - 1}" if number else None,
        "sessionId": session,
        "cwd": "/home/mai/ferry",
        "timestamp": f"2026-01-01T00:{number // 60 % 60:02}:{number % 60:02}Z",
        "message": {"role": "user", "content": text},
    }
    return json.dumps(record | more) + "\n"


def grow(path: Path, *lines: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as stream:
        stream.writelines(lines)
    return path


@pytest.fixture
def top(tmp_path: Path) -> Path:
    return tmp_path / "projects"


@pytest.fixture
def file(top: Path) -> Path:
    return grow(top / "-home-mai-ferry" / "one.jsonl", line("the ferry leaves", 0))


@pytest.fixture(params=["memory", "sqlite"])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Home]:
    with opening.memory_home() if request.param == "memory" else opening.open_home(tmp_path / "home", environ={}) as made:
        yield made


def ask(home: Home, query: str, caller: Caller = OPERATOR, **more: Any) -> Page:
    return searching.search(home, caller, SearchParams(query=query, **more))


def snippets(page: Page) -> list[str]:
    return [hit.snippet for hit in page.hits]


def freshen(home: Home, seconds: float = limits.FRESH_SECONDS) -> Fresh:
    return freshening.freshen(home, addressing.policy_of(home, OPERATOR), home.engine.agents(), operator=True, seconds=seconds)


def stored(home: Home, path: Path, agent: str = "claude-code") -> Any:
    with home.store(agent).reading() as view:
        return view.source(str(path))


# ── what has grown ───────────────────────────────────────────────────────────────────────────────────────────────
def test_what_was_appended_to_a_known_transcript_is_found_at_once(home: Home, top: Path, file: Path) -> None:
    """In the same answer, and nothing is said to be behind."""
    importing.import_paths(home, [top])
    grow(file, line("a pelican came", 1))
    page = ask(home, "pelican")
    assert snippets(page) == ["a pelican came"]
    assert page.diagnostics.sources_behind == 0


def test_a_file_that_was_named_alone_is_followed_and_its_folder_is_not(home: Home, file: Path) -> None:
    """Who imports one file of a folder has said nothing of the others."""
    importing.import_paths(home, [file])
    grow(file, line("a pelican came", 1))
    grow(file.parent / "two.jsonl", line("an otter swims", 0, "two"))
    assert snippets(ask(home, "pelican")) == ["a pelican came"]
    assert snippets(ask(home, "otter")) == []


def test_transcripts_that_appear_in_a_folder_that_was_imported_are_found(home: Home, top: Path, file: Path) -> None:
    """Beside known ones, in new folders, and in folders of those."""
    importing.import_paths(home, [top])
    grow(file.parent / "two.jsonl", line("an otter swims", 0, "two"))
    assert snippets(ask(home, "otter")) == ["an otter swims"]
    grow(top / "-other" / "three.jsonl", line("a walrus sleeps", 0, "three"))
    assert snippets(ask(home, "walrus")) == ["a walrus sleeps"]
    grow(file.parent / "one" / "subagents" / "agent-x1.jsonl", line("a seal dives", 0, "one", isSidechain=True, agentId="x1"))
    [hit] = ask(home, "seal").hits
    assert hit.session_key == "agent:claude-code:subagent:x1"


def test_an_empty_file_is_looked_at_again(home: Home, top: Path, file: Path) -> None:
    """A program makes a file first and writes into it then; the folder does not change any more."""
    importing.import_paths(home, [top])
    new = grow(file.parent / "two.jsonl")
    os.utime(file.parent, ns=(1, 1))
    assert ask(home, "otter").diagnostics.sources_behind == 0
    with new.open("w", encoding="utf-8") as stream:
        stream.write(line("an otter swims", 0, "two"))
    os.utime(file.parent, ns=(1, 1))
    assert snippets(ask(home, "otter")) == ["an otter swims"]


def test_a_folder_that_has_not_changed_is_not_listed_again(home: Home, top: Path, file: Path) -> None:
    """Its time is kept once everything in it is imported."""
    importing.import_paths(home, [top])
    os.utime(top, ns=(1, 1))
    os.utime(file.parent, ns=(2, 2))
    ask(home, "ferry")
    with home.store("claude-code").reading() as view:
        assert [(folder.path, folder.mtime_ns) for folder in view.folders()] == [(str(top), 1), (str(file.parent), 2)]


@pytest.mark.parametrize("named", ["agent", "both"])
def test_what_grows_goes_where_its_import_was_told(home: Home, top: Path, file: Path, named: str) -> None:
    """The agent and the tool of the import hold for what comes later, in known files and new ones."""
    importing.import_paths(home, [top], agent="mine", tool="claude-code" if named == "both" else None)
    grow(file, line("a pelican came", 1))
    grow(file.parent / "two.jsonl", line("an otter swims", 0, "two"))
    assert {hit.agent_id for query in ("pelican", "otter") for hit in ask(home, query).hits} == {"mine"}
    assert home.engine.agents() == ["mine"]


def test_a_conversation_of_openclaw_that_its_list_names_keeps_its_key(home: Home, tmp_path: Path) -> None:
    """Known and new ones; the new one belongs to an agent that was not there before."""

    def said(text: str, number: int) -> str:
        return json.dumps({"type": "message", "id": f"m{number}", "message": {"role": "user", "content": text}}) + "\n"

    folder = tmp_path / "agents" / "main" / "sessions"
    grow(folder / "a.jsonl", '{"type":"session","id":"a"}\n', said("the ferry leaves", 1))
    (folder / "sessions.json").write_text(json.dumps({"agent:main:telegram:1": {"sessionId": "a"}}), encoding="utf-8")
    importing.import_paths(home, [tmp_path / "agents"])
    grow(folder / "a.jsonl", said("a pelican came", 2))
    assert [hit.session_key for hit in ask(home, "pelican").hits] == ["agent:main:telegram:1"]
    grow(tmp_path / "agents" / "boat" / "sessions" / "b.jsonl", '{"type":"session","id":"b"}\n', said("an otter swims", 3))
    assert [hit.session_key for hit in ask(home, "otter").hits] == ["agent:boat:import:b"]


# ── what holds in an import holds here ───────────────────────────────────────────────────────────────────────────
def test_what_is_to_be_left_out_is_left_out(home: Home, top: Path, file: Path) -> None:
    """By a pattern above it, also one that was written after the import; and it is not behind."""
    importing.import_paths(home, [top])
    (top / ".wesaidignore").write_text("secret*\none.jsonl\n", encoding="utf-8")
    grow(file, line("a pelican came", 1))
    grow(file.parent / "secret.jsonl", line("a pelican hides", 0, "secret"))
    page = ask(home, "pelican")
    assert (snippets(page), page.diagnostics.sources_behind) == ([], 0)


def test_the_setting_of_what_no_import_reads_holds_for_a_search(tmp_path: Path, top: Path, file: Path) -> None:
    """For files that appear as for those that grow, whose earlier lines stay found; neither is behind."""
    with opening.open_home(tmp_path / "home", environ={}) as home:
        importing.import_paths(home, [top])
    grow(file, line("a pelican came", 1))
    grow(file.parent / "secret.jsonl", line("a pelican hides", 0, "secret"))
    with opening.open_home(tmp_path / "home", environ={"WESAID_IMPORT_IGNORE": "secret*,one.jsonl"}) as home:
        page = ask(home, "pelican")
        assert (snippets(page), page.diagnostics.sources_behind) == ([], 0)
        assert snippets(ask(home, "ferry")) == ["the ferry leaves"]


def test_a_deleted_session_does_not_come_back(home: Home, top: Path, file: Path) -> None:
    """Its transcript may grow."""
    importing.import_paths(home, [top])
    with home.store("claude-code").writing() as writer:
        writer.delete(KEY, 1)
    grow(file, line("a pelican came", 1))
    page = ask(home, "pelican ferry")
    assert (snippets(page), page.diagnostics.sources_behind) == ([], 0)


def test_a_session_that_is_not_to_be_indexed_goes(home: Home, top: Path, file: Path) -> None:
    """As soon as somebody says so in it."""
    importing.import_paths(home, [top])
    grow(file, line("<!-- wesaid: do not index --> a pelican", 1))
    page = ask(home, "pelican ferry")
    assert (snippets(page), page.diagnostics.sources_behind) == ([], 0)


def test_a_fork_that_appears_is_linked(home: Home, top: Path, file: Path) -> None:
    """As an import links it: it begins with the same message."""
    importing.import_paths(home, [top])
    copied = json.loads(file.read_text(encoding="utf-8")) | {"sessionId": "two"}
    grow(file.parent / "two.jsonl", json.dumps(copied) + "\n", line("a pelican came", 1, "two", parentUuid="one-0"))
    ask(home, "pelican")
    with home.store("claude-code").reading() as view:
        assert view.forks(EVERYTHING) == [("agent:claude-code:import:two", KEY)]


# ── time ─────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_what_there_is_no_time_for_is_behind(home: Home, top: Path, file: Path) -> None:
    """Known files that have grown and files that are new, each once; and nothing is forgotten by it."""
    importing.import_paths(home, [top])
    grow(file, line("a pelican came", 1))
    grow(file.parent / "two.jsonl", line("an otter swims", 0, "two"))
    assert freshen(home, seconds=0) == Fresh(behind=2)
    assert freshen(home, seconds=0) == Fresh(behind=2)
    assert ask(home, "pelican").diagnostics.sources_behind == 0
    assert snippets(ask(home, "otter")) == ["an otter swims"]


def test_a_file_is_read_in_parts_and_each_part_is_kept(home: Home, top: Path, file: Path) -> None:
    """Searches that have little time finish together what one could not; nothing is read twice or left out."""
    importing.import_paths(home, [top])
    total = 1500
    grow(file, *(line(f"seagull number{number}", number) for number in range(1, total)))
    sizes = [stored(home, file).size]
    while freshen(home, seconds=0.02).behind:
        sizes.append(stored(home, file).size)
        assert len(sizes) < total
    assert sizes == sorted(sizes)
    with home.store("claude-code").reading() as view:
        assert view.session(KEY).message_count == total
        assert view.session(KEY).stale is False
    assert stored(home, file).size == file.stat().st_size


def test_a_file_that_was_read_in_part_is_behind_although_it_did_not_change(home: Home, top: Path, file: Path) -> None:
    """What a kill left of it: its size in the store is never the file's (field report B115)."""
    importing.import_paths(home, [top])
    last = limits.IMPORT_BATCH_MESSAGES + 1
    grow(file, *(line(f"seagull number{number}", number) for number in range(1, last + 1)))

    class KilledError(BaseException):
        pass

    def kill(*_: object) -> None:
        if stored(home, file).offset > limits.HEAD_DIGEST_BYTES:
            raise KilledError

    with pytest.raises(KilledError):
        importing.import_paths(home, [file], progress=kill)
    assert stored(home, file).size < file.stat().st_size
    assert snippets(ask(home, f"number{last}")) == [f"seagull number{last}"]


# ── what never makes a search fail ───────────────────────────────────────────────────────────────────────────────
def test_a_transcript_that_vanished_is_said_to_be_gone_and_stays(home: Home, top: Path, file: Path) -> None:
    """Its words are found, its session says that the file is missing, and when it comes back it is read on."""
    importing.import_paths(home, [top])
    text = file.read_text(encoding="utf-8")
    file.unlink()
    page = ask(home, "ferry")
    assert (snippets(page), page.diagnostics.sources_behind) == (["the ferry leaves"], 0)
    [row] = listing.sessions(home, OPERATOR, ListParams()).rows
    assert row.source_missing
    grow(file, text, line("a pelican came", 1))
    assert snippets(ask(home, "pelican")) == ["a pelican came"]
    [row] = listing.sessions(home, OPERATOR, ListParams()).rows
    assert not row.source_missing


def test_a_transcript_that_became_something_else_harms_nothing(home: Home, top: Path, file: Path) -> None:
    """Noise, a folder, a link to itself: what was said stays found."""
    importing.import_paths(home, [top])
    file.write_bytes(b"\x00\xff{{{{\n" * 50)
    assert snippets(ask(home, "ferry")) == ["the ferry leaves"]
    file.unlink()
    file.mkdir()
    assert snippets(ask(home, "ferry")) == ["the ferry leaves"]
    file.rmdir()
    file.symlink_to(file)
    assert snippets(ask(home, "ferry")) == ["the ferry leaves"]


def test_a_store_that_another_writes_to_is_left_for_the_next_search(home: Home, top: Path, file: Path) -> None:
    """The answer comes without waiting, says what is behind, and nothing of it is remembered (field report B91)."""
    importing.import_paths(home, [top])
    grow(file, line("a pelican came", 1))
    inside, leave = threading.Event(), threading.Event()

    def write() -> None:
        with home.store("claude-code").writing():
            inside.set()
            leave.wait()

    thread = threading.Thread(target=write)
    thread.start()
    inside.wait()
    try:
        page = ask(home, "pelican", wait_ms=0)
    finally:
        leave.set()
        thread.join()
    assert (snippets(page), page.diagnostics.sources_behind) == ([], 1)
    page = ask(home, "pelican")
    assert (snippets(page), page.diagnostics.sources_behind) == (["a pelican came"], 0)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else; run the tests as root to have this one")
def test_a_read_only_home_is_searched_and_says_what_is_behind() -> None:
    """As a user who may read it and no more."""
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder)
        file = grow(whole / "projects" / "one.jsonl", line("the ferry leaves", 0))
        with opening.open_home(whole / "home", environ={}) as made:
            importing.import_paths(made, [whole / "projects"])
        grow(file, line("a pelican came", 1))
        for path in (whole, *whole.rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
        reading, writing_end = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.setuid(NOBODY)
                with opening.open_home(whole / "home", environ={}) as made:
                    page = ask(made, "ferry")
                os.write(writing_end, json.dumps([snippets(page), page.diagnostics.sources_behind]).encode())
            finally:
                os._exit(0)
        os.close(writing_end)
        with os.fdopen(reading) as told:
            said = told.read()
        os.waitpid(child, 0)
    assert json.loads(said) == [["the ferry leaves"], 1]


def test_searches_at_the_same_time_import_a_line_once(tmp_path: Path, top: Path, file: Path) -> None:
    """Whoever is second sees that the file was read on; lines without an id would be there twice otherwise."""
    with opening.open_home(tmp_path / "home", environ={}) as made:
        importing.import_paths(made, [top])
    rounds, searchers = 12, 4
    gate = threading.Barrier(searchers)
    failed: list[BaseException] = []

    def search(first: bool) -> None:
        try:
            with opening.open_home(tmp_path / "home", environ={}) as made:
                for number in range(1, rounds + 1):
                    if first:
                        grow(file, line(f"pelican number{number}", number), json.dumps({"type": "mode", "sessionId": "one"}) + "\n")
                    gate.wait()
                    ask(made, f"number{number}")
                    gate.wait()
        except BaseException as error:  # noqa: BLE001 - told to the test below
            failed.append(error)
            gate.abort()

    threads = [threading.Thread(target=search, args=(number == 0,)) for number in range(searchers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    with opening.open_home(tmp_path / "home", environ={}) as made:
        ask(made, "pelican")
        with made.store("claude-code").reading() as view:
            [window] = view.windows(KEY)
            assert view.session(KEY).message_count == rounds + 1
            assert window.events == 2 * rounds + 1


def test_two_imports_at_the_same_time_bring_a_file_in_once(tmp_path: Path, file: Path) -> None:
    """The second begins again where the first has got to."""
    grow(file, *(line(f"pelican number{number}", number) + '{"type":"mode","sessionId":"one"}\n' for number in range(1, 3000)))
    gate = threading.Barrier(3)
    totals = []

    def bring() -> None:
        with opening.open_home(tmp_path / "home", environ={}) as made:
            made.new_store("claude-code")
            gate.wait()
            totals.append(importing.import_paths(made, [file]).totals)

    threads = [threading.Thread(target=bring) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [total.error for total in totals] == [None] * 3
    with opening.open_home(tmp_path / "home", environ={}) as made, made.store("claude-code").reading() as view:
        [window] = view.windows(KEY)
        assert (view.session(KEY).message_count, window.events) == (3000, 5999)


# ── who asks ─────────────────────────────────────────────────────────────────────────────────────────────────────
def test_a_session_sees_its_own_growth_and_learns_of_no_other(home: Home, top: Path, file: Path) -> None:
    """Sources of sessions that it may see are read on and counted; others, new ones and shared ones are not looked at."""
    hidden = grow(file.parent / "two.jsonl", line("an otter swims", 0, "two"))
    importing.import_paths(home, [top])
    writing.append(home, OPERATOR, "agent:main:main", [{"role": "user", "text": "begin"}])
    grow(hidden, line("another otter", 1, "two"))
    grow(file.parent / "three.jsonl", line("a third otter", 0, "three"))
    before = hidden.stat().st_size
    page = ask(home, "otter pelican", Caller(KEY))
    assert (page.hits, page.diagnostics.sources_behind) == ((), 0)
    assert stored(home, hidden).size < before
    grow(file, line("a pelican came", 1))
    page = ask(home, "pelican", Caller(KEY))
    assert (snippets(page), page.diagnostics.sources_behind) == (["a pelican came"], 0)
    assert stored(home, hidden).size < before


def test_a_source_that_a_hidden_session_shares_is_as_hidden(home: Home, top: Path, file: Path) -> None:
    """Counting it would tell that there is one."""
    grow(file, line("a seal dives", 1, isSidechain=True, parentUuid=None, agentId="x1"))
    importing.import_paths(home, [top])
    grow(file, line("a pelican came", 2))
    assert ask(home, "pelican", Caller("agent:claude-code:subagent:x1")).diagnostics.sources_behind == 0
    assert stored(home, file).size < file.stat().st_size
    assert snippets(ask(home, "pelican", Caller(KEY))) == ["a pelican came"]  # it sees what it spawned

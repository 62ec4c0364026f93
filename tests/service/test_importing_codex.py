"""Codex's rollouts in a store: forks and pages across files, growth, sidecars, and what is never found."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from wesaid import limits
from wesaid.service import exporting, history, importing, opening, searching
from wesaid.service.methods import HistoryParams, SearchParams
from wesaid.service.opening import Home
from wesaid.values import EVERYTHING, OPERATOR, SessionRow

THREAD = "019fc8be-3658-7ca3-9e29-0000000000aa"
FORK = "019fc8be-3658-7ca3-9e29-0000000000bb"
SEGMENT = "019fc8be-3658-7ca3-9e29-0000000000cc"
KEY = f"agent:codex:import:{THREAD}"


@pytest.fixture(params=["memory", "sqlite"])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Home]:
    with opening.memory_home() if request.param == "memory" else opening.open_home(tmp_path / "home") as made:
        yield made


@pytest.fixture
def codex(tmp_path: Path) -> Path:
    """A ``CODEX_HOME``."""
    made = tmp_path / "codex"
    (made / "sessions" / "2026" / "03" / "01").mkdir(parents=True)
    (made / "archived_sessions").mkdir()
    return made


def wrap(kind: str, second: int, payload: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"timestamp": f"2026-03-01T10:00:{second:02}.000Z", "type": kind, "payload": payload, **more}


def meta(thread: str = THREAD, **more: Any) -> dict[str, Any]:
    return wrap("session_meta", 0, {"id": thread, "cwd": "/w/demo", "source": "cli", **more})


def item(role: str, text: str, second: int = 1, **more: Any) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return wrap("response_item", second, {"type": "message", "role": role, "content": [{"type": kind, "text": text}], **more})


def shown(role: str, text: str, second: int = 1) -> dict[str, Any]:
    return wrap("event_msg", second, {"type": "user_message" if role == "user" else "agent_message", "message": text})


def turn(name: str) -> dict[str, Any]:
    return wrap("turn_context", 1, {"turn_id": name, "cwd": "/w/demo"})


def lines(records: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def rollout(codex: Path, records: list[dict[str, Any]], thread: str = THREAD, when: str = "2026-03-01T10-00-00", folder: str = "") -> Path:
    path = codex / (folder or "sessions/2026/03/01") / f"rollout-{when}-{thread}.jsonl"
    path.write_text(lines(records), encoding="utf-8")
    return path


def bring(home: Home, path: Path, **how: Any) -> dict[str, Any]:
    totals: dict[str, Any] = importing.import_paths(home, [path], **how).as_json()["totals"]
    assert totals["found"] == totals["imported"] + totals["updated"] + totals["unchanged"] + sum(totals["skipped"].values())
    return totals


def sessions(home: Home) -> dict[str, SessionRow]:
    store = home.engine.store("codex")
    if store is None:
        return {}
    with store.reading() as view:
        return {row.facts.key: row for row in view.sessions(EVERYTHING)}


def hits(home: Home, query: str) -> list[tuple[str, str]]:
    return [(hit.session_key, hit.message_id) for hit in searching.search(home, OPERATOR, SearchParams(query=query)).hits]


def said(home: Home, key: str = KEY) -> list[str]:
    return [message.text for message in history.history(home, OPERATOR, HistoryParams(session_key=key)).messages]


CHAT = [
    meta(),
    item("user", "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nnever mention the wombat\n</INSTRUCTIONS>"),
    item("user", "<environment_context>\n  <cwd>/w/demo</cwd>\n</environment_context>"),
    turn("t1"),
    item("user", "where is the albatross", 2),
    shown("user", "where is the albatross", 2),
    wrap("response_item", 3, {"type": "function_call", "name": "shell", "arguments": '{"cmd":"find wombat"}', "call_id": "c1"}),
    wrap("response_item", 3, {"type": "function_call_output", "call_id": "c1", "output": "a wombat in the output"}),
    shown("assistant", "behind the bittern", 4),
    item("assistant", "behind the bittern", 4, id="msg_1"),
]


def test_a_rollout_gives_what_was_said_once(home: Home, codex: Path) -> None:
    """Title, project and tool are the conversation's; instructions, tools and second tellings are neither found nor counted."""
    totals = bring(home, rollout(codex, CHAT))
    facts = sessions(home)[KEY].facts
    assert (totals["found"], totals["imported"], sessions(home)[KEY].message_count) == (2, 2, 2)
    assert (facts.title, facts.project, facts.tool, facts.kind) == ("where is the albatross", "/w/demo", "codex", "import")
    assert (hits(home, "albatross"), hits(home, "bittern"), hits(home, "wombat")) == ([(KEY, "t1.0")], [(KEY, "t1.3")], [])
    assert said(home) == ["where is the albatross", "behind the bittern"]
    assert bring(home, codex)["unchanged"] == 2


def test_what_stands_before_every_prompt_is_no_title(home: Home, codex: Path) -> None:
    """Sessions that all begin with the same blocks are told apart by what a person said, also where no interface told it (field report B46)."""
    blocks = [
        item("user", "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nbe nice\n</INSTRUCTIONS>"),
        item("user", "<environment_context>\n<cwd>/w</cwd>\n</environment_context>"),
        item("user", "<recommended_plugins>x</recommended_plugins>"),
        item("user", "<skill>\n<name>x</name>\n</skill>"),
    ]
    for thread, prompt in ((THREAD, "count the auks"), (FORK, "feed the skuas")):
        rollout(codex, [meta(thread), *blocks, item("user", prompt, 2), item("assistant", "done", 3)], thread)
    bring(home, codex)
    assert sorted(row.facts.title or "" for row in sessions(home).values()) == ["count the auks", "feed the skuas"]
    assert [len(hits(home, word)) for word in ("auks", "skuas", "plugins", "instructions")] == [1, 1, 0, 0]


def test_tools_are_in_the_history_of_who_asks_for_them(home: Home, codex: Path) -> None:
    """A call with its name and arguments, and what it gave."""
    bring(home, rollout(codex, CHAT))
    page = history.history(home, OPERATOR, HistoryParams(session_key=KEY, include_tools=True))
    assert [message.role for message in page.messages] == ["user", "assistant", "toolResult", "assistant"]
    assert page.messages[1].content[0]["name"] == "shell"
    assert page.messages[2].text == "a wombat in the output"


def test_a_compaction_is_a_boundary_and_the_past_stays(home: Home, codex: Path) -> None:
    """Its summary is not found, what it sums up is (field report B50)."""
    compacted = wrap("compacted", 5, {"message": "they spoke of wombats", "replacement_history": [CHAT[4]["payload"]]})
    bring(home, rollout(codex, [*CHAT, compacted, item("user", "and the dunnock", 6)]))
    assert (hits(home, "wombats"), len(hits(home, "albatross"))) == ([], 1)
    assert said(home)[2:] == ["Compaction", "and the dunnock"]


# ── across files ─────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("parent_first", [True, False])
@pytest.mark.parametrize("with_meta", [True, False])
def test_a_fork_shows_what_it_replays_once(home: Home, codex: Path, parent_first: bool, with_meta: bool) -> None:
    """Whichever file is read first; the fork names its parent, and both conversations can be read whole (field report B50)."""
    more = [turn("t2"), item("user", "the old cormorant", 8), shown("user", "the old cormorant", 8)]
    parent = rollout(codex, [*CHAT, *more])
    replay = [{**record, "timestamp": "2026-03-01T11:00:00.000Z"} for record in CHAT[1:]]
    own = [turn("t3"), item("user", "the new cormorant", 9), shown("user", "the new cormorant", 9)]
    head = [meta(FORK, forked_from_id=THREAD), *([meta()] if with_meta else [])]
    fork = rollout(codex, [*head, *replay, *own], FORK, "2026-03-01T11-00-00")
    for path in (parent, fork) if parent_first else (fork, parent):
        bring(home, path)
    key = f"agent:codex:import:{FORK}"
    assert sessions(home)[key].facts.forked_from == KEY
    assert (len(hits(home, "albatross")), len(hits(home, "bittern")), len(hits(home, "cormorant"))) == (1, 1, 2)
    assert said(home, key) == ["where is the albatross", "behind the bittern", "the new cormorant"]
    assert said(home) == ["where is the albatross", "behind the bittern", "the old cormorant"]


def test_a_subagent_belongs_to_the_thread_that_spawned_it(home: Home, codex: Path) -> None:
    """Under a key of its own; in a folder the spawner is read before it."""
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": THREAD, "depth": 1}}}
    rollout(codex, [meta(FORK, source=spawn, session_id=THREAD), item("user", "count the plovers")], FORK, "2026-01-01T00-00-00")
    rollout(codex, CHAT)
    bring(home, codex)
    facts = sessions(home)[f"agent:codex:subagent:{FORK}"].facts
    assert (facts.kind, facts.spawned_by, facts.forked_from) == ("subagent", KEY, None)


def paged(cut: int, *, name: str = f"{THREAD}_{SEGMENT}") -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Two pages of one thread: four turns' lines, and what was said after the thread was led back to line ``cut``."""
    first = [meta(history_mode="paginated")]
    for number, word in enumerate(("albatross", "bittern"), 1):
        first += [turn(f"t{number}"), item("user", f"see the {word}", number), wrap("event_msg", number, {"type": "task_complete"})]
    base = {"thread_id": THREAD, "end_ordinal_exclusive": cut}
    later = [meta(history_mode="paginated", history_base=base), turn("t9"), item("user", "see the cormorant", 30)]
    return [{**one, "ordinal": at} for at, one in enumerate(first)], [{**one, "ordinal": at} for at, one in enumerate(later, cut)]


@pytest.mark.parametrize("cut", [7, 4])
def test_pages_of_a_thread_are_one_session(home: Home, codex: Path, cut: int) -> None:
    """In order; nothing is lost or doubled, but what the thread was led back over is not found."""
    first, later = paged(cut)
    rollout(codex, later, f"{THREAD}_{SEGMENT}", "2026-03-02T09-00-00")
    rollout(codex, first)
    assert bring(home, codex)["imported"] == 3
    kept = ["see the albatross", *(["see the bittern"] if cut == 7 else []), "see the cormorant"]
    assert (set(sessions(home)), said(home), sessions(home)[KEY].message_count) == ({KEY}, kept, len(kept))
    assert len(hits(home, "bittern")) == (1 if cut == 7 else 0)
    assert (bring(home, codex)["unchanged"], said(home)) == (3, kept)
    with next((codex / "sessions").rglob(f"*{SEGMENT}.jsonl")).open("a") as file:
        file.write(lines([item("user", "see the dunnock", 40) | {"ordinal": cut + 3}]))
    assert (bring(home, codex)["imported"], said(home)) == (1, [*kept, "see the dunnock"])


def test_pages_read_in_the_wrong_order_lose_nothing(home: Home, codex: Path) -> None:
    """A page whose beginning comes later is still the same session."""
    first, later = paged(7)
    bring(home, rollout(codex, later, f"{THREAD}_{SEGMENT}", "2026-03-02T09-00-00"))
    bring(home, rollout(codex, first))
    assert set(sessions(home)) == {KEY}
    assert [len(hits(home, word)) for word in ("albatross", "bittern", "cormorant")] == [1, 1, 1]


def test_an_archived_rollout_says_so_and_is_no_second_session(home: Home, codex: Path) -> None:
    """The copy in the archive adds nothing but that."""
    rollout(codex, CHAT)
    bring(home, codex)
    assert sessions(home)[KEY].facts.archived_at is None
    rollout(codex, CHAT, folder="archived_sessions")
    assert bring(home, codex / "archived_sessions")["skipped"] == {"copy": 2}
    assert (set(sessions(home)), sessions(home)[KEY].facts.archived_at) == ({KEY}, 1772359204000)


# ── sidecars ─────────────────────────────────────────────────────────────────────────────────────────────────────
def test_the_index_beside_the_sessions_gives_titles(home: Home, codex: Path) -> None:
    """The last name of a thread; a damaged line costs only itself. Neither it nor the prompt log is a transcript."""
    rollout(codex, CHAT)
    names = [{"id": THREAD, "thread_name": "old"}, {"id": THREAD, "thread_name": "Harbour birds"}, {"id": FORK, "thread_name": "other"}]
    (codex / "session_index.jsonl").write_text("{broken\n" + lines(names))
    (codex / "history.jsonl").write_text(lines([{"session_id": THREAD, "ts": 1772359202, "text": "where is the albatross"}]))
    (codex / "old.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfd")
    (codex / "rollout-2025-04-20-x.json").write_text('{"session": {"id": "x"}, "items": []}')
    (codex / "exec.jsonl").write_text(lines([{"type": "thread.started", "thread_id": THREAD}, {"type": "turn.started"}]))
    totals = bring(home, codex)
    assert totals["skipped"] == {"compressed": 1, "prompt-log": 1, "session-list": 1, "unsupported-format": 2}
    assert (totals["imported"], sessions(home)[KEY].facts.title) == (2, "Harbour birds")


def test_the_known_places_are_read(home: Home, codex: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``CODEX_HOME`` names them."""
    for variable in ("HOME", "OPENCLAW_STATE_DIR", "CLAUDE_CONFIG_DIR"):
        monkeypatch.setenv(variable, str(codex / "none"))
    monkeypatch.setenv("CODEX_HOME", str(codex))
    rollout(codex, CHAT)
    assert importing.import_paths(home, []).totals.imported == 2


# ── the invariants of an import ──────────────────────────────────────────────────────────────────────────────────
def test_a_rollout_that_grows_line_by_line_is_the_same(home: Home, codex: Path) -> None:
    """Imported after every half line: nothing is doubled or lost, and a half line waits."""
    records = [*CHAT, wrap("event_msg", 5, {"type": "turn_aborted"}), item("user", "and the dunnock", 6), shown("user", "and the dunnock", 6),
               wrap("event_msg", 7, {"type": "thread_rolled_back", "num_turns": 1}), item("user", "or the egret", 8)]  # fmt: skip
    path = rollout(codex, [])
    whole = lines(records).encode()
    imported = 0
    for end in (end for at in _line_ends(whole) for end in (at - 9, at)):
        path.write_bytes(whole[:end])
        totals = bring(home, path, tool="codex")
        imported += totals["imported"]
        assert totals["pending"] == (0 if whole[:end].endswith(b"\n") else 1)
    assert (imported, said(home)) == (4, ["where is the albatross", "behind the bittern", "or the egret"])
    assert (hits(home, "dunnock"), len(hits(home, "egret"))) == ([], 1)


def _line_ends(data: bytes) -> list[int]:
    return [at + 1 for at, byte in enumerate(data) if byte == ord("\n")]


def test_small_transactions_give_the_same(home: Home, codex: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever a batch ends: pairs are told across it."""
    monkeypatch.setattr(limits, "IMPORT_BATCH_MESSAGES", 1)
    assert bring(home, rollout(codex, CHAT))["imported"] == 2


def test_a_rewritten_rollout_updates_what_changed(home: Home, codex: Path) -> None:
    """A line that is another one now is found by its new words only."""
    path = rollout(codex, CHAT)
    bring(home, path)
    changed = [json.loads(json.dumps(record).replace("albatross", "avocet")) for record in CHAT]
    path.write_text(lines(changed))
    os.utime(path, ns=(1, 1))
    totals = bring(home, path)
    assert (totals["imported"], totals["updated"], totals["unchanged"]) == (0, 1, 1)
    assert (hits(home, "albatross"), len(hits(home, "avocet")), said(home)) == ([], 1, ["where is the avocet", "behind the bittern"])


def test_damage_costs_only_itself(home: Home, codex: Path) -> None:
    """Two records on a line, a cut one before a whole one, a run of NUL, a lone surrogate."""
    path = rollout(codex, CHAT)
    two = json.dumps(item("user", "x dunnock")) + json.dumps(item("assistant", "y egret"))
    cut = json.dumps(item("user", "lost"))[:40] + json.dumps(item("user", "z fulmar"))
    lone = '{"timestamp":"2026-03-01T10:00:09Z","type":"event_msg","payload":{"type":"user_message","message":"cut \\ud83d gannet"}}'
    with path.open("a") as file:
        file.write(f"{two}\n{cut}\n" + "\x00" * 9 + f"\n{lone}\n")
    totals = bring(home, path)
    assert (totals["imported"], totals["damagedLines"]) == (6, 2)
    assert [len(hits(home, word)) for word in ("dunnock", "egret", "fulmar", "gannet")] == [1, 1, 1, 1]


def test_a_session_that_says_so_is_not_indexed_and_private_words_stay_out(home: Home, codex: Path) -> None:
    """The marker in either telling; a private span is no part of what is found."""
    rollout(codex, [*CHAT, shown("user", "keep out <!-- wesaid: do not index -->", 9)])
    assert bring(home, codex)["skipped"] == {"do-not-index": 3}
    rollout(codex, [meta(FORK), item("user", "a <private>wombat</private> dunnock")], FORK)
    bring(home, codex)
    assert (hits(home, "wombat"), len(hits(home, "dunnock")), hits(home, "albatross")) == ([], 1, [])


def test_ignored_rollouts_are_not_read(home: Home, codex: Path) -> None:
    """``.wesaidignore`` of a folder above; the account says so."""
    rollout(codex, CHAT)
    (codex / ".wesaidignore").write_text("2026/\n")
    assert [source.skipped for source in importing.import_paths(home, [codex]).sources] == [{"ignored": 1}]


def test_an_export_imports_again_to_the_same_thing(home: Home, codex: Path, tmp_path: Path) -> None:
    """All lines come back, second tellings too."""
    bring(
        home, rollout(codex, [*CHAT, wrap("event_msg", 7, {"type": "thread_rolled_back", "num_turns": 1}), item("user", "or the egret", 8)])
    )
    path = tmp_path / "again.jsonl"
    path.write_text("".join(exporting.export(home, OPERATOR, KEY, reveal=True)))
    with opening.memory_home() as other:
        assert bring(other, path)["imported"] == 3
        assert (said(other), sorted(sessions(other))) == (said(home), [KEY])


def test_an_opened_and_closed_thread_is_no_session(home: Home, codex: Path) -> None:
    """Nobody said anything in it yet; when somebody does, it begins."""
    path = rollout(codex, CHAT[:4])
    assert (bring(home, path)["sessions"], sessions(home)) == (0, {})
    path.write_text(lines(CHAT))
    assert bring(home, path)["imported"] == 2

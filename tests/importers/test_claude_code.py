"""Claude Code's transcripts: conversations, chains and roles."""

from __future__ import annotations

from typing import Any

import pytest

from wesaid import importers
from wesaid.importers import claude_code
from wesaid.importers.known import MAIN, Reader
from wesaid.rules import branch
from wesaid.values import Event

PATH = "/p/s1.jsonl"


def line(uuid: str, parent: str | None, text: str = "x", **more: Any) -> dict[str, Any]:
    role = more.pop("type", "user")
    message = {"role": role, "content": text if role == "user" else [{"type": "text", "text": text}], **more.pop("message", {})}
    return {"type": role, "uuid": uuid, "parentUuid": parent, "sessionId": "s1", "isSidechain": False, "message": message, **more}


def silent(uuid: str, parent: str | None, **more: Any) -> dict[str, Any]:
    return {"type": "attachment", "uuid": uuid, "parentUuid": parent, "sessionId": "s1", "isSidechain": False, **more}


def run(records: list[dict[str, Any]]) -> tuple[Reader, list[tuple[str, Event]]]:
    reader = claude_code.DIALECT.reader(claude_code.DIALECT.source(PATH, records, "claude-code"), None, 7)
    return reader, [reader.read(record) for record in records]


def visible(records: list[dict[str, Any]], slot: str = MAIN) -> list[str | None]:
    events = [event for where, event in run(records)[1] if where == slot]
    return [events[at].nav.id for at in branch.resolve([event.nav for event in events]).path]


def test_an_edited_prompt_abandons_what_followed_the_old_one() -> None:
    """Siblings: the last one's chain is the active branch, also when the chain runs through lines that say nothing."""
    records = [line("a", None), line("b", "a", type="assistant"), silent("h", "b"), line("c", "h"), line("d", "c", type="assistant"),
               silent("h2", "b"), line("c2", "h2"), line("d2", "c2", type="assistant")]  # fmt: skip
    assert visible(records) == ["a", "b", "c2", "d2"]


def test_a_silent_line_at_the_end_hides_nothing() -> None:
    """A late hook that hangs from an older line does not move the branch."""
    assert visible([line("a", None), line("b", "a", type="assistant"), line("c", "b"), silent("h", "a")]) == ["a", "b", "c"]


@pytest.mark.parametrize(
    "between", [silent("h", None), silent("h", None, type="system", subtype="compact_boundary", logicalParentUuid="gone")]
)
def test_a_conversation_that_goes_on_after_a_break_is_one(between: dict[str, Any]) -> None:
    """A hook without a parent (a resume), a boundary whose parent was never written (a compaction): what came before stays."""
    records = [line("a", None), line("b", "a", type="assistant"), between, line("s", "h", isCompactSummary=True), line("c", "s")]
    assert visible(records) == ["a", "b", "s", "c"]


def test_a_parent_that_was_never_written_continues_the_line_before() -> None:
    """Neither side is dropped (field report B43)."""
    assert visible([line("a", None), line("b", "a", type="assistant"), line("c", "phantom")]) == ["a", "b", "c"]


def test_a_first_prompt_that_was_edited_starts_over() -> None:
    """A person's line without a parent is a new beginning; a machine's is not."""
    assert visible([line("a", None), line("b", "a", type="assistant"), line("a2", None)]) == ["a2"]
    assert visible([line("a", None), line("b", "a", type="assistant"), line("m", None, isMeta=True)]) == ["a", "b", "m"]


def test_the_lines_of_one_reply_are_all_visible_and_partial_ones_are_replaced() -> None:
    """Blocks of one reply follow each other; a line that begins with all that the one before it said takes its place."""
    api = {"message": {"id": "msg_1"}, "type": "assistant"}
    assert visible([line("a", None), line("b", "a", "first block", **api), line("c", "b", "second block", **api)]) == ["a", "b", "c"]
    api = {"message": {"id": "msg_1"}, "type": "assistant"}
    growing = [
        line("a", None),
        line("b", "a", "Hel", **dict(api)),
        line("c", "b", "Hello wor", **dict(api)),
        line("d", "c", "Hello world", **dict(api)),
    ]
    for record, text in zip(growing[1:], ("Hel", "Hello wor", "Hello world"), strict=True):
        record["message"] = {"id": "msg_1", "role": "assistant", "content": [{"type": "text", "text": text}]}
    assert visible(growing) == ["a", "d"]


def reply(uuid: str, parent: str, text: str | None, api: str = "m1") -> dict[str, Any]:
    block = {"type": "text", "text": text} if text else {"type": "tool_use", "id": f"t-{uuid}", "name": "Read", "input": {}}
    return line(uuid, parent, type="assistant", message={"id": api, "role": "assistant", "content": [block]})


def result(uuid: str, parent: str) -> dict[str, Any]:
    content = [{"type": "tool_result", "tool_use_id": f"t-{parent}", "content": "out"}]
    return line(uuid, parent, message={"role": "user", "content": content}, toolUseResult={"stdout": "out"})


@pytest.mark.parametrize("named", ["b", "rb", "c", "rc", "d", "rd"])
def test_parallel_calls_put_no_line_of_their_reply_off_the_path(named: str) -> None:
    """Results hang from their calls, texts stand between: whichever of all that the next reply names, everything stays visible."""
    records = [line("a", None), reply("b", "a", None), result("rb", "b"), reply("c", "b", "words in between"), result("rc", "c"),
               reply("d", "c", None), result("rd", "d"), reply("e", named, "and after", "m2")]  # fmt: skip
    assert visible(records) == ["a", "b", "rb", "c", "rc", "d", "rd", "e"]


def test_blocks_of_one_reply_that_are_siblings_are_all_visible() -> None:
    """Each with the same parent; also when a hook stands between, and a growing one still replaces what it grew from."""
    records = [
        line("a", None),
        reply("b", "a", "first"),
        silent("h", "a"),
        reply("c", "a", None),
        reply("d", "a", "second"),
        line("e", "d"),
    ]
    assert visible(records) == ["a", "b", "c", "d", "e"]
    assert visible([line("a", None), reply("b", "a", "Hel"), reply("c", "a", "Hello"), line("e", "c")]) == ["a", "c", "e"]


def test_a_line_that_is_written_again_keeps_its_place() -> None:
    """The same UUID with more of its text, at the end of a turn and in the middle of one."""
    assert visible([line("a", None), reply("b", "a", "Hel"), reply("b", "a", "Hello"), line("c", "b")]) == ["a", "b", "c"]
    twice = [
        line("a", None),
        reply("b", "a", "one"),
        reply("c", "b", "two"),
        reply("b", "a", "one and more"),
        reply("d", "c", "three"),
        line("e", "d"),
    ]
    assert visible(twice) == ["a", "b", "c", "d", "e"]


def test_a_reply_after_a_failed_request_stays_when_the_next_prompt_hangs_from_the_failure() -> None:
    """Seen in the wild: the error and the recovered reply are siblings, and what follows names the error."""
    error = silent("x", "a", type="system", subtype="api_error")
    after = silent("s", "x", type="system", subtype="stop_hook_summary")
    assert visible([line("a", None), error, reply("b", "a", "recovered"), after, line("c", "s")]) == ["a", "b", "c"]
    assert visible([line("a", None), error, reply("b", "a", None), result("r", "b"), after, line("c", "s")]) == ["a", "b", "r", "c"]


def test_another_attempt_at_a_prompt_leaves_the_first_one() -> None:
    """A reply with another API id on the same prompt is a new branch, not more of the old one."""
    assert visible([line("a", None), reply("b", "a", "one try"), reply("c", "a", "another", "m2")]) == ["a", "c"]


def test_lines_of_subagents_are_conversations_of_their_own() -> None:
    """Chains that run side by side are told apart; each names the session that spawned it."""
    side = {"isSidechain": True}
    records = [line("a", None), line("x", None, "task one", **side), line("y", None, "task two", **side), line("x2", "x", type="assistant", **side),
               line("y2", "y", type="assistant", **side), line("z", None, agentId="abc", **side), line("b", "a", type="assistant")]  # fmt: skip
    reader, _ = run(records)
    assert (visible(records), visible(records, "x"), visible(records, "y"), visible(records, "abc")) == (
        ["a", "b"],
        ["x", "x2"],
        ["y", "y2"],
        ["z"],
    )
    assert reader.told["x"].key == "agent:claude-code:subagent:x"
    assert reader.told["x"].spawned_by == "agent:claude-code:import:s1"


def test_a_reader_goes_on_from_its_state() -> None:
    """Every line read by a second reader gives what the first would have given."""
    records = [
        line("a", None),
        silent("h", "a"),
        line("x", None, isSidechain=True),
        line("b", "h", type="assistant"),
        line("x2", "x", isSidechain=True),
    ]
    source = claude_code.DIALECT.source(PATH, records, "claude-code")
    whole = [event.nav for _, event in run(records)[1]]
    for cut in range(len(records)):
        first = claude_code.DIALECT.reader(source, None, 7)
        navs = [first.read(record)[1].nav for record in records[:cut]]
        second = claude_code.DIALECT.reader(source, first.state(), 7)
        assert navs + [second.read(record)[1].nav for record in records[cut:]] == whole
        assert set(second.told) == {MAIN, "x"}


@pytest.mark.parametrize(
    ("path", "records", "key", "spawned_by"),
    [
        (PATH, [line("a", None)], "agent:claude-code:import:s1", None),
        ("/p/other.jsonl", [line("a", None)], "agent:claude-code:import:s1", None),
        ("/p/stem.jsonl", [{"type": "summary", "summary": "x", "leafUuid": "u"}], "agent:claude-code:import:stem", None),
        ("/p/agent-ab.jsonl", [line("a", None, isSidechain=True)], "agent:claude-code:subagent:ab", "agent:claude-code:import:s1"),
        ("/p/S/subagents/agent-ab.jsonl", [line("a", None, isSidechain=True, sessionId="agent-ab", agentId="ab")],
         "agent:claude-code:subagent:ab", "agent:claude-code:import:S"),
    ],
)  # fmt: skip
def test_a_file_lands_by_its_content(path: str, records: list[dict[str, Any]], key: str, spawned_by: str | None) -> None:
    """Session id, else stem; a subagent's file, in both layouts, under its agent id with the session that spawned it."""
    source = claude_code.DIALECT.source(path, records, "claude-code")
    assert (source.key, source.spawned_by) == (key, spawned_by)


A_UUID = "0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f"


@pytest.mark.parametrize(
    ("path", "key", "spawned_by"),
    [
        ("/p/S/subagents/agent-ab.jsonl", "agent:claude-code:subagent:ab", "agent:claude-code:import:s1"),
        ("/p/S/subagents/workflows/w1/agent-ab.jsonl", "agent:claude-code:subagent:ab", "agent:claude-code:import:s1"),
        ("/subagents/p/S/subagents/agent-ab.jsonl", "agent:claude-code:subagent:ab", "agent:claude-code:import:s1"),
        (f"/p/{A_UUID}.jsonl", f"agent:claude-code:import:{A_UUID}", None),
    ],
)
def test_a_name_that_tells_is_believed(path: str, key: str, spawned_by: str | None) -> None:
    """Folders of subagents at any depth, whatever the lines' flags; a transcript that is named after its session, whatever its lines copied."""
    source = claude_code.DIALECT.source(path, [line("a", None)], "claude-code")
    assert (source.key, source.spawned_by) == (key, spawned_by)
    assert source.forked_from == (None if spawned_by else "agent:claude-code:import:s1")


def test_a_sidecar_tells_what_a_subagent_is_for_and_who_spawned_it() -> None:
    """A nested one belongs to the subagent that it names; a sidecar of nonsense says nothing."""
    source = claude_code.DIALECT.source("/p/S/subagents/agent-ab.jsonl", [line("a", None, isSidechain=True)], "claude-code")
    nested = claude_code.described(source, {"agentType": "Explore", "description": "Look", "parentAgentId": "cd", "spawnDepth": 2})
    told = claude_code.DIALECT.reader(nested, None, 7)
    told.read(line("a", None, isSidechain=True))
    assert (told.told[MAIN].better_title, told.told[MAIN].extra["agentType"]) == ("Look", "Explore")
    assert told.told[MAIN].spawned_by == "agent:claude-code:subagent:cd"
    odd = claude_code.described(source, {"agentType": 5, "description": None, "parentAgentId": ["x"]})
    assert odd.spawned_by == "agent:claude-code:import:s1"


def test_inline_subagents_are_called_what_their_call_says() -> None:
    """The call's description and type, found by the prompt; one that a subagent spawned belongs to it."""

    def call(uuid: str, parent: str, prompt: str, what: str, **more: Any) -> dict[str, Any]:
        made = {"type": "tool_use", "id": "t", "name": "Task", "input": {"prompt": prompt, "description": what, "subagent_type": "Plan"}}
        return line(uuid, parent, type="assistant", message={"role": "assistant", "content": [made]}, **more)

    records = [line("a", None), call("b", "a", "go there", "Going"), line("x", None, "go there", isSidechain=True),
               call("y", "x", "further", "Further on", isSidechain=True), line("z", None, "further", isSidechain=True)]  # fmt: skip
    told = run(records)[0].told
    assert [(told[slot].better_title, told[slot].extra["agentType"]) for slot in ("x", "z")] == [("Going", "Plan"), ("Further on", "Plan")]
    assert (told["x"].spawned_by, told["z"].spawned_by) == ("agent:claude-code:import:s1", "agent:claude-code:subagent:x")


def test_warm_ups_and_compactions_are_not_worth_reading() -> None:
    """A subagent that was only warmed up, and the copy of a conversation that compacting it leaves."""
    side = {"isSidechain": True}
    assert claude_code.left_out("/p/agent-1.jsonl", [line("a", None, "Warmup", **side)]) == "warm-up"
    assert claude_code.left_out("/p/agent-acompact-1.jsonl", [line("a", None, "anything", **side)]) == "compaction"
    assert claude_code.left_out("/p/agent-1.jsonl", [line("a", None, "Warmup the oven", **side)]) is None


def role(record: dict[str, Any]) -> str:
    seen = importers.view("claude-code", record)
    assert seen is not None
    return str(seen["message"]["role"])


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (line("a", None), "user"),
        (line("a", None, origin={"kind": "human"}), "user"),
        (line("a", None, origin={"kind": "queued"}, promptSource="queued"), "user"),
        (line("a", None, origin={"kind": "task-notification"}), "custom"),
        (line("a", None, origin={"kind": "peer"}), "custom"),
        (line("a", None, origin={"kind": "hook"}), "custom"),
        (line("a", None, isMeta=True), "custom"),
        (line("a", None, isCompactSummary=True), "custom"),
        (line("a", None, promptSource="system"), "custom"),
        (line("a", None, "<command-name>/model</command-name>\n<command-args>x</command-args>"), "custom"),
        (line("a", None, "<command-name>/review</command-name>\n<command-args>the parser</command-args>"), "user"),
        (line("a", None, message={"content": [{"type": "tool_result", "content": "out"}]}), "toolResult"),
        (line("a", None, message={"content": [{"type": "tool_result", "content": "o"}, {"type": "text", "text": "stop that"}]}), "user"),
        (line("a", None, toolUseResult={"stdout": "x"}), "toolResult"),
        (line("a", None, type="assistant"), "assistant"),
        (line("a", None, type="assistant", isApiErrorMessage=True), "custom"),
        (line("a", None, type="assistant", message={"model": "<synthetic>"}), "custom"),
    ],
)
def test_a_line_has_a_speaker_only_when_somebody_spoke(record: dict[str, Any], expected: str) -> None:
    """What a program put into the user's or assistant's mouth has a role that search passes by (field report B45)."""
    assert role(record) == expected


def test_blocks_have_openclaws_names() -> None:
    """Tool calls, images and thinking look as OpenClaw's do, so that one history serves both."""
    blocks = [
        {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "omitted": True, "bytes": 5, "sha256": "0"}},
        {"type": "thinking", "thinking": "hm", "signature": "s"},
    ]
    seen = importers.view("claude-code", line("a", None, type="assistant", message={"content": blocks}))
    assert seen is not None
    assert seen["message"]["content"] == [
        {"type": "toolCall", "id": "t", "name": "Bash", "arguments": {"command": "ls"}},
        {"type": "image", "mimeType": "image/png", "omitted": True, "bytes": 5, "sha256": "0"},
        {"type": "thinking", "thinking": "hm"},
    ]


def test_titles_are_told_in_order_of_who_made_them() -> None:
    """A person's, the tool's, and summaries by the message that they end at."""
    records = [line("a", None), {"type": "ai-title", "aiTitle": "made"}, {"type": "custom-title", "customTitle": "chosen"},
               {"type": "summary", "summary": "sum", "leafUuid": "a"}, {"type": "future-thing", "x": 1}]  # fmt: skip
    told = run(records)[0].told[MAIN]
    assert (told.title, told.better_title, told.summaries) == ("chosen", "made", {"a": "sum"})

"""Codex's rollouts: whose a file is, which telling of a turn is the message, what hangs from what, and what nobody said."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wesaid import importers
from wesaid.importers import codex
from wesaid.importers.codex.said import without_envelopes
from wesaid.importers.known import MAIN, Told
from wesaid.rules import branch, searchable
from wesaid.rules.redact import BUILT_IN
from wesaid.service.preparing import prepare
from wesaid.values import Event, NavKind

THREAD = "019fc8be-3658-7ca3-9e29-0000000000aa"
PARENT = "019fc8be-3658-7ca3-9e29-0000000000bb"
SEGMENT = "019fc8be-3658-7ca3-9e29-0000000000cc"
PATH = f"/h/.codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-{THREAD}.jsonl"
WHEN = "2026-03-01T10:00:00.000Z"


def wrap(kind: str, payload: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"timestamp": WHEN, "type": kind, "payload": payload, **more}


def meta(thread: str = THREAD, **more: Any) -> dict[str, Any]:
    return wrap("session_meta", {"id": thread, "cwd": "/w/demo", "source": "cli", **more})


def item(role: str, *texts: str, **more: Any) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return wrap("response_item", {"type": "message", "role": role, "content": [{"type": kind, "text": text} for text in texts], **more})


def event(role: str, text: str) -> dict[str, Any]:
    return wrap("event_msg", {"type": "user_message" if role == "user" else "agent_message", "message": text})


def done(role: str, text: str) -> dict[str, Any]:
    kind, block = ("UserMessage", "text") if role == "user" else ("AgentMessage", "Text")
    return wrap(
        "event_msg", {"type": "item_completed", "item": {"type": kind, "id": f"item-{text}", "content": [{"type": block, "text": text}]}}
    )


def told_of(kind: str, **more: Any) -> dict[str, Any]:
    return wrap("event_msg", {"type": kind, **more})


def turn(name: str) -> dict[str, Any]:
    return wrap("turn_context", {"turn_id": name, "cwd": "/w/demo"})


def run(records: list[dict[str, Any]], path: str = PATH) -> tuple[Told, list[Event]]:
    reader = codex.DIALECT.reader(codex.DIALECT.source(path, records, "codex"), None, 7)
    events = [reader.read(record)[1] for record in records]
    return reader.told[MAIN], events


def texts(records: list[dict[str, Any]]) -> list[str]:
    """What a search finds, in order: the words on the visible path, as the service prepares them."""
    events = run(records)[1]
    path = [events[at] for at in branch.resolve([one.nav for one in events]).path]
    found = []
    for one in path:
        words = searchable.searchable(importers.view("codex", one.record))
        if prepare(BUILT_IN, "codex", one).said is not None and words is not None:
            found.append(f"{words.role[0]}:{words.text}")
    return found


# ── which telling is the message ─────────────────────────────────────────────────────────────────────────────────
ORDERS = [
    pytest.param(lambda role, text: [item(role, text)], id="history only, as codex exec"),
    pytest.param(lambda role, text: [event(role, text)], id="interface only"),
    pytest.param(lambda role, text: [done(role, text)], id="items only"),
    pytest.param(lambda role, text: [item(role, text), event(role, text)], id="history first"),
    pytest.param(lambda role, text: [event(role, text), item(role, text)], id="interface first"),
    pytest.param(lambda role, text: [item(role, text), told_of("token_count"), done(role, text)], id="paginated"),
    pytest.param(lambda role, text: [event(role, f" {text}\n"), told_of("token_count"), item(role, text)], id="other white space"),
]


@pytest.mark.parametrize("tell", ORDERS)
def test_each_turn_is_said_once_however_often_it_is_told(tell: Any) -> None:
    """Also when the same words are said again and again, since every saying has its own tellings."""
    said = [("user", "go on"), ("assistant", "Ok"), ("assistant", "Ok"), ("user", "go on"), ("assistant", "Ok")]
    records = [meta(), *(record for role, text in said for record in tell(role, text))]
    assert ["".join(text.split()) for text in texts(records)] == [f"{role[0]}:{text}".replace(" ", "") for role, text in said]


def test_a_file_may_tell_some_turns_once_and_others_twice() -> None:
    """A prompt of the interface alone, later, is no second telling of one that the history alone told before."""
    records = [
        meta(),
        item("user", "next"),
        item("assistant", "done"),
        event("user", "next"),
        event("assistant", "done"),
        item("assistant", "done"),
    ]
    assert texts(records) == ["u:next", "a:done", "u:next", "a:done"]


@pytest.mark.parametrize("marker", [[], [item("user", "<turn_aborted>\n  <reason>interrupted</reason>\n</turn_aborted>")]])
def test_a_prompt_that_is_sent_again_after_an_abort_is_one(marker: list[dict[str, Any]]) -> None:
    """Both of its tellings, and again; the next different prompt is another, and so is the same one after an answer."""
    prompt = [item("user", "fix it"), event("user", "fix it")]
    aborted = [*marker, told_of("turn_aborted", reason="interrupted")]
    records = [
        meta(),
        *prompt,
        *aborted,
        *prompt,
        *aborted,
        *prompt,
        item("assistant", "fixed"),
        *prompt,
        *aborted,
        item("user", "leave it"),
    ]
    assert texts(records) == ["u:fix it", "a:fixed", "u:fix it", "u:leave it"]


def test_blocks_are_one_telling_however_they_are_joined() -> None:
    """The interface puts them together without a line end."""
    assert texts([meta(), item("user", "look at", "this"), event("user", "look atthis")]) == ["u:look at\nthis"]


# ── what nobody said ─────────────────────────────────────────────────────────────────────────────────────────────
NOBODY = [
    item("developer", "secretword"),
    item("system", "secretword"),
    wrap(
        "response_item",
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "secretword"}], "encrypted_content": "secretword"},
    ),
    wrap("response_item", {"type": "function_call", "name": "shell", "arguments": '{"c":"secretword"}', "call_id": "c"}),
    wrap("response_item", {"type": "function_call_output", "call_id": "c", "output": "secretword"}),
    wrap("response_item", {"type": "custom_tool_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "secretword"}]}),
    wrap("response_item", {"type": "agent_message", "author": "a", "content": [{"type": "input_text", "text": "secretword"}]}),
    wrap("response_item", {"type": "ghost_snapshot", "text": "secretword"}),
    wrap("compacted", {"message": "secretword", "replacement_history": [item("user", "secretword")["payload"]]}),
    wrap("world_state", {"state": {"text": "secretword"}}),
    wrap("inter_agent_communication", {"message": "secretword"}),
    told_of("agent_reasoning", text="secretword"),
    told_of("task_complete", last_agent_message="secretword"),
    told_of("exited_review_mode", review_output={"overall_explanation": "secretword"}),
    told_of("context_compacted"),
    told_of("thread_goal_updated", goal={"objective": "secretword"}),
    told_of("item_completed", item={"type": "Reasoning", "summary_text": ["secretword"]}),
    told_of("item_completed", item={"type": "CommandExecution", "aggregated_output": "secretword"}),
    told_of("something_new", message="secretword"),
    wrap("something_else_new", {"type": "message", "role": "user", "content": "secretword"}),
    {"record_type": "state", "text": "secretword"},
    {"type": "function_call_output", "call_id": "c", "output": "secretword"},
]


@pytest.mark.parametrize("record", NOBODY)
def test_what_no_person_and_no_model_said_is_not_searchable(record: dict[str, Any]) -> None:
    """It is kept all the same, and what is said around it stays."""
    records = [meta(), item("user", "before"), record, item("assistant", "after")]
    assert texts(records) == ["u:before", "a:after"]
    assert run(records)[1][2].record == record


def test_what_the_interface_does_not_show_of_a_reply_parts_no_pair() -> None:
    """Citations of memory are no words; a plan is told beside what is said around it, and found once."""
    cited = item("assistant", "as said\n<oai-mem-citation>\nsecretword\n</oai-mem-citation>")
    assert texts([meta(), cited, event("assistant", "as said")]) == texts([meta(), event("assistant", "as said"), cited]) == ["a:as said"]
    plan = told_of("item_completed", item={"type": "Plan", "id": "p", "text": "step one"})
    whole = item("assistant", "My plan:\n<proposed_plan>\nstep one\n</proposed_plan>")
    for records in (
        [whole, event("assistant", "My plan:"), plan],
        [event("assistant", "My plan:"), whole, plan],
        [event("assistant", "My plan:"), plan, whole],
    ):
        found = "\n".join(texts([meta(), *records]))
        assert (found.count("My plan"), found.count("step one")) == (1, 1)


def test_a_picture_alone_is_a_turn() -> None:
    """Nothing of it is found, and a rollback counts it."""
    picture = wrap("response_item", {"type": "message", "role": "user", "content": [{"type": "input_image", "omitted": True, "bytes": 9}]})
    back = told_of("thread_rolled_back", num_turns=1)
    assert texts([meta(), item("user", "one"), picture, item("assistant", "a bird"), back]) == ["u:one"]


def test_encrypted_blocks_and_images_beside_words_leave_the_words() -> None:
    """A block that is no text says nothing; an image is shown as one."""
    blocks = [{"type": "encrypted_content", "encrypted_content": "x"}, {"type": "input_text", "text": "look"},
              {"type": "input_image", "omitted": True, "bytes": 9, "mimeType": "image/png"}]  # fmt: skip
    record = wrap("response_item", {"type": "message", "role": "user", "content": blocks})
    seen = importers.view("codex", record)
    assert seen is not None
    assert seen["message"]["content"] == [
        {"type": "text", "text": "look"},
        {"type": "image", "omitted": True, "bytes": 9, "mimeType": "image/png"},
    ]


ENVELOPES = [
    "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nBe nice, and never write </INSTRUCTIONS> here\n</INSTRUCTIONS>",
    "# AGENTS.md instructions\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>",
    "<INSTRUCTIONS>x</INSTRUCTIONS>",
    "<user_instructions>\nx\n</user_instructions>",
    "<environment_context>\n<cwd>/w</cwd>\n</environment_context>",
    "<permissions instructions>x</permissions instructions>",
    "<recommended_plugins>x</recommended_plugins>",
    "<skill>\n<name>x</name>\n</skill>",
    "<turn_aborted>x</turn_aborted>",
    "<user_action>x</user_action>",
    "<SUBAGENT_NOTIFICATION>{}</subagent_notification>",
    '<codex_internal_context source="goal">\nContinue working toward the active thread goal.\n</codex_internal_context>',
    '<hook_prompt hook_run_id="r">x</hook_prompt>',
    "<user_shell_command>ls</user_shell_command>",
]
WHOLES = [
    "# AGENTS.md instructions for /w\n\nno tags at all",
    "Continue working toward the active thread goal.\n\nmore",
    "<image name=[Image #1]>",
    "</image>",
]


@pytest.mark.parametrize("envelope", ENVELOPES)
def test_an_envelope_in_front_is_no_ones_words(envelope: str) -> None:
    """In a block of its own, in front of a prompt, stacked; the prompt is the same message as its clean telling."""
    assert texts([meta(), item("user", envelope)]) == []
    assert texts([meta(), item("user", envelope, "where is it")]) == ["u:where is it"]
    stacked = f"\n{envelope}\n\n{ENVELOPES[4]}\n\nwhere is it"
    assert texts([meta(), item("user", stacked), event("user", "where is it")]) == ["u:where is it"]


@pytest.mark.parametrize("text", WHOLES)
def test_a_block_that_is_the_programs_as_a_whole_says_nothing(text: str) -> None:
    """The blocks beside it do."""
    assert texts([meta(), item("user", text, "mine")]) == ["u:mine"]


@pytest.mark.parametrize(
    "text",
    [
        "what does <environment_context> do?",
        "<environment_context> is not closed",
        "see <skill>a</skill> there",
        "<div>markup of mine</div>",
        "# AGENTS.md instructions are ignored, why?",
        "# A heading\nand what I think of it",
    ],
)
def test_words_about_an_envelope_stay(text: str) -> None:
    """Only whole envelopes in front go."""
    assert without_envelopes(text) == text


def test_what_an_editor_adds_in_front_goes() -> None:
    """The request begins behind its own heading."""
    assert without_envelopes("# Context from my IDE setup:\n\n## Open tabs\n- a.py\n\n## My request for Codex:\nrename it\n") == "rename it"


@given(st.lists(st.sampled_from(["<skill>", "</skill>", "# AGENTS.md instructions", "\n", "<INSTRUCTIONS>", "</INSTRUCTIONS>", "word", "## My request for Codex:"]), max_size=12))  # fmt: skip
def test_taking_off_envelopes_never_adds_words(pieces: list[str]) -> None:
    """For every text: what is left is a part of it."""
    text = "".join(pieces)
    assert without_envelopes(text) in text


# ── generations ──────────────────────────────────────────────────────────────────────────────────────────────────
def test_a_flat_rollout_is_read() -> None:
    """The first generation: a header, bare items, states between them."""
    records = [
        {"id": THREAD, "timestamp": "2025-06-01T00:00:00Z", "instructions": None, "git": {"branch": "dev"}},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "<environment_context>x</environment_context>"}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]},
        {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]},
    ]
    told, events = run(records)
    assert (texts(records), told.extra, events[5].timestamp) == (["u:hello", "a:hi"], {"gitBranch": "dev"}, 1748736000000)


def test_the_oldest_form_is_read_when_the_tool_is_told() -> None:
    """Role and content on the line itself; drifted names of fields."""
    records = [{"created_at": WHEN, "role": "user", "message": "hello"}, {"timestamp": WHEN, "role": "assistant", "content": "hi"}]
    assert texts(records) == ["u:hello", "a:hi"]
    assert codex.is_bare(records)
    assert not codex.is_bare([{"role": "user"}, {"type": "x"}])


def test_the_first_meta_says_whose_the_file_is() -> None:
    """A second one is the parent's, whose turns follow: where the thread was forked from."""
    told, _ = run([meta(), meta(PARENT, cwd="/other"), item("user", "x")])
    assert (told.session_id, told.project, told.forked_from) == (THREAD, "/w/demo", f"agent:codex:import:{PARENT}")


def test_titles_are_told() -> None:
    """The name of this thread counts, not that of another whose lines are replayed here."""
    named = [
        told_of("thread_name_updated", thread_id=PARENT, thread_name="theirs"),
        told_of("thread_name_updated", thread_id=THREAD, thread_name="mine"),
    ]
    assert run([meta(), named[1], named[0]])[0].title == "mine"


@pytest.mark.parametrize(
    ("path", "first", "key", "spawned_by", "forked_from"),
    [
        (PATH, meta(), f"agent:codex:import:{THREAD}", None, None),
        (PATH, item("user", "the meta was lost"), f"agent:codex:import:{THREAD}", None, None),
        ("/x/odd.jsonl", item("user", "x"), "agent:codex:import:odd", None, None),
        (PATH, meta(forked_from_id=PARENT), f"agent:codex:import:{THREAD}", None, f"agent:codex:import:{PARENT}"),
        (PATH, meta(history_base={"thread_id": PARENT, "end_ordinal_exclusive": 4}), f"agent:codex:import:{THREAD}", None,
         f"agent:codex:import:{PARENT}"),
        (PATH, meta(session_id=PARENT, source={"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "depth": 1}}}),
         f"agent:codex:subagent:{THREAD}", f"agent:codex:import:{PARENT}", None),
        (PATH, meta(source={"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "depth": 2}}}, forked_from_id=PARENT),
         f"agent:codex:subagent:{THREAD}", f"agent:codex:subagent:{PARENT}", None),
        (PATH, meta(source={"subagent": "review"}, parent_thread_id=PARENT), f"agent:codex:subagent:{THREAD}", f"agent:codex:import:{PARENT}", None),
        (PATH, meta(source={"subagent": {"other": "x"}}), f"agent:codex:subagent:{THREAD}", None, None),
    ],
)  # fmt: skip
def test_a_file_lands_by_its_content(path: str, first: dict[str, Any], key: str, spawned_by: str | None, forked_from: str | None) -> None:
    """The thread's id, else the name's; a subagent under the session that spawned it; a fork with the one it was forked from."""
    source = codex.DIALECT.source(path, [first], "codex")
    assert (source.key, source.spawned_by, source.forked_from) == (key, spawned_by, forked_from)


# ── branches and ids ─────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("turns", "left"),
    [
        (1, ["u:one", "a:1", "u:two", "a:2"]),
        (2, ["u:one", "a:1"]),
        (3, []),
        (9, []),
        (0, ["u:one", "a:1", "u:two", "a:2", "u:three", "a:3"]),
    ],
)
@pytest.mark.parametrize("twice", [False, True])
def test_turns_that_were_rolled_back_are_not_found(turns: int, left: list[str], twice: bool) -> None:
    """The last prompts go with what followed them; what is said after that goes on from there."""
    records = [meta(), item("user", "<environment_context>x</environment_context>")]
    for number, word in enumerate(("one", "two", "three"), 1):
        records += [item("user", word), *([event("user", word)] if twice else []), item("assistant", str(number))]
    records.append(told_of("thread_rolled_back", num_turns=turns))
    assert texts(records) == left
    assert texts([*records, item("user", "four")]) == [*left, "u:four"]


def test_rollbacks_add_up() -> None:
    """Each counts the turns that the one before left."""
    back = told_of("thread_rolled_back", num_turns=1)
    records = [meta(), *(item("user", word) for word in ("one", "two", "three")), back, item("user", "four"), back, back]
    assert texts(records) == ["u:one"]


def test_a_replayed_turn_has_the_ids_that_it_had() -> None:
    """In the fork as in the parent, with and without turn ids; so a search knows the copies."""
    for begin in ([turn("t1")], []):
        said = [*begin, item("user", "first"), event("user", "first"), item("assistant", "answer", id="msg-1"), item("assistant", "more")]
        of_parent = [one.nav.id for one in run([meta(PARENT), *said], "/x/p.jsonl")[1] if one.nav.has_message]
        for fork in (
            [meta(), meta(PARENT), *said],
            [meta(forked_from_id=PARENT), *said],
            [meta(forked_from_id=PARENT), meta(PARENT), *said],
        ):
            assert [one.nav.id for one in run(fork)[1] if one.nav.has_message] == of_parent


def test_an_id_that_comes_twice_is_two_messages() -> None:
    """Neither hides the other."""
    assert texts([meta(), item("user", "a", id="m"), item("assistant", "b", id="m"), item("user", "c", id="m")]) == ["u:a", "a:b", "u:c"]


@pytest.mark.parametrize("cut", [4, 5, 8, 9])
@pytest.mark.parametrize("own_ids", [True, False])
def test_a_later_page_goes_on_from_the_line_that_still_counts(cut: int, own_ids: bool) -> None:
    """Its first lines lead the leaf back to where the cut is, by a name that the earlier page gave a line beside it."""
    said = [
        [item(role, f"{role} {turn}", **({"id": f"{role}-{turn}"} if own_ids else {})) for role in ("user", "assistant")] for turn in (1, 2)
    ]
    first = [meta(history_mode="paginated"), turn("t1"), *said[0], told_of("task_complete"), turn("t2"), *said[1]]
    first = [{**record, "ordinal": at} for at, record in enumerate(first)]
    later = [
        meta(history_base={"thread_id": THREAD, "end_ordinal_exclusive": cut}),
        turn("t3"),
        item("user", "three"),
        item("assistant", "four"),
    ]
    later = [{**record, "ordinal": at} for at, record in enumerate(later, cut)]
    path = PATH.replace(".jsonl", f"_{SEGMENT}.jsonl")
    events = [*run(first)[1], *run(later, path)[1]]
    seen = [
        events[at].record["payload"]["content"][0]["text"]
        for at in branch.resolve([one.nav for one in events]).path
        if events[at].nav.has_message
    ]
    assert seen == ["user 1", "assistant 1", *(["user 2", "assistant 2"] if cut > 7 else []), "three", "four"]
    assert codex.DIALECT.source(path, later, "codex").key == codex.DIALECT.source(PATH, first, "codex").key


# ── for every record ─────────────────────────────────────────────────────────────────────────────────────────────
ROLES = st.sampled_from(["user", "assistant"])
WORDS = st.sampled_from(["go", "Ok", "<skill>x</skill>", "<turn_aborted>x</turn_aborted>go"])
RECORDS = st.one_of(
    st.builds(item, ROLES, WORDS),
    st.builds(item, ROLES, WORDS, id=st.sampled_from(["m1", "m2"])),
    st.builds(event, ROLES, WORDS),
    st.builds(done, ROLES, WORDS),
    st.builds(turn, st.sampled_from(["t1", "t2"])),
    st.builds(told_of, st.just("thread_rolled_back"), num_turns=st.sampled_from([0, 1, 2, 99, True, "1", None, -1])),
    st.builds(lambda record, at: {**record, "ordinal": at}, st.sampled_from(NOBODY), st.sampled_from([0, 1, 2, None, True])),
    st.sampled_from([meta(), meta(PARENT), told_of("turn_aborted"), *NOBODY]),
)


@settings(max_examples=150)
@given(st.lists(RECORDS, max_size=14), st.data())
def test_a_reading_in_two_halves_is_the_whole(records: list[dict[str, Any]], data: st.DataObject) -> None:
    """At any cut: what the second reader makes of the rest is what the first would have made."""
    cut = data.draw(st.integers(0, len(records)))
    source = codex.DIALECT.source(PATH, records, "codex")
    told, whole = run(records) if records else (None, [])
    first = codex.DIALECT.reader(source, None, 7)
    events = [first.read(record)[1] for record in records[:cut]]
    second = codex.DIALECT.reader(source, json.loads(msgspec.json.encode(first.state())), 7)
    events += [second.read(record)[1] for record in records[cut:]]
    assert events == whole
    assert second.told.get(MAIN) == told


@settings(max_examples=150)
@given(st.lists(RECORDS, max_size=14))
def test_no_words_but_a_persons_and_the_models_are_found(records: list[dict[str, Any]]) -> None:
    """For every sequence: nothing of tools, reasoning, developers or summaries; and ids on the path are each other's different."""
    assert not any("secretword" in text or text.startswith("u:<") for text in texts([meta(), *records]))
    events = run([meta(), *records])[1]
    names = [one.nav.id for one in events if one.nav.kind is not NavKind.NONE]
    assert len(names) == len(set(names))

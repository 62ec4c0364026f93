"""What a person typed while Claude Code was busy is theirs, once, wherever the program wrote it down."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wesaid.importers import claude_code
from wesaid.importers.known import MAIN
from wesaid.rules import branch
from wesaid.rules.redact import BUILT_IN
from wesaid.service.preparing import prepare
from wesaid.values import Event

T = "2026-03-01T10:00:00.000Z"
QUEUED = "look at the otters too"
NOTICE = "<task-notification>a shrike finished</task-notification>"


def line(uuid: str, parent: str | None, text: str, role: str = "user", **more: Any) -> dict[str, Any]:
    message = {"role": role, "content": text if role == "user" else [{"type": "text", "text": text}]}
    return {"type": role, "uuid": uuid, "parentUuid": parent, "sessionId": "s1", "timestamp": T, "message": message, **more}


def call(uuid: str, parent: str) -> dict[str, Any]:
    message = {
        "role": "assistant",
        "id": f"m-{uuid}",
        "content": [{"type": "tool_use", "id": f"t-{uuid}", "name": "Bash", "input": {"c": "shrike"}}],
    }
    return {"type": "assistant", "uuid": uuid, "parentUuid": parent, "sessionId": "s1", "timestamp": T, "message": message}


def result(uuid: str, parent: str) -> dict[str, Any]:
    content = [{"type": "tool_result", "tool_use_id": f"t-{parent}", "content": "shrike"}]
    return {"type": "user", "uuid": uuid, "parentUuid": parent, "sessionId": "s1", "timestamp": T, "toolUseResult": {"stdout": "shrike"},
            "message": {"role": "user", "content": content}}  # fmt: skip


def queue(operation: str, content: Any = None, **more: Any) -> dict[str, Any]:
    told = {} if content is None else {"content": content}
    return {"type": "queue-operation", "operation": operation, "sessionId": "s1", "timestamp": T, **told, **more}


def attachment(prompt: Any, *ids: str | None, **more: Any) -> dict[str, Any]:
    named = {"uuid": ids[0], "parentUuid": ids[1]} if ids else {}
    return {
        "type": "attachment",
        "sessionId": "s1",
        "timestamp": T,
        "attachment": {"type": "queued_command", "prompt": prompt, **more},
        **named,
    }


def said(records: list[dict[str, Any]], cuts: tuple[int, ...] = ()) -> list[str]:
    """The texts on the visible path, read in pieces, each by a reader that has only the state of the one before it."""
    dialect = claude_code.DIALECT
    source = dialect.source("/p/s1.jsonl", records, "claude-code")
    events: list[Event] = []
    state = None
    bounds = [0, *sorted(cut % (len(records) + 1) for cut in cuts), len(records)]
    for begin, end in itertools.pairwise(bounds):
        reader = dialect.reader(source, state, 7)
        found = [*(reader.resumed() if end > begin else ()), *(reader.read(record) for record in records[begin:end]), *reader.rest()]
        events += [event for slot, event in found if slot == MAIN]
        state = json.loads(json.dumps(reader.state()))
    path = [events[at] for at in branch.resolve([event.nav for event in events]).path]
    texts = [prepare(BUILT_IN, "claude-code", event).said for event in path]
    return [text.index_text for text in texts if text is not None]


BUSY = [line("a", None, "count the herons"), call("b", "a")]
DONE = [result("r", "b"), line("c", "r", "nine herons", "assistant")]
ABSORBED = "count the herons", QUEUED, "nine herons"
SHAPES: dict[str, tuple[list[dict[str, Any]], tuple[str, ...]]] = {
    "absorbed, with its attachment before": (
        [*BUSY, queue("enqueue", QUEUED), attachment(QUEUED, "q", "b", commandMode="prompt", origin={"kind": "human"}),
         queue("remove", QUEUED, reason="absorbed_mid_turn"), result("r", "q"), DONE[1]], ABSORBED),
    "absorbed, with its attachment after": (
        [*BUSY, queue("enqueue", QUEUED), queue("remove", QUEUED, reason="absorbed_mid_turn"), attachment(QUEUED, "q", "b"), *DONE], ABSORBED),
    "absorbed, its attachment in no chain": ([*BUSY, queue("enqueue", QUEUED), attachment(QUEUED), queue("remove"), *DONE], ABSORBED),
    "absorbed, without an attachment": ([*BUSY, queue("enqueue", QUEUED), queue("remove", QUEUED), *DONE], ABSORBED),
    "absorbed, only an attachment": ([*BUSY, attachment(QUEUED, "q", "b"), *DONE], ABSORBED),
    "absorbed, with an image": (
        [*BUSY, queue("enqueue", [{"type": "image"}, {"type": "text", "text": QUEUED}]), queue("remove", reason="absorbed_mid_turn"),
         attachment([{"type": "image", "source": {"omitted": True}}, {"type": "text", "text": QUEUED}], "q", "b"), *DONE], ABSORBED),
    "came as a line of its own": (
        [*BUSY, queue("enqueue", QUEUED), *DONE, queue("dequeue"), line("d", "c", QUEUED, promptSource="queued"), line("e", "d", "two otters", "assistant")],
        ("count the herons", "nine herons", QUEUED, "two otters")),
    "came as a line, with no word of the queue": (
        [*BUSY, queue("enqueue", QUEUED), *DONE, line("d", "c", QUEUED)], ("count the herons", "nine herons", QUEUED)),
    "came changed on the way": (
        [*BUSY, queue("enqueue", QUEUED), *DONE, queue("dequeue"), line("d", "c", "look at [Pasted text] whole")],
        ("count the herons", "nine herons", "look at pasted text whole")),
    "two that came as one line": (
        [*BUSY, queue("enqueue", QUEUED), queue("enqueue", "and the grebes"), *DONE, queue("dequeue"), queue("dequeue"),
         line("d", "c", f"{QUEUED}\nand the grebes")],
        ("count the herons", "nine herons", f"{QUEUED} and the grebes")),
    "written twice": (
        [*BUSY, queue("enqueue", QUEUED), attachment(QUEUED, "q", "b"), *DONE, line("d", "c", QUEUED, promptSource="queued"),
         line("e", "d", "two otters", "assistant")],
        (*ABSORBED, "two otters")),
    "typed again later": (
        [*BUSY, queue("enqueue", QUEUED), attachment(QUEUED, "q", "b"), *DONE, line("d", "c", QUEUED)], (*ABSORBED, QUEUED)),
    "waits where the file ends": ([*BUSY, queue("enqueue", QUEUED)], ("count the herons", QUEUED)),
    "waits, and nothing ever came": ([*BUSY, queue("enqueue", QUEUED), *DONE], ("count the herons", "nine herons", QUEUED)),
    "went back into the input box": (
        [*BUSY, queue("enqueue", QUEUED), queue("popAll"), *DONE, line("d", "c", "look at the otters only")],
        ("count the herons", "nine herons", "look at the otters only")),
    "taken away for another reason": ([*BUSY, queue("enqueue", QUEUED), queue("remove", QUEUED, reason="cancelled"), *DONE], ABSORBED[::2]),
    "a notification": (
        [*BUSY, queue("enqueue", NOTICE), attachment(NOTICE, "q", "b", commandMode="task-notification"), queue("remove", NOTICE), *DONE], ABSORBED[::2]),
    "a notification that waits": ([*BUSY, queue("enqueue", NOTICE), *DONE], ABSORBED[::2]),
    "of a peer": ([*BUSY, attachment("shrike", "q", "b", origin={"kind": "peer"}), *DONE], ABSORBED[::2]),
    "a shell command": ([*BUSY, attachment("shrike", "q", "b", commandMode="bash"), *DONE], ABSORBED[::2]),
    "of the program itself": ([*BUSY, attachment("shrike", "q", "b", isMeta=True), *DONE], ABSORBED[::2]),
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_a_queued_prompt_is_said_once_in_its_place(shape: str) -> None:
    """Whatever lines the program wrote about it; what no person typed is nobody's prompt."""
    records, expected = SHAPES[shape]
    assert said(records) == list(expected)


@pytest.mark.parametrize("shape", SHAPES)
@given(cuts=st.lists(st.integers(0, 40), max_size=4).map(tuple))
def test_reading_in_pieces_gives_what_reading_whole_gives(shape: str, cuts: tuple[int, ...]) -> None:
    """For every set of cuts: a prompt that waits at one of them is findable there, and once in its place when it came."""
    records, expected = SHAPES[shape]
    assert said(records, cuts) == list(expected)


@given(
    order=st.lists(st.sampled_from(["text", "call", "result", "think", "hook", "notice", "queued", "prompt"]), max_size=14),
    cut=st.integers(0, 20),
)
def test_no_order_of_lines_indexes_what_nobody_said(order: list[str], cut: int) -> None:
    """For every sequence of lines: tools, thinking, hooks and notifications (the shrike) are not on the index, texts of the chain are."""
    records: list[dict[str, Any]] = []
    last: str | None = None
    for number, kind in enumerate(order):
        uuid = f"u{number}"
        thinking = {"role": "assistant", "content": [{"type": "thinking", "thinking": "shrike"}]}
        records.append(
            {
                "text": line(uuid, last, f"word{number}", "assistant"),
                "call": call(uuid, last or "none"),
                "result": result(uuid, last or "none"),
                "think": {**line(uuid, last, "", "assistant"), "message": thinking},
                "hook": {
                    "type": "attachment",
                    "uuid": uuid,
                    "parentUuid": last,
                    "attachment": {"type": "hook_success", "content": "shrike"},
                },
                "notice": queue("enqueue", NOTICE),
                "queued": attachment(f"word{number}", uuid, last),
                "prompt": line(uuid, last or "none", f"word{number}"),
            }[kind]
        )
        last = uuid if kind != "notice" else last
    found = said(records, (cut,))
    assert not any("shrike" in text for text in found)
    assert found == [f"word{number}" for number, kind in enumerate(order) if kind in ("text", "queued", "prompt")]

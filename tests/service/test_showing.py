"""Claims about rows of history as they leave: tools with their arguments, images, rows too large for a page, windows, whole messages."""

from __future__ import annotations

import json
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wesaid import graphemes, limits
from wesaid.errors import NotFoundError
from wesaid.rules import searchable
from wesaid.service import history, listing, methods, opening, wire, writing
from wesaid.service.preparing import prepare
from wesaid.values import OPERATOR, Event, Facts, WindowSpec

MAIN = "agent:main:main"
NOW = 1_772_359_200_000
SECRET = "sk-AbCd3fGh1jKlMn0pQrStUvWxYz"
CALL = {
    "type": "toolCall",
    "id": "c1",
    "name": "exec",
    "arguments": {"cmd": f"curl -H 'Authorization: {SECRET}'", "apiKey": "hunter2hunter2", "n": 3},
}


def put(lab, record, *, window=None, key=MAIN):
    record = {"type": "message", **record}
    event = Event(nav=searchable.nav_of(record), type=record["type"], timestamp=NOW, record=record)
    with lab.home.store("main").writing() as writer:
        writer.append(key, [prepare(lab.home.redactor, "openclaw", event)], window=window)


def message(name, role, content, **more):
    return {"id": name, "message": {"role": role, "content": content, **more}}


def sent(answer):
    return len(json.dumps({"schemaVersion": 1, **answer}, ensure_ascii=False).encode())


def test_a_call_is_shown_with_redacted_arguments_to_those_who_ask(lab):
    """A block of its own beside the text; a value whose name says that it is secret goes, numbers stay; without tools it is not there."""
    lab.say("run it")
    put(lab, message("call", "assistant", [{"type": "text", "text": "calling"}, {"type": "thinking", "thinking": "quokka"}, CALL]))
    put(lab, message("only", "assistant", [CALL]))
    put(lab, message("gave", "toolResult", [{"type": "text", "text": f"it says {SECRET}"}], toolName="exec", toolCallId="c1"))
    assert [row["messageId"] for row in lab.history()["messages"]][1:] == ["call"]
    page = lab.history(includeTools=True)
    rows = {row["messageId"]: row for row in page["messages"]}
    assert [block["type"] for block in rows["call"]["content"]] == ["text", "toolCall"]
    assert rows["only"]["content"][0]["arguments"]["n"] == 3
    assert (rows["gave"]["role"], rows["gave"]["toolName"], rows["gave"]["toolCallId"]) == ("toolResult", "exec", "c1")
    said = json.dumps(page)
    assert SECRET not in said
    assert "hunter2hunter2" not in said
    assert "quokka" not in said
    assert page["contentRedacted"] is True
    assert "exec" not in json.dumps(lab.history())


def test_a_row_too_large_for_a_page_keeps_its_place_and_ids(lab):
    """What stands for it says so; its neighbours are there, and the walk goes on past it."""
    first = lab.say("before")
    put(
        lab,
        message(
            "huge",
            "assistant",
            [{"type": "toolCall", "id": str(n), "name": "write", "arguments": {"text": "会议 " * 1300}} for n in range(12)],
        ),
    )
    last = lab.say("after")
    page = lab.history(includeTools=True)
    assert [row["messageId"] for row in page["messages"]] == [first, "huge", last]
    assert page["messages"][1]["text"] == "[sessions_history omitted: message too large]"
    assert page["contentTruncated"] is True
    assert page["truncated"] is True
    assert sent(page) <= limits.HISTORY_BYTES
    anchored = lab.history(messageId="huge", includeTools=True, limit=1)
    assert [row["messageId"] for row in anchored["messages"]] == ["huge"]


def test_a_tools_row_is_an_anchor_between_the_rows_that_history_shows(lab):
    """Without tools the anchor alone of its kind is shown, and both pages beside it lead on without a gap."""
    said = lab.say_all([f"message {number}" for number in range(4)])
    put(lab, message("gave", "toolResult", [{"type": "text", "text": "numbat"}]))
    put(lab, message("gave2", "toolResult", [{"type": "text", "text": "numbat"}]))
    said += lab.say_all([f"later {number}" for number in range(4)], at=NOW + 10_000_000)
    page = lab.history(messageId="gave", limit=5)
    assert [row["messageId"] for row in page["messages"]] == [*said[2:4], "gave", *said[4:6]]
    assert [row["messageId"] for row in lab.history(offset=page["nextOffset"], limit=2)["messages"]] == said[:2]
    assert [
        row["messageId"] for row in lab.history(offset=lab.history(messageId="gave", limit=2)["prevOffset"], limit=2)["messages"]
    ] == said[5:7]


def test_windows_of_a_session_name_each_other(lab):
    """`previousSessionId` and `nextSessionId` walk the windows that can be read; an anchor opens in its own, wherever the newest is."""
    lab.say("now")
    for ordinal, name in ((-3, "oldest"), (-2, "gone"), (-1, "older")):
        spec = WindowSpec(session_id=name, ordinal=ordinal, findable=name != "gone")
        put(lab, message(f"in-{name}", "user", f"said in {name}"), window=spec)
    current = lab.history()
    assert (current["previousSessionId"], "nextSessionId" in current) == ("older", False)
    older = lab.history(sessionId=current["previousSessionId"])
    assert (older["sessionId"], older["previousSessionId"], older["nextSessionId"]) == ("older", "oldest", current["sessionId"])
    assert lab.history(messageId="in-oldest")["sessionId"] == "oldest"
    assert lab.history("oldest")["sessionId"] == "oldest"
    assert lab.history("oldest", messageId="in-older")["sessionId"] == "older"
    for params in ({"sessionId": "gone"}, {"messageId": "in-gone"}, {"messageId": "in-oldest", "sessionId": "older"}):
        with pytest.raises(NotFoundError):
            lab.history(**params)


def test_a_walk_both_ways_gives_every_message_once(lab):
    """By `nextOffset` to the first, and by `prevOffset` back to the last."""
    said = lab.say_all([f"message {number}" for number in range(23)])
    page = lab.history(limit=5)
    walked = [page]
    while page["nextOffset"] is not None:
        page = lab.history(limit=5, offset=page["nextOffset"])
        walked.append(page)
    assert [row["messageId"] for one in reversed(walked) for row in one["messages"]] == said
    seen = []
    while True:
        seen += [row["messageId"] for row in page["messages"] if row["messageId"] not in seen]
        if "prevOffset" not in page:
            break
        page = lab.history(limit=5, offset=page["prevOffset"])
    assert seen == said


def test_one_message_is_shown_whole_and_redacted(lab):
    """`wesaid show` cuts nothing: one message is what was asked for."""
    name = lab.say("ferry " + "x" * 100_000 + f" {SECRET} end")
    text = history.message(lab.home, OPERATOR, MAIN, name)[1].text
    assert text.endswith("[redacted:sk-key] end")
    assert len(text) > 100_000
    assert len(lab.history()["messages"][0]["text"]) <= limits.HISTORY_TEXT_CODE_POINTS


def test_what_is_not_there_is_a_tools_answer_with_a_reason():
    """`{"status": "not_found"}`, never an empty list."""
    made = wire.not_found_json(history.no_message("m1"))
    assert (made["status"], "m1" in made["reason"], bool(made["hint"])) == ("not_found", True, True)


CLUSTERS = st.sampled_from(["a", "é", "e\u0301", "会", "👨\u200d👩\u200d👧", "🇻🇳", "가", "한", '"', "\\", "\x01", "\u202e", "ก\u0e33", " "])


@given(
    texts=st.lists(st.lists(CLUSTERS, min_size=1, max_size=12).map("".join), min_size=1, max_size=6),
    times=st.integers(1, 1500),
    limit=st.integers(1, 20),
)
@settings(max_examples=60)
def test_every_page_keeps_to_its_bytes_and_cuts_no_character(texts, times, limit):
    """History, list and search, over any text: within the bound as any door writes it, and each cut text is a whole beginning."""
    with opening.memory_home() as home:
        home.now = lambda: NOW
        whole = {}
        for number, text in enumerate(texts):
            for turn in range(3):
                said = (f"{number} " + text * times)[:30_000].strip()
                [done] = writing.append(
                    home, OPERATOR, f"agent:main:s{number % 2}", [{"role": "user", "text": said, "timestamp": NOW + turn}]
                )
                whole[done.message_id] = said
        for number in range(min(2, len(texts))):
            page = wire.history_json(
                history.history(home, OPERATOR, methods.HistoryParams(session_key=f"agent:main:s{number}", limit=limit))
            )
            assert wire.size(page) >= sent(page) - 30
            assert sent(page) <= limits.HISTORY_BYTES
            for row in page["messages"]:
                original = writing.clean(whole[row["messageId"]])
                if row["text"] != original:
                    assert row["text"].endswith("…")
                    assert original.startswith(row["text"][:-1])
                    assert graphemes.is_boundary(original, len(row["text"]) - 1)
        listed = wire.sessions_json(listing.sessions(home, OPERATOR, methods.ListParams(message_limit=20, include_last_message=True)))
        assert sent(listed) <= limits.LIST_BYTES
        assert listed["count"] >= 1


def test_a_page_of_many_sessions_reads_what_it_shows(disk):
    """Five thousand sessions: the memory that a page takes is that of a slice of rows, near the beginning and near the end."""
    with disk.home.new_store("main").writing() as writer:
        for number in range(5000):
            writer.create(Facts(key=f"agent:main:s{number:04}", session_id=f"id{number}", updated_at=NOW + number, extra={"x": "y" * 1000}))
    wire.sessions_json(listing.sessions(disk.home, OPERATOR, methods.ListParams()))
    for offset in (0, 4800):
        tracemalloc.start()
        page = wire.sessions_json(listing.sessions(disk.home, OPERATOR, methods.ListParams(limit=100, offset=offset)))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert [row["key"] for row in page["sessions"]] == [f"agent:main:s{4999 - offset - number:04}" for number in range(100)]
        assert peak < 5_000_000

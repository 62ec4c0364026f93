"""Claims about history: what search returns it opens, page after page, bounded, redacted, by the same visible path."""

from __future__ import annotations

import json

import pytest

from wesaid import limits
from wesaid.errors import InputError, NotFoundError
from wesaid.rules import searchable
from wesaid.service import history, writing
from wesaid.service.preparing import prepare
from wesaid.values import OPERATOR, Caller, Event

MAIN = "agent:main:main"
SECRET = "sk-AbCd3fGh1jKlMn0pQrStUvWxYz"


def put(lab, *records, key=MAIN):
    """Append OpenClaw records as they are."""
    with lab.home.store("main").writing() as writer:
        for record in records:
            event = Event(nav=searchable.nav_of(record), type=record["type"], timestamp=record.get("timestamp", 0), record=record)
            writer.append(key, [prepare(lab.home.redactor, "openclaw", event)])


def tool_result(number, text="result"):
    return {
        "type": "message",
        "id": f"tool{number}",
        "message": {"role": "toolResult", "content": [{"type": "text", "text": f"{text} {number}"}]},
    }


def ids(page):
    return [message["messageId"] for message in page["messages"]]


def test_the_newest_messages_come_first_to_hand_in_the_order_of_speech(lab):
    """`limit` takes from the end, `offset` passes over the newest, and each page says where it stands."""
    said = lab.say_all([f"message {number}" for number in range(10)])
    page = lab.history(limit=4)
    assert ids(page) == said[6:]
    assert (page["firstMessageId"], page["lastMessageId"], page["totalMessages"]) == (said[0], said[9], 10)
    assert (page["hasMore"], page["nextOffset"]) == (True, 4)
    assert ids(lab.history(limit=4, offset=4)) == said[2:6]
    last = lab.history(limit=4, offset=8)
    assert (ids(last), last["hasMore"], last["nextOffset"]) == (said[:2], False, None)
    beyond = lab.history(limit=4, offset=99)
    assert (ids(beyond), beyond["hasMore"]) == ([], False)


@pytest.mark.parametrize("include_tools", [False, True])
@pytest.mark.parametrize("limit", [1, 3, 7, 200])
def test_walking_by_offset_gives_every_message_once(lab, limit, include_tools):
    """Also when rows lie between that history does not show, and tool results are asked for."""
    expected = []
    for number in range(12):
        expected.append(lab.say(f"message {number}"))
        put(lab, {"type": "model_change", "id": f"model{number}", "modelId": "x"}, tool_result(number))
        if include_tools:
            expected.append(f"tool{number}")
    walked, offset = [], 0
    for _ in range(60):
        page = lab.history(limit=limit, offset=offset, includeTools=include_tools)
        walked = ids(page) + walked
        offset = page["nextOffset"]
        if offset is None:
            break
    assert walked == expected


def test_a_page_keeps_to_its_bytes_and_the_walk_still_gives_everything(lab):
    """80 KiB in all, 4 000 code points a text, and it says what was cut."""
    said = lab.say_all(["会议讨论" * 1500 + f" {number}" for number in range(20)])
    walked, offset = [], 0
    while offset is not None:
        page = lab.history(offset=offset)
        assert len(json.dumps(page, ensure_ascii=False).encode()) <= limits.HISTORY_BYTES
        assert all(len(message["text"]) <= limits.HISTORY_TEXT_CODE_POINTS for message in page["messages"])
        assert page["contentTruncated"] is True
        walked = ids(page) + walked
        offset = page["nextOffset"]
    assert walked == said


def test_one_message_of_control_characters_keeps_to_the_bytes_too(lab):
    """Bytes are counted as they are sent: what JSON must escape is longer."""
    lab.say_all(["\x01\x02" * 2000 + f"x{number}" for number in range(8)])
    assert len(json.dumps(lab.history(), ensure_ascii=False).encode()) <= limits.HISTORY_BYTES


def test_an_anchor_stands_in_the_middle_and_at_the_edges(lab):
    """Around it as many as asked for on each side, fewer where the conversation ends."""
    said = lab.say_all([f"message {number}" for number in range(20)])
    assert ids(lab.history(messageId=said[10], limit=5)) == said[8:13]
    assert ids(lab.history(messageId=said[10], messagesBefore=1, messagesAfter=3)) == said[9:14]
    assert ids(lab.history(messageId=said[10], messagesBefore=2)) == said[8:11]
    assert ids(lab.history(messageId=said[0], messagesBefore=3, messagesAfter=1)) == said[:2]
    assert ids(lab.history(messageId=said[19], messagesAfter=9, messagesBefore=0)) == said[19:]
    assert ids(lab.history(messageId=said[10], limit=1)) == [said[10]]


def test_a_page_around_an_anchor_leads_on_to_older_messages(lab):
    """Its `nextOffset` continues exactly before its first message."""
    said = lab.say_all([f"message {number}" for number in range(20)])
    page = lab.history(messageId=said[10], limit=5)
    assert page["hasMore"] is True
    assert ids(lab.history(offset=page["nextOffset"], limit=4)) == said[4:8]


def test_an_anchor_grows_evenly_when_bytes_run_out(lab):
    """The anchor is always in it, with neighbours on both sides."""
    said = lab.say_all(["会议讨论" * 1500 + f" {number}" for number in range(20)])
    page = lab.history(messageId=said[10], limit=20)
    found = ids(page)
    assert said[10] in found
    assert abs(found.index(said[10]) - (len(found) - 1 - found.index(said[10]))) <= 1
    assert len(json.dumps(page, ensure_ascii=False).encode()) <= limits.HISTORY_BYTES


@pytest.mark.parametrize("anchor", ["no-such-message", "", "x" * 5000])
def test_an_anchor_that_is_not_there_is_an_error_with_a_reason(lab, anchor):
    """Never an empty list, never the newest tail."""
    lab.say("hello")
    with pytest.raises(NotFoundError) as caught:
        lab.history(messageId=anchor)
    assert caught.value.details["status"] == "not_found"
    assert caught.value.hint


def test_everything_that_search_gives_history_opens(lab):
    """Before a reset, after a rewind, in forks, long messages and short ones alike."""
    said = lab.say_all([f"ferry {number} " + "long " * 900 * (number % 2) for number in range(6)])
    writing.reset(lab.home, OPERATOR, MAIN)
    lab.say("ferry after the reset")
    writing.fork(lab.home, OPERATOR, MAIN, said[2], new_key="agent:main:fork")
    lab.say("ferry in the fork", key="agent:main:fork")
    for key in (None, MAIN, "agent:main:fork"):
        hits = lab.search("ferry", limit=25, **({"sessionKey": key} if key else {}))["results"]
        assert len(hits) >= 4
        for hit in hits:
            page = lab.history(hit["sessionKey"], messageId=hit["messageId"], sessionId=hit["sessionId"], messagesBefore=1, messagesAfter=1)
            [anchor] = [message for message in page["messages"] if message["messageId"] == hit["messageId"]]
            assert (anchor["role"], anchor["timestamp"], anchor["sessionId"]) == (hit["role"], hit["timestamp"], hit["sessionId"])


@pytest.mark.parametrize("by_reset", [True, False])
def test_the_first_of_many_messages_opens_wherever_it_is_asked_from(lab, by_reset):
    """72 messages, a reset in the middle or none: a hit on the first leads to it and what is near, whatever offset is sent along (field report B64)."""
    said = lab.say_all(["my first question was about puffins", *(f"message number{n}" for n in range(35))])
    if by_reset:
        writing.reset(lab.home, OPERATOR, MAIN)
    said += lab.say_all([f"later number{n}" for n in range(36)], at=lab.home.now() - 3_600_000)
    [hit] = lab.search("puffins")["results"]
    where = {"messageId": hit["messageId"], "sessionId": hit["sessionId"]}
    page = lab.history(hit["sessionKey"], **where, limit=1)
    assert [message["messageId"] for message in page["messages"]] == [said[0]]
    assert (page["firstMessageId"], page["lastMessageId"], page["totalMessages"]) == (said[0], said[-1], 72 + by_reset)
    assert lab.history(hit["sessionKey"], **where, limit=1, offset=0) == page
    newer = lab.history(hit["sessionKey"], offset=page["prevOffset"], limit=1)
    assert [message["messageId"] for message in newer["messages"]] == said[1:2]


def test_tools_are_shown_only_when_asked_for_and_redacted(lab):
    """A tool's result is nobody's speech, and holds secrets as often."""
    first = lab.say("run it")
    put(lab, tool_result(1, f"the key is {SECRET}"))
    assert ids(lab.history()) == [first]
    page = lab.history(includeTools=True)
    assert ids(page) == [first, "tool1"]
    assert SECRET not in json.dumps(page)
    assert "[redacted:sk-key]" in page["messages"][1]["text"]
    assert page["contentRedacted"] is True
    assert lab.search("result", sessionKey=MAIN)["results"] == []


def test_a_tool_result_as_an_anchor_opens(lab):
    """An anchor that exists is always openable."""
    lab.say("run it")
    put(lab, tool_result(1))
    lab.say("and then")
    assert "tool1" in ids(lab.history(messageId="tool1", includeTools=True))


def test_an_image_is_what_it_was_and_never_its_bytes(lab):
    """`{omitted, bytes, mimeType}`; a message of an image alone is shown when it is shown at all."""
    lab.say("look")
    image = {"type": "image", "data": "QUJD" * 1000, "mimeType": "image/png"}
    put(lab, {"type": "message", "id": "pic", "message": {"role": "user", "content": [{"type": "text", "text": "a picture"}, image]}})
    page = lab.history()
    assert page["messages"][1]["content"] == [
        {"type": "text", "text": "a picture"},
        {"type": "image", "omitted": True, "bytes": 3000, "mimeType": "image/png"},
    ]
    assert "QUJD" not in json.dumps(page)


def test_history_is_redacted_before_it_is_cut(lab):
    """A secret that lies across the cut leaves no part of itself."""
    for shift in range(0, 40, 3):
        lab.say("x " * ((limits.HISTORY_TEXT_CODE_POINTS - shift) // 2) + SECRET, key="agent:main:cut")
    text = json.dumps(lab.history("agent:main:cut"))
    assert SECRET[:10] not in text


def test_a_reset_is_shown_as_a_boundary(lab):
    """It has a place and a kind, and is nobody's speech."""
    lab.say("before")
    writing.reset(lab.home, OPERATOR, MAIN)
    lab.say("after")
    kinds = [message["__openclaw"].get("kind") for message in lab.history()["messages"]]
    assert kinds == [None, "reset", None]


def test_each_message_has_openclaws_fields_beside_ours(lab):
    """`content`, and `__openclaw` with id, sequence and time."""
    message = lab.say("hello", at=1_767_225_600_000)
    [shown] = lab.history()["messages"]
    assert shown["content"] == [{"type": "text", "text": "hello"}]
    assert shown["__openclaw"] == {"id": message, "seq": 1, "recordTimestampMs": 1_767_225_600_000}


def test_a_session_without_messages_is_an_empty_page(lab):
    """A session that exists is found, and has nothing to show."""
    writing.create(lab.home, OPERATOR, MAIN)
    page = lab.history()
    assert (page["messages"], page["totalMessages"], page["hasMore"], page["firstMessageId"]) == ([], 0, False, None)


def test_a_window_that_is_not_there_is_not_found(lab):
    """A session id of another session is no window of this one."""
    lab.say("mine")
    lab.say("theirs", key="agent:main:other")
    theirs = lab.history("agent:main:other")["sessionId"]
    with pytest.raises(NotFoundError):
        lab.history(sessionId=theirs)
    with pytest.raises(NotFoundError):
        lab.history(sessionId="nothing", messageId="x")


def test_a_message_is_found_by_its_id_alone(lab):
    """In whichever visible session has it; a hidden one is as absent."""
    lab.say("elsewhere", key="agent:work:main")
    wanted = lab.say("here", key="agent:main:me")
    key, message = history.message(lab.home, OPERATOR, None, wanted)
    assert (key, message.message_id, message.text) == ("agent:main:me", wanted, "here")
    assert history.message(lab.home, OPERATOR, "agent:main:me", wanted)[1].message_id == wanted
    assert history.message(lab.home, Caller("agent:main:me"), None, wanted)[0] == "agent:main:me"
    said = []
    for caller, reference in ((Caller("agent:main:stranger"), wanted), (OPERATOR, "0" * len(wanted))):
        with pytest.raises(NotFoundError) as caught:
            history.message(lab.home, caller, None, reference)
        said.append(str(caught.value.as_json()).replace(reference, "ID"))
    assert said[0] == said[1]


def test_reveal_shows_what_was_said(lab):
    """The command line's alone: raw, and not cut."""
    lab.say(f"key {SECRET} " + "x" * 5000)
    assert SECRET in lab.texts(reveal=True)[0]
    assert len(lab.texts(reveal=True)[0]) > 5000
    assert SECRET not in lab.texts()[0]


def test_messages_before_without_an_anchor_is_an_input_error(lab):
    """There is nothing to look around."""
    lab.say("hello")
    for name in ("messagesBefore", "messagesAfter"):
        with pytest.raises(InputError) as caught:
            lab.history(**{name: 3})
        assert "messageId" in str(caught.value.as_json())

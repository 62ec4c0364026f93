"""Claims about the last part of a search: read back, redacted whole, then cut, then described."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wesaid import limits
from wesaid.service import opening, searching, wire, writing
from wesaid.service.methods import SearchParams
from wesaid.values import OPERATOR, Caller

MAIN = "agent:main:main"
SECRET = "sk-AbCd3fGh1jKlMn0pQrStUvWxYz"


@pytest.fixture(scope="module")
def home():
    """One home for many examples, each in a session of its own."""
    with opening.memory_home() as made:
        yield made


@given(before=st.integers(0, 700), between=st.integers(0, 320), detail=st.sampled_from(["snippet", "full"]))
@settings(max_examples=60)
def test_a_secret_at_any_offset_leaves_no_six_characters_in_an_answer(home, before, between, detail):
    """Wherever the cut falls: the whole message is redacted first. The match stays visible."""
    word = f"needle{before}x{between}x{detail}"
    text = "h " * (before // 2) + SECRET + " y" * (between // 2) + f" {word} " + "z " * 400
    writing.append(home, OPERATOR, f"agent:main:{word}", [{"role": "user", "text": text}])
    answer = json.dumps(wire.page_json(searching.search(home, OPERATOR, SearchParams(query=word, detail=detail))))
    assert word in answer
    assert not any(SECRET[start : start + 6] in answer for start in range(len(SECRET) - 5))


def test_a_hit_describes_its_session_and_message(lab):
    """Key, id, agent, role, time, kind, title; `current` for the caller's own."""
    lab.say("a question about boats", key="agent:work:cron:daily")
    message = lab.say("the ferry", key="agent:work:cron:daily", role="assistant", at=1_767_225_600_000)
    [hit] = lab.search("ferry", caller=Caller("agent:work:cron:daily"))["results"]
    assert hit["sessionId"] == lab.history("agent:work:cron:daily")["sessionId"]
    del hit["score"], hit["sessionId"]
    assert hit == {
        "sessionKey": "agent:work:cron:daily",
        "messageId": message,
        "agentId": "work",
        "role": "assistant",
        "timestamp": 1_767_225_600_000,
        "snippet": "the ferry",
        "match": "phrase",
        "kind": "cron",
        "title": "a question about boats",
        "current": True,
    }


def test_a_label_stands_for_a_title_that_is_not_there(lab):
    """A session in which no person spoke has its label."""
    lab.say("the ferry", role="assistant")
    writing.patch(lab.home, OPERATOR, MAIN, label="boats")
    assert lab.search("ferry")["results"][0]["title"] == "boats"


def test_scores_compare_and_are_short(lab):
    """Higher is better within a tier; four decimals at most."""
    lab.say_all(["ferry ferry ferry", "a ferry among many other words that are said here", "ferry"])
    scores = [hit["score"] for hit in lab.search("ferry", sessionKey=MAIN)["results"]]
    assert scores == sorted(scores, reverse=True)
    assert all(round(score, limits.SCORE_DECIMALS) == score for score in scores)


def test_a_title_hit_that_was_found_by_words_is_not_given_twice(lab):
    """One session, one message: one result."""
    lab.say("the lighthouse")
    writing.patch(lab.home, OPERATOR, MAIN, label="lighthouse")
    assert len(lab.search("lighthouse")["results"]) == 1


def test_a_title_hit_without_any_human_message_shows_the_first_message(lab):
    """And a session without messages cannot be shown at all."""
    first = lab.say("beep", role="assistant", key="agent:main:machine")
    writing.patch(lab.home, OPERATOR, "agent:main:machine", label="lighthouse")
    writing.create(lab.home, OPERATOR, "agent:main:empty", label="lighthouse")
    assert lab.ids("lighthouse") == [first]


def test_context_stops_where_the_conversation_does(lab):
    """A session of one message has no neighbours, and other sessions lend none."""
    lab.say("before", key="agent:main:other")
    lab.say("ferry")
    lab.say("after", key="agent:main:other")
    assert "context" not in lab.search("ferry", context=3)["results"][0]

"""What a search finds and gives (promises search.*, out.*, vis.*), through every door."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contract.doors import Door, Refused
from contract.promises import promise
from wesaid import Caller

MAIN, OTHER = "agent:main:main", "agent:main:telegram:direct:ada"


def ids(answer: object) -> list[str]:
    """Message ids of an answer, best first."""
    assert isinstance(answer, dict)
    return [result["messageId"] for result in answer["results"]]


@promise("search.text")
def test_what_users_and_assistants_said_is_found(door: Door) -> None:
    """A word of a user and a word of an assistant each find their message, in any session of the agent."""
    asked = door.append(MAIN, "user", "when does the night ferry leave")
    told = door.append(OTHER, "assistant", "it leaves at eleven from the southern pier")

    assert ids(door.search("night ferry")) == [asked]
    assert ids(door.search("southern")) == [told]
    assert ids(door.search("zeppelin")) == []


@promise("search.hit")
def test_a_hit_says_where_when_who_and_what(door: Door) -> None:
    """Session key, session id, message id, agent, role, timestamp, and an excerpt that has the words."""
    told = door.append(MAIN, "assistant", "a long introduction, and then: the gangway is closed on Mondays. " + "Filler follows. " * 60)

    [hit] = door.search("gangway closed")["results"]

    assert (hit["sessionKey"], hit["messageId"], hit["agentId"], hit["role"]) == (MAIN, told, "main", "assistant")
    assert hit["timestamp"] > 1_600_000_000_000
    assert hit["sessionId"]
    assert "gangway is closed" in hit["snippet"]
    assert len(hit["snippet"]) <= 300


@promise("search.reopen")
def test_the_returned_key_opens_the_conversation(door: Door) -> None:
    """History takes a hit's key and message id, and gives the message among its neighbours."""
    wrote = [
        door.append(MAIN, role, text) for role, text in (("user", "one"), ("assistant", "two buoys"), ("user", "three"), ("user", "four"))
    ]
    [hit] = door.search("buoys")["results"]

    page = door.history(hit["sessionKey"], messageId=hit["messageId"], messagesBefore=1, messagesAfter=1)

    assert [message["messageId"] for message in page["messages"]] == wrote[:3]
    assert [message["text"] for message in page["messages"]] == ["one", "two buoys", "three"]


@promise("search.exact")
def test_exact_words_and_phrases_are_found(door: Door) -> None:
    """A quoted phrase finds the message that has it, not one that has its words elsewhere; identifiers are found as written."""
    phrase = door.append(MAIN, "user", "keep the old file read-only for a month")
    door.append(MAIN, "user", "a month for the old, read-only: keep file")
    named = door.append(MAIN, "user", "see gateway/run.py and DEC-0054")

    assert ids(door.search('"the old file"')) == [phrase]
    assert ids(door.search("keep the old file"))[0] == phrase
    assert ids(door.search("gateway/run.py")) == [named]
    assert ids(door.search("DEC-0054")) == [named]


def family(door: Door) -> tuple[str, ...]:
    """A session, its child and grandchild, two strangers of the same agent, one of another; each has said "beacon"."""
    parent, child, grandchild = OTHER, "agent:main:subagent:c1", "agent:main:subagent:c2"
    spawned = {parent: None, child: parent, grandchild: child, MAIN: None, "agent:main:room:1": None, "agent:work:main": None}
    for key, by in spawned.items():
        door.append(key, "user", f"the beacon of {key}", spawned_by=by)
    return tuple(spawned)


def found_by(door: Door, caller: Caller) -> set[str]:
    """Keys of the sessions in which a caller finds "beacon"."""
    return {hit["sessionKey"] for hit in door.search("beacon", caller=caller, limit=25)["results"]}


def opened_by(door: Door, caller: Caller, keys: tuple[str, ...]) -> set[str]:
    """Keys of the sessions that a caller can open; one that is hidden looks like one that is absent."""
    opened = set()
    for key in keys:
        try:
            opened.add(door.history(key, caller=caller)["sessionKey"])
        except Refused as no:
            if no.exit_code != 3:
                raise
    return opened


@promise("vis.same")
@pytest.mark.parametrize("visibility", ["self", "tree", "agent", "all"])
@pytest.mark.parametrize("sandboxed", [False, True])
def test_a_caller_finds_exactly_what_it_can_open(
    door: Door, home: Path, monkeypatch: pytest.MonkeyPatch, visibility: str, sandboxed: bool
) -> None:
    """Under every setting, each session finds the same sessions by search as it can open by history, itself among them."""
    keys = family(door)
    monkeypatch.setenv("WESAID_SESSIONS_VISIBILITY", visibility)
    door = type(door)(home)
    for key in keys:
        caller = Caller(key, sandboxed=sandboxed)
        assert found_by(door, caller) == opened_by(door, caller, keys)
        assert key in found_by(door, caller)
    door.close()


@promise("vis.sandbox")
def test_a_sandboxed_session_sees_itself_and_what_it_spawned(door: Door, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By default that is its whole subtree, also for the main session; where sessions see only themselves, a sandbox adds nothing."""
    parent, child, grandchild, main, *_ = family(door)

    assert found_by(door, Caller(parent, sandboxed=True)) == {parent, child, grandchild}
    assert found_by(door, Caller(child, sandboxed=True)) == {child, grandchild}
    assert found_by(door, Caller(main, sandboxed=True)) == {main}
    assert len(found_by(door, Caller(main))) > 1

    monkeypatch.setenv("WESAID_SESSIONS_VISIBILITY", "self")
    door = type(door)(home)
    assert found_by(door, Caller(parent, sandboxed=True)) == {parent}
    door.close()


@promise("vis.before-limits")
def test_what_a_caller_may_not_see_takes_no_place_in_its_answer(door: Door) -> None:
    """With forty newer matches in a session that the caller may not see and one older in its own, limit 1 gives its own."""
    mine = door.append(OTHER, "user", "the lighthouse is out")
    for number in range(40):
        door.append(MAIN, "user", f"the lighthouse is out, says report {number}")

    answer = door.search("lighthouse", caller=Caller(OTHER), limit=1)

    assert ids(answer) == [mine]
    assert "truncated" not in answer


@promise("out.redacted")
@pytest.mark.parametrize("before", [0, 120, 285, 300])
def test_secrets_are_redacted_in_excerpts_and_history(door: Door, before: int) -> None:
    """A planted key comes out of neither search nor history, also where an excerpt would cut through it."""
    secret = "sk-" + "Ab3dE6gH" * 5
    door.append(MAIN, "user", "x" * before + f" harbour key {secret} and more words about the harbour")

    for answer in (door.search("harbour key"), door.history(MAIN)):
        said = json.dumps(answer)
        assert "harbour" in said
        assert "[redacted:" in said
        assert not any(secret[start : start + 6] in said for start in range(3, len(secret) - 6))


@promise("out.bounded")
def test_an_answer_is_bounded_by_count_excerpt_and_size(door: Door) -> None:
    """At most 25 results, 300 code points an excerpt, 32 KiB in all; a limit out of range is refused with its range."""
    for number in range(30):
        door.append(f"agent:main:room:{number}", "user", f"anchor {number} " + "锚和链" * 400)

    answer = door.search("anchor", limit=25)

    assert 0 < len(answer["results"]) <= 25
    assert max(len(hit["snippet"]) for hit in answer["results"]) <= 300
    assert len(json.dumps(answer, ensure_ascii=False).encode()) <= 32 * 1024
    assert answer["truncated"] is True
    with pytest.raises(Refused) as no:
        door.search("anchor", limit=26)
    assert no.value.exit_code == 2
    assert "25" in str(no.value)

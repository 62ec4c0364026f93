"""A stored row that is damaged is passed over wherever rows are read for an answer, and the answer says so."""

from __future__ import annotations

from typing import Any

import apsw
import pytest

from service.conftest import MAIN
from wesaid.errors import NotFoundError
from wesaid.service import exporting, history, listing, methods, reconciling, wire, writing
from wesaid.values import OPERATOR

BODIES = {
    "no JSON": "x'0011'",
    "empty": "x''",
    "a list": "CAST(x'00' || '[1]' AS BLOB)",
    "a number": "CAST(x'00' || '7' AS BLOB)",
    "no zlib": "CAST(x'01' || zeroblob(60) AS BLOB)",
    "an unknown coding": "x'7f7b7d'",
}
EACH = pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())


def damage(disk: Any, message_id: str, body: str) -> None:
    db = apsw.Connection(str(disk.home.path / "agents" / "main" / "agent.sqlite"))
    db.execute(f"UPDATE event SET body = {body} WHERE id = ?", (message_id,))
    db.close()


@pytest.fixture
def said(disk: Any) -> list[str]:
    """Five messages of one session."""
    return [disk.say(f"the ferry number{n}", role=("user", "assistant")[n % 2]) for n in range(5)]


@EACH
def test_a_search_gives_the_other_results_and_says_that_one_is_missing(disk: Any, said: list[str], body: str) -> None:
    """Neither the hit nor its place is lost to others: as many are given as were asked for."""
    damage(disk, said[2], body)
    answer = disk.search("ferry", limit=3, context=2, order="oldest")
    assert [hit["messageId"] for hit in answer["results"]] == [said[0], said[1], said[3]]
    assert "1 stored row was passed over" in answer["diagnostics"]["hint"]
    assert "wesaid doctor" in answer["diagnostics"]["hint"]
    assert answer["truncated"]
    near = [near["messageId"] for hit in answer["results"] for near in hit["context"]]
    assert said[2] not in near
    assert "hint" not in disk.search("number0")["diagnostics"]


@EACH
def test_history_shows_what_is_around_it(disk: Any, said: list[str], body: str) -> None:
    """With and without tools, from the end and around a neighbour; the damaged message itself is told to be damaged."""
    damage(disk, said[2], body)
    rest = [name for name in said if name != said[2]]
    for params in ({}, {"includeTools": True}, {"messageId": said[3]}):
        page = disk.history(**params)
        assert [message["messageId"] for message in page["messages"]] == rest
        assert page["unreadableMessages"] == 1
    assert "unreadableMessages" not in disk.history(limit=1)
    for ask in (
        lambda: disk.history(messageId=said[2]),
        lambda: history.message(disk.home, OPERATOR, None, said[2]),
        lambda: history.message(disk.home, OPERATOR, MAIN, said[2]),
    ):
        with pytest.raises(NotFoundError) as caught:
            ask()
        assert "wesaid doctor" in caught.value.hint


@EACH
def test_a_list_shows_the_next_message_instead(disk: Any, said: list[str], body: str) -> None:
    """First line, last message and the newest messages; the page's hint says what is missing."""
    damage(disk, said[0], body)
    damage(disk, said[4], body)
    wanted = {"includeDerivedTitles": True, "includeLastMessage": True, "messageLimit": 3}
    page = wire.sessions_json(listing.sessions(disk.home, OPERATOR, methods.convert(methods.ListParams, wanted)))
    [row] = page["sessions"]
    assert "number2" in row["derivedTitle"]
    assert "number3" in row["lastMessagePreview"]
    assert [message["messageId"] for message in row["messages"]] == said[2:4]
    assert "2 stored rows were passed over" in page["hint"]


@EACH
@pytest.mark.parametrize("form", ["jsonl", "md"])
def test_an_export_has_the_rest_and_counts_what_it_left_out(disk: Any, said: list[str], body: str, form: str) -> None:
    """Raw or redacted."""
    damage(disk, said[2], body)
    for reveal in (False, True):
        export = exporting.export(disk.home, OPERATOR, MAIN, format=form, reveal=reveal)
        text = "".join(export)
        assert export.unreadable == 1
        assert [n for n in range(5) if f"number{n}" in text] == [0, 1, 3, 4]


@EACH
def test_a_session_with_a_damaged_row_can_still_be_written_forked_and_indexed(disk: Any, said: list[str], body: str) -> None:
    """A fork leaves it out; what is appended is found; a rewind past it is indexed to its end."""
    damage(disk, said[2], body)
    fork = writing.fork(disk.home, OPERATOR, MAIN, said[4])
    assert [message["messageId"] for message in disk.history(fork.facts.key)["messages"]] == [*said[:2], *said[3:]]
    disk.say("a later harbour")
    assert len(disk.ids("harbour")) == 1
    writing.rewind(disk.home, OPERATOR, MAIN, said[3])
    assert reconciling.reconcile(disk.home, seconds=30) == 0
    assert disk.ids("harbour") == []


def test_spans_that_are_damaged_hide_more_and_never_less(disk: Any) -> None:
    """Where it is not known any more what is secret in a message, it is redacted anew."""
    said = disk.say("ferry with AKIAQWERTYUIOPASDFGH inside")
    db = apsw.Connection(str(disk.home.path / "agents" / "main" / "agent.sqlite"))
    for spans in ("nonsense", "7", "[[1]]"):
        db.execute("UPDATE entry SET spans = ?", (spans,))
        [hit] = disk.search("ferry")["results"]
        assert hit["messageId"] == said
        assert "QWERTY" not in hit["snippet"]
    db.close()


@pytest.mark.parametrize("extra", ["nonsense", "[1]", ""])
def test_a_session_whose_further_facts_are_damaged_is_listed_and_read(disk: Any, said: list[str], extra: str) -> None:
    """What its source said besides is lost, and nothing else."""
    db = apsw.Connection(str(disk.home.path / "agents" / "main" / "agent.sqlite"))
    db.execute("UPDATE session SET extra = ?", (extra,))
    db.close()
    assert disk.listed() == [MAIN]
    assert len(disk.ids("ferry", sessionKey=MAIN)) == len(disk.history()["messages"]) == len(said)

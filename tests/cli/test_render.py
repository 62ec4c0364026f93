"""A page of hits and a conversation as people see them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from wesaid.cli.output import quoted
from wesaid.cli.paint import Line, plain
from wesaid.cli.render_history import history_lines
from wesaid.cli.render_search import Asked, marked, nothing_lines, page_lines
from wesaid.values import Diagnostics, HistoryPage, Hit, Message, Neighbour, Page

NOW = 1_800_000_000_000
WEEK = 7 * 86_400_000
ASKED = Asked("ferry")
DAY = f"{datetime.fromtimestamp((NOW - 3 * WEEK) / 1000).astimezone():%Y-%m-%d}"


def hit(**more: Any) -> Hit:
    facts: dict[str, Any] = {
        "session_key": "agent:main:main",
        "session_id": "s1",
        "message_id": "m1",
        "agent_id": "main",
        "role": "user",
        "timestamp": NOW - 3 * WEEK,
        "snippet": "we moved the ferry",
        "score": 7.1,
        "match": "phrase",
        "title": "Ferries",
        "marks": ((13, 18),),
    }
    return Hit(**{**facts, **more})


def page(*hits: Hit, **more: Any) -> Page:
    return Page(hits=hits, tier="phrase", diagnostics=Diagnostics(scope="all", **more))


def text(lines: Any) -> list[str]:
    return [plain(line) for line in lines]


def test_hits_are_grouped_by_session_in_the_order_of_their_best() -> None:
    """A session's title and key stand once, above its hits; the command below opens the best of them."""
    found = page(hit(tool="codex", project="/srv/ferry"), hit(session_key="agent:x:y", message_id="m9", title=None), hit(message_id="m2"))
    assert text(page_lines(found, ASKED, now=NOW)) == [
        "Ferries",
        f"agent:main:main · codex · /srv/ferry · 3 weeks ago, {DAY}",
        f"  user · 3 weeks ago, {DAY} · m1",
        "    we moved the ferry",
        f"  user · 3 weeks ago, {DAY} · m2",
        "    we moved the ferry",
        "  Read on: wesaid history agent:main:main --around m1",
        "",
        "Untitled session",
        f"agent:x:y · 3 weeks ago, {DAY}",
        f"  user · 3 weeks ago, {DAY} · m9",
        "    we moved the ferry",
        "  Read on: wesaid history agent:x:y --around m9",
        "",
        "3 hits in 2 sessions",
    ]


def test_the_match_is_marked() -> None:
    """The marked range, and only it, has the style of a match."""
    assert marked("we moved the ferry", ((13, 18),)) == [("we moved the ", ""), ("ferry", "mark"), ("", "")]


def test_marks_stay_on_their_word_behind_an_escape_sequence() -> None:
    """Making text harmless moves no offset."""
    assert ("ferry", "mark") in marked("\x1b[2J\r\nferry", ((6, 11),))


def test_overlapping_marks_lose_no_text() -> None:
    """Ranges that overlap or run backwards cost a mark, never a character."""
    line: Line = marked("abcdef", ((1, 4), (2, 5), (5, 5), (4, 3)))
    assert plain(line) == "abcdef"


def test_a_loose_hit_says_what_it_lacks() -> None:
    """A person sees at once that not all words are there."""
    lines = text(page_lines(page(hit(match="some", missing=("harbour",))), ASKED, now=NOW))
    assert f"  user · 3 weeks ago, {DAY} · m1 · some of the words, without: harbour" in lines


def test_context_stands_around_the_hit() -> None:
    """Earlier neighbours above, later ones below, and a mark on the hit, which in a pipe nothing else would tell."""
    near = (
        Neighbour(message_id="m0", role="assistant", timestamp=NOW - 4 * WEEK, text="before"),
        Neighbour(message_id="m2", role="assistant", timestamp=NOW, text="after"),
    )
    lines = text(page_lines(page(hit(context=near)), ASKED, now=NOW))
    assert lines[3:6] == ["    assistant: before", "    > we moved the ferry", "    assistant: after"]


def test_an_explained_hit_shows_the_parts_of_its_score() -> None:
    """``--explain`` says what ranked it."""
    lines = text(page_lines(page(hit(parts={"words": 5.1, "near": 2.0})), ASKED, now=NOW, explain=True))
    assert "    score 7.10, tier phrase: words 5.10, near 2.00" in lines


def test_more_hits_of_a_session_are_counted_with_the_way_to_see_them() -> None:
    """What was folded away is not hidden: the search that was typed, in this session, with the limit that it needs."""
    lines = text(page_lines(page(hit(more_in_session=4)), Asked("the 'ferry'", narrowing=" --role user"), now=NOW))
    command = "wesaid search 'the '\"'\"'ferry'\"'\"'' --role user --session agent:main:main"
    assert f"  … 4 more in this session: {command}" in lines
    lines = text(page_lines(page(hit(more_in_session=40)), Asked("-x ferry", place=" --home /h"), now=NOW))
    assert "  … 40 more in this session: wesaid search --session agent:main:main --limit 25 --home /h -- '-x ferry'" in lines


def test_a_hit_by_its_sessions_title_says_so() -> None:
    """Its text, which has none of the words, would puzzle; a hit whose text was not asked for is no such one."""
    assert f"  user · 3 weeks ago, {DAY} · m1 · (title)" in text(page_lines(page(hit(score=0.0, marks=())), ASKED, now=NOW))
    assert not [line for line in text(page_lines(page(hit(snippet="", marks=())), ASKED, now=NOW)) if "(title)" in line]


def test_a_hit_without_its_text_has_no_empty_line() -> None:
    """``--detail index`` is a list; the only empty lines are between sessions."""
    lines = text(page_lines(page(hit(snippet="", marks=()), hit(message_id="m2", snippet="", marks=())), ASKED, now=NOW))
    assert lines.index("") == len(lines) - 2
    assert not [line for line in lines if line and not line.strip()]


@pytest.mark.parametrize(("limit", "helps"), [(1, True), (2, False), (25, False)])
def test_a_higher_limit_is_advised_where_it_would_help(limit: int, helps: bool) -> None:
    """Not at the highest there is, and not when the answer was cut for another reason; narrowing always helps."""
    found = Page(hits=(hit(),) * (25 if limit == 25 else 1), tier="phrase", diagnostics=Diagnostics(scope="all"), truncated=True)
    last = text(page_lines(found, Asked("ferry", limit), now=NOW))[-1]
    assert ("--limit" in last) is helps
    assert "--after, --session or more words" in last


def test_an_empty_answer_says_what_was_searched_and_what_would_widen_it() -> None:
    """Sessions, filters, and the service's hint."""
    empty = page(sessions_searched=12, hint="the last 7 days only")
    assert list(nothing_lines("ferry", empty, {"role": "user", "agent": ("a", "b")})) == [
        "nothing found for 'ferry' in 12 sessions, role user, agent a, b",
        "the last 7 days only",
    ]


def test_an_empty_store_says_how_to_fill_it() -> None:
    """The first search of a new user leads to import."""
    assert "wesaid import" in list(nothing_lines("ferry", page(sessions_searched=0), {}))[-1]


def test_an_id_of_a_transcript_is_one_harmless_word_of_a_command() -> None:
    """The command that is offered to be typed cannot be another command."""
    assert quoted("m1; rm -rf ~") == "'m1; rm -rf ~'"
    assert "\x1b" not in quoted("m\x1b[2J")


def test_a_conversation_marks_its_anchor_and_says_how_to_read_on() -> None:
    """Line ends of a message stay, each line indented; the anchor has an arrow."""
    messages = (
        Message(message_id="m1", session_id="s1", role="user", timestamp=NOW, text="one\r\ntwo\x1b[2J"),
        Message(message_id="m2", session_id="s1", role="assistant", timestamp=0, text="three"),
    )
    stretch = HistoryPage(
        session_key="agent:main:main", session_id="s1", messages=messages, total_messages=9, has_more=True, next_offset=2, anchor="m2"
    )
    lines = text(history_lines(stretch, now=NOW))
    assert lines[0] == "agent:main:main · 2 of 9 messages"
    assert lines[3:5] == ["  one", "  two␛[2J"]
    assert "> assistant · undated · m2" in lines
    assert lines[-1] == "Read on: wesaid history agent:main:main --offset 2"

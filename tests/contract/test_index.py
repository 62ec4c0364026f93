"""What the index holds, and since when (promises index.*), through every door."""

from __future__ import annotations

import json
from pathlib import Path

import apsw
import pytest

from contract.doors import DOORS, Door, Refused, bring_in
from contract.promises import promise
from wesaid.service import opening, writing
from wesaid.values import OPERATOR, Caller

MAIN = "agent:main:main"
ELSEWHERE = "agent:main:room:1"
OWNER = "agent:main:room:2"
FIXTURES = Path(__file__).parents[1] / "fixtures"


def texts(page: object) -> list[str]:
    """Texts of a history page, in order."""
    assert isinstance(page, dict)
    return [message["text"] for message in page["messages"]]


def found(door: Door, query: str) -> int:
    """How many results a query has."""
    return len(door.search(query)["results"])


def transcript(folder: Path, *records: dict[str, object]) -> Path:
    """An OpenClaw transcript of one session, each record a child of the one before unless it says otherwise."""
    path = folder / "c0de.jsonl"
    lines: list[dict[str, object]] = [{"type": "session", "version": 3, "id": "c0de", "timestamp": "2026-01-05T08:00:00.000Z"}]
    parent = None
    for number, record in enumerate(records):
        line = {"id": f"e{number}", "parentId": parent, "timestamp": f"2026-01-05T08:{number:02}:00.000Z", **record}
        lines.append(line)
        parent = line["targetId"] if line["type"] == "leaf" else line["id"]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def message(role: str, *content: object) -> dict[str, object]:
    """A message record."""
    return {"type": "message", "message": {"role": role, "content": list(content)}}


def said(text: str) -> dict[str, str]:
    """A text block."""
    return {"type": "text", "text": text}


@promise("index.beside")
def test_the_index_lies_in_the_agents_own_database(door: Door, home: Path) -> None:
    """Each agent has one SQLite file with the transcript rows and an FTS5 table in it."""
    door.append(MAIN, "user", "first agent")
    door.append("agent:work:main", "user", "second agent")

    for agent in ("main", "work"):
        database = apsw.Connection(str(home / "agents" / agent / "agent.sqlite"), flags=apsw.SQLITE_OPEN_READONLY)
        tables = [sql for (sql,) in database.execute("SELECT lower(sql) FROM sqlite_schema WHERE type = 'table' AND sql IS NOT NULL")]
        assert [sql for sql in tables if "using fts5" in sql]
        assert len([sql for sql in tables if "virtual" not in sql]) > 1
        database.close()


@promise("index.same-tx")
def test_a_message_is_found_as_soon_as_it_is_written(door: Door, home: Path) -> None:
    """What one door wrote, another opening of the store finds at once, and no answer says that it is still indexing."""
    for number in range(5):
        door.append(MAIN, "user", f"sounding {number} of the fairway")
        other = DOORS["service"](home)
        answer = other.search("sounding fairway")
        assert len(answer["results"]) == min(number + 1, 3)  # a session gives at most three
        assert answer["results"][0].get("moreInSession", 0) == max(number + 1 - 3, 0)
        assert "indexing" not in answer


@promise("index.delete-tx")
def test_a_deleted_session_is_found_and_read_no_more(door: Door) -> None:
    """After a delete neither search nor history has the session; its neighbour stays."""
    door.append(MAIN, "user", "the barnacle report")
    door.append("agent:main:room:1", "user", "another barnacle report")
    assert found(door, "barnacle") == 2

    door.delete(MAIN)

    assert [hit["sessionKey"] for hit in door.search("barnacle")["results"]] == ["agent:main:room:1"]
    with pytest.raises(Refused) as no:
        door.history(MAIN)
    assert no.value.exit_code == 3


@promise("index.excluded")
def test_tool_results_reasoning_and_images_are_not_found(door: Door, home: Path, tmp_path: Path) -> None:
    """Only what was said is in the index: no tool call or result, no thinking, no image, no system text."""
    source = transcript(
        tmp_path,
        message("user", said("please look at the mooring"), {"type": "image", "data": "aW1hZ2VkYXRh", "mimeType": "image/png"}),
        message(
            "assistant",
            {"type": "thinking", "thinking": "reasoningword"},
            said("looking now"),
            {"type": "toolCall", "id": "c", "name": "toolnameword", "arguments": {"cmd": "argumentword"}},
        ),
        {"type": "message", "message": {"role": "toolResult", "toolCallId": "c", "content": [said("resultword")]}},
        message("system", said("systemword")),
    )
    bring_in(home, source, "openclaw")

    assert found(door, "mooring") == 1
    assert found(door, "looking now") == 1
    for word in ("reasoningword", "toolnameword", "argumentword", "resultword", "systemword", "aW1hZ2VkYXRh"):
        assert found(door, word) == 0, word


@promise("index.active-branch")
def test_only_the_active_branch_of_a_transcript_is_found(door: Door, home: Path, tmp_path: Path) -> None:
    """What a leaf control left behind is neither found nor read; what followed it is."""
    source = transcript(
        tmp_path,
        message("user", said("which rope")),
        message("assistant", said("the abandonedword rope")),
        {"type": "leaf", "targetId": "e0"},
        message("assistant", said("the chosenword rope")),
    )
    bring_in(home, source, "openclaw")

    assert found(door, "abandonedword") == 0
    [hit] = door.search("chosenword")["results"]
    assert texts(door.history(hit["sessionKey"])) == ["which rope", "the chosenword rope"]


@promise("index.rewind")
def test_after_a_rewind_search_and_history_show_the_same_path(door: Door) -> None:
    """The abandoned words are gone from both, the kept and the new ones are in both."""
    kept = door.append(MAIN, "user", "keptword one")
    door.append(MAIN, "assistant", "abandonedword two")
    door.append(MAIN, "user", "abandonedword three")

    door.rewind(MAIN, kept)

    assert found(door, "abandonedword") == 0
    assert found(door, "keptword") == 1
    assert texts(door.history(MAIN)) == ["keptword one"]

    door.append(MAIN, "assistant", "newword two")

    assert found(door, "abandonedword") == 0
    assert found(door, "newword") == 1
    assert texts(door.history(MAIN)) == ["keptword one", "newword two"]


@promise("index.backfill")
def test_rows_without_an_index_are_indexed_beginning_with_the_next_search(waiting_door: Door, home: Path, tmp_path: Path) -> None:
    """The first answer says that it is not complete; asked again, everything is found. What another program dropped counts."""
    bring_in(home, transcript(tmp_path, message("user", said("a title")), message("user", said("the oldword rope"))), "openclaw")
    database = apsw.Connection(str(home / "agents" / "main" / "agent.sqlite"))
    database.execute("DROP TABLE words")
    database.close()

    first = waiting_door.search("oldword", waitMs=0)
    assert first["indexing"] is True
    answer = waiting_door.search("oldword")
    while answer.get("indexing"):
        answer = waiting_door.search("oldword")
    assert [hit["snippet"] for hit in answer["results"]] == ["the oldword rope"]


@promise("index.indexing-flag")
def test_an_answer_given_meanwhile_says_so_and_is_complete_afterwards(waiting_door: Door, home: Path) -> None:
    """After a switch to another branch a search that may not wait says ``indexing``; one that may wait is complete and says nothing."""
    first = waiting_door.append(MAIN, "user", "keptword")
    left = [waiting_door.append(MAIN, "user", f"leftword {number}") for number in range(3)][-1]
    waiting_door.rewind(MAIN, first)
    waiting_door.append(MAIN, "user", "otherword")
    with opening.open_home(home) as opened:
        writing.switch(opened, OPERATOR, MAIN, left)

    meanwhile = waiting_door.search("leftword", waitMs=0)
    assert meanwhile["indexing"] is True
    assert waiting_door.search("otherword", waitMs=0)["results"] == []

    answer = waiting_door.search("leftword", waitMs=2000)
    assert "indexing" not in answer
    assert len(answer["results"]) == 3
    assert found(waiting_door, "otherword") == 0


@promise("index.exact")
@pytest.mark.parametrize("caller", [OPERATOR, Caller(OWNER), Caller(ELSEWHERE)], ids=["operator", "owner", "stranger"])
def test_only_who_may_see_what_is_incomplete_is_told_so(waiting_door: Door, home: Path, caller: Caller) -> None:
    """A session whose branch was switched is `indexing` for those who see it, until it is whole; for another session nothing is different."""
    waiting_door.append(ELSEWHERE, "user", "a quiet word elsewhere")
    first = waiting_door.append(OWNER, "user", "a word")
    left = waiting_door.append(OWNER, "assistant", "another word")
    waiting_door.rewind(OWNER, first)
    waiting_door.append(OWNER, "user", "one more word")
    with opening.open_home(home) as opened:
        writing.switch(opened, OPERATOR, OWNER, left)

    meanwhile = waiting_door.search("word", caller=caller, waitMs=0)
    sees = caller != Caller(ELSEWHERE)
    assert meanwhile.get("indexing", False) is sees
    assert bool(meanwhile["diagnostics"].get("staleSessions")) is sees
    answer = waiting_door.search("word", caller=caller, waitMs=2000)
    assert "indexing" not in answer
    assert len(answer["results"]) == {None: 3, OWNER: 2, ELSEWHERE: 1}[caller.key]


@promise("index.windows")
def test_windows_that_a_rewind_replaced_are_not_found_and_those_before_a_reset_are(door: Door, home: Path) -> None:
    """In OpenClaw's own database, where a rewind and a switch opened windows, and a reset one of another kind."""
    bring_in(home, FIXTURES / "openclaw-state" / "sqlite-era", "openclaw")
    rewound = "agent:main:dashboard:00000000-0000-4000-8000-000000001006"

    assert found(door, "abandonedbranch") == 0
    kept = door.search("rewindbase")["results"]
    assert {hit["sessionKey"] for hit in kept} == {rewound}
    assert not any("abandonedbranch" in text for text in texts(door.history(rewound)))
    with pytest.raises(Refused) as no:
        door.history(rewound, sessionId="00000000-0000-4000-8000-000000000006")
    assert no.value.exit_code == 3

    [before] = [hit for hit in door.search("axolotl rollout", limit=25)["results"] if hit["messageId"] == "m3_1"]
    assert "axolotl rollout in the group chat" in texts(door.history(before["sessionKey"], messageId="m3_1"))


@promise("index.words")
@pytest.mark.parametrize(
    ("written", "typed"),
    [
        ("the café at the pier", "cafe"),
        ("the cafe at the pier", "café"),
        ("Đường đến bến phà", "duong den ben pha"),
        ("die Hafenstraße", "hafenstrasse"),
        ("ÅNGBÅT", "angbat"),
        ("it's the skipper's", "it's"),
    ],
)
def test_accents_do_not_stand_between_a_question_and_its_answer(door: Door, written: str, typed: str) -> None:
    """A word is found with and without its accents."""
    door.append(MAIN, "user", written)
    assert found(door, typed) == 1


@promise("index.words")
@pytest.mark.parametrize(("written", "typed"), [("ガス", "カス"), ("мой причал", "мои"), ("किताब", "कतब")])
def test_marks_that_are_letters_stay(door: Door, written: str, typed: str) -> None:
    """Where a mark makes another letter, the other letter is another word."""
    door.append(MAIN, "user", written)
    assert found(door, written) == 1
    assert found(door, typed) == 0


@promise("index.cjk")
@pytest.mark.parametrize(
    ("written", "typed"),
    [
        ("我们下周再做代码评审吧", "评审"),
        ("开会时间改了", "会"),
        ("서버설정파일을 고쳤다", "설정"),
        ("新しいユーザーを登録した", "ﾕｰｻﾞｰ"),
        ("データベース移行の計画", "移行"),
    ],
)
def test_parts_of_sentences_without_spaces_are_found(door: Door, written: str, typed: str) -> None:
    """One or two characters inside a Chinese, Japanese or Korean sentence find it."""
    door.append(MAIN, "user", written)
    assert found(door, typed) == 1

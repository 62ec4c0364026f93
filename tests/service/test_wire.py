"""Claims about the shapes on the wire: contract.md §2's objects, absent flags left out, nothing else in them."""

from __future__ import annotations

import json

from wesaid.service import wire
from wesaid.service.listed import ListedSession, SessionsPage
from wesaid.values import Diagnostics, HistoryPage, Hit, Message, Neighbour, Page, Tombstone

HIT = Hit(
    session_key="agent:main:main", session_id="s", message_id="m", agent_id="main", role="user", timestamp=1767225600000, snippet="…", score=7.1,
    match="phrase",
)  # fmt: skip
ALWAYS = {"sessionKey", "sessionId", "messageId", "agentId", "role", "timestamp", "snippet", "score", "match", "kind"}


def test_a_plain_hit_has_what_every_hit_has_and_no_more():
    """What is not known, false or zero is left out; one copy is none."""
    made = wire.hit_json(HIT)
    assert set(made) == ALWAYS
    assert made["timestamp"] == 1767225600000
    assert made["kind"] == "other"


def test_a_full_hit_has_the_contracts_fields():
    """Every optional field under its name; marks and parts are for people's eyes and not on the wire."""
    full = Hit(
        **{name: getattr(HIT, name) for name in ("session_key", "session_id", "message_id", "agent_id", "role", "timestamp", "snippet", "score")},
        match="some", missing=("word",), title="t", kind="main", tool="codex", project="/p", current=True, more_in_session=4, copies=2,
        context=(Neighbour(message_id="n", role="assistant", timestamp=5, text="near"),), marks=((0, 1),), parts={"words": 1.0},
    )  # fmt: skip
    made = wire.hit_json(full)
    assert set(made) == ALWAYS | {"missing", "title", "tool", "project", "current", "moreInSession", "copies", "context"}
    assert (made["missing"], made["current"], made["moreInSession"], made["copies"]) == (["word"], True, 4, 2)
    assert made["context"] == [{"messageId": "n", "role": "assistant", "timestamp": 5, "text": "near"}]
    assert json.loads(json.dumps(made)) == made


def test_an_empty_page_says_only_what_is_so():
    """`indexing`, `truncated`, `nextCursor`, `ignored`, `failedAgents`, `hint` only when there is something to say."""
    made = wire.page_json(Page(hits=(), tier="none", diagnostics=Diagnostics(scope="self")))
    assert made == {
        "results": [],
        "tier": "none",
        "diagnostics": {"scope": "self", "sandboxed": False, "sessionsSearched": 0, "staleSessions": 0},
    }


def test_a_full_page_has_the_contracts_fields():
    """Each under its name."""
    diagnostics = Diagnostics(
        scope="tree", sandboxed=True, sessions_searched=12, stale_sessions=1, ignored=("the",), hint="do", failed_agents=("work",)
    )
    made = wire.page_json(Page(hits=(HIT,), tier="phrase", diagnostics=diagnostics, indexing=True, truncated=True, next_cursor="c"))
    assert made == {
        "results": [wire.hit_json(HIT)],
        "tier": "phrase",
        "indexing": True,
        "truncated": True,
        "nextCursor": "c",
        "diagnostics": {
            "scope": "tree",
            "sandboxed": True,
            "sessionsSearched": 12,
            "staleSessions": 1,
            "ignored": ["the"],
            "failedAgents": ["work"],
            "hint": "do",
        },
    }


def test_a_history_page_says_always_where_it_stands():
    """`firstMessageId`, `lastMessageId`, `totalMessages`, `hasMore`, `nextOffset` on every page; flags only when set."""
    page = HistoryPage(session_key="agent:main:main", session_id="s", messages=(), total_messages=0, has_more=False)
    made = wire.history_json(page)
    assert made == {
        "sessionKey": "agent:main:main",
        "sessionId": "s",
        "messages": [],
        "totalMessages": 0,
        "hasMore": False,
        "nextOffset": None,
        "firstMessageId": None,
        "lastMessageId": None,
    }
    flags = {"truncated": True, "dropped_messages": 2, "content_truncated": True, "content_redacted": True, "indexing": True}
    full = HistoryPage(session_key="k", session_id="s", messages=(), total_messages=0, has_more=False, **flags)
    assert {name: value for name, value in wire.history_json(full).items() if name not in made} == {
        "truncated": True,
        "droppedMessages": 2,
        "contentTruncated": True,
        "contentRedacted": True,
        "indexing": True,
    }


def test_a_message_has_ours_and_openclaws():
    """`kind` is inside `__openclaw`, and only for boundaries."""
    made = wire.message_json(
        Message(
            message_id="m", session_id="s", role="user", timestamp=5, text="t", content=({"type": "text", "text": "t"},), position=3, seq=9
        )
    )
    assert made == {
        "messageId": "m",
        "sessionId": "s",
        "role": "user",
        "timestamp": 5,
        "text": "t",
        "content": [{"type": "text", "text": "t"}],
        "__openclaw": {"id": "m", "seq": 3, "recordTimestampMs": 5},
    }
    boundary = Message(message_id="m", session_id="s", role="system", timestamp=5, text="Reset", kind="reset")
    assert wire.message_json(boundary)["__openclaw"]["kind"] == "reset"


def test_a_listed_session_leaves_out_what_is_not_known():
    """And has the source only with a path."""
    row = ListedSession(
        key="k", session_id="s", agent_id="main", kind="main", title=None, label=None, tool=None, project=None, message_count=0, created_at=1,
        updated_at=2, archived=False, spawned_by=None, stale=False,
    )  # fmt: skip
    made = wire.sessions_json(SessionsPage(rows=(row,), count=1, has_more=False))
    assert set(made) == {"sessions", "count", "hasMore"}
    assert set(made["sessions"][0]) == {
        "key",
        "sessionId",
        "agentId",
        "kind",
        "messageCount",
        "createdAt",
        "updatedAt",
        "archived",
        "stale",
    }
    more = wire.sessions_json(SessionsPage(rows=(), count=0, has_more=True, next_offset=5))
    assert (more["hasMore"], more["nextOffset"]) == (True, 5)


def test_a_tombstone_says_when_and_whether_it_is_erased():
    """`erasedAt` is null until the bytes are gone."""
    assert wire.tombstone_json(Tombstone(key="k", session_ids=("s",), deleted_at=5)) == {
        "sessionKey": "k",
        "sessionIds": ["s"],
        "deleted": True,
        "deletedAt": 5,
        "erasedAt": None,
    }

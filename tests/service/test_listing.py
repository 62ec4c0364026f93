"""Claims about the list of sessions: latest first, filtered, paged, redacted, by the same rule of who may see."""

from __future__ import annotations

import dataclasses
import json

import pytest

from wesaid.errors import NotFoundError
from wesaid.service import listing, methods, wire, writing
from wesaid.values import OPERATOR, Caller, SourceState

MAIN = "agent:main:main"
NOW = 1_772_359_200_000
MINUTE = 60_000


def rows(lab, caller=OPERATOR, **params):
    return wire.sessions_json(listing.sessions(lab.home, caller, methods.convert(methods.ListParams, params)))["sessions"]


def patch(lab, key, **facts):
    with lab.home.store("main").writing() as writer:
        writer.patch(key, dataclasses.replace(writer.session(key).facts, **facts))


def test_sessions_come_latest_first_page_by_page(lab):
    """`hasMore` and `nextOffset` walk everything once, over agents."""
    keys = [f"agent:{'main' if number % 2 else 'work'}:s{number}" for number in range(7)]
    base = lab.home.now()
    for number, key in enumerate(keys):
        lab.say("hello", key=key, at=base + (number + 1) * MINUTE)
    walked, offset = [], 0
    while offset is not None:
        page = wire.sessions_json(listing.sessions(lab.home, OPERATOR, methods.ListParams(limit=3, offset=offset)))
        assert page["count"] == len(page["sessions"])
        walked += [row["key"] for row in page["sessions"]]
        offset = page.get("nextOffset")
        assert page["hasMore"] is (offset is not None)
    assert walked == keys[::-1]


def test_every_filter_narrows(lab):
    """Kind, label, agent, words in title or key, archived, activity, tool, folder."""
    old = lab.home.now() - 60 * MINUTE
    for key in (MAIN, "agent:main:cron:daily", "agent:main:telegram:group:-1", "agent:work:main"):
        lab.say(f"hello {key[-4:]}", key=key, at=NOW)
    writing.patch(lab.home, OPERATOR, MAIN, label="Boats", archived=True)
    patch(lab, MAIN, tool="codex", project="/work/ferry/docs", updated_at=lab.home.now())
    for key in ("agent:main:cron:daily", "agent:main:telegram:group:-1"):
        patch(lab, key, updated_at=old)
    everything = lab.listed()
    assert len(everything) == 4
    assert lab.listed(kinds=["cron", "group"]) == ["agent:main:cron:daily", "agent:main:telegram:group:-1"]
    assert lab.listed(label="Boats") == lab.listed(archived=True) == lab.listed(tool="codex") == lab.listed(project="/work/ferry") == [MAIN]
    assert lab.listed(label="boat") == lab.listed(project="/work/fer") == []
    assert lab.listed(agentId="work") == ["agent:work:main"]
    assert lab.listed(search="BOATS") == [MAIN]
    assert lab.listed(search="telegram") == ["agent:main:telegram:group:-1"]
    assert MAIN not in lab.listed(archived=False)
    assert lab.listed(archived="all") == everything
    assert MAIN in lab.listed(activeMinutes=30)
    assert "agent:main:cron:daily" not in lab.listed(activeMinutes=30)
    with pytest.raises(NotFoundError):
        lab.listed(agentId="nobody")


def test_a_row_has_the_contracts_fields_and_no_others(lab):
    """Contract.md §2, with what is not known left out."""
    lab.say("hello there")
    [row] = rows(lab)
    assert set(row) == {"key", "sessionId", "agentId", "kind", "title", "messageCount", "createdAt", "updatedAt", "archived", "stale"}
    assert (row["key"], row["agentId"], row["kind"], row["title"], row["archived"], row["stale"]) == (
        MAIN,
        "main",
        "main",
        "hello there",
        False,
        False,
    )


def test_messages_are_counted_on_the_visible_path_without_resets_or_what_was_abandoned(lab):
    """User and assistant messages with text."""
    lab.say("one")
    lab.say("two", role="assistant")
    writing.reset(lab.home, OPERATOR, "agent:main:main")
    assert rows(lab)[0]["messageCount"] == 2
    lab.say("one", key="agent:main:other")
    second = lab.say("two", key="agent:main:other")
    lab.say("three", key="agent:main:other")
    writing.rewind(lab.home, OPERATOR, "agent:main:other", second)
    assert {row["key"]: row["messageCount"] for row in rows(lab)} == {MAIN: 2, "agent:main:other": 2}


def test_titles_and_last_messages_are_made_on_demand_and_redacted(lab):
    """`derivedTitle` of the first human line, `lastMessagePreview` of what is visible last."""
    secret = "sk-AbCd3fGh1jKlMn0pQrStUvWxYz"
    lab.say("how can I help", role="assistant")
    kept = lab.say(f"use {secret} for the ferry\nsecond line")
    lab.say("the abandoned walrus")
    writing.rewind(lab.home, OPERATOR, MAIN, kept)
    [row] = rows(lab, includeDerivedTitles=True, includeLastMessage=True)
    assert row["derivedTitle"] == "use [redacted:sk-key] for the ferry"
    assert row["lastMessagePreview"].startswith("use [redacted:sk-key] for the ferry second line")
    assert secret not in json.dumps(rows(lab))
    assert "derivedTitle" not in rows(lab)[0]


def test_a_source_is_shown_to_the_operator_alone(lab):
    """Paths are of the machine, and no session's business."""
    lab.say("hello")
    with lab.home.store("main").writing() as writer:
        writer.note_source(
            SourceState(path="/x/y.jsonl", tool="openclaw", size=1, mtime_ns=1, offset=1, head_digest="d", keys=(MAIN,), missing=True)
        )
    assert rows(lab)[0]["source"] == {"path": "/x/y.jsonl", "missing": True}
    assert "/x/y" not in json.dumps(rows(lab, Caller(MAIN)))


def test_lineage_is_shown_and_never_ends(lab):
    """A child that ended long ago is still its parent's to see."""
    child = "agent:main:subagent:one"
    lab.say("long ago", key=child, by="agent:main:me", at=1_000_000)
    lab.say("now", key="agent:main:me")
    [row] = [row for row in rows(lab, Caller("agent:main:me")) if row["key"] == child]
    assert row["spawnedBy"] == "agent:main:me"


def test_the_list_is_empty_in_an_empty_home(lab):
    """No error, no folder."""
    assert rows(lab) == []
    assert rows(lab, Caller(MAIN)) == []

"""Who may see whom (promises vis.*, rank.*, history.*, list.*), through every door, beside what OpenClaw 2026.9.6 allows.

The tables are facts: for a setting and a caller, the sessions that OpenClaw lets it read; `DIFFERENCES` are the cells in which contract.md §3 departs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from contract.doors import DOORS, Door, Refused, ServiceDoor
from contract.promises import promise
from wesaid import Caller
from wesaid.errors import SettingError, WesaidError
from wesaid.service import opening, writing
from wesaid.values import OPERATOR

MAIN = "agent:main:main"
GROUP = "agent:main:telegram:group:-42"
HELPER = "agent:main:subagent:helper"  # spawned by MAIN
SECOND = "agent:main:subagent:second"  # spawned by HELPER
NIGHTLY = "agent:main:cron:nightly"
WORK = "agent:work:main"
MINE = {MAIN, GROUP, HELPER, SECOND, NIGHTLY}
EVERYBODY = MINE | {WORK}
PARENTS = {HELPER: MAIN, SECOND: HELPER}

ALL = 'visibility = "all"'
NON_MAIN = "sandboxed unless main"  # OpenClaw's mode `non-main`: only other sessions run in a sandbox
# setting (TOML under [sessions], with what follows "/" under [sandbox]) -> caller -> what OpenClaw allows
OPENCLAW: dict[str, dict[str, set[str]]] = {
    ALL: dict.fromkeys((MAIN, GROUP, HELPER, WORK), EVERYBODY),
    'visibility = "self"': {MAIN: {MAIN}, GROUP: {GROUP}, HELPER: {HELPER}, WORK: {WORK}},
    'visibility = "tree"': {MAIN: MINE, GROUP: {GROUP}, HELPER: {HELPER, SECOND}, WORK: {WORK}},
    'visibility = "agent"': {MAIN: MINE, GROUP: MINE, HELPER: MINE, WORK: {WORK}},
    ALL + "\nagentToAgent = {enabled = false}": {MAIN: MINE, GROUP: MINE, HELPER: MINE, WORK: {WORK}},
    ALL + '\nagentToAgent = {allow = ["main"]}': {MAIN: MINE, GROUP: MINE, HELPER: MINE, WORK: {WORK}},
    ALL + '\nagentToAgent = {allow = ["m*", "w*k"]}': dict.fromkeys((MAIN, GROUP, HELPER, WORK), EVERYBODY),
}
SANDBOXED: dict[str, dict[str, set[str]]] = {
    ALL: {MAIN: {MAIN, HELPER}, GROUP: {GROUP}, HELPER: {HELPER, SECOND}},
    ALL + '/sessionToolsVisibility = "all"': dict.fromkeys((MAIN, GROUP, HELPER), EVERYBODY),
    'visibility = "self"': {MAIN: {MAIN, HELPER}, GROUP: {GROUP}, HELPER: {HELPER, SECOND}},
    'visibility = "agent"': {MAIN: {MAIN, HELPER}, GROUP: {GROUP}, HELPER: {HELPER, SECOND}},
    "": {MAIN: {MAIN, HELPER}, GROUP: {GROUP}, HELPER: {HELPER, SECOND}},
}
# (setting, caller, sandboxed) -> what we allow, and which sentence of contract.md §3 says so
DIFFERENCES: dict[tuple[str, str, bool], tuple[set[str], str]] = {
    (ALL, MAIN, True): ({MAIN, HELPER, SECOND}, "the whole subtree that it spawned, not one level"),
    ('visibility = "agent"', MAIN, True): ({MAIN, HELPER, SECOND}, "the whole subtree that it spawned, not one level"),
    ("", MAIN, True): ({MAIN, HELPER, SECOND}, "the whole subtree that it spawned, not one level"),
    ('visibility = "self"', MAIN, True): ({MAIN}, "the sandbox only ever narrows: self stays self"),
    ('visibility = "self"', HELPER, True): ({HELPER}, "the sandbox only ever narrows: self stays self"),
}
ROWS = [
    pytest.param(setting, caller, sandboxed, *(DIFFERENCES.get((setting, caller, sandboxed)) or (seen, "as OpenClaw")), id=f"{setting or 'default'}-{caller}-{sandboxed}")
    for sandboxed, table in ((False, OPENCLAW), (True, SANDBOXED))
    for setting, callers in table.items()
    for caller, seen in callers.items()
]  # fmt: skip
NON_MAIN_ROWS = [(MAIN, False, EVERYBODY), (GROUP, True, {GROUP}), (HELPER, True, {HELPER, SECOND})]


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which everybody says the same word; read only, but for its settings."""
    home = tmp_path_factory.mktemp("town") / "home"
    door = ServiceDoor(home)
    for key in sorted(EVERYBODY, key=lambda key: (key in PARENTS, key != HELPER)):
        door.append(key, "user", f"the ferry, says {key}", spawned_by=PARENTS.get(key))
    return home


def settle(home: Path, setting: str) -> None:
    sessions, _, sandbox = setting.partition("/")
    (home / "config.toml").write_text(f"[sessions]\n{sessions}\n[sandbox]\n{sandbox}\n", encoding="utf-8")


@pytest.fixture(params=DOORS)
def town_door(request: pytest.FixtureRequest, town: Path) -> Iterator[Any]:
    """Opens a door of the town under a setting."""
    opened: list[Door] = []

    def at(setting: str) -> Door:
        settle(town, setting)
        opened.append(DOORS[request.param](town))
        return opened[-1]

    yield at
    for door in opened:
        door.close()


def opens(read: Any) -> bool:
    try:
        read()
    except Refused as no:
        assert no.exit_code == 3, "hidden is not found"  # noqa: PT017 - the refusal's code is the claim
        return False
    return True


def seen_by(door: Door, caller: Caller) -> list[set[str]]:
    """What a caller can read: by search, by search in one session, by history, list and export."""
    return [
        {hit["sessionKey"] for hit in door.search("ferry", caller=caller, limit=25)["results"]},
        {key for key in EVERYBODY if opens(lambda key=key: door.search("ferry", caller=caller, sessionKey=key))},
        {key for key in EVERYBODY if opens(lambda key=key: door.history(key, caller=caller))},
        {row["key"] for row in door.listed(caller=caller)["sessions"]},
        {key for key in EVERYBODY if opens(lambda key=key: door.exported(key, caller=caller))},
    ]


@promise("vis.matrix")
@promise("vis.same")
@promise("vis.sandbox")
@pytest.mark.parametrize(("setting", "caller", "sandboxed", "seen", "why"), ROWS)
def test_who_sees_whom_is_openclaws_table_but_for_the_differences_that_are_named(
    town_door: Any, setting: str, caller: str, sandboxed: bool, seen: set[str], why: str
) -> None:
    """Every way of reading allows the same sessions, each of the table's cells; `why` names the reason."""
    door = town_door(setting)
    assert seen_by(door, Caller(caller, sandboxed)) == [seen] * 5, why


@promise("vis.matrix")
@pytest.mark.parametrize(("caller", "sandboxed", "seen"), NON_MAIN_ROWS)
def test_a_host_that_sandboxes_all_but_main_says_so_of_each_caller(town_door: Any, caller: str, sandboxed: bool, seen: set[str]) -> None:
    """OpenClaw's mode `non-main` is a fact of the caller, not of the store."""
    assert seen_by(town_door(ALL), Caller(caller, sandboxed)) == [seen] * 5


@promise("vis.matrix")
def test_what_no_setting_says_is_tree_and_not_all(town_door: Any) -> None:
    """OpenClaw's unset default is `all`; ours is `tree`, which the answer says."""
    door = town_door("")
    assert seen_by(door, Caller(GROUP)) == [{GROUP}] * 5
    answer = door.search("ferry", caller=Caller(GROUP, sandboxed=True))["diagnostics"]
    assert (answer["scope"], answer["sandboxed"]) == ("tree", True)
    assert door.search("ferry", caller=Caller(GROUP))["diagnostics"]["sandboxed"] is False


@promise("vis.matrix")
def test_a_setting_that_is_none_stops_and_never_widens(town: Path) -> None:
    """OpenClaw takes a value outside the list for `all`."""
    settle(town, 'visibility = "everything"')
    with pytest.raises(SettingError):
        opening.open_home(town)


@promise("vis.absent")
def test_a_hidden_session_is_as_absent(town_door: Any) -> None:
    """Word for word, where OpenClaw says `forbidden` for one and nothing for the other."""
    door, caller = town_door('visibility = "self"'), Caller(GROUP)
    for read in (door.history, door.exported, lambda key, caller: door.search("ferry", caller=caller, sessionKey=key)):
        said = []
        for key in (NIGHTLY, NIGHTLY.replace("nightly", "nowhere")):
            with pytest.raises(Refused) as no:
                read(key, caller=caller)
            said.append((no.value.exit_code, str(no.value).replace(key, "KEY")))
        assert said[0] == said[1]


@promise("vis.absent")
def test_a_parent_that_may_not_be_seen_is_not_named(town_door: Any) -> None:
    """A helper's row names no session that the helper may not open; its parent's view of it does."""
    door = town_door('visibility = "tree"')
    rows = {row["key"]: row for row in door.listed(caller=Caller(HELPER))["sessions"]}
    assert "spawnedBy" not in rows[HELPER]
    assert rows[SECOND]["spawnedBy"] == HELPER
    assert {row["key"]: row.get("spawnedBy") for row in door.listed(caller=Caller(MAIN))["sessions"]}[HELPER] == MAIN


@promise("vis.incognito")
def test_an_incognito_session_is_not_stored_and_sees_nothing(door: Door) -> None:
    """Neither by appending to it nor by asking as it."""
    door.append(MAIN, "user", "the ferry")
    for key in ("agent:main:dashboard:incognito-1", "agent:main:subagent:incognito-2"):
        with pytest.raises((Refused, WesaidError)):
            door.append(key, "user", "the ferry")
        assert door.search("ferry", caller=Caller(key))["results"] == []
        assert door.listed(caller=Caller(key))["sessions"] == []
    assert [row["key"] for row in door.listed()["sessions"]] == [MAIN]


@promise("vis.write")
def test_a_session_writes_to_itself_and_its_own_only(home: Path) -> None:
    """Seeing is no right to write; what a caller says it spawns is its own only where a helper may be; a refusal leaves nothing behind."""
    door = ServiceDoor(home)
    for key, parent in ((MAIN, None), (GROUP, None), (HELPER, MAIN)):
        door.append(key, "user", "the ferry", spawned_by=parent)
    with opening.open_home(home) as opened:
        for key, parent, allowed in (
            (MAIN, None, True), (HELPER, None, True), (GROUP, None, False), (WORK, MAIN, False), (WORK, None, False),
            ("agent:work:subagent:new", MAIN, False), ("agent:main:subagent:new", MAIN, True), ("agent:none:main", MAIN, False),
        ):  # fmt: skip
            refusal = None
            try:
                writing.append(opened, Caller(MAIN), key, [{"role": "user", "text": "x"}], spawned_by=parent)
            except WesaidError as error:
                refusal = error.exit_code
            assert refusal == (None if allowed else 3), key
        assert opened.engine.agents() == ["main"]
        for act in (lambda: writing.delete(opened, Caller(MAIN), MAIN), lambda: writing.fork(opened, Caller(HELPER), MAIN, "x")):
            with pytest.raises(WesaidError) as caught:
                act()
            assert caught.value.exit_code == 3


# ── own lineage, copies, three a session ─────────────────────────────────────────────────────────────────────────
def keys_of(answer: Any) -> list[str]:
    return [hit["sessionKey"] for hit in answer["results"]]


@promise("rank.own")
def test_the_callers_own_lineage_and_echoes_come_last(home: Path) -> None:
    """Itself, what it was forked from, its forks and their forks, whatever their tier; before them the sessions that only asked the same."""
    door = ServiceDoor(home)
    told = door.append("agent:main:origin", "user", "the ferry timetable moved to Postgres")
    door.append("agent:main:origin", "user", "so it did, the ferry timetable")
    with opening.open_home(home) as opened:
        for old, new in (("origin", "me"), ("me", "younger"), ("origin", "cousin")):
            row = writing.fork(opened, OPERATOR, f"agent:main:{old}", told, new_key=f"agent:main:{new}")
            text = f"{new}: the ferry timetable, once more"
            writing.append(opened, OPERATOR, row.facts.key, [{"role": "user", "text": text}])
    door.append("agent:main:echo", "user", "ferry timetable")
    door.append("agent:main:other", "user", "some timetable of the old ferry of another harbour")
    settle(home, 'visibility = "agent"')
    for door_name in DOORS:
        asking = DOORS[door_name](home)
        found = keys_of(asking.search("ferry timetable", caller=Caller("agent:main:me"), limit=25))
        asking.close()
        assert found[:2] == ["agent:main:other", "agent:main:echo"], door_name
        assert set(found[2:]) == {"agent:main:me", "agent:main:origin", "agent:main:younger", "agent:main:cousin"}, door_name


@promise("rank.copies")
def test_copies_are_one_result_and_a_session_gives_three(door: Door, home: Path) -> None:
    """A fork's messages are its origin's; equal text alone is no copy; the rest of a session is counted."""
    said = [door.append(MAIN, "user", f"the ferry timetable, number {number}") for number in range(5)]
    with opening.open_home(home) as opened:
        writing.fork(opened, OPERATOR, MAIN, said[0], new_key="agent:main:fork")
    door.append(GROUP, "user", "the ferry timetable, number 0")
    results = door.search("ferry timetable", limit=25)["results"]
    per_session = {key: [hit for hit in results if hit["sessionKey"] == key] for key in keys_of({"results": results})}
    assert len(per_session[MAIN]) == 3
    assert {hit.get("moreInSession") for hit in per_session[MAIN]} <= {1, 2}
    assert len(per_session[GROUP]) == 1
    assert "copies" not in per_session[GROUP][0]
    copies = [hit for hit in door.search("number 0", limit=25)["results"] if hit["messageId"] == said[0]]
    assert [hit["copies"] for hit in copies] == [2]


# ── history and list ─────────────────────────────────────────────────────────────────────────────────────────────
@promise("history.anchor")
def test_pages_lead_both_ways_from_an_anchor(door: Door, home: Path) -> None:
    """`nextOffset` is the page before, `prevOffset` the page after; a redundant offset beside an anchor changes nothing (field report B64)."""
    said = [door.append(MAIN, "user", f"message {number}") for number in range(30)]
    with opening.open_home(home) as opened:
        writing.reset(opened, OPERATOR, MAIN)
    door.append(MAIN, "user", "after the reset")
    page = door.history(MAIN, messageId=said[10], limit=5)
    shown = [message["messageId"] for message in page["messages"]]
    assert shown == said[8:13]
    older = door.history(MAIN, offset=page["nextOffset"], limit=5)
    newer = door.history(MAIN, offset=page["prevOffset"], limit=5)
    assert [message["messageId"] for message in older["messages"]] == said[3:8]
    assert [message["messageId"] for message in newer["messages"]] == said[13:18]
    assert door.history(MAIN, messageId=said[10], limit=5, offset=0) == page
    assert (page["firstMessageId"], page["totalMessages"]) == (said[0], 32)
    with pytest.raises(Refused) as no:
        door.history(MAIN, messageId="nobody")
    assert no.value.exit_code == 3


@promise("list.bounded")
def test_a_list_keeps_to_its_bytes_and_walks_on(home: Path) -> None:
    """64 KiB with messages inline: whole rows only, and `nextOffset` goes on at the first that was left out."""
    door = ServiceDoor(home)
    for number in range(12):
        for turn in range(3):
            door.append(f"agent:main:s{number}", "user", f"{turn} " + "会议讨论" * 900)
    walked: list[str] = []
    offset = 0
    while offset is not None:
        page = door.listed(offset=offset, messageLimit=20)
        assert len(json.dumps(page, ensure_ascii=False).encode()) <= 64 * 1024
        assert page["count"] == len(page["sessions"]) >= 1
        assert all(message["text"] for row in page["sessions"] for message in row["messages"])
        walked += [row["key"] for row in page["sessions"]]
        offset = page.get("nextOffset")
        assert (page.get("truncationReason") == "byte-limit") or offset is None
    assert len(set(walked)) == len(walked) == 12

"""OpenClaw's file era: what each file is, and what each line does."""

from __future__ import annotations

from typing import Any

import pytest

from wesaid.importers import openclaw
from wesaid.importers.known import LeftOut, Source
from wesaid.values import NavKind

FOLDER = "/state/agents/main/sessions"


def planned(names: dict[str, int], rows: dict[str, Any], **how: Any) -> dict[str, Source | LeftOut]:
    return {found.path.removeprefix(FOLDER + "/"): found for found in openclaw.plan(FOLDER, "main", names, rows, **how)}


def test_a_named_transcript_keeps_its_key_and_lineage() -> None:
    """The row's key is the session's; the writer's path, also a Windows one, is looked for in our folder."""
    rows = {
        "agent:main:telegram:group:-1": {"sessionId": "u1", "sessionFile": "C:\\Users\\x\\.openclaw\\agents\\main\\sessions\\other.jsonl"},
        "agent:main:subagent:X": {"sessionId": "u2", "spawnedBy": "agent:main:Main", "label": "child"},
    }
    found = planned({"other.jsonl": 1, "u2.jsonl": 2}, rows)
    first, second = found["other.jsonl"], found["u2.jsonl"]
    assert isinstance(first, Source)
    assert isinstance(second, Source)
    assert (first.key, second.key, second.spawned_by) == ("agent:main:telegram:group:-1", "agent:main:subagent:X", "agent:main:main")
    assert openclaw.from_row(second).label == "child"


def test_an_unnamed_transcript_is_an_import_of_its_own() -> None:
    """Also a thread's file that shares its name's beginning with a named one."""
    found = planned({"u1.jsonl": 1, "u1-topic-5.jsonl": 2}, {"agent:main:main": {"sessionId": "u1"}})
    assert [source.key for source in found.values() if isinstance(source, Source)] == ["agent:main:main", "agent:main:import:u1-topic-5"]


@pytest.mark.parametrize("order", [1, -1])
def test_a_bare_main_is_an_alias(order: int) -> None:
    """Two rows of one transcript are one session, under the full key, whichever row comes first; alone, a bare row is its agent's."""
    rows = [("agent:main:main", {"sessionId": "u1", "updatedAt": 5}), ("main", {"sessionId": "u1", "updatedAt": 9})]
    assert [source.key for source in planned({"u1.jsonl": 1}, dict(rows[::order])).values() if isinstance(source, Source)] == [
        "agent:main:main"
    ]
    (alone,) = planned({"u1.jsonl": 1}, {"main": {"sessionId": "u1"}}).values()
    assert isinstance(alone, Source)
    assert alone.key == "agent:main:main"


def test_generations_of_one_id_are_windows_oldest_first() -> None:
    """A live transcript is the youngest, however its time stands."""
    names = {"u.jsonl.reset.2026-05-06T16-18-01.123Z": 1, "u.jsonl.reset.2026-04-01T00-00-00.000Z": 1, "u.jsonl": 7}
    found = [source for source in planned(names, {"agent:main:main": {"sessionId": "u"}}).values() if isinstance(source, Source)]
    assert {source.key for source in found} == {"agent:main:main"}
    assert [source.session_id for source in found] == ["u@2026-04-01T00-00-00.000Z", "u@2026-05-06T16-18-01.123Z", "u"]
    ordinals = [source.window.ordinal for source in found if source.window]
    assert ordinals == sorted(set(ordinals))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("u.jsonl.deleted.2026-05-06T16-18-01.123Z", "deleted-file"),
        ("u.jsonl.deleted.2026-05-06T16-18-01.123Z.0f.zst", "deleted-file"),
        ("u.checkpoint.v.jsonl", "checkpoint"),
        ("u.jsonl.bak-12-1700000000000", "backup"),
        ("u.jsonl.full.bak", "backup"),
        ("u.trajectory.jsonl", "trajectory"),
        ("u.trajectory-path.json", "trajectory"),
    ],
)
def test_what_is_no_transcript_is_left_out_with_its_reason(name: str, reason: str) -> None:
    """Deleted, copied and traced files are never imported."""
    found = planned({name: 1}, {})[name]
    assert isinstance(found, LeftOut)
    assert found.reason == reason


def test_junk_is_passed_by() -> None:
    """Caches and temporary files are not mentioned."""
    assert planned({"sedAbC": 1, ".usage-cost-cache.json": 1, "sessions.json": 1}, {}) == {}


def test_a_named_file_that_is_gone_is_a_session_without_messages() -> None:
    """It is planned as missing; an incognito one is left out even if its file is there."""
    found = planned({"i.jsonl": 1}, {"agent:main:ghost": {"sessionId": "g"}, "agent:main:dashboard:incognito-1": {"sessionId": "i"}})
    ghost, secret = found["g.jsonl"], found["i.jsonl"]
    assert isinstance(ghost, Source)
    assert (ghost.key, ghost.missing) == ("agent:main:ghost", True)
    assert isinstance(secret, LeftOut)
    assert secret.reason == "incognito"


def test_rows_that_make_no_sense_harm_nothing() -> None:
    """Rows that are no objects, keys without shape, fields of the wrong type: the transcript is then an unnamed one."""
    rows = {"agent:": {"sessionId": "u"}, "x": 5, "agent:main:a": {"sessionId": 7, "sessionFile": []}, "agent:main:b": {}}
    found = planned({"u.jsonl": 1}, rows)
    assert [source.key for source in found.values() if isinstance(source, Source)] == ["agent:main:import:u"]


def test_another_agent_may_be_given() -> None:
    """``--agent`` moves keys and lineage alike."""
    rows = {"agent:main:subagent:X": {"sessionId": "u", "spawnedBy": "agent:main:main"}}
    source = planned({"u.jsonl": 1}, rows, override="old")["u.jsonl"]
    assert isinstance(source, Source)
    assert (source.agent, source.key, source.spawned_by) == ("old", "agent:old:subagent:X", "agent:old:main")


def test_an_entry_without_an_id_is_named_by_its_position() -> None:
    """The same at every reading, also when it goes on from a saved state; it hangs from the leaf, since it names no parent."""
    records = [
        {"type": "session", "id": "old"},
        {"type": "message", "message": {"role": "user"}},
        {"type": "message", "message": {"role": "user"}},
    ]
    source = openclaw.DIALECT.source("/x/old.jsonl", records, "main")
    reader = openclaw.DIALECT.reader(source, None, 5)
    navs = [reader.read(record)[1].nav for record in records[:2]]
    later = openclaw.DIALECT.reader(source, reader.state(), 5).read(records[2])[1]
    assert [nav.id for nav in navs] == [None, "p1"]
    assert (later.nav.id, later.nav.has_parent, later.timestamp) == ("p2", False, 5)


@pytest.mark.parametrize(
    ("record", "kind", "has_target"),
    [
        ({"type": "leaf", "id": "L", "targetId": None}, NavKind.LEAF, True),
        ({"type": "leaf", "id": "L", "targetId": "a"}, NavKind.LEAF, True),
        ({"type": "leaf", "id": "L"}, NavKind.OPAQUE, False),
        ({"type": "reset", "id": "r"}, NavKind.RESET, False),
        ({"type": "label", "id": "l"}, NavKind.ENTRY, False),
        ({"type": "future", "id": "f", "parentId": "a"}, NavKind.OPAQUE, False),
        ({"type": "session", "id": "s"}, NavKind.NONE, False),
    ],
)
def test_a_line_says_what_it_does_to_the_branch(record: dict[str, Any], kind: NavKind, has_target: bool) -> None:
    """Entries, resets, controls, unknown rows and headers are told apart."""
    nav = openclaw.navigation(record, "p0")
    assert (nav.kind, nav.has_target) == (kind, has_target)


def test_ids_hold_no_nul_and_no_book() -> None:
    """A NUL is replaced; an id longer than the limit becomes its digest; a blank one is none."""
    assert openclaw.navigation({"type": "message", "id": "a\x00b"}, "p0").id == "a\ufffdb"
    long = openclaw.navigation({"type": "message", "id": "x" * 5000, "parentId": "y" * 5000}, "p0")
    assert (long.id or "").startswith("sha256-")
    assert (long.parent or "").startswith("sha256-")
    assert openclaw.navigation({"type": "message", "id": " "}, "p0").id == "p0"

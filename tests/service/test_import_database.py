"""OpenClaw's SQLite era into sessions: what a database gives, what a second time gives, and what is never found."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from openclaw_database import AUTH, T0, Claw, chain, said
from wesaid import limits
from wesaid.errors import NotFoundError
from wesaid.service import doctor, importing, writing
from wesaid.values import EVERYTHING, OPERATOR

FIXTURES = Path(__file__).parents[1] / "fixtures"
ERA = FIXTURES / "openclaw-state" / "sqlite-era"
VECTORS: dict[str, Any] = json.loads((FIXTURES / "branch_vectors.json").read_text(encoding="utf-8"))
REWOUND = "agent:main:dashboard:00000000-0000-4000-8000-000000001006"
MAIN = "agent:main:main"


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def claw(state: Path) -> Iterator[Claw]:
    made = Claw(state)
    yield made
    made.close()


def bring(lab: Any, path: Path, **how: Any) -> dict[str, Any]:
    account = importing.import_paths(lab.home, [path], **how).as_json()
    totals: dict[str, Any] = account["totals"]
    assert totals["found"] == totals["imported"] + totals["updated"] + totals["unchanged"] + sum(totals["skipped"].values())
    assert [source["error"] for source in account["sources"] if "error" in source] == []
    return totals


def windows(lab: Any, key: str) -> list[tuple[str, str, bool]]:
    with lab.home.store(key.split(":")[1]).reading() as view:
        return [(one.session_id, one.reason, one.findable) for one in view.windows(key)]


def paths(lab: Any, key: str) -> dict[str, list[str | None]]:
    with lab.home.store(key.split(":")[1]).reading() as view:
        return {one.session_id: [row.id for row in view.path(one.window, start=0, count=1000)] for one in view.windows(key)}


def rows(lab: Any, agent: str = "main") -> dict[str, Any]:
    with lab.home.store(agent).reading() as view:
        return {row.facts.key: row for row in view.sessions(EVERYTHING)}


# ── what OpenClaw itself wrote ───────────────────────────────────────────────────────────────────────────────────
def test_openclaws_own_databases_give_their_sessions(lab: Any) -> None:
    """Keys, titles, labels, lineage and archive marks; the files that it moved away are copies, those of deleted sessions stay away."""
    totals = bring(lab, ERA)
    assert (totals["imported"], totals["skipped"]) == (83, {"archived": 1, "copy": 68, "deleted-file": 1, "session-list": 2})
    found = rows(lab)
    assert len(found) == 10
    assert set(rows(lab, "work")) == {"agent:work:main"}
    child = found["agent:main:subagent:00000000-0000-4000-8000-000000001002"].facts
    assert (child.spawned_by, child.label, child.kind, child.project) == (MAIN, "research child", "subagent", "/tmp/ws")
    assert found["agent:main:dashboard:00000000-0000-4000-8000-000000001010"].facts.archived_at == 1753039600000
    assert found["agent:main:cron:job-1"].facts.label == "Renamed nightly"
    group = found["agent:main:telegram:group:-100123"].facts
    assert (group.title, group.kind, group.extra["channel"]) == ("Ops room", "group", "telegram")
    assert {row.source_path for row in found.values()} == {str(ERA / "agents/main/agent/openclaw-agent.sqlite")}


def test_only_what_openclaw_shows_is_found(lab: Any) -> None:
    """The rewound session by its newest window alone; text before a reset and archived sessions too; deleted ones not; secrets are hidden."""
    bring(lab, ERA)
    assert windows(lab, REWOUND) == [
        ("00000000-0000-4000-8000-000000000006", "initial", False),
        ("7d7a07ce-67ee-458f-8f76-c382b59805f7", "initial", False),
        ("5909fdc1-bc92-4578-80c1-5da6f5b9cb06", "initial", True),
    ]
    assert (lab.ids("abandonedbranch"), lab.ids("activebranch"), lab.ids("platypus")) == ([], [], [])
    assert sorted(lab.ids("rewindbase")) == ["m6_1", "m6_2"]
    [before] = [hit for hit in lab.search("axolotl rollout")["results"] if hit["messageId"] == "m3_1"]
    assert "axolotl rollout in the group chat" in lab.texts(before["sessionKey"], messageId="m3_1")
    assert "m10_1" in lab.ids("archived axolotl")
    assert lab.ids("deleted conversation kiwi") == [] or all(not one.startswith("m7") for one in lab.ids("deleted conversation kiwi"))
    leaked = [text for key in rows(lab) for text in lab.texts(key, limit=1000) if "sk-INJ" in text and "…" not in text]
    assert leaked == []


def test_each_current_window_shows_what_openclaws_projection_shows(lab: Any) -> None:
    """The visible path of every current window is ``session_transcript_active_events``, row for row: OpenClaw's own answer."""
    bring(lab, ERA)
    checked = 0
    for agent in ("main", "work"):
        db = apsw.Connection(
            f"file:{ERA}/agents/{agent}/agent/openclaw-agent.sqlite?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        )
        for key, current in db.execute("SELECT session_key, current_session_id FROM session_nodes").fetchall():
            theirs = db.execute(
                "SELECT i.event_id FROM session_transcript_active_events a JOIN transcript_event_identities i"
                " ON i.session_id = a.session_id AND i.seq = a.event_seq WHERE a.session_id = ? ORDER BY active_position",
                (current,),
            )
            assert paths(lab, key)[current] == [name for (name,) in theirs], key
            checked += 1
    assert checked == 11


def test_both_eras_in_one_folder_are_one_conversation_each(lab: Any, tmp_path: Path) -> None:
    """Imported in the time of files and again after OpenClaw's own import: nothing is there twice, and the rewind holds (field report B53)."""
    bring(lab, FIXTURES / "openclaw-state" / "file-era")
    assert sorted(lab.ids("activebranch")) == ["m6_5", "m6_6"]
    both = tmp_path / "both"
    shutil.copytree(ERA, both)
    shutil.copytree(FIXTURES / "openclaw-state" / "file-era", both, dirs_exist_ok=True)
    bring(lab, both)
    assert (lab.ids("abandonedbranch"), lab.ids("activebranch")) == ([], [])
    assert sorted(lab.ids("rewindbase")) == ["m6_1", "m6_2"]
    assert len(lab.ids("inputtext dugong")) == len(set(lab.ids("inputtext dugong")))
    assert len(windows(lab, MAIN)) == 1
    again = bring(lab, both)
    assert (again["imported"], again["updated"]) == (0, 0)


# ── windows ──────────────────────────────────────────────────────────────────────────────────────────────────────
FIRST = chain("opening otter", "wrong walrus")


def rewound(to: str, *, name: str = "L") -> list[dict[str, Any]]:
    return [*FIRST, {"type": "leaf", "id": name, "parentId": "m1", "targetId": to}]


@pytest.mark.parametrize("reason", ["rewind", "switch", None])
def test_a_rewind_after_the_first_import_takes_the_older_window_out(lab: Any, claw: Claw, state: Path, reason: str | None) -> None:
    """Whether the database names the reason or only copies the rows; what cannot be found cannot be opened either."""
    claw.window("A", MAIN, FIRST)
    bring(lab, state)
    assert (lab.ids("walrus"), len(lab.ids("otter"))) == (["m1"], 1)
    claw.window("B", MAIN, rewound("m0"), previous="A", reason=reason)
    bring(lab, state)
    assert (lab.ids("walrus"), lab.ids("otter")) == ([], ["m0"])
    assert [one[::2] for one in windows(lab, MAIN)] == [("A", False), ("B", True)]
    with pytest.raises(NotFoundError):
        lab.texts(messageId="m1", sessionId="A")
    assert lab.texts() == ["opening otter"]
    assert rows(lab)[MAIN].facts.session_id == "B"


def test_what_a_rewind_took_out_stays_out_after_a_reset(lab: Any, claw: Claw, state: Path) -> None:
    """A reset opens a window of its own; what was said before it stays found, what was abandoned before it does not."""
    claw.window("A", MAIN, FIRST)
    claw.window("B", MAIN, rewound("m0"), previous="A", reason="rewind")
    claw.window("C", MAIN, chain("new narwhal", prefix="n"), previous="B", reason="reset")
    claw.window("D", MAIN, [*chain("new narwhal", prefix="n"), said("n1", "n0", "late lemur")], previous="C", reason="switch")
    bring(lab, state)
    assert [one[::2] for one in windows(lab, MAIN)] == [("A", False), ("B", True), ("C", False), ("D", True)]
    assert ([len(lab.ids(word)) for word in ("otter", "walrus", "narwhal", "lemur")]) == [1, 0, 1, 1]


def test_a_plain_reset_takes_nothing_out(lab: Any, claw: Claw, state: Path) -> None:
    """Rollovers and resets without a named reason leave what they follow."""
    claw.window("A", MAIN, chain("first ferret", prefix="a"))
    claw.window("B", MAIN, chain("second stoat", prefix="b"), previous="A", reason="rollover")
    claw.window("C", MAIN, chain("third thrush", prefix="c"), previous="B")
    bring(lab, state)
    assert [one[2] for one in windows(lab, MAIN)] == [True, True, True]
    assert [len(lab.ids(word)) for word in ("ferret", "stoat", "thrush")] == [1, 1, 1]


def test_a_chain_that_bites_its_tail_ends(lab: Any, claw: Claw, state: Path) -> None:
    """Windows that follow one another in a ring: the current one is found, and nothing hangs."""
    claw.window("A", MAIN, FIRST, previous="B", reason="rewind")
    claw.window("B", MAIN, rewound("m0"), previous="A", reason="rewind")
    bring(lab, state)
    assert [one[::2] for one in windows(lab, MAIN)] == [("A", False), ("B", True)]


@pytest.mark.parametrize("name", sorted(VECTORS))
def test_the_branch_vectors_hold_in_a_database(lab: Any, claw: Claw, state: Path, name: str) -> None:
    """Each golden vector, written as a window's rows, gives the path that OpenClaw itself computed."""
    vector = VECTORS[name]
    claw.node(MAIN, "A")
    claw.run("INSERT INTO session_windows VALUES ('A', ?, NULL, 'initial', 1, 1)", MAIN)
    claw.add("A", *vector["events"])
    bring(lab, state)
    wanted = [vector["events"][seq].get("id") for seq in vector["expected"]["activeSeqs"]]
    assert paths(lab, MAIN)["A"] == wanted
    for row in vector["expected"]["fts"]:
        assert row["messageId"] in lab.ids(row["text"], limit=25)


def test_a_compaction_without_a_named_reason_takes_nothing_out(lab: Any, claw: Claw, state: Path) -> None:
    """Its window begins with a later entry of the one before; a rewind of it takes both out, since both hold what was abandoned."""
    claw.window("A", MAIN, FIRST)
    claw.window("B", MAIN, [FIRST[1], said("m2", "m1", "late lark")], previous="A")
    bring(lab, state)
    assert [lab.ids(word) for word in ("otter", "walrus", "lark")] == [["m0"], ["m1"], ["m2"]]
    claw.window(
        "C", MAIN, [FIRST[1], said("m2", "m1", "late lark"), {"type": "leaf", "id": "L", "parentId": "m2", "targetId": None}], previous="B"
    )
    bring(lab, state)
    assert [lab.ids(word) for word in ("otter", "walrus", "lark")] == [[], [], []]


def test_an_older_copy_of_a_database_brings_nothing_back(lab: Any, claw: Claw, state: Path, tmp_path: Path) -> None:
    """A backup from before a rewind says that the older window is current: what was taken out stays out, and all else is a copy."""
    claw.window("A", MAIN, FIRST)
    claw.db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    shutil.copyfile(claw.path, tmp_path / "backup.sqlite")
    claw.window("B", MAIN, rewound("m0"), previous="A", reason="rewind")
    bring(lab, state)
    for _ in range(2):
        (tmp_path / "backup.sqlite").touch()
        assert bring(lab, tmp_path / "backup.sqlite")["skipped"] == {"copy": 2}
        assert (lab.ids("walrus"), lab.ids("otter"), rows(lab)[MAIN].facts.session_id) == ([], ["m0"], "B")
    claw.run("UPDATE session_nodes SET current_session_id = 'A'")
    bring(lab, state)
    assert (lab.ids("walrus"), rows(lab)[MAIN].facts.session_id) == (["m1"], "A")


def test_a_long_chain_of_rewinds_costs_what_it_is_long(lab: Any, claw: Claw, state: Path) -> None:
    """Hundreds of windows under one key, each a copy of the one before: one is found."""
    with claw.db:
        for at in range(300):
            claw.window(f"W{at}", MAIN, FIRST, previous=f"W{at - 1}" if at else None)
    bring(lab, state)
    assert [one[0] for one in windows(lab, MAIN) if one[2]] == ["W299"]
    assert len(lab.ids("walrus")) == 1


def test_a_database_from_before_transcripts_is_passed_by(lab: Any, claw: Claw, state: Path) -> None:
    """Earlier builds kept only other things in it: no failure, and no session."""
    claw.run("DROP TABLE transcript_events")
    file_of(state, "sessions/A.jsonl", FIRST)
    totals = bring(lab, state)
    assert (totals["skipped"], totals["imported"]) == ({"empty": 1}, 2)
    account = importing.import_paths(lab.home, [state], tool="claude-code")
    assert account.as_json()["totals"]["skipped"] == {"other-format": 2}
    assert not account.holds_transcripts


# ── a second time ────────────────────────────────────────────────────────────────────────────────────────────────
def test_an_unchanged_database_is_not_read_again(lab: Any, claw: Claw, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second account says unchanged, and no copy is made for it."""
    claw.window("A", MAIN, FIRST)
    assert bring(lab, state)["imported"] == 2
    monkeypatch.setattr("wesaid.service.import_database.snapshot", None)
    assert bring(lab, state)["unchanged"] == 2


def test_rows_that_were_added_are_imported_alone(lab: Any, claw: Claw, state: Path) -> None:
    """Growth in one window is imported from where it stood, and the account is of the whole database."""
    claw.window("A", MAIN, FIRST)
    claw.window("B", "agent:main:other", chain("quiet quail", prefix="q"))
    bring(lab, state)
    claw.add("A", said("m2", "m1", "late lark", "assistant"))
    totals = bring(lab, state)
    assert (totals["imported"], totals["unchanged"], totals["updated"]) == (1, 3, 0)
    assert (paths(lab, MAIN)["A"], lab.ids("lark")) == (["m0", "m1", "m2"], ["m2"])


def test_rows_that_were_rewritten_are_compared(lab: Any, claw: Claw, state: Path) -> None:
    """A changed message is found by its new words alone, in its place, and the branch ends where a control had led it."""
    claw.window("A", MAIN, [*rewound("m0"), said("m2", "m0", "kept kite")])
    bring(lab, state)
    claw.rewrite("A", 1, said("m0", None, "opening osprey"), "g1")
    totals = bring(lab, state)
    assert (totals["imported"], totals["updated"], totals["unchanged"]) == (0, 1, 2)
    assert (lab.ids("otter"), lab.ids("osprey"), lab.ids("walrus")) == ([], ["m0"], [])
    assert paths(lab, MAIN)["A"] == ["m0", "m2"]
    claw.add("A", said("m3", "m2", "next newt"))
    assert bring(lab, state)["imported"] == 1
    assert paths(lab, MAIN)["A"] == ["m0", "m2", "m3"]
    assert bring(lab, state)["unchanged"] == 4


def test_a_session_that_vanished_stays_and_says_so(lab: Any, claw: Claw, state: Path) -> None:
    """Deleting in OpenClaw deletes nothing here; the source is missing until the session is back."""
    claw.window("A", MAIN, FIRST)
    claw.window("B", "agent:main:other", chain("quiet quail", prefix="q"))
    bring(lab, state)
    claw.run("DELETE FROM transcript_events WHERE session_id = 'B'")
    claw.run("DELETE FROM session_windows WHERE session_id = 'B'")
    claw.run("DELETE FROM session_nodes WHERE session_key = 'agent:main:other'")
    assert bring(lab, state)["unchanged"] == 2
    assert (lab.ids("quail"), rows(lab)["agent:main:other"].source_missing, rows(lab)[MAIN].source_missing) == (["q0"], True, False)
    claw.window("B2", "agent:main:other", chain("quick quokka", prefix="k"))
    bring(lab, state)
    assert (lab.ids("quokka"), rows(lab)["agent:main:other"].source_missing) == (["k0"], False)


def test_a_session_that_was_deleted_here_stays_away_until_it_is_called_back(lab: Any, claw: Claw, state: Path) -> None:
    """Unchanged or grown it counts as deleted; ``again`` brings all its windows back."""
    claw.window("A", MAIN, FIRST)
    claw.window("B", MAIN, rewound("m0"), previous="A", reason="rewind")
    claw.window("C", "agent:main:other", chain("quiet quail", prefix="q"))
    bring(lab, state)
    writing.delete(lab.home, OPERATOR, MAIN)
    totals = bring(lab, state)
    assert (totals["skipped"], totals["unchanged"]) == ({"deleted": 4}, 1)
    claw.add("B", said("m2", "m0", "late lark"))
    assert bring(lab, state)["skipped"] == {"deleted": 5}
    assert bring(lab, state)["skipped"] == {"deleted": 5}
    assert lab.ids("otter") == []
    assert bring(lab, state, again=MAIN)["imported"] == 5
    assert (lab.ids("otter"), lab.ids("walrus"), lab.ids("lark")) == (["m0"], [], ["m2"])


def test_a_dry_run_counts_and_writes_nothing(lab: Any, claw: Claw, state: Path) -> None:
    """On an empty home and on one that has some of it."""
    claw.window("A", MAIN, FIRST)
    assert bring(lab, state, dry_run=True)["imported"] == 2
    assert lab.home.engine.agents() == []
    bring(lab, state)
    claw.add("A", said("m2", "m1", "late lark"))
    assert (bring(lab, state, dry_run=True)["imported"], rows(lab)[MAIN].message_count) == (1, 2)
    assert lab.ids("lark") == ["m2"]  # a search reads on


@pytest.mark.parametrize("stop", range(1, 8))
def test_an_import_that_is_stopped_goes_on_where_it_was(
    lab: Any, claw: Claw, state: Path, monkeypatch: pytest.MonkeyPatch, stop: int
) -> None:
    """After any transaction, within a window and between windows; every message is there once, and the rewind holds."""
    monkeypatch.setattr(limits, "IMPORT_BATCH_MESSAGES", 3)
    claw.window("A", MAIN, FIRST)
    claw.window(
        "B", MAIN, [*rewound("m0"), *(said(f"n{at}", f"n{at - 1}" if at else "m0", f"bird number{at}") for at in range(7))], previous="A"
    )
    claw.window("C", "agent:main:other", chain("quiet quail", "loud loon", prefix="q"))
    left = iter(range(stop))

    def progress(*_: object) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        importing.import_paths(lab.home, [state], progress=progress)
    bring(lab, state)
    assert paths(lab, MAIN) == {"A": ["m0", "m1"], "B": ["m0", *(f"n{at}" for at in range(7))]}
    assert (lab.ids("walrus"), lab.ids("otter")) == ([], ["m0"])
    assert [len(lab.ids(f"number{at}")) for at in range(7)] == [1] * 7
    assert bring(lab, state)["unchanged"] == 13


# ── files beside it ──────────────────────────────────────────────────────────────────────────────────────────────
def file_of(state: Path, name: str, records: list[dict[str, Any]]) -> Path:
    path = state / "agents" / "main" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.mark.parametrize(
    ("file", "database", "imported", "copies"),
    [
        (FIRST, FIRST, 2, 2),
        ([*FIRST, said("m2", "m1", "late lark")], FIRST, 3, 2),
        (FIRST[:1], FIRST, 2, 1),
        (FIRST, [FIRST[0], said("m9", "m0", "database dove")], 3, 1),
    ],
    ids=["equal", "the file has more", "the database has more", "both have more"],
)
def test_a_file_beside_its_database_is_compared_by_ids_and_content(
    lab: Any, claw: Claw, state: Path, file: list[Any], database: list[Any], imported: int, copies: int
) -> None:
    """Whichever has more history, all is found, once, and looks healthy afterwards; no file is changed or moved (field report B110)."""
    claw.window("A", MAIN, database)
    path = file_of(state, "sessions/A.jsonl", [{"type": "session", "version": 3, "id": "A"}, *file])
    before = (path.read_bytes(), claw.path.read_bytes())
    totals = bring(lab, state)
    assert (totals["imported"], totals["skipped"]) == (imported, {"copy": copies})
    for record in {one["id"]: one for one in (*file, *database)}.values():
        assert lab.ids(record["message"]["content"], limit=25).count(record["id"]) == 1
    assert paths(lab, MAIN)["A"] == [record["id"] for record in database]
    again = bring(lab, state)
    assert (again["imported"], again["updated"], again["found"]) == (0, 0, totals["found"])
    assert (path.read_bytes(), claw.path.read_bytes()) == before
    assert {finding.code for finding in doctor.doctor(lab.home).findings if finding.severity != "note"} == set()


def test_a_message_that_the_database_has_in_another_state_is_not_taken_from_a_file(lab: Any, claw: Claw, state: Path) -> None:
    """It is told by its id, or by its words in a file that gives none; the database's state is the newer one."""
    claw.window("A", MAIN, FIRST)
    claw.window("B", "agent:main:other", chain("quiet quail", "loud loon", prefix="q"))
    file_of(state, "sessions/A.jsonl", [FIRST[0], said("m1", "m0", "wrong walrus as it was written first")])
    nameless = [{name: value for name, value in one.items() if "id" not in name.lower()} for one in chain("quiet quail", "loud loon")]
    file_of(state, "sessions/B.jsonl", nameless)
    totals = bring(lab, state)
    assert (totals["imported"], totals["skipped"]) == (4, {"copy": 4})
    assert [lab.ids(word) for word in ("walrus", "written", "loon")] == [["m1"], [], ["q1"]]


def test_a_file_of_a_window_that_was_taken_out_brings_nothing_back(lab: Any, claw: Claw, state: Path, tmp_path: Path) -> None:
    """A backup from the time of files, with a line more: what was abandoned stays so, and what hangs from it too."""
    claw.window("A", MAIN, FIRST)
    claw.window("B", MAIN, rewound("m0"), previous="A", reason="rewind")
    bring(lab, state)
    backup = tmp_path / "backup"
    file_of(backup, "sessions/A.jsonl.reset.2026-01-06T16-18-01.123Z", chain("nothing to do with it", prefix="z"))
    file_of(backup, "sessions/A.jsonl", [{"type": "session", "version": 3, "id": "A"}, *FIRST, said("m2", "m1", "late lark")])
    (backup / "agents" / "main" / "sessions" / "sessions.json").write_text(json.dumps({MAIN: {"sessionId": "A"}}))
    bring(lab, backup)
    assert [lab.ids(word) for word in ("otter", "walrus", "lark")] == [["m0"], [], []]


def test_a_store_that_is_there_already_keeps_no_session_of_files_out(lab: Any, claw: Claw, state: Path) -> None:
    """Neither our own nor OpenClaw's, which took over one session and left the others behind: each source counts for itself (field report B53)."""
    lab.say("our own ostrich")
    claw.window("A", MAIN, FIRST)
    for name in ("B", "C"):
        file_of(
            state, f"sessions/{name}.jsonl", [{"type": "session", "version": 3, "id": name}, *chain(f"orphan oriole{name}", prefix=name)]
        )
    listing = {"agent:main:telegram:group:1": {"sessionId": "B"}}
    (state / "agents" / "main" / "sessions" / "sessions.json").write_text(json.dumps(listing))
    assert bring(lab, state)["imported"] == 4
    assert [lab.ids(word) for word in ("walrus", "orioleB", "orioleC")] == [["m1"], ["B0"], ["C0"]]
    assert set(rows(lab)) == {MAIN, "agent:main:telegram:group:1", "agent:main:import:C"}
    file_of(state, "sessions/D.jsonl", [{"type": "session", "version": 3, "id": "D"}, *chain("late limpkin", prefix="D")])
    assert (bring(lab, state)["imported"], lab.ids("limpkin"), len(lab.ids("ostrich"))) == (1, ["D0"], 1)


@pytest.mark.parametrize("where", ["sessions/A.jsonl", "session-sqlite-import-archive/agent_main_main.A.jsonl.imported-1796035369907"])
def test_a_file_with_more_history_brings_what_the_database_lacks(lab: Any, claw: Claw, state: Path, where: str) -> None:
    """Missing messages go to a window beside the database's, whose branch stays as the database has it."""
    claw.window("A", MAIN, [FIRST[0], said("m9", "m0", "database dove")])
    path = file_of(state, where, [*FIRST, said("m2", "m1", "lost linnet")])
    totals = bring(lab, state)
    assert (totals["imported"], totals["skipped"]) == (4, {"copy": 1})
    assert [lab.ids(word) for word in ("otter", "dove", "walrus", "linnet")] == [["m0"], ["m9"], ["m1"], ["m2"]]
    assert paths(lab, MAIN) == {"A@file": ["m1", "m2"], "A": ["m0", "m9"]}
    claw.add("A", said("m10", "m9", "database duck"))
    path.touch()
    assert bring(lab, state)["imported"] == 1
    assert paths(lab, MAIN) == {"A@file": ["m1", "m2"], "A": ["m0", "m9", "m10"]}


def test_a_reset_generation_belongs_to_the_databases_session(lab: Any, claw: Claw, state: Path) -> None:
    """A file that was reset in the time of files is an older window of the session that the database names."""
    claw.window("A", MAIN, chain("new narwhal", prefix="n"))
    file_of(state, "sessions/A.jsonl.reset.2026-01-06T16-18-01.123Z", FIRST)
    bring(lab, state)
    assert (set(rows(lab)), lab.ids("walrus"), lab.ids("narwhal")) == ({MAIN}, ["m1"], ["n0"])
    assert rows(lab)[MAIN].facts.session_id == "A"


def test_an_archive_without_a_database_is_read_by_its_lists(lab: Any, state: Path) -> None:
    """When the database is lost, what was moved away is all that is left; its session list still names it."""
    file_of(state, "session-sqlite-import-archive/agent_main_main.A.jsonl.imported-1796035369907", FIRST)
    listing = state / "agents" / "main" / "session-sqlite-import-archive" / "legacy-store.sessions.json.imported-1796035369997"
    listing.write_text(json.dumps({MAIN: {"sessionId": "A", "label": "lost and found"}}))
    bring(lab, state)
    assert (lab.ids("walrus"), rows(lab)[MAIN].facts.label) == (["m1"], "lost and found")


def test_what_only_files_had_stays_found_when_the_database_goes_on(lab: Any, claw: Claw, state: Path) -> None:
    """A session that was imported from its file before the database went another way keeps what the file had said."""
    path = file_of(state, "sessions/A.jsonl", [{"type": "session", "version": 3, "id": "A"}, *FIRST])
    (path.parent / "sessions.json").write_text(json.dumps({MAIN: {"sessionId": "A"}}))
    claw.close()
    claw.path.rename(state / "aside")
    bring(lab, state)
    (state / "aside").rename(claw.path)
    claw.__init__(state)
    claw.window("A", MAIN, [FIRST[0], said("m9", "m0", "database dove")])
    bring(lab, state)
    assert paths(lab, MAIN)["A"] == ["m0", "m9"]
    assert [lab.ids(word) for word in ("otter", "dove", "walrus")] == [["m0"], ["m9"], ["m1"]]


# ── what must not be read ────────────────────────────────────────────────────────────────────────────────────────
def test_nothing_but_transcripts_is_read(disk: Any, claw: Claw, state: Path) -> None:
    """Incognito sessions, other agents' keys and credentials stay out, of what is stored and of what lies on the disk."""
    claw.window("A", MAIN, FIRST)
    claw.window("I", "agent:main:dashboard:incognito-1", chain("secret skunk", prefix="i"))
    claw.window("O", "agent:elsewhere:main", chain("other oriole", prefix="o"))
    totals = bring(disk, state)
    assert (totals["imported"], totals["skipped"]) == (2, {"incognito": 1, "other-agent": 1})
    assert (disk.ids("skunk"), disk.ids("oriole")) == ([], [])
    everything = b"".join(path.read_bytes() for path in disk.home.path.rglob("*") if path.is_file())
    assert AUTH.encode() not in everything
    assert [path.name for path in disk.home.path.iterdir() if path.name.startswith("wesaid-reading")] == []


def test_a_session_that_says_so_is_not_indexed(lab: Any, claw: Claw, state: Path) -> None:
    """In any of its windows, also when it was imported before; the other sessions are."""
    claw.window("A", MAIN, FIRST)
    claw.window("B", "agent:main:other", chain("quiet quail", prefix="q"))
    bring(lab, state)
    claw.add("A", said("m2", "m1", "please <!-- wesaid: do not index --> this"))
    totals = bring(lab, state)
    assert (totals["skipped"], totals["unchanged"]) == ({"do-not-index": 3}, 1)
    assert (set(rows(lab)), lab.ids("otter")) == ({"agent:main:other"}, [])
    assert bring(lab, state)["skipped"] == {"do-not-index": 3}
    claw.window("C", MAIN, chain("also auk", prefix="c"), previous="A", reason="reset")
    assert bring(lab, state)["skipped"] == {"do-not-index": 4}


def test_a_database_that_is_ignored_is_not_read(lab: Any, claw: Claw, state: Path) -> None:
    """By a rule of any folder above, named or not; the account says so, and a search leaves it alone too."""
    claw.window("A", MAIN, FIRST)
    (state.parent / ".wesaidignore").write_text("*.sqlite\n")
    for path in (state, claw.path):
        assert bring(lab, path)["skipped"] == {"ignored": 1}
    assert lab.ids("otter") == []
    (state.parent / ".wesaidignore").write_text("*.sqlite\n!openclaw-agent.sqlite\n")
    bring(lab, state)
    assert lab.ids("otter") != []
    (state.parent / ".wesaidignore").write_text("agents/\n")
    claw.add("A", said("m2", "m1", "corncrake"))
    assert lab.ids("corncrake") == []


def test_private_spans_of_a_database_are_shown_nowhere(lab: Any, claw: Claw, state: Path) -> None:
    """As of a file: neither found nor in a title."""
    claw.window("A", MAIN, chain("<private>my corncrake</private> count the herons"))
    claw.node(MAIN, "A", displayName="birds <private>corncrake</private>")
    bring(lab, state)
    assert (lab.ids("corncrake"), len(lab.ids("herons"))) == ([], 1)
    facts = rows(lab)[MAIN].facts
    assert "corncrake" not in f"{facts.title} {facts.label} {facts.extra}"


def test_windows_that_no_session_claims_land_by_their_ids(lab: Any, claw: Claw, state: Path) -> None:
    """A bare ``main`` is the agent's main session; a window whose session is gone is an import of its own."""
    claw.window("A", "main", FIRST)
    claw.window("B", "agent:main:other", chain("quiet quail", prefix="q"))
    claw.run("DELETE FROM session_nodes WHERE session_key = 'agent:main:other'")
    bring(lab, state)
    assert set(rows(lab)) == {MAIN, "agent:main:import:B"}


@pytest.mark.parametrize("agent", [None, "fox"])
def test_a_database_that_was_named_itself_is_read(lab: Any, claw: Claw, state: Path, tmp_path: Path, agent: str | None) -> None:
    """By any name and anywhere; its keys say whose it is, or the caller does."""
    claw.window("A", "agent:main:telegram:direct:7", FIRST)
    claw.close()
    copy = tmp_path / "some copy.db"
    shutil.copyfile(claw.path, copy)
    bring(lab, copy, agent=agent)
    assert set(rows(lab, agent or "main")) == {f"agent:{agent or 'main'}:telegram:direct:7"}
    for top in (state, state / "agents", state / "agents" / "main", claw.path):
        assert importing.import_paths(lab.home, [top], dry_run=True).as_json()["totals"]["sessions"] == 1


def test_early_builds_are_read_as_far_as_their_columns_go(lab: Any, state: Path) -> None:
    """``sessions`` instead of nodes and windows, ``event_json`` alone, no times: sessions with keys and messages."""
    path = state / "agents" / "main" / "agent" / "openclaw-agent.sqlite"
    path.parent.mkdir(parents=True)
    db = apsw.Connection(str(path))
    db.execute(
        "CREATE TABLE sessions (session_id TEXT PRIMARY KEY, session_key TEXT); CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT)"
    )
    db.execute("INSERT INTO sessions VALUES ('A', ?)", (MAIN,))
    for seq, record in reversed(list(enumerate(FIRST))):
        db.execute("INSERT INTO transcript_events VALUES ('A', ?, ?)", (seq, json.dumps(record)))
    db.close()
    bring(lab, state)
    assert (paths(lab, MAIN), lab.ids("walrus")) == ({"A": ["m0", "m1"]}, ["m1"])


# ── what is damaged ──────────────────────────────────────────────────────────────────────────────────────────────
def test_a_database_that_cannot_be_read_says_so_and_the_rest_is_imported(lab: Any, claw: Claw, state: Path) -> None:
    """Not a database, cut off, or without transcripts: an error that names the file and what to do, and the other sources come in."""
    claw.window("A", MAIN, FIRST)
    for agent, content in {"cut": Path(claw.path).read_bytes()[:2000], "text": b"not a database at all\n" * 50, "none": None}.items():
        other = Claw(state, agent)
        other.close()
        if content is None:
            db = apsw.Connection(str(other.path))
            db.execute("DROP TABLE transcript_events; CREATE TABLE transcript_events (session_id, said)")
            db.close()
        else:
            other.path.write_bytes(content)
    account = importing.import_paths(lab.home, [state])
    failed = {Path(failure.path).parts[-3]: failure.error for failure in account.failed}
    assert set(failed) == {"cut", "text", "none"}
    assert all(error.hint and "openclaw-agent.sqlite" in error.message for error in failed.values())
    assert lab.ids("walrus") == ["m1"]


def test_a_database_that_cannot_be_read_now_is_behind_until_it_can(lab: Any, claw: Claw, state: Path) -> None:
    """Each search tries it again, and finds what was imported before; no failure is remembered (field report B91)."""
    claw.window("A", MAIN, FIRST)
    bring(lab, state)
    claw.add("A", said("m2", "m1", "late lark"))
    claw.close()
    whole = claw.path.read_bytes()
    claw.path.write_bytes(b"noise" * 2000)
    for _ in range(2):
        page = lab.search("walrus")
        assert ([hit["messageId"] for hit in page["results"]], page["diagnostics"]["sourcesBehind"]) == (["m1"], 1)
    claw.path.write_bytes(whole)
    page = lab.search("lark")
    assert ([hit["messageId"] for hit in page["results"]], "sourcesBehind" in page["diagnostics"]) == (["m2"], False)


def test_a_damaged_page_costs_what_stood_on_it(lab: Any, claw: Claw, state: Path) -> None:
    """Sessions that can be read are imported, the account carries the error, and once it is mended the rest follows."""
    for number in range(40):
        claw.window(
            f"S{number:02}",
            f"agent:main:number{number}",
            chain(*(f"bird{number} {'filler ' * 60}" for _ in range(8)), prefix=f"s{number}-"),
        )
    claw.close()
    whole = claw.path.read_bytes()
    page = whole.index(b"bird20 ") // 4096
    claw.path.write_bytes(whole[: page * 4096] + b"\xff" * 4096 + whole[(page + 1) * 4096 :])
    account = importing.import_paths(lab.home, [state])
    assert len(account.failed) == 1
    assert 0 < len(rows(lab)) <= 40
    assert len(lab.ids("bird3")) == 3
    claw.path.write_bytes(whole)
    bring(lab, state)
    assert len(lab.ids("bird20")) == 3
    assert sum(row.message_count for row in rows(lab).values()) == 320


def test_a_damaged_row_is_counted_and_its_neighbours_are_read(lab: Any, claw: Claw, state: Path) -> None:
    """Bad JSON, a list, two values, a frame that is none: one damaged line each, and their neighbours are there."""
    claw.window("A", MAIN, [FIRST[0]])
    claw.add("A", '{"type": "mess', "[1, 2]", '{"type":"message"}{"type":"message"}')
    claw.run("INSERT INTO transcript_events (session_id, seq, event_zstd, created_at) VALUES ('A', 90, x'28b52ffd00', 1)")
    claw.add("A", FIRST[1])
    totals = bring(lab, state)
    assert (totals["damagedLines"], totals["imported"]) == (4, 2)
    assert paths(lab, MAIN)["A"][0] == "m0"
    assert lab.ids("walrus") == ["m1"]
    assert bring(lab, state)["damagedLines"] == 4


def test_openclaw_may_write_all_the_while(disk: Any, claw: Claw, state: Path) -> None:
    """An import between any two statements of a writer sees whole transactions, and leaves database, log and shared memory as they are."""
    claw.window("A", MAIN, FIRST)
    for at in range(2, 12):
        with claw.db:
            claw.add("A", said(f"m{at}", f"m{at - 1}", f"bird number{at}"))
        with claw.db:
            claw.add("A", said("half", f"m{at}", "uncommitted urchin"))
            before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in claw.path.parent.iterdir()}
            bring(disk, state)
            assert {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in claw.path.parent.iterdir()} == before
            claw.run("DELETE FROM transcript_events WHERE event_json LIKE '%urchin%'")
        assert paths(disk, MAIN)["A"][-1] == f"m{at}"
        if at == 6:
            claw.db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    assert disk.ids("urchin") == []


@pytest.mark.skipif(os.geteuid() == 0 and not hasattr(os, "seteuid"), reason="needs another user")
def test_a_read_only_folder_is_read(lab: Any, claw: Claw, state: Path) -> None:
    """Nothing is made beside the database: it may lie on read-only media, its tables still in the log."""
    claw.window("A", MAIN, FIRST)
    assert claw.path.stat().st_size <= 4096
    claw.path.parent.chmod(0o500)
    try:
        bring(lab, state)
    finally:
        claw.path.parent.chmod(0o700)
    assert lab.ids("walrus") == ["m1"]


def test_a_session_of_very_many_windows_is_taken_in_like_any_other(disk: Any, claw: Claw, state: Path) -> None:
    """A window more is a window's work more: what looked at all of them for each would not come to an end here."""
    count = 3000
    claw.node(MAIN, f"w{count - 1}")
    claw.db.execute("BEGIN")
    windows_ = ((f"w{n}", MAIN, f"w{n - 1}" if n else None, None, T0 + n, T0 + n) for n in range(count))
    claw.db.executemany("INSERT INTO session_windows VALUES (?,?,?,?,?,?)", windows_)
    events = ((f"w{n}", json.dumps(said(f"m{n}", None, f"zebra {n}")), T0 + n) for n in range(count))
    claw.db.executemany("INSERT INTO transcript_events(session_id,seq,event_json,created_at) VALUES(?,0,?,?)", events)
    claw.db.execute("COMMIT")
    claw.close()
    assert bring(disk, state)["imported"] == count
    assert [name for name, _, _ in windows(disk, MAIN)] == [f"w{n}" for n in range(count)]
    assert rows(disk)[MAIN].message_count == count

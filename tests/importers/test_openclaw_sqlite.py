"""What a database of OpenClaw's says of its windows: whose, in which order, and which of them may be found."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from openclaw_database import Claw, chain, said
from wesaid import limits
from wesaid.errors import SourceError
from wesaid.importers import openclaw_sqlite
from wesaid.importers.known import Database
from wesaid.importers.reading_sqlite import snapshot, zstd

KEY = "agent:main:main"


@pytest.fixture
def claw(tmp_path: Path) -> Iterator[Claw]:
    made = Claw(tmp_path)
    yield made
    made.close()


def source(claw: Claw, agent: str = "main") -> Database:
    return Database(path=str(claw.path), tool="openclaw", agent=agent, owner="main")


def planned(claw: Claw, agent: str = "main") -> dict[str, openclaw_sqlite.Generation]:
    with snapshot(str(claw.path)) as taken:
        return {window.session_id: window for window in openclaw_sqlite.generations(taken, source(claw, agent))}


def read(claw: Claw, name: str, after: int = -1) -> list[Any]:
    with snapshot(str(claw.path)) as taken:
        return [
            (row.seq, [record.get("id") for record in row.line.records], row.line.damaged)
            for row in openclaw_sqlite.rows(taken, name, after)
        ]


def test_rows_come_in_order_of_their_numbers(claw: Claw) -> None:
    """Whatever order they were written in, packed or not, from any number on."""
    claw.window("A", KEY)
    packed = zstd.compress(b'{"type": "message", "id": "z", "message": {"role": "user", "content": "packed"}}')
    claw.run("INSERT INTO transcript_events VALUES ('A', 9, ?, 1, NULL)", '{"type": "message", "id": "last"}')
    claw.run("INSERT INTO transcript_events VALUES ('A', 5, NULL, 1, ?)", packed)
    claw.run("INSERT INTO transcript_events VALUES ('A', 7, ?, 1, NULL)", '{"type": "message", "id": "mid"}')
    assert read(claw, "A") == [(0, ["A"], 0), (5, ["z"], 0), (7, ["mid"], 0), (9, ["last"], 0)]
    assert read(claw, "A", 5) == [(7, ["mid"], 0), (9, ["last"], 0)]


def test_the_current_window_is_the_last_one(claw: Claw) -> None:
    """Its session's row says which, whatever their times; others stand by time, none before the one that it follows."""
    claw.window("B", KEY, chain("two"), previous="A")
    claw.window("A", KEY, chain("one", prefix="a"))
    claw.window("C", KEY, chain("three", prefix="c"))
    claw.run("UPDATE session_nodes SET current_session_id = 'B'")
    found = planned(claw)
    assert list(found) == ["A", "C", "B"]
    assert sorted(window.ordinal for window in found.values()) == [window.ordinal for window in found.values()]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(
    links=st.lists(
        st.tuples(
            st.integers(-1, 6), st.sampled_from([None, "initial", "reset", "rollover", "rewind", "switch", "compaction"]), st.booleans()
        ),
        min_size=1,
        max_size=7,
    )
)
def test_what_a_rewind_replaced_is_never_found(tmp_path_factory: pytest.TempPathFactory, links: list[tuple[int, str | None, bool]]) -> None:
    """For every shape of chains: the current window is found; each that a rewind replaced is not; no fresh window hides what it follows."""
    claw = Claw(tmp_path_factory.mktemp("links"))
    for at, (previous, reason, copies) in enumerate(links):
        begun = chain("common", prefix="w0-") if copies else chain(f"text {at}", prefix=f"w{at}-")
        claw.window(f"W{at}", KEY, begun, previous=f"W{previous}" if previous >= 0 else None, reason=reason)
    found = planned(claw)
    claw.close()
    current = f"W{len(links) - 1}"
    assert found[current].findable
    assert list(found)[-1] == current
    replaced = {
        f"W{previous}"
        for at, (previous, reason, _) in enumerate(links)
        if reason in ("rewind", "switch") and previous not in (-1, at) and previous < len(links)
    }
    assert not any(found[name].findable for name in replaced - {current})
    if not any(reason in (None, "rewind", "switch") for _, reason, _ in links):
        assert all(window.findable for window in found.values())


def test_names_that_are_no_text_hide_nothing(claw: Claw) -> None:
    """A key of broken UTF-8, one without shape, and ids with a NUL: their windows land by their ids, the others as they should."""
    claw.window("A", KEY, chain("one"))
    claw.window("B", "agent:main:x\x00y", chain("two", prefix="b"))
    claw.window("C", "agent::", chain("three", prefix="c"))
    claw.run("INSERT INTO session_nodes VALUES (CAST(x'616765ff' AS TEXT), 'D', 'not json', 1)")
    found = planned(claw)
    assert found["A"].key == KEY
    assert {name: window.key for name, window in found.items() if window.node is None} == {"C": "agent:main:import:C"}


def test_another_agent_is_given_the_sessions(claw: Claw) -> None:
    """Whoever says so: keys keep what follows the agent."""
    claw.window("A", KEY, chain("one"))
    assert planned(claw, "fox")["A"].key == "agent:fox:main"


def test_a_rows_facts_are_those_of_the_session_list(claw: Claw) -> None:
    """Lineage, fork and channel come from the entry; what changes there is seen."""
    claw.node(
        "agent:main:subagent:1",
        "A",
        spawnedBy="main",
        forkSource={"sessionKey": KEY},
        delivery={"route": {"channel": "slack"}},
        label="one",
    )
    claw.window("A", "agent:main:subagent:1", [said("m", None, "hello")])
    window = planned(claw)["A"]
    with snapshot(str(claw.path)) as taken:
        found, before = openclaw_sqlite.source_of(taken, window, source(claw)), openclaw_sqlite.facts_digest(taken, window)
    assert (found.spawned_by, found.forked_from, found.row["channel"], found.row["label"]) == (KEY, KEY, "slack", "one")
    claw.node("agent:main:subagent:1", "A", label="two")
    with snapshot(str(claw.path)) as taken:
        assert openclaw_sqlite.facts_digest(taken, window) != before


def test_more_windows_than_can_be_planned_are_an_error(claw: Claw, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says how many are allowed; nothing is read of it."""
    claw.window("A", KEY, chain("one"))
    claw.window("B", KEY, chain("two", prefix="b"))
    monkeypatch.setattr(limits, "DATABASE_WINDOWS", 1)
    with pytest.raises(SourceError, match="more than 1 windows"):
        planned(claw)


def test_an_id_without_end_becomes_its_digest(claw: Claw) -> None:
    """A window is named as messages are: by at most so many bytes."""
    claw.window("A" * 100_000, KEY, chain("one"))
    (window,) = planned(claw).values()
    assert len(window.spec.session_id) <= limits.MESSAGE_ID_BYTES

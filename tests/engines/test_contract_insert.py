"""What putting events in front of others promises: the window is what it would be had they been appended in that order."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine_tools import ENGINES, KEY, add, begin, complete, count, current, events_of, ids, leaf, open_engine, path_ids, say
from wesaid.values import Prepared


def chain(length: int, *, rewinds: Collection[int] = ()) -> list[Prepared]:
    """Messages that hang from one another; after some, a control leads back by two."""
    made: list[Prepared] = []
    parent: str | None = None
    for number in range(length):
        made.append(say(f"m{number}", f"word{number} common", step=number, parentId=parent))
        parent = f"m{number}"
        if number in rewinds and number > 1:
            made.append(leaf(f"l{number}", f"m{number - 2}", step=number))
            parent = f"m{number - 2}"
    return made


def groups(events: list[Prepared], late: set[int]) -> tuple[list[Prepared], dict[int, list[Prepared]], list[Prepared]]:
    """What is stored first, what goes in front of which of it, and what is left for the end."""
    stored: list[Prepared] = []
    before: dict[int, list[Prepared]] = {}
    waiting: list[Prepared] = []
    for number, event in enumerate(events):
        if number in late:
            waiting.append(event)
            continue
        if waiting:
            before[len(stored)] = waiting
            waiting = []
        stored.append(event)
    return stored, before, waiting


@pytest.mark.parametrize("engine", ENGINES)
@given(length=st.integers(1, 40), late=st.sets(st.integers(0, 60)), rewinds=st.sets(st.integers(0, 40), max_size=3))
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_inserted_is_as_if_appended_in_order(tmp_path_factory: Any, engine: str, length: int, late: set[int], rewinds: set[int]) -> None:
    """For any events of which some come late: order, visible path, what is found, and counts."""
    events = chain(length, rewinds=rewinds)
    opened = open_engine(engine, tmp_path_factory.mktemp("home"))
    other = open_engine(engine, tmp_path_factory.mktemp("home"))
    store, wanted = opened.store("main", create=True), other.store("main", create=True)
    begin(wanted, *events)
    stored, before, rest = groups(events, late)
    begin(store, *stored)
    with store.writing() as writer:
        if before:
            writer.insert(writer.windows(KEY)[-1].window, before)
        writer.append(KEY, rest)
    complete(store)
    complete(wanted)
    with store.reading() as view, wanted.reading() as other_view:
        assert events_of(view) == events_of(other_view)
    assert path_ids(store) == path_ids(wanted)
    assert sorted(ids(store, "common")) == sorted(ids(wanted, "common"))
    assert count(store) == count(wanted)
    for one in (store, wanted):
        with one.reading() as view:
            assert view.session(KEY).message_count == count(one)
    opened.close()
    other.close()


def test_inserted_among_many_is_found_after_the_index_is_complete(store: Any) -> None:
    """More than one step re-indexes: the window is stale until then, and nothing of it is lost."""
    events = chain(1200)
    begin(store, *events[:10], *events[20:])
    with store.writing() as writer:
        writer.insert(writer.windows(KEY)[-1].window, {10: events[10:20]})
    complete(store, slice_rows=200)
    assert path_ids(store) == [event.event.nav.id for event in events]
    assert len(ids(store, "common")) == 1200
    add(store, say("next", "word1200 common", step=1200))
    assert path_ids(store)[-1] == "next"
    with store.reading() as view:
        assert view.event(current(store), "m15").seq == 15

"""Claims about rebuilding: it ends, it keeps progress, it touches only what is in scope, and what results equals a fresh index."""

from __future__ import annotations

import pytest

from wesaid import limits
from wesaid.service import opening, reconciling, writing
from wesaid.values import EVERYTHING, OPERATOR, Scope

MAIN = "agent:main:main"
A_MOMENT = 1e-6  # seconds: over before the first slice is


def stale(lab, agent="main"):
    with lab.home.store(agent).reading() as view:
        return view.stale(EVERYTHING, limit=100)


@pytest.fixture
def switched(disk):
    """A session of several slices whose index is gone, since its branch was left and taken again."""
    first = disk.say("the ferry leaves at nine")
    long = disk.say_all([f"walrus number{number}" for number in range(2 * limits.REBUILD_SLICE_ROWS + 10)])
    writing.rewind(disk.home, OPERATOR, MAIN, first)
    while reconciling.reconcile(disk.home, seconds=2):
        pass
    writing.switch(disk.home, OPERATOR, MAIN, long[-1])
    return disk


def test_looking_alone_changes_nothing(switched):
    """Zero seconds: how many windows are stale, and they stay so."""
    before = stale(switched)
    reconciling.settle(switched.home, {"main": EVERYTHING}, seconds=0)
    assert len(before) == 1
    assert stale(switched) == before


def test_one_slice_is_progress_that_is_kept(switched):
    """However little time there is, repeated calls end; another process goes on where one stopped."""
    keeps = [stale(switched)[0].keep]
    while found := stale(switched):
        keeps.append(found[0].keep)
        reconciling.settle(switched.home, {"main": EVERYTHING}, seconds=A_MOMENT)
        assert len(keeps) < 100
    assert keeps == sorted(keeps)
    assert len(set(keeps[1:])) == len(keeps[1:]) >= 3


def test_what_was_rebuilt_is_found_as_if_it_had_never_been_stale(switched):
    """Every message once, with the count of the session right."""
    assert reconciling.reconcile(switched.home, seconds=30) == 0
    for number in (0, limits.REBUILD_SLICE_ROWS, 2 * limits.REBUILD_SLICE_ROWS + 9):
        assert len(switched.ids(f"number{number}", waitMs=0)) == 1
    with switched.home.store("main").reading() as view:
        assert view.session(MAIN).message_count == 2 * limits.REBUILD_SLICE_ROWS + 11
        assert view.totals()["messages"] == 2 * limits.REBUILD_SLICE_ROWS + 11


def test_only_what_is_in_scope_is_rebuilt(switched):
    """A search does not work for sessions that its caller may not see, nor count them."""
    other = Scope(keys=frozenset({"agent:main:other"}))
    before = stale(switched)
    reconciling.settle(switched.home, {"main": other}, seconds=5)
    assert stale(switched) == before
    with switched.home.store("main").reading() as view:
        assert reconciling.stale_sessions(switched.home, view, other) == 0
        assert reconciling.stale_sessions(switched.home, view, EVERYTHING) == 1


def test_a_healthy_home_has_nothing_to_do(lab):
    """Nor has one without agents."""
    assert reconciling.reconcile(lab.home, seconds=1) == 0
    lab.say("hello")
    assert reconciling.reconcile(lab.home, seconds=1) == 0


def test_a_session_deleted_meanwhile_is_done(switched):
    """Its window is nobody's any more."""
    writing.delete(switched.home, OPERATOR, MAIN)
    assert stale(switched) == []
    assert reconciling.reconcile(switched.home, seconds=5) == 0


def test_an_agent_that_is_gone_is_passed_over():
    """Scopes may name what another process removed."""
    with opening.memory_home() as home:
        reconciling.settle(home, {"main": EVERYTHING}, seconds=1)
        assert home.engine.agents() == []

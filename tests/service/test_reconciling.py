"""Claims about rebuilding: it ends, it keeps progress, it touches only what is in scope, and what results equals a fresh index."""

from __future__ import annotations

from time import monotonic

import pytest

from wesaid import limits
from wesaid.rules.redact import BUILT_IN
from wesaid.service import opening, reconciling, writing
from wesaid.values import EVERYTHING, OPERATOR, Scope

MAIN = "agent:main:main"


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
    assert reconciling.settle(switched.home, {"main": EVERYTHING}, seconds=0) == len(before) == 1
    assert stale(switched) == before


def test_one_slice_is_progress_that_is_kept(switched):
    """However little time there is, repeated calls end; another process goes on where one stopped."""
    [window] = stale(switched)
    store = switched.home.store("main")
    keeps = [window.keep]
    for _ in range(10):
        if reconciling.rebuild(BUILT_IN, store, window, until=monotonic() - 1):
            break
        keeps.append(stale(switched)[0].keep)
    assert keeps == sorted(keeps)
    assert len(set(keeps)) == len(keeps) == 3
    assert stale(switched) == []


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
    assert reconciling.settle(switched.home, {"main": other}, seconds=5) == 0
    assert len(stale(switched)) == 1


def test_a_healthy_home_has_nothing_to_do(lab):
    """Nor has one without agents."""
    assert reconciling.reconcile(lab.home, seconds=1) == 0
    lab.say("hello")
    assert reconciling.reconcile(lab.home, seconds=1) == 0


def test_a_session_deleted_meanwhile_is_done(switched):
    """Its window is nobody's any more."""
    [window] = stale(switched)
    writing.delete(switched.home, OPERATOR, MAIN)
    assert reconciling.rebuild(BUILT_IN, switched.home.store("main"), window, until=monotonic() + 5)


def test_an_agent_that_is_gone_is_passed_over():
    """Scopes may name what another process removed."""
    with opening.memory_home() as home:
        assert reconciling.settle(home, {"main": EVERYTHING}, seconds=1) == 0

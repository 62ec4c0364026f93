"""``indexing`` is said exactly when what the caller may see is incomplete: never of an answer that lacks nothing, never withheld from one that does."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wesaid import limits
from wesaid.errors import WesaidError
from wesaid.service import opening, preparing, reconciling, writing
from wesaid.values import EVERYTHING, OPERATOR, Scope

KEYS = ("agent:main:a", "agent:main:b")
STEPS = st.lists(
    st.tuples(st.sampled_from(["say", "say", "rewind", "switch", "reset", "slice", "lose"]), st.sampled_from(KEYS), st.integers(0, 40)),
    max_size=25,
)


def lacking(home, view, key):
    """Whether a visible message of a session has no index row."""
    row = view.session(key)
    for window in view.windows(key):
        for event in view.path(window.window, start=0, count=100_000):
            says = preparing.said_by(home.redactor, row.facts.dialect, json.loads(event.body)) is not None
            if says and event.redact_version is None:
                return True
    return False


def do(home, what, key, number, said):
    """One step; what the state forbids changes nothing."""
    if what == "say":
        made = writing.append(home, OPERATOR, key, [{"role": "user", "text": f"ferry {len(said) + n}"} for n in range(number % 7 + 1)])
        said += [one.message_id for one in made]
    elif what == "reset":
        writing.reset(home, OPERATOR, key)
    elif what == "slice":
        reconciling.settle(home, {"main": EVERYTHING}, seconds=1e-9)
    elif what == "lose" and said:
        with home.store("main").writing() as writer:
            writer.drop_index()
    elif said:
        move = writing.rewind if what == "rewind" else writing.switch
        move(home, OPERATOR, key, said[number % len(said)])


@pytest.fixture
def small(monkeypatch):
    """Cuts and slices of a few rows, so that short histories have what long ones have."""
    for name in ("PATH_CUT_ROWS", "REBUILD_SLICE_ROWS", "REBUILD_LOOK_ROWS"):
        monkeypatch.setattr(limits, name, 3)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_the_flag_tells_the_truth_after_any_history(small, tmp_path_factory, steps):
    """For every session after every step; and when all is reconciled nothing lacks."""
    with opening.open_home(tmp_path_factory.mktemp("flag") / "home", environ={}) as home:
        said = {key: [] for key in KEYS}
        for key in KEYS:
            do(home, "say", key, 2, said[key])
        for what, key, number in steps:
            try:
                do(home, what, key, number, said[key])
            except WesaidError:
                continue
            with home.store("main").reading() as view:
                for each in KEYS:
                    told = reconciling.stale_sessions(view, Scope(keys=frozenset((each,)))) > 0
                    assert told == lacking(home, view, each), (what, each)
        assert reconciling.reconcile(home, seconds=30) == 0
        with home.store("main").reading() as view:
            assert not any(lacking(home, view, key) for key in KEYS)
            assert view.stale(EVERYTHING, limit=9) == []

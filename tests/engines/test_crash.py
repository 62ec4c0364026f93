"""A process that is killed loses nothing that it had said was committed, and leaves an index that tells the truth."""

from __future__ import annotations

import os
import random
import select
import signal
import warnings
from pathlib import Path

import pytest

from engine_child import WORDS, die_at, live, pause_at, perform, script
from engine_tools import check_index, complete, events_of, open_engine, snapshot
from wesaid.values import EVERYTHING

KILLS = 50
HOMES = 5


class Model:
    """What the memory engine has after each number of steps, worked out as far as it is asked for."""

    def __init__(self, seed: int):
        self.store = open_engine("memory", Path()).store("main", create=True)
        self.steps = script(seed)
        self.done = 0

    def advance(self, number: int):
        for step in self.steps[self.done : number]:
            perform(self.store, step)
        self.done = max(self.done, number)

    def rows(self):
        with self.store.reading() as view:
            return events_of(view), [(t.path, t.offset) for t in view.sources()], dict(view.totals())["tombstones"]


def rows(store):
    with store.reading() as view:
        return events_of(view), [(t.path, t.offset) for t in view.sources()], dict(view.totals())["tombstones"]


def forked(work):
    """Another process that does this and ends without any clean-up; its number. Nothing of SQLite is open here meanwhile."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads that a test runner has: the child uses none of them
        child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        finally:
            os._exit(1)
    return child


def killed(home: Path, model: Model, first: int, patience: float) -> int:
    """Let a process work for a while and kill it; how many steps it said were committed, all told."""
    ours, its = os.pipe()
    child = forked(lambda: live(home, model.steps, first, lambda number: os.write(its, b"%d\n" % number)))
    os.close(its)
    with os.fdopen(ours, "rb") as pipe:
        said = pipe.readline()
        select.select([], [], [], patience)
        os.kill(child, signal.SIGKILL)
        said += pipe.read()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    return int(said.split()[-1]) + 1


def survived(home: Path, model: Model, least: int, most: int) -> int:
    """Open what is left: it is the model's state after ``least`` … ``most`` steps, and its index is true. The number of steps."""
    engine = open_engine("sqlite", home)
    try:
        store = engine.store("main")
        left, reached = rows(store), None
        for number in range(least, most + 1):
            model.advance(number)
            if model.rows() == left:
                reached = number
                break
        assert reached is not None, f"neither {least} nor up to {most} steps gave what is there"
        check_index(store, WORDS)
        complete(store, slice_rows=50)
        assert snapshot(model.store, WORDS) == snapshot(store, WORDS)
        return reached
    finally:
        engine.close()


@pytest.mark.parametrize("seed", range(HOMES))
def test_kill_9_at_any_moment_loses_and_invents_nothing(tmp_path, seed):
    """Appends, batches with their source, rewinds, switches, deletes and rebuilds: killed ten times on one home, each time going on."""
    moments, model, done = random.Random(seed), Model(seed), 0
    for _ in range(KILLS // HOMES):
        said = killed(tmp_path, model, done, moments.uniform(0, 0.06))
        done = survived(tmp_path, model, said, said + 1)
    assert done >= KILLS // HOMES


def stale(store):
    with store.reading() as view:
        return bool(view.stale(EVERYTHING, limit=1))


@pytest.mark.parametrize("kind", ["append", "many", "leaf", "delete"])
def test_between_any_two_statements_another_process_sees_rows_and_index_of_one_moment(tmp_path, kind):
    """While one process works on a step, another looks before each of its statements: before the commit nothing of it, after it all of it."""
    model = Model(0)
    engine = open_engine("sqlite", tmp_path)
    store = engine.store("main", create=True)
    for first, step in enumerate(model.steps):
        if first > 60 and step["do"] == kind:
            break
        perform(store, step)
    engine.close()
    model.advance(first)
    before = model.rows()
    model.advance(first + 1)
    asks, answers = os.pipe(), os.pipe()

    def ask() -> None:
        os.write(asks[1], b".")
        os.read(answers[0], 1)

    child = forked(lambda: pause_at(tmp_path, step, ask))
    os.close(asks[1])
    engine = open_engine("sqlite", tmp_path)
    store, seen = engine.store("main"), []
    while os.read(asks[0], 1):
        left = rows(store)
        assert left in (before, model.rows())
        seen.append(left == before)
        check_index(store, WORDS)
        os.write(answers[1], b".")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert seen == sorted(seen, reverse=True)
    assert seen[0]
    assert not seen[-1]
    assert len(seen) > 4
    engine.close()
    for end in (asks[0], *answers):
        os.close(end)


@pytest.mark.parametrize("kind", ["append", "many", "leaf", "delete", "complete"])
def test_a_step_that_dies_between_any_two_statements_is_done_or_undone(tmp_path, kind):
    """The process ends just before its first statement, its second, … until the step gets through: before the commit nothing, then all."""
    model = Model(0)
    engine = open_engine("sqlite", tmp_path)
    store = engine.store("main", create=True)
    for first, step in enumerate(model.steps):
        if first > 60 and step["do"] == kind and (kind != "complete" or stale(store)):
            break
        perform(store, step)
    engine.close()
    model.advance(first)
    before = model.rows()
    model.advance(first + 1)
    deaths, ended, seen = 0, 9, set()
    while ended == 9:
        ended = os.waitstatus_to_exitcode(os.waitpid(forked(lambda: die_at(tmp_path, step, deaths)), 0)[1])  # noqa: B023 (used at once)
        deaths += 1
        engine = open_engine("sqlite", tmp_path)
        left = rows(engine.store("main"))
        assert left in (before, model.rows())
        seen.add(left == before)
        check_index(engine.store("main"), WORDS)
        engine.close()
    assert ended == 0
    assert deaths > 3
    assert seen == ({True} if kind == "complete" else {True, False})
    survived(tmp_path, model, first + 1, first + 1)

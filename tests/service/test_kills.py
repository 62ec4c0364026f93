"""Two hundred kills: whatever was being done to a home, what was committed is there, and a search tells the truth about it."""

from __future__ import annotations

import json
import os
import random
import select
import signal
import warnings

import pytest

from wesaid import limits
from wesaid.service import importing, methods, opening, reconciling, searching, writing
from wesaid.values import EVERYTHING, OPERATOR, Scope

KILLS = 200
HOMES = 10
MESSAGES = 60  # of a file
FILES = 6
SLICE = 8  # rows, so that a short history has as many slices as a long one


@pytest.fixture(autouse=True)
def small_slices(monkeypatch):
    """Many transactions where there would be one."""
    for name in ("REBUILD_SLICE_ROWS", "PATH_CUT_ROWS", "IMPORT_BATCH_MESSAGES"):
        monkeypatch.setattr(limits, name, SLICE)


def key(number):
    return f"agent:main:import:s{number}"


def transcripts(folder):
    """Files with one session each: a chain of messages, each with a word of its own."""
    folder.mkdir()
    for number in range(FILES):
        header = {"type": "session", "version": 3, "id": f"s{number}", "timestamp": "2026-01-05T08:00:00.000Z"}
        said = [
            {
                "type": "message",
                "id": f"s{number}m{place}",
                "parentId": f"s{number}m{place - 1}" if place else None,
                "timestamp": f"2026-01-05T08:{place % 60:02}:00.000Z",
                "message": {"role": "user", "content": f"common words s{number}p{place}"},
            }
            for place in range(MESSAGES)
        ]
        (folder / f"s{number}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in [header, *said]), encoding="utf-8")
    return folder


def live(home_path, folder, seed):
    """Import, rewind, switch, lose the index and reconcile, until killed."""
    moments = random.Random(seed)
    with opening.open_home(home_path, environ={}) as home:
        while True:
            importing.import_paths(home, [folder], tool="openclaw")
            for number in moments.sample(range(FILES), 2):
                to = writing.rewind if moments.random() < 0.5 else writing.switch
                place = moments.randrange(MESSAGES)
                with home.store("main").reading() as view:
                    visible = view.locate(key(number), f"s{number}m{place}") is not None
                if visible or to is writing.switch:
                    to(home, OPERATOR, key(number), f"s{number}m{place}")
            if moments.random() < 0.3:
                with home.store("main").writing() as writer:
                    writer.drop_index()
            reconciling.reconcile(home, seconds=moments.choice([1e-6, 10]))


def killed(work, patience):
    """A process that works and is killed."""
    ours, its = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads that a test runner has: the child uses none of them
        child = os.fork()
    if child == 0:
        try:
            os.write(its, b".")
            work()
        finally:
            os._exit(1)
    os.read(ours, 1)
    select.select([], [], [], patience)
    os.kill(child, signal.SIGKILL)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    os.close(ours)
    os.close(its)


def check(home):
    """Every stored message is one of the files', once; the index says what the visible path says, or that it does not yet; then it is made whole."""
    if "main" not in home.engine.agents():
        return 0
    stored = 0
    reconciling_left = None
    for attempt in range(2):
        with home.store("main").reading() as view:
            stale = {window.window: window.keep for window in view.stale(EVERYTHING, limit=1000)}
            lost = view.unmarked()
            for row in view.sessions(EVERYTHING):
                [window] = view.windows(row.facts.key)
                number = row.facts.key.rpartition("s")[2]
                events = [event for event in view.events(window.window, limit=10_000) if event.type == "message"]
                assert [event.id for event in events] == [f"s{number}m{place}" for place in range(len(events))]
                path = [event for event in view.path(window.window, start=0, count=10_000) if event.type == "message"]
                indexed = {event.id for event in path if event.redact_version is not None}
                if window.window not in stale and not lost:
                    assert indexed == {event.id for event in path}
                    assert row.message_count == len(path)
                if attempt:
                    scope = Scope(keys=frozenset((row.facts.key,)))
                    assert view.indexed(scope, bound=10_000) == len(path)
                stored += len(events)
        if not attempt:
            reconciling_left = reconciling.reconcile(home, seconds=60)
    assert reconciling_left == 0
    page = searching.search(home, OPERATOR, methods.SearchParams(query="common", limit=25))
    assert not page.indexing
    with home.store("main").reading() as view:
        assert view.totals()["messages"] == sum(
            view.session(hit).message_count for hit in [row.facts.key for row in view.sessions(EVERYTHING)]
        )
    return stored


@pytest.mark.parametrize("seed", range(HOMES))
def test_kill_9_during_import_rewind_and_reconcile_loses_nothing_and_hides_nothing(tmp_path, seed):
    """Twenty kills of one home, each going on where the last one left it; afterwards one import makes everything whole."""
    folder, moments, most = transcripts(tmp_path / "files"), random.Random(seed), 0
    for number in range(KILLS // HOMES):
        killed(lambda number=number: live(tmp_path / "home", folder, seed * 1000 + number), moments.uniform(0.01, 0.2))
        with opening.open_home(tmp_path / "home", environ={}) as home:
            stored = check(home)
        assert stored >= most, "a committed message is gone"
        most = stored
    with opening.open_home(tmp_path / "home", environ={}) as home:
        importing.import_paths(home, [folder], tool="openclaw")
        assert check(home) == 2 * FILES * MESSAGES  # counted at both looks

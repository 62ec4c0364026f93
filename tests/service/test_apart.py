"""Claims about preparing in another process: the same rows, whatever happens to it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wesaid import limits
from wesaid.rules.redact import BUILT_IN, Redactor
from wesaid.service import apart, process
from wesaid.values import Flag, StoredEvent


def job(text, *, role="user", dialect="openclaw", subagent=False):
    body = json.dumps({"type": "message", "id": "a", "message": {"role": role, "content": text}}).encode()
    event = StoredEvent(
        window=1, session_id="s", seq=0, position=0, shown=1, id="a", type="message", timestamp=1, body=body, spans=(), redact_version=None,
        flags=Flag.NONE,
    )  # fmt: skip
    return dialect, subagent, event


def here(redactor, jobs):
    return [apart._said(redactor, dialect, subagent, event.body) for dialect, subagent, event in jobs]


@pytest.fixture
def started(monkeypatch):
    """A preparer that works apart from its first batch on."""
    monkeypatch.setattr(limits, "REBUILD_SLICE_ROWS", 1)
    monkeypatch.setattr(limits, "APART_FROM_SLICES", 1)
    with apart.Preparer(Redactor.of(["ZEBRA-[0-9]+"], {"MY_TOKEN": "correct-horse-battery"})) as preparer:
        yield preparer


TEXTS = ["the ferry", "ZEBRA-11 and correct-horse-battery", "getUserName 数据库 naïve", "", "x\x00y", "heartbeat 🚀 " * 50, "[cron: a] b"]


def test_what_comes_back_is_what_would_have_been_made_here(started):
    """Texts, secrets, flags, scripts; and what nobody said stays nothing."""
    jobs = [
        job(text, role=role, subagent=subagent)
        for text in TEXTS
        for role in ("user", "assistant", "toolResult")
        for subagent in (False, True)
    ]
    expected = here(started._redactor, jobs)
    for _ in range(3):
        started.send(jobs)
        assert started._is_apart
        assert started.collect() == expected
    assert any(said is None for said in expected)
    assert "zebra" not in str(expected)


@settings(max_examples=60, deadline=None)
@given(texts=st.lists(st.text(max_size=200), max_size=5))
def test_packing_loses_nothing(texts):
    """For every text."""
    for said in here(BUILT_IN, [job(text) for text in texts]):
        assert said is None or apart._unpacked(json.loads(json.dumps(apart._packed(said)))) == said


def test_a_process_that_is_killed_costs_nothing_but_time(started):
    """The batch it had is made here, and so is what follows."""
    jobs = [job(text) for text in TEXTS]
    expected = here(started._redactor, jobs)
    started.send(jobs)
    started._process.kill()
    started._process.wait()
    assert started.collect() == expected
    started.send(jobs)
    assert started.collect() == expected


def test_a_process_that_cannot_be_started_is_done_without(started, monkeypatch):
    """As in a frozen program, or where no process may be begun."""
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    jobs = [job(text) for text in TEXTS]
    started.send(jobs)
    assert started.collect() == here(started._redactor, jobs)


def test_a_damaged_body_says_nothing_and_stops_nobody():
    """The others of its batch are prepared."""
    dialect, subagent, event = job("x")
    broken = (dialect, subagent, StoredEvent(**{name: getattr(event, name) for name in event.__slots__} | {"body": b"{"}))
    first, second = here(BUILT_IN, [broken, job("the ferry")])
    assert first is None
    assert second.index_text == "the ferry"


def test_nothing_is_started_where_there_is_no_interpreter_to_start(monkeypatch):
    """An embedded interpreter has no name; a frozen program would start itself; and what was started starts at most one more."""
    monkeypatch.setattr("sys.executable", None)
    assert process.start("wesaid.service.apart") is None
    monkeypatch.undo()
    monkeypatch.setattr("sys.frozen", True, raising=False)
    assert process.start("wesaid.service.apart") is None
    monkeypatch.undo()
    monkeypatch.setenv("WESAID_PROCESS_DEPTH", "..")
    assert process.start("wesaid.service.apart") is None
    monkeypatch.setenv("WESAID_PROCESS_DEPTH", ".")
    running = process.start("wesaid.service.apart")
    assert running is not None
    process.end(running)

"""Claims about the Python face: the contract's example runs, every read names its caller, and input errors name their parameter."""

from __future__ import annotations

import inspect
import json

import pytest

import wesaid
from wesaid.errors import ConflictError, InputError, NotFoundError, NotVisibleError, SettingError, StoreError

MAIN = "agent:main:main"


@pytest.fixture
def store(tmp_path):
    with wesaid.open(home=tmp_path / "home") as opened:
        yield opened


def test_the_example_of_the_contract_runs(store):
    """Contract.md §6, word for word."""
    chat = store.session("agent:main:main", create=True)
    chat.append("user", "we moved the ferry timetable to Postgres")
    chat.append_many([{"role": "assistant", "text": "done", "timestamp": 1767225600000}])
    me = wesaid.Caller("agent:main:main")
    page = store.search("ferry timetable", caller=me)
    around = store.history(page.hits[0].session_key, around=page.hits[0].message_id, caller=me)
    assert [message.text for message in around.messages] == ["we moved the ferry timetable to Postgres", "done"]
    assert around.messages[1].timestamp == 1767225600000


def test_every_read_names_its_caller():
    """No default: nobody reads as the operator by forgetting."""
    for read in (wesaid.Store.search, wesaid.Store.history, wesaid.Store.sessions, wesaid.Store.export):
        assert inspect.signature(read).parameters["caller"].default is inspect.Parameter.empty


def test_a_read_without_a_caller_raises(store):
    """As Python says it: a missing argument."""
    for read in (lambda: store.search("x"), lambda: store.history(MAIN), store.sessions, lambda: store.export(MAIN)):
        with pytest.raises(TypeError, match="caller"):
            read()


def test_opening_writes_nothing(tmp_path):
    """A home that is only read is not even made."""
    with wesaid.open(tmp_path / "home") as store:
        assert store.search("ferry", caller=wesaid.OPERATOR).hits == ()
        assert store.sessions(caller=wesaid.OPERATOR).rows == ()
    assert not (tmp_path / "home").exists()


def test_files_and_folders_are_the_owners_alone(store, tmp_path):
    """0600 and 0700, the write-ahead log included."""
    store.session(MAIN, create=True).append("user", "ferry")
    home = tmp_path / "home"
    found = {path: path.stat().st_mode & 0o777 for path in [home, *home.rglob("*")]}
    assert (home / "agents" / "main" / "agent.sqlite") in found
    assert {path: mode for path, mode in found.items() if mode != (0o700 if path.is_dir() else 0o600)} == {}


def test_a_session_that_is_absent_is_made_only_when_asked(store):
    """``create=True`` sets the lineage; a parent that contradicts it is a conflict."""
    with pytest.raises(NotFoundError):
        store.session(MAIN)
    child = store.session("agent:main:subagent:one", create=True, spawned_by=MAIN)
    assert child.info().facts.spawned_by == MAIN
    assert store.session(child.key, spawned_by=MAIN).key == child.key
    with pytest.raises(ConflictError):
        store.session(child.key, spawned_by="agent:main:other")


def test_a_session_moves_forks_resets_and_is_deleted(store):
    """Each verb of a session, through the face."""
    chat = store.session(MAIN, create=True)
    first = chat.append("user", "the ferry leaves at nine", idempotency_key="turn-1")
    assert chat.append("user", "the ferry leaves at nine", idempotency_key="turn-1").duplicate
    second = chat.append("assistant", "walrus")
    chat.rewind(first.message_id)
    assert store.search("walrus", caller=wesaid.OPERATOR).hits == ()
    chat.switch(second.message_id)
    assert store.reconcile(seconds=5) == 0
    assert len(store.search("walrus", caller=wesaid.OPERATOR).hits) == 1
    fork = chat.fork(first.message_id, new_key="agent:main:fork")
    assert fork.info().facts.forked_from == MAIN
    assert chat.patch(label="boats", archived=True).facts.label == "boats"
    chat.reset()
    assert [json.loads(line)["type"] for line in store.export(MAIN, caller=wesaid.OPERATOR)] == [
        "message",
        "message",
        "leaf",
        "leaf",
        "reset",
    ]
    assert chat.delete().key == MAIN
    assert [row.key for row in store.sessions(caller=wesaid.OPERATOR).rows] == ["agent:main:fork"]


def test_a_session_caller_writes_as_itself(store):
    """A ``caller`` for a session handle is who writes through it."""
    store.session("agent:main:other", create=True).append("user", "theirs")
    store.session(MAIN, create=True)
    handle = store.session("agent:main:other", caller=wesaid.Caller(MAIN))
    with pytest.raises(NotVisibleError):
        handle.append("user", "intrusion")


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"limit": 99}, "limit"),
        ({"limit": "5"}, "limit"),
        ({"colour": "blue"}, "colour"),
        ({"reveal": True}, "reveal"),
        ({"wait_ms": -1}, "waitMs"),
    ],
    ids=str,
)
def test_a_wrong_parameter_is_named(store, params, field):
    """Unknown ones included; raw text is not Python's to ask for."""
    with pytest.raises(InputError) as caught:
        store.search("ferry", caller=wesaid.OPERATOR, **params)
    assert caught.value.details["field"] == field


def test_a_closed_store_says_so(tmp_path):
    """Further use is an error of ours."""
    store = wesaid.open(tmp_path)
    store.session(MAIN, create=True).append("user", "ferry")
    kept = store.session(MAIN)
    store.close()
    store.close()
    with wesaid.open(tmp_path) as again:
        assert len(again.search("ferry", caller=wesaid.OPERATOR).hits) == 1
    assert kept.key == MAIN


def test_using_a_closed_store_is_an_error(tmp_path):
    """Not an empty answer, as if nothing had ever been said."""
    store = wesaid.open(tmp_path)
    store.session(MAIN, create=True).append("user", "ferry")
    store.close()
    with pytest.raises(StoreError):
        store.search("ferry", caller=wesaid.OPERATOR)


def test_the_home_of_the_environment_is_used(tmp_path, monkeypatch):
    """``WESAID_HOME``, when none is given; a setting of the environment that is invalid stops the program."""
    monkeypatch.setenv("WESAID_HOME", str(tmp_path / "there"))
    with wesaid.open() as store:
        store.session(MAIN, create=True).append("user", "ferry")
    assert (tmp_path / "there" / "agents" / "main" / "agent.sqlite").is_file()
    monkeypatch.setenv("WESAID_SESSIONS_VISIBILITY", "everything")
    with pytest.raises(SettingError):
        wesaid.open()

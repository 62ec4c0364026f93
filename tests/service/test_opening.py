"""Claims about opening a home: where it is, that looking makes nothing, and that what cannot be a home is said."""

from __future__ import annotations

import re

import apsw
import pytest

from wesaid import limits
from wesaid.errors import NotFoundError, SettingError, StoreBusyError, StoreReadOnlyError
from wesaid.service import opening, searching, writing
from wesaid.service.methods import SearchParams
from wesaid.values import OPERATOR

MESSAGE = [{"role": "user", "text": "the ferry"}]


def test_a_home_is_where_it_is_said_to_be(tmp_path, monkeypatch):
    """A path given, else the environment's; ``~`` is the person's folder."""
    with opening.open_home(tmp_path / "given", environ={"WESAID_HOME": str(tmp_path / "other")}) as home:
        assert home.path == tmp_path / "given"
    with opening.open_home(environ={"WESAID_HOME": str(tmp_path / "other")}) as home:
        assert home.path == tmp_path / "other"
    monkeypatch.setenv("HOME", str(tmp_path))
    with opening.open_home("~/mine", environ={}) as home:
        assert home.path == tmp_path / "mine"


def test_looking_makes_nothing(tmp_path):
    """Neither the folder nor a database; the first write makes both."""
    with opening.open_home(tmp_path / "home", environ={}) as home:
        assert home.engine.agents() == []
        assert not home.path.exists()
        writing.append(home, OPERATOR, "agent:main:main", MESSAGE)
        assert home.engine.agents() == ["main"]
        assert [path.name for path in (home.path / "agents").iterdir()] == ["main"]


def test_a_file_is_no_home(tmp_path):
    """Said with the path and what to do; the file stays as it was."""
    file = tmp_path / "file"
    file.write_bytes(b"mine")
    with pytest.raises(StoreReadOnlyError, match="file"):
        opening.open_home(file, environ={})
    assert file.read_bytes() == b"mine"


def test_an_invalid_setting_stops_the_opening(tmp_path):
    """It never falls back to something wider."""
    with pytest.raises(SettingError):
        opening.open_home(tmp_path, environ={"WESAID_SESSIONS_VISIBILITY": "everyone"})


def test_an_agent_that_is_not_there_is_not_found(lab):
    """``store`` asks for what is there; ``new_store`` makes it."""
    with pytest.raises(NotFoundError) as caught:
        lab.home.store("nobody")
    assert caught.value.details["field"] == "agentId"
    assert lab.home.new_store("nobody").agent_id == "nobody"
    assert lab.home.store("nobody").agent_id == "nobody"


def test_a_lock_when_a_database_is_first_opened_is_not_remembered(tmp_path, monkeypatch):
    """Whoever searches or writes meanwhile is told so; with the lock gone the same home goes on (field report B91)."""
    with opening.open_home(tmp_path, environ={}) as home:
        writing.append(home, OPERATOR, "agent:main:main", MESSAGE)
    monkeypatch.setattr(limits, "BUSY_MS", 10)
    holder = apsw.Connection(str(tmp_path / "agents" / "main" / "agent.sqlite"))
    holder.pragma("locking_mode", "exclusive")
    holder.execute("BEGIN EXCLUSIVE; INSERT INTO meta (name, value) VALUES ('x', 1)")
    with opening.open_home(tmp_path, environ={}) as home:
        for _ in range(2):
            with pytest.raises(StoreBusyError):
                searching.search(home, OPERATOR, SearchParams(query="ferry"))
            with pytest.raises(StoreBusyError):
                writing.append(home, OPERATOR, "agent:main:main", MESSAGE)
        holder.execute("ROLLBACK")
        holder.close()
        assert len(searching.search(home, OPERATOR, SearchParams(query="ferry")).hits) == 1
        writing.append(home, OPERATOR, "agent:main:main", MESSAGE)
        assert len(searching.search(home, OPERATOR, SearchParams(query="ferry")).hits) == 2


def test_a_memory_home_touches_no_disk(tmp_path, monkeypatch):
    """And its clock and names may be given."""
    monkeypatch.chdir(tmp_path)
    with opening.memory_home(now=lambda: 7, new_id=lambda: "same") as home:
        [done] = writing.append(home, OPERATOR, "agent:main:main", MESSAGE)
        assert (done.timestamp, done.message_id) == (7, "same")
    assert list(tmp_path.iterdir()) == []


def test_folders_that_are_no_agents_are_left_alone(tmp_path):
    """What lies beside is neither opened nor an error."""
    for name in ("Not An Agent", ".hidden", "empty"):
        (tmp_path / "agents" / name).mkdir(parents=True)
    (tmp_path / "agents" / "file").write_text("x", encoding="utf-8")
    with opening.open_home(tmp_path, environ={}) as home:
        assert home.engine.agents() == []
        writing.append(home, OPERATOR, "agent:main:main", MESSAGE)
        assert home.engine.agents() == ["main"]


def test_ids_and_times_are_fresh():
    """Unix milliseconds, and names that do not repeat."""
    with opening.memory_home() as home:
        assert 1_700_000_000_000 < home.now() < 4_000_000_000_000
        made = {home.new_id() for _ in range(100)}
        assert len(made) == 100
        assert all(re.fullmatch(r"[0-9a-f-]{36}", name) for name in made)

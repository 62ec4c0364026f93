"""Thousands of files, or one that never ends: each search gets further, in the time that it has."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest

from wesaid import limits
from wesaid.importers.known import Source
from wesaid.service import addressing, freshening, import_sources, importing, opening
from wesaid.service.import_sources import Wanted
from wesaid.service.importing import Run
from wesaid.service.looking import Look
from wesaid.service.opening import Home
from wesaid.values import EVERYTHING, OPERATOR

AGENT = "claude-code"


@pytest.fixture(params=["memory", "sqlite"])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Home]:
    with opening.memory_home() if request.param == "memory" else opening.open_home(tmp_path / "home", environ={}) as made:
        yield made


@pytest.fixture
def top(tmp_path: Path, home: Home) -> Path:
    """A folder that is followed, with one transcript in it."""
    made = tmp_path / "projects"
    made.mkdir()
    write(made, "one")
    importing.import_paths(home, [made])
    return made


def line(session: str, name: str = "", parent: str | None = None) -> str:
    return json.dumps(
        {
            "type": "user",
            "uuid": name or session,
            "parentUuid": parent,
            "sessionId": session,
            "timestamp": "2026-01-01T00:00:00Z",
            "message": {"role": "user", "content": f"words of {session}"},
        }
    )


def write(top: Path, session: str, when: int = 1) -> Path:
    path = top / f"{session}.jsonl"
    path.write_text(line(session) + "\n")
    os.utime(path, (when, when))
    return path


def freshen(home: Home, seconds: float = limits.FRESH_SECONDS) -> int:
    return freshening.freshen(home, addressing.policy_of(home, OPERATOR), home.engine.agents(), operator=True, seconds=seconds).behind


def sessions(home: Home) -> int:
    with home.store(AGENT).reading() as view:
        return view.count_sessions(EVERYTHING)


def messages(home: Home) -> int:
    with home.store(AGENT).reading() as view:
        return sum(row.message_count for row in view.sessions(EVERYTHING))


def test_searches_get_through_any_number_of_new_files(home: Home, top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each takes up some; what is left out each time (later than all others, here) keeps none of them waiting for ever."""
    monkeypatch.setattr(limits, "FRESH_NEW_FILES", 3)
    (top / ".wesaidignore").write_text("drop*")
    for number in range(40):
        write(top, f"new{number}")
        write(top, f"drop{number}", when=2)
    while freshen(home, seconds=0.02):
        pass
    assert sessions(home) == 41


def test_new_files_are_taken_up_from_the_latest(home: Home, top: Path) -> None:
    """What a person has just worked on is what they look for."""
    for number, name in enumerate("cab"):
        write(top, name, when=100 + number)
    look = Look(home)
    look.recent(AGENT, EVERYTHING, whole=True)
    look.folders()
    assert [look.new(listed, look.unseen(listed)) for listed in look.listed] == [["b.jsonl", "a.jsonl", "c.jsonl"]]


def test_a_file_that_cannot_be_read_keeps_no_other_out(home: Home, top: Path) -> None:
    """It stays behind; the files beside it are imported."""
    (top / "a.jsonl").symlink_to(top / "gone")
    write(top, "b")
    assert freshen(home) == 1
    assert sessions(home) == 2


def test_a_file_that_grew_without_end_is_left_behind(home: Home, top: Path) -> None:
    """No search reads gigabytes; the files beside it are imported, and what was said in it stays."""
    os.truncate(top / "one.jsonl", 8 * 1024**3)
    write(top, "two")
    assert [freshen(home), freshen(home)] == [1, 1]
    assert sessions(home) == 2


@pytest.mark.parametrize("lost", ["x" * 9000, '{"cut'], ids=["endless", "damaged"])
def test_a_search_stops_inside_what_is_lost_and_keeps_what_it_read(home: Home, top: Path, lost: str) -> None:
    """When its time is up: what stands before is written, the file stays behind, and the next import reads on."""
    with (top / "one.jsonl").open("a", encoding="utf-8") as stream:
        stream.write(line("one", "more", "one") + f"\n{lost}\n{line('one', 'last', 'more')}\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "LINE_BYTES", 1000)
        patch.setattr(limits, "READ_CHUNK_BYTES", 300)
        patch.setattr(limits, "SCAN_BYTES_A_SECOND", -(10**18))  # any time is enough to begin, also one that is over
        [found] = [one for one in import_sources.discover([top / "one.jsonl"], Wanted()) if isinstance(one, Source)]
        account = Run(home, until=monotonic()).one(found, lambda: None)
        assert (account.imported, account.error) == (1, None)
    assert messages(home) == 2
    importing.import_paths(home, [top])
    assert messages(home) == 3
    assert freshen(home) == 0

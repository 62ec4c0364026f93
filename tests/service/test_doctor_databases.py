"""``doctor`` where what was lost came from a tool's database, or from files that a tool keeps a window each."""

from __future__ import annotations

from pathlib import Path

import pytest

from openclaw_database import Claw, chain
from service import damage
from service.damage import opened, sql
from wesaid.service import doctor, importing, writing
from wesaid.values import EVERYTHING, OPERATOR

KEY = "agent:main:main"
SECURE = "PRAGMA secure_delete = 1"
NAMES = [f"m{number}" for number in range(40)]


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A database with one session of two windows, closed."""
    claw = Claw(tmp_path / "state")
    claw.window("w1", KEY, chain(*(f"older ferry{number}" for number in range(40)), prefix="o"))
    claw.window("w2", KEY, chain(*(f"ferry{number}" for number in range(40))), previous="w1", reason="reset")
    claw.close()
    return tmp_path / "state"


def paths(home: Path) -> list[list[str | None]]:
    """Ids along the visible path of each window, of messages."""
    with opened(home) as open_, open_.store("main").reading() as view:
        assert [row.facts.key for row in view.sessions(EVERYTHING)] == [KEY]
        windows = view.windows(KEY)
        return [[row.id for row in view.path(window.window, start=0, count=1000) if row.type == "message"] for window in windows]


@pytest.mark.parametrize(
    "damaging",
    [
        sql("UPDATE event SET body = x'0011' WHERE id IN ('m20', 'm21', 'o7', 'o39')"),
        sql("UPDATE event SET body = x'0011' WHERE place % 2 = 0"),
        sql(SECURE, "DROP TABLE event"),
    ],
    ids=["some", "every second", "all"],
)
def test_what_a_database_has_comes_back_in_its_order(state: Path, tmp_path: Path, damaging: damage.Callable[[Path], None]) -> None:
    """Into the windows that it was in, once."""
    home = tmp_path / "home"
    with opened(home) as open_:
        importing.import_paths(open_, [state])
    before = paths(home)
    assert before == [[f"o{number}" for number in range(40)], NAMES]
    damaging(home)
    with opened(home) as open_:
        report = doctor.doctor(open_, fix=True)
    assert {finding.code for finding in report.findings} == {"files.copies"}, (report.findings, report.not_mended)
    assert paths(home) == before


def test_what_was_said_here_after_a_databases_messages_stays(state: Path, tmp_path: Path) -> None:
    """A message of our own is on the path before and after the repair."""
    home = tmp_path / "home"
    with opened(home) as open_:
        importing.import_paths(open_, [state])
        [own] = writing.append(open_, OPERATOR, KEY, [{"role": "user", "text": "said here"}])
    sql("UPDATE event SET body = x'0011' WHERE id IN ('m20', 'm21')")(home)
    with opened(home) as open_:
        doctor.doctor(open_, fix=True)
    assert paths(home)[-1] == [*NAMES, own.message_id]


def test_a_files_windows_come_back_in_their_order(tmp_path: Path) -> None:
    """Generations of one conversation, a file each: each into its own window."""
    source = Path(__file__).parents[1] / "fixtures" / "openclaw-state"
    home = tmp_path / "home"
    with opened(home) as open_:
        importing.import_paths(open_, [source])
        agents = open_.engine.agents()
        before = {}
        for agent in agents:
            with open_.store(agent).reading() as view:
                for row in view.sessions(EVERYTHING):
                    for window in view.windows(row.facts.key):
                        before[row.facts.key, window.session_id] = [r.id for r in view.path(window.window, start=0, count=1000)]
    sql("UPDATE event SET body = x'0011' WHERE place % 3 = 1")(home)
    with opened(home) as open_:
        report = doctor.doctor(open_, fix=True)
        after = {}
        for agent in agents:
            with open_.store(agent).reading() as view:
                for row in view.sessions(EVERYTHING):
                    for window in view.windows(row.facts.key):
                        after[row.facts.key, window.session_id] = [r.id for r in view.path(window.window, start=0, count=1000)]
    assert set(after) == set(before), report
    assert {key: path for key, path in after.items() if before[key] != path} == {}

"""A database with our mark that somebody else has built traps into: nothing of them is run, they are named, and what was said is saved."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import apsw
import pytest

from wesaid.engines.sqlite import schema
from wesaid.errors import StoreDamagedError
from wesaid.service import doctor, methods, opening, searching, writing
from wesaid.values import OPERATOR

KEY = "agent:main:main"
ENDLESS = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT"
TRIGGERS = {
    "on events": "CREATE TRIGGER trap AFTER INSERT ON event BEGIN DELETE FROM session; END",
    "on facts": "CREATE TRIGGER trap AFTER INSERT ON meta BEGIN DELETE FROM event; DELETE FROM path; END",
    "on index rows": "CREATE TRIGGER trap AFTER INSERT ON entry BEGIN UPDATE session SET title = 'owned'; END",
    "temporary's name": "CREATE TRIGGER trap BEFORE UPDATE ON window BEGIN DELETE FROM event; END",
}
VIEWS = {
    "word": f"{ENDLESS} n AS word, 1 AS seen FROM r",
    "path": f"{ENDLESS} n AS spot, n AS place, 1 AS shown FROM r",
    "stale": f"{ENDLESS} n AS window, 0 AS keep, NULL AS purge, NULL AS old FROM r",
    "source": f"{ENDLESS} 'p' || n AS path, 't' AS tool, 1 AS size, 1 AS mtime_ns, 1 AS offset, '' AS head_digest, '' AS state, '' AS keys, 0 AS missing FROM r",
    "tombstone": f"{ENDLESS} 'p' || n AS key, 1 AS deleted_at, NULL AS erased_at FROM r",
    "meta": f"{ENDLESS} 'fold' AS name, n AS value FROM r",
}
OTHERS = {
    "a view besides": f"CREATE VIEW pragma_user_version AS {ENDLESS} n AS user_version FROM r",
    "a column more": "ALTER TABLE session ADD COLUMN trap TEXT AS (hex(zeroblob(100000000)))",
    "an index over a function": "CREATE INDEX trap ON session (hex(zeroblob(1000)))",
    "a table more": "CREATE TABLE trap (a)",
    "an index gone": "DROP INDEX window_session",
}
TRAPS = {
    **{f"trigger {name}": statement for name, statement in TRIGGERS.items()},
    **{f"view {name}": f"DROP TABLE {name}; CREATE VIEW {name} AS {select}" for name, select in VIEWS.items()},
    **OTHERS,
}


def home_of(folder: Path, trap: str) -> Path:
    """A home with three messages and a trap."""
    with opening.open_home(folder) as home:
        writing.append(home, OPERATOR, KEY, [{"role": "user", "text": f"walrus {number}"} for number in range(3)])
    db = apsw.Connection(str(folder / "agents" / "main" / "agent.sqlite"))
    db.execute(trap)
    db.close()
    return folder


@pytest.mark.parametrize("name", TRIGGERS)
def test_a_trigger_does_not_run(tmp_path: Path, name: str) -> None:
    """What is written is written, and nothing else happens."""
    with opening.open_home(home_of(tmp_path, TRIGGERS[name])) as home:
        writing.append(home, OPERATOR, KEY, [{"role": "user", "text": "walrus again"}])
        page = searching.search(home, OPERATOR, methods.SearchParams(query="walrus"))
        assert len(page.hits) == 4 - 1  # three of a session
        assert {hit.title for hit in page.hits} == {"walrus 0"}
        with home.store("main").reading() as view:
            assert view.totals()["events"] == 4


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_in_place_of_a_table_is_an_error_and_holds_nobody_up(tmp_path: Path, name: str) -> None:
    """It is never asked: a question that needs it fails at once, as damage."""
    with opening.open_home(home_of(tmp_path, TRAPS[f"view {name}"])) as home:
        for ask in (
            lambda: searching.search(home, OPERATOR, methods.SearchParams(query="walr*")),
            lambda: writing.append(home, OPERATOR, KEY, [{"role": "user", "text": "heron"}]),
            lambda: writing.delete(home, OPERATOR, KEY),
        ):
            with suppress(StoreDamagedError):
                ask()


@pytest.mark.parametrize("name", TRAPS)
def test_a_doctor_names_what_is_not_ours_and_saves_what_is(tmp_path: Path, name: str) -> None:
    """One finding, no row lost, and afterwards a file as wesaid makes it."""
    folder = home_of(tmp_path, TRAPS[name])
    with opening.open_home(folder) as home:
        codes = {finding.code for finding in doctor.doctor(home).findings}
        assert "store.strange" in codes
        left = {finding.code for finding in doctor.doctor(home, fix=True).findings}
        gone = {"deletions.lost"} if name == "view tombstone" else set()  # the trap took the place of what was deleted
        assert left <= {"files.copies", "source.never"} | gone
        assert len(searching.search(home, OPERATOR, methods.SearchParams(query="walrus")).hits) == 3
    db = apsw.Connection(str(folder / "agents" / "main" / "agent.sqlite"))
    assert schema.strange(db) == []
    db.close()

"""``wesaid doctor``: what it prints, where, and its exit code; and its page of codes."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from wesaid.service.doctor_codes import CODES

Run = Callable[..., Any]
Said = dict[str, str]
PAGE = Path(__file__).parents[2] / "docs" / "doctor.md"


def database() -> Path:
    return Path(os.environ["WESAID_HOME"]) / "agents" / "main" / "agent.sqlite"


def broken() -> None:
    db = apsw.Connection(str(database()))
    db.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
    db.execute("DELETE FROM words_config")
    db.close()


def test_a_healthy_store_is_0_and_one_line(wesaid: Run, ferry: Said) -> None:
    """Nothing to say beyond that."""
    assert ferry
    ran = wesaid("doctor")
    assert (ran.code, ran.out, ran.err) == (0, "nothing is wrong: 1 agent looked at\n", "")
    assert wesaid("doctor", "--json").json["findings"] == []


def test_an_empty_machine_is_healthy(wesaid: Run) -> None:
    """No home, no transcripts: nothing is wrong with that, and nothing is made."""
    ran = wesaid("doctor", "--fix")
    assert ran.code == 0
    assert not Path(os.environ["WESAID_HOME"]).exists()


def test_a_damaged_index_is_4_with_the_command_that_mends_it(wesaid: Run, ferry: Said) -> None:
    """The printed command works as it stands; afterwards all is well and the message is found."""
    broken()
    ran = wesaid("search", "ferry")
    assert ran.code == 4
    assert "wesaid doctor --fix" in ran.err
    ran = wesaid("doctor")
    assert ran.code == 4
    assert "[index.damaged]" in ran.out
    command = next(line for line in ran.out.splitlines() if "mend: " in line).partition("mend: ")[2].split()
    ran = wesaid(*command[1:])
    assert ran.code == 0
    assert ran.out.startswith("mended: main: ")
    assert wesaid("search", "ferry", "--json").json["results"][0]["messageId"] == ferry["move"]


def test_a_warning_is_1(wesaid: Run, ferry: Said) -> None:
    """Nothing failed, and all is not well."""
    assert ferry
    database().chmod(0o644)
    ran = wesaid("doctor", "--json")
    assert ran.code == 1
    [finding] = ran.json["findings"]
    assert (finding["code"], finding["severity"], finding["command"]) == ("files.permissions", "warning", "wesaid doctor --fix")
    assert wesaid("doctor", "--fix").code == 0


def test_the_command_names_the_home_that_was_given(wesaid: Run, ferry: Said) -> None:
    """So that it can be copied."""
    assert ferry
    broken()
    home = os.environ["WESAID_HOME"]
    assert f"wesaid doctor --fix --home {home}" in wesaid("doctor", "--home", home, WESAID_HOME="/nowhere").out


def test_wrong_settings_stop_every_command_but_the_doctor(wesaid: Run, ferry: Said) -> None:
    """It says which, and looks on."""
    assert ferry
    path = Path(os.environ["WESAID_HOME"]) / "config.toml"
    path.write_text("sessions.visibility = 'everybody'\n")
    path.chmod(0o600)
    assert wesaid("search", "ferry").code == 2
    ran = wesaid("doctor", "--json")
    assert ran.code == 4
    assert [finding["code"] for finding in ran.json["findings"]] == ["config.invalid"]
    assert "main" in ran.json["agents"]


def test_no_secret_and_nothing_said_is_in_a_report(wesaid: Run, ferry: Said, tmp_path: Path) -> None:
    """Names of files are redacted too."""
    assert ferry
    secret = "sk-" + "proj-" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4"
    (Path(os.environ["WESAID_HOME"]) / f"{secret}.txt").write_text("")
    ran = wesaid("doctor", "--json")
    assert "files.foreign" in ran.out
    assert secret not in ran.out
    assert "timetable" not in ran.out


@pytest.mark.parametrize("code", CODES)
def test_the_page_has_each_code_as_the_program_does(code: str) -> None:
    """Severity, what mends it, what it means."""
    row = CODES[code]
    assert f"| `{code}` | {row.severity} | {row.mending} | {row.means} |" in PAGE.read_text(encoding="utf-8")


def test_the_page_has_no_code_that_the_program_lacks() -> None:
    """Nothing is described that cannot happen."""
    assert set(re.findall(r"^\| `([a-z-]+\.[a-z-]+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)) == set(CODES)


def test_what_a_repair_lost_is_1_until_it_is_forgotten(wesaid: Run, ferry: Said) -> None:
    """By that run and by later looks; what was not mended is not listed as mended, and people and programs are told what to do."""
    assert ferry
    db = apsw.Connection(str(database()))
    db.execute("UPDATE event SET body = x'0011' WHERE place = (SELECT max(place) FROM event)")
    db.close()
    ran = wesaid("doctor", "--fix")
    assert ran.code == 1
    assert "not mended: main: 1 event is lost, and no transcript that was read has it, of agent:main:" in ran.out
    assert "  do: if you have transcripts of them: `wesaid import PATH`" in ran.out
    assert "[rows.lost] 1 event was lost in a repair on " in wesaid("doctor").out
    said = wesaid("doctor", "--json")
    assert said.code == 1
    assert said.json["mended"] == said.json["notMended"] == []
    [lost] = [finding for finding in said.json["findings"] if finding["code"] == "rows.lost"]
    assert "wesaid import PATH" in lost["advice"]


def test_a_folder_in_a_databases_place_is_4(wesaid: Run, ferry: Said) -> None:
    """For a search and for the doctor, each with what to do."""
    assert ferry
    for path in database().parent.glob("agent.sqlite*"):
        path.unlink()
    database().mkdir()
    ran = wesaid("search", "ferry")
    assert ran.code == 4
    assert "is a folder, where a database should be" in ran.err
    ran = wesaid("doctor")
    assert ran.code == 4
    assert "[store.foreign]" in ran.out
    assert "  do: move it away" in ran.out


def test_an_emptied_database_is_1(wesaid: Run, ferry: Said) -> None:
    """The doctor names it, and a search that finds nothing says that there is nothing."""
    assert ferry
    for path in database().parent.glob("agent.sqlite-*"):
        path.unlink()
    database().write_bytes(b"")
    assert "[store.empty]" in wesaid("doctor").out
    ran = wesaid("search", "ferry")
    assert ran.code == 1
    assert "the database of main is empty" in ran.err
    assert wesaid("doctor").code == 1


def test_help_says_what_fix_imports(wesaid: Run) -> None:
    """A home made for one tool does not get the others' transcripts by a repair."""
    assert "tools that this home has imported from before" in " ".join(wesaid("doctor", "--help").out.split())

"""What a doctor brings in and mends (promises doctor.*), through Python and the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from click.testing import CliRunner

import wesaid
from contract.promises import promise
from wesaid.cli.program import program


def transcripts(place: Path) -> None:
    """Two conversations that a tool kept before there was a store."""
    for name in ("one", "two"):
        record = {"type": "user", "uuid": f"u-{name}", "parentUuid": None, "sessionId": name, "isSidechain": False, "cwd": "/srv"}
        record |= {"timestamp": "2024-01-05T08:00:00.000Z", "message": {"role": "user", "content": f"the ferry of {name}"}}
        (place / f"{name}.jsonl").write_text(json.dumps(record) + "\n")


@promise("doctor.import")
@pytest.mark.parametrize("door", ["python", "command line"])
def test_a_doctor_imports_older_transcripts(door: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look names those that no import has read and brings none in; --fix imports them, and they are found."""
    place = tmp_path / "claude" / "projects" / "-srv"
    place.mkdir(parents=True)
    transcripts(place)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))

    def run(*, fix: bool) -> list[str]:
        if door == "python":
            with wesaid.open(home) as store:
                return [finding.code for finding in store.doctor(fix=fix).findings]
        ran = CliRunner().invoke(program, ["doctor", "--json", "--home", str(home), *(["--fix"] if fix else [])])
        assert ran.exit_code == 0, ran.output
        return [finding["code"] for finding in json.loads(ran.stdout)["findings"]]

    assert run(fix=False) == ["source.never"]
    assert not home.exists()
    assert run(fix=True) == []
    with wesaid.open(home) as store:
        found = store.search("ferry", caller=wesaid.OPERATOR)
    assert sorted(hit.snippet for hit in found.hits) == ["the ferry of one", "the ferry of two"]
    assert run(fix=False) == []


def spoil_the_index(database: Path) -> None:
    """Words of every message are gone from the index, behind its back."""
    db = apsw.Connection(str(database))
    db.execute("DELETE FROM words_data")
    db.close()


def spoil_a_transcript(database: Path) -> None:
    """The first page of the table of events is noise."""
    db = apsw.Connection(str(database))
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    root, size = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'event'").get, db.pragma("page_size")
    db.close()
    with database.open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"\xa5" * 64)


@promise("doctor.mend")
@pytest.mark.parametrize(("spoil", "named"), [(spoil_the_index, "index.damaged"), (spoil_a_transcript, "store.damaged")])
@pytest.mark.parametrize("door", ["python", "command line"])
def test_a_doctor_names_damage_and_mends_it(door: str, spoil: Callable[[Path], None], named: str, home: Path) -> None:
    """A look changes no byte; after --fix every message is found and read, and of a damaged transcript the file as it was lies beside it."""
    with wesaid.open(home) as store:
        chat = store.session("agent:main:main", create=True)
        chat.append_many([{"role": "user", "text": f"the ferry number{number}"} for number in range(30)])
    database = home / "agents" / "main" / "agent.sqlite"
    spoil(database)
    before = {path.name: path.read_bytes() for path in database.parent.iterdir()}

    def run(*, fix: bool) -> set[str]:
        if door == "python":
            with wesaid.open(home) as store:
                return {finding.code for finding in store.doctor(fix=fix).findings if finding.severity != "note"}
        ran = CliRunner().invoke(program, ["doctor", "--json", "--home", str(home), *(["--fix"] if fix else [])])
        assert (ran.exit_code == 0) is fix, ran.output
        return {finding["code"] for finding in json.loads(ran.stdout)["findings"] if finding["severity"] != "note"}

    assert named in run(fix=False)
    assert {path.name: path.read_bytes() for path in database.parent.iterdir()} == before
    assert run(fix=True) == set()
    with wesaid.open(home) as store:
        assert len(store.search("number7", caller=wesaid.OPERATOR).hits) == 1
        assert store.history("agent:main:main", caller=wesaid.OPERATOR, limit=100).total_messages == 30
    copies = [path for path in database.parent.iterdir() if ".damaged-" in path.name and not path.name.endswith("-wal")]
    assert [path.read_bytes() for path in copies] == ([before["agent.sqlite"]] if named == "store.damaged" else [])

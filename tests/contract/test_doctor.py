"""What a doctor brings in (promise doctor.import), through Python and the command line."""

from __future__ import annotations

import json
from pathlib import Path

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

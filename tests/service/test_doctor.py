"""``doctor``: each kind of damage is named, mended or said why not; nothing that was readable is lost; a look changes no byte."""

from __future__ import annotations

import shutil
from pathlib import Path

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service import damage
from service.damage import DAMAGES, PAGE, codes, database, everything, look, readable
from wesaid.engines.sqlite.records import unpack_body
from wesaid.service import methods, opening, searching, writing
from wesaid.service.doctor_codes import CODES
from wesaid.values import OPERATOR

EACH = pytest.mark.parametrize("name", DAMAGES)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with nothing wrong, and beside it the transcript that it imported."""
    folder = tmp_path_factory.mktemp("sound")
    damage.make(folder / "home", folder / "transcripts")
    return folder / "home"


@pytest.fixture
def home(sound: Path, tmp_path: Path) -> Path:
    """A copy of it, to be damaged."""
    shutil.copytree(sound, tmp_path / "home", symlinks=True)
    return tmp_path / "home"


def test_a_sound_home_has_nothing_to_say(home: Path) -> None:
    """No finding; figures for each agent."""
    report = look(home)
    assert report.findings == ()
    assert report.worst is None
    assert set(report.agents) == {"main", "work"}
    assert report.agents["main"]["sessions"] == 3


@EACH
def test_each_damage_is_named_and_a_look_changes_nothing(home: Path, name: str) -> None:
    """Its code, of the right agent; the other agent is looked at as ever; no byte, time or mode of the home is another afterwards."""
    damage_ = DAMAGES[name]
    damage_.do(home)
    before = everything(home)
    report = look(home)
    found = {finding.code for finding in report.findings if finding.agent_id == "main"}
    assert any(code.startswith(damage_.code) for code in found), found
    assert not [finding for finding in report.findings if finding.agent_id == "work"]
    assert "work" in report.agents
    assert everything(home) == before
    for finding in report.findings:
        assert finding.severity == CODES[finding.code].severity
    assert len(report.findings) < 10


@EACH
def test_each_damage_is_mended_and_nothing_that_was_readable_is_lost(home: Path, name: str) -> None:
    """Afterwards a look finds nothing worse than a note, and every event that could be read can be read."""
    damage_ = DAMAGES[name]
    whole = readable(home)
    damage_.do(home)
    before = readable(home)
    other = readable(home, "work")
    report = look(home, fix=True)
    allowed = damage.MISSED if damage_.lossy else {"files.copies"}
    assert codes(report, "error", "warning") <= allowed, (report.findings, report.mended)
    assert codes(look(home)) <= allowed, look(home).findings
    after = readable(home)
    assert not before - after
    if not damage_.lossy:
        assert after == whole
    assert readable(home, "work") == other
    if damage_.lossy and any("damaged files are kept" in line for line in report.mended):
        assert list(database(home).parent.glob("agent.sqlite.damaged-*"))


@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, PAGE - 1), st.integers(1, PAGE)), min_size=1, max_size=4), st.booleans())
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_noise_anywhere_is_mended_or_named_and_loses_nothing_that_was_readable(sound, tmp_path, spots, zeros) -> None:
    """For any bytes overwritten: a look changes nothing; --fix leaves nothing worse than a note, and every event that could be read."""
    home = tmp_path / "home"
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(sound, home)
    size = database(home).stat().st_size
    for page, at, length in spots:
        start = page * PAGE % size + at
        data = bytes(length) if zeros else damage.noise(length)
        damage.write_at(start, data[: max(size - start, 0)])(home)
    before, lying = readable(home), everything(home)
    look(home)
    assert everything(home) == lying
    report = look(home, fix=True)
    if "store.foreign" in codes(report) or "store.newer" in codes(report):
        return  # the header says that it is not ours: it is left as it is
    assert codes(report, "error", "warning") <= damage.MISSED, (report.findings, report.mended)
    assert not before - readable(home)


@pytest.mark.parametrize(
    "name", ["inner page of event", "header overwritten", "first page overwritten", "page of source", "cut by a page or two"]
)
def test_rows_that_no_tree_leads_to_any_more_are_saved(home: Path, name: str) -> None:
    """A damaged page above them, or a lost beginning of the file, costs no message: every page is looked at."""
    whole = readable(home)
    DAMAGES[name].do(home)
    look(home, fix=True)
    assert readable(home) == whole


@pytest.mark.parametrize("where", ["in the log", "in the file"])
def test_what_was_deleted_does_not_come_back_by_a_repair(home: Path, tmp_path: Path, where: str) -> None:
    """Neither from pages that it was in before, nor from those that the log has written anew."""
    killed = tmp_path / "killed"
    with opening.open_home(home, environ={}) as opened:
        said = [{"role": "user", "text": f"quagmire{n} " + "secretly " * 60} for n in range(60)]
        writing.append(opened, OPERATOR, "agent:main:private", said)
        opened.store("main").checkpoint()
        writing.delete(opened, OPERATOR, "agent:main:private")
        if where == "in the file":
            opened.store("main").checkpoint()
        shutil.copytree(home, killed)
    for table in ("event", "window"):
        damage.overwrite(table, 0, kind="internal" if table == "event" else "leaf")(killed)
    assert codes(look(killed, fix=True)) <= damage.MISSED
    with opening.open_home(killed, environ={}) as opened:
        found = searching.search(opened, OPERATOR, methods.SearchParams(query="quagmire7 OR quagmire59 OR secretly"))
        assert found.hits == ()
    db = apsw.Connection(str(database(killed)))
    assert not any(b"quagmire" in unpack_body(body) for (body,) in db.execute("SELECT body FROM event"))
    db.close()

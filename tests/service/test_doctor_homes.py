"""``doctor`` and what is not damage of pages: modes, other people's files, sources, logs, settings, disks; and what a search says of a damaged index."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from service import damage
from service.damage import NOW, codes, database, everything, look, opened, readable, sql
from wesaid import limits
from wesaid.errors import StoreError, StoreIndexError
from wesaid.service import doctor, erasing, importing, methods, opening, reconciling, searching, writing
from wesaid.values import OPERATOR

MAIN = "agent:main:main"
SOURCES = str(Path(doctor.__file__).parents[2])


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with nothing wrong, and beside it the transcript that it imported."""
    folder = tmp_path_factory.mktemp("sound")
    damage.make(folder / "home", folder / "transcripts")
    return folder / "home"


@pytest.fixture
def home(sound: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    shutil.copytree(sound, tmp_path / "home")
    return tmp_path / "home"


def search(home: Path, query: str = "ferry", **params: Any) -> Any:
    with opened(home) as open_:
        return searching.search(open_, OPERATOR, methods.SearchParams(query=query, **params))


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_what_others_can_read_is_named_and_closed(home: Path) -> None:
    """Folders and files of ours, config.toml too; once for all of them; a file that is not ours keeps its mode."""
    (home / "config.toml").write_text('timeZone = "Europe/Berlin"\n')
    (home / "notes.txt").write_text("mine\n")
    for path in (home, home / "agents", home / "config.toml", database(home), home / "notes.txt"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    report = look(home)
    [wide] = [finding for finding in report.findings if finding.code == "files.permissions"]
    assert wide.message.startswith("4 files and folders")
    assert codes(report) == {"files.permissions", "files.foreign"}
    report = look(home, fix=True)
    assert codes(report) == {"files.foreign"}
    assert database(home).stat().st_mode & 0o777 == 0o600
    assert home.stat().st_mode & 0o777 == 0o700
    assert (home / "notes.txt").stat().st_mode & 0o777 == 0o644


def test_a_link_is_named_and_left_alone(home: Path, tmp_path: Path) -> None:
    """Who follows it might change a file of somebody else."""
    target = tmp_path / "elsewhere"
    target.write_text("x")
    target.chmod(0o644)
    (home / "agents" / "main" / "agent.sqlite-old").symlink_to(target)
    assert codes(look(home, fix=True)) == {"files.link"}
    assert target.stat().st_mode & 0o777 == 0o644


def test_many_files_of_one_kind_are_one_finding(home: Path) -> None:
    """Five names and a number, never a line for each (field report B110)."""
    for number in range(300):
        (home / f"stray-{number}").write_text("")
    [foreign] = look(home).findings
    assert foreign.code == "files.foreign"
    assert "300" in foreign.message
    assert "295 more" in foreign.message


@pytest.mark.parametrize("change", ["state = '{\"complete\": tru'", "state = '[]'", "keys = '{}'"])
def test_a_source_of_which_nobody_can_tell_how_far_it_was_read_is_forgotten(home: Path, change: str) -> None:
    """A damaged row: named, removed, and its file is read as if for the first time; a search is not stopped by it."""
    before = readable(home)
    sql(f"UPDATE source SET {change}")(home)
    assert search(home).hits
    assert "rows.orphaned" in codes(look(home))
    assert codes(look(home, fix=True)) == set()
    assert readable(home) == before


def test_a_session_whose_lesser_facts_are_damaged_is_read(home: Path) -> None:
    """Found, listed and looked at as ever, without them."""
    before = readable(home)
    sql("UPDATE session SET extra = '{\"ai'")(home)
    assert search(home).hits
    assert codes(look(home)) == set()
    assert readable(home) == before


def test_a_home_that_is_not_there_yet_is_healthy(tmp_path: Path) -> None:
    """And is not made by looking."""
    assert look(tmp_path / "none").findings == ()
    assert not (tmp_path / "none").exists()


def test_another_programs_database_is_named_and_never_touched(home: Path) -> None:
    """Not by --fix either; the other agent is mended as ever."""
    database(home).unlink()
    other = apsw.Connection(str(database(home)))
    other.execute("CREATE TABLE bookmarks (url TEXT)")
    other.close()
    before = database(home).read_bytes()
    report = look(home, fix=True)
    assert "store.foreign" in codes(report)
    assert report.worst == "error"
    assert database(home).read_bytes() == before
    assert "work" in report.agents


def test_a_newer_database_is_named_and_never_touched(home: Path) -> None:
    """The way is to upgrade."""
    sql("PRAGMA user_version = 99")(home)
    before = everything(home)
    report = look(home, fix=True)
    [newer] = [finding for finding in report.findings if finding.severity == "error"]
    assert (newer.code, newer.agent_id, newer.command) == ("store.newer", "main", None)
    assert "upgrade wesaid" in (newer.advice or "")
    assert everything(home) == before


def test_wrong_settings_are_a_finding_and_keep_fix_from_guessing(home: Path) -> None:
    """What they hide is not known: nothing is indexed anew without it."""
    (home / "config.toml").write_text("sessions.visibility = 'everybody'\n")
    (home / "config.toml").chmod(0o600)
    sql("DROP TABLE words")(home)
    before = everything(home)
    report = doctor.doctor_at(home, fix=True)
    assert {"config.invalid", "index.damaged"} <= codes(report)
    assert report.not_mended[0].startswith("nothing")
    assert report.mended == ()
    [wrong] = [finding for finding in report.findings if finding.code == "config.invalid"]
    assert str(home / "config.toml") in (wrong.advice or "")
    assert not any(finding.command for finding in report.findings)
    assert everything(home) == before


# ── read-only, full ──────────────────────────────────────────────────────────────────────────────────────────────
CHILD = """
import json, os, sys
from pathlib import Path
from wesaid.service import doctor
import wesaid.engines.sqlite, wesaid.engines.sqlite.agents, wesaid.importers
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
print(json.dumps(doctor.doctor_at(Path(sys.argv[1]), fix="fix" in sys.argv).as_json()))
"""
SMALL_DISK = """
import json, resource, signal, sys
from pathlib import Path
from wesaid.service import doctor
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
print(json.dumps(doctor.doctor_at(Path(sys.argv[1]), fix=True).as_json()))
"""


def child(program: str, *words: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={"PYTHONPATH": SOURCES, "HOME": "/nonexistent"},
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.fixture
def reachable(sound: Path) -> Iterator[Path]:
    """A home that an unprivileged user can reach, which pytest's own folders do not allow."""
    folder = Path(tempfile.mkdtemp(prefix="wesaid-doctor-"))
    folder.chmod(0o755)
    shutil.copytree(sound, folder / "home")
    yield folder / "home"
    shutil.rmtree(folder)


def test_a_read_only_home_is_looked_at_in_full(reachable: Path) -> None:
    """And --fix says that it cannot write, changing nothing."""
    for path in [reachable, *reachable.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = everything(reachable)
    for words in ([], ["fix"]):
        said = child(CHILD, str(reachable), *words)
        assert {"files.read-only", "files.permissions"} <= {finding["code"] for finding in said["findings"]}
        assert said["agents"]["main"]["sessions"] == 3
        assert everything(reachable) == before


def test_an_agent_that_may_not_be_read_is_named_and_the_other_looked_at(reachable: Path) -> None:
    """One closed door does not close the house."""
    for path in [reachable, *reachable.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    database(reachable).chmod(0)
    said = child(CHILD, str(reachable))
    assert ("store.unreadable", "main") in {(finding["code"], finding.get("agentId")) for finding in said["findings"]}
    assert said["agents"]["work"]["sessions"] == 1


def test_sources_that_may_not_be_read_are_not_gone(reachable: Path) -> None:
    """A closed folder and a closed file are told as such, with what to do, and an import of them too."""
    folder = reachable.parent / "closed"
    paths = [
        damage.write_transcript(folder / "in" / "a.jsonl", 3, session="a"),
        damage.write_transcript(folder / "b.jsonl", 3, session="b"),
    ]
    with opened(reachable) as open_:
        importing.import_paths(open_, [folder], agent="work")
    for path in [reachable, *reachable.rglob("*")]:
        path.chmod(0o777)
    folder.chmod(0o755)
    (folder / "in").chmod(0)
    paths[1].chmod(0)
    said = child(CHILD, str(reachable))
    told = {finding["code"]: finding for finding in said["findings"] if finding["code"].startswith("source.")}
    assert set(told) == {"source.failed"}
    assert told["source.failed"]["message"] == "2 transcript files are there and cannot be read"
    assert "chmod u+r" in told["source.failed"]["advice"]


def test_a_full_disk_stops_mending_and_nothing_is_lost(home: Path) -> None:
    """It says so; what was readable still is; with room again the same command ends it."""
    sql("DROP TABLE words")(home)
    before = readable(home)
    said = child(SMALL_DISK, str(home), str(database(home).stat().st_size // 8))
    assert any("no space" in line or "cannot" in line or "fail" in line for line in said["notMended"]), said
    assert readable(home) == before
    assert codes(look(home, fix=True)) == set()
    assert readable(home) == before


def test_a_full_disk_stops_salvaging_before_anything_is_exchanged(home: Path) -> None:
    """The damaged file stays until its successor is complete."""
    damage.overwrite("event", 3)(home)
    damaged = database(home).read_bytes()
    said = child(SMALL_DISK, str(home), str(database(home).stat().st_size // 2))
    assert any("no space" in line or "cannot" in line or "fail" in line for line in said["notMended"]), said
    assert database(home).read_bytes() == damaged
    assert codes(look(home, fix=True)) <= damage.MISSED


# ── logs, and others who have it open ────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("shared", [True, False], ids=["with -shm", "without -shm"])
def test_a_log_that_a_kill_left_is_read_and_left_as_it_lies(home: Path, tmp_path: Path, shared: bool) -> None:
    """What is only in the log counts; file, log and shared memory stay as they are (field report B55)."""
    with opened(home) as open_:
        writing.append(open_, OPERATOR, MAIN, [{"role": "user", "text": "only in the log", "timestamp": NOW}])
        killed = tmp_path / "killed"
        shutil.copytree(home, killed)
    if not shared:
        Path(f"{database(killed)}-shm").unlink()
    assert Path(f"{database(killed)}-wal").stat().st_size > 0
    before = everything(killed)
    report = look(killed)
    assert codes(report) == set()
    assert report.agents["main"]["events"] == 420 + 1
    assert everything(killed) == before


def test_a_store_that_is_written_to_meanwhile_is_healthy(home: Path) -> None:
    """A look in the middle of another's work sees a whole state, and takes nothing away."""
    with opened(home) as other:
        writing.append(other, OPERATOR, MAIN, [{"role": "user", "text": "before", "timestamp": NOW}])
        with other.store("main").writing() as writer:
            writer.forget_source("nothing")
            assert codes(look(home)) == set()
        writing.append(other, OPERATOR, MAIN, [{"role": "user", "text": "after", "timestamp": NOW}])
    assert codes(look(home)) == set()


def test_a_large_log_is_named_and_emptied(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless somebody reads from it, who is then said to be in the way (field report B90)."""
    monkeypatch.setattr(limits, "LOG_LARGE_BYTES", 30_000)
    with opened(home) as other:
        other.store("main")
        with other.store("main").reading() as view:
            view.totals()
            writing.append(other, OPERATOR, MAIN, [{"role": "user", "text": f"more{n} " * 50, "timestamp": NOW} for n in range(30)])
            assert codes(look(home)) == {"log.large"}
            monkeypatch.setattr(limits, "BUSY_MS", 50)
            assert codes(look(home, fix=True)) == {"log.large", "log.pinned"}
        assert codes(look(home, fix=True)) == set()


def test_a_damaged_database_that_another_has_open_is_not_exchanged_under_its_hands(home: Path) -> None:
    """The repair says who is in the way, and works when nobody is."""
    damage.overwrite("event", 3)(home)
    holder = apsw.Connection(str(database(home)))
    holder.execute("SELECT count(*) FROM session").fetchall()
    before = database(home).stat()
    report = look(home, fix=True)
    assert any("open in another process" in line for line in report.not_mended)
    assert not report.mended
    [damaged] = [finding for finding in report.findings if finding.code == "store.damaged"]
    assert "stop it" in (damaged.advice or "")
    assert database(home).stat() == before
    assert not list(database(home).parent.glob("*.damaged-*"))
    holder.close()
    assert codes(look(home, fix=True)) <= damage.MISSED


def test_a_new_file_that_lacks_what_was_read_is_not_put_in_its_place(home: Path) -> None:
    """A disk that loses a row while the repair writes: it is noticed before the exchange, and the damaged file is as it was."""
    damage.overwrite("event", 3)(home)
    before = database(home).read_bytes()

    def lose(db: apsw.Connection) -> None:
        if db.filename.endswith(".salvaging") and db.table_exists(None, "event"):
            db.execute("DELETE FROM event WHERE place = (SELECT max(place) FROM event)")

    apsw.connection_hooks.append(lose)
    try:
        report = look(home, fix=True)
    finally:
        apsw.connection_hooks.remove(lose)
    assert any("nothing was exchanged" in line for line in report.not_mended)
    assert "store.damaged" in codes(report)
    assert database(home).read_bytes() == before
    assert not list(database(home).parent.glob("*.salvaging*"))
    assert codes(look(home, fix=True)) <= damage.MISSED


def test_who_opened_the_damaged_file_before_the_exchange_cannot_write_to_it_after(home: Path) -> None:
    """It gets an error, and opens the new one next time."""
    damage.overwrite("event", 3)(home)
    late = apsw.Connection(str(database(home)))  # has a descriptor, and has not read yet
    look(home, fix=True)
    with pytest.raises(apsw.Error):
        late.execute("INSERT INTO meta (name, value) VALUES ('late', 1)")
    late.close()
    assert codes(look(home)) <= damage.MISSED


def test_a_repair_that_was_killed_after_it_took_the_log_away_loses_no_log(home: Path) -> None:
    """The copy that it made has the log, and is used."""
    with opened(home) as open_:
        writing.append(open_, OPERATOR, MAIN, [{"role": "user", "text": "only in the log", "timestamp": NOW}])
        log = Path(f"{database(home)}-wal").read_bytes()
        file = database(home).read_bytes()
    broken = bytearray(file)
    page = damage.pages_of(home, "event")[3]
    broken[page * damage.PAGE : (page + 1) * damage.PAGE] = damage.noise(damage.PAGE)
    database(home).write_bytes(broken)
    aside = database(home).with_name("agent.sqlite.damaged-20260301T100000")
    aside.write_bytes(broken)
    Path(f"{aside}-wal").write_bytes(log)
    for path in (database(home), aside, Path(f"{aside}-wal")):
        path.chmod(0o600)
    assert codes(look(home, fix=True)) <= damage.MISSED
    assert [hit.snippet for hit in search(home, '"only in the log"').hits] == ["only in the log"]


KILLED = """
import os, signal, sys
from pathlib import Path
from wesaid.service import doctor
left = int(sys.argv[2])

def hook(event, words):
    global left
    if event in ("open", "os.rename", "os.remove", "os.chmod", "os.truncate") and "agent.sqlite" in str(words[0]):
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(hook)
doctor.doctor_at(Path(sys.argv[1]), fix=True)
"""


def test_a_repair_may_be_killed_before_any_step(home: Path, tmp_path: Path) -> None:
    """Whatever it has done so far, the next one ends it, and what was in the file and in its log is there."""
    with opened(home) as open_:
        writing.append(open_, OPERATOR, MAIN, [{"role": "user", "text": "only in the log", "timestamp": NOW}])
        damaged = tmp_path / "damaged"
        shutil.copytree(home, damaged)
    Path(f"{database(damaged)}-shm").unlink()
    damage.overwrite("event", 1)(damaged)
    assert codes(look(damaged)) == {"store.damaged"}
    before = readable(damaged)
    step, code = 0, -9
    while code == -9:
        killed = tmp_path / "killed"
        shutil.rmtree(killed, ignore_errors=True)
        shutil.copytree(damaged, killed)
        code = subprocess.run(
            [sys.executable, "-c", KILLED, str(killed), str(step)],
            check=False,
            env={"PYTHONPATH": SOURCES, "HOME": "/nonexistent"},
            timeout=120,
        ).returncode
        assert codes(look(killed, fix=True)) <= damage.MISSED, step
        assert not before - readable(killed), step
        step += 1
    assert code == 0
    assert step > 10


def test_a_file_that_was_emptied_beside_its_log_keeps_the_log(home: Path, tmp_path: Path) -> None:
    """SQLite would delete it; nobody opens the file before what the log has is saved."""
    with opened(home) as open_:
        said = [{"role": "user", "text": f"only in the log {n}", "timestamp": NOW + n} for n in range(9)]
        writing.append(open_, OPERATOR, "agent:fresh:main", said)
        killed = tmp_path / "killed"
        shutil.copytree(home, killed)
    path = database(killed, "fresh")
    path.write_bytes(b"")
    Path(f"{path}-shm").unlink()
    before = everything(killed)
    assert codes(look(killed)) == {"store.damaged"}
    with pytest.raises(StoreError) as caught:
        search(killed, "log", agent_ids=("fresh",))
    assert "wesaid doctor --fix" in caught.value.hint
    assert everything(killed) == before
    assert codes(look(killed, fix=True)) == {"files.copies"}
    assert len(search(killed, '"only in the log"', agent_ids=("fresh",), session_key="agent:fresh:main").hits) == 9


# ── sources ──────────────────────────────────────────────────────────────────────────────────────────────────────
def known_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    folder = tmp_path / "claude"
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(folder))
    return folder / "projects" / "-srv-ferry"


def test_transcripts_that_were_never_imported_are_named_and_imported(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One finding a tool, with their number; --fix imports them, and a second look has nothing to say."""
    folder = known_place(monkeypatch, tmp_path)
    for number in range(3):
        damage.write_transcript(folder / f"old-{number}.jsonl", 4, session=f"old-{number}")
    [never] = look(home).findings
    assert (never.code, never.path) == ("source.never", str(folder))
    assert never.message.startswith("3 transcripts of claude-code")
    assert codes(look(home, fix=True)) == set()
    assert len({hit.session_key for hit in search(home, "walrus3").hits}) >= 3


def test_a_deleted_sessions_transcript_is_not_called_new(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is known, and stays deleted."""
    folder = known_place(monkeypatch, tmp_path)
    path = damage.write_transcript(folder / "old.jsonl", 4, session="old")
    with opened(home) as open_:
        importing.import_paths(open_, [path])
        erasing.forget(open_, OPERATOR, erasing.from_source(open_, path))
    assert "source.never" not in codes(look(home, fix=True))
    with opened(home) as open_:
        assert open_.store("claude-code").reading().__enter__().totals()["sessions"] == 0


def test_a_source_that_is_gone_has_grown_or_was_half_read_is_told(home: Path, tmp_path: Path) -> None:
    """Gone is a note (field report B56), grown and half read are mended by reading on, into the agent that it was given to."""
    paths = [damage.write_transcript(tmp_path / "more" / f"m-{n}.jsonl", 10, session=f"m-{n}") for n in range(3)]
    with opened(home) as open_:
        importing.import_paths(open_, paths, agent="work")
        with open_.store("work").writing() as writer:
            state = writer.source(str(paths[2]))
            writer.note_source(damage.half(state))
    paths[0].unlink()
    damage.write_transcript(paths[1], 14, session="m-1")
    report = look(home)
    assert codes(report) == {"source.missing", "source.behind", "source.incomplete"}
    report = look(home, fix=True)
    assert codes(report) == {"source.missing"}, report
    assert set(report.agents) == {"main", "work"}
    assert [hit.session_key for hit in search(home, "walrus13", tool="claude-code", agent_ids=("work",)).hits] == ["agent:work:import:m-1"]


def test_a_damaged_database_gets_back_from_its_sources_what_it_lost(home: Path, sound: Path) -> None:
    """What could not be read of an imported session is read from its transcript again."""
    sql("UPDATE event SET body = x'017f' WHERE id LIKE 'u%'")(home)
    assert sum(1 for identity, _ in readable(home) if identity and identity.startswith("u")) == 0
    report = look(home, fix=True)
    assert codes(report) <= {"files.copies"}, report
    assert any("came back" in line for line in report.mended)
    assert readable(home) == readable(sound)


# ── what was deleted ─────────────────────────────────────────────────────────────────────────────────────────────
def test_what_is_not_erased_yet_is_named_and_erased(home: Path) -> None:
    """A note: every command goes on with it."""
    with opened(home) as open_:
        erasing.delete(open_, OPERATOR, "agent:main:notes")
    assert codes(look(home)) == {"erase.pending"}
    assert codes(look(home, fix=True)) == set()


# ── what a search says of a damaged index ────────────────────────────────────────────────────────────────────────
BROKEN_INDEX = {
    "structure gone": sql("DELETE FROM words_data WHERE id = 10"),
    "segments deleted": sql("DELETE FROM words_data"),
    "settings deleted": sql("DELETE FROM words_config"),
    "vocabulary dropped": sql("DROP TABLE word"),
}


@pytest.mark.parametrize("name", BROKEN_INDEX)
def test_a_search_over_a_damaged_index_says_so_and_what_mends_it(home: Path, name: str) -> None:
    """An error of its own class, about the right file, never an empty answer; with other agents their results, `failedAgents` (field report B94)."""
    BROKEN_INDEX[name](home)
    with pytest.raises(StoreIndexError) as caught:
        search(home, "ferr* number7", agent_ids=("main",))
    assert "wesaid doctor --fix" in caught.value.hint
    assert "agents/main/" in caught.value.message
    page = search(home, "ferr* number7")
    assert page.diagnostics.failed_agents == ("main",)
    assert {hit.agent_id for hit in page.hits} == {"work"}
    assert "wesaid doctor" in (page.diagnostics.hint or "") or page.hits


@pytest.mark.parametrize("table", ["words", "entry", "titles"])
def test_an_index_table_that_is_gone_is_made_again_by_the_next_search(home: Path, table: str) -> None:
    """The reconciler sees that; a doctor names it before."""
    sql(f"DROP TABLE {table}")(home)
    assert codes(look(home)) == {"index.damaged"}
    assert search(home, "ferry number7", agent_ids=("main",), wait_ms=limits.WAIT_MS_MAX).hits
    with opened(home) as open_:
        while reconciling.reconcile(open_, seconds=30):
            pass
    assert codes(look(home)) == set()


@pytest.mark.parametrize("name", ["page of event", "cut to a half", "garbage in its place", "page of window"])
def test_a_search_over_a_damaged_file_says_so_and_what_mends_it(home: Path, name: str) -> None:
    """Or finds what it can; with other agents their results come either way."""
    damage.DAMAGES[name].do(home)
    told = ["wesaid doctor"]
    try:
        search(home, "ferry number7", agent_ids=("main",))
    except StoreError as error:
        told.append(error.hint)
    assert "wesaid doctor" in told[-1]
    page = search(home, "ferry number7")
    assert "work" in {hit.agent_id for hit in page.hits}


# ── the rest of the table ────────────────────────────────────────────────────────────────────────────────────────
def test_what_is_only_told_is_told(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Old rules, a clock ahead, little space, no time: notes and warnings that nothing is mended for."""
    sql(
        "UPDATE entry SET fold = 0 WHERE rid IN (SELECT max(rid) FROM entry)",
        "UPDATE meta SET value = 1 WHERE name = 'drift' AND value < 1",
    )(home)
    assert "index.old" in codes(look(home))
    with opened(home) as open_:
        writing.append(open_, OPERATOR, MAIN, [{"role": "user", "text": "later", "timestamp": NOW + 1000 * limits.DAY_MS}])
    assert "clock.future" in codes(look(home))
    monkeypatch.setattr(limits, "SPACE_LOW_BYTES", 1 << 60)
    assert "disk.space" in codes(look(home))
    monkeypatch.setattr(limits, "DOCTOR_SECONDS", 0.0)
    monkeypatch.setattr(limits, "DOCTOR_PROGRESS_STEPS", 1)
    assert "check.partial" in codes(look(home))


def test_an_older_schema_is_a_note(home: Path) -> None:
    """Looking does not migrate; whatever opens the file does."""
    shutil.copy(Path(__file__).parents[1] / "engines" / "kept" / "v1.sqlite", database(home))
    database(home).chmod(0o600)
    before = everything(home)
    report = look(home)
    assert "store.older" in codes(report)
    assert report.worst == "note", report.findings
    assert everything(home) == before


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give a file away; run the tests as root: sudo make test")
def test_a_file_of_another_user_is_named(home: Path) -> None:
    """It may become unreadable."""
    os.chown(database(home), 65534, 65534)
    assert codes(look(home)) == {"files.owner"}


def test_a_home_in_memory_is_healthy() -> None:
    """It has no files that could be damaged."""
    with opening.memory_home() as memory:
        writing.append(memory, OPERATOR, MAIN, [{"role": "user", "text": "the ferry leaves at nine"}])
        for fix in (False, True):
            assert doctor.doctor(memory, fix=fix).findings == ()

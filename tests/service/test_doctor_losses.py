"""``doctor`` where something was lost: it comes back from its transcripts, in their order; what does not is told, and what was deleted stays deleted."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from service import damage
from service.damage import NOW, codes, database, look, opened, sql
from wesaid import limits
from wesaid.errors import StoreError
from wesaid.service import erasing, history, importing, methods, searching, writing
from wesaid.values import EVERYTHING, OPERATOR

KEY = "agent:main:import:s-1"
SECURE = "PRAGMA secure_delete = 1"  # as wesaid sets it: what is dropped is zeroed


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """One imported session of 300 messages, whose transcript is there, and one that was deleted."""
    transcripts = tmp_path / "transcripts"
    damage.write_transcript(transcripts / "s-1.jsonl", 300)
    damage.write_transcript(transcripts / "gone.jsonl", 4, session="gone")
    with opened(tmp_path / "home") as home:
        importing.import_paths(home, [transcripts], agent="main")
        erasing.delete(home, OPERATOR, "agent:main:import:gone")
        home.store("main").erase(seconds=60, now=NOW)
    return tmp_path / "home"


def said(home: Path, key: str = KEY) -> list[str]:
    """What history shows, by its first two words."""
    with opened(home) as open_, open_.store("main").reading() as view:
        window = view.windows(key)[-1].window
        rows = view.path(window, start=0, count=10_000)
    texts = [json.loads(row.body)["message"]["content"] for row in rows]
    return [" ".join(text.split()[:2]) if isinstance(text, str) else text[0]["text"] for text in texts]


def found(home: Path, word: str) -> int:
    with opened(home) as open_:
        return len(searching.search(open_, OPERATOR, methods.SearchParams(query=word)).hits)


def keys(home: Path) -> set[str]:
    with opened(home) as open_, open_.store("main").reading() as view:
        return {row.facts.key for row in view.sessions(EVERYTHING)}


WHOLE = [f"imported walrus{number}" for number in range(300)]
LOSSES = {
    "one in the middle": sql("UPDATE event SET body = x'0011' WHERE id = 'u150-s-1'"),
    "the first": sql("UPDATE event SET body = x'0011' WHERE id = 'u0-s-1'"),
    "the last": sql("UPDATE event SET body = x'0011' WHERE id = 'u299-s-1'"),
    "every third": sql("UPDATE event SET body = x'0011' WHERE place % 3 = 0"),
    "rows deleted": sql("DELETE FROM event WHERE id LIKE 'u1_-s-1'"),
    "rows and their path deleted": sql(
        "DELETE FROM path WHERE place IN (SELECT place FROM event WHERE id LIKE 'u1_-s-1')", "DELETE FROM event WHERE id LIKE 'u1_-s-1'"
    ),
    "leaf pages": lambda home: [damage.overwrite("event", which)(home) for which in (2, 5, 7)],
    "the table": sql(SECURE, "DROP TABLE event"),
}


# ── coming back ──────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("name", LOSSES)
def test_what_a_transcript_has_comes_back_in_its_order(home: Path, name: str) -> None:
    """Under its own key, on the visible path, found; nothing is left to say but that a copy lies there."""
    LOSSES[name](home)
    assert codes(look(home))
    report = look(home, fix=True)
    assert codes(report) <= {"files.copies"}, (report.findings, report.not_mended)
    assert said(home) == WHOLE
    assert keys(home) == {KEY}
    assert found(home, "walrus150") == found(home, "walrus299") == 1
    assert codes(look(home)) <= {"files.copies"}
    assert any("came back" in line for line in report.mended)


@pytest.mark.parametrize("name", LOSSES)
def test_what_was_said_here_stays_visible_where_it_was(home: Path, name: str) -> None:
    """Messages of our own between those of the transcript, and a rewind that was made here, outlast the repair of what stands around them."""
    path = home.parent / "transcripts" / "s-1.jsonl"
    with opened(home) as open_:
        writing.append(open_, OPERATOR, KEY, [{"role": "user", "text": "said here"}])
        damage.write_transcript(path, 320)
        importing.import_paths(open_, [path], agent="main")
    before = said(home)
    assert before == [*WHOLE, "said here", *(f"imported walrus{number}" for number in range(300, 320))]
    LOSSES[name](home)
    report = look(home, fix=True)
    if name == "the table":  # ours has no other place
        assert "rows.lost" in codes(report)
        assert said(home) == [text for text in before if text != "said here"]
    elif name in ("one in the middle", "rows deleted", "the first"):
        assert said(home) == before
    else:
        assert set(WHOLE) <= set(said(home))


def test_more_than_is_held_at_least_hides_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The branch is led back to where the transcript's ends."""
    sql("UPDATE event SET body = x'0011' WHERE id IN ('u50-s-1', 'u51-s-1', 'u52-s-1')")(home)
    monkeypatch.setattr(limits, "IMPORT_HELD_BYTES", 100)
    look(home, fix=True)
    assert set(said(home)) >= set(WHOLE) - {f"imported walrus{number}" for number in (50, 51, 52)}
    assert said(home)[-1] == WHOLE[-1]


def test_a_line_that_was_put_into_a_transcript_stands_where_it_was_put(home: Path) -> None:
    """No repair is needed for that: an import puts it in front of what follows it."""
    path = home.parent / "transcripts" / "s-1.jsonl"
    lines = path.read_text().splitlines()
    new = json.loads(lines[99])
    new |= {"uuid": "u-new", "parentUuid": "u99-s-1"}
    new["message"]["content"] = "imported later"
    follows = json.loads(lines[100])
    path.write_text("\n".join([*lines[:100], json.dumps(new), *lines[100:]]) + "\n")
    assert follows["parentUuid"] == "u99-s-1"
    with opened(home) as open_:
        account = importing.import_paths(open_, [path], agent="main")
    assert (account.totals.imported, account.totals.unchanged) == (1, 300)
    assert said(home) == WHOLE


# ── what does not come back ──────────────────────────────────────────────────────────────────────────────────────
def own(home: Path) -> None:
    with opened(home) as open_:
        writing.append(open_, OPERATOR, "agent:main:main", [{"role": "user", "text": f"ours {n}"} for n in range(30)])


def test_what_is_lost_for_good_is_told_until_nobody_misses_it(home: Path) -> None:
    """By that run and every later look: how many, of which session, when. Until the copy is deleted, or the session forgotten."""
    own(home)
    sql("UPDATE event SET body = x'0011' WHERE place % 3 = 0")(home)
    for report in (look(home, fix=True), look(home), look(home, fix=True)):
        assert report.worst == "warning"
        [lost] = [finding for finding in report.findings if finding.code == "rows.lost"]
        assert lost.message == "10 events were lost in a repair on 2026-03-02, of agent:main:main"
        assert "wesaid import PATH" in (lost.advice or "")
    copy = home.parent / "copy"
    shutil.copytree(home, copy)
    with opened(copy) as open_:
        erasing.delete(open_, OPERATOR, "agent:main:main")
    assert "rows.lost" not in codes(look(copy))
    for path in database(home).parent.glob("*.damaged-*"):
        path.unlink()
    assert codes(look(home)) == set()


def test_a_transcript_that_turns_up_later_brings_its_session_back_whole(home: Path) -> None:
    """Also where nothing of it was left, and what was known of its sources was lost: it is that session, not another of its name."""
    path = home.parent / "transcripts" / "s-1.jsonl"
    away = path.rename(home.parent / "away.jsonl")
    sql(SECURE, "DROP TABLE event", "DROP TABLE source")(home)
    report = look(home, fix=True)
    assert "rows.lost" in codes(report)
    assert any("300 events are lost" in line for line in report.not_mended)
    assert not any("read again" in line for line in (*report.mended, *report.not_mended))
    away.rename(path)
    with opened(home) as open_:
        importing.import_paths(open_, [path], agent="main")
    assert said(home) == WHOLE
    assert keys(home) == {KEY}
    assert codes(look(home)) == {"files.copies"}


# ── what was deleted ─────────────────────────────────────────────────────────────────────────────────────────────
def places(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """The transcripts' folder is one of those that are looked through."""
    folder = home.parent / "claude" / "projects"
    folder.mkdir(parents=True)
    shutil.copytree(home.parent / "transcripts", folder / "-srv-ferry")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home.parent / "claude"))


@pytest.mark.parametrize("name", ["tombstones", "all", "emptied", "garbage"])
def test_what_was_deleted_is_not_imported_by_a_repair(home: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Whichever way the knowledge of it was lost: nothing is imported by itself, then or later, and that is said."""
    places(monkeypatch, home)
    with opened(home) as open_:
        importing.import_paths(open_, [home.parent / "claude"], agent="main")
    ways = {
        "tombstones": sql(SECURE, "DROP TABLE tombstone", "DROP TABLE tombstone_window"),
        "all": sql(SECURE, "DROP TABLE tombstone", "DROP TABLE tombstone_window", "DROP TABLE source", "DROP TABLE source_session"),
        "emptied": damage.replace(b""),
        "garbage": damage.replace(damage.noise(9000)),
    }
    ways[name](home)
    for _ in range(2):
        report = look(home, fix=True)
        assert report.worst == "warning"
        assert codes(report) & {"deletions.lost", "store.empty"}
        assert any("nothing is imported by itself" in line for line in report.not_mended)
        assert "agent:main:import:gone" not in keys(home)
        if name != "tombstones":
            assert [f.command for f in report.findings if f.code == "source.never" and f.command == "wesaid doctor --fix"] == []


def test_tombstones_are_made_again_where_a_source_tells_of_them(home: Path) -> None:
    """A session that came from a file and is not there was deleted: not even an import of that file brings it back."""
    sql(SECURE, "DROP TABLE tombstone", "DROP TABLE tombstone_window")(home)
    assert "deletions.lost" in codes(look(home, fix=True))
    with opened(home) as open_:
        importing.import_paths(open_, [home.parent / "transcripts"], agent="main")
    assert keys(home) == {KEY}
    assert "deletions.lost" not in codes(look(home))  # who imports by hand has been told


# ── empty and misplaced ──────────────────────────────────────────────────────────────────────────────────────────
def test_an_emptied_database_is_named_and_searches_say_so(home: Path) -> None:
    """Before and after something has opened it and made its tables; an append works as ever, and ends it."""
    database(home).write_bytes(b"")
    before = damage.everything(home)
    [empty] = look(home).findings
    assert (empty.code, empty.severity) == ("store.empty", "warning")
    assert damage.everything(home) == before
    with opened(home) as open_:
        page = searching.search(open_, OPERATOR, methods.SearchParams(query="walrus1"))
    assert "the database of main is empty" in (page.diagnostics.hint or "")
    assert "store.empty" in codes(look(home))
    own(home)
    assert codes(look(home)) == set()


def test_a_folder_in_a_databases_place_is_an_error_that_says_what_to_do(home: Path) -> None:
    """For a search, whose other agents answer, for an append and for the doctor, who leaves it alone."""
    with opened(home) as open_:
        writing.append(open_, OPERATOR, "agent:work:main", [{"role": "user", "text": "walrus1 of another"}])
    database(home).rename(database(home).with_name("kept"))
    database(home).mkdir()
    with opened(home) as open_:
        page = searching.search(open_, OPERATOR, methods.SearchParams(query="walrus1"))
        assert page.diagnostics.failed_agents == ("main",)
        assert [hit.agent_id for hit in page.hits] == ["work"]
        with pytest.raises(StoreError) as caught:
            own(home)
    assert "is a folder" in caught.value.message
    report = look(home, fix=True)
    [wrong] = [finding for finding in report.findings if finding.severity == "error"]
    assert (wrong.code, wrong.agent_id) == ("store.foreign", "main")
    assert "move it away" in (wrong.advice or "")
    assert database(home).is_dir()


# ── imports of others ────────────────────────────────────────────────────────────────────────────────────────────
def test_one_damaged_database_keeps_no_other_agents_sources_out(home: Path, tmp_path: Path) -> None:
    """Its own carry the error, which says what to do; the others are imported."""
    more = damage.write_transcript(tmp_path / "more" / "m-1.jsonl", 5, session="m-1")
    sql("DROP TABLE source", "DROP TABLE session")(home)
    sessions = tmp_path / "state" / "agents" / "main" / "sessions"
    sessions.mkdir(parents=True)
    lines = [{"type": "session", "id": "x", "timestamp": "2026-01-05T00:00:00Z"}]
    lines += [
        {
            "type": "message",
            "id": f"m{n}",
            "parentId": None,
            "timestamp": "2026-01-05T00:00:00Z",
            "message": {"role": "user", "content": "hi"},
        }
        for n in (1, 2)
    ]
    (sessions / "x.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with opened(home) as open_:
        account = importing.import_paths(open_, [tmp_path / "state", more.parent])
    assert [failure.path for failure in account.failed] == [str(sessions / "x.jsonl")]
    [told] = [failure.error for failure in account.failed]
    assert "SQLError" not in told.message
    assert "wesaid doctor" in told.hint
    assert account.totals.imported == 5
    with opened(home) as open_, pytest.raises(StoreError):
        importing.import_paths(open_, [tmp_path / "state"])  # nothing to give an account of


def test_only_tools_that_the_home_has_are_imported_by_itself(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of others a note says how many there are, and which command brings them in."""
    sessions = tmp_path / "state" / "agents" / "main" / "sessions"
    sessions.mkdir(parents=True)
    lines = [{"type": "session", "id": "x", "timestamp": "2026-01-05T00:00:00Z"}]
    lines += [
        {"type": "message", "id": "m1", "parentId": None, "timestamp": "2026-01-05T00:00:00Z", "message": {"role": "user", "content": "hi"}}
    ]
    (sessions / "x.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    monkeypatch.setenv("OPENCLAW_STATE_DIR", str(tmp_path / "state"))
    places(monkeypatch, home)
    damage.write_transcript(home.parent / "claude" / "projects" / "-srv" / "new.jsonl", 3, session="new")
    report = look(home, fix=True)
    [never] = report.findings
    assert (never.code, never.command) == ("source.never", f"wesaid import {sessions}")
    assert never.message.startswith("1 transcript of openclaw was never imported")
    with opened(home) as open_:
        assert open_.engine.agents() == ["claude-code", "main"]


# ── what is only said ────────────────────────────────────────────────────────────────────────────────────────────
def test_damaged_lines_and_a_transcript_that_shrank_are_notes(home: Path) -> None:
    """With their figures; what was read before is kept."""
    path = home.parent / "transcripts" / "s-1.jsonl"
    with path.open("a") as file:
        file.write('{"half": \n')
    with opened(home) as open_:
        importing.import_paths(open_, [path], agent="main")
    [damaged] = look(home).findings
    assert (damaged.code, damaged.message) == ("source.damaged", "1 line of 1 transcript file could not be read and were passed over")
    damage.write_transcript(path, 200)
    assert {"source.shrunk", "source.behind"} <= codes(look(home))
    look(home, fix=True)
    assert said(home) == WHOLE


def test_what_may_not_be_looked_at_is_neither_gone_nor_never_imported(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a database cannot be read, nobody knows what it has imported."""
    places(monkeypatch, home)
    assert "source.never" in codes(look(home))
    database(home).write_bytes(damage.noise(9000))
    assert "source.never" not in codes(look(home))


def assert_shown(home: Path) -> Any:
    """History answers too."""
    with opened(home) as open_:
        return history.history(open_, OPERATOR, methods.HistoryParams(session_key=KEY))


def test_a_report_says_nothing_that_did_not_happen(home: Path) -> None:
    """What was mended and what was not are two lists, without zeros."""
    sql("UPDATE session SET message_count = 9")(home)
    home.chmod(0o755)
    report = look(home, fix=True)
    assert report.mended[:2] == ("files: 1 file or folder closed to other users", "main: 1 counter stored anew")
    assert not any(" 0 " in line or "erased" in line for line in report.mended)
    assert report.not_mended == ()
    assert report.as_json()["notMended"] == []
    assert assert_shown(home)

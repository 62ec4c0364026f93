"""What an answer says about itself on the command line: how much was searched, what was left out, and what would help. All of it true."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

Run = Callable[..., Any]
Said = dict[str, str]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Where the tests' store lies."""
    return tmp_path / "nowhere" / "wesaid" / "agents"


def break_agent(store: Path, agent: str) -> None:
    (store / agent / "agent.sqlite").write_bytes(b"no database at all" * 500)
    for beside in ("agent.sqlite-wal", "agent.sqlite-shm"):
        (store / agent / beside).unlink(missing_ok=True)


# ── agents and rows that cannot be read ──────────────────────────────────────────────────────────────────────────
def test_a_list_without_an_agent_that_cannot_be_read_says_so_and_fails(wesaid: Run, ferry: Said, store: Path) -> None:
    """The others' sessions are listed; a filter that nothing passes has no reason that may be untrue."""
    wesaid("append", "agent:work:main", "--role", "user", "a harbour")
    break_agent(store, "work")
    ran = wesaid("sessions")
    assert ran.code == 4
    assert "agent:main:notes" in ran.out
    assert "the database of work cannot be read; `wesaid doctor`" in ran.err
    ran = wesaid("sessions", "--json")
    assert (ran.code, ran.json["failedAgents"], ran.json["count"]) == (4, ["work"], 2)
    for words in (("--tool", "codex"), ("--project", "/srv"), ("--label", "x")):
        ran = wesaid("sessions", *words)
        assert (ran.code, ran.out) == (4, "")
        assert "cannot be read" in ran.err
        assert "no session" not in ran.err
        assert "hint" not in wesaid("sessions", *words, "--json").json
        if words[0] != "--label":
            ran = wesaid("search", "ferry", *words)
            assert ran.code == 4
            assert "no session of" not in ran.err
            assert "no session in" not in ran.err


def test_a_row_that_cannot_be_read_is_said_by_every_command_that_meets_it(wesaid: Run, ferry: Said, store: Path) -> None:
    """And none of them fails; with --json it is in the object."""
    db = apsw.Connection(str(store / "main" / "agent.sqlite"))
    db.execute("UPDATE event SET body = x'0011' WHERE id = ?", (ferry["done"],))
    db.close()
    for words, found in (
        (("search", "harbour OR timetable"), ferry["move"]),
        (("history", "agent:main:main"), ferry["move"]),
        (("export", "agent:main:main"), "timetable"),
    ):
        ran = wesaid(*words)
        assert ran.code == 0, ran
        assert found in ran.out
        assert "1 stored row was passed over" in ran.err
        assert (
            "1 stored row was passed over" in str(wesaid(*words, "--json").json) or wesaid(*words, "--json").json["unreadableMessages"] == 1
        )
    assert wesaid("search", "harbour").code == 1
    assert wesaid("show", ferry["done"]).code == 3
    assert wesaid("sessions").code == 0


# ── how much was searched ────────────────────────────────────────────────────────────────────────────────────────
def test_a_filter_leaves_fewer_sessions_and_these_are_counted(wesaid: Run, ferry: Said, transcript: Run, tmp_path: Path) -> None:
    """Of two appended sessions and two imported ones, those that the filter leaves."""
    for number in (1, 2):
        wesaid("import", str(transcript(tmp_path / f"s-{number}.jsonl", "a harbour", session=f"s-{number}", cwd=f"/srv/{number}")))
    for words, count in (((), 4), (("--tool", "claude-code"), 2), (("--project", "/srv/1"), 1), (("--tool", "codex"), 0)):
        ran = wesaid("search", "qwertz", *words, "--json")
        assert ran.json["diagnostics"]["sessionsSearched"] == count
    assert "in 2 sessions, tool claude-code" in wesaid("search", "qwertz", "--tool", "claude-code").err
    ran = wesaid("search", "qwertz", "--tool", "codex")
    assert "there are sessions of claude-code" in ran.err
    assert "there are no sessions yet" not in ran.err


def test_a_project_in_a_query_is_a_folder_as_the_option_is(
    wesaid: Run, transcript: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From where the person is, and from the home folder."""
    work = tmp_path / "nowhere" / "work"
    work.mkdir(parents=True)
    wesaid("import", str(transcript(tmp_path / "s.jsonl", "a harbour", cwd=str(work))))
    monkeypatch.chdir(work)
    for project in (".", "~/work", str(work), "../work"):
        assert wesaid("search", "harbour", "--project", project).code == 0
        assert wesaid("search", "harbour", f"project:{project}").code == 0
    monkeypatch.chdir(tmp_path)
    assert wesaid("search", "harbour", "project:work").code == 1


def test_a_project_that_nobody_worked_in_is_answered_with_some_that_there_are(
    wesaid: Run, transcript: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """First those of the same name, a few at most; to a session only what it may see."""
    for number in range(9):
        wesaid("import", str(transcript(tmp_path / f"s-{number}.jsonl", "a harbour", session=f"s-{number}", cwd=f"/srv/{number}")))
    wesaid("import", str(transcript(tmp_path / "f.jsonl", "a harbour", session="f", cwd="/srv/Ferry")))
    monkeypatch.chdir(tmp_path)
    for words in (("search", "harbour", "--project", "ferry"), ("search", "harbour project:ferry"), ("sessions", "--project", "ferry")):
        ran = wesaid(*words)
        assert ran.code == 1
        assert "there are '/srv/Ferry', '/srv/" in ran.err
        assert ran.err.count("/srv/") == 5
    ran = wesaid("search", "harbour", "--project", "ferry", "--as", "agent:claude-code:import:s-3")
    assert ran.err.count("/srv/") == 1
    assert "'/srv/3'" in ran.err


# ── what was asked ───────────────────────────────────────────────────────────────────────────────────────────────
def test_hints_name_options_as_they_are_typed(wesaid: Run, ferry: Said) -> None:
    """Also in the object."""
    ran = wesaid("search", "qwertz", "--session", "agent:main:main")
    assert "leave --session out" in ran.err
    assert "sessionKey" not in ran.err
    assert "--session" in wesaid("search", "qwertz", "--session", "agent:main:main", "--json").json["diagnostics"]["hint"]


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("history", "agent:main:main", "--around", "m1", "--before", "-1"), "--before"),
        (("history", "agent:main:main", "--around", "m1", "--after", "-1"), "--after"),
        (("history", "agent:main:main", "--limit", "0"), "--limit"),
        (("sessions", "--active-minutes", "0"), "--active-minutes"),
        (("search", "ferry", "--context", "-1"), "--context"),
    ],
)
def test_a_value_out_of_range_is_named_by_its_option(wesaid: Run, words: tuple[str, ...], option: str) -> None:
    """In the message and in the hint; the object names the field too."""
    ran = wesaid(*words)
    assert ran.code == 2
    assert ran.err.startswith(f"error: {option} is ")
    assert f"hint: {option} is a whole number from" in ran.err
    assert "messages" not in ran.err
    assert wesaid(*words, "--json").json["error"]["details"]["field"]


def test_only_excluded_words_are_looked_for_and_that_is_said(wesaid: Run, ferry: Said) -> None:
    """Found or not."""
    for query, code in (("-banana", 0), ("-qwertz", 1)):
        ran = wesaid("search", query)
        assert ran.code == code
        assert "nothing but excluded words, so they were looked for" in ran.err
    assert "excluded" not in wesaid("search", "deploy", "-banana").err


def test_a_query_that_redaction_hides_is_said_to_be_so(wesaid: Run, ferry: Said) -> None:
    """With what was searched instead, and not what was typed."""
    patterns = {"WESAID_REDACTION_PATTERNS": "PRJ-[0-9]+"}
    ran = wesaid("search", "ferry PRJ-4711", **patterns)
    assert "part of the query is hidden by redaction; what was searched is 'ferry [redacted:custom]'" in ran.err
    assert "4711" not in ran.out + ran.err
    assert "hidden by redaction" in wesaid("search", "PRJ-4711", "--json", **patterns).json["diagnostics"]["hint"]
    assert "hidden" not in wesaid("search", "ferry", **patterns).err

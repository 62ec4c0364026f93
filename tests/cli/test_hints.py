"""What a person is offered to type next, and what is said of what was done: each command that is printed does what it is printed for."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, get_args

import pytest

from wesaid.cli.paint import plain
from wesaid.cli.render_import import account_lines
from wesaid.cli.syntax import _TOOLS
from wesaid.importers import DIALECTS
from wesaid.importers.known import Reason

Run = Callable[..., Any]
Said = dict[str, str]
KEY = "agent:main:main"
ROOT = Path(__file__).parents[2]
NAME = "7f3c9a10-52d4-4e8b-9b1d-000000000001"


def command_behind(text: str, lead: str) -> list[str]:
    """The words of the command that stands behind ``lead``, without ``wesaid``."""
    line = next(line for line in text.splitlines() if lead in line)
    first, *words = shlex.split(line.partition(lead)[2])
    assert first == "wesaid"
    return words


def value(text: str, name: str) -> str:
    """The value beside a name."""
    return next(line.removeprefix(name).strip() for line in text.splitlines() if line.startswith(f"{name} "))


# ── rewind ───────────────────────────────────────────────────────────────────────────────────────────────────────
def test_a_rewind_says_what_is_lost_and_the_command_that_undoes_it(wesaid: Run, ferry: Said) -> None:
    """One message is lost; after the command it is found again, and that command can be undone likewise."""
    ran = wesaid("rewind", KEY, "--to", ferry["move"])
    assert ran.code == 0
    assert "1 message can no longer be found" in ran.err
    assert wesaid("search", "harbour").code == 1
    undo = command_behind(ran.err, "to undo it: ")
    assert undo == ["rewind", KEY, "--to", ferry["done"]]
    ran = wesaid(*undo)
    assert ran.code == 0
    assert "can be found again" in ran.err
    assert wesaid("search", "harbour").code == 0
    assert wesaid(*command_behind(ran.err, "to undo it: ")).code == 0
    assert wesaid("search", "harbour").code == 1


def test_a_rewind_to_the_last_message_changes_nothing_and_says_so(wesaid: Run, ferry: Said) -> None:
    """There is nothing to undo."""
    ran = wesaid("rewind", KEY, "--to", ferry["done"])
    assert ran.code == 0
    assert "the last one already" in ran.err
    assert "undo" not in ran.err


def test_a_rewind_to_another_branch_says_so(wesaid: Run, ferry: Said) -> None:
    """The old branch is found again, the one that was current is not."""
    wesaid("rewind", KEY, "--to", ferry["move"])
    wesaid("append", KEY, "--role", "assistant", "a zeppelin instead")
    ran = wesaid("rewind", KEY, "--to", ferry["done"])
    assert "another branch" in ran.err
    assert wesaid("search", "harbour").code == 0
    assert wesaid("search", "zeppelin").code == 1
    wesaid(*command_behind(ran.err, "to undo it: "))
    assert wesaid("search", "zeppelin").code == 0


def test_a_command_for_another_home_names_it(wesaid: Run, tmp_path: Path) -> None:
    """What was done with ``--home`` is undone with it."""
    home = str(tmp_path / "another home")
    for text in ("the ferry sails", "the harbour sleeps"):
        last = wesaid("append", KEY, "--role", "user", text, "--home", home, "--json").json["messageId"]
    first = wesaid("history", KEY, "--home", home, "--json").json["messages"][0]["messageId"]
    ran = wesaid("rewind", KEY, "--to", first, "--home", home)
    assert command_behind(ran.err, "to undo it: ") == ["rewind", KEY, "--to", last, "--home", home]
    opened = wesaid(*command_behind(wesaid("search", "ferry", "--home", home).out, "Read on: "))
    assert opened.code == 0
    assert "the ferry sails" in opened.out


# ── times ────────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["append", KEY, "--role", "user", "hello"], "timestamp"),
        (["rewind", KEY, "--to", "MOVE"], "rewoundAt"),
        (["reset", KEY], "resetAt"),
        (["delete", KEY], "deletedAt"),
    ],
)
def test_people_read_times_and_not_milliseconds(wesaid: Run, ferry: Said, words: list[str], name: str) -> None:
    """ISO 8601 in local time, and how long ago that is."""
    ran = wesaid(*[ferry["move"] if word == "MOVE" else word for word in words])
    assert ran.code == 0
    exact, age = value(ran.out, name).split(", ")
    assert datetime.fromisoformat(exact).tzinfo is not None
    assert age == "just now"


# ── delete ───────────────────────────────────────────────────────────────────────────────────────────────────────
def test_a_deletion_says_how_much_went_and_how_an_import_comes_back(wesaid: Run, transcript: Run, tmp_path: Path) -> None:
    """The printed command brings it back, to the agent that it had."""
    path = transcript(tmp_path / "it's here" / f"{NAME}.jsonl", "the ferry sails", "the harbour sleeps", session=NAME)
    for options, agent in ((["--agent", "old"], "old"), ([], "claude-code")):
        wesaid("import", str(path), *options)
        ran = wesaid("delete", f"agent:{agent}:import:{NAME}")
        assert (ran.code, value(ran.out, "messages")) == (0, "2")
        assert wesaid("search", "ferry").code == 1
        assert wesaid(*command_behind(ran.err, "to bring it back: ")).code == 0
        assert wesaid("search", "ferry", "--json").json["results"][0]["sessionKey"] == f"agent:{agent}:import:{NAME}"
        wesaid("delete", f"agent:{agent}:import:{NAME}")


def test_a_deletion_of_what_came_from_no_file_offers_no_import(wesaid: Run, ferry: Said) -> None:
    """Nothing would bring it back."""
    assert ferry
    ran = wesaid("delete", KEY)
    assert (ran.code, ran.err) == (0, "")
    assert value(ran.out, "messages") == "2"


# ── search ───────────────────────────────────────────────────────────────────────────────────────────────────────
def test_more_of_a_session_is_found_by_the_command_that_is_printed(wesaid: Run) -> None:
    """Query, options and all; also a query that begins with a dash."""
    for number in range(6):
        wesaid("append", KEY, "--role", "user", f"ferry number {number} it's")
    for query, options in (("ferry it's", ["--role", "user", "--after", "1d"]), ("-zeppelin ferry", [])):
        ran = wesaid("search", query, *options)
        assert "3 more in this session" in ran.out
        more = command_behind(ran.out, "more in this session: ")
        assert more[more.index("--session") + 1] == KEY
        assert set(options) <= set(more)
        assert len(wesaid(more[0], "--json", *more[1:]).json["results"]) == 6


def test_every_session_of_an_answer_can_be_opened(wesaid: Run) -> None:
    """A command below each group, not only for the best hit."""
    keys = [KEY, "agent:main:notes"]
    for key in keys:
        wesaid("append", key, "--role", "user", "the ferry sails")
    ran = wesaid("search", "ferry")
    commands = [shlex.split(line)[2:] for line in ran.out.splitlines() if line.startswith("  Read on: ")]
    assert sorted(words[2] for words in commands) == sorted(keys)
    for words in commands:
        assert "the ferry sails" in wesaid(*words[1:]).out


# ── import ───────────────────────────────────────────────────────────────────────────────────────────────────────
def test_an_imports_table_in_a_pipe_is_whole(wesaid: Run, transcript: Run, tmp_path: Path) -> None:
    """It is data: whatever the folders are called, each path is there as it is, and so is every column."""
    folder = tmp_path / ("a-long-name" * 9)
    transcript(folder / f"{NAME}.jsonl", "the ferry sails", session=NAME)
    rows = wesaid("import", str(folder)).out.split("\n\n")[0].splitlines()
    assert len(rows) == 2
    assert rows[1].startswith(f"{folder}/{NAME}.jsonl ")
    assert "AGENT" in rows[0]
    assert "…" not in rows[1]


def test_a_source_that_failed_has_no_row_of_zeros() -> None:
    """It is named with its reason, below; one that was read in part keeps its row."""
    read = {"path": "/a.jsonl", "tool": "openclaw", "agentId": "main", "sessions": 1, "found": 2, "imported": 2, "skipped": {}}
    failed = {"path": "/b.jsonl", "tool": None, "agentId": None, "sessions": 0, "found": 0, "skipped": {}, "error": {"message": "gone"}}
    lines = [plain(line) for line in account_lines({"sources": [read, failed], "totals": {"sessions": 1, "found": 2}})]
    assert [line.split()[0] for line in lines[: lines.index("")]] == ["SOURCE", "/a.jsonl"]
    assert lines[-1] == "failed: /b.jsonl: gone"
    only = [plain(line) for line in account_lines({"sources": [failed], "totals": {}})]
    assert only[0].startswith("sources")


def test_reasons_that_are_shown_are_explained(wesaid: Run, transcript: Run, tmp_path: Path) -> None:
    """The account points to the help, which has the word, and so has the page; without a reason nothing is said."""
    transcript(tmp_path / f"{NAME}.jsonl", "the ferry sails", session=NAME)
    assert "skipped" not in wesaid("import", str(tmp_path)).err
    (tmp_path / "history.jsonl").write_text(json.dumps({"display": "hello", "timestamp": 1, "project": "/srv"}) + "\n")
    ran = wesaid("import", str(tmp_path))
    assert "prompt-log 1" in ran.out
    assert "wesaid import --help" in ran.err
    assert "prompt-log" in wesaid("import", "--help").out


REASONS = get_args(Reason)  # mypy holds the code to these


@pytest.mark.parametrize("reason", REASONS)
def test_every_reason_is_in_the_help_and_on_the_page(wesaid: Run, reason: str) -> None:
    """Each with its meaning."""
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8").partition("\n## Import\n")[2].partition("\n## ")[0]
    assert f"`{reason}`" in page
    assert re.search(rf"(^|[ ,]){reason}($|[ ,])", wesaid("import", "--help").out, re.MULTILINE)


def test_the_help_names_every_tool_that_can_be_imported(wesaid: Run) -> None:
    """As the registry has them, and the shell is offered the same."""
    assert f"{', '.join(DIALECTS)};" in " ".join(wesaid("import", "--help").out.split())
    assert tuple(DIALECTS) == _TOOLS


# ── names that were meant ────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(("typed", "meant"), [("hist", "history"), ("serch", "search"), ("session", "sessions")])
def test_a_command_that_was_mistyped_is_guessed(wesaid: Run, typed: str, meant: str) -> None:
    """And those there are are named as ever."""
    ran = wesaid(typed)
    assert ran.code == 2
    assert f"did you mean {meant}?" in ran.err
    assert "did you mean" not in wesaid("zzz").err


def test_a_tool_that_was_mistyped_is_guessed(wesaid: Run, tmp_path: Path) -> None:
    """It stays wrong usage."""
    ran = wesaid("import", str(tmp_path), "--from", "claude")
    assert ran.code == 2
    assert "did you mean claude-code?" in ran.err


@pytest.mark.parametrize(
    "words", [["history", "{}"], ["search", "ferry", "--session", "{}"], ["rewind", "{}", "--to", "m1"], ["show", "{}", "m1"]]
)
@pytest.mark.parametrize(("typed", "meant"), [("agent:main:note", "agent:main:notes"), ("notes", "agent:main:notes")])
def test_a_session_that_was_mistyped_is_guessed(wesaid: Run, ferry: Said, words: list[str], typed: str, meant: str) -> None:
    """By its last part or by a slip of the finger; still 3, and nothing is guessed for what is like no key."""
    assert ferry
    ran = wesaid(*[word.format(typed) for word in words])
    assert (ran.code, ran.out) == (3, "")
    assert f"did you mean {meant}?" in ran.err
    assert "did you mean" not in wesaid(*[word.format("agent:main:zeppelin") for word in words]).err


# ── help and pages ───────────────────────────────────────────────────────────────────────────────────────────────
def test_an_exports_help_says_what_each_format_holds(wesaid: Run, ferry: Said) -> None:
    """And that is so: a rewound message is in the JSON lines and not in the Markdown."""
    wesaid("rewind", KEY, "--to", ferry["move"])
    assert "harbour" in wesaid("export", KEY).out
    assert "harbour" not in wesaid("export", KEY, "--format", "md").out
    told = " ".join(wesaid("export", "--help").out.split())
    assert "JSON lines are the whole transcript" in told
    assert "Markdown is the visible path" in told
    assert "a new conversation" in " ".join(wesaid("reset", "--help").out.split())


def test_every_column_of_stats_is_on_the_page(wesaid: Run, ferry: Said) -> None:
    """Each name of a figure has its row."""
    assert ferry
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8").partition("\n## The store\n")[2]
    for name in wesaid("stats", "--json").json["totals"]:
        assert f"| `{name}` |" in page


def test_the_readmes_answer_is_what_the_program_says(process: Run) -> None:
    """The sample on the first screen is the demo's: same command, same text; only how long ago it was grows."""
    block = (ROOT / "README.md").read_text(encoding="utf-8").partition("```text\n$ wesaid ")[2].partition("```")[0]
    typed, _, shown = block.partition("\n")
    for tool in ("claude-code", "openclaw"):
        assert process("import", str(ROOT / "demo" / "transcripts" / tool), "--from", tool).code == 0
    said = process(*shlex.split(typed), TZ="UTC").out

    def ageless(text: str) -> str:
        return re.sub(r"\d+ \w+ ago", "ago", text)

    assert ageless(said) == ageless(shown)


@pytest.mark.parametrize("words", [(), ("sub",), ("sub/s-1.jsonl",)])
def test_a_wesaidignore_does_what_the_page_says(wesaid: Run, transcript: Run, tmp_path: Path, words: tuple[str, ...]) -> None:
    """It leaves out a folder below it, also when that is named itself, and says so; what was imported before stays."""
    top = tmp_path / "top"
    transcript(top / "sub" / "s-1.jsonl", "the ferry sails")
    (top / ".wesaidignore").write_text("# not this one\nsub\n")
    ran = wesaid("import", str(top.joinpath(*words)))
    assert (ran.code, "ignored" in ran.out) == (0, True)
    assert wesaid("search", "ferry").code == 1
    (top / ".wesaidignore").unlink()
    assert wesaid("import", str(top)).code == 0
    (top / ".wesaidignore").write_text("sub\n")
    wesaid("import", str(top))
    assert wesaid("search", "ferry").code == 0


def test_private_text_is_found_and_shown_nowhere_but_in_the_transcript(wesaid: Run) -> None:
    """The README says which way out still has it."""
    wesaid("append", KEY, "--role", "user", "the ferry <private>sesame</private> sails")
    assert wesaid("search", "sesame").code == 1
    for words in (
        ["search", "ferry"],
        ["history", KEY],
        ["history", KEY, "--reveal"],
        ["export", KEY, "--format", "md"],
        ["sessions"],
        ["export", KEY],
    ):
        assert "sesame" not in wesaid(*words).out
    assert "sesame" in wesaid("export", KEY, "--reveal").out

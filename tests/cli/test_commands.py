"""Each command over a real store: what it prints, where, and its exit code."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
Said = dict[str, str]
KEY = "agent:main:main"


def snippets(ran: Any) -> list[str]:
    return [result["snippet"] for result in ran.json["results"]]


# ── search ───────────────────────────────────────────────────────────────────────────────────────────────────────
def test_a_search_finds_what_was_appended(wesaid: Run, ferry: Said) -> None:
    """0 when found; the object is the contract's, with its version."""
    ran = wesaid("search", "ferry timetable", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.json["schemaVersion"] == 1
    assert ran.json["tier"] == "phrase"
    assert ran.json["results"][0]["messageId"] == ferry["move"]
    assert ran.json["results"][0]["sessionKey"] == KEY


def test_a_person_gets_the_session_the_words_and_the_next_command(wesaid: Run, ferry: Said) -> None:
    """What is offered to be typed opens the hit."""
    ran = wesaid("search", "ferry", "timetable")
    assert (ran.code, ran.err) == (0, "")
    assert KEY in ran.out
    assert "we moved the ferry timetable to Postgres" in ran.out
    command = next(line for line in ran.out.splitlines() if line.startswith("  Read on: ")).removeprefix("  Read on: ").split()
    assert command[0] == "wesaid"
    opened = wesaid(*command[1:])
    assert opened.code == 0
    assert f"> user · {opened.out.split('> user · ')[1].splitlines()[0]}".endswith(ferry["move"])


def test_a_pipe_gets_no_escape_sequence(wesaid: Run, ferry: Said) -> None:
    """Colour is for terminals."""
    assert ferry
    for words in (["search", "ferry"], ["history", KEY], ["sessions"], ["stats"], ["config"]):
        assert "\x1b" not in wesaid(*words).out


def test_a_word_of_one_dash_is_excluded(wesaid: Run, ferry: Said) -> None:
    """``deploy -banana``, wherever the options stand."""
    assert ferry
    for words in (["deploy", "-banana", "--json"], ["--json", "deploy", "-banana"], ["deploy", "--json", "-banana"]):
        ran = wesaid("search", *words)
        assert ran.code == 0
        assert snippets(ran) == ["deploy the apple service"]


def test_words_after_two_dashes_are_text(wesaid: Run) -> None:
    """``--`` ends the options, so that one can be searched for."""
    wesaid("append", KEY, "--role", "user", "--", "--force broke the build")
    ran = wesaid("search", "--json", "--", "--force")
    assert ran.code == 0
    assert snippets(ran) == ["--force broke the build"]


def test_nothing_found_is_1_and_says_what_was_searched(wesaid: Run, ferry: Said) -> None:
    """Stdout stays empty; stderr names sessions and filters; JSON is an answer like any other."""
    assert ferry
    ran = wesaid("search", "zeppelin", "--role", "user", "--after", "7d")
    assert (ran.code, ran.out) == (1, "")
    assert "'zeppelin'" in ran.err
    assert "2 sessions" in ran.err
    assert "role user" in ran.err
    ran = wesaid("search", "zeppelin", "--json")
    assert (ran.code, ran.err) == (1, "")
    assert ran.json["results"] == []
    assert ran.json["tier"] == "none"


def test_an_empty_store_says_how_to_fill_it(wesaid: Run) -> None:
    """The first command that a new user tries."""
    ran = wesaid("search", "ferry")
    assert (ran.code, ran.out) == (1, "")
    assert "wesaid import" in ran.err


@pytest.mark.parametrize(
    ("options", "allowed"),
    [
        (["--limit", "99"], ["99", "1", "25"]),
        (["--limit", "0"], ["0", "1", "25"]),
        (["--limit", "many"], ["many"]),
        (["--context", "9"], ["9", "0", "3"]),
        (["--role", "tool"], ["tool", "user", "assistant"]),
        (["--order", "best"], ["best", "relevance", "newest", "oldest"]),
        (["--after", "someday"], ["someday"]),
        (["--agent", "No Such!"], ["No Such!"]),
    ],
)
def test_a_value_out_of_range_is_2_and_names_the_range(wesaid: Run, ferry: Said, options: list[str], allowed: list[str]) -> None:
    """What was given and what is allowed; nothing is clamped in silence."""
    assert ferry
    ran = wesaid("search", "ferry", *options)
    assert (ran.code, ran.out) == (2, "")
    for word in allowed:
        assert word in ran.err


@pytest.mark.parametrize("query", ["", "   ", "\n"])
def test_an_empty_query_is_wrong_usage(wesaid: Run, query: str) -> None:
    """2, with one or two lines on stderr; with JSON an error object."""
    ran = wesaid("search", query)
    assert (ran.code, ran.out) == (2, "")
    assert 1 <= len(ran.err.splitlines()) <= 2
    ran = wesaid("search", query, "--json")
    assert ran.code == 2
    assert ran.json["error"]["message"]


HOSTILE = [
    '"',
    "'",
    "(",
    ")",
    "*",
    "^",
    ":",
    "-",
    "NEAR(",
    'ferry"',
    "a OR",
    "OR",
    "{}",
    "\\",
    "';--",
    "%",
    "🚀",
    "ferry\x00x",
    "\x1b[2J",
    "a" * 4096,
]


@pytest.mark.parametrize("query", HOSTILE)
def test_no_query_is_syntax(wesaid: Run, ferry: Said, query: str) -> None:
    """Whatever is typed finds something or nothing, and never breaks."""
    assert ferry
    assert wesaid("search", query).code in (0, 1)


def test_a_query_that_is_too_long_is_wrong_usage(wesaid: Run, ferry: Said) -> None:
    """The bound is named."""
    assert ferry
    ran = wesaid("search", "a" * 4097)
    assert (ran.code, ran.out) == (2, "")
    assert "4096" in ran.err


def test_filters_narrow_the_search(wesaid: Run, ferry: Said) -> None:
    """Role, session and agent, alone and together."""
    assert ferry
    assert wesaid("search", "harbour", "--role", "assistant").code == 0
    assert wesaid("search", "harbour", "--role", "user").code == 1
    assert wesaid("search", "ferry", "--session", "agent:main:notes").code == 1
    assert wesaid("search", "ferry", "--agent", "main", "--session", KEY).code == 0


def test_an_explained_search_takes_its_scores_apart(wesaid: Run, ferry: Said) -> None:
    """For people a line below each hit, for programs a field."""
    assert ferry
    assert "score " in wesaid("search", "ferry", "--explain").out
    assert "explain" in wesaid("search", "ferry", "--explain", "--json").json["results"][0]
    assert "explain" not in wesaid("search", "ferry", "--json").json["results"][0]


def test_a_secret_is_redacted_unless_revealed_with_a_warning(wesaid: Run) -> None:
    """The warning is on stderr, with JSON too, and stdout stays one object."""
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    wesaid("append", KEY, "--role", "user", f"the harbour token is {secret} ok")
    assert secret not in wesaid("search", "harbour", "--json").out
    assert secret not in wesaid("history", KEY).out
    assert secret not in wesaid("export", KEY).out
    ran = wesaid("search", "harbour", "--json", "--reveal")
    assert secret in snippets(ran)[0]
    assert "warning: " in ran.err
    assert secret in wesaid("history", KEY, "--reveal").out


def test_an_escape_sequence_in_a_transcript_is_shown_and_not_obeyed(wesaid: Run) -> None:
    """Neither a hit, nor a conversation, nor an error can move the cursor."""
    wesaid("append", KEY, "--role", "user", "ferry \x1b]0;owned\x07 \x9b2J \u202egnirts")
    for words in (["search", "ferry"], ["search", "ferry", "--json"], ["history", KEY], ["history", "agent:main:\x1b[2J"], ["sessions"]):
        ran = wesaid(*words)
        for char in "\x1b\x07\x9b\u202e":
            assert char not in ran.out + ran.err


# ── append, history, show ────────────────────────────────────────────────────────────────────────────────────────
def test_an_append_prints_where_it_went(wesaid: Run) -> None:
    """Exactly the contract's four facts, and the version."""
    ran = wesaid("append", KEY, "--role", "user", "hello harbour", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert set(ran.json) == {"schemaVersion", "sessionKey", "sessionId", "messageId", "timestamp"}
    assert ran.json["sessionKey"] == KEY
    assert ran.json["messageId"] in wesaid("append", KEY, "--role", "user", "again").out or wesaid("show", ran.json["messageId"]).code == 0


def test_an_append_reads_stdin(wesaid: Run) -> None:
    """``-`` is all of stdin without the line end that a pipe adds."""
    ran = wesaid("append", KEY, "--role", "assistant", "-", "--json", said="first line\nzweite Zeile\n")
    assert ran.code == 0
    shown = wesaid("show", KEY, ran.json["messageId"], "--json")
    assert shown.json["text"] == "first line\nzweite Zeile"


def test_text_of_one_dash_can_be_appended(wesaid: Run) -> None:
    """A list item is not an option."""
    assert wesaid("append", KEY, "--role", "user", "- buy a ferry").code == 0
    assert wesaid("search", "buy").code == 0


def test_the_same_idempotency_key_appends_once(wesaid: Run) -> None:
    """A script that is run twice says it once."""
    once = wesaid("append", KEY, "--role", "user", "hello", "--idempotency-key", "k1", "--json")
    twice = wesaid("append", KEY, "--role", "user", "hello", "--idempotency-key", "k1", "--json")
    assert once.json["messageId"] == twice.json["messageId"]
    assert wesaid("history", KEY, "--json").json["totalMessages"] == 1


def test_a_parent_is_set_once(wesaid: Run, ferry: Said) -> None:
    """A second, different --spawned-by is wrong usage."""
    assert ferry
    child = "agent:main:subagent:one"
    assert wesaid("append", child, "--role", "user", "hello", "--spawned-by", KEY).code == 0
    ran = wesaid("append", child, "--role", "user", "hello", "--spawned-by", "agent:main:notes")
    assert (ran.code, ran.out) == (2, "")


def test_a_role_is_required(wesaid: Run) -> None:
    """Who said it is never guessed."""
    ran = wesaid("append", KEY, "hello")
    assert (ran.code, ran.out) == (2, "")
    assert "--role" in ran.err


def test_history_is_what_was_said(wesaid: Run, ferry: Said) -> None:
    """In order, for people and for programs."""
    ran = wesaid("history", KEY, "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.json["schemaVersion"] == 1
    assert [message["messageId"] for message in ran.json["messages"]] == [ferry["move"], ferry["done"]]
    assert ran.json["totalMessages"] == 2
    shown = wesaid("history", KEY).out
    assert shown.index("we moved the ferry") < shown.index("the harbour reads it")


def test_an_anchor_is_marked(wesaid: Run, ferry: Said) -> None:
    """``--around`` points at the message that was asked for."""
    shown = wesaid("history", KEY, "--around", ferry["done"], "--before", "1", "--after", "0")
    assert shown.code == 0
    assert [line for line in shown.out.splitlines() if line.startswith("> assistant")]


def test_one_message_is_one_of_history(wesaid: Run, ferry: Said) -> None:
    """With and without its session's key."""
    whole = wesaid("history", KEY, "--json").json["messages"][0]
    for words in ([ferry["move"]], [KEY, ferry["move"]]):
        ran = wesaid("show", *words, "--json")
        assert ran.code == 0
        assert ran.json["messageId"] == ferry["move"]
        assert ran.json["text"] == whole["text"]
        assert set(ran.json) >= {"schemaVersion", "messageId", "sessionId", "role", "timestamp", "text"}
    assert "we moved the ferry" in wesaid("show", ferry["move"]).out


MISSING = [
    ["history", "agent:main:nobody"],
    ["history", KEY, "--around", "no-such-message"],
    ["show", "no-such-message"],
    ["show", KEY, "no-such-message"],
    ["rewind", "agent:main:nobody", "--to", "m1"],
    ["rewind", KEY, "--to", "no-such-message"],
    ["reset", "agent:main:nobody"],
    ["delete", "agent:main:nobody"],
    ["export", "agent:main:nobody"],
    ["search", "ferry", "--session", "agent:main:nobody"],
]


@pytest.mark.parametrize("words", MISSING)
def test_what_does_not_exist_is_3(wesaid: Run, ferry: Said, words: list[str]) -> None:
    """One or two lines on stderr, nothing on stdout; with JSON one error object, of code not_found."""
    assert ferry
    ran = wesaid(*words)
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.startswith("error: ")
    assert 1 <= len(ran.err.splitlines()) <= 2
    ran = wesaid(*words, "--json")
    assert (ran.code, ran.err) == (3, "")
    assert ran.json["error"]["code"] == "not_found"


# ── rewind, reset, delete ────────────────────────────────────────────────────────────────────────────────────────
def test_what_was_rewound_is_not_found(wesaid: Run, ferry: Said) -> None:
    """The message that was named stays."""
    ran = wesaid("rewind", KEY, "--to", ferry["move"], "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.json["sessionKey"] == KEY
    assert wesaid("search", "harbour").code == 1
    assert wesaid("search", "ferry").code == 0
    assert [message["messageId"] for message in wesaid("history", KEY, "--json").json["messages"]] == [ferry["move"]]


def test_a_reset_session_goes_on_anew(wesaid: Run, ferry: Said) -> None:
    """It can be appended to, and its key stays."""
    assert ferry
    assert wesaid("reset", KEY, "--json").json["sessionKey"] == KEY
    assert wesaid("append", KEY, "--role", "user", "a zeppelin instead").code == 0
    assert wesaid("search", "zeppelin").code == 0


def test_what_was_deleted_is_gone(wesaid: Run, ferry: Said) -> None:
    """From search, history and list alike."""
    assert ferry
    ran = wesaid("delete", KEY, "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.json["sessionKey"] == KEY
    assert ran.json["deletedAt"] > 0
    assert wesaid("search", "ferry").code == 1
    assert wesaid("history", KEY).code == 3
    assert [row["key"] for row in wesaid("sessions", "--json").json["sessions"]] == ["agent:main:notes"]


# ── sessions, export, stats, config ──────────────────────────────────────────────────────────────────────────────
def test_sessions_are_listed(wesaid: Run, ferry: Said) -> None:
    """For programs as the contract says, for people with their keys; 1 when there are none like that."""
    assert ferry
    ran = wesaid("sessions", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.json["schemaVersion"] == 1
    assert {row["key"]: row["messageCount"] for row in ran.json["sessions"]} == {KEY: 2, "agent:main:notes": 2}
    assert ran.json["hasMore"] is False
    assert KEY in wesaid("sessions").out
    ran = wesaid("sessions", "--tool", "codex")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err


def test_an_export_is_lines_of_json_or_markdown(wesaid: Run, ferry: Said) -> None:
    """``jsonl`` by default; each line an object; with --json the same text inside one object."""
    assert ferry
    ran = wesaid("export", KEY)
    assert (ran.code, ran.err) == (0, "")
    assert "we moved the ferry timetable" in ran.out
    assert all(isinstance(json.loads(line), dict) for line in ran.out.splitlines())
    inside = wesaid("export", KEY, "--json").json
    assert inside["schemaVersion"] == 1
    assert inside["content"] == ran.out
    assert "we moved the ferry timetable" in wesaid("export", KEY, "--format", "md").out
    assert wesaid("export", KEY, "--format", "pdf").code == 2


def test_stats_count_the_store(wesaid: Run, ferry: Said) -> None:
    """The figures are there for both kinds of reader."""
    assert ferry
    ran = wesaid("stats", "--json")
    assert (ran.code, ran.json["schemaVersion"]) == (0, 1)
    assert ran.json["totals"]["messages"] == 4
    head, main = [line.split() for line in wesaid("stats").out.splitlines()[2:4]]
    assert main[0] == "main"
    assert main[head.index("MESSAGES")] == "4"


def test_config_says_what_is_in_force_and_why(wesaid: Run) -> None:
    """A setting of the environment is named as such."""
    ran = wesaid("config", "--json", WESAID_SESSIONS_VISIBILITY="self")
    assert ran.code == 0
    rows = {row["name"]: row for row in ran.json["settings"]}
    assert rows["sessions.visibility"]["value"] == "self"
    assert "WESAID_SESSIONS_VISIBILITY" in rows["sessions.visibility"]["source"]
    assert "sessions.visibility" in wesaid("config").out


def test_a_setting_that_is_not_allowed_stops_the_program(wesaid: Run, ferry: Said) -> None:
    """It never falls back to a wider one; name and allowed values are said."""
    assert ferry
    ran = wesaid("search", "ferry", WESAID_SESSIONS_VISIBILITY="everything")
    assert (ran.code, ran.out) == (2, "")
    assert "sessions.visibility" in ran.err
    assert "tree" in ran.err


def test_home_names_another_store(wesaid: Run, ferry: Said, tmp_path: Path) -> None:
    """``--home`` holds for one command."""
    assert ferry
    other = str(tmp_path / "other")
    assert wesaid("search", "ferry", "--home", other).code == 1
    assert wesaid("append", KEY, "--role", "user", "a ferry elsewhere", "--home", other).code == 0
    assert len(snippets(wesaid("search", "elsewhere", "--home", other, "--json"))) == 1
    assert wesaid("search", "elsewhere").code == 1


def test_a_home_that_is_no_folder_is_4(wesaid: Run, tmp_path: Path) -> None:
    """The store failed, and nothing was written over."""
    file = tmp_path / "file"
    file.write_text("mine")
    ran = wesaid("append", KEY, "--role", "user", "hello", "--home", str(file))
    assert (ran.code, ran.out) == (4, "")
    assert str(file) in ran.err
    assert file.read_text() == "mine"


def test_a_database_that_is_none_is_4(wesaid: Run, ferry: Said, tmp_path: Path) -> None:
    """Damage is said in two lines, and the file is left as it was."""
    assert ferry
    home = tmp_path / "damaged"
    file = home / "agents" / "main" / "agent.sqlite"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"this is no database" * 1000)
    ran = wesaid("history", KEY, "--home", str(home))
    assert (ran.code, ran.out) == (4, "")
    assert ran.err.startswith("error: ")
    assert file.read_bytes() == b"this is no database" * 1000


def test_a_search_goes_on_without_the_agent_that_cannot_be_read(wesaid: Run, ferry: Said) -> None:
    """The others' hits, the name of the one that failed, and 4; stats likewise."""
    assert ferry
    wesaid("append", "agent:other:main", "--role", "user", "another ferry")
    home = Path(wesaid("config", "--json").json["home"])
    for file in (home / "agents" / "other").glob("agent.sqlite-*"):
        file.unlink()
    (home / "agents" / "other" / "agent.sqlite").write_bytes(b"this is no database" * 1000)
    ran = wesaid("search", "ferry", "--json")
    assert ran.code == 4
    assert snippets(ran) == ["we moved the ferry timetable to Postgres"]
    assert ran.json["diagnostics"]["failedAgents"] == ["other"]
    ran = wesaid("search", "ferry")
    assert ran.code == 4
    assert "we moved the ferry" in ran.out
    assert "other" in ran.err
    ran = wesaid("stats")
    assert ran.code == 4
    assert "main" in ran.out
    assert "other" in ran.err


def test_neighbours_need_an_anchor(wesaid: Run, ferry: Said) -> None:
    """``--before`` alone would be ignored, and nothing is ignored in silence."""
    assert ferry
    ran = wesaid("history", KEY, "--before", "2")
    assert (ran.code, ran.out) == (2, "")
    assert "--around" in ran.err


def test_an_append_of_one_process_is_found_by_another(process: Run, wesaid: Run) -> None:
    """At once: the store is the only thing they share."""
    assert process("append", KEY, "--role", "user", "the harbour opens").code == 0
    assert wesaid("search", "harbour").code == 0
    assert wesaid("append", KEY, "--role", "user", "the zeppelin lands").code == 0
    assert process("search", "zeppelin").code == 0


# ── import ───────────────────────────────────────────────────────────────────────────────────────────────────────
def test_an_import_ends_with_its_account(wesaid: Run, transcript: Run, tmp_path: Path) -> None:
    """0 when done, 0 when all is unchanged, 0 with damaged lines; what was said is found."""
    path = transcript(tmp_path / "projects" / "-srv-ferry" / "s-1.jsonl", "the ferry sails", "the harbour sleeps", damage='{"type": "us')
    ran = wesaid("import", str(path), "--from", "claude-code", "--json")
    assert ran.code == 0
    assert ran.json["schemaVersion"] == 1
    (source,) = ran.json["sources"]
    assert (source["found"], source["imported"], source["damagedLines"]) == (2, 2, 1)
    assert ran.json["totals"]["imported"] == 2
    again = wesaid("import", str(path), "--from", "claude-code", "--json")
    assert again.code == 0
    assert again.json["totals"]["imported"] == 0
    assert wesaid("search", "harbour sleeps").code == 0
    assert (
        "damaged lines"
        in wesaid("import", str(transcript(tmp_path / "x" / "s-2.jsonl", "a", damage="not json")), "--from", "claude-code").out
    )


def test_a_dry_run_writes_nothing(wesaid: Run, transcript: Run, tmp_path: Path) -> None:
    """It counts, says so, and nothing can be found."""
    path = transcript(tmp_path / "s-1.jsonl", "the ferry sails")
    ran = wesaid("import", str(path), "--dry-run")
    assert ran.code == 0
    assert "nothing was written" in ran.err
    assert wesaid("search", "ferry").code == 1


def test_paths_without_a_transcript_are_1(wesaid: Run, tmp_path: Path) -> None:
    """A folder of other things is not a failure."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "todo.txt").write_text("buy milk")
    ran = wesaid("import", str(tmp_path / "notes"))
    assert (ran.code, ran.out) == (1, "")
    assert "no transcript found" in ran.err
    assert wesaid("import").code == 1
    assert wesaid("import", "--json").json["sources"] == []


def test_a_path_that_is_not_there_is_4(wesaid: Run, tmp_path: Path) -> None:
    """A source failed, and it is named."""
    ran = wesaid("import", str(tmp_path / "nothing.jsonl"))
    assert ran.code == 4
    assert "nothing.jsonl" in ran.out + ran.err


def test_a_tool_that_is_unknown_is_wrong_usage(wesaid: Run, transcript: Run, tmp_path: Path) -> None:
    """The tools there are are named."""
    ran = wesaid("import", str(transcript(tmp_path / "s-1.jsonl", "a")), "--from", "nonesuch")
    assert (ran.code, ran.out) == (2, "")
    assert "claude-code" in ran.err

"""Claims about writing: nothing is doubled, lost or abandoned by accident; what is abandoned or deleted is gone from every answer."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import wesaid
from wesaid import limits
from wesaid.errors import ConflictError, InputError, NotFoundError, NotVisibleError
from wesaid.service import importing, writing
from wesaid.values import OPERATOR, Caller

MAIN = "agent:main:main"
SOURCE_ROOT = str(Path(wesaid.__file__).parents[1])
CHILD = """
import sys
from wesaid.service import opening, writing
from wesaid.values import OPERATOR
home, name, many = sys.argv[1], sys.argv[2], int(sys.argv[3])
with opening.open_home(home) as opened:
    for number in range(many):
        writing.append(opened, OPERATOR, "agent:main:main", [{"role": "user", "text": f"{name} number{number}"}])
"""


def append(lab, *texts, key=MAIN, caller=OPERATOR, **more):
    return writing.append(lab.home, caller, key, [{"role": "user", "text": text} for text in texts], **more)


# ── appending ────────────────────────────────────────────────────────────────────────────────────────────────────
def test_an_appended_message_is_found_at_once_by_another_who_has_the_home_open(disk, another):
    """No command, wait or reopening lies between an append and a search in another opening of the same home."""
    assert another.ids("ferry") == []
    first = disk.say("the ferry leaves at nine")
    assert another.ids("ferry", waitMs=0) == [first]
    second = disk.say("the ferry is late")
    assert set(another.ids("ferry", waitMs=0)) == {first, second}
    assert another.texts() == ["the ferry leaves at nine", "the ferry is late"]


def test_an_append_says_where_its_message_is(lab):
    """Session key, session id, message id and time: what history needs to open it."""
    [done] = writing.append(
        lab.home, OPERATOR, "Agent:Main:Main", [{"role": "user", "text": "hello harbour", "timestamp": 1_767_225_600_000}]
    )
    assert (done.session_key, done.timestamp, done.duplicate) == (MAIN, 1_767_225_600_000, False)
    page = lab.history(MAIN, messageId=done.message_id)
    assert page["sessionId"] == done.session_id
    assert [message["messageId"] for message in page["messages"]] == [done.message_id]


def test_an_idempotency_key_that_comes_again_doubles_nothing(lab):
    """The second append answers with the first message, whatever its text; another session or another key is another message."""
    message = {"role": "user", "text": "book the ferry", "idempotencyKey": "turn-7"}
    [first] = writing.append(lab.home, OPERATOR, MAIN, [message])
    [second] = writing.append(lab.home, OPERATOR, MAIN, [{**message, "text": "book the ferry, again"}])
    assert (second.message_id, second.timestamp, second.duplicate) == (first.message_id, first.timestamp, True)
    assert lab.texts() == ["book the ferry"]
    assert lab.ids("ferry") == [first.message_id]
    writing.append(lab.home, OPERATOR, MAIN, [{**message, "idempotencyKey": "turn-8"}])
    [elsewhere] = writing.append(lab.home, OPERATOR, "agent:main:other", [message])
    assert not elsewhere.duplicate
    assert len(lab.texts()) == 2


def test_an_idempotency_key_twice_in_one_append_is_one_message(lab):
    """Repeats inside one call are repeats too."""
    message = {"role": "user", "text": "book the ferry", "idempotencyKey": "turn-7"}
    assert [done.duplicate for done in writing.append(lab.home, OPERATOR, MAIN, [message, message])] == [False, True]
    assert lab.texts() == ["book the ferry"]


def test_one_bad_message_of_many_leaves_nothing_behind(lab):
    """An append is one transaction: all or none, and no empty session of it."""
    messages = [{"role": "user", "text": "good ferry"}, {"role": "tool", "text": "bad"}]
    with pytest.raises(InputError) as caught:
        writing.append(lab.home, OPERATOR, MAIN, messages)
    assert caught.value.details["field"] == "role"
    assert lab.ids("ferry") == []
    assert lab.listed() == []


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ({"role": "system", "text": "x"}, "role"),
        ({"text": "x"}, "role"),
        ({"role": "user"}, "text"),
        ({"role": "user", "text": ""}, "text"),
        ({"role": "user", "text": " \n\t"}, "text"),
        ({"role": "user", "text": 5}, "text"),
        ({"role": "user", "text": "x" * (limits.TEXT_BYTES + 1)}, "text"),
        ({"role": "user", "text": "x", "timestamp": -1}, "timestamp"),
        ({"role": "user", "text": "x", "timestamp": limits.TIMESTAMP_MS_MAX + 1}, "timestamp"),
        ({"role": "user", "text": "x", "timestamp": True}, "timestamp"),
        ({"role": "user", "text": "x", "timestamp": "2026-01-01"}, "timestamp"),
        ({"role": "user", "text": "x", "colour": "blue"}, "messages"),
    ],
    ids=lambda value: value if isinstance(value, str) else ",".join(value),
)
def test_a_message_that_cannot_be_is_refused_by_its_field(lab, message, field):
    """The error names the field and what is allowed, and never quotes the text."""
    with pytest.raises(InputError) as caught:
        writing.append(lab.home, OPERATOR, MAIN, [message])
    assert caught.value.details["field"] == field
    assert caught.value.hint
    assert len(str(caught.value)) < 300


def test_too_many_messages_in_one_append_are_refused(lab):
    """The bound is named."""
    with pytest.raises(InputError, match=str(limits.APPEND_MANY_MAX + 1)) as caught:
        append(lab, *["x"] * (limits.APPEND_MANY_MAX + 1))
    assert str(limits.APPEND_MANY_MAX) in caught.value.hint


def test_nul_and_lone_surrogates_are_kept_out_of_the_store(lab):
    """Both would break some reader; the words around them are found, and the text can be sent as UTF-8."""
    [done] = append(lab, "ferry\x00harbour \ud83d lantern")
    assert lab.ids("harbour") == lab.ids("lantern") == [done.message_id]
    [text] = lab.texts()
    assert "\x00" not in text
    assert text.encode("utf-8")


def test_two_threads_appending_to_one_session_lose_and_abandon_nothing(lab):
    """Every message of both is on the visible path and findable: neither abandons the other's branch."""
    failures = []

    def work(name):
        try:
            for number in range(40):
                append(lab, f"{name} number{number}")
        except Exception as error:  # noqa: BLE001 - a thread's error has to reach the test
            failures.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in ("left", "right")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    expected = [f"{name} number{number}" for name in ("left", "right") for number in range(40)]
    assert sorted(lab.texts(limit=1000)) == sorted(expected)
    assert len(lab.stored()) == 80
    for number in (0, 17, 39):
        assert len(lab.ids(f"number{number}")) == 2


def test_two_processes_appending_to_one_session_lose_and_abandon_nothing(disk):
    """The same with two processes, who race for making the database too."""
    arguments = [sys.executable, "-c", CHILD, str(disk.home.path)]
    env = {"PYTHONPATH": SOURCE_ROOT, "PATH": ""}
    children = [subprocess.Popen([*arguments, name, "30"], env=env, stderr=subprocess.PIPE, text=True) for name in ("left", "right")]
    for child in children:
        _, complaint = child.communicate(timeout=120)
        assert (child.returncode, complaint) == (0, "")
    expected = [f"{name} number{number}" for name in ("left", "right") for number in range(30)]
    assert sorted(disk.texts(limit=1000)) == sorted(expected)
    assert len(disk.ids("number29")) == 2


def test_a_session_keeps_the_title_of_the_first_thing_a_person_said(lab):
    """Neither what the assistant said before nor what was said later becomes the title."""
    lab.say("how can I help", role="assistant")
    lab.say("move the ferry timetable\nand tell Anna")
    lab.say("something else")
    assert writing.patch(lab.home, OPERATOR, MAIN).facts.title == "move the ferry timetable"


# ── branches ─────────────────────────────────────────────────────────────────────────────────────────────────────
def test_rewound_words_are_found_neither_by_search_nor_by_history_and_the_kept_ones_by_both(lab):
    """`to` stays and becomes the leaf; everything after it is gone from every answer."""
    kept = lab.say("the ferry leaves at nine")
    gone = lab.say("abandoned walrus words", role="assistant")
    more = lab.say("walrus again")
    writing.rewind(lab.home, OPERATOR, MAIN, kept)
    assert lab.ids("walrus", waitMs=0) == []
    assert lab.ids("ferry", waitMs=0) == [kept]
    assert lab.texts() == ["the ferry leaves at nine"]
    for message in (gone, more):
        with pytest.raises(NotFoundError):
            lab.history(messageId=message)
    fresh = lab.say("a seal instead")
    assert lab.texts() == ["the ferry leaves at nine", "a seal instead"]
    assert lab.ids("seal") == [fresh]
    assert lab.ids("walrus") == []


def test_a_title_made_of_abandoned_words_finds_nothing(lab):
    """The title is searched too, so it must not keep what a rewind took away."""
    kept = lab.say("how can I help", role="assistant")
    lab.say("abandoned walrus words")
    writing.rewind(lab.home, OPERATOR, MAIN, kept)
    assert lab.search("walrus")["results"] == []
    assert "walrus" not in str(lab.search("help"))


def test_a_fork_made_before_the_title_was_said_does_not_carry_the_title(lab):
    """A fork holds the path up to its point; words beyond it are not found in it, by its title neither."""
    start = lab.say("how can I help", role="assistant")
    lab.say("walrus plans")
    row = writing.fork(lab.home, OPERATOR, MAIN, start, new_key="agent:main:fork")
    assert "walrus" not in (row.facts.title or "")
    assert {hit["sessionKey"] for hit in lab.search("walrus")["results"]} == {MAIN}


def test_switching_back_finds_the_abandoned_words_again(lab):
    """An answer that is not complete yet says `indexing`; a search that may wait completes it."""
    kept = lab.say("the ferry leaves at nine")
    other = lab.say("abandoned walrus words")
    writing.rewind(lab.home, OPERATOR, MAIN, kept)
    seal = lab.say("a seal instead")
    writing.switch(lab.home, OPERATOR, MAIN, other)
    assert lab.texts() == ["the ferry leaves at nine", "abandoned walrus words"]
    at_once = lab.search("walrus", waitMs=0)
    found = [hit["messageId"] for hit in at_once["results"]]
    assert found == [other] or (found == [] and at_once["indexing"] is True and at_once["diagnostics"]["staleSessions"] == 1)
    assert lab.ids("seal", waitMs=0) == []
    later = lab.search("walrus", waitMs=2000)
    assert [hit["messageId"] for hit in later["results"]] == [other]
    assert "indexing" not in later
    assert lab.ids("ferry") == [kept]
    writing.switch(lab.home, OPERATOR, MAIN, seal)
    assert lab.ids("walrus", waitMs=2000) == []
    assert lab.ids("seal", waitMs=2000) == [seal]


def test_rewinding_to_an_abandoned_message_is_not_found_and_changes_nothing(lab):
    """A rewind goes back along the visible path; `switch` is for the rest."""
    kept = lab.say("the ferry leaves at nine")
    gone = lab.say("abandoned walrus words")
    writing.rewind(lab.home, OPERATOR, MAIN, kept)
    before = [event.body for event in lab.stored()]
    for target in (gone, "no-such-message"):
        with pytest.raises(NotFoundError):
            writing.rewind(lab.home, OPERATOR, MAIN, target)
    assert [event.body for event in lab.stored()] == before
    assert lab.texts() == ["the ferry leaves at nine"]


def test_a_reset_keeps_the_old_words_findable_and_openable(lab):
    """The session id stays; what search gives from before the reset, history opens."""
    old = lab.say("the ferry leaves at nine")
    before = lab.history()["sessionId"]
    row = writing.reset(lab.home, OPERATOR, MAIN)
    new = lab.say("now about the harbour")
    assert row.facts.session_id == before == lab.history()["sessionId"]
    assert lab.ids("ferry") == [old]
    assert lab.ids("harbour") == [new]
    around = lab.history(messageId=old)
    assert old in [message["messageId"] for message in around["messages"]]


def test_a_rewind_across_a_reset_is_a_conflict_and_changes_nothing(lab):
    """Nothing leads back across a reset, and the attempt leaves no trace."""
    old = lab.say("the ferry leaves at nine")
    writing.reset(lab.home, OPERATOR, MAIN)
    new = lab.say("now about the harbour")
    before, texts = [event.body for event in lab.stored()], lab.texts()
    for move in (writing.rewind, writing.switch):
        with pytest.raises(ConflictError):
            move(lab.home, OPERATOR, MAIN, old)
    assert [event.body for event in lab.stored()] == before
    assert lab.texts() == texts
    assert lab.ids("harbour", waitMs=0) == [new]
    assert lab.ids("ferry", waitMs=0) == [old]


def test_a_fork_is_one_result_of_two_copies_and_goes_its_own_way(lab):
    """Messages that a fork copied are one hit with `copies`; what is said in the fork is the fork's alone."""
    first = lab.say("the ferry leaves at nine")
    lab.say("walrus beyond the fork")
    row = writing.fork(lab.home, OPERATOR, MAIN, first)
    assert row.facts.forked_from == MAIN
    assert row.facts.spawned_by is None
    [hit] = lab.search("ferry")["results"]
    assert (hit["messageId"], hit["copies"]) == (first, 2)
    assert lab.texts(row.facts.key) == ["the ferry leaves at nine"]
    own = lab.say("a seal in the fork", key=row.facts.key)
    [hit] = lab.search("seal")["results"]
    assert (hit["messageId"], hit["sessionKey"]) == (own, row.facts.key)
    assert "copies" not in hit
    assert lab.texts() == ["the ferry leaves at nine", "walrus beyond the fork"]


def test_a_fork_at_an_abandoned_message_is_not_found(lab):
    """Only the visible path is copied, and no session is left behind."""
    kept = lab.say("the ferry leaves at nine")
    gone = lab.say("abandoned walrus words")
    writing.rewind(lab.home, OPERATOR, MAIN, kept)
    with pytest.raises(NotFoundError):
        writing.fork(lab.home, OPERATOR, MAIN, gone)
    assert lab.listed() == [MAIN]


# ── deleting, lineage, incognito ─────────────────────────────────────────────────────────────────────────────────
def test_a_deleted_session_is_found_nowhere_and_read_by_nobody(lab):
    """Gone from search, history, list and export when delete returns; a tombstone knows its ids; an append begins anew."""
    gone = lab.say("the ferry leaves at nine")
    session_id = lab.history()["sessionId"]
    tombstone = writing.delete(lab.home, OPERATOR, MAIN)
    assert (tombstone.key, tombstone.session_ids, tombstone.erased_at) == (MAIN, (session_id,), None)
    assert lab.search("ferry")["results"] == []
    assert lab.listed() == []
    for read in (lab.history, lambda: lab.history(messageId=gone), lab.exported, lambda: lab.history(session_id)):
        with pytest.raises(NotFoundError):
            read()
    with lab.home.store("main").reading() as view:
        assert view.tombstone(MAIN) is not None
        assert view.tombstone_by_id(session_id) is not None
    again = lab.say("a new beginning")
    assert lab.texts() == ["a new beginning"]
    assert lab.ids("beginning") == [again]
    assert lab.ids("ferry") == []
    with lab.home.store("main").reading() as view:
        assert view.tombstone(MAIN) is not None


def test_a_session_that_a_deleted_one_was_never_is_absent(lab):
    """Deleting what is not there is not found."""
    with pytest.raises(NotFoundError):
        writing.delete(lab.home, OPERATOR, MAIN)


def test_lineage_is_set_once(lab):
    """The same parent again is fine; another is a conflict and writes nothing; a session spawns not itself."""
    child = "agent:main:subagent:one"
    lab.say("first", key=child, by=MAIN)
    lab.say("second", key=child, by=MAIN)
    with pytest.raises(ConflictError) as caught:
        lab.say("third", key=child, by="agent:main:other")
    assert caught.value.details["field"] == "spawnedBy"
    assert lab.texts(child) == ["first", "second"]
    with pytest.raises(InputError):
        lab.say("me", key="agent:main:self", by="agent:main:self")
    with pytest.raises(ConflictError):
        writing.create(lab.home, OPERATOR, child)


@pytest.mark.parametrize(
    "key", ["agent:main:dashboard:incognito-1", "agent:main:subagent:Incognito-x", "agent:main:internal-session-effects:incognito-2"]
)
def test_incognito_sessions_are_refused(lab, key):
    """Never stored: by append, create or fork."""
    first = lab.say("the ferry leaves at nine")
    for write in (
        lambda: append(lab, "secret walrus", key=key),
        lambda: writing.create(lab.home, OPERATOR, key),
        lambda: writing.fork(lab.home, OPERATOR, MAIN, first, new_key=key),
    ):
        with pytest.raises(InputError, match="incognito"):
            write()
    assert lab.listed() == [MAIN]
    assert lab.search("walrus")["results"] == []


# ── who may write ────────────────────────────────────────────────────────────────────────────────────────────────
def test_a_session_may_write_to_itself_and_to_what_it_spawned_and_to_nothing_else(lab):
    """Also not by creating: a caller makes itself or its child, never a stranger."""
    me, child, stranger = "agent:main:work", "agent:main:subagent:kid", "agent:main:stranger"
    caller = Caller(me)
    lab.say("a stranger's words", key=stranger)
    append(lab, "mine", key=me, caller=caller)
    append(lab, "my child's", key=child, caller=caller, spawned_by=me)
    append(lab, "more of my child's", key=child, caller=caller)
    for key in (stranger, "agent:main:fresh", "agent:work:fresh"):
        with pytest.raises(NotFoundError):
            append(lab, "intrusion", key=key, caller=caller)
    assert lab.texts(stranger) == ["a stranger's words"]
    assert lab.listed() == sorted([me, child, stranger])
    with pytest.raises(NotVisibleError):
        writing.delete(lab.home, caller, me)


def test_a_session_may_not_rewind_reset_or_label_what_it_may_only_read(lab):
    """Reading is not writing: an agent's main session sees its agent's sessions and changes none."""
    first = lab.say("theirs", key="agent:main:other")
    lab.say("mine")
    caller = Caller(MAIN)
    assert lab.texts("agent:main:other", caller=caller) == ["theirs"]
    for write in (
        lambda: writing.rewind(lab.home, caller, "agent:main:other", first),
        lambda: writing.reset(lab.home, caller, "agent:main:other"),
        lambda: writing.patch(lab.home, caller, "agent:main:other", label="x"),
        lambda: writing.fork(lab.home, caller, "agent:main:other", first),
    ):
        with pytest.raises(NotVisibleError):
            write()
    assert len(lab.stored("agent:main:other")) == 1


def test_a_refused_append_by_a_session_makes_no_database(lab):
    """A caller that may not write leaves no agent behind."""
    lab.say("mine")
    with pytest.raises(NotFoundError):
        append(lab, "intrusion", key="agent:elsewhere:fresh", caller=Caller(MAIN))
    assert lab.home.engine.agents() == ["main"]


# ── facts ────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_labels_are_set_redacted_and_removed(lab):
    """A label is text that leaves, so it is redacted when it is stored; an empty one removes it; a long one is refused."""
    lab.say("hello")
    row = writing.patch(lab.home, OPERATOR, MAIN, label="ferry password=hunter2hunter2", archived=True)
    assert row.facts.label == "ferry password=[redacted:password]"
    assert row.facts.archived_at is not None
    row = writing.patch(lab.home, OPERATOR, MAIN, label="ferry <Private >heron</private>")
    assert row.facts.label == "ferry"
    assert writing.create(lab.home, OPERATOR, "agent:main:other", label="<private>heron").facts.label is None
    row = writing.patch(lab.home, OPERATOR, MAIN, label="", archived=False)
    assert (row.facts.label, row.facts.archived_at) == (None, None)
    with pytest.raises(InputError) as caught:
        writing.patch(lab.home, OPERATOR, MAIN, label="x" * (limits.LABEL_CODE_POINTS + 1))
    assert caught.value.details["field"] == "label"


def test_times_are_written_as_openclaw_writes_them():
    """ISO 8601 in UTC with milliseconds."""
    assert writing.iso(1_772_359_200_000) == "2026-03-01T10:00:00.000Z"
    assert writing.iso(0) == "1970-01-01T00:00:00.000Z"


def test_an_append_to_an_imported_session_survives_the_next_import(lab, tmp_path):
    """The file knows nothing of the message; its next line hangs after it instead of abandoning it."""
    folder = tmp_path / "agents" / "main" / "sessions"
    folder.mkdir(parents=True)
    lines = [
        {"type": "session", "version": 3, "id": "s1", "timestamp": "2026-03-01T10:00:00.000Z", "cwd": "/w"},
        {
            "type": "message",
            "id": "a",
            "parentId": None,
            "timestamp": "2026-03-01T10:00:01.000Z",
            "message": {"role": "user", "content": "plum tart"},
        },
    ]
    file = folder / "s1.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    importing.import_paths(lab.home, [tmp_path])
    key = "agent:main:import:s1"
    lab.say("we moved the ferry", key=key)
    later = {
        "type": "message",
        "id": "b",
        "parentId": "a",
        "timestamp": "2026-03-01T10:00:05.000Z",
        "message": {"role": "assistant", "content": "with quetsches"},
    }
    with file.open("a", encoding="utf-8") as handle:
        handle.write(json.dumps(later) + "\n")
    importing.import_paths(lab.home, [tmp_path])
    assert [len(lab.search(word)["results"]) for word in ("plum", "ferry", "quetsches")] == [1, 1, 1]


def test_what_was_deleted_does_not_come_back_when_its_key_is_used_again(lab, tmp_path):
    """An append to the key starts anew; a re-import brings nothing back, `--again` does, and says so."""
    file = tmp_path / "old.jsonl"
    lines = [
        {"type": "session", "version": 3, "id": "s1", "timestamp": "2026-03-01T10:00:00.000Z", "cwd": "/w"},
        {
            "type": "message",
            "id": "a",
            "parentId": None,
            "timestamp": "2026-03-01T10:00:01.000Z",
            "message": {"role": "user", "content": "plum tart"},
        },
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    importing.import_paths(lab.home, [file])
    key = "agent:main:import:s1"
    writing.delete(lab.home, OPERATOR, key)
    lab.say("hello again", key=key)
    account = importing.import_paths(lab.home, [file]).as_json()
    assert account["totals"]["skipped"] == {"deleted": 1}
    assert lab.search("plum")["results"] == []
    importing.import_paths(lab.home, [file], again=key)
    assert [len(lab.search(word)["results"]) for word in ("plum", "hello")] == [1, 1]
    with pytest.raises(NotFoundError):
        importing.import_paths(lab.home, [file], again="agent:main:import:nosuch")


def test_a_title_does_not_keep_what_a_rewind_abandoned(lab):
    """The session's title was its first human line; when that is rewound, the title goes with it."""
    first = lab.say("welcome aboard", role="assistant")
    lab.say("a walrus on the pier")
    assert lab.search("walrus")["results"][0]["title"] == "a walrus on the pier"
    writing.rewind(lab.home, OPERATOR, MAIN, first)
    assert "title" not in lab.search("welcome")["results"][0]
    assert lab.search("walrus")["results"] == []

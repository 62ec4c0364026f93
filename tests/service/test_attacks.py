"""What an attacker of the first version found, kept out: odd files, odd callers, odd text."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest

from wesaid.errors import InputError, NotFoundError, WesaidError
from wesaid.service import exporting, importing, opening, writing
from wesaid.values import OPERATOR, Caller

MAIN = "agent:main:main"
HEADER = {"type": "session", "version": 3, "id": "s1", "timestamp": "2026-03-01T10:00:00.000Z", "cwd": "/w"}


def message(name, text, **more):
    """An OpenClaw line."""
    return {
        "type": "message",
        "id": name,
        "parentId": None,
        "timestamp": "2026-03-01T10:00:01.000Z",
        "message": {"role": "user", "content": text},
    } | more


def written(path, *records, coding="utf-8", tail=""):
    """A transcript file."""
    text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records) + tail
    path.write_bytes((b"\xff\xfe" if coding == "utf-16-le" else b"") + text.encode(coding))
    return path


def texts_found(lab, *words):
    """How many hits each word has."""
    return [len(lab.search(word)["results"]) for word in words]


@pytest.mark.parametrize("kind", [{}, [], 7, None])
def test_a_block_whose_type_is_no_name_is_passed_over(lab, tmp_path, kind):
    """The message's other blocks are read, and so is the next file."""
    odd = [{"type": kind, "text": "lynx"}, {"type": "text", "text": "ocelot"}]
    written(tmp_path / "a.jsonl", HEADER, message("a", odd))
    written(tmp_path / "z.jsonl", HEADER | {"id": "s2"}, message("z", "margay"))
    account = importing.import_paths(lab.home, [tmp_path])
    assert account.failed == ()
    assert texts_found(lab, "ocelot", "margay", "lynx") == [1, 1, 0]


@pytest.mark.parametrize("coding", ["utf-8", "utf-16-le"])
def test_a_line_that_is_still_being_written_is_read_when_it_is_whole(lab, tmp_path, coding):
    """Pending first, imported then, in the file's own coding."""
    line = json.dumps(message("b", "second 评审", parentId="a"), ensure_ascii=False)
    path = written(tmp_path / "a.jsonl", HEADER, message("a", "first"), coding=coding, tail=line[:70])
    first = importing.import_paths(lab.home, [path]).as_json()["totals"]
    assert (first["imported"], first["pending"], first["damagedLines"]) == (1, 1, 0)
    with path.open("ab") as handle:
        handle.write((line[70:] + "\n").encode(coding))
    again = importing.import_paths(lab.home, [path]).as_json()["totals"]
    assert (again["imported"], again["pending"], again["damagedLines"]) == (1, 0, 0)
    assert texts_found(lab, "first", "second") == [1, 1]


def test_a_link_to_itself_hides_nothing_beside_it(lab, tmp_path):
    """It is no file; the folder's transcripts are."""
    written(tmp_path / "a.jsonl", HEADER, message("a", "heron"))
    (tmp_path / "x.jsonl").symlink_to("x.jsonl")
    assert importing.import_paths(lab.home, [tmp_path]).failed == ()
    assert texts_found(lab, "heron") == [1]


def test_two_files_that_disagree_about_a_parent_stop_nothing(lab, tmp_path):
    """Lineage once set stays; whatever one file's fate is, the others are imported and the account says so."""
    for name, session in (("a", "s1"), ("b", "s1")):
        main = {
            "type": "user",
            "uuid": f"{name}1",
            "parentUuid": None,
            "sessionId": session,
            "cwd": "/w",
            "message": {"role": "user", "content": f"{name} main"},
        }
        side = {
            "type": "user",
            "uuid": "x1",
            "parentUuid": None,
            "sessionId": session,
            "isSidechain": True,
            "agentId": "abc",
            "cwd": "/w",
            "message": {"role": "user", "content": "shared side"},
        }
        written(tmp_path / f"{name}.jsonl", main, side)
    last = {
        "type": "user",
        "uuid": "c1",
        "parentUuid": None,
        "sessionId": "s9",
        "cwd": "/w",
        "message": {"role": "user", "content": "curlew"},
    }
    written(tmp_path / "c.jsonl", last)
    importing.import_paths(lab.home, [tmp_path], tool="claude-code")
    assert texts_found(lab, "curlew") == [1]


def test_a_session_cannot_plant_sessions_in_another_agent(lab):
    """Neither by a fork nor by claiming to have spawned one; nor does trying make a database."""
    said = lab.say("the ferry leaves at nine")
    me = Caller(MAIN)
    for attempt in (
        lambda: writing.fork(lab.home, me, MAIN, said, new_key="agent:other:planted"),
        lambda: writing.create(lab.home, me, "agent:other:planted", spawned_by=MAIN),
        lambda: writing.append(lab.home, me, "agent:other:planted", [{"role": "user", "text": "x"}], spawned_by=MAIN),
    ):
        with pytest.raises(NotFoundError):
            attempt()
    assert lab.home.engine.agents() == ["main"]
    fork = writing.fork(lab.home, me, MAIN, said)
    assert fork.facts.spawned_by == MAIN


def test_a_session_cannot_give_itself_a_parent_later_and_nobody_makes_a_circle(lab):
    """Lineage is set when a session is made; a session never descends from itself."""
    lab.say("one", key="agent:main:x")
    lab.say("two", key="agent:main:y", by="agent:main:x")
    with pytest.raises(NotFoundError):
        writing.append(lab.home, Caller("agent:main:x"), "agent:main:x", [], spawned_by="agent:main:z")
    with pytest.raises(InputError):
        writing.append(lab.home, OPERATOR, "agent:main:x", [], spawned_by="agent:main:y")


def test_whether_a_hidden_session_exists_cannot_be_tried_out(lab):
    """Creating or forking onto a hidden key fails as it does onto any key that the caller may not write to."""
    lab.say("hidden", key="agent:main:hidden")
    said = lab.say("mine", key="agent:main:x")
    me = Caller("agent:main:x")
    with pytest.raises(NotFoundError):
        writing.create(lab.home, me, "agent:main:hidden", spawned_by="agent:main:x")
    with pytest.raises(NotFoundError):
        writing.fork(lab.home, me, "agent:main:x", said, new_key="agent:main:hidden")


@pytest.mark.parametrize(
    "attempt",
    [
        lambda lab: lab.search("ferry x\ud800y zebra"),
        lambda lab: lab.search("ferry", tool="\ud800"),
        lambda lab: lab.search("ferry", sessionKey="\ud800"),
        lambda lab: lab.history(messageId="\ud800"),
        lambda lab: writing.rewind(lab.home, OPERATOR, MAIN, "\ud800"),
        lambda lab: writing.fork(lab.home, OPERATOR, MAIN, "\ud800"),
        lambda lab: lab.exported("agent:main:\ud800"),
        lambda lab: importing.import_paths(lab.home, ["\ud800", "x\0y"]),
    ],
)
def test_text_that_is_no_unicode_is_answered_or_refused_clearly(lab, attempt):
    """Arguments that are not UTF-8 reach Python as lone surrogates; they raise our errors or none."""
    lab.say("the ferry leaves at nine")
    with suppress(WesaidError):
        attempt(lab)
    assert texts_found(lab, "ferry") == [1]


def test_a_record_nested_too_deep_is_exported_all_the_same(lab, tmp_path):
    """As text, redacted, when it is deeper than anything real."""
    deep = json.loads("[" * 300 + "]" * 300)
    written(tmp_path / "a.jsonl", HEADER, message("a", "heron", extra=deep))
    importing.import_paths(lab.home, [tmp_path / "a.jsonl"])
    lines = list(exporting.export(lab.home, OPERATOR, "agent:main:import:s1"))
    assert [json.loads(line)["type"] for line in lines] == ["session", "message"]


@pytest.mark.parametrize("caller", [None, MAIN, 3])
def test_who_reads_without_a_caller_is_told_so(lab, caller):
    """A forgotten caller is nobody, and not the operator."""
    lab.say("the ferry leaves at nine")
    with pytest.raises(InputError, match="caller"):
        lab.search("ferry", caller=caller)


def test_an_absolute_glob_leaves_out_what_it_names(tmp_path):
    """`import.ignore` may name a place of this machine."""
    folder = tmp_path / "in" / "private"
    folder.mkdir(parents=True)
    written(folder / "a.jsonl", HEADER, message("a", "heron"))
    written(tmp_path / "in" / "b.jsonl", HEADER | {"id": "s2"}, message("b", "egret"))
    with opening.open_home(tmp_path / "home", environ={"WESAID_IMPORT_IGNORE": str(folder)}) as home:
        account = importing.import_paths(home, [tmp_path / "in"]).as_json()
    assert account["totals"]["imported"] == 1


def test_a_secret_of_a_file_is_only_in_event_rows_of_the_store(tmp_path):
    """Whatever field it stands in: message, title, label, folder, branch name, tool call. The transcript keeps it, nothing made of it does."""
    key = "ghp_" + "Zq8kLmN3pQrS7tUvWxYz0123456789AbCdEf"
    main = tmp_path / "agents" / "main" / "sessions"
    main.mkdir(parents=True)
    written(
        main / "s1.jsonl",
        HEADER | {"cwd": f"/w/{key}"},
        message("a", f"my token {key} ok"),
        message(
            "b",
            [{"type": "text", "text": f"noted {key}"}, {"type": "toolCall", "id": "t", "name": "x", "arguments": {"k": key}}],
            parentId="a",
        ),
        {"type": "session_info", "id": "c", "parentId": "b", "timestamp": "2026-03-01T10:00:03.000Z", "name": f"title {key}"},
    )
    rows = {"agent:main:main": {"sessionId": "s1", "label": f"label {key}", "displayName": f"name {key}", "channel": key}}
    (main / "sessions.json").write_text(json.dumps(rows), encoding="utf-8")
    claude = tmp_path / "claude"
    claude.mkdir()
    said = {"role": "user", "content": f"my token {key}"}
    line = {
        "type": "user",
        "uuid": "u1",
        "parentUuid": None,
        "sessionId": "cc1",
        "cwd": f"/w/{key}",
        "gitBranch": f"b/{key}",
        "message": said,
    }
    written(claude / "cc1.jsonl", line, {"type": "summary", "summary": f"sum {key}", "leafUuid": "u1"})
    with opening.open_home(tmp_path / "home", environ={}) as home:
        assert importing.import_paths(home, [tmp_path / "agents", claude]).as_json()["totals"]["imported"] == 3
        tables = {agent: _tables_with(home.store(agent).connection, key) for agent in home.engine.agents()}
    assert tables == {"claude-code": {"event"}, "main": {"event"}}


def _tables_with(connection, text):
    """Names of the tables that hold a text, in any column of any row."""
    found = set()
    for (table,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'").fetchall():
        for row in connection.execute(f'SELECT * FROM "{table}"'):
            if any(text.encode() in (bytes(value) if isinstance(value, bytes) else str(value).encode()) for value in row):
                found.add(table)
    return found


def test_two_conversations_in_one_claude_file_are_two_sessions(lab, tmp_path):
    """The second begins with a root of its own: it does not abandon the first."""
    lines = [
        {"type": "user", "uuid": f"{sid}-{n}", "parentUuid": None if n == 0 else f"{sid}-{n - 1}", "sessionId": sid, "cwd": "/w",
         "timestamp": f"2026-03-01T10:00:0{n}.000Z", "message": {"role": "user", "content": f"{sid} {word}"}}
        for sid, words in (("cc1", ("kestrel", "osprey")), ("cc2", ("heron", "egret")))
        for n, word in enumerate(words)
    ]  # fmt: skip
    written(tmp_path / "cc1.jsonl", *lines)
    importing.import_paths(lab.home, [tmp_path], tool="claude-code")
    found = {word: [hit["sessionKey"] for hit in lab.search(word)["results"]] for word in ("kestrel", "osprey", "heron", "egret")}
    first, second = "agent:claude-code:import:cc1", "agent:claude-code:import:cc2"
    assert found == {"kestrel": [first], "osprey": [first], "heron": [second], "egret": [second]}
    assert importing.import_paths(lab.home, [tmp_path], tool="claude-code").as_json()["totals"]["unchanged"] == 4


@pytest.mark.parametrize("cut", ['{"x":1}', '{"text":"one"}', '{"k":{"v":2}}'])
def test_a_whole_record_behind_a_cut_one_is_kept_wherever_the_cut_is(lab, tmp_path, cut):
    """Also just after an inner object; the cut record is counted."""
    path = tmp_path / "a.jsonl"
    glued = (
        '{"type":"message","id":"b","parentId":"a","message":{"role":"user","content":['
        + cut
        + json.dumps(message("c", "glued osprey", parentId="a"))
    )
    written(path, HEADER, message("a", "first"), tail=glued + "\n")
    account = importing.import_paths(lab.home, [path]).as_json()["totals"]
    assert (account["imported"], account["damagedLines"]) == (2, 1)
    assert texts_found(lab, "osprey") == [1]


def test_a_message_that_is_wholly_private_is_shown_by_no_road(lab):
    """Found and shown nowhere, tools or not."""
    said = lab.say("<private>privsecretword</private>")
    lab.say("something else")
    assert lab.search("privsecretword")["results"] == []
    shown = json.dumps([lab.history(), lab.history(includeTools=True), lab.exported(format="md")])
    assert "privsecretword" not in shown
    with pytest.raises(NotFoundError):
        lab.history(messageId=said)


def test_a_session_takes_no_key_that_a_host_may_use_later(lab):
    """Whoever owned agent:main:main before its host would read and forge that conversation from then on."""
    lab.say("hello", key="agent:main:subagent:kid", by="agent:main:boss")
    kid = Caller("agent:main:subagent:kid", sandboxed=True)
    for key in (MAIN, "agent:main:cron:nightly", "agent:main:telegram:direct:77", "agent:main:import:s77"):
        with pytest.raises(NotFoundError):
            writing.create(lab.home, kid, key, spawned_by=kid.key)
    assert writing.create(lab.home, kid, "agent:main:subagent:helper", spawned_by=kid.key).facts.spawned_by == kid.key


def test_what_was_deleted_leaves_nothing_in_reading_states_either(lab, tmp_path):
    """A re-import of a deleted session keeps how far the file was read, and no word of it."""
    path = tmp_path / "cc1.jsonl"
    line = {
        "type": "user",
        "uuid": "u1",
        "parentUuid": None,
        "sessionId": "cc1",
        "cwd": "/w/quietfolder",
        "message": {"role": "user", "content": "confidentialwords"},
    }
    written(path, line)
    importing.import_paths(lab.home, [path], tool="claude-code")
    writing.delete(lab.home, OPERATOR, "agent:claude-code:import:cc1")
    importing.import_paths(lab.home, [path], tool="claude-code")
    with path.open("a", encoding="utf-8") as handle:
        handle.write(json.dumps(line | {"uuid": "u2", "parentUuid": "u1"}) + "\n")
    importing.import_paths(lab.home, [path], tool="claude-code")
    with lab.home.store("claude-code").reading() as view:
        states = json.dumps([dict(state.state) for state in view.sources()])
    assert "confidentialwords" not in states
    assert "quietfolder" not in states


def test_asking_for_a_secret_moves_no_result(lab):
    """A session whose only message is the query ranks last; which message that is must not tell what was redacted in it."""
    for key, value in (("agent:main:a", "tide-4711-xyzzy"), ("agent:main:b", "tide-9000-plugh")):
        lab.say(f"vpn password: {value}", key=key)
    orders = [
        [hit["sessionKey"] for hit in lab.search(f"vpn password: {value}")["results"]]
        for value in ("tide-4711-xyzzy", "tide-9000-plugh", "tide-1234-abcde")
    ]
    assert orders[0] == orders[1] == orders[2]
    assert len(orders[0]) == 2


@pytest.mark.parametrize("at", [3960, 3985, 3995, 3999])
def test_a_secret_across_the_cut_of_a_tools_result_is_hidden_before_it_is_cut(lab, tmp_path, at):
    """History cuts at 4 000 code points; the whole text is redacted first, so that no half of a key is left standing."""
    key = "ghp_" + "Zq8kLmN3pQrS7tUvWxYz0123456789AbCdEf"
    tool = {
        "role": "toolResult",
        "toolCallId": "t",
        "toolName": "x",
        "content": [{"type": "text", "text": "x " * (at // 2) + key + " end"}],
    }
    written(tmp_path / "a.jsonl", HEADER, message("a", "run it"), message("b", "", parentId="a") | {"message": tool})
    importing.import_paths(lab.home, [tmp_path / "a.jsonl"])
    shown = json.dumps(lab.history("agent:main:import:s1", includeTools=True))
    assert key[:8] not in shown
    assert "x x x" in shown

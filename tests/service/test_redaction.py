"""Claims about every road by which a text leaves: none carries a secret, and no question confirms one. All secrets here are invented."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wesaid import api, limits
from wesaid.errors import WesaidError
from wesaid.rules import redact, searchable
from wesaid.rules.redact import Redactor
from wesaid.service import erasing, importing, listing, methods, opening, reconciling, searching, wire, writing
from wesaid.service.preparing import prepare
from wesaid.values import EVERYTHING, OPERATOR, Caller, Event

MAIN = "agent:main:main"
EXAMPLES = [(rule.kind, text, secret) for rule in redact.RULES for text, secret in rule.examples]
ONE_EACH = [(rule.kind, *rule.examples[0]) for rule in redact.RULES]
SK = "sk-test-Zq8Wv7Xu6Yt5Sr4Pn3Mk2"
SPLITS = ("", "\u200b", "\x1b[1m", "%00")

ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def runs(secret: str) -> set[str]:
    """Every run of six characters, line ends apart."""
    return {run for line in secret.split("\n") for run in (line[at : at + 6] for at in range(len(line) - 5))}


def leaves(value):
    """Every text in an answer; names of fields apart, which are ours, and ids, which may look like a piece of a key by chance."""
    if isinstance(value, str):
        yield from () if ID.fullmatch(value) else (value,)
    elif isinstance(value, dict):
        yield from (name for name in value if not re.fullmatch("[A-Za-z_]{1,24}", name))
        yield from (leaf for inner in value.values() for leaf in leaves(inner))
    elif isinstance(value, list | tuple):
        yield from (leaf for inner in value for leaf in leaves(inner))


def shown(answer: object) -> str:
    """An answer as it reads: JSON's escapes undone, placeholders apart."""
    text = "\n".join(leaves(answer))
    return redact.PLACEHOLDER.sub("\n", text.replace("\\n", "\n").replace('\\"', '"').replace("\\\\", "\\"))


def unlike(secret: str) -> str:
    """Another secret of the same kind and shape: what the kind has in common stays, everything else differs."""
    anchors = sorted((anchor for rule in redact.RULES for anchor in rule.anchors if secret.lower().startswith(anchor)), key=len)
    kept = len(anchors[-1]) if anchors else 0
    turned = str.maketrans(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", "bcdefahijklmnopqrstuvwxyzgBCDEFAHIJKLMNOPQRSTUVWXYZG1234567890"
    )
    return secret[:kept] + secret[kept:].translate(turned)


def put(lab, record, key=MAIN):
    """Append an OpenClaw record as it is."""
    event = Event(nav=searchable.nav_of(record), type=record["type"], timestamp=record.get("timestamp", 0), record=record)
    with lab.home.store("main").writing() as writer:
        writer.append(key, [prepare(lab.home.redactor, "openclaw", event)])


def listed(home, **params):
    return wire.sessions_json(listing.sessions(home, OPERATOR, methods.convert(methods.ListParams, params)))


def everything(lab, queries):
    """What leaves a home by search, history, list and export."""
    yield from (lab.search(query, detail=detail, context=3) for query in queries for detail in ("snippet", "full"))
    yield lab.history()
    yield lab.history(includeTools=True)
    yield listed(lab.home, includeDerivedTitles=True, includeLastMessage=True)
    yield from (lab.exported(format=name) for name in ("md", "jsonl"))
    yield str(api.Store(lab.home).session(MAIN).info())


@pytest.mark.parametrize(("kind", "text", "secret"), ONE_EACH)
def test_a_secret_of_each_kind_leaves_by_no_road(lab, kind, text, secret):
    """As what was said (and so the title), as a label, in a tool's arguments and result: no six characters anywhere."""
    lab.say(f"walrus {text}")
    lab.say(f"the boat of the walrus\n{text}", role="assistant")
    call = {"type": "toolCall", "id": "c1", "name": "exec", "arguments": {"command": text, "list": [text], text: "x"}}
    put(lab, {"type": "message", "id": "t1", "message": {"role": "assistant", "content": [call, {"type": "text", "text": "walrus"}]}})
    put(lab, {"type": "message", "id": "t2", "message": {"role": "toolResult", "content": [{"type": "text", "text": f"out {text}"}]}})
    if len(text) <= limits.LABEL_CODE_POINTS:
        writing.patch(lab.home, OPERATOR, MAIN, label=text)
    for answer in everything(lab, ["walrus", text[:4000]]):
        assert not {run for run in runs(secret) if run in shown(answer)}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(EXAMPLES), st.integers(0, 400), st.sampled_from(SPLITS), st.data())
def test_wherever_it_stands_no_cut_shows_a_part_of_it(lab, one, before, split, data):
    """At any offset, across the excerpt's edge, split by what cannot be seen: the whole is redacted, then cut."""
    _, text, secret = one
    at = data.draw(st.integers(0, len(text)))
    key = f"agent:main:{lab.home.new_id()}"  # a session of its own: another example's words may be like this one's secret
    filler = ("harbour light " * 40)[:before]
    lab.say(f"{filler} {text[:at]}{split}{text[at:]} walrus {'quay ' * 80}", key=key)
    for query in ("walrus", "harbour", "quay"):
        said = shown(lab.search(query, sessionKey=key)["results"])
        assert not {run for run in runs(secret) if run in said}
    said = shown(listed(lab.home, search=key, includeDerivedTitles=True, includeLastMessage=True))
    assert not {run for run in runs(secret) if run in said}


def test_arguments_whose_name_stands_beside_them_leave_by_no_road(lab):
    """Flags, pairs, nests and plurals in a tool's arguments, by exports and by history with tools."""
    lab.say("walrus")
    value = "t1detable9Kd"
    arguments = {"argv": ["psql", "--password", value], "headers": [{"name": "X-Api-Key", "value": value}], "password": {"value": value},
                 "curl": ["curl", "-u", f"bob:{value}"], "apiKeys": [value], "cookies": [{"name": "sid", "value": value}], "pin": ["token", value]}  # fmt: skip
    call = {"type": "toolCall", "id": "c1", "name": "exec", "arguments": arguments}
    put(lab, {"type": "message", "id": "t1", "message": {"role": "assistant", "content": [call, {"type": "text", "text": "walrus"}]}})
    for answer in everything(lab, ["walrus"]):
        assert value not in str(answer)
    assert "[redacted:" in str(lab.exported(format="jsonl"))
    assert "[redacted:" in str(lab.history(includeTools=True))


def test_blocks_of_one_message_are_one_text(lab):
    """A name in one block and its value in the next are read together, as they are shown."""
    lab.say("hello")
    key = "-----BEGIN RSA PRIVATE KEY-----"
    body = "MIIEpAIBAAKCAQEAr3y9Zw0dQmTtq2Jw1VxVb7c1mPqGZ8K4nB5sD6fH7jL8kQ1w"
    put(
        lab,
        {
            "type": "message",
            "id": "b1",
            "message": {"role": "user", "content": [{"type": "text", "text": one} for one in (f"walrus {key}", body)]},
        },
    )
    for answer in (lab.search("walrus"), lab.history(), lab.exported(format="md")):
        assert not {run for run in runs(body) if run in shown(answer)}


@pytest.mark.parametrize(("kind", "text", "secret"), ONE_EACH)
def test_a_secret_parted_by_blocks_leaves_by_no_road(lab, kind, text, secret):
    """Its first two characters in one text block, the rest in the next."""
    lab.say("hello")
    at = text.find(secret) + 2
    content = [{"type": "text", "text": one} for one in (f"walrus {text[:at]}", f"{text[at:]} quay")]
    put(lab, {"type": "message", "id": "b2", "message": {"role": "user", "content": content}})
    for answer in everything(lab, ["walrus", "quay"]):
        assert not {run for run in runs(secret) if run in shown(answer)}


@pytest.mark.parametrize(("kind", "text", "secret"), [one for one in ONE_EACH if re.fullmatch(r"\S+", one[2])])
def test_no_question_confirms_a_secret(lab, kind, text, secret):
    """A prefix, a phrase, the whole: the same answer as for other characters of the same shape that nobody ever said."""
    lab.say(f"walrus {text} quay")
    lab.say("nothing of the kind", role="assistant")
    other = unlike(secret)
    middle = len(secret) // 2
    for cut in (slice(0, 6), slice(0, middle), slice(middle, None), slice(2, -2)):
        for shape in ("{}", "{}*", '"{}"', "{} walrus", "-{} walrus"):
            asked, guess = (shape.format(one[cut].strip("-_.:/=+ ")) for one in (secret, other))
            answers = [
                [{name: value for name, value in hit.items() if name not in {"score", "missing"}} for hit in lab.search(query)["results"]]
                for query in (asked, guess)
            ]
            assert answers[0] == answers[1], (asked, guess)


def test_errors_do_not_repeat_a_secret(tmp_path, lab):
    """A query, a key, a message id, an agent or a path that holds one is named without it, through every face."""
    store = api.Store(lab.home)
    calls = (
        lambda: store.search(f"after:{SK}", caller=OPERATOR),
        lambda: store.search("x", caller=OPERATOR, session_key=SK),
        lambda: store.search("x", caller=OPERATOR, agent_ids=[SK]),
        lambda: store.history(f"agent:main:{SK}", caller=OPERATOR),
        lambda: store.session(f"agent:main:{SK}"),
        lambda: list(store.export(SK, caller=OPERATOR)),
        lambda: store.search("x", caller=Caller(SK)),
        lambda: store.session(MAIN, create=True).rewind(SK),
    )
    for call in calls:
        with pytest.raises(WesaidError) as caught:
            call()
        assert SK[3:] not in f"{caught.value} {caught.value.as_json()} {caught.value!r}"


def test_an_import_tells_no_secret(tmp_path):
    """Of a path, a folder or a session's project: neither account, nor progress, nor list."""
    folder = tmp_path / SK / "projects"
    folder.mkdir(parents=True)
    line = {"type": "user", "uuid": "u1", "parentUuid": None, "sessionId": "s1", "cwd": f"/home/{SK}/ferry", "timestamp": "2026-03-01T10:00:00Z",
            "message": {"role": "user", "content": f"the ferry {SK}"}}  # fmt: skip
    (folder / f"{SK}.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    seen: list[str] = []
    with opening.open_home(tmp_path / "home", environ={}) as home:
        account = importing.import_paths(home, [folder], tool="claude-code", progress=lambda _done, _all, name: seen.append(name))
        assert account.totals.imported == 1
        rows = listed(home, includeDerivedTitles=True, includeLastMessage=True)
        said = f"{account.as_json()} {account.failed} {seen} { {**rows, 'sessions': [{**row, 'key': ''} for row in rows['sessions']]} }"
    assert SK[3:] not in said


def test_changed_patterns_redact_old_rows_on_the_way_out(tmp_path):
    """What was stored under other rules leaves by the present ones; the row itself waits for its renewal."""
    with opening.open_home(tmp_path, environ={}) as home:
        writing.append(home, OPERATOR, MAIN, [{"role": "user", "text": "the ferry FERRY-0042 leaves"}])
        writing.patch(home, OPERATOR, MAIN, label="label FERRY-0042")
    (tmp_path / "config.toml").write_text("[redaction]\npatterns = ['FERRY-\\d{4}']\n", encoding="utf-8")
    with opening.open_home(tmp_path, environ={"A_TOKEN": "leaves42"}) as home:
        store = api.Store(home)
        said = f"{store.search('ferry', caller=OPERATOR)} {store.history(MAIN, caller=OPERATOR)} {store.sessions(caller=OPERATOR)}"
        said += f"{list(store.export(MAIN, caller=OPERATOR))} {list(store.export(MAIN, caller=OPERATOR, format='md'))} {store.session(MAIN).info()}"
    assert "FERRY-0042" not in said
    assert said.count("[redacted:custom]") >= 6


@pytest.mark.parametrize("query", ["kumquat8841*", "kumq*", "kumquat8841xyzz", "-plain kumquat8841*", "8841*"])
def test_changed_patterns_let_no_question_confirm_what_older_rows_and_titles_hold(tmp_path, query):
    """Not the beginning of it, before anything is renewed (nobody may write) nor after; other words of the same rows are found all along."""
    secret = "kumquat8841xyzzy"
    with opening.open_home(tmp_path, environ={}) as home:
        writing.append(
            home, OPERATOR, MAIN, [{"role": "user", "text": f"title {secret} please"}, {"role": "assistant", "text": f"it is {secret} now"}]
        )
        writing.create(home, OPERATOR, "agent:main:label", label=f"label {secret}")
        writing.append(home, OPERATOR, "agent:main:label", [{"role": "user", "text": "plain"}])
        with home.store("main").writing() as writer:
            writer.patch(MAIN, replace(writer.session(MAIN).facts, project=f"/w/{secret}"))
    (tmp_path / "config.toml").write_text('[redaction]\npatterns = ["kumquat[0-9]{4}[a-z]{5}"]\n')

    def hits(home, asked):
        return {hit.session_key for hit in searching.search(home, OPERATOR, methods.SearchParams(query=asked, wait_ms=0)).hits}

    with opening.open_home(tmp_path, environ={}) as home:
        blocker = apsw.Connection(str(tmp_path / "agents" / "main" / "agent.sqlite"))
        blocker.execute("BEGIN IMMEDIATE")
        assert hits(home, query) == set()
        assert hits(home, "label") == {"agent:main:label"}
        assert hits(home, "please") == {MAIN}
        blocker.execute("ROLLBACK")
        blocker.close()
        assert reconciling.reconcile(home, seconds=60) == 0
        assert erasing.erase(home, ["main"], seconds=60)
        assert hits(home, query) == set()
        assert hits(home, "label") == {"agent:main:label"}
        with home.store("main").reading() as view:
            for row in view.sessions(EVERYTHING):
                assert secret not in repr((row.facts.title, row.facts.label, row.facts.project))
            assert view.renewing(limit=1) is None
    db = apsw.Connection(str(tmp_path / "agents" / "main" / "agent.sqlite"))
    assert [word for (word,) in db.execute("SELECT word FROM word") if "8841" in word or word == "kumquat"] == []
    assert db.execute("SELECT count(*) FROM titles WHERE titles MATCH 'kumquat8841xyzzy'").get == 0
    db.close()


def test_values_of_the_environment_leave_by_no_road(tmp_path):
    """Also those that were stored before the variable was set."""
    with opening.open_home(tmp_path, environ={}) as home:
        writing.append(home, OPERATOR, MAIN, [{"role": "user", "text": "the ferry tide-table-42 leaves"}])
    with opening.open_home(tmp_path, environ={"FERRY_PASSWORD": "tide-table-42"}) as home:
        writing.append(home, OPERATOR, MAIN, [{"role": "user", "text": "another ferry tide-table-42"}])
        store = api.Store(home)
        said = f"{store.search('ferry', caller=OPERATOR)} {store.history(MAIN, caller=OPERATOR)} {store.sessions(caller=OPERATOR)}"
        said += f"{list(store.export(MAIN, caller=OPERATOR))} {store.session(MAIN).info()}"
        with home.store("main").reading() as view:
            assert [event.redact_version for event in view.path(view.windows(MAIN)[-1].window, start=0, count=9)] == [redact.VERSION] * 2
    assert "tide-table-42" not in said
    assert "[redacted:environment]" in said


def test_a_bad_pattern_stops_the_program_at_start(tmp_path):
    """With the reason, before anything is read."""
    (tmp_path / "config.toml").write_text("redaction.patterns = ['(a+)+x']\n", encoding="utf-8")
    with pytest.raises(WesaidError, match="a repetition inside a repetition"):
        opening.open_home(tmp_path, environ={})


def test_patterns_in_the_environment_stand_one_a_line(tmp_path):
    """A comma is part of many patterns."""
    with opening.open_home(tmp_path, environ={"WESAID_REDACTION_PATTERNS": "ab{2,3}c\nFERRY-[0-9]{4}"}) as home:
        assert home.redactor.redact("abbc FERRY-0042") == "[redacted:custom] [redacted:custom]"
        assert home.redactor == Redactor.of(("ab{2,3}c", "FERRY-[0-9]{4}"), {})

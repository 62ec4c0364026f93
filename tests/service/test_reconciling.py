"""Claims about rebuilding: it ends, it keeps progress, it touches only what is in scope, and what results equals a fresh index."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from wesaid import limits
from wesaid.rules import fold
from wesaid.service import alive, doctor, listing, methods, opening, reconciling, searching, wire, writing
from wesaid.values import EVERYTHING, OPERATOR, Caller, Scope, Term, Versions

MAIN = "agent:main:main"
A_MOMENT = 1e-6  # seconds: over before the first slice is


def stale(lab, agent="main"):
    with lab.home.store(agent).reading() as view:
        return view.stale(EVERYTHING, limit=100)


@pytest.fixture
def switched(disk):
    """A session of several slices whose index is gone, since its branch was left and taken again."""
    first = disk.say("the ferry leaves at nine")
    long = disk.say_all([f"walrus number{number}" for number in range(2 * limits.REBUILD_SLICE_ROWS + 10)])
    writing.rewind(disk.home, OPERATOR, MAIN, first)
    while reconciling.reconcile(disk.home, seconds=2):
        pass
    writing.switch(disk.home, OPERATOR, MAIN, long[-1])
    return disk


def test_looking_alone_changes_nothing(switched):
    """Zero seconds: how many windows are stale, and they stay so."""
    before = stale(switched)
    reconciling.settle(switched.home, {"main": EVERYTHING}, seconds=0)
    assert len(before) == 1
    assert stale(switched) == before


def test_one_slice_is_progress_that_is_kept(switched):
    """However little time there is, repeated calls end; another process goes on where one stopped."""
    keeps = [stale(switched)[0].keep]
    while found := stale(switched):
        keeps.append(found[0].keep)
        reconciling.settle(switched.home, {"main": EVERYTHING}, seconds=A_MOMENT)
        assert len(keeps) < 100
    assert keeps == sorted(keeps)
    assert len(set(keeps[1:])) == len(keeps[1:]) >= 3


def test_what_was_rebuilt_is_found_as_if_it_had_never_been_stale(switched):
    """Every message once, with the count of the session right."""
    assert reconciling.reconcile(switched.home, seconds=30) == 0
    for number in (0, limits.REBUILD_SLICE_ROWS, 2 * limits.REBUILD_SLICE_ROWS + 9):
        assert len(switched.ids(f"number{number}", waitMs=0)) == 1
    with switched.home.store("main").reading() as view:
        assert view.session(MAIN).message_count == 2 * limits.REBUILD_SLICE_ROWS + 11
        assert view.totals()["messages"] == 2 * limits.REBUILD_SLICE_ROWS + 11


def test_only_what_is_in_scope_is_rebuilt(switched):
    """A search does not work for sessions that its caller may not see, nor count them."""
    other = Scope(keys=frozenset({"agent:main:other"}))
    before = stale(switched)
    reconciling.settle(switched.home, {"main": other}, seconds=5)
    assert stale(switched) == before
    with switched.home.store("main").reading() as view:
        assert reconciling.stale_sessions(view, other) == 0
        assert reconciling.stale_sessions(view, EVERYTHING) == 1


def test_a_healthy_home_has_nothing_to_do(lab):
    """Nor has one without agents."""
    assert reconciling.reconcile(lab.home, seconds=1) == 0
    lab.say("hello")
    assert reconciling.reconcile(lab.home, seconds=1) == 0


def test_a_session_deleted_meanwhile_is_done(switched):
    """Its window is nobody's any more."""
    writing.delete(switched.home, OPERATOR, MAIN)
    assert stale(switched) == []
    assert reconciling.reconcile(switched.home, seconds=5) == 0


def test_an_agent_that_is_gone_is_passed_over():
    """Scopes may name what another process removed."""
    with opening.memory_home() as home:
        reconciling.settle(home, {"main": EVERYTHING}, seconds=1)
        assert home.engine.agents() == []


# ── the time in between ──────────────────────────────────────────────────────────────────────────────────────────
def drop(home):
    with home.store("main").writing() as writer:
        writer.drop_index()


def test_an_index_that_is_gone_is_made_again_beginning_with_the_next_search(disk):
    """The first answer says that it is not complete, those meanwhile hold nothing wrong and never less, and in the end all is found."""
    said = disk.say_all([f"common walrus number{number}" for number in range(4 * limits.REBUILD_SLICE_ROWS)])
    drop(disk.home)
    first = disk.search("walrus", waitMs=0, limit=25, order="newest")
    assert first["indexing"] is True
    assert first["diagnostics"]["staleSessions"] == 1
    seen = [first]
    while seen[-1].get("indexing"):
        seen.append(disk.search("walrus", waitMs=0, limit=25, order="newest"))
        assert len(seen) < 10_000  # it takes some hundred
    assert all({hit["messageId"] for hit in page["results"]} <= set(said) for page in seen)
    assert [hit["messageId"] for hit in seen[-1]["results"]] == said[:-26:-1]
    assert "staleSessions" not in seen[-1]["diagnostics"] or seen[-1]["diagnostics"]["staleSessions"] == 0
    assert len(disk.ids("number0", waitMs=0)) == len(disk.ids(f"number{len(said) - 1}", waitMs=0)) == 1


def test_a_short_rest_is_done_while_the_search_waits(disk):
    """What fits into the wait is done before the answer, which is then complete."""
    said = disk.say_all([f"walrus number{number}" for number in range(20)])
    drop(disk.home)
    page = disk.search("number7")
    assert "indexing" not in page
    assert [hit["messageId"] for hit in page["results"]] == [said[7]]


def test_indexing_is_said_of_what_the_caller_may_see_and_of_nothing_else(disk):
    """Another session's rows are missing: the caller's answer is complete, and says so; of the other one it does not."""
    writing.create(disk.home, OPERATOR, "agent:main:subagent:a")
    disk.say("ferry one", key="agent:main:subagent:a")
    disk.say("ferry two", key="agent:main:subagent:b")
    drop(disk.home)
    reconciling.settle(disk.home, {"main": Scope(keys=frozenset({"agent:main:subagent:a"}))}, seconds=5)
    mine = disk.search("ferry", caller=Caller("agent:main:subagent:a"), waitMs=0)
    assert [hit["sessionKey"] for hit in mine["results"]] == ["agent:main:subagent:a"]
    assert "indexing" not in mine


def test_rows_of_an_older_redactor_serve_and_are_renewed(tmp_path):
    """With a new pattern of a person's own, what it hides leaves nowhere from the first answer on, and in the end is not in the index either."""
    with opening.open_home(tmp_path / "home", environ={}) as home:
        writing.append(home, OPERATOR, MAIN, [{"role": "user", "text": "the ticket is ZEBRA-4711 for the ferry"}])
    (tmp_path / "home" / "config.toml").write_text('[redaction]\npatterns = ["ZEBRA-[0-9]+"]\n', encoding="utf-8")
    with opening.open_home(tmp_path / "home", environ={}) as home:
        page = searching.search(home, OPERATOR, methods.SearchParams(query="ferry", wait_ms=0))
        assert "ZEBRA" not in page.hits[0].snippet
        assert not page.indexing  # every row is there
        assert reconciling.reconcile(home, seconds=30) == 0
        with home.store("main").reading() as view:
            [event] = view.path(view.windows(MAIN)[-1].window, start=0, count=9)
            assert event.redact_version == home.redactor.version == view.versions().redact
            assert view.frequency(Term(text="zebra", tokens=("zebra",)), EVERYTHING, bound=9) == 0
            assert view.frequency(Term(text="ferry", tokens=("ferry",)), EVERYTHING, bound=9) == 1


def test_patterns_that_change_while_rows_are_renewed_hold_for_all_of_them(tmp_path):
    """Rows that the pattern before had renewed already are renewed by the new one as well."""
    messages = [{"role": "user", "text": f"ticket ZEBRA-{n} of the OKAPI-{n} ferry"} for n in range(2 * limits.REBUILD_SLICE_ROWS + 10)]
    with opening.open_home(tmp_path / "home", environ={}) as home:
        writing.append(home, OPERATOR, MAIN, messages)
    for patterns, seconds in (('"ZEBRA-[0-9]+"', A_MOMENT), ('"ZEBRA-[0-9]+", "OKAPI-[0-9]+"', 30)):
        (tmp_path / "home" / "config.toml").write_text(f"[redaction]\npatterns = [{patterns}]\n", encoding="utf-8")
        with opening.open_home(tmp_path / "home", environ={}) as home:
            reconciling.settle(home, {"main": EVERYTHING}, seconds=seconds)
            with home.store("main").reading() as view:
                events = view.path(view.windows(MAIN)[-1].window, start=0, count=len(messages))
                renewed = sum(event.redact_version == home.redactor.version for event in events)
                left = view.frequency(Term(text="okapi", tokens=("okapi",)), EVERYTHING, bound=len(messages))
    assert (renewed, left) == (len(messages), 0)


def test_an_older_program_does_not_undo_what_a_newer_one_made(disk):
    """Its rows are left as they are."""
    disk.say("the ferry")
    newer = Versions(fold.VERSION + 1, disk.home.redactor.version)
    with disk.home.store("main").writing() as writer:
        writer.mark(newer)
    reconciling.settle(disk.home, {"main": EVERYTHING}, seconds=1)
    assert disk.ids("ferry")
    with disk.home.store("main").reading() as view:
        assert view.versions() == newer


def test_while_another_process_has_the_turn_a_search_does_not_do_the_same_work(disk):
    """It answers what there is and says that there is more to come; when the turn is given back, it does it."""
    disk.say("a title")
    disk.say("the ferry")
    drop(disk.home)
    store, now = disk.home.store("main"), disk.home.now()
    with store.writing() as writer:
        assert writer.turn("somebody else", now=now, until=now + limits.TURN_MS) == "somebody else"
    page = disk.search("ferry", waitMs=50)
    assert page["indexing"] is True
    assert page["results"] == []
    with store.writing() as writer:
        assert writer.turn("somebody else", now=now, until=0) == "somebody else"
    while disk.search("ferry", waitMs=50).get("indexing"):
        pass
    assert disk.ids("ferry")


def test_the_turn_of_a_process_that_was_killed_is_taken_over_at_once(disk):
    """Its name says which it was; nobody waits for its time to be over."""
    disk.say("a title")
    disk.say("the ferry")
    drop(disk.home)
    gone = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True, check=True
    ).stdout.strip()
    holder = disk.home.owner.replace(f":{os.getpid()}@", f":{gone}@")
    now = disk.home.now()
    with disk.home.store("main").writing() as writer:
        writer.turn(holder, now=now, until=now + limits.TURN_MS)
    assert "indexing" not in disk.search("ferry", waitMs=2000)
    assert alive.is_gone(holder)
    assert not alive.is_gone(disk.home.owner)
    assert not any(
        alive.is_gone(name) for name in ("somebody", f"x:{gone}@another-host", "x:y@z", "", f"x:{2**70}@{alive.name().partition('@')[2]}")
    )


def test_a_store_that_is_being_written_to_does_not_keep_a_search_waiting(disk):
    """Somebody holds the write lock: the search answers from what there is."""
    disk.say("the ferry")
    drop(disk.home)
    with opening.open_home(disk.home.path, environ={}) as other, other.store("main").writing():
        assert disk.search("ferry", waitMs=1)["indexing"] is True


def test_what_nobody_could_mark_yet_serves_and_says_that_it_is_not_complete(disk, monkeypatch):
    """Rows of older rules in a store that is being written to: found, and `indexing`."""
    disk.say("the ferry")
    monkeypatch.setattr(fold, "VERSION", fold.VERSION + 1)
    assert stale(disk) == []
    with opening.open_home(disk.home.path, environ={}) as other, other.store("main").writing():
        page = disk.search("ferry", waitMs=1)
    assert page["indexing"] is True
    assert len(page["results"]) == 1


def test_rows_of_older_folding_serve_and_are_renewed(lab, monkeypatch):
    """After an upgrade: found all the while, `indexing` until the last is made anew, and then by the new rules."""
    lab.say_all([f"the ferry number{n}" for n in range(5)])
    monkeypatch.setattr(fold, "VERSION", fold.VERSION + 1)
    meanwhile = lab.search("ferry", limit=25, sessionKey=MAIN, waitMs=0)
    assert (len(meanwhile["results"]), meanwhile["indexing"]) == (5, True)
    lab.home.background.stop()
    assert reconciling.reconcile(lab.home, seconds=30) == 0
    with lab.home.store("main").reading() as view:
        assert view.versions() == Versions(fold.VERSION, lab.home.redactor.version)
    page = lab.search("ferry", limit=25, sessionKey=MAIN, waitMs=0)
    assert (len(page["results"]), "indexing" in page) == (5, False)


def test_rules_that_change_while_windows_are_half_done_hold_for_all_of_them(switched, monkeypatch):
    """What was renewed by the rules before is renewed once more."""
    reconciling.settle(switched.home, {"main": EVERYTHING}, seconds=A_MOMENT)
    assert stale(switched)[0].keep > 0
    monkeypatch.setattr(fold, "VERSION", fold.VERSION + 1)
    assert reconciling.reconcile(switched.home, seconds=30) == 0
    assert [finding.code for finding in doctor.doctor(switched.home).findings] == []


def test_a_turn_is_given_back_when_nothing_is_left(disk, another):
    """The next one who has something to do need not wait for it to run out."""
    disk.say("the ferry")
    for one in (disk, another, disk):
        drop(disk.home)
        assert "indexing" not in one.search("ferry", waitMs=200)


def test_nothing_that_was_made_of_abandoned_messages_is_shown(lab):
    """Words, neighbours, last messages, titles, history and exports follow the visible path, also where they were asked for before (field report B62)."""

    def everything():
        found = [
            lab.search(query, context=3, detail="full") for query in ("zeppelin", '"a zeppelin leaves"', "zepp*", "zepelin", "ferry leaves")
        ]
        asked = {"includeLastMessage": True, "includeDerivedTitles": True, "messageLimit": 20}
        listed = wire.sessions_json(listing.sessions(lab.home, OPERATOR, methods.convert(methods.ListParams, asked)))
        exported = [lab.exported(format="md"), lab.exported(caller=Caller(MAIN))]
        return json.dumps([found, listed, lab.history(), exported])

    kept = lab.say("which ferry leaves")
    lab.say("a zeppelin leaves at noon", role="assistant")
    lab.say("then the zeppelin it is")
    assert "zeppelin" in everything()
    writing.rewind(lab.home, OPERATOR, MAIN, kept)
    assert "zeppelin" not in everything()
    lab.say("the ferry leaves at nine", role="assistant")
    assert "zeppelin" not in everything()


# ── branches of imported windows ─────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("rows", [1, 700])
def test_a_rewind_of_any_size_is_complete_at_once(disk, rows):
    """The very next answer has no abandoned message and every kept one, and says so: hidden rows that wait to be cleared make nothing incomplete."""
    first = disk.say("ferry first")
    disk.say_all([f"ferry walrus {number}" for number in range(rows)])
    writing.rewind(disk.home, OPERATOR, MAIN, first)
    page = disk.search("ferry", waitMs=0)
    assert [hit["messageId"] for hit in page["results"]] == [first]
    assert "indexing" not in page
    assert disk.ids("walrus", waitMs=0) == []
    assert reconciling.reconcile(disk.home, seconds=30) == 0
    assert stale(disk) == []
    assert disk.ids("walrus") == []


def test_an_agent_that_cannot_be_worked_on_takes_no_other_with_it(disk):
    """Its file is cut off: what is stale in the others is made whole in the background all the same."""
    disk.say("a title", key="agent:zebra:main")
    disk.say("the ferry", key="agent:zebra:main")
    disk.say("the walrus", key="agent:broken:main")
    with disk.home.store("zebra").writing() as writer:
        writer.drop_index()
    path = disk.home.path
    disk.home.close()
    broken = path / "agents" / "broken" / "agent.sqlite"
    broken.write_bytes(broken.read_bytes()[:4096])
    broken.with_name("agent.sqlite-wal").unlink(missing_ok=True)
    with opening.open_home(path, environ={}) as home:
        reconciling._go_on(home, ["broken", "zebra"], lambda: False)
        with home.store("zebra").reading() as view:
            assert view.stale(EVERYTHING, limit=9) == []

"""What sessions promise: facts, lineage, deletion with a tombstone, sources and totals."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine_tools import KEY, OTHER, add, begin, count, facts, found, ids, say
from wesaid.errors import ConflictError, InputError, NotFoundError
from wesaid.values import EVERYTHING, Facts, Scope, SourceState, WindowSpec

FULL = Facts(
    key=KEY,
    session_id="s-1",
    dialect="claude-code",
    kind="main",
    title="A title",
    label="a label",
    tool="claude-code",
    project="/home/me",
    created_at=5,
    updated_at=7,
    archived_at=9,
    spawned_by=OTHER,
    forked_from="agent:main:third",
    extra={"model": "x", "nested": {"list": [1, None, "ü"]}},
)
SOURCE = SourceState(
    path="/t/a.jsonl", tool="pi", size=10, mtime_ns=2**62, offset=9, head_digest="d", state={"line": 3, "é": [None]}, keys=(KEY,)
)


def test_facts_are_kept_as_they_were_given(store):
    """Every field, and the extra ones of a foreign record."""
    with store.writing() as writer:
        made = writer.create(FULL)
    assert made.facts == FULL
    with store.reading() as view:
        assert view.session(KEY) == made
        assert view.session_by_id("s-1", EVERYTHING) == made
        assert view.session("agent:main:unknown") is None
        assert view.session_by_id("unknown", EVERYTHING) is None
        assert (made.message_count, made.stale, made.source_path, made.source_missing) == (0, False, None, False)


def test_what_is_out_of_scope_stands_in_nobodys_way(store):
    """By window id, by event id and among forks: a newer session that is not in scope hides none that is."""
    mine = Scope(keys=frozenset({KEY}))
    begin(store, say("m1", "ferry"), session_id="same", forked_from="agent:main:third")
    for number in range(30):
        begin(store, say("m1", "ferry", step=9), key=f"agent:main:other{number}", session_id="same", forked_from=KEY)
    with store.reading() as view:
        assert view.session_by_id("same", mine).facts.key == KEY
        assert view.session_by_id("same", EVERYTHING).facts.key == "agent:main:other0"
        assert [row.facts.key for row in view.sessions_with("m1", mine)] == [KEY]
        assert KEY not in [row.facts.key for row in view.sessions_with("m1", EVERYTHING)]
        assert view.forks(mine) == [(KEY, "agent:main:third")]
        assert len(view.forks(EVERYTHING)) == 31
        assert view.session_by_id("same", Scope(keys=frozenset())) is None


def test_sessions_are_listed_latest_first_in_scope_and_in_pages(store):
    """Ties by key."""
    with store.writing() as writer:
        for n, moment in enumerate([5, 9, 5, 1]):
            writer.create(facts(f"agent:main:s{n}", updated_at=moment))
    order = [f"agent:main:s{n}" for n in (1, 0, 2, 3)]
    scope = Scope(keys=frozenset(order[1:]))
    with store.reading() as view:
        assert [row.facts.key for row in view.sessions(EVERYTHING)] == order
        assert [row.facts.key for row in view.sessions(EVERYTHING, offset=1, limit=2)] == order[1:3]
        assert [row.facts.key for row in view.sessions(scope, limit=2)] == order[1:3]
        assert view.count_sessions(EVERYTHING) == 4
        assert view.count_sessions(scope) == 3


def test_a_patch_replaces_facts_and_keeps_key_and_lineage(store):
    """A title may be taken away, the parent may not."""
    begin(store, say("a", "needle"), title="old", spawned_by=OTHER)
    with store.writing() as writer:
        patched = writer.patch(KEY, facts(label="new", updated_at=3))
    assert (patched.facts.title, patched.facts.label, patched.facts.updated_at) == (None, "new", 3)
    assert patched.facts.spawned_by == OTHER
    with store.reading() as view:
        assert view.session(KEY) == patched
        assert view.children(OTHER) == [KEY]
    assert ids(store, "needle") == ["a"]
    assert count(store) == 1


def test_a_different_parent_is_a_conflict(store):
    """The block fails whole; a first parent may be set, the same one set again."""
    begin(store)
    with store.writing() as writer:
        writer.patch(KEY, facts(spawned_by=OTHER))
        writer.patch(KEY, facts(spawned_by=OTHER))
    with pytest.raises(ConflictError), store.writing() as writer:
        writer.patch(KEY, facts(spawned_by="agent:main:third", title="lost"))
    with store.reading() as view:
        assert view.session(KEY).facts == facts(spawned_by=OTHER)
    with pytest.raises(NotFoundError), store.writing() as writer:
        writer.patch(OTHER, facts(OTHER))


def test_children_are_those_that_a_session_spawned(store):
    """By key, sorted, whether or not the parent is here."""
    for name in ("c", "b"):
        begin(store, key=f"agent:main:{name}", spawned_by="agent:other:main")
    begin(store, key=OTHER)
    with store.reading() as view:
        assert view.children("agent:other:main") == ["agent:main:b", "agent:main:c"]
        assert view.children(OTHER) == []


def test_a_deleted_session_is_neither_found_nor_read(store):
    """In the deleting transaction: messages, path, title, ids; a tombstone stays with the ids of its windows."""
    begin(store, say("a", "needle"), title="haystack")
    add(store, say("b", "needle", step=1), window=WindowSpec(session_id="next", ordinal=1))
    begin(store, say("c", "needle", step=2), key=OTHER)
    with store.reading() as view:
        windows = [w.window for w in view.windows(KEY)]
    with store.writing() as writer:
        tombstone = writer.delete(KEY, 77)
        assert writer.session(KEY) is None
    assert (tombstone.key, set(tombstone.session_ids), tombstone.deleted_at, tombstone.erased_at) == (KEY, {"id-main", "next"}, 77, None)
    assert [hit.key for hit in found(store, "needle")] == [OTHER]
    with store.reading() as view:
        assert view.session(KEY) is None
        assert view.session_by_id("next", EVERYTHING) is None
        assert view.windows(KEY) == []
        assert [view.events(w, limit=9) + view.path(w, start=0, count=9) for w in windows] == [[], []]
        assert view.locate(KEY, "a") is None
        assert view.known_ids(KEY, ["a"]) == set()
        assert view.tombstone(KEY) == view.tombstone_by_id("next") == view.tombstone_by_id("id-main") == tombstone
        assert view.tombstone(OTHER) is None
        assert view.indexed(EVERYTHING, bound=9) == 1
    with pytest.raises(NotFoundError):
        add(store, say("d", "needle", step=9))
    with pytest.raises(NotFoundError), store.writing() as writer:
        writer.delete(KEY, 78)


def test_a_session_made_anew_has_nothing_of_the_old_one_and_keeps_its_tombstone(store):
    """Same key, same ids: only what is appended now; a re-import still knows what was deleted."""
    begin(store, say("a", "needle"))
    with store.reading() as view:
        before = view.session(KEY).token
    with store.writing() as writer:
        writer.delete(KEY, 77)
    begin(store, say("b", "needle", step=1))
    assert ids(store, "needle") == ["b"]
    assert count(store) == 1
    with store.reading() as view:
        assert view.tombstone(KEY).deleted_at == 77
        assert view.tombstone_by_id("id-main").key == KEY
        assert view.session(KEY).token != before


def test_a_tombstone_can_be_lifted_without_a_session(store):
    """``lift`` forgets it; lifting what is not there does nothing."""
    begin(store)
    with store.writing() as writer:
        writer.delete(KEY, 77)
        writer.lift(KEY)
        writer.lift(OTHER)
    with store.reading() as view:
        assert view.tombstone(KEY) is None
        assert view.tombstone_by_id("id-main") is None
        assert view.session(KEY) is None


def test_a_deleted_number_never_names_another_session(store):
    """Tokens are never reused."""
    seen = set()
    for n in range(3):
        begin(store, say("a", "needle"))
        with store.reading() as view:
            seen.add(view.session(KEY).token)
        assert len(seen) == n + 1
        with store.writing() as writer:
            writer.delete(KEY, n)


def test_a_source_is_remembered_with_what_it_said(store):
    """Round trip, replacement, order by path, and the session's view of it."""
    begin(store)
    other = replace(SOURCE, path="/t/0.jsonl", keys=(), missing=True)
    with store.writing() as writer:
        writer.note_source(SOURCE)
        writer.note_source(other)
    with store.reading() as view:
        assert view.source(SOURCE.path) == SOURCE
        assert view.source("/t/unknown") is None
        assert view.sources() == [other, SOURCE]
        assert (view.session(KEY).source_path, view.session(KEY).source_missing) == (SOURCE.path, False)
    gone = replace(SOURCE, offset=99, missing=True)
    with store.writing() as writer:
        writer.note_source(gone)
    with store.reading() as view:
        assert view.sources() == [other, gone]
        assert view.session(KEY).source_missing


def test_a_source_is_forgotten_when_its_block_fails(store):
    """How far a file was read commits with what it said, or not at all."""
    begin(store)

    def fail(writer):
        writer.append(KEY, [say("a", "needle")])
        writer.note_source(SOURCE)
        raise InputError("x")

    with pytest.raises(InputError), store.writing() as writer:
        fail(writer)
    with store.reading() as view:
        assert view.source(SOURCE.path) is None
    assert ids(store, "needle") == []


def test_totals_count_everything(store):
    """Sessions, windows, events, indexed messages, tombstones; storage has a size."""
    begin(store, say("a", "needle"), say("t", "x", role="toolResult", step=1))
    add(store, say("b", "hay", step=2), window=WindowSpec(session_id="next", ordinal=1))
    begin(store, say("c", "hay"), key=OTHER)
    with store.writing() as writer:
        writer.delete(OTHER, 5)
    with store.reading() as view:
        totals = dict(view.totals())
    assert totals.pop("bytes") > 0
    assert totals == {"sessions": 1, "windows": 2, "events": 3, "messages": 2, "stale": 0, "tombstones": 1}


def test_agents_are_the_ones_that_have_a_database(engine):
    """Made on demand, opened once, listed sorted, and apart from each other."""
    assert engine.agents() == []
    assert engine.store("main") is None
    main, work = engine.store("main", create=True), engine.store("work", create=True)
    assert engine.store("main") is main
    assert (main.agent_id, work.agent_id) == ("main", "work")
    assert engine.agents() == ["main", "work"]
    begin(main, say("a", "needle"))
    assert ids(work, "needle") == []
    with pytest.raises(InputError):
        engine.store("../escape", create=True)

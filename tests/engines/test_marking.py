"""Rows without an index, or with one that older rules made, are told without looking at them all, and serve until they are renewed."""

from __future__ import annotations

import json
from pathlib import Path

import apsw
import pytest

from engine_tools import FEW, KEY, OTHER, add, check_index, complete, current, facts, leaf, open_engine, prepared, say, snapshot
from wesaid import limits
from wesaid.engines.sqlite.records import SHIFT, SHOWN, pack_body, pack_nav
from wesaid.errors import ConflictError, StoreBusyError
from wesaid.values import EVERYTHING, UNKNOWN, Scope, Versions

VECTORS = json.loads((Path(__file__).parent.parent / "fixtures" / "branch_vectors.json").read_text())
WORDS = ("alpha", "beta", "gamma")
NEWER = Versions(99, 99)


def filled(store, number=6):
    """Two sessions, one of them rewound, with a title each."""
    with store.writing() as writer:
        for key in (KEY, OTHER):
            writer.create(facts(key, title="gamma delta"))
            writer.append(key, [say(f"m{n}", f"{WORDS[n % 2]} {n}", step=n) for n in range(number)])
        writer.append(OTHER, [leaf("l", "m1", step=number)])
    return store


def stale(store, scope=EVERYTHING):
    with store.reading() as view:
        return {window.key: (window.keep, window.left) for window in view.stale(scope, limit=FEW)}


def versions(store):
    with store.reading() as view:
        return view.versions()


def marked(store, rules=NEWER):
    with store.writing() as writer:
        writer.mark(rules)


def begin_twice(writer):
    writer.create(facts())
    writer.append(KEY, [say("a", "alpha")])
    writer.create(facts())


# ── rules ────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_the_first_row_says_by_which_rules_it_was_made(store):
    """Before it there is nothing to renew; a transaction that fails leaves no word of it."""
    assert versions(store) is None
    with pytest.raises(ConflictError), store.writing() as writer:
        begin_twice(writer)
    assert versions(store) is None
    filled(store)
    assert versions(store) == Versions(1, 1)


def test_rows_of_older_rules_serve_until_each_is_renewed(store):
    """Marked, everything is still found; completed, every row is of the new rules and nothing else changed."""
    before = snapshot(filled(store), WORDS)
    marked(store)
    assert set(stale(store)) == {KEY, OTHER}
    assert snapshot(store, WORDS)["matches"] == before["matches"]
    check_index(store, WORDS)
    assert complete(store, slice_rows=2) > 2
    after = snapshot(store, WORDS)
    assert {name: part for name, part in after.items() if name in ("matches", "frequencies", "indexed")} == {
        name: part for name, part in before.items() if name in ("matches", "frequencies", "indexed")
    }
    with store.reading() as view:
        rows = [
            event
            for row in view.sessions(EVERYTHING)
            for w in view.windows(row.facts.key)
            for event in view.path(w.window, start=0, count=FEW)
        ]
        assert {event.redact_version for event in rows} == {NEWER.redact}
        assert view.versions() == NEWER


def test_rows_of_an_older_redactor_lack_nothing_and_those_of_an_older_fold_do(store):
    """The words of the former find them as before."""
    filled(store)

    def lacking():
        with store.reading() as view:
            return {window.key for window in view.stale(EVERYTHING, limit=FEW, lacking=True)}, view.session(KEY).stale

    marked(store, Versions(1, 2))
    assert set(stale(store)) == {KEY, OTHER}
    assert lacking() == (set(), False)
    complete(store, slice_rows=2)
    assert stale(store) == {}
    marked(store, Versions(2, 2))
    assert lacking() == ({KEY, OTHER}, True)
    complete(store, slice_rows=2)
    assert lacking() == (set(), False)
    marked(store, Versions(2, 3))
    marked(store, Versions(3, 3))
    assert lacking() == ({KEY, OTHER}, True)
    add(store, leaf("m", "m2", step=9))  # a rewind meanwhile
    complete(store, slice_rows=2)
    assert stale(store) == {}
    check_index(store, WORDS)


def test_marking_for_the_same_rules_changes_nothing(store):
    """Nor does marking an empty store make anything stale."""
    marked(store)
    assert stale(store) == {}
    filled(store)
    marked(store, Versions(1, 1))
    marked(store, Versions(1, 1))
    complete(store)
    marked(store, Versions(1, 1))
    assert stale(store) == {}


def test_a_gap_holds_what_is_left_and_no_more_than_asked_for(store):
    """Gaps follow one another; after the last there is none. What is read of each scope is its own."""
    filled(store)
    marked(store)
    window = current(store)
    with store.reading() as view:
        first = view.unindexed(window, NEWER, limit=4)
        second = view.unindexed(window, NEWER, start=first.end, limit=4)
        assert [event.id for event in (*first.events, *second.events)] == [f"m{n}" for n in range(6)]
        assert (first.start, first.end, second.start, second.end) == (0, 4, 4, 6)
        assert view.unindexed(window, NEWER, start=second.end, limit=4) is None
        assert view.unindexed(window + 1000, NEWER, limit=4) is None
        assert [event.id for event in view.unindexed(window, Versions(1, 1), limit=4).events] == []
    assert set(stale(store, Scope(keys=frozenset({OTHER})))) == {OTHER}
    assert stale(store, Scope(keys=frozenset())) == {}
    assert set(stale(store, Scope(keys=frozenset({KEY, OTHER, "agent:main:x", "agent:main:y"})))) == {KEY, OTHER}


def test_a_dropped_index_is_filled_again_from_the_transcript(store):
    """What it had, and what the visible path says: the abandoned message stays out."""
    before = snapshot(filled(store), WORDS)
    with store.writing() as writer:
        writer.drop_index()
    assert set(stale(store)) == {KEY, OTHER}
    check_index(store, WORDS)
    complete(store, slice_rows=2)
    assert snapshot(store, WORDS) == before


# ── an index that is gone ────────────────────────────────────────────────────────────────────────────────────────
@pytest.fixture
def sqlite(tmp_path):
    """A store, and how to open it anew after somebody else has had the file."""
    path = tmp_path / "agents" / "main" / "agent.sqlite"

    class Sqlite:
        engine = open_engine("sqlite", tmp_path)
        store = filled(engine.store("main", create=True))

        def elsewhere(self, *statements):
            """Run statements as another program would, and open the store anew."""
            self.engine.close()
            db = apsw.Connection(str(path))
            for statement in statements:
                db.execute(*statement) if isinstance(statement, tuple) else db.execute(statement)
            db.close()
            self.engine = open_engine("sqlite", tmp_path)
            self.store = self.engine.store("main")
            return self.store

    made = Sqlite()
    yield made
    made.engine.close()


LOSSES = {
    "dropped": ("DROP TABLE words",),
    "emptied": ("INSERT INTO words (words) VALUES ('delete-all')",),
    "entries": ("DELETE FROM entry",),
    "both": ("DELETE FROM entry", "INSERT INTO words (words) VALUES ('delete-all')"),
    "titles": ("DROP TABLE titles",),
    "everything": ("DROP TABLE words", "DROP TABLE titles", "DROP TABLE entry"),
    "sizes": ("DELETE FROM words_docsize",),
}


@pytest.mark.parametrize("loss", LOSSES)
def test_an_index_that_was_lost_is_noticed_and_made_again(sqlite, loss):
    """Whatever of it is gone: afterwards everything is as it was, and not one row of the transcript changed."""
    before = snapshot(sqlite.store, WORDS)
    store = sqlite.elsewhere(*LOSSES[loss])
    with store.reading() as view:
        assert view.unmarked()
        rules = view.versions()
    marked(store, rules)
    with store.reading() as view:
        assert not view.unmarked()
    complete(store, slice_rows=2)
    assert snapshot(store, WORDS) == before
    check_index(store, WORDS)


def test_a_healthy_index_is_not_taken_for_a_lost_one(sqlite):
    """Also not when the newest messages, or all of them, were deleted."""
    with sqlite.store.writing() as writer:
        writer.delete(OTHER, 1)
    with sqlite.store.reading() as view:
        assert not view.unmarked()
    with sqlite.store.writing() as writer:
        writer.delete(KEY, 1)
    with sqlite.store.reading() as view:
        assert not view.unmarked()


@pytest.mark.parametrize("name", VECTORS)
def test_rows_that_another_program_wrote_without_an_index_get_path_and_index(sqlite, name):
    """Session, window and events alone, as a restored backup or an older program leaves them: OpenClaw's own path is found, for each of its vectors."""
    events = [prepared(event) for event in VECTORS[name]["events"]]
    window = 1 + current(sqlite.store, OTHER)
    rows = [
        ("INSERT INTO event (place, id, type, nav, parent, target, append_parent, timestamp, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
         ((window << SHIFT) + seq, e.event.nav.id, e.event.type, pack_nav(e.event.nav) | (SHOWN if e.shown else 0), e.event.nav.parent, e.event.nav.target,
          e.event.nav.append_parent, e.event.timestamp, pack_body(e.body)))
        for seq, e in enumerate(events)
    ]  # fmt: skip
    store = sqlite.elsewhere(
        "INSERT INTO session (key, session_id, dialect, kind, created_at, updated_at) VALUES ('agent:main:new', 'S', 'openclaw', 'other', 1, 1)",
        "INSERT INTO window (session, session_id, ordinal, reason, created_at, findable, cursor)"
        " SELECT token, 'S', 0, 'initial', 1, 1, '{}' FROM session WHERE key = 'agent:main:new'",
        *rows,
    )
    with store.reading() as view:
        assert view.unmarked()
    marked(store, Versions(1, 1))
    assert OTHER not in stale(store)
    complete(store, slice_rows=2)
    with store.reading() as view:
        path = view.path(window, start=0, count=FEW)
        assert [event.seq for event in path] == VECTORS[name]["expected"]["activeSeqs"]
        indexed = [event.id for event in path if event.redact_version is not None]
        assert indexed == [row["messageId"] for row in VECTORS[name]["expected"]["fts"]]
        assert view.windows("agent:main:new")[0].events == len(events)


def test_what_is_missing_is_told_by_the_same_few_steps_in_any_store(tmp_path):
    """Two thousand sessions cost what twenty do."""
    steps = {}
    for number in (20, 2000):
        store = open_engine("sqlite", tmp_path / str(number)).store("main", create=True)
        with store.writing() as writer:
            for n in range(number):
                writer.create(facts(f"agent:main:s{n}"))
                writer.append(f"agent:main:s{n}", [say("a", "alpha", step=n)])
        taken = [0]
        with store.reading() as view:
            view.unmarked()
            view._db.set_progress_handler(lambda taken=taken: taken.__setitem__(0, taken[0] + 1) or False, 1)
            assert not view.unmarked()
            assert view.stale(EVERYTHING, limit=10) == []
            view._db.set_progress_handler(None)
        steps[number] = taken[0]
        store.close()
    assert steps[2000] <= steps[20] + 20


def test_versions_that_are_not_known_are_unknown(sqlite):
    """A database of the first schema, whose rows may be of several rules."""
    store = sqlite.elsewhere("UPDATE meta SET value = -1 WHERE name IN ('fold', 'redact')")
    assert versions(store) == UNKNOWN


# ── turns ────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_one_at_a_time_has_the_turn_until_it_is_over_or_given_back(store):
    """It may be renewed; a time that no clock of ours can have meant holds nobody up."""
    far = 10 * limits.TURN_MS_MAX
    with store.writing() as writer:
        assert writer.turn("a", now=1000, until=2000) == "a"
        assert writer.turn("b", now=1500, until=2500) == "a"
        assert writer.turn("a", now=1900, until=2900) == "a"
        assert writer.turn("b", now=2500, until=3000) == "a"
        assert writer.turn("b", now=2901, until=3900) == "b"
        assert writer.turn("a", now=3000, until=0) == "b"
        assert writer.turn("b", now=3000, until=0) == "b"
        assert writer.turn("a", now=3001, until=3001 + far) == "a"
        assert writer.turn("b", now=3002, until=4000) == "b"
        assert writer.turn("c", now=3003, until=4000, instead_of="a") == "b"
        assert writer.turn("c", now=3003, until=4000, instead_of="b") == "c"


def test_who_will_not_wait_is_told_that_the_store_is_busy(sqlite, tmp_path):
    """Another process writes, or another thread; afterwards the store is as usable as before."""
    other = open_engine("sqlite", tmp_path).store("main")
    with other.writing() as writer:
        writer.append(KEY, [say("x", "beta")])
        with pytest.raises(StoreBusyError), sqlite.store.writing(seconds=0.01):
            pass
    add(sqlite.store, say("y", "beta"))
    with sqlite.store.reading() as view:
        assert view.known_ids(KEY, ["x", "y"]) == {"x", "y"}
    other.close()


@pytest.mark.parametrize("value", ["x", "[]", '["a", "b"]', "null", "[" * 100_000, 7])
def test_damaged_notes_are_as_good_as_none(sqlite, value):
    """A turn that nobody can read is anybody's; rules that nobody can read are unknown, so that all rows are looked at once."""
    changes = [("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)", (name, value)) for name in ("turn", "fold", "redact")]
    store = sqlite.elsewhere(*changes)
    with store.writing() as writer:
        assert writer.turn("a", now=1, until=2) == "a"
    assert versions(store) in {UNKNOWN, Versions(7, 7)}
    marked(store, Versions(1, 1))
    complete(store)
    assert versions(store) == Versions(1, 1)
    check_index(store, WORDS)

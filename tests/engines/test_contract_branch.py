"""What moves of the branch promise: the index holds what the visible path holds, or the window is stale and right below its mark."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine_tools import (
    FEW,
    KEY,
    OTHER,
    add,
    at,
    begin,
    check_index,
    complete,
    count,
    current,
    facts,
    ids,
    leaf,
    path_ids,
    prepared,
    record,
    say,
)
from wesaid.rules import branch
from wesaid.values import EVERYTHING, Prepared, WindowSpec

VECTORS = json.loads((Path(__file__).parent.parent / "fixtures" / "branch_vectors.json").read_text())
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "common")


def line(number: int) -> list[Prepared]:
    """A conversation m0 … of the words above."""
    return [say(f"m{n}", f"{WORDS[n]} common", step=n) for n in range(number)]


def test_a_rewound_message_is_not_found_and_the_kept_ones_are(store):
    """A leaf control back to m1: its suffix is gone in the same transaction, its prefix never was away."""
    begin(store, *line(5))
    add(store, leaf("l", "m1", step=9))
    assert path_ids(store) == ["m0", "m1"]
    assert ids(store, "common") == ["m1", "m0"]
    assert [ids(store, word) for word in WORDS[:5]] == [["m0"], ["m1"], [], [], []]
    assert count(store) == 2
    with store.reading() as view:
        assert view.stale(EVERYTHING, limit=9) == []
        assert view.locate(KEY, "m3") is None
        assert view.locate(KEY, "m1").position == 1
        assert view.event(current(store), "m3").position is None


def test_a_conversation_goes_on_after_a_rewind(store):
    """What is appended then is found, what was abandoned stays away."""
    begin(store, *line(4))
    add(store, leaf("l", "m0", step=8))
    add(store, say("n", "five common", step=9))
    assert path_ids(store) == ["m0", "n"]
    assert ids(store, "common") == ["n", "m0"]


def test_a_long_rewind_hides_its_suffix_at_once(store):
    """More rows than an engine may want to drop in one transaction: none is found, and completing leaves the prefix."""
    begin(store, *(say(f"m{n}", "common", step=n) for n in range(700)))
    add(store, leaf("l", "m2", step=800))
    assert ids(store, "common") == ["m2", "m1", "m0"]
    complete(store, slice_rows=100)
    assert ids(store, "common") == ["m2", "m1", "m0"]
    assert count(store) == 3
    with store.reading() as view:
        assert view.indexed(EVERYTHING, bound=FEW) == 3


@pytest.mark.parametrize("purged", [False, True])
def test_a_long_rewind_taken_back_is_as_it_was(store, purged):
    """To the beginning and back again, before or after the hidden rows were cleared: found, counted and complete."""
    begin(store, *(say(f"m{n}", "common", step=n) for n in range(700)))
    add(store, leaf("l", "m2", step=800))
    if purged:
        complete(store, slice_rows=100)
    add(store, leaf("k", "m699", step=801))
    assert len(path_ids(store)) == 700
    complete(store, slice_rows=100)
    assert len(ids(store, "common")) == 700
    assert count(store) == 700
    with store.reading() as view:
        assert view.indexed(EVERYTHING, bound=FEW) == 700


def test_a_switch_to_another_branch_shows_its_prefix_at_once_and_the_rest_when_complete(store):
    """m0-m1-m2, then a branch n2-n3 from m1, then back to m2: the index never holds a word of n, and m2 after completing."""
    begin(store, *line(3), say("n2", "four common", parentId="m1", step=5), say("n3", "five common", step=6))
    assert path_ids(store) == ["m0", "m1", "n2", "n3"]
    add(store, leaf("l", "m2", step=9))
    assert path_ids(store) == ["m0", "m1", "m2"]
    assert [ids(store, word) for word in ("zero", "one", "four", "five")] == [["m0"], ["m1"], [], []]
    check_index(store, WORDS)
    complete(store, slice_rows=1)
    assert ids(store, "common") == ["m2", "m1", "m0"]
    assert count(store) == 3


def test_an_append_to_a_stale_window_is_on_its_path(store):
    """Between a switch and its completion a message arrives: nothing is lost or found twice."""
    begin(store, *line(3), say("n2", "four common", parentId="m1", step=5))
    add(store, leaf("l", "m2", step=7))
    add(store, say("x", "six common", step=9))
    assert path_ids(store) == ["m0", "m1", "m2", "x"]
    check_index(store, WORDS)
    complete(store)
    assert ids(store, "common") == ["x", "m2", "m1", "m0"]
    assert count(store) == 4


def test_a_rewind_of_a_stale_window_leaves_only_its_prefix(store):
    """A switch and, before it is complete, a rewind below the divergence."""
    begin(store, *line(4), say("n2", "five common", parentId="m1", step=5))
    add(store, leaf("l", "m3", step=7))
    add(store, leaf("k", "m0", step=8))
    assert path_ids(store) == ["m0"]
    assert ids(store, "common") == ["m0"]
    complete(store)
    assert ids(store, "common") == ["m0"]
    assert count(store) == 1


def test_a_sibling_cuts_the_path_and_is_found_at_once(store):
    """An append whose parent is on the path but is not its end: an edit of an earlier prompt."""
    begin(store, *line(4))
    (placed,) = add(store, say("n", "six common", parentId="m1", step=9))
    assert placed.indexed
    assert path_ids(store) == ["m0", "m1", "n"]
    assert ids(store, "common") == ["n", "m1", "m0"]
    with store.reading() as view:
        assert view.stale(EVERYTHING, limit=9) == []


def test_a_leaf_to_nothing_clears_the_path(store):
    """Nothing is found or visible, and the next message starts anew."""
    begin(store, *line(3))
    add(store, leaf("l", None, step=7))
    assert path_ids(store) == []
    assert ids(store, "common") == []
    assert count(store) == 0
    add(store, say("n", "four common", step=9))
    assert ids(store, "common") == ["n"]


def test_a_side_append_is_never_found(store):
    """Neither at once, nor when the main line goes on after it, nor when that names it as its parent."""
    begin(store, *line(2), say("s", "six common", appendMode="side", parentId="m1", step=5))
    assert ids(store, "six") == []
    add(store, say("n", "five common", parentId="s", step=6))
    assert path_ids(store) == ["m0", "m1", "n"]
    complete(store)
    assert ids(store, "common") == ["n", "m1", "m0"]


def test_an_unknown_parent_does_not_break_the_path(store):
    """A parent that nobody knows: the message follows the leaf."""
    begin(store, *line(2), say("n", "five common", parentId="gone", step=6))
    complete(store)
    assert ids(store, "common") == ["n", "m1", "m0"]


def test_what_was_said_before_a_reset_stays_findable(store):
    """A reset event is a boundary for the model, not for search; and no leaf leads back across it."""
    begin(store, *line(2), prepared(record("r", "reset", reason="new", timestamp=at(5))), say("n", "five common", step=6))
    assert ids(store, "common") == ["n", "m1", "m0"]
    add(store, leaf("l", "m0", step=7))
    complete(store)
    assert ids(store, "common") == ["n", "m1", "m0"]


def test_a_rebuild_changes_nothing_that_is_right(store):
    """``rebuild`` of a good window, then completing it: the same answers, before and after."""
    begin(store, *line(4))
    add(store, leaf("l", "m2", step=9))
    with store.writing() as writer:
        writer.rebuild(current(store))
    check_index(store, WORDS)
    complete(store)
    assert ids(store, "common") == ["m2", "m1", "m0"]
    assert count(store) == 3


def test_a_fork_is_a_session_of_its_own(store):
    """The path copied to a new session: rewinding one leaves the other as it is."""
    begin(store, *line(3))
    with store.writing() as writer:
        rows = writer.path(writer.windows(KEY)[-1].window, start=0, count=2)
        writer.create(facts(OTHER, forked_from=KEY))
        writer.append(OTHER, [prepared(json.loads(row.body)) for row in rows])
    add(store, leaf("l", "m0", step=9))
    assert path_ids(store, OTHER) == ["m0", "m1"]
    assert ids(store, "one") == ["m1"]
    assert sorted(map(str, ids(store, "zero"))) == ["m0", "m0"]
    with store.reading() as view:
        assert view.session(OTHER).facts.forked_from == KEY


def test_older_windows_are_found_and_located_unless_they_are_not_findable(store):
    """A generation before the current one is part of the session; one of an abandoned chain is readable by number, never found."""
    begin(store)
    older = WindowSpec(session_id="old", ordinal=-2, reason="initial", created_at=5)
    hidden = WindowSpec(session_id="hidden", ordinal=-1, reason="rewind", findable=False)
    add(store, say("o", "old common"), window=older)
    (placed,) = add(store, say("h", "hidden common", step=1), window=hidden)
    assert not placed.indexed
    add(store, say("c", "current common", step=2))
    complete(store)
    assert ids(store, "common") == ["c", "o"]
    assert count(store) == 2
    with store.reading() as view:
        windows = view.windows(KEY)
        assert [(w.session_id, w.reason, w.findable, w.events, w.path, w.leaf) for w in windows] == [
            ("old", "initial", True, 1, 1, "o"),
            ("hidden", "rewind", False, 1, 1, "h"),
            ("id-main", "initial", True, 1, 1, "c"),
        ]
        assert view.session(KEY).facts.session_id == "id-main"
        assert view.locate(KEY, "o").session_id == "old"
        assert view.locate(KEY, "o", "old").id == "o"
        assert view.locate(KEY, "o", "id-main") is None
        assert view.locate(KEY, "h") is None
        assert [event.id for event in view.path(windows[1].window, start=0, count=9)] == ["h"]
        assert view.known_ids(KEY, ["o", "h", "c", "x"]) == {"o", "h", "c"}
        assert view.holders(["c", "h", "x"]) == [("c", KEY), ("h", KEY)]
        assert view.session_by_id("old", EVERYTHING).facts.key == KEY


def test_a_new_window_becomes_the_current_one(store):
    """Appending to a later generation makes it current; events without a window go there from then on."""
    begin(store, *line(2))
    add(store, say("n", "five common", step=5), window=WindowSpec(session_id="next", ordinal=1, reason="reset", created_at=at(5)))
    add(store, say("o", "six common", step=6))
    assert path_ids(store) == ["n", "o"]
    assert ids(store, "common") == ["o", "n", "m1", "m0"]
    with store.reading() as view:
        assert [w.session_id for w in view.windows(KEY)] == ["id-main", "next"]
        assert view.session(KEY).facts.session_id == "next"


def test_one_id_in_two_windows_is_located_in_the_newest_that_shows_it(store):
    """A generation that copied its predecessor: the newest wins while it has the message, else the older one."""
    begin(store, *line(2))
    add(store, *line(2), window=WindowSpec(session_id="next", ordinal=1))
    with store.reading() as view:
        assert view.locate(KEY, "m1").session_id == "next"
    add(store, leaf("l", "m0", step=9))
    with store.reading() as view:
        assert view.locate(KEY, "m1").session_id == "id-main"


def test_a_window_stops_being_findable_when_its_tool_says_so_later(store):
    """OpenClaw rewinds into a new window: the next import names the older one unfindable, and its words are gone in that transaction."""
    begin(store, *line(3))
    again = WindowSpec(session_id="id-main", ordinal=0, reason="initial", findable=False)
    add(store, window=again)
    add(store, say("n", "five common", step=5), window=WindowSpec(session_id="next", ordinal=1, reason="rewind"))
    assert ids(store, "common") == ["n"]
    assert count(store) == 1
    with store.reading() as view:
        assert view.locate(KEY, "m1") is None
        assert view.stale(EVERYTHING, limit=5) == []
        assert view.totals()["messages"] == 1


def test_a_window_may_become_findable_again(store):
    """Its words come back with the rebuild; until then the window is stale."""
    begin(store, *line(3))
    hidden = WindowSpec(session_id="id-main", findable=False)
    add(store, window=hidden)
    assert ids(store, "common") == []
    add(store, window=WindowSpec(session_id="id-main", findable=True))
    complete(store)
    assert ids(store, "common") == ["m2", "m1", "m0"]
    assert count(store) == 3


def test_a_path_is_read_in_pages(store):
    """By position, from anywhere, and beyond its end."""
    begin(store, *line(7))
    with store.reading() as view:
        window = view.windows(KEY)[0].window
        assert view.path_length(window) == 7
        assert [e.id for e in view.path(window, start=2, count=3)] == ["m2", "m3", "m4"]
        assert [e.id for e in view.path(window, start=6, count=3)] == ["m6"]
        assert view.path(window, start=7, count=3) == []
        assert [e.seq for e in view.events(window, after_seq=3, limit=2)] == [4, 5]
        assert view.path(window + 100, start=0, count=3) == []


def test_what_history_shows_is_counted_along_the_path(store):
    """Messages with words and boundaries, by number and by position; a rewind takes its part away."""
    quiet = prepared(record("t", message={"role": "toolResult", "content": "x"}, timestamp=at(1)))
    begin(
        store, say("a", "one"), quiet, prepared(record("r", "reset", timestamp=at(2))), prepared(record("c", "compaction")), say("b", "two")
    )
    with store.reading() as view:
        window = view.windows(KEY)[0].window
        assert view.shown(window) == 4
        assert [view.shown_at(window, n) for n in range(-1, 5)] == [None, 0, 2, 3, 4, None]
        assert [e.shown for e in view.path(window, start=0, count=9)] == [1, 1, 2, 3, 4]
        assert [e.id for e in view.path(window, start=1, count=2, shown=True)] == ["r", "c"]
    add(store, leaf("l", "c", step=9))
    with store.reading() as view:
        assert view.shown(window) == 3
        assert view.event(window, "b").shown == 0


@pytest.mark.parametrize("name", VECTORS)
def test_each_golden_vector_gives_its_path_and_its_searchable_messages(store, name):
    """OpenClaw's own answers; event by event, the path is that of ``branch.resolve`` all along."""
    begin(store)
    items = [prepared(source) for source in VECTORS[name]["events"]]
    words = sorted({word for item in items if item.said for word in item.said.index_text.split()})
    for number, item in enumerate(items, 1):
        add(store, item)
        with store.reading() as view:
            seqs = [event.seq for event in view.path(view.windows(KEY)[0].window, start=0, count=FEW)]
        assert seqs == list(branch.resolve([each.event.nav for each in items[:number]]).path)
        check_index(store, words)
    complete(store)
    check_index(store, words)
    expected = VECTORS[name]["expected"]
    with store.reading() as view:
        (window,) = view.windows(KEY)
        path = view.path(window.window, start=0, count=FEW)
    assert [event.seq for event in path] == expected["activeSeqs"]
    assert window.leaf == expected["leafEventId"]
    wanted = [row["messageId"] for row in expected["fts"]]
    assert [event.id for event in path if event.redact_version is not None] == wanted
    assert {id_ for word in words for id_ in ids(store, word)} == set(wanted)
    assert count(store) == len(wanted)


def test_one_window_is_had_by_its_id_or_as_the_current_one(store):
    """Of many, also when another session has a window of that id; what is not there is none."""
    begin(store)
    begin(store, key=OTHER)
    with store.writing() as writer:
        for ordinal in (3, 1, 2):
            writer.append(KEY, [], window=WindowSpec(session_id=f"w{ordinal}", ordinal=ordinal))
        writer.append(OTHER, [], window=WindowSpec(session_id="w1", ordinal=1))
    with store.reading() as view:
        every = view.windows(KEY)
        assert [view.window(KEY, one.session_id) for one in every] == every
        assert view.window(KEY) == every[-1]
        assert view.window(KEY).session_id == "w3"
        assert view.window(OTHER, "w1") == view.windows(OTHER)[-1]
        assert view.window(OTHER, "w2") is None
        assert view.window("agent:main:nobody") is None

"""What an append promises: found at once, or nothing at all."""

from __future__ import annotations

import pytest

from engine_tools import KEY, OTHER, add, at, begin, complete, count, current, every, facts, found, ids, leaf, path_ids, say
from wesaid.errors import ConflictError, InputError, NotFoundError, StoreError
from wesaid.values import EVERYTHING, Flag


def test_a_message_is_found_the_moment_its_transaction_commits(store):
    """Create, append, search: no step between."""
    with store.writing() as writer:
        writer.create(facts())
        (placed,) = writer.append(KEY, [say("a", "the quick fox", step=1)])
    assert (placed.id, placed.timestamp, placed.indexed, placed.duplicate) == ("a", at(1), True, False)
    assert ids(store, "quick") == ["a"]
    assert count(store) == 1


def test_another_handle_finds_a_message_at_once(store, reopened):
    """A handle opened before the append sees it, without being told."""
    other = reopened()
    begin(store, say("a", "quick"))
    assert ids(other, "quick") == ["a"]
    add(other, say("b", "quick", step=1))
    assert ids(store, "quick") == ["b", "a"]


def test_a_writer_reads_its_own_writes_and_others_do_not_yet(store, reopened):
    """Inside the block the message is there; outside it is not, until the block ends."""
    begin(store, say("a", "quick"))
    other = reopened()
    with store.writing() as writer:
        writer.append(KEY, [say("b", "quick", step=1)])
        (window,) = writer.windows(KEY)
        assert (window.events, window.path, window.leaf) == (2, 2, "b")
        assert writer.path_length(window.window) == 2
        assert [event.id for event in writer.path(window.window, start=0, count=9)] == ["a", "b"]
        assert writer.totals()["messages"] == 2
        assert writer.session(KEY).message_count == 2
        assert ids(other, "quick") == ["a"]
    assert ids(other, "quick") == ["b", "a"]


def test_a_reading_is_a_snapshot(store, reopened):
    """What is committed during a reading does not show in it."""
    begin(store, say("a", "quick"))
    with reopened().reading() as view:
        assert view.session(KEY).message_count == 1
        add(store, say("b", "quick", step=1))
        assert view.session(KEY).message_count == 1
        assert view.path_length(view.windows(KEY)[0].window) == 1


@pytest.mark.parametrize("parent", [{}, {"parentId": None}, {"parentId": "u"}, {"parentId": "r"}], ids=["absent", "null", "itself", "root"])
def test_one_id_again_and_again_ends_as_when_each_comes_alone(engine, parent):
    """However many events of one transaction share an id: the newest counts, equal ones are there already, and what is found is the same."""
    texts = ["quick 0", *(f"quick {n % 30}" for n in range(60))]
    events = [say("r", "root"), *(say("u", text, step=1, **parent) for text in texts), say("v", "quick last", step=99)]
    alone, together = (engine.store(name, create=True) for name in ("alone", "together"))
    begin(alone)
    begin(together)
    one_by_one = [placed for event in events for placed in add(alone, event)]
    at_once = add(together, *events)
    assert [(one.id, one.duplicate) for one in at_once] == [(one.id, one.duplicate) for one in one_by_one]
    assert sum(one.duplicate for one in at_once) == 31
    complete(alone)
    complete(together)
    assert path_ids(together) == path_ids(alone)
    for word in ("quick", "root", "last", "0", "29"):
        assert ids(together, word) == ids(alone, word)
    assert count(together) == count(alone)


def test_many_messages_are_appended_in_order_in_one_transaction(store):
    """A thousand messages keep their order, and all of them are found."""
    begin(store)
    placed = add(store, *(say(f"m{n}", f"word{n} common", step=n) for n in range(1000)))
    assert all(each.indexed for each in placed)
    assert path_ids(store) == [f"m{n}" for n in range(1000)]
    assert ids(store, "word567") == ["m567"]
    assert len(ids(store, "common")) == count(store) == 1000


def test_an_equal_event_is_a_duplicate_and_is_not_written(store):
    """The same id with the same body twice, in two transactions and in one."""
    begin(store, say("a", "quick"))
    (again,) = add(store, say("a", "quick"))
    assert again.duplicate
    first, second = add(store, say("b", "brown", step=1), say("b", "brown", step=1))
    assert (first.duplicate, second.duplicate) == (False, True)
    assert path_ids(store) == ["a", "b"]
    with store.reading() as view:
        assert len(view.events(view.windows(KEY)[0].window, limit=9)) == 2


def test_a_changed_event_of_a_known_id_is_another_row_and_the_last_one_wins(store):
    """Same id, other body: both rows are kept, only the newer one is visible and found."""
    begin(store, say("a", "quick", parentId=None))
    (placed,) = add(store, say("a", "slow", parentId=None, step=1))
    assert not placed.duplicate
    assert ids(store, "slow") == ["a"]
    assert ids(store, "quick") == []
    with store.reading() as view:
        window = view.windows(KEY)[0]
        assert window.events == 2
        assert b"slow" in view.event(window.window, "a").body


def test_two_versions_of_an_event_appended_again_are_both_duplicates(store):
    """A file with a changed event read a second time adds nothing, whichever version comes first."""
    both = [say("a", "quick", parentId=None), say("a", "slow", parentId=None, step=1)]
    begin(store, *both)
    assert [each.duplicate for each in add(store, *both)] == [True, True]
    assert ids(store, "slow") == ["a"]


def test_an_append_moves_the_time_of_its_session(store):
    """``updated_at`` is the newest of what was said, and never goes back."""
    begin(store, say("a", "quick", step=5))
    add(store, say("b", "old", step=2))
    with store.reading() as view:
        assert view.session(KEY).facts.updated_at == at(5)


def test_an_event_without_words_is_kept_and_not_found(store):
    """A tool result is a row of the path, not of the index."""
    begin(store, say("a", "quick", role="toolResult"))
    assert path_ids(store) == ["a"]
    assert ids(store, "quick") == []
    assert count(store) == 0


def test_an_event_is_read_back_as_it_was_written(store):
    """Body, spans, time, flags and place."""
    item = say("a", "a secret word", step=3)
    begin(store, item)
    with store.reading() as view:
        (event,) = view.path(view.windows(KEY)[0].window, start=0, count=5)
    assert (event.id, event.type, event.timestamp, event.body) == ("a", "message", at(3), item.body)
    assert (event.spans, event.redact_version, event.flags) == (item.said.spans, 1, Flag.NONE)
    assert (event.session_id, event.seq, event.position) == ("id-main", 0, 0)


def test_a_failed_block_leaves_nothing_behind(store):
    """Everything a block did is undone when it raises: session, rows, index, tombstone, source."""
    begin(store, say("a", "quick"))

    def fail(writer):
        writer.append(KEY, [say("b", "brown", step=1)])
        writer.create(facts(OTHER))
        writer.delete(KEY, 5)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), store.writing() as writer:
        fail(writer)
    assert ids(store, "quick") == ["a"]
    assert ids(store, "brown") == []
    with store.reading() as view:
        assert view.count_sessions(EVERYTHING) == 1
        assert view.tombstone(KEY) is None
    add(store, say("b", "brown", step=1))
    assert ids(store, "brown") == ["b"]


def test_a_block_within_a_block_is_an_error_and_not_a_deadlock(store):
    """The outer block goes on."""
    with store.writing() as writer:
        writer.create(facts())
        with pytest.raises(StoreError), store.writing():
            pass
        writer.append(KEY, [say("a", "quick")])
    assert ids(store, "quick") == ["a"]


def test_a_closed_store_says_so(store):
    """Further use raises StoreError."""
    store.close()
    with pytest.raises(StoreError), store.reading():
        pass
    with pytest.raises(StoreError), store.writing():
        pass


def test_appending_to_a_session_that_is_not_there_is_an_error(store):
    """NotFoundError, and nothing is made."""
    with pytest.raises(NotFoundError):
        add(store, say("a", "quick"))
    with store.reading() as view:
        assert view.count_sessions(EVERYTHING) == 0


def test_a_key_is_created_once(store):
    """ConflictError the second time, and the first is untouched."""
    begin(store, say("a", "quick"))
    with pytest.raises(ConflictError), store.writing() as writer:
        writer.create(facts())
    assert ids(store, "quick") == ["a"]


def test_an_incognito_session_is_never_stored(store):
    """No engine takes such a key, whoever asks."""
    with pytest.raises(InputError), store.writing() as writer:
        writer.create(facts("agent:main:dashboard:incognito-7"))
    with store.reading() as view:
        assert view.count_sessions(EVERYTHING) == 0


@pytest.mark.parametrize("mirror_first", [False, True])
def test_a_delivery_mirror_of_a_near_reply_is_a_copy_and_not_counted(store, mirror_first):
    """Before or after its reply, within the look-back: still a row, flagged, not counted (field report B65)."""
    reply, mirror = say("r", "done and dusted", role="assistant"), say("m", "done and dusted", role="assistant", mirror=True)
    begin(store, *((mirror, reply) if mirror_first else (reply, mirror)))
    flags = {hit.seq: hit.flags for hit in found(store, "dusted")}
    assert flags == {int(mirror_first): Flag.NONE, int(not mirror_first): Flag.MIRROR | Flag.COPY}
    assert count(store) == 1
    with store.reading() as view:
        assert view.event(current(store), "m").flags == Flag.MIRROR | Flag.COPY


def test_a_mirror_of_nothing_near_is_a_message_of_its_own(store):
    """Another text, a user's equal text, or a reply nine positions away makes no copy (field report B65)."""
    between = [say(f"x{n}", f"filler {n}", step=n + 1) for n in range(8)]
    begin(store, say("r", "done", role="assistant"), *between, say("m", "done", role="assistant", mirror=True, step=20))
    begin(store, say("u", "well"), say("n", "well", role="assistant", mirror=True, step=1), key=OTHER)
    assert all(Flag.COPY not in hit.flags for word in ("done", "well") for hit in found(store, word))
    assert count(store) == 10
    assert count(store, OTHER) == 2


def test_a_mirror_eight_positions_away_is_a_copy(store):
    """The bound itself is inside."""
    between = [say(f"x{n}", f"filler {n}", step=n + 1) for n in range(7)]
    begin(store, say("r", "done", role="assistant"), *between, say("m", "done", role="assistant", mirror=True, step=20))
    assert [Flag.COPY in hit.flags for hit in found(store, every("done"))] == [True, False]
    assert count(store) == 8


def test_of_two_mirrors_without_a_reply_the_first_is_a_message(store):
    """The text is found and counted once, not never."""
    begin(store, *(say(f"m{n}", "done", role="assistant", mirror=True, step=n) for n in range(3)))
    assert [Flag.COPY in hit.flags for hit in found(store, "done")] == [True, True, False]
    assert count(store) == 1


def test_a_mirror_whose_reply_is_rewound_is_a_message_again(store):
    """The mirror came first; the reply that it repeats is off the path: its text must not be lost with it."""
    begin(store, say("m", "done", role="assistant", mirror=True), say("r", "done", role="assistant", step=1))
    assert count(store) == 1
    add(store, leaf("l", "m", step=2))
    assert [hit.flags for hit in found(store, "done")] == [Flag.MIRROR]
    assert count(store) == 1

"""What the contract cannot see of SQLite's rows: nothing of a deleted session is left in any table."""

from __future__ import annotations

import pytest

from engine_tools import KEY, OTHER, add, begin, leaf, open_engine, say
from wesaid.errors import StoreDamagedError
from wesaid.values import SourceState, WindowSpec

KEPT = {"tombstone", "tombstone_window", "source", "meta", "word", "sqlite_sequence"}  # none of them holds a message, title or path


def counts(store):
    """Rows of each table, the index's documents included."""
    tables = [row[0] for row in store.connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    assert {"session", "window", "event", "path", "entry", "words", "titles"} <= set(tables)
    names = [name for name in tables if name not in KEPT and not name.startswith(("words_", "titles_"))]
    return {name: store.connection.execute(f"SELECT count(*) FROM {name}").get for name in names}


def test_a_deleted_session_leaves_no_row_but_its_tombstone(tmp_path):
    """Messages on and off the path, an older window, a title, a source, a stale window: all rows go with it."""
    engine = open_engine("sqlite", tmp_path)
    store = engine.store("main", create=True)
    empty = counts(store)
    begin(store, *(say(f"m{n}", "needle", step=n) for n in range(5)), title="haystack", label="straw")
    add(store, say("o", "needle"), window=WindowSpec(session_id="old", ordinal=-1))
    add(store, say("n", "needle", parentId="m1", step=8))
    add(store, leaf("l", "m4", step=9))
    with store.writing() as writer:
        writer.note_source(SourceState(path="/t/a", tool="pi", size=1, mtime_ns=1, offset=1, head_digest="", keys=(KEY,)))
    assert all(number > 0 for number in counts(store).values())
    with store.writing() as writer:
        writer.delete(KEY, 5)
    assert counts(store) == empty
    engine.close()


@pytest.mark.parametrize("column", ["next_seq", "path_length"])
@pytest.mark.parametrize("number", [0, 1, 3, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 32) + 2, 1 << 40, -1, -(1 << 40), (1 << 63) - 1])
def test_a_message_that_would_land_elsewhere_is_refused(tmp_path, column, number):
    """Whatever a damaged counter says: nothing is acknowledged, nothing written, and the error names what mends it."""
    engine = open_engine("sqlite", tmp_path)
    store = engine.store("main", create=True)
    begin(store, say("a", "one"), say("b", "two"))
    begin(store, say("c", "three"), key=OTHER)
    store.connection.execute(f"UPDATE window SET {column} = ? WHERE window = 1", (number,))
    before = counts(store)
    with pytest.raises(StoreDamagedError, match="nothing was written") as caught:
        add(store, say("d", "four"))
    assert "doctor --fix" in caught.value.hint
    assert counts(store) == before
    add(store, say("e", "five"), key=OTHER)  # others are not its hostages
    store.mend(anew=False, now=5)
    add(store, say("d", "four"))
    with store.reading() as view:
        assert [event.id for event in view.path(1, start=0, count=9)] == ["a", "b", "d"]
        assert [event.id for event in view.path(2, start=0, count=9)] == ["c", "e"]
    engine.close()

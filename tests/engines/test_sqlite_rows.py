"""What the contract cannot see of SQLite's rows: nothing of a deleted session is left in any table."""

from __future__ import annotations

from engine_tools import KEY, add, begin, leaf, open_engine, say
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

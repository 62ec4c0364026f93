"""Claims about SQLite's write-ahead log: it does not grow without end, whoever reads (field report B90)."""

from __future__ import annotations

import pytest

from engine_tools import add, begin, open_engine, say
from wesaid import limits

LIMIT = 256 * 1024


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "WAL_PAGES", 20)
    monkeypatch.setattr(limits, "WAL_LIMIT_BYTES", LIMIT)
    engine = open_engine("sqlite", tmp_path)
    made = engine.store("main", create=True)
    begin(made)
    yield made
    engine.close()


def log_bytes(store):
    return store.path.with_name(f"{store.path.name}-wal").stat().st_size


def many(store, name, count=200):
    sizes = []
    for number in range(count):
        add(store, say(f"{name}{number}", f"the ferry leaves {number} " * 20, step=number))
        sizes.append(log_bytes(store))
    return max(sizes)


def test_the_log_stays_small_while_messages_come_one_by_one(store):
    """Readers that come and go between them included."""
    for turn in range(3):
        assert many(store, f"a{turn}-", 70) <= 2 * LIMIT
        with store.reading() as view:
            assert view.totals()["messages"] > 0


def test_a_reader_that_stays_lets_the_log_grow_until_it_ends(store):
    """Nothing waits for it, it goes on seeing what it saw, and two messages after its end the log is as small as ever."""
    with store.reading() as view:
        before = view.totals()
        assert many(store, "b") > 2 * LIMIT
        assert view.totals() == before
    add(store, say("after", "the pier", step=300))
    add(store, say("after that", "the pier", step=301))
    assert log_bytes(store) <= LIMIT + limits.WAL_PAGES * limits.PAGE_BYTES


def test_a_log_that_somebody_holds_cannot_be_emptied_and_then_can(store):
    """A checkpoint says so instead of waiting for ever."""
    assert many(store, "c", 20) > 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "BUSY_MS", 10)
        with store.reading() as view:
            view.totals()
            add(store, say("more", "the pier", step=300))
            store.connection.set_busy_timeout(limits.BUSY_MS)
            assert not store.checkpoint()
    assert store.checkpoint()
    assert log_bytes(store) == 0

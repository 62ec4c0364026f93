"""Work is counted, not timed: what touches a little costs a little, however much there is."""

from __future__ import annotations

import apsw
import pytest

from engine_tools import KEY, add, at, every, facts, leaf, open_engine, say
from wesaid import limits
from wesaid.values import EVERYTHING, Filters, Scope

SMALL, LARGE = 50, 50_000  # messages in one long session; as many again are in sessions of fifty
SESSION = 50
TIMES = 3  # how much more the same work may be in the large store
STEPS, PAGES = 100, 150  # and this much on top: deeper B-trees, an index in more pieces (fifty messages fit on one page)
MINE = "agent:main:s0"


class Counted:
    """A store whose connections count the steps of SQLite's virtual machine, and the pages that it and FTS5 look at."""

    def __init__(self, home, messages):
        self.steps = 0
        self.on = False
        self.connections = []
        hook = self.attach
        apsw.connection_hooks.append(hook)
        try:
            self.engine = open_engine("sqlite", home)
            self.store = self.engine.store("main", create=True)
            with self.store.writing() as writer:
                for n in range(messages // SESSION):
                    key = f"agent:main:s{n}"
                    writer.create(facts(key, updated_at=n))
                    items = [say(f"m{n}-{i}", f"common word{n % 40} rare{n}x{i}", step=i * 600 + n) for i in range(SESSION)]
                    writer.append(key, items)
                writer.create(facts(KEY))
                writer.append(KEY, [say(f"k{i}", "common", step=i) for i in range(messages)])
            with self.store.reading() as view:
                assert view.totals()["messages"] == 2 * messages
        finally:
            apsw.connection_hooks.remove(hook)

    def attach(self, connection):
        connection.set_progress_handler(self.count, 1)
        self.connections.append(connection)

    def count(self):
        self.steps += self.on
        return False

    def pages(self):
        kinds = (apsw.SQLITE_DBSTATUS_CACHE_HIT, apsw.SQLITE_DBSTATUS_CACHE_MISS)
        return sum(connection.status(kind)[0] for connection in self.connections for kind in kinds)

    def of(self, work):
        """Steps and pages of one piece of work; done once before, so that nothing is counted that happens only once."""
        work(self.store, 0)
        for connection in self.connections:
            connection.pragma("mmap_size", 0)  # mapped pages are not counted
        before, self.steps, self.on = self.pages(), 0, True
        try:
            work(self.store, 1)
        finally:
            self.on = False
        return self.steps, self.pages() - before


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    stores = [Counted(tmp_path_factory.mktemp("work"), number) for number in (SMALL, LARGE)]
    yield stores
    for each in stores:
        each.engine.close()


def search_rare(store, _turn):
    with store.reading() as view:
        assert len(view.candidates(every("rare0x7"), EVERYTHING, Filters(), limit=20).candidates) == 1


def search_common(store, _turn):
    with store.reading() as view:
        assert len(view.candidates(every("common"), EVERYTHING, Filters(), limit=20).candidates) == 20


def search_common_in_a_narrow_scope(store, _turn):
    with store.reading() as view:
        assert len(view.candidates(every("common"), Scope(keys=frozenset({MINE})), Filters(), limit=20).candidates) == 20


def search_two_words_before_a_time(store, _turn):
    with store.reading() as view:
        assert view.candidates(every("common", "word0"), EVERYTHING, Filters(before=at(20)), limit=5).candidates


def count_a_common_word(store, _turn):
    with store.reading() as view:
        assert view.frequency(every("common").all_of[0].terms[0], EVERYTHING, bound=100) == 100


def count_a_common_word_again(store, _turn):
    with store.reading() as view:
        assert view.frequency(every("common").all_of[0].terms[0], EVERYTHING, bound=limits.FREQUENCY_COUNT_ROWS)


def append_one(store, turn):
    assert add(store, say(f"new{turn}", "common fresh", step=99_999), key=KEY)[0].indexed


def rewind_by_one(store, turn):
    add(store, say(f"gone{turn}", "common", step=99_999), key=KEY)
    with store.reading() as view:
        path = view.path(view.windows(KEY)[-1].window, start=view.path_length(view.windows(KEY)[-1].window) - 2, count=2)
    add(store, leaf(f"leaf{turn}", path[0].id, step=99_999), key=KEY)
    with store.reading() as view:
        assert view.stale(EVERYTHING, limit=9) == []


def page_from_the_end(store, _turn):
    with store.reading() as view:
        window = view.windows(KEY)[-1].window
        assert len(view.path(window, start=view.path_length(window) - 20, count=20)) == 20


def locate_one(store, _turn):
    with store.reading() as view:
        assert view.locate(KEY, "k5").id == "k5"


def list_sessions(store, _turn):
    with store.reading() as view:
        assert view.sessions(EVERYTHING, limit=2)
        assert view.stale(EVERYTHING, limit=2) == []


def count_sessions_and_look_for_their_files(store, _turn):
    with store.reading() as view:
        assert view.count_sessions(EVERYTHING)
        assert view.recent_files(EVERYTHING, limit=9) == []


def create_and_delete_one(store, turn):
    key = f"agent:main:made{turn}"
    with store.writing() as writer:
        writer.create(facts(key))
        writer.append(key, [say("a", "common")])
        writer.delete(key, 5)


WORK = [
    search_rare,
    search_common,
    search_common_in_a_narrow_scope,
    search_two_words_before_a_time,
    count_a_common_word,
    count_a_common_word_again,
    append_one,
    rewind_by_one,
    page_from_the_end,
    locate_one,
    list_sessions,
    count_sessions_and_look_for_their_files,
    create_and_delete_one,
]


@pytest.mark.parametrize("work", WORK, ids=[work.__name__ for work in WORK])
def test_the_same_work_touches_the_same_order_of_rows_in_a_large_store(counted, work):
    """In a store of 100 and of 100 000 messages: steps of SQLite's virtual machine, and pages, since FTS5 works below the machine."""
    (steps, pages), (more_steps, more_pages) = (store.of(work) for store in counted)
    assert steps > 0
    assert pages > 0
    assert more_steps <= TIMES * steps + STEPS
    assert more_pages <= TIMES * pages + PAGES


def test_a_rewind_of_thousands_costs_no_more_than_its_bound(tmp_path):
    """To the beginning of 5 000 messages: no word is found at once, by less work than dropping them would be."""
    store = Counted(tmp_path, 5_000)
    store.steps, store.on = 0, True
    add(store.store, leaf("back", "k1", step=99_999), key=KEY)
    store.on = False
    with store.store.reading() as view:
        assert len(view.candidates(every("common"), Scope(keys=frozenset({KEY})), Filters(), limit=9).candidates) == 2
    assert store.steps < limits.PATH_CUT_ROWS * 400
    store.engine.close()

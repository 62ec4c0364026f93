"""What candidates and frequencies promise: scope and filters before any limit, newest first, and exactly the words asked for."""

from __future__ import annotations

import pytest

from engine_tools import KEY, OTHER, add, at, begin, clause, every, facts, found, ids, say, term
from wesaid import limits
from wesaid.values import EVERYTHING, NOTHING, Clause, Filters, Match, Scope


@pytest.mark.parametrize("crowd", [1, 400])
def test_ten_thousand_newer_matches_out_of_scope_do_not_hide_an_older_one(store, crowd):
    """Scope comes before the limit, be the rest one session or hundreds."""
    begin(store, say("old", "needle in here"))
    with store.writing() as writer:
        for n in range(crowd):
            writer.create(facts(f"agent:main:x{n}"))
            items = [say(f"m{i}", "needle again", step=i + 1) for i in range(n, 10_000, crowd)]
            writer.append(f"agent:main:x{n}", items)
    for limit in (1, 5):
        assert ids(store, "needle", Scope(keys=frozenset({KEY})), limit=limit) == ["old"]
        assert ids(store, "needle", filters=Filters(before=at(1)), limit=limit) == ["old"]
    assert len(found(store, "needle", limit=7)) == 7
    with store.reading() as view:
        assert view.frequency(term("needle"), Scope(keys=frozenset({KEY})), bound=100) == 1
        assert view.frequency(term("needle"), EVERYTHING, bound=500) == 500


def test_a_scope_wider_than_an_index_query_still_holds(store):
    """More session keys than may be written into one query."""
    keys = [f"agent:main:s{n}" for n in range(700)]
    with store.writing() as writer:
        for n, key in enumerate(keys):
            writer.create(facts(key))
            writer.append(key, [say(f"m{n}", "needle", step=n)])
    inside = keys[:650]
    hits = found(store, "needle", Scope(keys=frozenset(inside)))
    assert [hit.key for hit in hits] == inside[::-1]
    with store.reading() as view:
        assert view.frequency(term("needle"), Scope(keys=frozenset(inside)), bound=10_000) == 650
        assert view.count_sessions(Scope(keys=frozenset(inside))) == 650


def test_no_scope_finds_nothing(store):
    """The empty set of keys is not the same as no restriction."""
    begin(store, say("a", "needle"))
    assert found(store, "needle", NOTHING) == []
    assert found(store, "needle", Scope(keys=frozenset({"agent:main:unknown"}))) == []
    with store.reading() as view:
        assert view.frequency(term("needle"), NOTHING, bound=9) == 0
        assert view.indexed(NOTHING, bound=9) == 0
        assert view.sessions(NOTHING) == []
        assert view.titles([clause("needle")], NOTHING, limit=9) == []


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(role="user"), ["d", "c", "a"]),
        (Filters(role="assistant"), ["b"]),
        (Filters(after=at(2)), ["d", "c"]),
        (Filters(after=at(2) + 1), ["d"]),
        (Filters(before=at(2)), ["b", "a"]),
        (Filters(after=at(1), before=at(3)), ["c", "b"]),
        (Filters(tool="codex"), ["d", "c"]),
        (Filters(project="/home/me"), ["d", "c", "b", "a"]),
        (Filters(project="/home/me/a"), ["b", "a"]),
        (Filters(project="/home/me/a/"), ["b", "a"]),
        (Filters(project="/home/m"), []),
        (Filters(exclude_keys=frozenset({KEY})), ["d", "c"]),
        (Filters(exclude_keys=frozenset({KEY, OTHER})), []),
        (Filters(role="user", tool="codex", after=at(3), exclude_keys=frozenset({KEY})), ["d"]),
    ],
)
def test_each_filter_holds_before_the_limit(store, filters, expected):
    """Alone and together, with a limit of one and without."""
    begin(store, say("a", "needle"), say("b", "needle", role="assistant", step=1), tool="pi", project="/home/me/a")
    begin(store, say("c", "needle", step=2), say("d", "needle", step=3), key=OTHER, tool="codex", project="/home/me/ab")
    assert ids(store, "needle", filters=filters) == expected
    assert ids(store, "needle", filters=filters, limit=1) == expected[:1]
    assert ids(store, "needle", filters=filters, oldest_first=True) == expected[::-1]


def test_milliseconds_decide_although_rowids_are_seconds(store):
    """Two messages of one second, the bound between them."""
    begin(store)
    for number, id_ in enumerate("abc"):
        item = say(id_, "needle", step=0)
        event = type(item.event)(nav=item.event.nav, type="message", timestamp=at(0) + number * 300, record=item.event.record)
        add(store, type(item)(event=event, body=item.body, said=item.said))
    assert ids(store, "needle", filters=Filters(after=at(0) + 300)) == ["c", "b"]
    assert ids(store, "needle", filters=Filters(before=at(0) + 300)) == ["a"]


def test_the_order_is_that_of_time_not_of_writing(store):
    """Older messages imported later stay older."""
    begin(store, say("new", "needle", step=50))
    begin(store, say("old", "needle", step=2), say("older", "needle", step=1), key=OTHER)
    assert ids(store, "needle") == ["new", "old", "older"]
    assert ids(store, "needle", oldest_first=True) == ["older", "old", "new"]


def test_a_walk_goes_on_beyond_a_row(store):
    """Page after page gives each message once, in either direction; only the last page is complete."""
    begin(store, *(say(f"m{n}", "needle", step=n) for n in range(10)))
    for oldest_first in (False, True):
        seen, beyond = [], None
        for _ in range(4):
            with store.reading() as view:
                page = view.candidates(every("needle"), EVERYTHING, Filters(), limit=3, oldest_first=oldest_first, beyond=beyond)
            seen += [hit.seq for hit in page.candidates]
            beyond = page.candidates[-1].rowid
            assert page.complete == (len(seen) == 10)
        assert seen == sorted(range(10), reverse=not oldest_first)


def test_bursts_within_one_second_are_all_found(store):
    """A hundred messages of one time, in two sessions: none hides another, and each keeps its own words."""
    for key in (KEY, OTHER):
        begin(store, *(say(f"m{n}", f"needle {key[-4:]}{n}") for n in range(50)), key=key)
    assert len({(hit.key, hit.seq) for hit in found(store, "needle")}) == 100
    assert len({hit.rowid for hit in found(store, "needle")}) == 100
    assert len(found(store, "needle", filters=Filters(after=at(0), before=at(0) + 1))) == 100
    assert [(hit.key, hit.seq) for hit in found(store, "main7")] == [(KEY, 7)]


@pytest.mark.parametrize(
    ("match", "expected"),
    [
        (every("quick", "fox"), {"a", "b"}),
        (Match(all_of=(clause("quick"), clause("fox")), none_of=(term("red"),)), {"a"}),
        (Match(all_of=(clause("quick"),), none_of=(term("red"), term("hen"))), {"a"}),
        (Match(all_of=(clause("hen", "red"),)), {"b", "c"}),
        (Match(any_of=(clause("hen"), clause("brown"))), {"a", "c"}),
        (Match(all_of=(clause("quick"),), any_of=(clause("red"), clause("hen"))), {"b", "c"}),
        (Match(all_of=(clause("quick", "brown"),), any_of=(clause("fox"),), none_of=(term("brown"),)), {"b"}),
        (Match(all_of=(clause("brown fox", quoted=True),)), {"a"}),
        (Match(all_of=(clause("quick fox", quoted=True),)), set()),
        (Match(all_of=(clause("qui", prefix=True),)), {"a", "b", "c"}),
        (Match(all_of=(clause("brow", "he", prefix=True),)), {"a", "c"}),
        (Match(all_of=(clause("brown fo", quoted=True, prefix=True),)), {"a"}),
        (Match(all_of=(clause("qui"),)), set()),
        (Match(all_of=(clause("absent"), clause("quick"))), set()),
        (Match(all_of=(clause("getUserName"),)), {"d"}),
        (Match(all_of=(clause("user name", quoted=True),)), {"d"}),
        (Match(all_of=(clause("user"),), none_of=(term("getUserName"),)), set()),
        (Match(all_of=(clause("foo-bar"),)), {"e"}),
        (Match(all_of=(clause("bar-foo"),)), set()),
        (Match(all_of=(clause("评审"),)), {"f"}),
        (Match(all_of=(clause("会"),)), {"f"}),
        (Match(all_of=(clause("审评"),)), set()),
        (Match(all_of=(clause("评审会议"),)), {"f"}),
        (Match(all_of=(clause("strasse"),)), {"g"}),
        (Match(all_of=(clause("🚀 deploy"),)), {"g"}),
        (Match(all_of=(clause("text"), clause("scope"))), {"h"}),
        (Match(all_of=(clause("s1"),)), set()),
        (Match(all_of=(clause("ru"),)), set()),
        (Match(all_of=(clause("or"),)), {"h"}),
        (Match(all_of=(clause("near", "not"),)), {"h"}),
    ],
)
def test_exactly_the_messages_with_the_words_are_found(store, match, expected):
    """All, any, none, phrases, beginnings, identifiers, scripts without spaces, and words that a query language might take for its own."""
    texts = {
        "a": "The quick brown fox",
        "b": "the QUICK red fox",
        "c": "a quick hen",
        "d": "call getUserName() now",
        "e": "see foo-bar there",
        "f": "明天的评审会议取消",
        "g": "die Straße 🚀 deploy",
        "h": 'text : scope OR "near" NOT (parts) *',
    }
    begin(store, *(say(id_, text, step=n) for n, (id_, text) in enumerate(texts.items())))
    assert set(ids(store, match)) == expected


def test_a_session_number_or_a_role_is_not_a_word(store):
    """Whatever an engine keeps beside the text to narrow a search, no query sees it."""
    begin(store, say("a", "needle"), say("b", "needle", role="assistant", step=1))
    with store.reading() as view:
        token = view.session(KEY).token
        for word in (f"s{token}", str(token), "s", "ru", "ra", "user", "assistant", "u", "a", KEY):
            assert view.frequency(term(word), EVERYTHING, bound=9) == 0
            assert view.candidates(Match(all_of=(clause(word),)), EVERYTHING, Filters(), limit=9).candidates == ()
            assert view.candidates(Match(all_of=(clause(word, prefix=True),)), EVERYTHING, Filters(), limit=9).candidates == ()


def test_a_candidate_says_what_ranking_needs(store):
    """Counts in the order of the scored terms, the closest span, the length, role and time."""
    item = say("a", "fox one two fox hen three fox", role="assistant", step=4)
    begin(store, item)
    (hit,) = found(store, Match(all_of=(clause("fox"),), score=(term("hen"), term("fox"), term("absent"))))
    assert (hit.agent_id, hit.key, hit.seq, hit.role, hit.timestamp) == ("main", KEY, 0, "assistant", at(4))
    assert (hit.counts, hit.span, hit.length, hit.digest) == ((1, 3, 0), 2, 7, item.said.digest)
    (hit,) = found(store, every("fox", score=["fox"]))
    assert (hit.counts, hit.span) == ((3,), 0)


def test_scored_words_that_are_not_required_change_no_result(store):
    """A score term widens nothing and narrows nothing."""
    begin(store, say("a", "fox hen"), say("b", "fox", step=1), say("c", "hen", step=2))
    assert ids(store, every("fox", score=["fox", "hen", "absent"])) == ["b", "a"]
    assert [hit.counts for hit in found(store, every("fox", score=["hen"]))] == [(0,), (1,)]
    assert ids(store, Match(any_of=(clause("hen"),), score=(term("fox"),))) == ["c", "a"]


def test_frequencies_are_counted_in_scope_and_up_to_a_bound(store):
    """Messages, not occurrences; of the scope only; never above the bound."""
    begin(store, *(say(f"m{n}", "needle needle hay", step=n) for n in range(6)))
    begin(store, *(say(f"n{n}", "needle", step=n) for n in range(3)), key=OTHER)
    here = Scope(keys=frozenset({OTHER}))
    with store.reading() as view:
        assert view.frequency(term("needle"), EVERYTHING, bound=100) == 9
        assert view.frequency(term("needle"), here, bound=100) == 3
        assert view.frequency(term("needle"), EVERYTHING, bound=4) == 4
        assert view.frequency(term("needle"), here, bound=2) == 2
        assert view.frequency(term("hay"), here, bound=100) == 0
        assert view.frequency(term("need", prefix=True), here, bound=100) == 3
        assert view.frequency(term("needle hay"), EVERYTHING, bound=100) == 6
        assert view.indexed(EVERYTHING, bound=1) == 9
        assert view.indexed(here, bound=100) == 3
        assert view.indexed(here, bound=2) == 2


def test_a_frequency_follows_rewinds_and_deletes(store):
    """No count remembers what is not there any more, through whatever cache."""
    begin(store, say("a", "needle"), say("b", "needle", step=1))
    begin(store, say("c", "needle", step=2), key=OTHER)
    for expected, change in (
        (3, None),
        (2, lambda writer: writer.delete(OTHER, 5)),
        (3, lambda writer: writer.append(KEY, [say("d", "needle", step=3)])),
    ):
        if change:
            with store.writing() as writer:
                change(writer)
        with store.reading() as view:
            assert view.frequency(term("needle"), EVERYTHING, bound=100) == expected
            assert view.indexed(EVERYTHING, bound=100) == expected


def test_sessions_are_found_by_title_and_label(store):
    """Folded, every clause, in scope, the latest first; never by what a message says."""
    begin(store, say("a", "Lisbon"), title="Trip to Hué", label="travel", updated_at=at(5))
    begin(store, key=OTHER, title="Hue lamps", updated_at=at(6))
    both = [clause("hue")]
    with store.reading() as view:
        assert view.titles(both, EVERYTHING, limit=9) == [OTHER, KEY]
        assert view.titles(both, EVERYTHING, limit=1) == [OTHER]
        assert view.titles(both, Scope(keys=frozenset({KEY})), limit=1) == [KEY]
        assert view.titles([clause("hue"), clause("trip")], EVERYTHING, limit=9) == [KEY]
        assert view.titles([clause("travel")], EVERYTHING, limit=9) == [KEY]
        assert view.titles([clause("lamps", "trip")], EVERYTHING, limit=9) == [OTHER, KEY]
        assert view.titles([clause("lisbon")], EVERYTHING, limit=9) == []
        assert view.titles([clause("lam", prefix=True)], EVERYTHING, limit=9) == [OTHER]
        assert view.titles([Clause(terms=(term("to hue"),))], EVERYTHING, limit=9) == [KEY]
    with store.writing() as writer:
        writer.patch(KEY, facts(title="Porto"))
        writer.delete(OTHER, 5)
    with store.reading() as view:
        assert view.titles(both, EVERYTHING, limit=9) == []
        assert view.titles([clause("porto")], EVERYTHING, limit=9) == [KEY]


def test_a_count_that_is_remembered_is_never_of_a_rare_word_nor_for_a_narrow_caller(store, monkeypatch):
    """A common word's count may be a little old for who sees everything; for who sees little, it is always of what it sees, now."""
    monkeypatch.setattr(limits, "COMMON_WORD_ROWS", 50)
    begin(store, *(say(f"m{n}", "needle", step=n) for n in range(60)), say("one", "thimble", step=61))
    narrow = Scope(keys=frozenset({KEY}))
    with store.reading() as view:
        assert [view.frequency(term(word), EVERYTHING, bound=500) for word in ("needle", "thimble")] == [60, 1]
        assert view.frequency(term("needle"), EVERYTHING, bound=20) == 20
    with store.writing() as writer:
        writer.create(facts(OTHER))
        writer.append(OTHER, [say(f"o{n}", "needle thimble", step=70 + n) for n in range(40)])
    with store.reading() as view:
        assert [view.frequency(term(word), EVERYTHING, bound=500) for word in ("needle", "thimble")] == [100, 41]
        assert view.frequency(term("needle"), narrow, bound=500) == 60
    with store.writing() as writer:
        writer.append(OTHER, [say("last", "needle thimble", step=200)])
    with store.reading() as view:
        assert view.frequency(term("thimble"), EVERYTHING, bound=500) == 42
        assert view.frequency(term("needle"), EVERYTHING, bound=500) in {100, 101}
        assert view.frequency(term("needle"), Scope(keys=frozenset({OTHER})), bound=500) == 41


def test_a_remembered_count_ends_when_a_part_of_the_word_may_be_gone(store, monkeypatch):
    """However many other messages there are: what has changed is measured by the word's own count."""
    monkeypatch.setattr(limits, "COMMON_WORD_ROWS", 50)
    begin(store, *(say(f"m{n}", "needle", step=n) for n in range(60)), *(say(f"x{n}", "thimble", step=100 + n) for n in range(400)))
    begin(store, say("a", "needle", step=600), say("b", "needle", step=601), key=OTHER)
    with store.reading() as view:
        assert view.frequency(term("needle"), EVERYTHING, bound=500) == 62
    with store.writing() as writer:
        writer.delete(OTHER, at(700))
    with store.reading() as view:
        assert view.frequency(term("needle"), EVERYTHING, bound=500) == 60


def test_a_rare_word_is_counted_anew_when_as_many_messages_came_as_went(store):
    """A count of none that is remembered would keep a message from being looked for."""
    begin(store, say("a", "needle"), say("b", "needle", step=1))
    begin(store, say("c", "needle", step=2), key=OTHER)
    with store.reading() as view:
        assert view.frequency(term("thimble"), EVERYTHING, bound=500) == 0
    with store.writing() as writer:
        writer.delete(OTHER, at(3))
        writer.append(KEY, [say("d", "thimble", step=4)])
    with store.reading() as view:
        assert view.frequency(term("thimble"), EVERYTHING, bound=500) == 1

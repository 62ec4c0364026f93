"""Which of the messages that match comes first, and which of them are one."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wesaid import limits
from wesaid.rules.query import parse
from wesaid.rules.rank import Corpus, Place, collapse, exact_first, order, per_session
from wesaid.values import Candidate, Flag, Match, Scored, Tier, TierName

NOW = 1_800_000_000_000
QUERY = parse("ferry timetable harbour")
TERMS = tuple(clause.terms[0] for clause in QUERY.clauses)
CORPUS = Corpus(frequency=lambda _: 10, indexed=1000, now=NOW, average_length=20)


def tier(name: TierName) -> Tier:
    return Tier(name=name, match=Match(all_of=QUERY.clauses, score=TERMS))


ALL, SOME, PHRASE = tier("all"), tier("some"), tier("phrase")


def message(seq: int = 0, *, key: str = "agent:main:a", counts: tuple[int, ...] = (1, 1, 1), **other) -> Candidate:
    given = {"agent_id": "main", "window": 1, "rowid": seq, "role": "user", "timestamp": NOW, "flags": Flag.NONE, "digest": seq}
    return Candidate(**{**given, "key": key, "seq": seq, "counts": counts, "length": 20, "span": 0, **other})


def ranked(*found: tuple[Tier, Candidate], corpus: Corpus = CORPUS) -> list[int]:
    """The order as the messages' seq."""
    return [one.candidate.seq for one in order(found, QUERY, corpus)]


def test_a_strict_tier_is_above_a_loose_one_whatever_the_score():
    """A message with all words beats one that repeats a word twenty times."""
    assert ranked((SOME, message(1, counts=(20, 20, 0))), (ALL, message(2, length=500, timestamp=0))) == [2, 1]
    assert ranked((ALL, message(1, counts=(9, 9, 9))), (PHRASE, message(2, length=500))) == [2, 1]


def test_a_message_found_by_several_tiers_is_one_result_of_its_strictest():
    """The tier named is the strictest one."""
    found = order([(SOME, message(1)), (PHRASE, message(1)), (ALL, message(1))], QUERY, CORPUS)
    assert [(one.candidate.seq, one.tier) for one in found] == [(1, "phrase")]


def test_rare_words_count_for_more_than_common_ones():
    """By inverse document frequency."""
    corpus = replace(CORPUS, frequency=lambda t: 500 if t.text == "ferry" else 3)
    assert ranked((SOME, message(1, counts=(1, 0, 0))), (SOME, message(2, counts=(0, 1, 0), key="agent:main:b")), corpus=corpus) == [2, 1]


def test_repeating_a_word_helps_less_and_less():
    """The tenth occurrence adds less than the second; two different words beat one word repeated."""
    scores = [order([(SOME, message(1, counts=(n, 0, 0)))], QUERY, CORPUS)[0].parts["words"] for n in (1, 2, 9, 10)]
    assert scores[1] - scores[0] > scores[3] - scores[2] > 0
    assert ranked((SOME, message(1, counts=(10, 0, 0))), (SOME, message(2, counts=(1, 1, 0), key="agent:main:b"))) == [2, 1]


def test_words_near_each_other_and_short_messages_are_better():
    """Same words: the closer ones first, then the shorter message."""
    assert ranked((ALL, message(1, span=40)), (ALL, message(2, span=4))) == [2, 1]
    assert ranked((ALL, message(1, length=200)), (ALL, message(2, length=10))) == [2, 1]


def test_a_session_that_says_more_of_the_question_lifts_its_messages():
    """Two equal messages: the one whose session also has the other words wins."""
    found = [
        (SOME, message(1, key="agent:main:a", counts=(1, 0, 0))),
        (SOME, message(2, key="agent:main:b", counts=(1, 0, 0))),
        (SOME, message(3, key="agent:main:b", counts=(0, 1, 1))),
    ]
    assert ranked(*found) == [3, 2, 1]


def test_recency_decides_between_equals_and_no_more():
    """B34: of two equal messages the newer is first; a better one stays first however old it is."""
    old = NOW - 3 * 365 * limits.DAY_MS
    assert ranked((ALL, message(1, timestamp=old)), (ALL, message(2))) == [2, 1]
    assert ranked((ALL, message(1, timestamp=old, counts=(2, 1, 1))), (ALL, message(2))) == [1, 2]
    assert ranked((ALL, message(1, timestamp=NOW + limits.DAY_MS)), (ALL, message(2, timestamp=NOW + 2 * limits.DAY_MS))) == [2, 1]


@pytest.mark.parametrize("flag", [Flag.AUTOMATION, Flag.SUBAGENT])
def test_people_are_above_equal_hits_of_automation_and_subagents(flag):
    """Even when the automatic one is newer; a better automatic one is still above."""
    old = NOW - 3 * 365 * limits.DAY_MS
    assert ranked((ALL, message(1, flags=flag)), (ALL, message(2, timestamp=old))) == [2, 1]
    assert ranked((ALL, message(1, flags=flag, counts=(3, 3, 3))), (ALL, message(2))) == [1, 2]


def test_own_lineage_and_echoes_come_last_whatever_their_tier():
    """B31, B38: who asks has the words in its own session; so has who asked the same before."""
    corpus = replace(CORPUS, own=frozenset({"agent:main:own"}), echoes=frozenset({"agent:main:echo"}))
    found = [
        (PHRASE, message(1, key="agent:main:own")),
        (PHRASE, message(2, key="agent:main:echo")),
        (SOME, message(3, counts=(1, 0, 0))),
        (ALL, message(4, key="agent:main:own")),
    ]
    assert ranked(*found, corpus=corpus) == [3, 2, 1, 4]


def test_a_hit_of_some_names_the_words_it_misses():
    """As typed; function words that were not asked for are not missed."""
    query = parse("What about the Ferry, timetable OR schedule harbour?")
    terms = tuple(t for clause in query.clauses[3:] for t in clause.terms)
    loose = Tier(name="some", match=Match(any_of=query.clauses[3:], score=terms))
    (found,) = order([(loose, message(1, counts=(1, 0, 0, 0)))], query, CORPUS)
    assert found.missing == ("timetable OR schedule", "harbour?")
    (found,) = order([(loose, message(1, counts=(1, 0, 2, 1)))], query, CORPUS)
    assert found.missing == ()


def test_a_phrase_that_was_not_walked_is_recognised_by_nearness():
    """A hit of `all` with all words as near as in the phrase is one of `phrase`, and above the others."""
    corpus = replace(CORPUS, unwalked=3)
    found = order([(ALL, message(1, span=9, counts=(9, 9, 9))), (ALL, message(2, span=3)), (ALL, message(3))], QUERY, corpus)
    assert [(one.candidate.seq, one.tier) for one in found] == [(2, "phrase"), (1, "all"), (3, "all")]
    assert order([(ALL, message(2, span=3))], QUERY, CORPUS)[0].tier == "all"


def test_typed_marks_come_first_within_their_tier():
    """B26: who typed `má` means that one, but a stricter tier, and what comes last, stay where they are."""
    corpus = replace(CORPUS, own=frozenset({"agent:main:own"}))
    found = [
        (ALL, message(1, counts=(9, 9, 9))),
        (ALL, message(2)),
        (PHRASE, message(3)),
        (PHRASE, message(4, key="agent:main:own")),
        (ALL, message(5)),
    ]
    ordered = order(found, QUERY, corpus)
    exact = exact_first(ordered, lambda c: {2: 1.0, 4: 1.0, 5: 0.5}.get(c.seq, 0.0), corpus)
    assert [one.candidate.seq for one in exact] == [3, 2, 5, 1, 4]
    assert exact_first(ordered, lambda _: 0.5, corpus) == ordered


def test_only_the_best_are_read_for_their_marks():
    """Reading text costs; the work is bounded and nothing is lost."""
    ordered = order([(ALL, message(seq)) for seq in range(limits.RANK_MARKS_LOOKED_AT + 5)], QUERY, CORPUS)
    asked: list[int] = []
    found = exact_first(ordered, lambda c: float(asked.append(c.seq) is None), CORPUS)
    assert found == ordered
    assert len(asked) == limits.RANK_MARKS_LOOKED_AT


def test_the_summands_explain_the_score():
    """For --explain: parts add up."""
    (found,) = order([(ALL, message(1, span=3, flags=Flag.AUTOMATION | Flag.SUBAGENT))], QUERY, CORPUS)
    assert found.score == pytest.approx(sum(found.parts.values()))
    assert set(found.parts) == {"words", "near", "session", "recent", "automation", "subagent"}
    assert found.parts["automation"] < 0 < found.parts["near"]


def test_nothing_found_is_no_order():
    """And an empty corpus divides by nothing."""
    empty = Corpus(frequency=lambda _: 0, indexed=0, now=NOW)
    assert order([], QUERY, empty) == []
    assert len(order([(ALL, message(1, length=0, counts=(0, 0, 0)))], QUERY, empty)) == 1


_CANDIDATES = st.lists(
    st.builds(
        lambda tier, **given: (tier, message(**given)),
        st.sampled_from([PHRASE, ALL, SOME]),
        seq=st.integers(0, 20),
        key=st.sampled_from(["agent:main:a", "agent:main:b", "agent:main:own"]),
        counts=st.tuples(*[st.integers(0, 3)] * 3),
        span=st.integers(0, 9),
        length=st.integers(0, 50),
        timestamp=st.integers(0, NOW),
        flags=st.sampled_from([Flag.NONE, Flag.AUTOMATION, Flag.SUBAGENT]),
    ),
    max_size=12,
    unique_by=lambda pair: (pair[1].key, pair[1].seq),
)


@given(_CANDIDATES, st.randoms(use_true_random=False))
@settings(max_examples=200, deadline=None)
def test_the_order_does_not_depend_on_the_order_found(found, shuffler: random.Random):
    """For every set of candidates: same answer however they arrive; nothing lost; strict before loose; own last."""
    corpus = replace(CORPUS, own=frozenset({"agent:main:own"}))
    shuffled = list(found)
    shuffler.shuffle(shuffled)
    one, other = order(found, QUERY, corpus), order(shuffled, QUERY, corpus)
    assert [s.candidate for s in one] == [s.candidate for s in other]
    assert len(one) == len(found)
    places = [(s.candidate.key in corpus.own, ["phrase", "all", "some"].index(s.tier)) for s in one]
    assert places == sorted(places)


# ── copies ───────────────────────────────────────────────────────────────────────────────────────────────────────
def scored(*candidates: Candidate) -> list[Scored]:
    return [Scored(candidate=one, tier="all", score=1.0) for one in candidates]


def test_a_mirror_and_its_original_are_one_result_which_shows_the_original():
    """In the same session with the same text; at the better place of the two."""
    mirror = message(1, digest=7, flags=Flag.MIRROR)
    original = message(2, digest=7)
    between = message(3)
    for first, second in ((mirror, original), (original, mirror)):
        found = collapse(scored(first, between, second))
        assert [(p.scored.candidate.seq, p.copies) for p in found] == [(2, 2), (3, 1)]


def test_equal_text_alone_is_never_a_copy():
    """Two people say "yes, please"; so does one person twice; a mirror of another session is not one of this."""
    apart = [message(1, digest=7), message(2, digest=7), message(3, digest=7, key="agent:main:b", flags=Flag.MIRROR)]
    assert [p.copies for p in collapse(scored(*apart[:2]))] == [1, 1]
    assert [p.copies for p in collapse(scored(apart[0], apart[2]))] == [1, 1]


def one_by_one(found: list[Scored], ids: dict[int, str | None]) -> list[tuple[int, int]]:
    """The rule as it is written, each result compared with all before it."""
    places: list[tuple[Candidate, str | None, int]] = []
    for one in found:
        new, source = one.candidate, ids[one.candidate.seq]
        for at, (old, other, copies) in enumerate(places):
            same_session = (new.key, new.agent_id) == (old.key, old.agent_id)
            mirrored = same_session and bool((new.flags | old.flags) & Flag.MIRROR)
            if new.digest == old.digest and (mirrored or (source is not None and source == other)):
                replaces = old.flags & Flag.MIRROR and not new.flags & Flag.MIRROR
                places[at] = (new if replaces else old, other, copies + 1)
                break
        else:
            places.append((new, source, 1))
    return [(candidate.seq, copies) for candidate, _, copies in places]


@given(st.lists(st.tuples(st.integers(1, 2), st.sampled_from("ab"), st.booleans(), st.sampled_from([None, "m", "n"])), max_size=12))
def test_copies_are_told_as_if_each_were_compared_with_all(drawn: list[tuple[int, str, bool, str | None]]):
    """For any results: the tables that make it quick change nothing."""
    flags = {True: Flag.MIRROR, False: Flag.NONE}
    found = scored(
        *(message(n, digest=text, key=f"agent:main:{key}", flags=flags[mirror]) for n, (text, key, mirror, _) in enumerate(drawn))
    )
    ids = {n: source for n, (_, _, _, source) in enumerate(drawn)}
    sharing = [one.candidate.digest for one in found]
    ids = {n: source if sharing.count(sharing[n]) > 1 else None for n, source in ids.items()}
    made = collapse(found, lambda candidate: ids[candidate.seq])
    assert [(place.scored.candidate.seq, place.copies) for place in made] == one_by_one(found, ids)


def test_forks_share_a_message_when_id_and_text_are_the_same():
    """A fork or resume carries the source's message ids; the first in rank is shown."""
    found = scored(message(1, digest=7), message(2, digest=7, key="agent:main:fork"), message(3, digest=7, key="agent:main:c"), message(4))
    ids = {1: "m1", 2: "m1", 3: "other"}
    asked: list[int] = []

    def message_id(candidate: Candidate) -> str | None:
        asked.append(candidate.seq)
        return ids.get(candidate.seq)

    places = collapse(found, message_id)
    assert [(p.scored.candidate.seq, p.copies) for p in places] == [(1, 2), (3, 1), (4, 1)]
    assert asked == [1, 2, 3]  # only texts that occur twice cost a look


def test_messages_without_a_source_id_are_not_copies():
    """No id is not the same id."""
    found = scored(message(1, digest=7), message(2, digest=7, key="agent:main:b"))
    assert [p.copies for p in collapse(found, lambda _: None)] == [1, 1]


def test_a_session_gives_at_most_three_results_and_says_how_many_more():
    """Unless it was named: then all of them."""
    most = limits.RESULTS_PER_SESSION
    places = [Place(scored=one) for one in scored(*(message(seq) for seq in range(most + 2)), message(99, key="agent:main:b"))]
    found = per_session(places)
    assert [p.scored.candidate.seq for p in found] == [*range(most), 99]
    assert [p.more_in_session for p in found] == [2] * most + [0]
    assert per_session(places, most=None) == places

"""Which tiers a question runs, and what each of them asks for."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wesaid import limits
from wesaid.rules.plan import ignored, tiers, unwalked
from wesaid.rules.query import parse
from wesaid.values import Clause, Term, Tier

FEW = 100
MANY = limits.COMMON_WORD_ROWS * 10


def plan(text: str, counts: Mapping[str, int] | None = None, indexed: int = FEW) -> dict[str, Tier]:
    """Tiers by name; a word that ``counts`` does not name is in ten messages."""
    known = counts or {}
    return {tier.name: tier for tier in tiers(parse(text), lambda t: known.get(" ".join(t.tokens), 9), indexed)}


def words(clauses: tuple[Clause, ...]) -> list[str]:
    return ["|".join(" ".join(t.tokens) for t in clause.terms) for clause in clauses]


def test_tiers_come_strictest_first():
    """phrase, all, some."""
    assert list(plan("ferry timetable")) == ["phrase", "all", "some"]


def test_the_phrase_asks_for_all_words_in_a_row():
    """Function words too: who types a sentence looks for that sentence first."""
    found = plan("what about the ferry")
    assert words(found["phrase"].match.all_of) == ["what about the ferry"]
    assert words(found["all"].match.all_of) == ["ferry"]


@pytest.mark.parametrize("text", ["ferry", '"ferry timetable"', "DEC-0054", "评审", "会", "the"])
def test_one_word_or_phrase_is_a_phrase_by_itself(text):
    """There is no separate tier `all`, and nothing to relax."""
    assert list(plan(text)) == ["phrase"]


@pytest.mark.parametrize("text", ["ferry OR boat", "fer*"])
def test_alternatives_and_prefixes_are_no_phrase(text):
    """A single clause of them is tier `all`."""
    assert list(plan(text)) == ["all"]


def test_a_question_needs_only_the_words_that_carry_it():
    """B33: function words are neither required nor counted, and are reported as typed."""
    found = plan("What did we decide about the ferry timetable?")
    assert words(found["all"].match.all_of) == ["decide", "ferry", "timetable"]
    assert [" ".join(t.tokens) for t in found["all"].match.score] == ["decide", "ferry", "timetable"]
    assert ignored(parse("What did we decide about the ferry?")) == ("What", "did", "we", "about", "the")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("dịch vụ của chúng tôi là gì", ["dich", "vu"]),
        ("Wie lange dauert die Überfahrt mit der Fähre", ["lange", "dauert", "uberfahrt", "fahre"]),
        ("quand est le départ du ferry", ["depart", "ferry"]),
        ("¿cuándo sale el barco?", ["sale", "barco"]),
        ("когда мы ушли", ["ушли"]),
        ("dự án của chúng tôi", ["du", "an"]),
        ("lịch tàu của Vĩ", ["lich", "tau", "cua", "vi"]),
        ("what is in an hour", ["hour"]),
        ("mit license", ["mit", "license"]),
        ("la ferry", ["la", "ferry"]),
        ("我们什么时候决定", ["们什", "么时", "候决", "决定"]),
        ("don't they've ferry", ["ferry"]),
        ("ask US and IT about it", ["ask", "us", "it"]),
        ("foo AND bar", ["foo", "bar"]),
    ],
)
def test_function_words_of_several_languages_are_known(text, expected):
    """One language a query, English when in doubt; marks count when they are typed; a name in capitals is no function word."""
    assert words(plan(text)["all"].match.all_of) == expected


def test_function_words_are_asked_for_in_quotes_and_when_there_is_nothing_else():
    """Who asks "to be or not" is asking something too."""
    assert words(plan('"to be" ferry')["all"].match.all_of) == ["to be", "ferry"]
    assert words(plan("to be or not")["all"].match.all_of) == ["to", "be", "or", "not"]
    assert ignored(parse("to be or not")) == ()


def test_some_is_led_by_the_rarest_words_that_can_be_met():
    """A word that nothing has cannot lead, and is named as missing."""
    counts = {"aa": 50, "bb": 0, "cc": 3, "dd": 40, "ee": 30, "ff": 20, "the": 1}
    found = plan("aa bb the cc dd ee ff", counts)["some"]
    assert words(found.match.any_of) == ["cc", "ff", "ee", "dd"]
    assert len(found.match.any_of) == limits.SOME_GENERATORS
    assert found.missing == ("bb",)
    assert found.match.all_of == ()


def test_some_is_left_out_when_it_could_find_nothing_more():
    """One carrying word, or no word that anything has."""
    assert list(plan("the ferry")) == ["phrase", "all"]
    assert list(plan("ferry timetable", {"ferry": 0, "timetable": 0})) == ["phrase", "all"]


def test_nothing_is_counted_for_one_word():
    """A count orders words among each other; what a short prefix stands for takes longer to count than to find."""

    def never(term):
        raise AssertionError(term)

    for text in ("ferry", "fer*", '"ferry timetable"'):
        assert tiers(parse(text), never, limits.COMMON_WORD_ROWS - 1)


def test_strict_tiers_run_whatever_the_counts_say():
    """A frequency may be older than a message that was just appended."""
    assert words(plan("ferry timetable", {"ferry": 0})["all"].match.all_of) == ["ferry", "timetable"]


def test_excluded_terms_are_excluded_in_every_tier():
    """No tier lets in what the query keeps out."""
    found = plan("ferry timetable -boat")
    assert [tier.match.none_of for tier in found.values()] == [(Term(text="boat", tokens=("boat",)),)] * 3


def test_a_phrase_of_common_words_is_verified_and_not_walked():
    """Without a rare word a phrase walk reads everything; the candidates of `all` say how near the words stand."""
    common = dict.fromkeys(("ferry", "and", "the", "timetable"), MANY)
    text = "ferry and the timetable"
    assert list(plan(text, common, indexed=MANY)) == ["all", "some"]
    assert list(plan(text, {**common, "timetable": 3}, indexed=MANY)) == ["phrase", "all", "some"]
    assert list(plan(text, common, indexed=FEW)) == ["phrase", "all", "some"]
    query = parse(text)
    assert unwalked(query, list(plan(text, common, indexed=MANY).values())) == 4
    assert unwalked(query, list(plan(text).values())) == 0
    assert unwalked(parse("ferry"), []) == 0


def test_nothing_to_ask_for_runs_nothing():
    """Symbols, or fields only."""
    assert plan("***") == {}
    assert plan("role:user") == {}


@given(
    st.lists(st.sampled_from(["the", "ferry", "-boat", '"to be"', "OR", "a*", "评审会议记录", "x-y", "***", "ha"]), min_size=1).map(
        " ".join
    ),
    st.integers(0, MANY),
)
@settings(max_examples=200, deadline=None)
def test_every_tier_scores_the_same_terms(text, indexed):
    """For every question: same score and exclusions in all tiers, and each tier asks for something."""
    query = parse(text)
    made = tiers(query, lambda t: len(t.text) * 1000, indexed)
    assert bool(made) == bool(query.clauses)
    assert len({(tier.match.score, tier.match.none_of) for tier in made}) <= 1
    assert all(tier.match.all_of or tier.match.any_of for tier in made)
    assert all(tier.match.score for tier in made)
    assert unwalked(query, made) >= 0

"""Claims about ``wesaid.rules.excerpt``: it shows what matched, within the bound, and cuts nothing in half."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from wesaid import graphemes, limits
from wesaid.rules import fold
from wesaid.rules.excerpt import excerpt

WORDS = ("ferry", "timetable", "Đường", "lịch", "e\u0301te\u0301", "数据库迁移到新的服务器", "👩‍👩‍👧‍👦", "getUserName", "https://example.com/a/b?c=d",
         "[redacted:api-key]", "Straße", "ﬁle", "\n\n", "\t", "x" * 90, "ありがとう", "🇻🇳", "it's", "क्षि")  # fmt: skip
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=120).flatmap(
    lambda words: st.sampled_from((" ", " ", " ", "")).map(lambda gap: gap.join(words))
)


def shown(text: str, *words: str, **options: int):
    terms = [term for term in (fold.term(word) for word in words) if term]
    return excerpt(text, terms, **options)


def marked(found) -> list[str]:
    return [found.text[start:end] for start, end in found.marks]


@settings(max_examples=200, deadline=None)
@given(TEXTS, st.data())
def test_for_any_text_and_any_word_of_it_the_excerpt_shows_the_word(text, data):
    """For every text and token: within the bound, the token is among the excerpt's own, and a mark stands on it."""
    tokens = fold.tokens(text)
    assume(tokens)
    token = data.draw(st.sampled_from(tokens))
    term = fold.term(token)
    assume(term is not None)
    assume(fold.find(tokens, term))
    found = excerpt(text, [term])
    assert len(found.text) <= limits.SNIPPET_CODE_POINTS
    assert found.marks
    assert fold.find(fold.tokens(found.text), term)
    first = found.text[slice(*found.marks[0])]
    assert fold.tokens(first)[0].startswith(term.tokens[0]) or term.tokens[0] in fold.tokens(first)


@settings(max_examples=200, deadline=None)
@given(TEXTS, st.integers(60, 320), st.sampled_from(("ferry", "数据库", "lịch", "absent", "redacted", "xxx")))
def test_no_cut_goes_through_a_character_or_a_placeholder(text, bound, word):
    """For every text and bound: the excerpt is a stretch of the text on one line, cut at boundaries, with whole placeholders."""
    found = shown(text, word, code_points=bound)
    line = " ".join(text.split())
    assert len(found.text) <= bound
    core = found.text.removeprefix("…").removesuffix("…")
    assert core in line
    places = [at for at in range(len(line) + 1) if line.startswith(core, at)]
    assert any(graphemes.is_boundary(line, at) and graphemes.is_boundary(line, at + len(core)) for at in places)
    assert core.count("[redacted:") == core.count("[redacted:api-key]")
    assert all(0 <= start < end <= len(found.text) for start, end in found.marks)
    assert all(one[1] <= two[0] for one, two in zip(found.marks, found.marks[1:], strict=False))


def test_the_window_with_the_most_different_words_wins():
    """One place with both words beats an earlier place with one of them, however often."""
    text = "ferry ferry ferry " + "filler " * 100 + "the ferry has a new timetable " + "filler " * 100
    assert marked(shown(text, "ferry", "timetable")) == ["ferry", "timetable"]


def test_of_two_windows_the_word_listed_first_decides():
    """Terms come rarest first; the rare one is what the reader wants to see."""
    text = "common " * 20 + "filler " * 100 + "rare " + "filler " * 100
    assert marked(shown(text, "rare", "common")) == ["rare"]


def test_a_match_longer_than_the_bound_shows_its_beginning():
    """A word of 4000 letters, a long link and a long Chinese run are shown from where they match (openclaw.md §7, W7)."""
    word = "z" * 4000
    found = shown("before " * 80 + word + " after", word)
    assert found.text.count("z") >= limits.TOKEN_CODE_POINTS
    run = "数据库迁移" * 200
    found = shown("前言。" * 100 + run, run)
    assert len(found.text) <= limits.SNIPPET_CODE_POINTS
    assert marked(found)[0].startswith("数据库迁移")
    link = "https://example.com/" + "path/" * 300 + "needle/" + "path/" * 300
    assert marked(shown(link, "needle")) == ["needle"]


def test_marks_are_right_after_white_space_was_collapsed():
    """Line ends and runs of spaces become one space, and the marks stand on the words."""
    found = shown("one\n\n\n   two\t\tthree   \r\n four", "three", "four")
    assert found.text == "one two three four"
    assert marked(found) == ["three", "four"]


def test_a_text_without_a_match_shows_its_beginning():
    """A session found by its title shows its first words, unmarked."""
    found = shown("beginning " + "filler " * 100, "absent")
    assert found.text.startswith("beginning filler")
    assert found.text.endswith("filler…")
    assert found.marks == ()


def test_cut_ends_come_out_between_words():
    """Where spaces are near, no word is cut."""
    text = " ".join(f"word{number}" for number in range(400))
    found = shown(text, "word200")
    assert set(found.text.strip("…").split()) <= set(text.split())
    assert found.text.startswith("…")
    assert found.text.endswith("…")


def test_a_phrase_is_marked_as_one():
    """A quoted phrase or a hyphenated name is one mark, punctuation inside included."""
    assert marked(shown("see foo-bar and foo, bar", "foo-bar")) == ["foo-bar", "foo, bar"]


@pytest.mark.parametrize("text", ["", "   ", "\n", "🚀", "***"])
def test_a_text_without_words_is_no_trouble(text):
    """Nothing to show is shown as it is."""
    found = shown(text, "word")
    assert found.text == text.strip()
    assert found.marks == ()


@pytest.mark.parametrize("unit", ["ferry ", "đặt lịch ", "数据库。", "数", "\u0301", "ferry", "[redacted:x]", " ", "👍🏽"])
def test_a_text_as_long_as_may_be_comes_back_within_the_bound(unit):
    """400 000 code points of one thing over and over, the match at the far end."""
    found = shown(unit * (limits.INDEXED_CODE_POINTS // len(unit) - 7) + " zebra", "zebra", "ferry")
    assert len(found.text) <= limits.SNIPPET_CODE_POINTS
    assert "zebra" in found.text


def test_a_match_in_a_part_of_an_identifier_is_shown_and_marked():
    """`todos` is found by the hump of `useTodos.ts`: the excerpt is that place, not the message's beginning."""
    text = "Based on the analysis of this project " * 20 + "see useTodos.ts for the hook"
    made = excerpt(text, [fold.term("todos")])
    assert "useTodos.ts" in made.text
    assert [made.text[start:end] for start, end in made.marks] == ["Todos"]


@pytest.mark.parametrize("filler", ["项目会议纪要", "word ", "ฐานข้อมูล"])
def test_a_match_at_the_end_of_a_very_long_message_is_shown(filler):
    """However long the message, the excerpt is the place of the match."""
    text = filler * (limits.INDEXED_CODE_POINTS // len(filler) // 2) + " the Kestrel lands"
    made = excerpt(text, [fold.term("kestrel")])
    assert [made.text[start:end] for start, end in made.marks] == ["Kestrel"]

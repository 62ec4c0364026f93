"""Claims about ``wesaid.rules.bounds``."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from wesaid import graphemes
from wesaid.rules import bounds

TEXTS = st.lists(st.sampled_from(("a", " ", "é", "e\u0301", "中", "👩‍👩‍👧‍👦", "🇻🇳", "\ud83d", "đ")), max_size=40).map("".join)


@settings(max_examples=200, deadline=None)
@given(TEXTS, st.integers(0, 60))
def test_a_clipped_text_keeps_its_bound_and_its_characters(text, bound):
    """For every text: at most the bound, cut between characters, marked with an ellipsis, and untouched if it fits."""
    out, cut = bounds.clip(text, bound)
    assert len(out) <= bound or not cut
    assert cut == (len(text) > bound)
    if not cut:
        assert out == text
    elif bound:
        kept = out.removesuffix("…")
        assert kept != out
        assert text.startswith(kept)
        assert graphemes.is_boundary(text, len(kept))


@settings(max_examples=200, deadline=None)
@given(TEXTS, st.integers(0, 120))
def test_a_text_clipped_to_bytes_keeps_its_bound_and_its_characters(text, bound):
    """The same for bytes of UTF-8; nothing more could have been kept but the character that did not fit."""
    out, cut = bounds.clip_bytes(text, bound)
    assert bounds.utf8(out) <= bound or not cut
    assert cut == (len(text.encode("utf-8", "surrogatepass")) > bound)
    if not cut:
        assert out == text
    elif bound >= 3:
        kept = out.removesuffix("…")
        assert text.startswith(kept)
        assert graphemes.is_boundary(text, len(kept))
        following = graphemes.ceil(text, len(kept) + 1)
        assert bounds.utf8(text[:following]) + 3 > bound


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(max_size=20), max_size=12), st.integers(0, 300))
def test_whole_results_are_left_out_until_the_answer_fits(results, budget):
    """For every list of results: the encoded answer with the number that fit is within the budget, and one more would not be."""
    encoded = [json.dumps(result) for result in results]
    overhead = bounds.utf8(json.dumps({"results": []}))
    number = bounds.fit([bounds.utf8(item) for item in encoded], overhead, budget)
    assert number == 0 or bounds.utf8(json.dumps({"results": results[:number]})) <= budget
    assert number == len(results) or bounds.utf8(json.dumps({"results": results[: number + 1]})) > budget


def test_what_follows_a_result_that_is_too_large_is_left_out_too():
    """Order has a meaning: a small result never jumps over a large one."""
    assert bounds.fit([10, 1000, 10], 5, 100) == 1

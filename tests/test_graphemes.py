"""Claims about ``wesaid.graphemes``: where a text may be cut."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wesaid import graphemes, limits

WHOLE = ("e\u0301", "👩‍👩‍👧‍👦", "👍🏽", "🇻🇳", "❤️", "한", "\u1112\u1161\u11ab", "ค้ำ", "\ud83d\ude00", "\r\n", "ｶﾞ", "कि")


@pytest.mark.parametrize("cluster", WHOLE)
def test_no_boundary_inside_a_character(cluster):
    """A letter with marks, a family, a flag, a syllable of jamo: whole or not at all."""
    text = f"a{cluster}b"
    inside = range(2, 1 + len(cluster))
    assert not any(graphemes.is_boundary(text, at) for at in inside)
    assert graphemes.is_boundary(text, 1)
    assert graphemes.is_boundary(text, 1 + len(cluster))


def test_flags_pair_from_the_left():
    """Between two flags is a boundary, inside one is none."""
    assert [graphemes.is_boundary("🇻🇳🇫🇷", at) for at in range(5)] == [True, False, True, False, True]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from([*WHOLE, "a", " ", "中"]), max_size=8).map("".join), st.integers(-3, 60))
def test_floor_and_ceil_enclose_the_place(text, at):
    """For every text and place: floor <= place <= ceil, and both are boundaries."""
    inside = max(0, min(at, len(text)))
    assert graphemes.floor(text, at) <= inside <= graphemes.ceil(text, at)
    assert graphemes.is_boundary(text, graphemes.floor(text, at))
    assert graphemes.is_boundary(text, graphemes.ceil(text, at))


def test_piled_marks_are_cut_so_that_bounds_hold():
    """A thousand marks on one letter are no reason to keep a thousand code points."""
    text = "e" + "\u0301" * 1000
    assert 500 - limits.CLUSTER_CODE_POINTS <= graphemes.floor(text, 500) <= 500

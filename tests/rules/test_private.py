"""What stands between ``<private>`` marks is cut out of texts and of whatever JSON holds them."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wesaid.rules.private import removed, spans_of, without_private

PIECES = st.lists(
    st.sampled_from(["<private>", "</private>", "<PRIVATE>", "<private\n>", "</private >", "<private why='x'>", "a", "b ", "\n", "`", "é"]),
    max_size=12,
)


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ("a <private>x</private> b", "a  b"),
        ("a <Private>x\n<private>y</private> z</PRIVATE> b", "a  b"),
        ("a <private>x", "a"),
        ("`<private>` is a tag", "`<private>` is a tag"),
        ("`<private>` is a tag <private>x", "`<private>` is a tag"),
        (["a <private>x", {"text": "x"}, "x</private> b"], ["a ", {"text": ""}, " b"]),
        ({"content": [{"text": "a <private>x"}, {"type": "image"}, {"text": "x"}], "n": 5}, {"content": [{"text": "a "}, {"type": "image"}, {"text": ""}], "n": 5}),
        ("a <private >x</private > <private why='y'>x</private\n> b", "a   b"),
        ("a &lt;private&gt;b&lt;/private&gt; <privately> <private/>", "a &lt;private&gt;b&lt;/private&gt; <privately> <private/>"),
        ({"edits": [{"a": "b <private>"}, {"c": "x", "type": "t", "n": 5}, {"d": "</private> e"}], "f": "g"},
         {"edits": [{"a": "b"}, {"c": "", "type": "t", "n": None}, {"d": "e"}], "f": "g"}),
        ([{"text": "<private>"}, {"type": "image", "source": {"data": "x"}}, {"text": "</private>"}],
         [{"text": ""}, {"type": "image", "source": {"data": ""}}, {"text": ""}]),
        ({"<private>x</private>": 1, "type": "<private>x"}, {"": 1, "type": ""}),
        ({"a": "b <private>x", "c": "d", "e": True, "f": None}, {"a": "b", "c": "d", "e": True, "f": None}),
        ({"deep": {"list": [[{"other": "a <private>x</private>"}]]}}, {"deep": {"list": [[{"other": "a"}]]}}),
    ],
)  # fmt: skip
def test_private_text_goes(value: Any, kept: Any) -> None:
    """In any case, nested, unclosed, over several blocks; what is not text stays."""
    assert removed(value) == kept


@given(pieces=PIECES)
def test_what_is_left_is_what_stands_outside(pieces: list[str]) -> None:
    """For every text: spans are in order and apart, they end with a mark or with the text, and a second pass finds none but lone marks."""
    text = "".join(pieces)
    spans = spans_of(text)
    assert all(start < end for start, end in spans)
    assert all(one[1] <= two[0] for one, two in itertools.pairwise(spans))
    assert all(end == len(text) or text[:end].lower().endswith(("</private>", "</private >")) for _, end in spans)
    kept = without_private(text)
    assert len(kept) <= len(text)
    assert (kept == text) == (not spans or kept == text)


@given(pieces=PIECES, cuts=st.lists(st.integers(0, 12), max_size=3))
def test_blocks_are_cut_as_the_text_that_they_are(pieces: list[str], cuts: list[int]) -> None:
    """For every way to part a text between its words: what the blocks keep is what the whole text keeps."""
    at = [0, *sorted(min(cut, len(pieces)) for cut in cuts), len(pieces)]
    blocks = ["".join(pieces[begin:end]) for begin, end in itertools.pairwise(at)]
    whole = without_private("\n".join(blocks))
    found = removed([{"text": block} for block in blocks])
    assert "".join("".join(block["text"] for block in found).split()) == "".join(whole.split())


def test_many_marks_take_no_time_to_speak_of() -> None:
    """A hundred thousand of them, in one text and in as many blocks; a nesting deeper than any parser goes is left out."""
    assert without_private("<private>" * 100_000) == ""
    assert without_private("<private " * 100_000) == "<private " * 100_000
    assert removed(["<private>x</private>"] * 50_000) == [""] * 50_000
    assert removed([{"a": "<private>"}] * 50_000) == [{"a": ""}] * 50_000
    value: Any = "a <private>x</private>"
    for _ in range(100_000):
        value = [value]
    value = removed(value)
    while isinstance(value, list):
        [value] = value
    assert value == {"omitted": True}

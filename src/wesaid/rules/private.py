"""``<private>…</private>``: what a person said and wants nobody to be shown. Cut out of texts and records before anything else looks at them.

It knows no storage and no secrets. Invariants: a span goes wherever it stands, in code too, whatever the case of its marks, nested ones
whole; a mark that nobody closed hides the rest of its text, since who forgets to close it wanted it closed; every text takes linear time.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import Any, Final

from wesaid import limits

_MARK: Final = re.compile(r"<(/?)private>", re.IGNORECASE)
_SPACE: Final = (  # what JavaScript's trim() takes
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
)


def spans_of(text: str) -> list[tuple[int, int]]:
    """``(start, end)`` of what is private, in order. A closing mark without an opening one is a word like any other.

    So is an opening one in backticks (it is what the text is about) that nobody closes.
    """
    spans: list[tuple[int, int]] = []
    opened: list[int] = []
    for mark in _MARK.finditer(text):
        if not mark[1]:
            opened.append(mark.start())
        elif opened:
            start = opened.pop()
            while spans and spans[-1][0] > start:
                spans.pop()
            spans.append((start, mark.end()))
    left = next((start for start in opened if text[start - 1 : start] != "`"), None)
    if left is not None:
        spans = [span for span in spans if span[0] < left]
        spans.append((left, len(text)))
    return spans


def without_private(text: str) -> str:
    """A text without what is private; the same text when nothing is."""
    spans = spans_of(text)
    return _cut(text, spans, 0).strip(_SPACE) if spans else text


def removed(value: Any, depth: int = 0) -> Any:
    """A JSON value without what is private in its strings; blocks of one message are read as one text, which a span may run through.

    What is nested deeper than ``limits.JSON_DEPTH`` is replaced by ``{"omitted": true}``.
    """
    if isinstance(value, str):
        return without_private(value)
    if not isinstance(value, dict | list):
        return value
    if depth > limits.JSON_DEPTH:
        return {"omitted": True}
    if isinstance(value, dict):
        return {name: removed(inner, depth + 1) for name, inner in value.items()}
    told = [(number, text) for number, inner in enumerate(value) if isinstance(text := _text(inner), str)]
    spans = spans_of("\n".join(text for _, text in told))
    out = list(value)
    starts, ends, at = [start for start, _ in spans], [end for _, end in spans], 0
    for number, text in told if spans else ():
        kept = _cut(text, spans[bisect_right(ends, at) : bisect_left(starts, at + len(text))], at)
        out[number] = {**value[number], "text": kept} if isinstance(value[number], dict) else kept
        at += len(text) + 1
    return [removed(inner, depth + 1) for inner in out]


def _text(block: Any) -> Any:
    return block.get("text") if isinstance(block, dict) else block


def _cut(text: str, spans: list[tuple[int, int]], at: int) -> str:
    """A text that begins at place ``at``, without its part of the spans."""
    kept, position = [], 0
    for start, end in spans:
        kept.append(text[position : max(start - at, position)])
        position = min(end - at, len(text))
    return "".join([*kept, text[position:]])


__all__ = ["removed", "spans_of", "without_private"]

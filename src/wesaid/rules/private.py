"""``<private>…</private>``: what a person said and wants nobody to be shown. Cut out of texts and records before anything else looks at them.

It knows no storage and no secrets. Invariants: a span goes wherever it stands, in code too, whatever the case of its marks and whatever attributes they
have, nested ones whole; a mark that nobody closed hides the rest of its text, since who forgets to close it wanted it closed; every text takes linear time.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Any, Final

from wesaid import limits

_MARK: Final = re.compile(
    r"<(/?)private(?:\s[^<>]{0,200})?>", re.IGNORECASE
)  # 200: as long as attributes of it may be, so that it stays linear
_SPACE: Final = (  # what JavaScript's trim() takes
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
)


def spans_of(text: str) -> list[tuple[int, int]]:
    """``(start, end)`` of what is private, in order. A closing mark without an opening one is a word like any other.

    So is an opening one in backticks (it is what the text is about) that nobody closes, and ``&lt;private&gt;``, which shows the tag.
    """
    spans, opened = _closed(text)
    left = next((start for start in opened if text[start - 1 : start] != "`"), None)
    if left is not None:
        spans = [span for span in spans if span[0] < left]
        spans.append((left, len(text)))
    return spans


def _closed(text: str) -> tuple[list[tuple[int, int]], list[int]]:
    """The spans that somebody closed, outermost ones, and where those begin that nobody did."""
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
    return spans, opened


def without_private(text: str) -> str:
    """A text without what is private; the same text when nothing is."""
    spans = spans_of(text)
    return _cut(text, spans, 0).strip(_SPACE) if spans else text


def removed(value: Any) -> Any:
    """A JSON value without what is private in it.

    Blocks of one message are read as one text, which a span may run through. One that is closed somewhere later in the value hides all strings
    and numbers between, whatever they belong to; one that is never closed hides the rest of its own text. Names of fields, and types, are
    looked at by themselves: a record keeps its shape. What is nested deeper than ``limits.JSON_DEPTH`` is replaced by ``{"omitted": true}``.
    """
    leaves = _Leaves()
    leaves.take(value)
    return _rebuilt(value, iter(leaves.kept()))


class _Leaves:
    """The strings and numbers of a JSON value in their order, and which of them are read as one text."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._groups: list[list[int]] = []
        self._lists: list[bool] = []  # whether a group is one of several blocks

    def take(self, value: Any, group: list[int] | None = None, depth: int = 0) -> None:
        """Add a value; its text belongs to the blocks of ``group``, if it is one of them."""
        if isinstance(value, dict | list):
            if depth > limits.JSON_DEPTH:
                return
            if isinstance(value, list):
                group = self._begun(is_list=True)
                for inner in value:
                    self.take(inner, group, depth + 1)
                return
            for name, inner in value.items():
                if not _is_type(name, inner):
                    self.take(inner, group if name == "text" and isinstance(inner, str) else None, depth + 1)
        elif _is_leaf(value):
            own = group if group is not None and isinstance(value, str) else self._begun(is_list=False)
            own.append(len(self._texts))
            self._texts.append(_written(value))

    def _begun(self, *, is_list: bool) -> list[int]:
        self._groups.append([])
        self._lists.append(is_list)
        return self._groups[-1]

    def kept(self) -> list[str]:
        """What is left of each."""
        hidden: list[list[tuple[int, int]]] = [[] for _ in self._texts]
        _share(self._texts, range(len(self._texts)), _closed("\n".join(self._texts))[0], hidden)
        for group in self._groups:
            texts = [self._texts[number] for number in group]
            _share(texts, group, spans_of("\n".join(texts)), hidden)
        kept = [_cut(text, sorted(spans), 0) for text, spans in zip(self._texts, hidden, strict=True)]
        for group in (group for group, is_list in zip(self._groups, self._lists, strict=True) if not is_list):
            for number in group:
                kept[number] = kept[number].strip(_SPACE) if hidden[number] else kept[number]
        return kept


def _share(texts: Sequence[str], numbers: Sequence[int], spans: list[tuple[int, int]], hidden: list[list[tuple[int, int]]]) -> None:
    """Add to each of some texts its part of the spans of all of them, joined by line ends."""
    starts, ends, at = [start for start, _ in spans], [end for _, end in spans], 0
    for number, text in zip(numbers, texts, strict=True) if spans else ():
        for start, end in spans[bisect_right(ends, at) : bisect_left(starts, at + len(text))]:
            hidden[number].append((max(start - at, 0), min(end - at, len(text))))
        at += len(text) + 1


def _rebuilt(value: Any, kept: Iterator[str], depth: int = 0) -> Any:
    """The value with what is left of its leaves, in the order in which they were taken."""
    if isinstance(value, dict | list):
        if depth > limits.JSON_DEPTH:
            return {"omitted": True}
        if isinstance(value, list):
            return [_rebuilt(inner, kept, depth + 1) for inner in value]
        return {
            without_private(str(name)): without_private(inner) if _is_type(name, inner) else _rebuilt(inner, kept, depth + 1)
            for name, inner in value.items()
        }
    if not _is_leaf(value):
        return value
    left = next(kept)
    return value if left == _written(value) else None if isinstance(value, int | float) else left


def _is_type(name: object, value: Any) -> bool:
    return name == "type" and isinstance(value, str)


def _is_leaf(value: Any) -> bool:
    """Whether a value may be hidden: a text or a number."""
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _cut(text: str, spans: list[tuple[int, int]], at: int) -> str:
    """A text that begins at place ``at``, without its part of the spans."""
    kept, position = [], 0
    for start, end in spans:
        kept.append(text[position : max(start - at, position)])
        position = max(position, min(end - at, len(text)))
    return "".join([*kept, text[position:]])


__all__ = ["removed", "spans_of", "without_private"]

r"""A text as a reader of secrets sees it: without what hides letters, and with the way back to the places of the original.

What is taken out or put back: characters that show nothing (zero-width, soft hyphens, variation selectors, NUL and other controls),
terminal sequences, percent-escapes and ``\u`` escapes of ASCII, a few HTML entities, and line ends inside a long unbroken run, as terminals
and mail programs put them. Most texts have none of these; then there is nothing to make.

Knows no secret but how vendors' keys begin (``keys``). Invariants: one pass, each step bounded; offsets are code points; the places of kept characters rise.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import Final

from wesaid.rules.redact.keys import KEYS

_INVISIBLE: Final = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff"
)
_TERMINAL: Final = r"(?:\[[0-?]{0,32}[ -/]{0,4}[@-~]|\][^\x07\x1b\n]{0,256}(?:\x07|\x1b\\))"  # after its ESC
# What shows nothing, as percent-escaped UTF-8 and as an escape of JSON.
_HIDDEN_BYTES: Final = r"(?:0[0-8bBcCe-fE-F]|1[0-9A-Fa-f]|7[Ff]|[Cc]2%[Aa][Dd]|[Ee]2%80%(?:8[B-Fb-f]|[Aa][A-Ea-e])|[Ee]2%81%[Aa][0-9A-Fa-f]|[Ee][Ff]%[Bb][Bb]%[Bb][Ff]|[Ee][Ff]%[Bb]8%8[0-9A-Fa-f])"
_HIDDEN_CODES: Final = r"u(?:00[01][0-8bBcCe-fE-F]|00[aA][dD]|200[b-fB-F]|202[a-eA-E]|206[0-9a-fA-F]|[fF][eE](?:0[0-9a-fA-F]|[fF]{2}))"
_RUN: Final = "A-Za-z0-9_+/=.~%-"
_FEW: Final = 8
# A line, or one of two texts, may end so early in a vendor's key that fewer than eight characters precede.
BEGINNINGS: Final = tuple(
    sorted(
        {
            anchor[:width]
            for rule in KEYS
            for anchor in rule.anchors
            for width in range(3, min(len(anchor), _FEW - 1) + 1)
            if width in (len(anchor), _FEW - 1) or not anchor[width - 1].isalnum()  # whole, cut, or up to a mark: apify_ of apify_api_
        }
    )
)


def _after_few() -> str:
    """Lookbehinds, one a width since they are of fixed width, for a line end after a beginning and at most so many characters of a key."""
    ways = {
        width: [rf"{re.escape(one)}[{_RUN}]{{{width - len(one)}}}" for one in BEGINNINGS if len(one) <= width] for width in range(3, _FEW)
    }
    return "|".join(rf"(?<=\b(?i:{'|'.join(some)})\n)" for some in ways.values())


# A line end in a run: after eight characters of it, or fewer that begin a key, of which eight must follow: short lines are passed over fast.
_WRAP: Final = rf"(?:(?<=[{_RUN}]{{8}}\n)|(?<=[{_RUN}]{{8}}[\r\\]\n)|(?=[ \t]{{0,16}}(?:[>|] ?)?[{_RUN}]{{8}})(?:{_after_few()}))[ \t]{{0,16}}(?:[>|] ?)?(?=[{_RUN}])"
# The first character decides what may follow; a set in front lets the regex engine pass over everything else quickly.
_ODD: Final = re.compile(
    rf"[%\\&\n{_INVISIBLE}](?:(?<=\x1b){_TERMINAL}|(?<=\x9b)[0-?]{{0,32}}[ -/]{{0,4}}[@-~]"
    rf"|(?<=%)(?:25){{0,3}}(?:{_HIDDEN_BYTES}|([2-7][0-9A-Fa-f]|0[ADad9]))"
    rf"|(?<=\\)(?:{_HIDDEN_CODES}|u00([2-7][0-9a-fA-F]))"
    rf"|(?<=&)(quot|amp|apos|#3[49]|#x3[dD]|#61);"
    rf"|(?<=\n)({_WRAP})|(?<![%\\&\n]))"  # the last: whatever else is in the set, by itself
)
_ENTITY: Final = 3  # groups of _ODD; the first two are hexadecimal
_WRAPS: Final = 4
_ENTITIES: Final = {"quot": '"', "#34": '"', "amp": "&", "apos": "'", "#39": "'", "#x3d": "=", "#61": "="}
# What makes the next line the rest of a key: a digit or a hump in it …
_REST: Final = re.compile(r"[A-Za-z_+/=.~%-]{0,80}+[0-9]|[A-Za-z]{0,80}?[a-z][A-Z]|[A-Z]{6}")
# … or that it fills its line after a full one; but never a name that is given a value.
_WHOLE_LINE: Final = re.compile(rf"[{_RUN}]{{6,}}+[ \t]*+(?:[\r\n]|$)")
_NAME: Final = re.compile(r"[\w.-]{1,64}+[\"']?[ \t]{0,4}(?:=(?!=|[ \t]{0,4}(?:[\r\n]|$))|:\s)")
_HIDDEN_PART: Final = "\r\r"  # what the loop fills hidden parts with, at least so long
_FULL_LINE: Final = 40  # columns; nothing wraps earlier


@dataclass(frozen=True, slots=True)
class Normal:
    """A normalised text in stretches: where each begins in it and in the original, and where it ends there (-1: as it stands)."""

    text: str
    begins: list[int]
    places: list[int]
    ends: list[int]

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Where a stretch of the normalised text stands in the original, with what was taken out inside it."""
        return self._place(start)[0], self._place(end - 1)[1]

    def _place(self, at: int) -> tuple[int, int]:
        number = bisect_right(self.begins, at) - 1
        if self.ends[number] >= 0:
            return self.places[number], self.ends[number]
        place = self.places[number] + at - self.begins[number]
        return place, place + 1


def normal(text: str) -> Normal | None:
    """The normalised text; None when it is the text itself."""
    if _ODD.search(text) is None:
        return None
    parts: list[str] = []
    begins: list[int] = []
    places: list[int] = []
    ends: list[int] = []
    length = last = 0
    for match in _ODD.finditer(text):
        start, end = match.span()
        kind = match.lastindex
        if kind == _WRAPS:
            if not _goes_on(text, start, end):
                continue
            if text[start - 1] in "\r\\":
                start -= 1
        if start > last:
            parts.append(text[last:start])
            begins.append(length)
            places.append(last)
            ends.append(-1)
            length += start - last
        if kind is not None and kind != _WRAPS:
            code = match[kind]
            parts.append(_ENTITIES[code.lower()] if kind == _ENTITY else chr(int(code, 16)))  # base sixteen, as in the escapes
            begins.append(length)
            places.append(start)
            ends.append(end)
            length += 1
        last = end
    if not last:
        return None
    if last < len(text):
        parts.append(text[last:])
        begins.append(length)
        places.append(last)
        ends.append(-1)
    return Normal("".join(parts), begins, places, ends)


def _goes_on(text: str, start: int, end: int) -> bool:
    """Whether the run before a line end at ``start`` goes on at ``end``."""
    if _NAME.match(text, end):
        return False
    if _REST.match(text, end):
        return True
    before = text[max(start - _FULL_LINE, 0) : start]
    # How long the line was before something in it was hidden cannot be told: then it is no full line, so that twice is once.
    full = len(before) == _FULL_LINE and "\n" not in before and _HIDDEN_PART not in before
    return full and _WHOLE_LINE.match(text, end) is not None

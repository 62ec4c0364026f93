"""Where a text may be cut without cutting a character as people see it.

The part of Unicode's rule (UAX #29) that shows: marks, joiners, variation selectors, skin tones, flags, tags, Hangul jamo, a lone half of
a surrogate pair. Knows nothing of words or of what a text is about. A character of more than ``limits.CLUSTER_CODE_POINTS`` (marks piled
up to do harm) is cut; otherwise a bound could not be kept.
"""

from __future__ import annotations

import unicodedata
from typing import Final

from wesaid import limits

_JOINER: Final = "\u200d"
# Follow what stands before them although no marks by category: joiners, skin tones, flag tags, half-width voicing, Thai am.
_EXTENDS: Final = (
    ("\u200c", "\u200d"),
    ("\U0001f3fb", "\U0001f3ff"),
    ("\U000e0020", "\U000e007f"),
    ("\uff9e", "\uff9f"),
    ("\u0e33", "\u0e33"),
    ("\u0eb3", "\u0eb3"),
)
_FLAG: Final = ("\U0001f1e6", "\U0001f1ff")
_LEADING, _VOWEL, _TRAILING = ("\u1100", "\u115f"), ("\u1160", "\u11a7"), ("\u11a8", "\u11ff")
_SYLLABLE: Final = ("\uac00", "\ud7a3")


def is_boundary(text: str, at: int) -> bool:
    """Whether ``text[:at]`` and ``text[at:]`` both hold whole characters. Looks back over at most one character."""
    if at <= 0 or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if before.isascii() and after.isascii():
        return not (before == "\r" and after == "\n")
    if _JOINER in {before, after} or _extends(after):
        return False
    if "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff":
        return False
    if _within(after, _FLAG):
        return _flags_before(text, at) % 2 == 0
    return not _hangul_joins(before, after)


def floor(text: str, at: int) -> int:
    """The last boundary not after ``at``."""
    return _nearest(text, at, -1)


def ceil(text: str, at: int) -> int:
    """The first boundary not before ``at``."""
    return _nearest(text, at, 1)


def _nearest(text: str, at: int, step: int) -> int:
    at = max(0, min(at, len(text)))
    for distance in range(limits.CLUSTER_CODE_POINTS):
        if is_boundary(text, at + step * distance):
            return at + step * distance
    return at


def _within(char: str, ends: tuple[str, str]) -> bool:
    return ends[0] <= char <= ends[1]


def _extends(char: str) -> bool:
    return unicodedata.category(char)[0] == "M" or any(_within(char, ends) for ends in _EXTENDS)


def _flags_before(text: str, at: int) -> int:
    """How many halves of flags stand in a row before ``at``; beyond the bound their pairing is not worth knowing."""
    count = 0
    while count < min(at, limits.CLUSTER_CODE_POINTS) and _within(text[at - 1 - count], _FLAG):
        count += 1
    return count


def _hangul_joins(before: str, after: str) -> bool:
    if _within(after, _VOWEL):
        return _within(before, _LEADING) or _within(before, _VOWEL) or _within(before, _SYLLABLE)
    if _within(after, _TRAILING):
        return _within(before, _VOWEL) or _within(before, _TRAILING) or _within(before, _SYLLABLE)
    return _within(after, _LEADING) and _within(before, _LEADING)

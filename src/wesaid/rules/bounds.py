"""Keeping within a bound: a text by cutting it, an answer by leaving whole results out.

Knows sizes and nothing of what is in them. A cut text ends in "…", which counts, and no cut goes through a character (``graphemes``).
Bytes are bytes of UTF-8 as it is sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from wesaid import graphemes

_ELLIPSIS: Final = "…"
_ELLIPSIS_BYTES: Final = len(_ELLIPSIS.encode())
_SEPARATOR_BYTES: Final = 2  # ", ": the most that a JSON encoder of ours puts between two items


def clip(text: str, code_points: int) -> tuple[str, bool]:
    """``text`` in at most ``code_points``, and whether something was cut."""
    if len(text) <= code_points:
        return text, False
    if code_points < len(_ELLIPSIS):
        return "", True
    return text[: graphemes.floor(text, code_points - len(_ELLIPSIS))] + _ELLIPSIS, True


def clip_bytes(text: str, n_bytes: int) -> tuple[str, bool]:
    """``text`` in at most ``n_bytes`` of UTF-8, and whether something was cut."""
    if len(text) <= n_bytes // 4 or utf8(text) <= n_bytes:  # no code point takes more than four bytes
        return text, False
    if n_bytes < _ELLIPSIS_BYTES:
        return "", True
    data = text[:n_bytes].encode("utf-8", "surrogatepass")  # a lone surrogate is three bytes, as any encoder that takes it says
    room = n_bytes - _ELLIPSIS_BYTES
    while data[room] & 0b1100_0000 == 0b1000_0000:  # not inside a code point
        room -= 1
    whole = len(data[:room].decode("utf-8", "surrogatepass"))
    return text[: graphemes.floor(text, whole)] + _ELLIPSIS, True


def utf8(text: str) -> int:
    """Bytes of ``text`` in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def fit(sizes: Sequence[int], overhead: int, budget: int) -> int:
    """How many of the results, from the first, stay within ``budget``.

    Args:
        sizes: bytes of each result as it is sent.
        overhead: bytes of everything else in the answer, with its flags set as they are when results are missing.
        budget: bytes that the whole answer may have.

    Returns:
        The number of whole results; what follows the first that does not fit is left out too, since order has a meaning.
    """
    left = budget - overhead
    for number, size in enumerate(sizes):
        left -= size + (_SEPARATOR_BYTES if number else 0)
        if left < 0:
            return number
    return len(sizes)

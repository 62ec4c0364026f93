"""How a file's bytes are text; and whether JSON that lies in them may say something, since reading all records for a rare word is not free.

It refuses to know files and records. Invariant: what a reader of the records would find, ``may_say`` finds; the other way round it may be wrong.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from functools import cache
from typing import Final

_ESCAPE: Final = "\\u{:04{}}"  # of a character in JSON: its number, in hexadecimal


@dataclass(frozen=True, slots=True)
class Encoding:
    """How a file's bytes become lines."""

    name: str
    skip: int  # bytes of byte order mark
    newline: bytes

    @property
    def width(self) -> int:
        """Bytes of a code unit: a newline is one only at a multiple of it."""
        return len(self.newline)

    def longest(self, words: str) -> int:
        """How many bytes words (ASCII) may take: each character as an escape."""
        return len(_ESCAPE.format(0, "x")) * len(words) * self.width


UTF8: Final = Encoding("utf-8", 0, b"\n")
MARK_BYTES: Final = 3  # at most, of a byte order mark
_MARKS: Final = (
    (codecs.BOM_UTF8, Encoding("utf-8", 3, b"\n")),
    (codecs.BOM_UTF16_LE, Encoding("utf-16-le", 2, b"\n\x00")),
    (codecs.BOM_UTF16_BE, Encoding("utf-16-be", 2, b"\x00\n")),
)


def of(start: bytes) -> Encoding:
    """The encoding of a file that begins so."""
    return next((encoding for mark, encoding in _MARKS if start.startswith(mark)), UTF8)


def may_say(data: bytes | memoryview, words: str, encoding: Encoding = UTF8) -> bool:
    """Whether bytes have the words (ASCII), or one of their characters as an escape: no writer of JSON does that, but somebody may."""
    return any(pattern.search(data) for pattern in _written(words, encoding.name))


@cache
def _written(words: str, name: str) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    escapes = sorted({_ESCAPE.format(ord(char), case) for char in words for case in "xX"})
    return re.compile(re.escape(words.encode(name))), re.compile(b"|".join(re.escape(escape.encode(name)) for escape in escapes))


__all__ = ["MARK_BYTES", "UTF8", "Encoding", "may_say", "of"]

"""Lines of styled text: widths in terminal cells, wrapping, columns, and ANSI at the very end.

A line is a list of pieces ``(text, style)``. Refuses to know what the text says and where it goes; takes only text that
`output.safe` has passed. Invariant: without styles the same characters come out.
"""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Callable, Sequence
from typing import Final

Piece = tuple[str, str]
Line = list[Piece]

_SGR: Final = {
    "title": "1",
    "mark": "1;7",
    "dim": "2",
    "key": "36",
    "user": "1;34",
    "assistant": "1;32",
    "command": "36",
    "aside": "2",
    "error": "1;31",
    "warning": "1;33",
    "hint": "1;36",
    "anchor": "1;33",
    "head": "1",
}
_WHOLE: Final = frozenset(
    {"key", "command", "aside"}
)  # to be copied: never broken; one that fits no row is left to the terminal, which joins it again
_ZERO_WIDTH: Final = frozenset("\u200b\u200c\u200d\u2060\ufe0e\ufe0f\ufeff")
_GAP: Final = "  "


def styled(line: Line) -> str:
    """The line with ANSI styles, each closed where its piece ends."""
    return "".join(f"\x1b[{_SGR[style]}m{text}\x1b[0m" if text and style in _SGR else text for text, style in line)


def plain(line: Line) -> str:
    """The line without styles."""
    return "".join(text for text, _ in line)


def cells(char: str) -> int:
    """How many terminal cells a character takes."""
    if char < "\u0300":  # nothing below the combining marks is wide or without width
        return 1
    if char in _ZERO_WIDTH or unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def width(text: str) -> int:
    """The cells of a text."""
    return sum(map(cells, text))


def pad(text: str, size: int, *, right: bool = False) -> str:
    """``text`` filled with spaces to ``size`` cells; figures stand to the ``right``."""
    fill = " " * (size - width(text))
    return fill + text if right else text + fill


def clip(text: str, size: int) -> str:
    """``text`` within ``size`` cells, its end replaced by an ellipsis when it is longer."""
    if width(text) <= size:
        return text
    used = 1
    for index, char in enumerate(text):
        used += cells(char)
        if used > size:
            return text[:index] + "…"
    return text


def clip_start(text: str, size: int) -> str:
    """A path within ``size`` cells: its beginning gives way, at a slash if one is left, so that the file's name shows."""
    if width(text) <= size:
        return text
    used, start = 1, len(text)
    while start and used + cells(text[start - 1]) <= size:
        start -= 1
        used += cells(text[start])
    slash = text.find("/", start)
    return "…" + text[slash if 0 <= slash < len(text) - 1 else start :]


def clip_words(text: str, size: int) -> str:
    """As `clip`, but cut behind a word, unless that would cost more than half of what fits."""
    cut = clip(text, size)
    space = cut.rfind(" ")
    return cut if cut == text or space * 2 < len(cut) else cut[:space].rstrip() + "…"


def wrap(line: Line, size: int) -> list[Line]:
    """Rows of at most ``size`` cells, broken at spaces where there are any; later rows keep the indent of the first.

    A line with a piece that must stay whole and is too long for a row stays one line.
    """
    chars = [(char, style) for text, style in line for char in text]
    indent = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == " ", chars))
    if indent * 2 > size:
        indent = 0
    if any(style in _WHOLE and indent + width(text) > size for text, style in line):
        return [line]
    rows: list[Line] = []
    start, used, space = 0, 0, -1
    for index, (char, style) in enumerate(chars):
        need = cells(char)
        if used + need > size and index > start + (indent if not rows else 0):
            if char == " " and style not in _WHOLE:
                space = index
            cut = space if space > start else index
            rows.append(_joined(chars[start:cut], indent if rows else 0))
            start = cut + 1 if cut == space else cut
            if start > index:  # the row was full, and the space behind it is gone
                used, space = indent, -1
                continue
            used = indent + sum(cells(c) for c, _ in chars[start:index])
            space = -1
        if char == " " and index >= indent and style not in _WHOLE:
            space = index
        used += need
    rows.append(_joined(chars[start:], indent if rows else 0))
    return rows


def _joined(chars: Sequence[Piece], indent: int) -> Line:
    """Characters of one style in a row, made one piece."""
    row: Line = [(" " * indent, "")] if indent else []
    for style, run in itertools.groupby(chars, key=lambda pair: pair[1]):
        row.append(("".join(char for char, _ in run), style))
    return row


def table(
    head: Sequence[str], rows: Sequence[Sequence[Piece | str]], *, room: int | None = None, cut: Callable[[str, int], str] = clip
) -> list[Line]:
    """Aligned columns. Within ``room`` cells the first column is ``cut`` so that a row stays one row, if that is enough."""
    body = [[cell if isinstance(cell, tuple) else (cell, "") for cell in row] for row in rows]
    sizes = [max([width(title), *(width(row[index][0]) for row in body)]) for index, title in enumerate(head)]
    over = sum(sizes) + len(_GAP) * (len(sizes) - 1) - room if room else 0
    if over > 0:
        sizes[0] = max(width(head[0]), 8, sizes[0] - over)
    figures = [all(row[index][0].isdigit() for row in body) for index in range(len(head))]
    lines: list[Line] = []
    for row in [[(title, "head") for title in head], *body]:
        line: Line = []
        for (text, style), size, right in zip(row, sizes, figures, strict=True):
            line += [(pad(text if width(text) <= size else cut(text, size), size, right=right), style), (_GAP, "")]
        lines.append(line[:-1])
    return lines

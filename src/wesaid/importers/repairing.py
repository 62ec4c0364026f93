"""What is whole of a line that is not one JSON value: cut by a crash, run together with the next, or nested without end.

Pure; it refuses to know what a record means. Invariants: work is linear in the line's length, whatever it holds; what comes out can be
written as JSON: no lone surrogate is left in it.
"""

from __future__ import annotations

import itertools
import json
import re
from typing import Any, Final

from wesaid import limits

_LENIENT: Final = json.JSONDecoder(strict=False)
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
# What only a whole record has: tells one from an inner object that happens to end where a cut line ends.
_RECORD_KEYS: Final = frozenset({"timestamp", "uuid", "parentId", "parentUuid", "message", "sessionId"})
_GROWTH: Final = 8  # of a slice that was too short: all of them together are hardly longer than the last
_CUT_CHARS: Final = 16  # before a slice's end the longest literal may be cut (`-Infinity`), or an escape


def parse(text: str) -> tuple[list[Any], int]:
    """The JSON values of a line that is not exactly one, and whether something of it is lost (1) or not (0).

    Two whole values without a newline between them lose nothing. After a cut record, the longest rest of the line that is whole
    records is kept (formats.md, common rule 2).
    """
    bare = text.replace("\x00", "").strip()
    if not bare:
        return [], 1  # a run of NUL is what a crash left of a line
    found, _ = _run(bare, 0)
    values = [value for value, _ in found]
    begin = found[-1][1] if found else 1
    if found and begin == len(bare):
        return [clean(value) for value in values], 0
    budget = limits.REPAIR_PASSES * max(len(bare), limits.REPAIR_CHARS)
    while budget > 0 and (begin := bare.find('{"', begin)) >= 0:
        rest, looked = _run(bare, begin)
        if rest and rest[-1][1] == len(bare):  # those inside the cut record come first, and are none themselves
            whole = reversed(list(itertools.takewhile(_is_record, (value for value, _ in reversed(rest)))))
            return [clean(value) for value in [*values, *whole]], 1
        budget -= max(looked - begin, limits.REPAIR_SLICE_CHARS)
        # Objects that closed before the end lie inside the cut record, and so does all that is in them; what follows them may be whole.
        begin = rest[-1][1] if rest else begin + 1
    return [clean(value) for value in values], 1


def _run(text: str, at: int) -> tuple[list[tuple[Any, int]], int]:
    """Values that follow one another from ``at`` on, each with where what follows it begins; and how far the text was looked at."""
    found: list[tuple[Any, int]] = []
    while at < len(text):
        value, end, is_whole = _value(text, at)
        if not is_whole:
            return found, end
        match = _SPACE.match(text, end)
        at = match.end() if match else end
        found.append((value, at))
    return found, at


def _value(text: str, at: int) -> tuple[Any, int, bool]:
    """The value at ``at``, where it ends, and whether it is one; without one, how far the text was looked at.

    From slices that grow: Python's error counts the lines of all the text before it, so that each try would cost as much as the line.
    """
    size = limits.REPAIR_SLICE_CHARS
    while True:
        piece = text[at : at + size]
        is_rest = at + size >= len(text)
        try:
            value, end = _LENIENT.raw_decode(piece)
        except json.JSONDecodeError as error:
            is_cut = error.pos >= len(piece) - _CUT_CHARS or error.msg.startswith("Unterminated string")
            if is_rest or not is_cut:
                return None, at + (len(piece) if is_cut else error.pos), False
        except (ValueError, RecursionError):  # a number of thousands of digits; nesting without end
            return None, at + len(piece), False
        else:
            if is_rest or end < len(piece):  # a number might go on
                return value, at + end, True
        size *= _GROWTH


def _is_record(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("type"), str) and not _RECORD_KEYS.isdisjoint(value)


def clean(value: Any) -> Any:
    """The value with U+FFFD for lone surrogates, which neither UTF-8 nor SQLite can hold. Not recursive: nesting is the writer's choice."""
    box = [value]
    queue: list[Any] = [box]
    while queue:
        node = queue.pop()
        if isinstance(node, dict) and any(_SURROGATE.search(key) for key in node):
            renamed = {_SURROGATE.sub("\ufffd", key): item for key, item in node.items()}
            node.clear()
            node.update(renamed)
        for key, item in node.items() if isinstance(node, dict) else enumerate(node):
            if isinstance(item, str):
                if _SURROGATE.search(item):
                    node[key] = _SURROGATE.sub("\ufffd", item)
            elif isinstance(item, (dict, list)):
                queue.append(item)
    return box[0]


__all__ = ["clean", "parse"]

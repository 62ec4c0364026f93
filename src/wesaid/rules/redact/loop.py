r"""One loop over the table: where the secrets of a text are, for the built-in rows, the person's own patterns and exact values.

Invariants:
- A rule's regex runs only where one of its anchors stands; all anchors are looked for in one reading.
- Redacting twice changes nothing: what is hidden, and placeholders, become carriage returns, and the text is read again until nothing is found.
- Offsets are code points of the text given; spans are sorted and do not overlap.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from wesaid import limits
from wesaid.rules.redact.normal import normal
from wesaid.rules.redact.shapes import compiled
from wesaid.rules.redact.table import RULES
from wesaid.values import Span

Hit = tuple[int, int, int]  # start, end, number of the kind

PLACEHOLDER: Final = re.compile(r"\[redacted:[a-z0-9-]{1,40}\]")
SHORTEST: Final = 2  # a text shorter than this holds no shape at all
_FILL: Final = "\r"  # white space that no pattern counts or reads across
_ROUNDS: Final = 6  # real text needs two; a text made to need more loses the piece that still matches, whole
_NESTED_CODE_POINTS: Final = 128  # finds this short are searched again inside (password="password": …); longer ones would cost squares
CUSTOM: Final = "custom"
ENVIRONMENT: Final = "environment"
KINDS: Final = (*(rule.kind for rule in RULES), ENVIRONMENT, CUSTOM)
_ENVIRONMENT_NUMBER: Final = len(RULES)
_CUSTOM_NUMBER: Final = len(RULES) + 1


class Extra(NamedTuple):
    """What is hidden besides the table: a person's patterns, each with a literal that it needs (or ""), and exact values.

    A pattern may need squares of time, so it reads a window at a time.
    """

    patterns: tuple[tuple[re.Pattern[str], str], ...] = ()
    values: tuple[str, ...] = ()


_NOTHING: Final = Extra()
_STEP: Final = limits.REDACT_WINDOW_CODE_POINTS - limits.REDACT_OVERLAP_CODE_POINTS


def _any_of(words: Sequence[str]) -> str:
    """A regex for any of some words, letter by letter: a tenth of the time of an alternation."""
    heads: dict[str, list[str]] = {}
    for word in words:
        heads.setdefault(word[0], []).append(word[1:])
    return "|".join(re.escape(head) + _rest(rests) for head, rests in sorted(heads.items()))


def _rest(rests: Sequence[str]) -> str:
    return "" if "" in rests else f"(?:{_any_of(rests)})"


def _anchors() -> tuple[re.Pattern[str], dict[str, tuple[tuple[str, int], ...]]]:
    """A regex that stops at each anchor and reads only its first letter, so that none hides another; and what to try where it stopped.

    Of anchors that begin alike the shortest stands for all; the others are compared there.
    """
    rows = [(anchor, place) for place, rule in enumerate(RULES) for anchor in rule.anchors]
    words = {anchor for anchor, _ in rows}
    shortest = sorted(word for word in words if not any(other != word and word.startswith(other) for other in words))
    tries = {
        word: tuple((anchor if anchor != word else "", place) for anchor, place in rows if anchor.startswith(word)) for word in shortest
    }
    return re.compile(_letters(shortest)), tries


def _letters(words: Sequence[str]) -> str:
    heads: dict[str, list[str]] = {}
    for word in words:
        heads.setdefault(word[0], []).append(word)
    # The whole word is read by a look ahead from before its first letter, and that letter alone is consumed.
    return "|".join(f"{re.escape(head)}(?<=(?=({_any_of(found)})).)" for head, found in sorted(heads.items()))


_Match = Callable[[str, int], "re.Match[str] | None"]
_ANCHOR, _TRIES = _anchors()
_MATCHERS: Final[list[_Match | None]] = [None] * len(RULES)
_WITHOUT_ANCHOR: Final = tuple(place for place, rule in enumerate(RULES) if not rule.anchors)


def spans(text: str, extra: Extra = _NOTHING) -> tuple[Span, ...]:
    """Where the secrets are, sorted, not overlapping, in code points of ``text``. Placeholders already there are no secrets."""
    if len(text) < SHORTEST:
        return ()
    work = PLACEHOLDER.sub(lambda match: _FILL * len(match[0]), text) if "[redacted:" in text else text
    found: list[Hit] = []
    for _ in range(_ROUNDS):
        hits = joined(_hits(work, extra))
        if not hits:
            break
        found += hits
        work = _filled(work, hits)
    else:
        found += _whole_pieces(work, joined(_hits(work, extra)))
    return tuple(Span(start, end, KINDS[kind]) for start, end, kind in (joined(found) if len(found) > 1 else found))


def _whole_pieces(work: str, left: Sequence[Hit]) -> Iterator[Hit]:
    """Every stretch between what is hidden that has one of these finds in it."""
    ends = [end for _, end, _ in left]
    for start, end in _pieces(work):
        number = bisect_right(ends, start)
        if number < len(left) and left[number][0] < end:
            yield start, end, left[number][2]


def joined(hits: list[Hit]) -> list[Hit]:
    """Sorted; what overlaps is one, under the kind that stands first in the table."""
    if len(hits) < 2:
        return hits
    hits.sort()
    merged: list[Hit] = []
    first, until, kind = hits[0]
    for start, end, place in hits:
        if start < until:
            until = max(until, end)
            kind = min(kind, place)
        else:
            merged.append((first, until, kind))
            first, until, kind = start, end, place
    merged.append((first, until, kind))
    return merged


def _filled(text: str, hits: Sequence[Hit]) -> str:
    """The text with carriage returns where the secrets were: as long as before, and no pattern reads across them."""
    parts: list[str] = []
    last = 0
    for start, end, _ in hits:
        parts.append(text[last:start])
        parts.append(_FILL * (end - start))
        last = end
    parts.append(text[last:])
    return "".join(parts)


def _pieces(work: str) -> Iterator[tuple[int, int]]:
    """The stretches between what is hidden: two carriage returns or more."""
    last = 0
    for match in re.finditer(_FILL + _FILL + "+", work):
        if match.start() > last:
            yield last, match.start()
        last = match.end()
    if last < len(work):
        yield last, len(work)


def _hits(work: str, extra: Extra) -> list[Hit]:
    """One reading of a text, as it stands and normalised."""
    hits = _table(work)
    if extra.values or extra.patterns:
        hits += _extra(work, extra)
    made = normal(work)
    if made is not None:
        for start, end, place in _table(made.text) + (_extra(made.text, extra) if extra.values or extra.patterns else []):
            hits.append((*made.original(start, end), place))
    return hits


def _table(text: str) -> list[Hit]:
    """What the built-in rows find."""
    lowered = (
        text.lower() if text.isascii() else text.replace("\u0130", "i").lower()
    )  # U+0130: its lower case is longer, and offsets must stay
    hits: list[Hit] = []
    until: dict[int, int] = {}  # a long find is not searched again by its own rule
    for met in _ANCHOR.finditer(lowered):
        at = met.start()
        for rest, place in _TRIES[met[met.lastindex or 0]]:
            if (rest and not lowered.startswith(rest, at)) or (until and until.get(place, 0) > at):
                continue
            match = (_MATCHERS[place] or _matcher(place))(text, at)
            if match:
                start, end = match.span(match.lastindex or 0)
                hits.append((start, end, place))
                if end - at > _NESTED_CODE_POINTS:
                    until[place] = end
    for place in _WITHOUT_ANCHOR:
        hits += [(*match.span(), place) for match in compiled(RULES[place].pattern).finditer(text)]
    return hits


def _matcher(place: int) -> _Match:
    made = _MATCHERS[place] = compiled(RULES[place].pattern).match
    return made


def _extra(text: str, extra: Extra) -> list[Hit]:
    """What a person's patterns and exact values find. A pattern reads each piece as if it were alone."""
    hits: list[Hit] = []
    for value in extra.values:
        at = text.find(value)
        while at >= 0:
            hits.append((at, at + len(value), _ENVIRONMENT_NUMBER))
            at = text.find(value, at + len(value))
    for pattern, needed in extra.patterns:
        if needed and needed not in text:
            continue
        for start, end in _pieces(text):
            piece = text[start:end]
            for window in range(0, max(len(piece) - limits.REDACT_OVERLAP_CODE_POINTS, 1), _STEP):
                found = pattern.finditer(piece, window, window + limits.REDACT_WINDOW_CODE_POINTS)
                hits += [(start + match.start(), start + match.end(), _CUSTOM_NUMBER) for match in found if match[0]]
    return hits

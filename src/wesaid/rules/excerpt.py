"""The part of a message that shows why it was found.

Takes the *redacted whole* message: cutting first would take from the redactor the context that it needs (openclaw.md §7, W2). Knows no
engine and no score; words are compared as the index compares them, by ``rules.fold``.

Invariants:
- at most the given number of code points, "…" at cut ends included;
- what matched is in it: of a match longer than the bound, its beginning;
- no cut inside a character (``graphemes``) or a ``[redacted:…]`` placeholder;
- linear in the text, of which no more is read than was indexed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import accumulate, chain, pairwise
from typing import Final

from wesaid import graphemes, limits
from wesaid.rules import fold
from wesaid.values import Term

_SPACE: Final = re.compile(r"\s+")
_PLACEHOLDER: Final = re.compile(r"\[redacted:[a-z0-9-]{1,40}\]")
_PLACEHOLDER_CODE_POINTS: Final = len("[redacted:]") + 40  # as in the pattern above
_WORD_REACH: Final = 32  # how far an end is moved to come out between two words
_SEPARATOR: Final = re.compile("[ 。，、；：！？]")  # never part of a token
_BLOCK_CODE_POINTS: Final = 512  # about two excerpts: a block that holds a match is aligned whole
_ALIGNED_BLOCKS: Final = 16  # aligning 8 000 code points of Chinese takes 6 ms; a word in more blocks than that has good windows in these
_ELLIPSIS: Final = "…"


@dataclass(frozen=True, slots=True)
class Excerpt:
    """``text`` on one line; ``marks`` are the sorted, separate ranges ``[start, end)`` of it that matched, in code points."""

    text: str
    marks: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class _Place:
    start: int
    end: int
    term: int


def excerpt(text: str, terms: Sequence[Term], *, code_points: int = limits.SNIPPET_CODE_POINTS) -> Excerpt:
    """The window with the most different terms (on a tie, those listed first, so give the rarest first); its beginning if none occurs."""
    line = _SPACE.sub(" ", text[: limits.INDEXED_CODE_POINTS]).strip()
    places = _places_nearby(line, terms) or _places(line, terms)
    if len(line) <= code_points:
        return Excerpt(line, _marks(places, 0, len(line), 0))
    room = max(code_points - 2 * len(_ELLIPSIS), 1)
    core = _best(places, room, len(terms))
    start = _begin(line, core, room)
    left = code_points - (len(_ELLIPSIS) if start else 0)
    end = len(line) if len(line) - start <= left else _finish(line, start, core, start + left - len(_ELLIPSIS))
    lead, trail = _ELLIPSIS if start else "", _ELLIPSIS if end < len(line) else ""
    shown = line[start:end].rstrip()
    return Excerpt(lead + shown + trail, _marks(places, start, start + len(shown), len(lead)))


def _places_nearby(line: str, terms: Sequence[Term]) -> list[_Place]:
    """Of a very long message, the places around the first likely one: folding a whole pasted log takes longer than the search did.

    Likely is where the text has a term's first token letter for letter; accents and the like are left to the thorough way.
    """
    if len(line) <= limits.EXCERPT_WHOLE_CODE_POINTS:
        return []
    plain = line.lower()
    if len(plain) != len(line):
        return []
    for term in terms:
        at = plain.find(term.tokens[0])
        if at >= 0:
            start = line.rfind(" ", 0, max(at - limits.EXCERPT_WHOLE_CODE_POINTS // 2, 0)) + 1
            part = line[start : start + limits.EXCERPT_WHOLE_CODE_POINTS]
            if places := _places(part, terms):
                return [_Place(place.start + start, place.end + start, place.term) for place in places]
    return []


def _places(line: str, terms: Sequence[Term]) -> list[_Place]:
    """Where the terms occur, by start. A phrase ends where the last of its words ends.

    Words are found by ``fold.tokens`` and only the blocks that hold some are aligned, which costs ten times as much a word.
    """
    if not terms:
        return []
    cuts = _cuts(line)
    blocks = [fold.tokens(line[one:two]) for one, two in pairwise(cuts)]
    firsts = list(accumulate((len(block) for block in blocks), initial=0))
    tokens = list(chain.from_iterable(blocks))
    found = [(at, at + len(term.tokens) - 1, number) for number, term in enumerate(terms) for at in fold.find(tokens, term)]
    where: dict[int, tuple[int, int]] = {}
    for block in _promising(
        ((bisect_right(firsts, at) - 1, bisect_right(firsts, last) - 1, number) for at, last, number in found), len(terms)
    ):
        for at, (_, start, end) in enumerate(fold.aligned(line[cuts[block] : cuts[block + 1]]), firsts[block]):
            where[at] = (cuts[block] + start, cuts[block] + end)
    places = [
        _Place(where[at][0], max(where[last][1], where[at][1]), number) for at, last, number in found if at in where and last in where
    ]
    if not places:  # then the match is in a part of an identifier
        parts = fold.parts_aligned(line)
        words = [word for word, _, _ in parts]
        places = [
            _Place(parts[at][1], parts[at + len(term.tokens) - 1][2], number)
            for number, term in enumerate(terms)
            for at in fold.find(words, term)
        ]
    return sorted(places, key=lambda place: (place.start, place.end))


def _cuts(line: str) -> list[int]:
    """Where blocks begin, and the end: after a separator, so that each folds as it would in the whole."""
    cuts = [0]
    while len(line) - cuts[-1] > _BLOCK_CODE_POINTS:
        found = _SEPARATOR.search(line, cuts[-1] + _BLOCK_CODE_POINTS)
        while found and not graphemes.is_boundary(line, found.end()):
            found = _SEPARATOR.search(line, found.end())
        if found is None or found.end() == len(line):
            break
        cuts.append(found.end())
    return [*cuts, len(line)]


def _promising(found: Iterable[tuple[int, int, int]], terms: int) -> list[int]:
    """The blocks to align: all that hold a match, and of very many those whose matches, with the next block's, are the best."""
    held: dict[int, set[int]] = {}
    needed: dict[int, int] = {}
    for block, last, number in found:
        held.setdefault(block, set()).add(number)
        needed[block] = max(needed.get(block, block), last)
    if len(held) <= _ALIGNED_BLOCKS:
        chosen = list(held)
    else:
        chosen = nsmallest(
            _ALIGNED_BLOCKS, held, key=lambda block: (*_negated(_worth(held[block] | held.get(block + 1, set()), terms)), block)
        )
    near: set[int] = set()
    for block in chosen:
        near.update(range(block, needed[block] + 1))
        if block + 1 in held:
            near.add(block + 1)
    return sorted(near)


def _worth(present: Iterable[int], terms: int) -> tuple[int, int]:
    """How good it is to show these terms: their number, then each before all that are listed after it."""
    numbers = list(present)
    return len(numbers), sum(1 << (terms - number) for number in numbers)


def _negated(value: tuple[int, int]) -> tuple[int, int]:
    return -value[0], -value[1]


def _best(places: Sequence[_Place], room: int, terms: int) -> tuple[int, int]:
    """The stretch of at most ``room`` code points that holds the most different terms; ``(0, 0)`` without places."""
    best: tuple[int, int, int] = (0, 0, 0)
    chosen = (0, 0)
    inside: Counter[int] = Counter()
    left = 0
    for place in places:
        inside[place.term] += 1
        while min(place.end, place.start + room) - places[left].start > room:
            inside[places[left].term] -= 1
            if not inside[places[left].term]:
                del inside[places[left].term]
            left += 1
        value = (*_worth(inside, terms), inside.total())
        if chosen == (0, 0) or value > best:
            best, chosen = value, (places[left].start, min(place.end, places[left].start + room))
    return chosen


def _begin(line: str, core: tuple[int, int], room: int) -> int:
    """Where to start: half of what is to spare before the core, at a word if one begins near."""
    spare = max(room - (core[1] - core[0]), 0)
    start = core[0] - min(core[0], max(spare // 2, spare - (len(line) - core[1])))
    if start <= 0:
        return 0
    if line[start - 1] != " ":
        space = line.find(" ", start, min(core[0], start + _WORD_REACH))
        start = space + 1 if space >= 0 else graphemes.ceil(line, start)
    start = graphemes.floor(line, min(start, core[0]))
    hidden = _placeholder(line, start)
    if hidden is None:
        return start
    return hidden.end() + line.startswith(" ", hidden.end()) if hidden.end() < core[0] else hidden.start()


def _finish(line: str, start: int, core: tuple[int, int], end: int) -> int:
    """Where to end: not beyond ``end``, at a word if one ends near and the core stays inside."""
    if line[end : end + 1] != " ":
        space = line.rfind(" ", max(core[1], end - _WORD_REACH, start + 1), end)
        end = space if space >= 0 else max(graphemes.floor(line, end), start)
    hidden = _placeholder(line, end)
    return end if hidden is None else max(hidden.start(), start)


def _placeholder(line: str, at: int) -> re.Match[str] | None:
    """The placeholder that a cut at ``at`` would split."""
    first = line.rfind("[", max(0, at - _PLACEHOLDER_CODE_POINTS), at)
    found = _PLACEHOLDER.match(line, first) if first >= 0 else None
    return found if found and found.end() > at else None


def _marks(places: Sequence[_Place], start: int, end: int, shift: int) -> tuple[tuple[int, int], ...]:
    """The matches between ``start`` and ``end``, moved by ``shift``, joined where they overlap; a match that began before is not shown."""
    joined: list[tuple[int, int]] = []
    for place in places:
        if not start <= place.start < end:
            continue
        one, two = place.start - start + shift, min(place.end, end) - start + shift
        if joined and one < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], two))
        else:
            joined.append((one, two))
    return tuple(joined)

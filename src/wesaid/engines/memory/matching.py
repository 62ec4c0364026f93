"""Does a message have these words? Scanning folded tokens, the one way that cannot be wrong.

It refuses to know windows, scopes and limits. A term occurs in a message when its tokens are adjacent in the text, or in the parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wesaid.rules import fold
from wesaid.values import Clause, Match, Said, Term


@dataclass(frozen=True, slots=True)
class Words:
    """The tokens of something that can be found: whole text, and parts of identifiers beside it."""

    text: tuple[str, ...]
    parts: tuple[str, ...]


def words_of(said: Said) -> Words:
    """What was indexed of a message."""
    return Words(tuple(said.index_text.split()), tuple(said.index_parts.split()))


def words_in(text: str) -> Words:
    """What would be indexed of a text."""
    folded = fold.fold(text)
    return Words(tuple(folded.text.split()), tuple(folded.parts.split()))


def count(words: Words, term: Term) -> int:
    """How often a term occurs: in the text or in the parts, whichever is more, since parts repeat what the text has."""
    return max(len(fold.find(words.text, term)), len(fold.find(words.parts, term)))


def has(words: Words, clause: Clause) -> bool:
    """Whether one of the clause's terms occurs."""
    return any(count(words, term) for term in clause.terms)


def matches(words: Words, match: Match) -> bool:
    """Every clause of ``all_of``, at least one of ``any_of`` when given, none of ``none_of``; requiring nothing finds nothing."""
    return (
        bool(match.all_of or match.any_of)
        and all(has(words, clause) for clause in match.all_of)
        and (not match.any_of or any(has(words, clause) for clause in match.any_of))
        and not any(count(words, term) for term in match.none_of)
    )


def span(words: Words, terms: Sequence[Term]) -> int:
    """Tokens from the first to the last of the closest occurrences of the terms that the text has; 0 for fewer than two terms.

    Every occurrence is tried as the beginning, with the first occurrence of each other term from there on.
    """
    places = [[(at, at + len(term.tokens)) for at in fold.find(words.text, term)] for term in terms]
    present = [found for found in places if found]
    if len(present) <= 1:
        return 0
    lengths = []
    for start, _ in (place for found in present for place in found):
        ends = [min((end for at, end in found if at >= start), default=None) for found in present]
        if all(end is not None for end in ends):
            lengths.append(max(end for end in ends if end is not None) - start)
    return min(lengths)

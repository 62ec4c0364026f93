"""values.Match -> one FTS5 expression, and which of its phrases count for which scored term.

Words are never syntax: every token stands in double quotes, every phrase is bound to columns, so that a session's token in column ``scope`` can
never be hit by a word. FTS5 numbers phrases in the order in which they are written; ``Expression.phrases`` keeps that order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import apsw

from wesaid.values import Clause, Match, Role, Term

_COLUMNS = "{text parts}"
ROLE_WORDS: dict[Role, str] = {"user": "ru", "assistant": "ra"}
Expand = Callable[[Term], Sequence[Term]]


def session_word(token: int) -> str:
    """A session's token as one word of column ``scope``; letters first, so that `ascii` keeps it whole."""
    return f"s{token}"


@dataclass(slots=True)
class Expression:
    """The text of a MATCH while it is written; ``phrases[i]`` are the scored terms that phrase ``i`` counts for."""

    expand: Expand
    score: Sequence[Term] = ()
    phrases: list[tuple[int, ...]] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)  # tokens of phrase i
    text: str = ""  # the whole, once it is written

    def phrase(self, term: Term) -> str:
        """One term, or the OR of what its prefix may be."""
        written = []
        for one in self.expand(term):
            self.phrases.append(
                tuple(i for i, scored in enumerate(self.score) if scored.tokens == term.tokens and scored.prefix == term.prefix)
            )
            self.lengths.append(len(one.tokens))
            quoted = " ".join(one.tokens).replace('"', '""').replace("\x00", " ")
            written.append(f'"{quoted}" *' if one.prefix else f'"{quoted}"')
        return f"({_COLUMNS} : ({' OR '.join(written)}))"

    def clause(self, clause: Clause) -> str:
        """Terms joined by OR."""
        return "(" + " OR ".join(self.phrase(term) for term in clause.terms) + ")"

    def scope(self, words: Sequence[str]) -> str:
        """Any of these words of column ``scope``; they are phrases too, and count for nothing."""
        self.phrases.extend(() for _ in words)
        self.lengths.extend(1 for _ in words)
        return "(scope : (" + " OR ".join(f'"{word}"' for word in words) + "))"

    def either(self, clauses: Sequence[Clause]) -> str:
        """Clauses joined by OR."""
        return "(" + " OR ".join(self.clause(clause) for clause in clauses) + ")"


def express(match: Match, *, expand: Expand, role: Role | None, tokens: Sequence[int] | None) -> Expression | None:
    """Write the whole MATCH. None when nothing is required at all.

    Scored terms that are not required join as ``(what is required) AND (what is required OR scored …)``: the same rows, and FTS5 seeks in the
    common words' lists instead of walking them.
    """
    written = Expression(expand=expand, score=match.score)
    must = [written.clause(clause) for clause in match.all_of]
    if match.any_of:
        must.append(written.either(match.any_of))
    if not must:
        return None
    required = {term.tokens for clause in (*match.all_of, *match.any_of) for term in clause.terms}
    extra = [term for term in match.score if term.tokens not in required]
    if extra:
        anchor = Clause(terms=tuple(term for clause in (match.any_of or match.all_of[:1]) for term in clause.terms))
        must.append("(" + " OR ".join([written.clause(anchor), *(written.phrase(term) for term in extra)]) + ")")
    if role is not None:
        must.append(written.scope([ROLE_WORDS[role]]))
    if tokens is not None:
        must.append(written.scope([session_word(token) for token in tokens]))
    text = " AND ".join(must)
    if match.none_of:
        text = f"({text}) NOT ({' OR '.join(written.phrase(term) for term in match.none_of)})"
    written.text = text
    return written


class Counter:
    """An FTS5 auxiliary function that counts: for each row its scored terms, their closest span, and its length in tokens.

    It keeps what it saw by rowid and gives SQL nothing, since a Python object cannot cross SQLite.
    """

    def __init__(self) -> None:
        self.seen: dict[int, tuple[tuple[int, ...], int, int]] = {}
        self._score: list[list[int]] = []
        self._lengths: list[int] = []

    def prepare(self, expression: Expression) -> None:
        """Aim at one expression: each scored term's phrases, each phrase once."""
        self.seen = {}
        self._score = [[] for _ in expression.score]
        known: set[tuple[int, int]] = set()
        for phrase, scored in enumerate(expression.phrases):
            for term in scored:
                if (term, phrase) not in known:
                    known.add((term, phrase))
                    self._score[term].append(phrase)
        self._lengths = expression.lengths

    def __call__(self, api: apsw.FTS5ExtensionApi, /, *_: object) -> None:
        """Called by FTS5 for each row that passed the conditions."""
        if len(self._score) == 1:
            self.seen[api.rowid] = ((self._alone(api),), 0, api.column_size(0))
            return
        counts: list[int] = []
        spots: list[tuple[int, int, int]] = []
        for term, phrases in enumerate(self._score):
            if len(phrases) == 1:  # nearly always: only prefixes and anchors have more
                columns = api.phrase_locations(phrases[0])
                size = self._lengths[phrases[0]]
                spots += [(spot, spot + size, term) for spot in columns[0]]
                counts.append(max(len(columns[0]), len(columns[1])))
                continue
            count = 0
            mine: set[int] = set()
            for phrase in phrases:
                columns = api.phrase_locations(phrase)
                in_text = columns[0]
                if not mine.issuperset(in_text):
                    fresh = [spot for spot in in_text if spot not in mine]
                    mine.update(fresh)
                    size = self._lengths[phrase]
                    spots.extend((spot, spot + size, term) for spot in fresh)
                count = max(count, len(mine), len(columns[1]))
            counts.append(count)
        self.seen[api.rowid] = (tuple(counts), closest(spots), api.column_size(0))

    def _alone(self, api: apsw.FTS5ExtensionApi) -> int:
        """How often the only term occurs: no span to look for. A prefix stands for many phrases, few of which are in a row."""
        (phrases,) = self._score
        if len(phrases) == 1:
            columns = api.phrase_locations(phrases[0])
            return max(len(columns[0]), len(columns[1]))
        count = 0
        mine: set[int] = set()
        left = api.inst_count  # occurrences of all phrases, so that nothing is asked for after the last of them
        for phrase in phrases:
            columns = api.phrase_locations(phrase)
            in_text, in_parts = columns[0], columns[1]
            if in_text or in_parts:
                mine.update(in_text)
                count = max(count, len(in_parts))
                left -= len(in_text) + len(in_parts)
                if left <= 0:
                    break
        return max(count, len(mine))


def closest(spots: list[tuple[int, int, int]]) -> int:
    """Tokens from first to last of the closest occurrences of all terms present; 0 when fewer than two are.

    ``spots`` are (first token, token after the last, term). One sweep over the sorted occurrences.
    """
    present = {term for _, _, term in spots}
    if len(present) < 2:
        return 0
    spots.sort()
    held: dict[int, int] = {}
    best = spots[-1][1] - spots[0][0]
    start = 0
    for _first, end, term in spots:
        held[term] = held.get(term, 0) + 1
        while held[spots[start][2]] > 1:
            held[spots[start][2]] -= 1
            start += 1
        if len(held) == len(present):
            best = min(best, end - spots[start][0])
    return max(best, 1)

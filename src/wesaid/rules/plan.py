"""A Query and how frequent its words are -> the tiers to run, strictest first.

It knows which words carry a question and what a tier may cost. It refuses to know how rows are found and what ranks first. Invariants:

* every tier excludes what the query excludes, and scores the same terms in the same order;
* a function word ("what", "the") is asked for only inside a quoted phrase, or when there is nothing else to ask for;
* a tier's work is led by its rarest word: a phrase of common words only is not walked, but verified (``unwalked``).

``frequency`` must be of messages that the caller may see, counted up to ``limits.FREQUENCY_COUNT_ROWS``. It leads the work and never
decides whether a strict tier runs: a count that is behind must not hide a message.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from wesaid import limits
from wesaid.rules import fold
from wesaid.values import Clause, Match, Query, Term, Tier

# Function words by language, folded, so without marks. Small on purpose: to ask for a word too many costs a tier, for one too few the hit.
# Left out is what carries meaning in another language or in this trade: die, war, hat, son, sur, van, mit, uber, ai, vi, os, may, down.
_ENGLISH: Final = """
a about above after again against all also am an and any are as at be because been before being below between both but by can could
did do does doing done during each either else ever every for from further get gets got had has have having he her here hers herself
him himself his how however i if in into is it its itself just let many me might more most much must my myself neither no nor not now
of off on once only onto or other our ours ourselves out over per please rather really same shall she should since so some still such
than that the their theirs them themselves then there these they this those though through thus to too toward towards under until up
upon us very via was we were what when where whether which while who whom whose why will with within without would yet you your yours
yourself
"""
_CONTRACTED: Final = "s t d ll m re ve don doesn didn isn aren wasn weren hasn haven hadn won wouldn couldn shouldn ain"
_VIETNAMESE: Final = """
la va cua nhung cac cho voi khong duoc trong mot nay nhu thi ma vao tai se da dang gi sao nhe chung toi cung rat hoac neu khi
"""
_GERMAN: Final = """
der das dem des ein eine einen einem einer und oder aber nicht ist sind waren wird werden wurde haben habe ich du er sie es wir ihr
mich dich sich uns euch wie wo wann warum wer welche welcher welches fur von vom zu zum zur auf aus bei im nach auch noch nur wenn dass
"""
_FRENCH: Final = """
le les un une de du et ou mais ne pas sont etait je il elle nous vous ils elles que qui quoi quand comment pourquoi quel quelle quels
quelles dans avec par ce cette ces ses mes notre votre leur en au aux
"""
_SPANISH: Final = """
el los las una unos unas y o pero es esta estan fue yo tu ella nosotros ellos quien cuando como donde cual cuales por para con del al
lo su sus mis nuestro muy
"""
_OTHERS: Final = """
um uma uns umas das dos nas foi eu ele voce quem quando onde qual e
gli della dello degli delle nel nella che cosa perche
het een ik wij zij niet waar wanneer welke
и в во не что он на я с со как а то она так его но ты к у же вы за бы по ее мне было вот от о из ему когда где кто почему
什么 我们 你们 他们 怎么 这个 那个 哪个 为什 时候 一个 可以 是否 如何 有没 没有 的 了 是 吗
この その あの どの する した して です ます から まで という ください について
"""
# A run of a script without spaces is several tokens, so each word of the list is folded as a query is.
FUNCTION_WORDS: Final = frozenset(
    made.tokens
    for word in f"{_ENGLISH} {_VIETNAMESE} {_GERMAN} {_FRENCH} {_SPANISH} {_OTHERS}".split()
    if (made := fold.term(word)) is not None
)
_IN_CONTRACTIONS: Final = frozenset(_CONTRACTED.split()) | {tokens[0] for tokens in FUNCTION_WORDS if len(tokens) == 1}
_OPERATORS: Final = frozenset(("AND", "OR", "NOT"))  # typed by habit of other engines: words that mean nothing here


def tiers(query: Query, frequency: Callable[[Term], int], indexed: int) -> list[Tier]:
    """The tiers for a question, strictest first: ``phrase``, ``all``, ``some``; none when nothing was asked for.

    Args:
        query: what was typed.
        frequency: in how many messages that the caller may see a term occurs, counted to a bound.
        indexed: how many such messages there are.

    A single word or quoted phrase is tier ``phrase`` by itself. Tier ``some`` is left out when it could find no more than ``all``.
    """
    if not query.clauses:
        return []
    wanted = _wanted(query)
    score = tuple(dict.fromkeys(t for clause in wanted for t in clause.terms))
    plan: list[Tier] = []
    if _single(query):
        return [Tier(name="phrase", match=Match(all_of=query.clauses, none_of=query.excluded, score=score))]
    if query.whole is not None and _walkable(query, frequency, indexed):
        phrase = (Clause(terms=(query.whole,)),)
        plan.append(Tier(name="phrase", match=Match(all_of=phrase, none_of=query.excluded, score=score)))
    plan.append(Tier(name="all", match=Match(all_of=wanted, none_of=query.excluded, score=score)))
    counts = [(_count(clause, frequency), clause) for clause in wanted]
    generators = tuple(clause for count, clause in sorted(counts, key=lambda pair: pair[0]) if count > 0)[: limits.SOME_GENERATORS]
    if generators and len(wanted) > 1:
        missing = tuple(_typed(clause) for count, clause in counts if count == 0)
        plan.append(Tier(name="some", match=Match(any_of=generators, none_of=query.excluded, score=score), missing=missing))
    return plan


def ignored(query: Query) -> tuple[str, ...]:
    """The function words that were typed and not asked for, as typed, in order."""
    wanted = _wanted(query)
    return tuple(_typed(clause) for clause in query.clauses if clause not in wanted)


def unwalked(query: Query, plan: Sequence[Tier]) -> int:
    """How near the scored terms stand in a phrase that was too common to be walked, in tokens; 0 when there is none.

    A candidate of tier ``all`` with all terms within this many tokens (``Candidate.span``) says the phrase, or its words in
    another order: ``rank`` counts it as ``phrase``.
    """
    if query.whole is None or not plan or plan[0].name == "phrase":
        return 0
    places = [(found, len(t.tokens)) for t in plan[0].match.score for found in fold.find(query.whole.tokens, t)[:1]]
    if len(places) < 2 or len(places) < len(plan[0].match.score):
        return 0
    return max(at + size for at, size in places) - min(at for at, _ in places)


def _single(query: Query) -> bool:
    """Whether one plain word or one phrase is all that was asked."""
    if len(query.clauses) > 1 or len(query.clauses[0].terms) > 1 or query.whole is not None:
        return False
    (only,) = query.clauses[0].terms
    return not only.prefix or fold.unsegmented(only.tokens[-1])


def _wanted(query: Query) -> tuple[Clause, ...]:
    """The clauses that carry the question: all but function words, unless there is nothing else."""
    shouting = query.text.isupper()
    content = tuple(clause for clause in query.clauses if not _is_function(clause, acronyms=not shouting))
    return content or query.clauses


def _is_function(clause: Clause, *, acronyms: bool) -> bool:
    """Whether a clause is a function word or a contraction of two. ``IT``, ``US`` and ``WHO`` in capitals are names."""
    if len(clause.terms) > 1:
        return False
    (only,) = clause.terms
    if only.quoted or (only.prefix and not fold.unsegmented(only.tokens[-1])):
        return False
    if acronyms and len(only.text) > 1 and only.text.isupper() and only.text not in _OPERATORS:
        return False
    return only.tokens in FUNCTION_WORDS or (
        len(only.tokens) > 1 and all(token in _IN_CONTRACTIONS for token in only.tokens) and "'" in only.text.replace("’", "'")
    )


def _walkable(query: Query, frequency: Callable[[Term], int], indexed: int) -> bool:
    """Whether the phrase has a word rare enough to lead a walk, in a corpus where that matters."""
    if indexed < limits.COMMON_WORD_ROWS:
        return True
    content = sorted(query.clauses, key=lambda clause: _is_function(clause, acronyms=False))
    return any(_count(clause, frequency) < limits.COMMON_WORD_ROWS for clause in content)


def _count(clause: Clause, frequency: Callable[[Term], int]) -> int:
    """In how many messages a clause is met, at most."""
    return sum(frequency(t) for t in clause.terms)


def _typed(clause: Clause) -> str:
    """A clause as it was typed."""
    return " OR ".join(t.text for t in clause.terms)

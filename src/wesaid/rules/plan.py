"""A Query and how frequent its words are -> the tiers to run, strictest first.

It knows which words carry a question and what a tier may cost. It refuses to know how rows are found and what ranks first. Invariants:

* every tier excludes what the query excludes, and scores the same terms in the same order;
* a function word ("what", "the") is asked for only inside a quoted phrase, or when there is nothing else to ask for;
* a tier's work is led by its rarest word: a phrase of common words only is not walked, but verified (``unwalked``).

``frequency`` must be of messages that the caller may see, counted up to ``limits.FREQUENCY_COUNT_ROWS``. It leads the work and never
decides whether a strict tier runs: a count that is behind must not hide a message.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Final

from wesaid import limits
from wesaid.rules import fold
from wesaid.values import Clause, Match, Query, Term, Tier

# Function words, a list for each language, as they are written. Small on purpose: to ask for a word too many costs a tier, for one too
# few the hit. A query is read in one language only, since "an" is a Vietnamese noun, "mit" a licence and "war" no auxiliary everywhere.
_ENGLISH: Final = """
a about above after again against all also am an and any are as at be because been before being below between both but by can could
did do does doing done during each either else ever every for from further get gets got had has have having he her here hers herself
him himself his how however i if in into is it its itself just let many me might more most much must my myself neither no nor not now
of off on once only onto or other our ours ourselves out over per please rather really same shall she should since so some still such
than that the their theirs them themselves then there these they this those though through thus to too toward towards under until up
upon us very via was we were what when where whether which while who whom whose why will with within without would yet you your yours
yourself
"""
_OTHERS: Final = (
    """là và của những các cho với không được có trong một này đó như thì mà ở vào ra tại từ sẽ đã đang gì ai sao nào nhé chúng tôi ta cũng
    rất hoặc hay nếu khi vì để đến về bao nhiêu""",
    """der die das dem den des ein eine einen einem einer und oder aber nicht ist sind war waren wird werden wurde hat haben habe ich du er
    sie es wir ihr mich dich sich uns euch wie wo wann warum wer welche welcher welches für von vom zu zum zur auf aus bei im in an mit
    über nach auch noch nur wenn dass""",
    """le la les un une de du des et ou mais ne pas est sont a était je tu il elle nous vous ils elles que qui quoi quand comment pourquoi
    quel quelle quels quelles dans sur avec pour par ce cette ces se ses mon mes notre votre leur en au aux où""",
    """el la los las un una unos unas y o pero no es son esta está están fue yo tú ella nosotros ellos que qué quién cuándo cómo dónde cuál
    cuáles por para con sin de del al en lo su sus mi mis nuestro muy se""",
    """o a os as um uma uns umas de do da dos das no na nos nas em com não foi é eu ele ela você que quem quando onde qual como para por e""",
    """il lo la gli le un una di del della dello degli delle nel nella che chi cosa come quando dove perché è sono non con per e""",
    """de het een en van ik je wij zij is niet wat wie waar wanneer hoe welke dat die met voor op te""",
    """и в во не что он на я с со как а то она так его но ты к у же вы за бы по её мне было вот от о из ему когда где кто почему мы""",
    """什么 我们 你们 他们 怎么 这个 那个 哪个 为什 时候 一个 可以 是否 如何 有没 没有 的 了 是 吗""",
    """この その あの どの する した して です ます から まで という ください について""",
)
_ENOUGH: Final = 2  # so many words of another language's list make a query that language's
_IN_CONTRACTIONS: Final = frozenset(
    f"{_ENGLISH} s t d ll m re ve don doesn didn isn aren wasn weren hasn haven hadn won wouldn couldn shouldn ain".split()
)
_OPERATORS: Final = frozenset(("AND", "OR", "NOT"))  # typed by habit of other engines: words that mean nothing here
_OUTER: Final = re.compile(r"^\W+|\W+$")


def _with_unmarked(words: str) -> frozenset[str]:
    """A list as it is written, and as it is typed without marks. What is typed with marks is only ever the word with these marks."""
    written = words.split()
    return frozenset(written) | {folded for word in written if " " not in (folded := fold.fold(word).text)}


_LANGUAGES: Final = tuple(_with_unmarked(words) for words in (_ENGLISH, *_OTHERS))


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
    if len(wanted) == 1:  # counting what a prefix stands for takes longer than finding it
        return plan
    counts = [(_count(clause, frequency), clause) for clause in wanted]
    generators = tuple(clause for count, clause in sorted(counts, key=lambda pair: pair[0]) if count > 0)[: limits.SOME_GENERATORS]
    if generators:
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
    known = _language(query.clauses)
    shouting = query.text.isupper()
    content = tuple(clause for clause in query.clauses if not _is_function(clause, known, acronyms=not shouting))
    return content or query.clauses


def _language(clauses: Sequence[Clause]) -> frozenset[str]:
    """The function words of the language that most of the clauses' function words belong to; English when none is clearly ahead."""
    typed = [_bare(clause.terms[0]) for clause in clauses]
    english, *others = ((sum(word in words for word in typed), words) for words in _LANGUAGES)
    best = max(others, key=lambda pair: pair[0])
    return best[1] if best[0] >= _ENOUGH and best[0] > english[0] else english[1]


def _bare(typed: Term) -> str:
    """A word as typed, lower case, without the punctuation around it."""
    return _OUTER.sub("", unicodedata.normalize("NFC", typed.text).lower())


def _is_function(clause: Clause, known: frozenset[str], *, acronyms: bool) -> bool:
    """Whether a clause is a function word or a contraction of two. ``IT``, ``US`` and ``WHO`` in capitals are names."""
    if len(clause.terms) > 1:
        return False
    (only,) = clause.terms
    if only.quoted or (only.prefix and not fold.unsegmented(only.tokens[-1])):
        return False
    word = _bare(only)
    if acronyms and len(word) > 1 and only.text.isupper() and only.text not in _OPERATORS:
        return False
    contraction = len(only.tokens) > 1 and ("'" in word or "’" in word) and _IN_CONTRACTIONS.issuperset(only.tokens)
    return contraction or word in known


def _walkable(query: Query, frequency: Callable[[Term], int], indexed: int) -> bool:
    """Whether the phrase has a word rare enough to lead a walk, in a corpus where that matters."""
    if indexed < limits.COMMON_WORD_ROWS:
        return True
    wanted = _wanted(query)
    likely_first = sorted(query.clauses, key=lambda clause: clause not in wanted)
    return any(_count(clause, frequency) < limits.COMMON_WORD_ROWS for clause in likely_first)


def _count(clause: Clause, frequency: Callable[[Term], int]) -> int:
    """In how many messages a clause is met, at most."""
    return sum(frequency(t) for t in clause.terms)


def _typed(clause: Clause) -> str:
    """A clause as it was typed."""
    return " OR ".join(t.text for t in clause.terms)

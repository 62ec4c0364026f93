"""Candidates' features -> scores and order; the only place that scores (docs/decisions/0007-tiers-and-ranking.md).

It knows what makes one message a better answer than another. It refuses to know where candidates came from, how they are shown and
who may see them. Invariants:

* the order is total and depends on its arguments only: same candidates in any order, same answer;
* a stricter tier is always above a looser one, whatever the scores;
* hits of the caller's own lineage, and of sessions that only asked the same question, come after all others, whatever their tier;
* every frequency that enters a score is one of messages that the caller may see.

The service calls ``order``, then ``exact_first`` if marks were typed, then ``collapse``, then ``per_session``.
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from wesaid import limits
from wesaid.values import Candidate, Clause, Flag, Query, Scored, Term, Tier, TierName

_STRICTNESS: Final[Mapping[TierName, int]] = {"phrase": 0, "all": 1, "forms": 2, "some": 3, "typo": 4, "none": 5}
_MOST: Final = limits.RANK_SATURATION + 1  # what a word can weigh at most, in its weights
_NORM: Final = limits.RANK_SATURATION * (1 - limits.RANK_LENGTH)  # BM25's norm of a message without length
_HALF_LIFE_MS: Final = limits.RANK_RECENT_HALF_LIFE_DAYS * limits.DAY_MS


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """What scoring needs to know besides the candidates.

    ``frequency`` and ``indexed`` count messages that the caller may see; ``average_length`` is in index tokens (0: not known);
    ``now`` is in milliseconds; ``own`` are session keys of the caller's lineage; ``echoes`` those of sessions whose only human text is
    the query; ``unwalked`` is ``plan.unwalked``.
    """

    frequency: Callable[[Term], int]
    indexed: int
    now: int
    average_length: float = 0.0
    own: frozenset[str] = frozenset()
    echoes: frozenset[str] = frozenset()
    unwalked: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A scored message as a result: how many messages it stands for, and how many more its session has beside the results shown."""

    scored: Scored
    copies: int = 1
    more_in_session: int = 0


def order(found: Iterable[tuple[Tier, Candidate]], query: Query, corpus: Corpus) -> list[Scored]:
    """Every candidate once, in its strictest tier, best first.

    Args:
        found: candidates with the tier that brought them; one message may come from several tiers.
        query: the question, for the words that a hit misses.
        corpus: counts, times and keys.

    ``Scored.score`` compares within one answer and tier; ``Scored.parts`` are its summands: ``words`` (BM25 over the scored terms),
    ``near``, ``session``, ``recent``, and ``automation`` and ``subagent``, which are negative.
    """
    strictest: dict[tuple[str, str, int, int], tuple[Tier, Candidate]] = {}
    for tier, candidate in found:
        identity = (candidate.agent_id, candidate.key, candidate.window, candidate.seq)
        known = strictest.get(identity)
        if known is None or _STRICTNESS[tier.name] < _STRICTNESS[known[0].name]:
            strictest[identity] = (tier, candidate)
    pairs = list(strictest.values())
    columns = {number: _columns(tier, query, corpus) for number, tier in {id(tier): tier for tier, _ in pairs}.items()}
    average = corpus.average_length or sum(candidate.length for _, candidate in pairs) / max(len(pairs), 1)
    longer = limits.RANK_SATURATION * limits.RANK_LENGTH / (average or 1.0)
    scale = _Scale(corpus, longer, _coverage(pairs, columns))
    scored = [_scored(tier, candidate, columns[id(tier)], scale) for tier, candidate in pairs]
    return sorted(scored, key=lambda one: _place(one, corpus))


def exact_first(scored: Sequence[Scored], share: Callable[[Candidate], float], corpus: Corpus) -> list[Scored]:
    """Messages that have the words with the marks that were typed before those without, within one tier; else the order stays.

    Args:
        scored: from ``order``.
        share: how many of the query's ``fold.marked`` words are among those of the message, 0 to 1. It needs the message's text, so it
            is asked for the best ``limits.RANK_MARKS_LOOKED_AT`` only.
        corpus: as for ``order``.
    """
    looked_at = [(one, share(one.candidate)) for one in scored[: limits.RANK_MARKS_LOOKED_AT]]
    looked_at.sort(key=lambda pair: (_last(pair[0].candidate, corpus), _STRICTNESS[pair[0].tier], -pair[1]))
    return [one for one, _ in looked_at] + list(scored[limits.RANK_MARKS_LOOKED_AT :])


_Text = tuple[int, str, str]  # a text's digest, and the agent and session in which it was said


def _text(candidate: Candidate) -> _Text:
    return candidate.digest, candidate.agent_id, candidate.key


def collapse(scored: Sequence[Scored], message_id: Callable[[Candidate], str | None] | None = None) -> list[Place]:
    """Copies of one message as one result, where the best of them stood.

    Two messages are copies when their text is the same (``digest``) and either one is a delivery mirror in the same session, or both
    have the same source message id. ``message_id`` gives that id and is asked only for messages that share their text with another;
    without it only mirrors collapse. Of a mirror and its original the original is shown.
    """
    sharing: dict[int, int] = {}
    for one in scored:
        sharing[one.candidate.digest] = sharing.get(one.candidate.digest, 0) + 1
    places: list[Place] = []
    by_id: dict[tuple[int, str], int] = {}  # text and source id -> the place that began with it
    shown: dict[_Text, list[int]] = {}  # places that show this text of this session, and those of them that show a mirror, in order
    mirrors: dict[_Text, list[int]] = {}
    for one in scored:
        candidate = one.candidate
        if sharing[candidate.digest] == 1:
            places.append(Place(scored=one))  # nobody else said this: nothing to collapse
            continue
        source = message_id(candidate) if message_id is not None else None
        here, is_mirror = _text(candidate), Flag.MIRROR in candidate.flags
        beside = (shown if is_mirror else mirrors).get(here)  # a mirror repeats whatever its session says, and is repeated by it
        same = by_id.get((candidate.digest, source)) if source is not None else None
        at = min((at for at in (beside[0] if beside else None, same) if at is not None), default=None)
        if at is None:
            at = len(places)
            places.append(Place(scored=one))
            if source is not None:
                by_id[candidate.digest, source] = at
            for table in (shown, mirrors) if is_mirror else (shown,):
                table.setdefault(here, []).append(at)
            continue
        before = places[at].scored
        if Flag.MIRROR in before.candidate.flags and not is_mirror:
            for table in (shown, mirrors):
                table[_text(before.candidate)].remove(at)
            insort(shown.setdefault(here, []), at)
            before = replace(before, candidate=candidate)
        places[at] = replace(places[at], scored=before, copies=places[at].copies + 1)
    return places


def per_session(places: Iterable[Place], *, most: int | None = limits.RESULTS_PER_SESSION) -> list[Place]:
    """At most ``most`` results of each session (None: no bound, when the caller named one), each with how many more there are."""
    places = list(places)
    total: dict[str, int] = {}
    for place in places:
        key = place.scored.candidate.key
        total[key] = total.get(key, 0) + 1
    if most is None:
        return places
    kept: list[Place] = []
    shown: dict[str, int] = {}
    for place in places:
        key = place.scored.candidate.key
        shown[key] = shown.get(key, 0) + 1
        if shown[key] <= most:
            kept.append(replace(place, more_in_session=total[key] - most) if total[key] > most else place)
    return kept


# ── scoring ──────────────────────────────────────────────────────────────────────────────────────────────────────
@dataclass(frozen=True, slots=True)
class _Columns:
    """What ``Candidate.counts`` of one tier mean, position by position. Terms are slow to hash, and there are 500 candidates."""

    weights: tuple[float, ...]
    sizes: tuple[int, ...]  # tokens of each term
    words: tuple[tuple[str, tuple[int, ...]], ...]  # what was typed -> its positions


@dataclass(frozen=True, slots=True)
class _Scale:
    """What is the same for all candidates of an answer."""

    corpus: Corpus
    longer: float  # what each token of a message adds to BM25's norm
    covered: Mapping[str, float]  # session key -> the part of that weight which its candidates say together


def _columns(tier: Tier, query: Query, corpus: Corpus) -> _Columns:
    """The columns of one tier."""
    score = tier.match.score
    at = {t: i for i, t in enumerate(score)}
    words = tuple((_typed(clause), tuple(at[t] for t in clause.terms)) for clause in query.clauses if all(t in at for t in clause.terms))
    # One term alone weighs the same in every candidate, so nothing depends on it; counting a phrase can take longer than finding it.
    weights = (1.0,) if len(score) == 1 else tuple(_weight(t, corpus) for t in score)
    return _Columns(weights, tuple(len(t.tokens) for t in score), words)


def _weight(wanted: Term, corpus: Corpus) -> float:
    """BM25's inverse document frequency, never negative."""
    frequency = corpus.frequency(wanted)
    total = max(corpus.indexed, frequency, 1)
    return math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))


def _coverage(pairs: Iterable[tuple[Tier, Candidate]], columns: Mapping[int, _Columns]) -> dict[str, float]:
    """For each session, the weight of all terms that its candidates say together."""
    met: dict[tuple[str, int], list[int]] = {}  # session and tier -> the most often that each term occurs in one message
    tiers = {id(tier): tier for tier, _ in pairs}
    for tier, candidate in pairs:
        known = met.setdefault((candidate.key, id(tier)), [0] * len(candidate.counts))
        met[candidate.key, id(tier)] = list(map(max, known, candidate.counts))
    by_session: dict[str, dict[Term, float]] = {}
    for (key, number), counts in met.items():
        said = zip(tiers[number].match.score, columns[number].weights, counts, strict=False)
        by_session.setdefault(key, {}).update({t: weight for t, weight, count in said if count})
    return {key: sum(terms.values()) for key, terms in by_session.items()}


def _scored(tier: Tier, candidate: Candidate, columns: _Columns, scale: _Scale) -> Scored:
    """One candidate with its score, the summands of it, and the words that it misses."""
    words, present, tokens = 0.0, 0, 0
    norm = _NORM + scale.longer * candidate.length
    for weight, size, count in zip(columns.weights, columns.sizes, candidate.counts, strict=False):
        if count:
            words += weight * count * _MOST / (count + norm)
            present += 1
            tokens += size
    near = words * limits.RANK_NEAR * min(tokens / candidate.span, 1.0) if present > 1 and candidate.span > 0 else 0.0
    session = limits.RANK_SESSION * scale.covered[candidate.key]
    base = words + near + session
    age = max(scale.corpus.now - candidate.timestamp, 0)
    parts = {"words": words, "near": near, "session": session}
    parts["recent"] = base * limits.RANK_RECENT * math.exp2(-age / _HALF_LIFE_MS)
    if candidate.flags:  # few have any, and asking an enum takes its time
        if Flag.AUTOMATION in candidate.flags:
            parts["automation"] = -base * limits.RANK_AUTOMATION
        if Flag.SUBAGENT in candidate.flags:
            parts["subagent"] = -base * limits.RANK_SUBAGENT
    missing = _missing(columns, candidate.counts) if tier.name == "some" and 0 in candidate.counts else ()
    return Scored(
        candidate=candidate, tier=_tier(tier, candidate, scale.corpus), score=math.fsum(parts.values()), missing=missing, parts=parts
    )


def _missing(columns: _Columns, counts: Sequence[int]) -> tuple[str, ...]:
    """The words, as typed, that a message has in none of their readings."""
    return tuple(word for word, at in columns.words if not any(counts[i] for i in at))


def _tier(tier: Tier, candidate: Candidate, corpus: Corpus) -> TierName:
    """The tier of a hit. A phrase of common words is not walked; a hit of ``all`` with its words as near as there says the phrase."""
    near_enough = corpus.unwalked > 0 and all(candidate.counts) and 0 < candidate.span <= corpus.unwalked
    return "phrase" if tier.name == "all" and near_enough else tier.name


def _typed(clause: Clause) -> str:
    """A clause as it was typed."""
    return " OR ".join(t.text for t in clause.terms)


def _last(candidate: Candidate, corpus: Corpus) -> int:
    """Above 0 for what comes after all others."""
    return 2 if candidate.key in corpus.own else 1 if candidate.key in corpus.echoes else 0


def _place(one: Scored, corpus: Corpus) -> tuple[int, int, float, int, str, int, int]:
    """The sort key: others before echoes before own, strict before loose, then score, newest, and what makes the order total.

    Never the rowid: which one a message got depends on others of its second, seen or not.
    """
    candidate = one.candidate
    # Rounded: sums in another order must not change the order of results.
    score = -round(one.score, 9)
    last = _last(candidate, corpus)
    return last, _STRICTNESS[one.tier], score, -candidate.timestamp, candidate.key, -candidate.window, -candidate.seq

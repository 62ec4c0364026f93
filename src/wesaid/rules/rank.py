"""Candidates' features -> scores and order; the only place that scores (docs/decisions/0007-tiers-and-ranking.md).

It knows what makes one message a better answer than another. It refuses to know where candidates came from, how they are shown and
who may see them. Invariants:

* the order is total and depends on its arguments only: same candidates in any order, same answer;
* a stricter tier is always above a looser one, whatever the scores;
* hits of the caller's own lineage, and of sessions that only asked the same question, come after all others, whatever their tier;
* every frequency that enters a score is one of messages that the caller may see.

The service calls ``order``, then ``collapse``, then ``per_session``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from wesaid import limits
from wesaid.values import Candidate, Clause, Flag, Query, Scored, Term, Tier, TierName

_STRICTNESS: Final[Mapping[TierName, int]] = {"phrase": 0, "all": 1, "forms": 2, "some": 3, "typo": 4, "none": 5}


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
    weights = {t: _weight(t, corpus) for t in {t for tier, _ in pairs for t in tier.match.score}}
    average = corpus.average_length or sum(candidate.length for _, candidate in pairs) / max(len(pairs), 1)
    covered = _coverage(pairs, weights)
    scored = [_scored(tier, candidate, query, _Scale(corpus, weights, average, covered)) for tier, candidate in pairs]
    return sorted(scored, key=lambda one: _place(one, corpus))


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
    by_text: dict[int, list[tuple[int, str | None]]] = {}  # digest -> places of that text, with the source's id
    for one in scored:
        digest = one.candidate.digest
        source = message_id(one.candidate) if message_id is not None and sharing[digest] > 1 else None
        same = by_text.setdefault(digest, [])
        at = next((at for at, other in same if _is_copy(one.candidate, places[at].scored.candidate, source, other)), None)
        if at is None:
            same.append((len(places), source))
            places.append(Place(scored=one))
            continue
        shown = places[at].scored
        if shown.candidate.flags & Flag.MIRROR and not one.candidate.flags & Flag.MIRROR:
            shown = replace(shown, candidate=one.candidate)
        places[at] = replace(places[at], scored=shown, copies=places[at].copies + 1)
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
            kept.append(replace(place, more_in_session=max(total[key] - most, 0)))
    return kept


# ── scoring ──────────────────────────────────────────────────────────────────────────────────────────────────────
@dataclass(frozen=True, slots=True)
class _Scale:
    """What is the same for all candidates of an answer."""

    corpus: Corpus
    weights: Mapping[Term, float]
    average: float
    covered: Mapping[str, float]  # session key -> share of the question's weight that its candidates have together


def _weight(wanted: Term, corpus: Corpus) -> float:
    """BM25's inverse document frequency, never negative."""
    frequency = corpus.frequency(wanted)
    total = max(corpus.indexed, frequency, 1)
    return math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))


def _coverage(pairs: Iterable[tuple[Tier, Candidate]], weights: Mapping[Term, float]) -> dict[str, float]:
    """For each session, how much of the question its candidates say together: 0 to 1, by weight of the terms."""
    met: dict[str, set[Term]] = {}
    for tier, candidate in pairs:
        terms = met.setdefault(candidate.key, set())
        terms.update(t for t, count in zip(tier.match.score, candidate.counts, strict=False) if count)
    everything = sum(weights.values()) or 1.0
    return {key: sum(weights[t] for t in terms) / everything for key, terms in met.items()}


def _scored(tier: Tier, candidate: Candidate, query: Query, scale: _Scale) -> Scored:
    """One candidate with its score, the summands of it, and the words that it misses."""
    counted = [(t, count) for t, count in zip(tier.match.score, candidate.counts, strict=False) if count]
    stretch = 1 - limits.RANK_LENGTH + limits.RANK_LENGTH * candidate.length / (scale.average or 1.0)
    k1 = limits.RANK_SATURATION
    words = sum(scale.weights[t] * count * (k1 + 1) / (count + k1 * stretch) for t, count in counted)
    near = 0.0
    if len(counted) > 1 and candidate.span > 0:
        near = words * limits.RANK_NEAR * min(sum(len(t.tokens) for t, _ in counted) / candidate.span, 1.0)
    session = sum(scale.weights.values()) * limits.RANK_SESSION * scale.covered.get(candidate.key, 0.0)
    base = words + near + session
    age_days = max(scale.corpus.now - candidate.timestamp, 0) / limits.DAY_MS
    parts = {"words": words, "near": near, "session": session}
    parts["recent"] = base * limits.RANK_RECENT * math.exp2(-age_days / limits.RANK_RECENT_HALF_LIFE_DAYS)
    if candidate.flags & Flag.AUTOMATION:
        parts["automation"] = -base * limits.RANK_AUTOMATION
    if candidate.flags & Flag.SUBAGENT:
        parts["subagent"] = -base * limits.RANK_SUBAGENT
    return Scored(
        candidate=candidate,
        tier=_tier(tier, candidate, scale.corpus),
        score=math.fsum(parts.values()),
        missing=_missing(tier, candidate, query) if tier.name == "some" else (),
        parts=parts,
    )


def _tier(tier: Tier, candidate: Candidate, corpus: Corpus) -> TierName:
    """The tier of a hit. A phrase of common words is not walked; a hit of ``all`` with its words as near as there says the phrase."""
    near_enough = corpus.unwalked > 0 and all(candidate.counts) and 0 < candidate.span <= corpus.unwalked
    return "phrase" if tier.name == "all" and near_enough else tier.name


def _missing(tier: Tier, candidate: Candidate, query: Query) -> tuple[str, ...]:
    """The words asked for that this message does not have, as typed, in order."""
    counts = dict(zip(tier.match.score, candidate.counts, strict=False))
    return tuple(_typed(clause) for clause in query.clauses if not any(counts.get(t, 1) for t in clause.terms))


def _typed(clause: Clause) -> str:
    """A clause as it was typed."""
    return " OR ".join(t.text for t in clause.terms)


def _place(one: Scored, corpus: Corpus) -> tuple[int, int, float, int, str, int, int, int]:
    """The sort key: others before echoes before own, strict before loose, then score, newest, and what makes the order total."""
    candidate = one.candidate
    last = 2 if candidate.key in corpus.own else 1 if candidate.key in corpus.echoes else 0
    # Rounded: sums in another order must not change the order of results.
    score = -round(one.score, 9)
    return last, _STRICTNESS[one.tier], score, -candidate.timestamp, candidate.key, -candidate.rowid, candidate.window, candidate.seq


def _is_copy(one: Candidate, other: Candidate, source: str | None, other_source: str | None) -> bool:
    """Whether two messages with the same text are one."""
    if one.key == other.key and one.agent_id == other.agent_id:
        return bool((one.flags | other.flags) & Flag.MIRROR) or (source is not None and source == other_source)
    return source is not None and source == other_source

"""The last part of a search: candidates read back, redacted, cut and described. Nothing is found or ranked here.

The whole message is redacted, then cut, then bounded, in this order (contract.md §7).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from wesaid import keys, limits
from wesaid.engines.contract import View
from wesaid.errors import quoted
from wesaid.rules import bounds, excerpt, fold, rank
from wesaid.service import counting, lacking, resuming, wire
from wesaid.service.methods import SearchParams
from wesaid.service.preparing import Words, lost, safe
from wesaid.service.walk import Walk
from wesaid.values import Candidate, Filters, Hit, Neighbour, Page, SessionRow, StoredEvent, Term


@dataclass(slots=True)
class _Found:
    """A candidate read back."""

    row: SessionRow
    event: StoredEvent
    words: Words


def hits(walk: Walk, places: Sequence[rank.Place], terms: Sequence[Term]) -> tuple[list[Hit], bool]:
    """Results for places, in their order, as many as were asked for; and whether places are left. One that cannot be read takes none's place."""
    made: list[Hit] = []
    for place in places:
        if len(made) == walk.params.limit:
            return made, True
        candidate = place.scored.candidate
        view = walk.views[candidate.agent_id]
        found = _read(walk, view, candidate)
        if found is None:
            continue
        hit = _hit(walk, found, terms)
        made.append(
            replace(
                hit,
                score=round(place.scored.score, limits.SCORE_DECIMALS),
                match=place.scored.tier,
                missing=place.scored.missing,
                more_in_session=place.more_in_session,
                copies=place.copies,
                context=_context(walk, view, found),
                parts={name: round(value, limits.SCORE_DECIMALS) for name, value in place.scored.parts.items()},
            )
        )
    return made, False


def title_hits(walk: Walk, known: Collection[str], room: int) -> list[Hit]:
    """Sessions found only by their title or label: their first human message stands for them."""
    made: list[Hit] = []
    for agent, view in walk.views.items():
        for key in view.titles(walk.asked.clauses, walk.scopes[agent], limit=limits.RESULTS_MAX):
            row = view.session(key)
            if row is None or key in known or key in walk.filters.exclude_keys or _is_excluded(walk, row):
                continue
            found = _first_said(walk, view, row)
            if found is not None:
                hit = _hit(walk, found, ())
                made.append(replace(hit, match="phrase" if len(walk.asked.clauses) == 1 else "all"))
    made.sort(key=lambda hit: (-hit.timestamp, hit.session_key))
    return made[:room]


def _is_excluded(walk: Walk, row: SessionRow) -> bool:
    """Whether a session's title or label has a word that the query excludes."""
    words = fold.tokens(f"{row.facts.title or ''} \n {row.facts.label or ''}")
    return any(fold.find(words, term) for term in walk.asked.excluded)


def hint(walk: Walk, sessions: int, *, found_any: bool, failed: Sequence[str]) -> str | None:
    """What an answer that is empty or not what was asked for says: what was not searched or searched instead, then what would widen it."""
    empty = [agent for agent, view in walk.views.items() if counting.is_empty(view)] if walk.caller.is_operator else []
    redacted = walk.home.redactor.redact(walk.params.query)
    told = (
        (bool(failed), f"the database of {', '.join(failed)} cannot be read; `wesaid doctor` says why"),
        (bool(empty), f"the database of {', '.join(empty)} is empty; `wesaid doctor` says more"),
        (bool(walk.lost), lost(len(walk.lost))),
        (
            redacted != walk.params.query,
            f"part of the query is hidden by redaction; what was searched is {quoted(redacted, limits.LABEL_CODE_POINTS)}",
        ),
        (walk.asked.unexcluded, "there is nothing but excluded words, so they were looked for; give a word to exclude them from"),
    )
    sentences = [sentence for holds, sentence in told if holds]
    if not found_any and not failed:
        sentences.append(_wider(walk, sessions))
    return "; ".join(sentences) or None


def _wider(walk: Walk, sessions: int) -> str:
    """Why nothing was found, and what would widen the search."""
    operator = walk.caller.is_operator
    narrowed = lacking.reason(walk.home.redactor, walk.views, walk.scopes, walk.filters)
    reasons = (
        (walk.asked.symbols_only, "the query has only symbols; words, numbers and emoji are indexed"),
        (not walk.asked.clauses, "the query has filters and no words; give at least one word to look for"),
        (narrowed is not None, narrowed or ""),
        (sessions == 0 and operator, "there are no sessions yet; `wesaid import` brings in transcripts"),
        (sessions == 0, "no session is in this caller's scope"),
        (walk.params.session_key is not None, "only one session was searched; leave sessionKey out to search all"),
        (walk.filters != Filters(), f"filters narrow this search: {', '.join(_used(walk.filters))}"),
        (walk.params.order != "relevance", "by time only messages with all words are found; order by relevance finds those with some"),
        (bool(walk.asked.excluded), "excluded words narrow this search; leave -word out"),
        (
            walk.policy.name in {"self", "tree"},
            f"only sessions in scope `{walk.policy.name}` were searched; sessions.visibility would widen it",
        ),
        (True, "no message has any of these words; try fewer or other words, or the beginning of one: word*"),
    )
    return next(sentence for holds, sentence in reasons if holds)


def _used(filters: Filters) -> list[str]:
    """The names of the filters that are set."""
    names = {"role": filters.role, "after": filters.after, "before": filters.before, "tool": filters.tool, "project": filters.project}
    return [name for name, value in names.items() if value is not None] + (["excluded sessions"] if filters.exclude_keys else [])


def bounded(found: Sequence[Hit], page: Page) -> list[Hit]:
    """As many whole results as fit into the response's bytes beside the rest of the page; of a first one that alone is too long, a part."""
    frame = wire.size(wire.page_json(page)) + limits.ENVELOPE_BYTES
    sizes = [_size(hit) for hit in found]
    kept = bounds.fit(sizes, frame, limits.RESPONSE_BYTES)
    if found and not kept:
        return [_shortened(found[0], limits.RESPONSE_BYTES - frame)]
    return list(found[:kept])


def _size(hit: Hit) -> int:
    return wire.size(wire.hit_json(hit))


def _shortened(hit: Hit, room: int) -> Hit:
    """A hit whose text is long when it is written as JSON (control characters take six bytes each), cut until it fits."""
    while (size := _size(hit)) > room and hit.snippet:
        hit = replace(hit, snippet=bounds.clip(hit.snippet, len(hit.snippet) * room // (size + 1))[0], context=(), marks=())
    return hit


def _hit(walk: Walk, found: _Found, terms: Sequence[Term]) -> Hit:
    facts = safe(walk.home.redactor, found.row).facts
    text, marks = _shown(found.words.text, terms, walk.params)
    view = walk.views[keys.parse(facts.key).agent_id]
    return Hit(
        session_key=facts.key,
        session_id=found.event.session_id,
        message_id=found.event.id or "",
        agent_id=keys.parse(facts.key).agent_id,
        role=found.words.role,
        timestamp=found.event.timestamp,
        snippet=text,
        score=0.0,
        match="none",
        title=facts.title or facts.label,
        kind=facts.kind,
        tool=facts.tool,
        project=facts.project,
        current=walk.caller.key is not None and str(keys.parse(walk.caller.key)) == facts.key,
        marks=marks,
        resume=resuming.resume(view, walk.policy, found.row, found.event.session_id),
    )


def _shown(text: str, terms: Sequence[Term], params: SearchParams) -> tuple[str, tuple[tuple[int, int], ...]]:
    if params.detail == "index":
        return "", ()
    if params.detail == "full":
        return bounds.clip_bytes(text, limits.MESSAGE_FULL_BYTES)[0], ()
    cut = excerpt.excerpt(text, terms)
    return cut.text, cut.marks


def _read(walk: Walk, view: View, candidate: Candidate) -> _Found | None:
    row = view.session(candidate.key)
    events = view.events(candidate.window, after_seq=candidate.seq - 1, limit=1)
    if row is None or not events:
        return None
    words = walk.words(row, events[0], reveal=walk.params.reveal)
    return _Found(row, events[0], words) if words is not None else None


def _first_said(walk: Walk, view: View, row: SessionRow) -> _Found | None:
    """A session's first human message, or its first at all."""
    first: _Found | None = None
    for window in view.windows(row.facts.key):
        if not window.findable:
            continue
        for event in view.path(window.window, start=0, count=limits.ECHO_MESSAGES, shown=True):
            words = walk.words(row, event, reveal=walk.params.reveal)
            if words is not None and words.role == "user":
                return _Found(row, event, words)
            first = first or (_Found(row, event, words) if words is not None else None)
    return first


def _context(walk: Walk, view: View, found: _Found) -> tuple[Neighbour, ...]:
    """Neighbours on each side, by the same policy (the same session) and redaction."""
    params = walk.params
    if not params.context or not found.event.shown:
        return ()
    at = found.event.shown - 1
    near: list[Neighbour] = []
    start = max(at - params.context, 0)
    position = view.shown_at(found.event.window, start)
    if position is None:
        return ()
    for event in view.path(found.event.window, start=position, count=at - start + 1 + params.context, shown=True):
        words = walk.words(found.row, event, reveal=params.reveal)
        if event.seq != found.event.seq and words is not None:
            text = bounds.clip(words.text, limits.SNIPPET_CODE_POINTS)[0]
            near.append(Neighbour(message_id=event.id or "", role=words.role, timestamp=event.timestamp, text=text))
    return tuple(near)

"""``sessions_search``: a question's walk from words to a page (design.md, "Where a question goes").

    redact -> parse -> policy -> settle what is stale -> tiers -> candidates of every agent -> rank -> read back -> excerpt -> bounds

Policy comes before everything, as scopes that engines apply before limits. Counts that enter a score or a diagnostic are of what the caller
may see. The rows of one agent are read in one snapshot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from time import monotonic
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from wesaid import keys, limits
from wesaid.engines.contract import View
from wesaid.errors import InputError, quoted
from wesaid.rules import bounds, fold, plan, query, rank, when
from wesaid.service import addressing, finishing, freshening, reconciling
from wesaid.service.methods import SearchParams
from wesaid.service.opening import Home
from wesaid.service.preparing import digest
from wesaid.service.walk import Walk
from wesaid.values import Caller, Candidate, Diagnostics, Filters, Match, Page, Policy, Query, Role, Scope, Term, Tier, TierName

_TIERS: tuple[TierName, ...] = ("phrase", "all", "forms", "some", "typo", "none")
_STRICT = ("phrase", "all")


def search(home: Home, caller: Caller, params: SearchParams) -> Page:
    """Search. QueryError and InputError for what cannot be asked, NotFoundError for a session or agent that is not there or not visible.

    A session caller's answer, or error, comes after ``limits.SESSION_ANSWER_SECONDS`` at the soonest: an index seeks a little longer for a
    word that hidden sessions have, and a caller who sees few sessions could otherwise tell by the time.
    """
    if getattr(caller, "is_operator", False):  # who reads without a caller is told so below
        return _search(home, caller, params)
    began = monotonic()
    try:
        return _search(home, caller, params)
    finally:
        home.rest(max(limits.SESSION_ANSWER_SECONDS - (monotonic() - began), 0.0))


def _search(home: Home, caller: Caller, params: SearchParams) -> Page:
    asked = query.parse(home.redactor.redact(params.query))
    policy = addressing.policy_of(home, caller)
    fresh = freshening.freshen(home, policy, _looked(home, params, asked, policy), operator=caller.is_operator)
    if fresh.imported:
        policy = addressing.policy_of(home, caller)  # what was imported may be the caller's to see
    filters = _filters(home, caller, params, asked)
    scopes = _scopes(home, caller, params, asked, policy)
    home.asked_at = monotonic()
    reconciling.wait_for(home, scopes, seconds=params.wait_ms / limits.SECONDS_MS)

    def answer(views: dict[str, View], failed: tuple[str, ...]) -> Page:
        stale = sum(reconciling.stale_sessions(view, scopes[agent]) for agent, view in views.items())
        reconciling.wake(home, views)
        walk = Walk(
            home=home, caller=caller, params=params, asked=asked, policy=policy, filters=filters, views=views,
            scopes={agent: scopes[agent] for agent in views}, behind=fresh.behind,
        )  # fmt: skip
        return _answer(walk, stale, failed)

    return home.answered(scopes, answer)


def project_in(text: str) -> str | None:
    """The folder that a query asks for in its own words (``project:~/ferry``), as it was typed. QueryError as for a search."""
    return query.parse(text).fields.get("project") if "project:" in text else None


def go_on(home: Home, caller: Caller, params: SearchParams, *, seconds: float) -> None:
    """Read on in what a search left behind (``Diagnostics.sources_behind``), for at most about so long."""
    policy = addressing.policy_of(home, caller)
    asked = query.parse(home.redactor.redact(params.query))
    freshening.freshen(home, policy, _looked(home, params, asked, policy), operator=caller.is_operator, seconds=seconds)


def _answer(walk: Walk, stale: int, failed: tuple[str, ...]) -> Page:
    """Run the tiers until one has filled the page, and make the page."""
    tiers = plan.tiers(walk.asked, walk.frequency, walk.indexed())
    if walk.params.order != "relevance":
        tiers = [tier for tier in tiers if tier.name in _STRICT]
    places, found = _run(walk, tiers)
    hits, left = finishing.hits(walk, places, _terms(tiers, walk))
    more = left or not walk.complete
    by_words_alone = walk.params.order == "relevance" and walk.filters == Filters(exclude_keys=walk.filters.exclude_keys)
    if by_words_alone and walk.asked.clauses and len(hits) < walk.params.limit:
        hits += finishing.title_hits(walk, {candidate.key for _, candidate in found}, walk.params.limit - len(hits))
    sessions = sum(view.count_sessions(walk.scopes[agent], walk.filters) for agent, view in walk.views.items())
    diagnostics = Diagnostics(
        scope=walk.policy.name,
        sandboxed=walk.policy.sandboxed,
        sessions_searched=sessions,
        stale_sessions=stale,
        sources_behind=walk.behind,
        ignored=_ignored(walk.asked),
        hint=finishing.hint(walk, sessions, found_any=bool(hits), failed=failed),
        failed_agents=failed,
    )
    page = Page(hits=(), tier="none", diagnostics=diagnostics, indexing=stale > 0, truncated=True)
    kept = finishing.bounded(hits, page)
    tier: TierName = next((name for name in _TIERS if any(hit.match == name for hit in kept)), "none")
    return replace(page, hits=tuple(kept), tier=tier, truncated=bool(kept) and (more or len(kept) < len(hits)))


def _ignored(asked: Query) -> tuple[str, ...]:
    """Words that were typed and not asked for, as many as a response may name."""
    words = (*plan.ignored(asked), *asked.dropped)
    return tuple(bounds.clip(word, limits.TOKEN_CODE_POINTS)[0] for word in words[: limits.IGNORED_WORDS])


def _run(walk: Walk, tiers: Sequence[Tier]) -> tuple[list[rank.Place], list[tuple[Tier, Candidate]]]:
    """Candidates of the strict tiers first; a looser tier only when they gave fewer results than asked for."""
    found: list[tuple[Tier, Candidate]] = []
    places: list[rank.Place] = []
    for tier in tiers:
        for agent, view in walk.views.items():
            found += [(tier, candidate) for candidate in _candidates(walk, tier, view, walk.scopes[agent])]
        places = _ranked(walk, tiers, found)
        if len(places) >= walk.params.limit:
            break
    return places, found


def _candidates(walk: Walk, tier: Tier, view: View, scope: Scope) -> list[Candidate]:
    """One tier in one database, within one budget.

    Words that may bring candidates each bring their own, rarest first, so that a frequent one hides no rare one's; what a rare one leaves
    of its share goes to the next.
    """
    oldest_first = walk.params.order == "oldest"
    matches = [tier.match]
    if len(tier.match.any_of) > 1:
        matches = [_only(tier, number) for number in range(len(tier.match.any_of))]
    seen: dict[int, Candidate] = {}
    for number, match in enumerate(matches):
        share = (limits.CANDIDATES - len(seen)) // (len(matches) - number)
        found = view.candidates(match, scope, walk.filters, limit=share, oldest_first=oldest_first)
        walk.complete = walk.complete and found.complete
        seen |= {candidate.rowid: candidate for candidate in found.candidates}
    return list(seen.values())


def _ranked(walk: Walk, tiers: Sequence[Tier], found: Sequence[tuple[Tier, Candidate]]) -> list[rank.Place]:
    """Ordered, copies collapsed, three a session unless one is named or time decides."""
    corpus = rank.Corpus(
        frequency=walk.frequency,
        indexed=walk.indexed(),
        now=walk.home.now(),
        own=_own(walk),
        echoes=_echoes(walk, found),
        unwalked=plan.unwalked(walk.asked, tiers),
    )
    scored = rank.order(found, walk.asked, corpus)
    marked = fold.marked(walk.asked.text)
    if marked:
        scored = rank.exact_first(scored, lambda candidate: _share(walk, candidate, marked), corpus)
    if walk.params.order != "relevance":
        sign = -1 if walk.params.order == "newest" else 1
        scored.sort(key=lambda one: _when(one.candidate, sign))
    places = rank.collapse(scored, lambda candidate: _message_id(walk, candidate))
    grouped = walk.params.order == "relevance" and walk.params.session_key is None and "session" not in walk.asked.fields
    return rank.per_session(places, most=limits.RESULTS_PER_SESSION if grouped else None)


def _when(candidate: Candidate, sign: int) -> tuple[int, str, int, int]:
    """The place of a message in time. Of one moment and session, what was said first; a rowid would tell of rows that are hidden."""
    return sign * candidate.timestamp, candidate.key, sign * candidate.window, sign * candidate.seq


def _share(walk: Walk, candidate: Candidate, marked: frozenset[str]) -> float:
    """How many of the words that were typed with marks a message has with the same marks, 0 to 1."""
    view = walk.views[candidate.agent_id]
    row = view.session(candidate.key)
    events = view.events(candidate.window, after_seq=candidate.seq - 1, limit=1)
    words = walk.words(row, events[0]) if row is not None and events else None
    return len(marked & fold.marked(words.text)) / len(marked) if words is not None else 0.0


def _message_id(walk: Walk, candidate: Candidate) -> str | None:
    events = walk.views[candidate.agent_id].events(candidate.window, after_seq=candidate.seq - 1, limit=1)
    return events[0].id if events else None


def _own(walk: Walk) -> frozenset[str]:
    """The caller's own lineage: itself, and by forks and resumes, both ways and however far, what hangs together with it.

    Recalling oneself is no recall (field report B38). Links of sessions that the caller may not see are not followed.
    """
    if walk.caller.key is None:
        return frozenset()
    linked: dict[str, set[str]] = {}
    for agent, view in walk.views.items():
        for fork, origin in view.forks(walk.policy.scope(agent)):
            linked.setdefault(fork, set()).add(origin)
            linked.setdefault(origin, set()).add(fork)
    own: set[str] = set()
    waiting = {str(keys.parse(walk.caller.key))}
    while waiting:
        own |= waiting
        waiting = {near for key in waiting for near in linked.get(key, ())} - own
    return frozenset(own)


def _echoes(walk: Walk, found: Sequence[tuple[Tier, Candidate]]) -> frozenset[str]:
    """Sessions whose only human text is the query itself: somebody asked this before, and that is no answer (field report B31)."""
    same = digest(walk.home.redactor.redact(walk.params.query))
    echoes: set[str] = set()
    for _, candidate in found:
        if candidate.digest != same or candidate.role != "user" or candidate.key in echoes:
            continue
        view = walk.views[candidate.agent_id]
        row = view.session(candidate.key)
        events = view.path(candidate.window, start=0, count=limits.ECHO_MESSAGES + 1, shown=True)
        if row is None or len(events) > limits.ECHO_MESSAGES:
            continue
        said = [walk.words(row, event) for event in events]
        if sum(1 for words in said if words is not None and words.role == "user") == 1:
            echoes.add(candidate.key)
    return frozenset(echoes)


def _only(tier: Tier, number: int) -> Match:
    return replace(tier.match, any_of=(tier.match.any_of[number],))


def _terms(tiers: Sequence[Tier], walk: Walk) -> tuple[Term, ...]:
    """What an excerpt should show: the phrase, then the words, rarest first (those whose frequency was never asked for, last)."""
    scored = sorted(
        {term for tier in tiers for term in tier.match.score},
        key=lambda term: (walk.frequencies.get(term, limits.FREQUENCY_COUNT_ROWS), term.text),
    )
    return (*([walk.asked.whole] if walk.asked.whole else []), *scored)


# ── what was asked besides words ─────────────────────────────────────────────────────────────────────────────────
def _filters(home: Home, caller: Caller, params: SearchParams, asked: Query) -> Filters:
    """Parameters, then the query's own fields; the parameter wins. Times are resolved here, where it is known what time it is."""
    fields = asked.fields
    zone = _zone(params.time_zone or home.settings.time_zone)
    after, before = params.after or fields.get("after"), params.before or fields.get("before")
    project, tool = params.project or fields.get("project"), params.tool or fields.get("tool")
    role: Role | None = params.role
    if role is None and fields.get("role") in ("user", "assistant"):
        role = "user" if fields["role"] == "user" else "assistant"
    return Filters(
        role=role,
        after=_moment("after", after, home.now(), zone),
        before=_moment("before", before, home.now(), zone),
        tool=home.redactor.redact(tool) if tool else None,
        project=home.redactor.redact(project) if project else None,
        exclude_keys=frozenset(addressing.full_key(home, caller, key) for key in params.exclude_session_keys),
    )


def _looked(home: Home, params: SearchParams, asked: Query, policy: Policy) -> list[str]:
    """The agents whose sources are looked at: those that are searched, or all visible ones when a named one is not there yet."""
    visible = addressing.scopes(home, policy, None)
    named = params.agent_ids or ((asked.fields["agent"],) if "agent" in asked.fields else ())
    wanted = [agent for agent in visible if agent in named]
    return wanted if wanted and len(wanted) == len(named) else list(visible)


def _scopes(home: Home, caller: Caller, params: SearchParams, asked: Query, policy: Policy) -> dict[str, Scope]:
    """Where to look: every agent that the caller may see, or those named, or one session."""
    agents = params.agent_ids or ((asked.fields["agent"],) if "agent" in asked.fields else None)
    reference = params.session_key or asked.fields.get("session")
    if reference is None:
        return addressing.scopes(home, policy, agents)
    row = addressing.visible_session(home, caller, reference)
    agent = keys.parse(row.facts.key).agent_id
    if agents is not None and agent not in addressing.scopes(home, policy, agents):
        raise addressing.absent(reference)
    return {agent: Scope(keys=frozenset((row.facts.key,)))}


def _moment(field_name: str, text: str | None, now: int, zone: tzinfo) -> int | None:
    """A time that was given in words; the error names the field that it was given for."""
    if not text:
        return None
    try:
        return when.moment(text, now=now, zone=zone)
    except InputError as error:
        raise InputError(f"{field_name}: {error.message}", hint=error.hint, details={**error.details, "field": field_name}) from None


def _zone(name: str) -> tzinfo:
    if not name:
        return datetime.now(UTC).astimezone().tzinfo or UTC  # the server's
    try:
        return UTC if name.upper() == "UTC" else ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InputError(
            f"timeZone is {quoted(name, limits.LABEL_CODE_POINTS)}",
            hint="an IANA name such as Europe/Berlin",
            details={"field": "timeZone"},
        ) from None

"""Questions: who asks, what of it may be seen, what is looked for, and what was found before it is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from wesaid.values.transcripts import Flag, Role

TierName = Literal["phrase", "all", "forms", "some", "typo", "none"]


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: a session (``Caller("agent:main:main")``), or the operator (``OPERATOR``)."""

    key: str | None
    sandboxed: bool = False

    @property
    def is_operator(self) -> bool:
        """The person at this machine: sees every agent, redacted."""
        return self.key is None


OPERATOR: Final = Caller(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What of one agent's database may be read: everything (``keys is None``) or exactly these session keys."""

    keys: frozenset[str] | None = None

    def allows(self, key: str) -> bool:
        """Whether a session is inside."""
        return self.keys is None or key in self.keys


EVERYTHING: Final = Scope()
NOTHING: Final = Scope(keys=frozenset())


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """A caller's view, as engines apply it: a scope for each agent named, ``other`` for the rest."""

    name: Literal["self", "tree", "agent", "all"]
    sandboxed: bool = False
    scopes: Mapping[str, Scope] = field(default_factory=dict)
    other: Scope = NOTHING

    def scope(self, agent: str) -> Scope:
        """What may be read of ``agent``."""
        return self.scopes.get(agent, self.other)


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """Adjacent index tokens: one for a plain word, more for ``foo-bar``, a run of Chinese or a quoted phrase.

    ``prefix`` lets the last token be a beginning (``deploy*``; a single Chinese character, which starts a bigram).
    """

    text: str  # as typed, for messages
    tokens: tuple[str, ...]
    prefix: bool = False
    quoted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """Terms joined by OR; one is the usual number."""

    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What was typed. ``whole`` is all plain words in a row, for tier ``phrase`` (None when there is nothing to join)."""

    text: str
    clauses: tuple[Clause, ...]
    excluded: tuple[Term, ...] = ()
    whole: Term | None = None
    fields: Mapping[str, str] = field(default_factory=dict)  # role, agent, session, tool, project, after, before
    symbols_only: bool = False
    dropped: tuple[str, ...] = ()  # words beyond limits.QUERY_TERMS
    unexcluded: bool = False  # words with a minus were all there was, and are looked for


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Conditions besides words. Times: ``after`` inclusive, ``before`` exclusive; ``project`` is a path prefix."""

    role: Role | None = None
    after: int | None = None
    before: int | None = None
    tool: str | None = None
    project: str | None = None
    exclude_keys: frozenset[str] = frozenset()


NO_FILTERS: Final = Filters()


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """What an engine looks for: every clause of ``all_of``, at least one of ``any_of`` (when given), none of ``none_of``.

    ``score`` are the terms whose occurrences are counted for each candidate, in this order; they need not be required.
    """

    all_of: tuple[Clause, ...] = ()
    any_of: tuple[Clause, ...] = ()
    none_of: tuple[Term, ...] = ()
    score: tuple[Term, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tier:
    """One step of a plan."""

    name: TierName
    match: Match
    missing: tuple[str, ...] = ()  # words that nothing visible has


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A message that matched, with what ranking needs. ``counts[i]`` is how often ``match.score[i]`` occurs in it.

    ``span`` is the number of tokens from the first to the last of the closest occurrences of the scored terms present (0: fewer than two).
    ``length`` is the message's number of index tokens; ``rowid`` orders by time within one database.
    """

    agent_id: str
    key: str
    window: int
    seq: int
    rowid: int
    role: Role
    timestamp: int
    flags: Flag
    digest: int
    length: int
    counts: tuple[int, ...]
    span: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Candidates of one tier in one database; ``complete`` is False when a bound stopped the walk."""

    candidates: tuple[Candidate, ...]
    complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A candidate with its place: higher ``score`` is better within one tier."""

    candidate: Candidate
    tier: TierName
    score: float
    missing: tuple[str, ...] = ()
    parts: Mapping[str, float] = field(default_factory=dict)  # for --explain

"""What travels between floors: frozen values, no behaviour beyond JSON, no I/O.

Words: an *event* is one transcript row; a *window* one generation of a session; a *visible path* the events from the root to the
current leaf. A *caller* asks, a *hit* answers. Offsets are code points, times are Unix milliseconds, unless a name says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, IntFlag
from typing import Any, Final, Literal

Role = Literal["user", "assistant"]
TierName = Literal["phrase", "all", "forms", "some", "typo", "none"]
Order = Literal["relevance", "newest", "oldest"]


# ── transcripts ──────────────────────────────────────────────────────────────────────────────────────────────────
class NavKind(Enum):
    """What an event does to the branch (openclaw.md §1.1, §1.3)."""

    ENTRY = "entry"  # canonical: message, compaction, custom, label, …
    RESET = "reset"  # canonical too, and a boundary
    LEAF = "leaf"  # control: moves the leaf
    OPAQUE = "opaque"  # unknown type: in the tree only with an id and a parent
    NONE = "none"  # header, or not an object: never on a path


@dataclass(frozen=True, slots=True, kw_only=True)
class Nav:
    """The part of an event that decides the branch, and nothing else."""

    kind: NavKind
    id: str | None = None
    parent: str | None = None
    has_parent: bool = False  # the property is there (null counts); absent = legacy linear, child of the current leaf
    side: bool = False  # appendMode: side
    target: str | None = None  # of a leaf control
    has_target: bool = False
    append_parent: str | None = None  # of a leaf control
    has_message: bool = False  # the record has a `message`


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One transcript row: where it hangs, when it was, and the source's own record (blobs replaced by size and digest)."""

    nav: Nav
    type: str
    timestamp: int
    record: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Span:
    """A secret in a text: ``text[start:end]`` becomes ``[redacted:kind]``."""

    start: int
    end: int
    kind: str


class Flag(IntFlag):
    """What is known of a searchable message beyond its words; stored with its index row."""

    NONE = 0
    AUTOMATION = 1  # heartbeat, cron prompt, NO_REPLY: ranks below people
    MIRROR = 2  # delivery mirror of a reply
    COPY = 4  # a mirror whose text a neighbour has: not counted, never a second result
    SUBAGENT = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What an event's person or assistant said, ready for the index: made by the service, stored by the engine as it is.

    ``index_text`` and ``index_parts`` are folded *redacted* text (tokens separated by single spaces); ``spans`` are offsets into the
    raw searchable text; ``digest`` is a signed 64-bit hash of the normalised text, to tell copies.
    """

    role: Role
    spans: tuple[Span, ...]
    index_text: str
    index_parts: str
    digest: int
    flags: Flag
    fold_version: int
    redact_version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """An event with everything that the writing transaction needs; ``said`` is None for what is not searchable."""

    event: Event
    body: bytes  # the record as JSON, UTF-8
    said: Said | None

    @property
    def shown(self) -> bool:
        """Whether history shows it: somebody said something, or it is a boundary (reset, compaction)."""
        return self.said is not None or self.event.nav.kind is NavKind.RESET or self.event.type == "compaction"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of a session, as its creator or importer says it. ``None`` means not known."""

    key: str
    session_id: str  # of its newest window
    dialect: str = "openclaw"  # whose record shape its events have; an importer's name
    kind: str = "other"
    title: str | None = None  # redacted before it gets here
    label: str | None = None  # redacted before it gets here
    tool: str | None = None
    project: str | None = None
    created_at: int = 0
    updated_at: int = 0
    archived_at: int | None = None
    spawned_by: str | None = None
    forked_from: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """A stored session. ``message_count``: user and assistant messages with searchable text on visible paths, copies apart."""

    facts: Facts
    token: int  # the session's number in its database, never reused
    message_count: int
    stale: bool
    source_path: str | None
    source_missing: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowSpec:
    """Which generation of a session an imported event belongs to; the last one by ``ordinal`` is current."""

    session_id: str
    ordinal: int = 0
    reason: str = "initial"
    created_at: int = 0
    findable: bool = True  # False: an older window of a chain that was rewound or switched


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowRow:
    """A stored window: ``events`` rows of transcript, ``path`` of them visible."""

    window: int
    session_id: str
    ordinal: int
    reason: str
    findable: bool
    events: int
    path: int
    leaf: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEvent:
    """An event read back. ``position`` is its place on the visible path (None when off it), ``seq`` its place in the window."""

    window: int
    session_id: str
    seq: int
    position: int | None
    shown: int  # how many rows of the path history shows, up to this one; 0 when off the path
    id: str | None
    type: str
    timestamp: int
    body: bytes
    spans: tuple[Span, ...]
    redact_version: int | None  # None: not indexed, or not searchable
    flags: Flag


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """An event that was written: its id as stored, and whether a search finds it at once."""

    id: str | None
    timestamp: int
    indexed: bool
    duplicate: bool = False  # it was there already; nothing was written


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceState:
    """How far a transcript file was read. ``identity`` is what tells that it is still the same file."""

    path: str
    tool: str
    size: int
    mtime_ns: int
    offset: int  # bytes consumed
    head_digest: str  # of its first bytes: a rewritten file is read anew
    state: Mapping[str, Any] = field(default_factory=dict)
    keys: tuple[str, ...] = ()  # sessions that came from it
    missing: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """A deleted session: keeps it from coming back by re-import."""

    key: str
    session_ids: tuple[str, ...]
    deleted_at: int
    erased_at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleWindow:
    """A window whose index is incomplete: positions below ``keep`` are good, the rest waits to be rebuilt."""

    key: str
    window: int
    keep: int


# ── callers and what they may see ────────────────────────────────────────────────────────────────────────────────
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


# ── questions ────────────────────────────────────────────────────────────────────────────────────────────────────
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Conditions besides words. Times: ``after`` inclusive, ``before`` exclusive; ``project`` is a path prefix."""

    role: Role | None = None
    after: int | None = None
    before: int | None = None
    tool: str | None = None
    project: str | None = None
    exclude_keys: frozenset[str] = frozenset()


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


# ── answers ──────────────────────────────────────────────────────────────────────────────────────────────────────
@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """A message beside a hit."""

    message_id: str
    role: str
    timestamp: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One result of a search (contract.md §2). ``marks`` are the matched ranges of ``snippet``, for people's eyes only."""

    session_key: str
    session_id: str
    message_id: str
    agent_id: str
    role: str
    timestamp: int
    snippet: str
    score: float
    match: TierName
    missing: tuple[str, ...] = ()
    title: str | None = None
    kind: str = "other"
    tool: str | None = None
    project: str | None = None
    current: bool = False
    more_in_session: int = 0
    copies: int = 1
    context: tuple[Neighbour, ...] = ()
    marks: tuple[tuple[int, int], ...] = ()
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostics:
    """What was searched, and what would widen it; speaks of what the caller may see and of nothing else."""

    scope: str
    sandboxed: bool = False
    sessions_searched: int = 0
    stale_sessions: int = 0
    ignored: tuple[str, ...] = ()
    hint: str | None = None
    failed_agents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """An answer to a search."""

    hits: tuple[Hit, ...]
    tier: TierName
    diagnostics: Diagnostics
    indexing: bool = False
    truncated: bool = False
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One row of history: redacted text, and OpenClaw's ``content`` beside it."""

    message_id: str
    session_id: str
    role: str
    timestamp: int
    text: str
    content: tuple[Mapping[str, Any], ...] = ()
    position: int = 0  # 1-based display position in its window
    seq: int = 0
    kind: str | None = None  # compaction | reset


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryPage:
    """A stretch of a conversation (contract.md §2)."""

    session_key: str
    session_id: str
    messages: tuple[Message, ...]
    total_messages: int
    has_more: bool
    next_offset: int | None = None
    first_message_id: str | None = None
    last_message_id: str | None = None
    truncated: bool = False
    dropped_messages: int = 0
    content_truncated: bool = False
    content_redacted: bool = False
    indexing: bool = False
    anchor: str | None = None

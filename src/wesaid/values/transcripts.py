"""Transcripts: events, windows, sessions, and what is stored of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, IntFlag
from typing import Any, Final, Literal, NamedTuple

Role = Literal["user", "assistant"]


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
    """How far a transcript file was read. ``size`` is the file's, or less of one that was not read to its end yet."""

    path: str
    tool: str
    size: int
    mtime_ns: int
    offset: int  # bytes consumed
    head_digest: str  # of its first bytes: a rewritten file is read anew
    state: Mapping[str, Any] = field(default_factory=dict)
    keys: tuple[str, ...] = ()  # sessions that came from it
    missing: bool = False


class KnownFile(NamedTuple):
    """A source as far as it takes to see whether it has grown; there may be ten thousand of them."""

    path: str
    tool: str
    size: int
    mtime_ns: int
    missing: bool


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that is followed: transcripts that appear in it are imported. ``tool`` and ``agent`` are what its import was told.

    ``mtime_ns`` is what it was when everything in it had been imported; 0: not yet.
    """

    path: str
    tool: str | None = None
    agent: str | None = None
    mtime_ns: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """A deleted session: keeps it from coming back by re-import."""

    key: str
    session_ids: tuple[str, ...]
    deleted_at: int
    erased_at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Traces:
    """What a scan of a store's files for pieces of deleted text gave. ``shared`` pieces stand in rows of other sessions too; ``left`` in none."""

    files: tuple[str, ...] = ()
    bytes: int = 0
    pieces: int = 0
    shared: int = 0
    left: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleWindow:
    """A window with work to do: rows from position ``keep`` on may be missing (``lacks``: are); ``left`` positions have to be looked at in all.

    One that lacks nothing has rows that older rules made, or some to clear away that no search shows.
    """

    key: str
    window: int
    keep: int
    left: int
    lacks: bool


@dataclass(frozen=True, slots=True)
class Versions:
    """The rules that index rows are made with: numbers that the fold and the redactor go by."""

    fold: int
    redact: int


UNKNOWN: Final = Versions(-1, -1)  # of rows that may have been made by several


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """The next work on a stale window: of the positions from ``start`` to before ``end``, the events whose index rows are missing or old."""

    window: int
    start: int
    end: int
    events: tuple[StoredEvent, ...] = ()

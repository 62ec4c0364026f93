"""Answers: hits, pages, messages, as they leave; everything in them is redacted already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from wesaid.values.asking import TierName


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
    resume: tuple[str, ...] = ()  # the words of the command that opens the session again in its tool


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
    sources_behind: int = 0  # known transcripts that have grown and are not all read


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
    tool: Mapping[str, str] = field(default_factory=dict)  # toolName, toolCallId of a tool's result, for those who ask for tools


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryPage:
    """A stretch of a conversation (contract.md §2)."""

    session_key: str
    session_id: str
    messages: tuple[Message, ...]
    total_messages: int
    has_more: bool  # older ones in this window
    next_offset: int | None = None  # of the older page
    previous_offset: int | None = None  # of the newer page
    previous_session_id: str | None = None  # the window before this one
    next_session_id: str | None = None  # the window after this one
    first_message_id: str | None = None
    last_message_id: str | None = None
    truncated: bool = False
    dropped_messages: int = 0
    content_truncated: bool = False
    content_redacted: bool = False
    indexing: bool = False
    unreadable: int = 0  # rows of this stretch that were passed over, since they are damaged
    anchor: str | None = None

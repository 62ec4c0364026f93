"""What ``sessions_list`` gives: rows and pages of them, as values; everything in them may be seen by whom they were made for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from wesaid.values import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSession:
    """A row (contract.md §2). ``source_path`` is for the operator only, ``spawned_by`` for those who may see the parent."""

    key: str
    session_id: str
    agent_id: str
    kind: str
    title: str | None
    label: str | None
    tool: str | None
    project: str | None
    message_count: int
    created_at: int
    updated_at: int
    archived: bool
    spawned_by: str | None
    stale: bool
    source_path: str | None = None
    source_missing: bool = False
    derived_title: str | None = None
    last_message: str | None = None
    messages: tuple[Message, ...] = ()
    resume: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionsPage:
    """A page of sessions; ``count`` is how many it holds, ``truncated`` why they are fewer than asked for although there are more."""

    rows: tuple[ListedSession, ...]
    count: int
    has_more: bool
    next_offset: int | None = None
    truncated: Literal["byte-limit"] | None = None
    failed_agents: tuple[str, ...] = ()
    hint: str | None = None  # why no session passed the filters, or what is not shown of those that did

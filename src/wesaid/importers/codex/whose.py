"""Whose a rollout is: its thread, what the thread was forked or spawned from, and which page of it the file is.

Pure; it sees ``session_meta`` payloads and paths.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, Final

from wesaid.importers.known import text_of
from wesaid.importers.reading import printable

_UUID: Final = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_NAME: Final = re.compile(rf"rollout-.+?-(?P<thread>{_UUID})(?:_(?P<segment>{_UUID}))?\.jsonl")


def thread(meta: Mapping[str, Any]) -> str | None:
    """The thread of a ``session_meta``; a subagent's ``session_id`` is its parent's."""
    return text_of(meta, "id") or text_of(meta, "session_id")


def thread_named(path: str) -> str:
    """The thread that a file's name tells, else the name."""
    match = _NAME.fullmatch(_basename(path))
    return match["thread"] if match else _stem(path)


def rollout(meta: Mapping[str, Any], path: str, session_id: str) -> str:
    """What pages call each other: a thread's first page by the thread, a later one by its own part of the file's name."""
    match = _NAME.fullmatch(_basename(path))
    if match:
        return str(match["segment"] or match["thread"])
    return _stem(path) if base(meta) else session_id


def spawned(meta: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """How a subagent was spawned; None for a thread that a person began."""
    source = meta.get("source")
    by = source.get("subagent") if isinstance(source, dict) else None
    if isinstance(by, dict) and isinstance(by.get("thread_spawn"), dict):
        return dict(by["thread_spawn"])
    return {} if by is not None or source == "subagent" or meta.get("thread_source") == "subagent" else None


def parent(meta: Mapping[str, Any]) -> str | None:
    """The thread that spawned a subagent's."""
    return text_of(spawned(meta) or {}, "parent_thread_id") or text_of(meta, "parent_thread_id") or text_of(meta, "forked_from_id")


def base(meta: Mapping[str, Any]) -> str | None:
    """The rollout that this one's history goes on from."""
    found = meta.get("history_base")
    return text_of(found, "thread_id") if isinstance(found, dict) else None


def goes_on(meta: Mapping[str, Any], path: str) -> bool:
    """Whether a file is a later page of its own thread: it names itself, or its name has a part of its own behind the thread's."""
    match = _NAME.fullmatch(_basename(path))
    return base(meta) is not None and (base(meta) == thread(meta) or bool(match and match["segment"]))


def _basename(path: str) -> str:
    return PurePath(printable(path)).name


def _stem(path: str) -> str:
    return _basename(path).partition(".jsonl")[0]

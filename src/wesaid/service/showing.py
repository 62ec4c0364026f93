"""A stored event as a row of history: redacted, then cut, images and oversized rows replaced by what they were.

Knows one event at a time and nothing of pages or callers. The whole of every text is redacted before anything is cut (contract.md §7).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from wesaid import limits
from wesaid.rules import bounds
from wesaid.rules.private import without_private
from wesaid.rules.redact import Redactor, joined
from wesaid.service.exporting import redacted
from wesaid.service.preparing import view_of, words_of
from wesaid.values import Message, SessionRow, StoredEvent

_ROLE = re.compile("[A-Za-z]{1,20}")
_MIME = re.compile("(?:image|audio|video|application|text)/[a-z0-9.+-]{1,24}")
_BOUNDARIES = {"reset": "Reset", "compaction": "Compaction"}
_CALLS = ("toolCall", "tool_use")
_RESULTS = ("toolResult", "tool_result")
_TOO_LARGE = "[sessions_history omitted: message too large]"  # OpenClaw's words (openclaw.md §2.3), so that its agents know them


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """How events are to be shown: with tools' calls and results; raw; whole instead of cut."""

    redactor: Redactor
    tools: bool = False
    reveal: bool = False
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Shown:
    """A row of history, and what was done to it."""

    message: Message
    cut: bool = False
    redacted: bool = False


def shown(row: SessionRow, event: StoredEvent, how: View) -> Shown | None:
    """An event as a row of history; None when there is nothing to show."""
    if event.type in _BOUNDARIES:
        return Shown(_message(event, "system", _BOUNDARIES[event.type], (), kind=event.type))
    raw = view_of(row.facts.dialect, event).get("message")
    source = raw if isinstance(raw, Mapping) else {}
    words = words_of(how.redactor, row.facts.dialect, event, reveal=how.reveal)
    made = _Made(how)
    role, text = "", ""
    if words is not None:
        role, text, made.redacted = words
        text = made.clip(text)
    elif how.tools and source:
        role = _role(source.get("role"))
        raw_text = _text_of(source.get("content", source.get("output")))
        text = made.text(raw_text)
    else:
        return None
    blocks = [made_block for block in _blocks(source.get("content")) if (made_block := made.block(block)) is not None]
    if not text and not blocks:
        return None
    told = {"toolName": source.get("toolName"), "toolCallId": source.get("toolCallId")} if how.tools else {}
    content = ({"type": "text", "text": text}, *blocks) if text else tuple(blocks)
    message = _message(event, role, text, content, tool={name: made.text(str(value)) for name, value in told.items() if value is not None})
    return Shown(message, made.cut, made.redacted)


def too_large(one: Shown) -> Shown:
    """The row that stands for one which no page has room for: its ids, its role, and that it was left out."""
    content = ({"type": "text", "text": _TOO_LARGE},)
    return Shown(replace(one.message, text=_TOO_LARGE, content=content, tool={}), cut=True, redacted=one.redacted)


def _message(  # noqa: PLR0913 - a row's facts
    event: StoredEvent,
    role: str,
    text: str,
    content: tuple[Mapping[str, Any], ...],
    *,
    kind: str | None = None,
    tool: Mapping[str, str] | None = None,
) -> Message:
    return Message(
        message_id=event.id or "",
        session_id=event.session_id,
        role=role,
        timestamp=event.timestamp,
        text=text,
        content=content or ({"type": "text", "text": text},),
        position=event.shown,
        seq=event.seq,
        kind=kind,
        tool=tool or {},
    )


class _Made:
    """One row in the making: every text of it passes here, and it remembers what was done to them."""

    def __init__(self, how: View) -> None:
        self.how = how
        self.cut = False
        self.redacted = False

    def text(self, raw: str) -> str:
        """A raw text redacted, then cut."""
        meant = raw if self.how.reveal else without_private(raw)
        safe = raw if self.how.reveal else self.how.redactor.redact(meant)
        self.redacted |= safe != meant
        return self.clip(safe)

    def clip(self, safe: str) -> str:
        """A redacted text cut."""
        if self.how.whole:
            return safe
        text, cut = bounds.clip(safe, limits.HISTORY_TEXT_CODE_POINTS)
        self.cut |= cut
        return text

    def value(self, raw: Any) -> Any:
        """A JSON value: redacted with its names as context, then every string in it cut."""
        safe = raw if self.how.reveal else redacted(self.how.redactor, raw)
        self.redacted |= safe != raw
        return safe if self.how.whole else self._clipped(safe)

    def _clipped(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.clip(value)
        if isinstance(value, Mapping):
            return {self.clip(str(name)): self._clipped(inner) for name, inner in value.items()}
        return [self._clipped(inner) for inner in value] if isinstance(value, list) else value

    def block(self, block: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """A content block beside the text: an image as what it was, a tool's call or result for those who ask; never reasoning."""
        kind = block.get("type")
        if kind == "image":
            return _omitted(block)
        if not self.how.tools:
            return None
        if kind in _CALLS:
            named = {"type": "toolCall", "id": self.text(str(block.get("id", ""))), "name": self.text(str(block.get("name", "tool")))}
            return {**named, "arguments": self.value(block.get("arguments", block.get("input", {})))}
        if kind in _RESULTS:
            content = [{"type": "text", "text": self.text(_text_of(block.get("content")))}]
            call = self.text(str(block.get("toolCallId", block.get("tool_use_id", ""))))
            return {
                "type": "toolResult",
                "toolCallId": call,
                "isError": block.get("isError", block.get("is_error")) is True,
                "content": content,
            }
        return None


def _blocks(content: Any) -> list[Mapping[str, Any]]:
    return [block for block in content if isinstance(block, Mapping)] if isinstance(content, list) else []


def _omitted(block: Mapping[str, Any]) -> Mapping[str, Any]:
    """An image as what it was, never its bytes (contract.md §2)."""
    found = block.get("bytes")
    data = block.get("data")
    size = found if isinstance(found, int) else len(data) * 3 // 4 if isinstance(data, str) else 0
    mime = block.get("mimeType")
    known = isinstance(mime, str) and _MIME.fullmatch(mime)
    return {"type": "image", "omitted": True, "bytes": size, "mimeType": mime if known else "application/octet-stream"}


def _role(role: Any) -> str:
    """A role that is a name; a record may hold anything there."""
    return role if isinstance(role, str) and _ROLE.fullmatch(role) else "other"


def _text_of(content: Any) -> str:
    """The text of a message that is no person's or assistant's: what a tool gave."""
    if isinstance(content, str):
        return content
    return joined([block["text"] for block in _blocks(content) if isinstance(block.get("text"), str) and block["text"]])

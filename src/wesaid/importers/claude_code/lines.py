"""What a line of Claude Code's transcript says, and who said it (formats.md §3): lines as OpenClaw-shaped events. It keeps nothing in mind.

Invariant: what no person and no model said has no ``user`` or ``assistant`` role.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from wesaid.importers.known import POSITION, text_of

CHAT: Final = frozenset({"user", "assistant"})
_SPEAKING: Final = CHAT | {"attachment", "queue-operation"}  # these speak when the reader found that they are a person's prompt
_PEOPLE: Final = (None, "human", "queued")  # kinds of origin; a peer, a hook, a finished task are none
# A command of the program itself: what follows its name is a setting, not something said. (`/review the parser` is.)
_SETTING: Final = re.compile(
    r"\s*(?:<command-message>[^<]{0,200}</command-message>\s*)?<command-name>/?"
    r"(?:model|config|clear|resume|rename|add-dir|mcp|plugin|login|logout|permissions|theme|effort|fast|status|cost|context|export|ide|vim|hooks|agents)"
    r"</command-name>"
)


def view(record: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """``message`` for chat lines, with the role ``custom`` or ``toolResult`` for what nobody said; ``custom`` for all other lines."""
    kind = text_of(record, "type")
    common = {"id": text_of(record, "uuid") or POSITION, "parentId": record.get("parentUuid"), "timestamp": record.get("timestamp")}
    message = record.get("message")
    if kind == "leaf" or (kind == "message" and isinstance(message, dict)):
        return record  # ours, made by a later edit or an append
    if kind not in _SPEAKING or not isinstance(message, dict):
        return {**common, "type": "custom", "customType": f"claude-code:{kind or 'unknown'}"}
    content = message.get("content")
    blocks = [_block(block) for block in content] if isinstance(content, list) else content
    shown = {name: message[name] for name in ("model", "usage") if name in message}
    return {**common, "type": "message", "message": {**shown, "role": role_of(record), "content": blocks}}


def role_of(record: Mapping[str, Any]) -> str:
    """Who said a line that has a message: a person or the model, else a role that is no one's (formats.md §3, "Human user line")."""
    message = record["message"]
    content = message.get("content")
    if record["type"] == "assistant":
        made_up = record.get("isApiErrorMessage") is True or message.get("model") == "<synthetic>"
        return "custom" if made_up else "assistant"
    flags = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")
    origin = record.get("origin")
    by = origin.get("kind") if isinstance(origin, dict) else None
    if any(record.get(flag) is True for flag in flags) or by not in _PEOPLE or record.get("promptSource") == "system":
        return "custom"
    if _SETTING.match(_text(content)):
        return "custom"
    types = {text_of(block, "type") for block in content if isinstance(block, dict)} if isinstance(content, list) else set()
    if "toolUseResult" in record or ("tool_result" in types and "text" not in types):
        return "toolResult"
    return "user"


def said_in(record: Mapping[str, Any]) -> str:
    """The text of a line's message, empty when it has none."""
    message = record.get("message")
    return _text(message.get("content")) if isinstance(message, dict) else ""


def _block(block: Any) -> Any:
    """A content block by OpenClaw's names. Text stays as it is; payloads were left out by the reading."""
    if not isinstance(block, dict):
        return block
    kind = block.get("type")
    if kind in ("tool_use", "server_tool_use"):
        return {"type": "toolCall", "id": block.get("id"), "name": block.get("name"), "arguments": block.get("input")}
    if kind == "image":
        source = block.get("source")
        held = dict(source) if isinstance(source, dict) else {}
        mime = held.pop("media_type", None)
        held.pop("type", None)
        return {"type": "image", "mimeType": mime, **held}
    if kind == "thinking":
        return {"type": "thinking", "thinking": block.get("thinking")}
    if kind == "tool_result":
        return {
            "type": "toolResult",
            "toolCallId": block.get("tool_use_id"),
            "content": block.get("content"),
            "isError": block.get("is_error"),
        }
    return block


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(block["text"] for block in blocks if isinstance(block, dict) and isinstance(block.get("text"), str))

"""``sessions_history``: a stretch of a conversation, by the stored path, redacted and bounded.

The same visible path as search, the same rule of who may see. What search returns, this opens: an anchor that is visible in any findable window
is found, before a reset and in earlier windows too; one that is not is an error, never an empty list or the newest tail.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from wesaid import keys, limits
from wesaid.engines.contract import View
from wesaid.errors import InputError, NotFoundError, StoreError
from wesaid.rules import bounds, redact
from wesaid.service import addressing
from wesaid.service.methods import HistoryParams
from wesaid.service.opening import Home
from wesaid.service.preparing import view_of, words_of
from wesaid.values import Caller, HistoryPage, Message, SessionRow, StoredEvent, WindowRow

_BOUNDARIES = {"reset": "Reset", "compaction": "Compaction"}
_PAGE_OVERHEAD = 1024  # bytes of a page's own fields, keys and ids included


def history(home: Home, caller: Caller, params: HistoryParams) -> HistoryPage:
    """A page of a session's history. NotFoundError for a session or an anchor that is not there, or not visible."""
    if params.message_id is None and (params.messages_before is not None or params.messages_after is not None):
        field = "messagesBefore" if params.messages_before is not None else "messagesAfter"
        raise InputError(f"{field} needs messageId", hint="give the message to look around", details={"field": field})
    row = addressing.visible_session(home, caller, params.session_key)
    with home.store(keys.parse(row.facts.key).agent_id).reading() as view:
        if params.message_id is not None:
            return _around(view, row, params)
        return _tail(view, row, params)


def message(home: Home, caller: Caller, key: str | None, message_id: str, *, reveal: bool = False) -> tuple[str, Message]:
    """One message by its id, in a session or in whichever visible session has it; its session's key and itself."""
    if key is not None:
        page = history(home, caller, HistoryParams(session_key=key, message_id=message_id, limit=1, include_tools=True, reveal=reveal))
        return page.session_key, page.messages[0]
    policy = addressing.policy_of(home, caller)
    for agent, scope in addressing.scopes(home, policy, None).items():
        with suppress(StoreError), home.store(agent).reading() as view:  # it may be in another agent's database
            for row in view.sessions_with(message_id):
                found = view.locate(row.facts.key, message_id) if scope.allows(row.facts.key) else None
                shown = _message(row, found, include_tools=True, reveal=reveal) if found is not None else None
                if shown is not None:
                    return row.facts.key, shown[0]
    raise no_message(message_id)


def no_message(message_id: str) -> NotFoundError:
    """The error for an anchor that is not there or not visible."""
    return NotFoundError(
        f"no message {message_id[: limits.MESSAGE_ID_BYTES]!r} that can be opened",
        hint="it may be on an abandoned branch, or its session deleted; search again for its words",
        details={"field": "messageId", "status": "not_found"},
    )


def _tail(view: View, row: SessionRow, params: HistoryParams) -> HistoryPage:
    """The newest messages, ``offset`` of them passed over."""
    windows = view.windows(row.facts.key)
    window = next((w for w in reversed(windows) if w.findable and params.session_id in (None, w.session_id)), None)
    if window is None:
        raise addressing.absent(params.session_id or params.session_key)
    total = view.path_length(window.window) if params.include_tools else view.shown(window.window)
    end = max(total - params.offset, 0)
    start = max(end - params.limit, 0)
    messages, flags = _read(view, row, window, (start, end), params)
    kept = _fit_newest(messages)
    first = start if kept == len(messages) else _position_of(view, window, params, messages[len(messages) - kept])
    return _page(view, row, window, messages[len(messages) - kept :], flags, has_more=first > 0, next_offset=total - first)


def _position_of(view: View, window: WindowRow, params: HistoryParams, message: Message) -> int:
    """A message's place in the units that this page counts: rows of the path with tools, else rows that history shows."""
    if not params.include_tools:
        return message.position - 1
    found = view.event(window.window, message.message_id)
    return int(found.position or 0) if found is not None else 0


def _around(view: View, row: SessionRow, params: HistoryParams) -> HistoryPage:
    """A window of messages with the anchor in it; when bytes run out it grows evenly from the anchor."""
    anchor_id = str(params.message_id)
    found = view.locate(row.facts.key, anchor_id, params.session_id)
    if found is None or found.position is None:
        raise no_message(anchor_id)
    window = next(w for w in view.windows(row.facts.key) if w.window == found.window)
    by_position = params.include_tools or not _is_shown(view, found)
    at = found.position if by_position else found.shown - 1
    total = view.path_length(window.window) if by_position else view.shown(window.window)
    before, after = params.messages_before, params.messages_after
    if before is None and after is None:
        before = (params.limit - 1) // 2
        after = params.limit - 1 - before
    start, end = max(at - (before or 0), 0), min(at + (after or 0) + 1, total)
    wider = HistoryParams(session_key=params.session_key, include_tools=by_position, reveal=params.reveal)
    messages, flags = _read(view, row, window, (start, end), wider)
    middle = next((i for i, each in enumerate(messages) if each.message_id == anchor_id), None)
    if middle is None:
        raise no_message(anchor_id)
    low, high = _fit_around(messages, middle)
    return _page(
        view, row, window, messages[low:high], flags, has_more=start + low > 0, next_offset=max(total - start - low, 0), anchor=anchor_id
    )


def _is_shown(view: View, event: StoredEvent) -> bool:
    """Whether history shows an event of the path at all without tools."""
    rows = view.path(event.window, start=int(event.position or 0), count=1, shown=True)
    return bool(rows) and rows[0].seq == event.seq


def _read(
    view: View, row: SessionRow, window: WindowRow, span: tuple[int, int], params: HistoryParams
) -> tuple[list[Message], dict[str, bool]]:
    """Messages ``span[0]`` to ``span[1]`` of a window, and what was cut or redacted in them."""
    start, end = span
    position: int | None = start if params.include_tools else view.shown_at(window.window, start)
    flags = {"truncated": False, "redacted": False}
    if position is None or end <= start:
        return [], flags
    events = view.path(window.window, start=position, count=end - start, shown=not params.include_tools)
    messages: list[Message] = []
    for event in events:
        made = _message(row, event, include_tools=params.include_tools, reveal=params.reveal)
        if made is not None:
            messages.append(made[0])
            flags["truncated"] |= made[1]
            flags["redacted"] |= made[2]
    return messages, flags


def _message(row: SessionRow, event: StoredEvent, *, include_tools: bool, reveal: bool) -> tuple[Message, bool, bool] | None:
    """An event as a row of history, and whether it was cut or redacted; None when there is nothing to show."""
    kind = event.type if event.type in _BOUNDARIES else None
    redacted = False
    blocks: list[Mapping[str, Any]] = []
    if kind is not None:
        role, text = "system", _BOUNDARIES[kind]
    else:
        words = words_of(row.facts.dialect, event, reveal=reveal)
        view = view_of(row.facts.dialect, event)
        raw = view.get("message")
        source = raw if isinstance(raw, Mapping) else {}
        if words is not None:
            role, text, redacted = words
        elif include_tools and source:
            role, text = str(source.get("role", "")), _text_of(source.get("content"))
            safe = text if reveal else redact.redact(text)
            redacted, text = safe != text, safe
        else:
            return None
        blocks = [_omitted(block) for block in _blocks(source.get("content")) if block.get("type") == "image"]
        if not text and not blocks:
            return None
    shown, cut = (text, False) if reveal else bounds.clip(text, limits.HISTORY_TEXT_CODE_POINTS)
    message = Message(
        message_id=event.id or "",
        session_id=event.session_id,
        role=role,
        timestamp=event.timestamp,
        text=shown,
        content=({"type": "text", "text": shown}, *blocks) if shown else tuple(blocks),
        position=event.shown,
        seq=event.seq,
        kind=kind,
    )
    return message, cut, redacted


def _blocks(content: Any) -> list[Mapping[str, Any]]:
    return [block for block in content if isinstance(block, Mapping)] if isinstance(content, list) else []


def _omitted(block: Mapping[str, Any]) -> Mapping[str, Any]:
    """An image as what it was, never its bytes (contract.md §2)."""
    found = block.get("bytes")
    data = block.get("data")
    size = found if isinstance(found, int) else len(data) * 3 // 4 if isinstance(data, str) else 0
    mime = block.get("mimeType")
    return {"type": "image", "omitted": True, "bytes": size, "mimeType": mime if isinstance(mime, str) else "application/octet-stream"}


def _text_of(content: Any) -> str:
    """The text of a tool's result or call, for those who ask for tools."""
    if isinstance(content, str):
        return content
    parts: list[str] = []
    for block in _blocks(content):
        if isinstance(block.get("text"), str):
            parts.append(block["text"])
        elif block.get("type") in ("toolCall", "tool_use"):
            arguments = block.get("arguments", block.get("input", {}))
            parts.append(f"{block.get('name', 'tool')} {msgspec.json.encode(arguments).decode('utf-8', 'replace')}")
        elif block.get("type") in ("tool_result", "toolResult"):
            parts.append(_text_of(block.get("content")))
    return "\n".join(part for part in parts if part)


def _size(message: Message) -> int:
    return len(msgspec.json.encode(message)) + len(message.message_id.encode()) * 2


def _fit_newest(messages: Sequence[Message]) -> int:
    """How many of the newest messages fit into the page's bytes."""
    sizes = [_size(each) for each in reversed(messages)]
    return max(bounds.fit(sizes, _PAGE_OVERHEAD, limits.HISTORY_BYTES), min(1, len(messages)))


def _fit_around(messages: Sequence[Message], middle: int) -> tuple[int, int]:
    """The largest stretch around the anchor that fits, grown by turns on both sides."""
    low, high = middle, middle + 1
    room = limits.HISTORY_BYTES - _PAGE_OVERHEAD - _size(messages[middle])
    while True:
        grown = False
        if low > 0 and (size := _size(messages[low - 1])) <= room:
            low, room, grown = low - 1, room - size, True
        if high < len(messages) and (size := _size(messages[high])) <= room:
            high, room, grown = high + 1, room - size, True
        if not grown:
            return low, high


def _page(  # noqa: PLR0913 - a page's facts
    view: View,
    row: SessionRow,
    window: WindowRow,
    messages: Sequence[Message],
    flags: Mapping[str, bool],
    *,
    has_more: bool,
    next_offset: int,
    anchor: str | None = None,
) -> HistoryPage:
    total = view.shown(window.window)
    first = view.path(window.window, start=0, count=1, shown=True)
    last_at = view.shown_at(window.window, total - 1)
    last = view.path(window.window, start=last_at, count=1, shown=True) if last_at is not None else []
    return HistoryPage(
        session_key=row.facts.key,
        session_id=window.session_id,
        messages=tuple(messages),
        total_messages=total,
        has_more=has_more,
        next_offset=next_offset if has_more else None,
        first_message_id=first[0].id if first else None,
        last_message_id=last[0].id if last else None,
        truncated=has_more,
        content_truncated=flags["truncated"],
        content_redacted=flags["redacted"],
        indexing=row.stale,
        anchor=anchor,
    )

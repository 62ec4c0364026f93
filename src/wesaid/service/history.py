"""``sessions_history``: a stretch of a conversation, by the stored path, redacted and bounded.

The same visible path as search, the same rule of who may see. What search returns, this opens: an anchor that is visible in any findable window
is found, before a reset and in earlier windows too; one that is not is an error, never an empty list or the newest tail.

A page lies in one window. Its rows are numbered from the window's first: those that history shows, or with ``includeTools`` all of the path.
Offsets count back from the newest, so that ``nextOffset`` is the older page and ``prevOffset`` the newer one, from an anchor's page too;
``previousSessionId`` and ``nextSessionId`` name the windows beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import msgspec

from wesaid import keys, limits
from wesaid.engines.contract import View
from wesaid.errors import InputError, NotFoundError, StoreError, quoted
from wesaid.rules.redact import Redactor
from wesaid.service import addressing, showing, wire
from wesaid.service.methods import HistoryParams
from wesaid.service.opening import Home
from wesaid.service.preparing import lost, readable
from wesaid.service.showing import Shown
from wesaid.values import Caller, HistoryPage, Message, SessionRow, StoredEvent, WindowRow

_SEPARATOR_BYTES = 2  # ", "


@dataclass(frozen=True, slots=True)
class _Item:
    """A row with its place: the numbers ``[low, high)``; an anchor that only tools show stands between two rows (``low == high``)."""

    low: int
    high: int
    shown: Shown
    size: int  # bytes on the wire, with what stands before the next one


@dataclass(frozen=True, slots=True)
class _Reading:
    """One session's window being read."""

    view: View
    row: SessionRow
    window: WindowRow
    params: HistoryParams
    redactor: Redactor
    lost: set[int] = field(default_factory=set)  # seq of rows that were met and cannot be read

    @property
    def how(self) -> showing.View:
        return showing.View(redactor=self.redactor, tools=self.params.include_tools, reveal=self.params.reveal, whole=self.params.reveal)

    def total(self) -> int:
        """How many rows are numbered."""
        return self.view.path_length(self.window.window) if self.params.include_tools else self.view.shown(self.window.window)

    def items(self, low: int, high: int) -> list[_Item]:
        """The rows ``low`` to ``high`` that have something to show."""
        tools = self.params.include_tools
        position = low if tools else self.view.shown_at(self.window.window, low)
        if position is None or high <= low:
            return []
        events = self.view.path(self.window.window, start=position, count=high - low, shown=not tools)
        found: list[_Item] = []
        for number, event in enumerate(events, low):
            shown = showing.shown(self.row, event, self.how)
            if shown is not None:
                found.append(self.item(number, number + 1, shown))
            elif readable(event) is None:
                self.lost.add(event.seq)
        return found

    def item(self, low: int, high: int, shown: Shown) -> _Item:
        """The row with its size, or what stands for it when no page has room for it. Raw text is the operator's, and whole."""
        size = wire.size(wire.message_json(shown.message))
        if size > limits.HISTORY_MESSAGE_BYTES and not self.params.reveal:
            shown = showing.too_large(shown)
            size = wire.size(wire.message_json(shown.message))
        return _Item(low, high, shown, size + _SEPARATOR_BYTES)


def history(home: Home, caller: Caller, params: HistoryParams) -> HistoryPage:
    """A page of a session's history. NotFoundError for a session, a window or an anchor that is not there, or not visible."""
    if params.message_id is None and (params.messages_before is not None or params.messages_after is not None):
        field = "messagesBefore" if params.messages_before is not None else "messagesAfter"
        raise InputError(f"{field} needs messageId", hint="give the message to look around", details={"field": field})
    row = addressing.visible_session(home, caller, params.session_key)
    with home.store(keys.parse(row.facts.key).agent_id).reading() as view:
        if params.message_id is not None:
            return _around(view, row, params, home.redactor)
        named = params.session_key.strip()
        if params.session_id is None and any(window.session_id == named for window in view.windows(row.facts.key)):
            params = msgspec.structs.replace(params, session_id=named)  # a session id names its window, not the newest one
        return _tail(view, row, params, home.redactor)


def message(home: Home, caller: Caller, key: str | None, message_id: str, *, reveal: bool = False) -> tuple[str, Message]:
    """One whole message by its id, in a session or in whichever visible session has it; its session's key and itself."""
    how = showing.View(redactor=home.redactor, tools=True, reveal=reveal, whole=True)
    if key is not None:
        row = addressing.visible_session(home, caller, key)
        agents = {keys.parse(row.facts.key).agent_id: [row]}
    else:
        agents = {}
        for agent, scope in addressing.scopes(home, addressing.policy_of(home, caller), None).items():
            with suppress(StoreError), home.store(agent).reading() as view:  # it may be in another agent's database
                agents[agent] = view.sessions_with(message_id, scope)
    for agent, rows in agents.items():
        with home.store(agent).reading() as view:
            for row in rows:
                found = view.locate(row.facts.key, message_id)
                shown = showing.shown(row, found, how) if found is not None else None
                if shown is not None:
                    return row.facts.key, shown.message
                if found is not None and readable(found) is None:
                    raise no_message(message_id, hint=lost(1))
    raise no_message(message_id)


def no_message(
    message_id: str, *, hint: str = "it may be on an abandoned branch, or its session deleted; search again for its words"
) -> NotFoundError:
    """The error for an anchor that is not there or not visible."""
    return NotFoundError(
        f"no message {quoted(message_id, limits.MESSAGE_ID_BYTES)} that can be opened",
        hint=hint,
        details={"field": "messageId", "status": "not_found"},
    )


def _tail(view: View, row: SessionRow, params: HistoryParams, redactor: Redactor) -> HistoryPage:
    """The newest messages of the current window, or of the one named, ``offset`` of them passed over."""
    windows = [w for w in view.windows(row.facts.key) if w.findable and params.session_id in (None, w.session_id)]
    if not windows:
        raise addressing.absent(params.session_id or params.session_key)
    reading = _Reading(view, row, windows[-1], params, redactor)
    end = max(reading.total() - params.offset, 0)
    start = max(end - params.limit, 0)
    items = reading.items(start, end)
    room = _room(reading)
    kept = 0
    for item in reversed(items):
        room -= item.size
        if room < 0 and kept:  # one at least, so that a walk gets on; only a raw one can be too long for a page
            break
        kept += 1
    left = items[len(items) - kept :]
    return _page(reading, left, (left[0].low if left and kept < len(items) else start, end), dropped=len(items) - kept)


def _around(view: View, row: SessionRow, params: HistoryParams, redactor: Redactor) -> HistoryPage:
    """A window of messages with the anchor in it; when bytes run out it grows evenly from the anchor."""
    anchor_id = str(params.message_id)
    found = view.locate(row.facts.key, anchor_id, params.session_id)
    if found is None or found.position is None:
        raise no_message(anchor_id)
    window = next(w for w in view.windows(row.facts.key) if w.window == found.window)
    reading = _Reading(view, row, window, params, redactor)
    before, after = params.messages_before, params.messages_after
    if before is None and after is None:
        before = (params.limit - 1) // 2
        after = params.limit - 1 - before
    at, next_at = _place(view, found, tools=params.include_tools)
    start, end = max(at - (before or 0), 0), min(next_at + (after or 0), reading.total())
    anchor = showing.shown(row, found, replace(reading.how, tools=True) if at == next_at else reading.how)
    if anchor is None:
        raise no_message(anchor_id) if readable(found) is not None else no_message(anchor_id, hint=lost(1))
    older, newer = reading.items(start, at), reading.items(next_at, end)
    middle = reading.item(at, next_at, anchor)
    left, right = _grown(older, newer, _room(reading) - middle.size)
    low = start if left == len(older) else (older[len(older) - left].low if left else at)
    high = end if right == len(newer) else (newer[right - 1].high if right else next_at)
    return _page(
        reading, [*older[len(older) - left :], middle, *newer[:right]], (low, high), dropped=len(older) + len(newer) - left - right
    )


def _grown(older: Sequence[_Item], newer: Sequence[_Item], room: int) -> tuple[int, int]:
    """How many rows before and after the anchor there is room for, taken by turns; a side ends where its next row does not fit."""
    left, right = 0, 0
    while True:
        grown = False
        if left < len(older) and (size := older[-1 - left].size) <= room:
            left, room, grown = left + 1, room - size, True
        if right < len(newer) and (size := newer[right].size) <= room:
            right, room, grown = right + 1, room - size, True
        if not grown:
            return left, right


def _place(view: View, event: StoredEvent, *, tools: bool) -> tuple[int, int]:
    """The numbers ``[at, next)`` of a row of the path; empty when only tools would show it."""
    position = int(event.position or 0)
    if tools:
        return position, position + 1
    rows = view.path(event.window, start=position, count=1, shown=True)
    is_shown = bool(rows) and rows[0].seq == event.seq
    return (event.shown - 1, event.shown) if is_shown else (event.shown, event.shown)


def _room(reading: _Reading) -> int:
    """Bytes for messages: what the page's own fields leave, each at its longest."""
    empty = _page(reading, [], (0, 0), dropped=limits.HISTORY_MAX)
    return limits.HISTORY_BYTES - limits.ENVELOPE_BYTES - limits.HISTORY_FLAGS_BYTES - wire.size(wire.history_json(empty))


def _page(reading: _Reading, items: Sequence[_Item], span: tuple[int, int], *, dropped: int) -> HistoryPage:
    """The page of the numbers ``span``, of which ``dropped`` rows had no room."""
    view, window, params = reading.view, reading.window, reading.params
    low, high = span
    total, messages = reading.total(), view.shown(window.window)
    first = view.path(window.window, start=0, count=1, shown=True)
    last_at = view.shown_at(window.window, messages - 1)
    last = view.path(window.window, start=last_at, count=1, shown=True) if last_at is not None else []
    windows = [w for w in view.windows(reading.row.facts.key) if w.findable]
    here = next(n for n, w in enumerate(windows) if w.window == window.window)
    cut = any(item.shown.cut for item in items)
    return HistoryPage(
        session_key=reading.row.facts.key,
        session_id=window.session_id,
        messages=tuple(item.shown.message for item in items),
        total_messages=messages,
        has_more=low > 0,
        next_offset=total - low if low > 0 else None,
        previous_offset=max(total - high - params.limit, 0) if high < total else None,
        previous_session_id=windows[here - 1].session_id if here > 0 else None,
        next_session_id=windows[here + 1].session_id if here + 1 < len(windows) else None,
        first_message_id=first[0].id if first else None,
        last_message_id=last[0].id if last else None,
        truncated=dropped > 0 or cut,
        dropped_messages=dropped,
        content_truncated=cut,
        content_redacted=any(item.shown.redacted for item in items),
        indexing=reading.row.stale,
        unreadable=len(reading.lost),
        anchor=params.message_id,
    )

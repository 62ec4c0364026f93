"""Rows as values: what is selected of sessions, events and sources, and what is made of it. It refuses to decide which rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from wesaid.engines.sqlite.records import LOW, SHIFT, unpack_body, unpack_spans
from wesaid.errors import StoreDamagedError
from wesaid.values import Facts, Flag, SessionRow, SourceState, StoredEvent, WindowRow

_FACTS = (
    "s.key, s.session_id, s.dialect, s.kind, s.title, s.label, s.tool, s.project, s.created_at, s.updated_at, s.archived_at, s.spawned_by,"
    " s.forked_from, s.extra"
)
_NAMES = tuple(name.removeprefix("s.") for name in _FACTS.split(", ")[:-1])  # of Facts, without `extra`
SESSION = (
    f"SELECT {_FACTS}, s.token, s.message_count,"
    " EXISTS (SELECT 1 FROM stale t JOIN window w USING (window) WHERE w.session = s.token AND t.keep < w.path_length),"
    " (SELECT min(path) FROM source_session p WHERE p.key = s.key),"
    " EXISTS (SELECT 1 FROM source_session p JOIN source f USING (path) WHERE p.key = s.key AND f.missing)"
    " FROM session s"
)
_WINDOW = "SELECT w.window, w.session_id, w.ordinal, w.reason, w.findable, w.next_seq, w.path_length, w.cursor FROM"
WINDOW = f"{_WINDOW} session s CROSS JOIN window w ON w.session = s.token"
NAMED_WINDOW = f"{_WINDOW} window w CROSS JOIN session s ON s.token = w.session"  # by its name, not by walking its session's windows
EVENT = (
    "SELECT e.place, w.session_id, p.spot, p.shown, e.id, e.type, e.timestamp, e.body, n.spans, n.redact, n.flags"
    " FROM event e JOIN window w ON w.window = e.place >> 32 LEFT JOIN path p ON p.place = e.place LEFT JOIN entry n ON n.place = e.place"
)
PATH = (
    "SELECT e.place, w.session_id, p.spot, p.shown, e.id, e.type, e.timestamp, e.body, n.spans, n.redact, n.flags"
    " FROM path p JOIN event e ON e.place = p.place JOIN window w ON w.window = e.place >> 32 LEFT JOIN entry n ON n.place = e.place"
)


def session_of(row: Sequence[Any]) -> SessionRow:
    """A row of ``SESSION``."""
    *facts, extra, token, messages, stale, path, missing = row
    return SessionRow(
        facts=Facts(**dict(zip(_NAMES, facts, strict=True)), extra=_extra(extra)),
        token=token,
        message_count=messages,
        stale=bool(stale),
        source_path=path,
        source_missing=bool(missing),
    )


def event_of(row: Sequence[Any]) -> StoredEvent:
    """A row of ``EVENT`` or ``PATH``. What cannot be unpacked of it is empty, so that the rows beside it are read: see the contract."""
    place, session_id, spot, shown, identity, type_, timestamp, body, spans, redact, flags = row
    try:
        unpacked = unpack_body(body)
    except StoreDamagedError:
        unpacked = b""
    try:
        known = unpack_spans(spans)
    except (ValueError, TypeError):
        known, redact = (), None  # then whoever shows it redacts anew
    return StoredEvent(
        window=place >> SHIFT,
        session_id=session_id,
        seq=place & LOW,
        position=None if spot is None else spot & LOW,
        shown=shown or 0,
        id=identity,
        type=type_,
        timestamp=timestamp,
        body=unpacked,
        spans=known,
        redact_version=redact,
        flags=Flag(flags or 0),
    )


def _extra(text: str) -> dict[str, Any]:
    """What else is known of a session; nothing when that was damaged, so that its messages can be read."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def source_of(row: Sequence[Any]) -> SourceState | None:
    """A row of ``source``; None for one that was damaged, whose file is then read as if for the first time."""
    path, tool, size, mtime_ns, offset, head_digest, state, keys, missing = row
    try:
        told, named = json.loads(state), json.loads(keys)
    except ValueError:
        return None
    if not isinstance(told, dict) or not isinstance(named, list):
        return None
    return SourceState(
        path=path,
        tool=tool,
        size=size if size >= 0 else -1 - size,
        mtime_ns=mtime_ns,
        offset=offset,
        head_digest=head_digest,
        state=told,
        keys=tuple(named),
        missing=bool(missing),
    )


def window_of(row: Sequence[Any]) -> WindowRow:
    """A row of ``WINDOW``."""
    window, session_id, ordinal, reason, findable, events, length, cursor = row
    return WindowRow(
        window=window,
        session_id=session_id,
        ordinal=ordinal,
        reason=reason,
        findable=bool(findable),
        events=events,
        path=length,
        leaf=_leaf(cursor),
    )


def _leaf(cursor: str) -> str | None:
    """The leaf that a window's cursor names; None when the cursor is damaged, so that what is beside it can be read."""
    try:
        leaf: str | None = json.loads(cursor).get("leaf")
    except (ValueError, AttributeError, RecursionError):
        return None
    return leaf

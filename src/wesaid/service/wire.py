"""Answers as JSON objects: contract.md §2's shapes, camelCase, absent flags left out. One place for every door."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from wesaid import limits
from wesaid.errors import NotFoundError
from wesaid.service.erasing import Erased
from wesaid.service.listed import ListedSession, SessionsPage
from wesaid.values import HistoryPage, Hit, Message, Page, Tombstone, Traces

_ESCAPED: Final = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")  # as cli.output escapes


def page_json(page: Page) -> dict[str, Any]:
    """``sessions_search``'s object."""
    found = page.diagnostics
    diagnostics: dict[str, Any] = {
        "scope": found.scope,
        "sandboxed": found.sandboxed,
        "sessionsSearched": found.sessions_searched,
        "staleSessions": found.stale_sessions,
    }
    if found.ignored:
        diagnostics["ignored"] = list(found.ignored)
    if found.failed_agents:
        diagnostics["failedAgents"] = list(found.failed_agents)
    if found.sources_behind:
        diagnostics["sourcesBehind"] = found.sources_behind
    if found.hint:
        diagnostics["hint"] = found.hint
    made: dict[str, Any] = {"results": [hit_json(hit) for hit in page.hits], "tier": page.tier}
    if page.indexing:
        made["indexing"] = True
    if page.truncated:
        made["truncated"] = True
    if page.next_cursor:
        made["nextCursor"] = page.next_cursor
    made["diagnostics"] = diagnostics
    return made


def hit_json(hit: Hit) -> dict[str, Any]:
    """One result."""
    made: dict[str, Any] = {
        "sessionKey": hit.session_key,
        "sessionId": hit.session_id,
        "messageId": hit.message_id,
        "agentId": hit.agent_id,
        "role": hit.role,
        "timestamp": hit.timestamp,
        "snippet": hit.snippet,
        "score": hit.score,
        "match": hit.match,
        "kind": hit.kind,
    }
    optional = {
        "missing": list(hit.missing),
        "title": hit.title,
        "tool": hit.tool,
        "project": hit.project,
        "current": hit.current,
        "moreInSession": hit.more_in_session,
        "copies": hit.copies if hit.copies > 1 else 0,
        "resume": list(hit.resume),
        "context": [
            {"messageId": near.message_id, "role": near.role, "timestamp": near.timestamp, "text": near.text} for near in hit.context
        ],
    }
    return made | {name: value for name, value in optional.items() if value}


def message_json(message: Message) -> dict[str, Any]:
    """One row of history, with OpenClaw's ``content`` and ``__openclaw`` beside ours."""
    inner: dict[str, Any] = {"id": message.message_id, "seq": message.position, "recordTimestampMs": message.timestamp}
    if message.kind:
        inner["kind"] = message.kind
    return dict(message.tool) | {
        "messageId": message.message_id,
        "sessionId": message.session_id,
        "role": message.role,
        "timestamp": message.timestamp,
        "text": message.text,
        "content": [dict(block) for block in message.content],
        "__openclaw": inner,
    }


def history_json(page: HistoryPage) -> dict[str, Any]:
    """``sessions_history``'s object."""
    made: dict[str, Any] = {
        "sessionKey": page.session_key,
        "sessionId": page.session_id,
        "messages": [message_json(message) for message in page.messages],
        "totalMessages": page.total_messages,
        "hasMore": page.has_more,
        "nextOffset": page.next_offset,
        "firstMessageId": page.first_message_id,
        "lastMessageId": page.last_message_id,
    }
    beside = {"prevOffset": page.previous_offset, "previousSessionId": page.previous_session_id, "nextSessionId": page.next_session_id}
    made |= {name: value for name, value in beside.items() if value is not None}
    flags = {
        "truncated": page.truncated,
        "droppedMessages": page.dropped_messages,
        "contentTruncated": page.content_truncated,
        "contentRedacted": page.content_redacted,
        "unreadableMessages": page.unreadable,
        "indexing": page.indexing,
    }
    return made | {name: value for name, value in flags.items() if value}


def not_found_json(error: NotFoundError) -> dict[str, Any]:
    """What a tool answers for a session or an anchor that is not there, or not visible (contract.md §2)."""
    return {"status": "not_found", "reason": error.message, "hint": error.hint}


def size(answer: Mapping[str, Any]) -> int:
    """Bytes of UTF-8 that an object takes at most at a door: as JSON with spaces, characters that no terminal may get escaped."""
    text = json.dumps(answer, ensure_ascii=False, default=str)
    if text.isascii():
        return len(text) + limits.ESCAPED_BYTES * text.count("\x7f")
    return len(text.encode("utf-8", "surrogatepass")) + limits.ESCAPED_BYTES * len(_ESCAPED.findall(text))


def sessions_json(page: SessionsPage) -> dict[str, Any]:
    """``sessions_list``'s object."""
    made: dict[str, Any] = {"sessions": [session_json(row) for row in page.rows], "count": page.count, "hasMore": page.has_more}
    if page.next_offset is not None:
        made["nextOffset"] = page.next_offset
    if page.truncated:
        made["truncated"] = True
        made["truncationReason"] = page.truncated
    if page.failed_agents:
        made["failedAgents"] = list(page.failed_agents)
    if page.hint:
        made["hint"] = page.hint
    return made


def session_json(row: ListedSession) -> dict[str, Any]:
    """One session."""
    made: dict[str, Any] = {
        "key": row.key,
        "sessionId": row.session_id,
        "agentId": row.agent_id,
        "kind": row.kind,
        "messageCount": row.message_count,
        "createdAt": row.created_at,
        "updatedAt": row.updated_at,
        "archived": row.archived,
        "stale": row.stale,
    }
    optional: Mapping[str, Any] = {
        "title": row.title,
        "label": row.label,
        "tool": row.tool,
        "project": row.project,
        "spawnedBy": row.spawned_by,
        "derivedTitle": row.derived_title,
        "lastMessagePreview": row.last_message,
        "messages": [message_json(message) for message in row.messages],
        "resume": list(row.resume),
        "source": {"path": row.source_path, "missing": row.source_missing} if row.source_path else None,
    }
    return made | {name: value for name, value in optional.items() if value}


def tombstone_json(tombstone: Tombstone, proof: Traces | None = None) -> dict[str, Any]:
    """A deleted session; with ``proof`` when the bytes were waited for."""
    made: dict[str, Any] = {
        "sessionKey": tombstone.key,
        "sessionIds": list(tombstone.session_ids),
        "deleted": True,
        "deletedAt": tombstone.deleted_at,
        "erasedAt": tombstone.erased_at,
    }
    return made if proof is None else made | {"proof": proof_json(proof)}


def erased_json(erased: Erased) -> dict[str, Any]:
    """What a forget reports: each session as a delete does, the sources that were forgotten, and one proof for all."""
    made: dict[str, Any] = {"sessions": [tombstone_json(stone) for stone in erased.tombstones], "sources": list(erased.sources)}
    made |= spawned_json(erased)
    return made if erased.proof is None else made | {"proof": proof_json(erased.proof)}


def spawned_json(erased: Erased) -> dict[str, Any]:
    """The sessions that the deleted ones had spawned and that stay: how many, and the first of them. Nothing when there are none."""
    return {"spawnedStay": {"count": len(erased.spawned), "keys": list(erased.spawned[: limits.LIST_DEFAULT])}} if erased.spawned else {}


def proof_json(proof: Traces) -> dict[str, Any]:
    """What was looked for in which bytes after an erasure: ``left`` is 0, or it would be an error."""
    return {
        "files": list(proof.files),
        "bytes": proof.bytes,
        "pieces": proof.pieces,
        "shared": proof.shared,
        "left": proof.left,
    }

"""Claude Code's transcripts: which conversation a line belongs to, what it hangs from, and what of it was said (formats.md §3).

It refuses to open files and to resolve branches. The chain of ``parentUuid`` runs through lines that say nothing (attachments, hooks,
progress); here it is drawn through chat lines only, so that the last chat line's chain is the active branch, as Claude Code shows it.
Invariants: an event's record is the line as it was; nothing is dropped; what no person and no model said has no ``user`` or ``assistant``
role in its view.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import PurePath
from typing import Any, Final

from wesaid import keys, limits
from wesaid.importers.known import MAIN, POSITION, Clock, Source, Told, first_moment, text_of
from wesaid.importers.reading import Record, printable
from wesaid.values import Event, Nav, NavKind

_CHAT: Final = frozenset({"user", "assistant"})
_OTHER: Final = "session:"  # slots of other conversations in the same file, by their session id
# A command of the program itself: what follows its name is a setting, not something said. (`/review the parser` is.)
_SETTING: Final = re.compile(
    r"\s*(?:<command-message>[^<]{0,200}</command-message>\s*)?<command-name>/?"
    r"(?:model|config|clear|resume|rename|add-dir|mcp|plugin|login|logout|permissions|theme|effort|fast|status|cost|context|export|ide|vim|hooks|agents)"
    r"</command-name>"
)
_NO_ID: Final = Nav(kind=NavKind.NONE)


class ClaudeCode:
    """The dialect (see ``known.Dialect``)."""

    name = "claude-code"

    def source(self, path: str, head: Sequence[Record], agent: str) -> Source:
        """A main transcript by the session id of its lines, a subagent's by its agent id and the session that spawned it."""
        pure = PurePath(printable(path))
        named = [found for record in head if (found := text_of(record, "sessionId"))]
        own = pure.stem if pure.stem in named or not named else named[0]
        sidechains = [record.get("isSidechain") is True for record in head if text_of(record, "type") in _CHAT]
        nested = "subagents" in pure.parts[:-1]
        if not (nested or pure.stem.startswith("agent-")) or not all(sidechains):
            return Source(path=path, tool=self.name, agent=agent, key=str(keys.imported(agent, own)), session_id=own)
        ids = (text_of(record, "agentId") for record in head)
        name = next((found for found in ids if found), pure.stem.removeprefix("agent-"))
        folder = pure.parts[pure.parts.index("subagents") - 1] if nested else None
        parent = next((found for found in named if not found.startswith("agent-")), folder)
        spawner = str(keys.imported(agent, parent)) if parent else None
        key = str(keys.subagent(agent, name))
        return Source(path=path, tool=self.name, agent=agent, key=key, session_id=f"agent-{name}", spawned_by=spawner)

    def reader(self, source: Source, state: Mapping[str, Any] | None, fallback_ms: int) -> LineReader:
        """A reader of one transcript file."""
        return LineReader(source, state, fallback_ms)

    def view(self, record: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """A line as an OpenClaw-shaped event."""
        return view(record)


DIALECT: Final = ClaudeCode()


# ── what a line says ─────────────────────────────────────────────────────────────────────────────────────────────
def view(record: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """``message`` for chat lines, with the role ``custom`` or ``toolResult`` for what nobody said; ``custom`` for all other lines."""
    kind = text_of(record, "type")
    common = {"id": text_of(record, "uuid") or POSITION, "parentId": record.get("parentUuid"), "timestamp": record.get("timestamp")}
    message = record.get("message")
    if kind == "leaf" or (kind == "message" and isinstance(message, dict)):
        return record  # ours, made by a later edit or an append
    if kind not in _CHAT or not isinstance(message, dict):
        return {**common, "type": "custom", "customType": f"claude-code:{kind or 'unknown'}"}
    content = message.get("content")
    blocks = [_block(block) for block in content] if isinstance(content, list) else content
    shown = {name: message[name] for name in ("model", "usage") if name in message}
    return {**common, "type": "message", "message": {**shown, "role": _role(record, kind, content), "content": blocks}}


def _role(record: Mapping[str, Any], kind: str, content: Any) -> str:
    """Who said it: a person or the model, else a role that is no one's (formats.md §3, "Human user line")."""
    message = record["message"]
    if kind == "assistant":
        made_up = record.get("isApiErrorMessage") is True or message.get("model") == "<synthetic>"
        return "custom" if made_up else "assistant"
    flags = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")
    origin = record.get("origin")
    by = origin.get("kind") if isinstance(origin, dict) else None
    if any(record.get(flag) is True for flag in flags) or by not in (None, "human") or record.get("promptSource") == "system":
        return "custom"
    if _SETTING.match(_text(content)):
        return "custom"
    types = {text_of(block, "type") for block in content if isinstance(block, dict)} if isinstance(content, list) else set()
    if "toolUseResult" in record or ("tool_result" in types and "text" not in types):
        return "toolResult"
    return "user"


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


# ── where a line hangs ───────────────────────────────────────────────────────────────────────────────────────────
class LineReader:
    """Reads one transcript (see ``known.Reader``). Its memory is bounded: later lines name recent ones."""

    def __init__(self, source: Source, state: Mapping[str, Any] | None, fallback_ms: int) -> None:
        kept = state or {}
        self._source = source
        self._count = int(kept.get("count", 0))
        self._clock = Clock(int(kept.get("now", fallback_ms)))
        self._links: dict[str, str] = dict(kept.get("links", {}))  # a silent line -> the chat line it stands for ("": the root)
        self._chains: dict[str, str] = dict(kept.get("chains", {}))  # a sidechain line -> its slot
        self._latest: str = kept.get("latest", "")  # the slot of the last sidechain line
        self._reply: dict[str, list[Any]] = dict(kept.get("reply", {}))  # slot -> id, parent, API id and text of its last reply line
        self.told: dict[str, Told] = {slot: Told(**told) for slot, told in kept.get("told", {}).items()}

    def state(self) -> Mapping[str, Any]:
        """Where this reading stands, with the links that later lines are likely to name."""
        return {
            "count": self._count,
            "now": self._clock.now,
            "links": dict(list(self._links.items())[-limits.NAV_LINKS_KEPT :]),
            "chains": dict(list(self._chains.items())[-limits.NAV_LINKS_KEPT :]),
            "latest": self._latest,
            "reply": self._reply,
            "told": {slot: asdict(told) for slot, told in self.told.items()},
        }

    def read(self, record: Record) -> tuple[str, Event]:
        """The line as an event of the main conversation or of one of its subagents."""
        kind = text_of(record, "type") or "unknown"
        slot = self._slot(record)
        told = self._told(slot)
        message = record.get("message")
        own = message if isinstance(message, dict) else {}
        found = first_moment(record.get("timestamp"), own.get("timestamp"))
        when = self._clock.tick(found)
        nav = self._chat(record, slot, told) if kind in _CHAT and own else self._silent(record, told)
        self._count += 1
        self._learn(record, kind, told, found)
        return slot, Event(nav=nav, type=kind, timestamp=when, record=record)

    def _slot(self, record: Record) -> str:
        own = text_of(record, "sessionId")
        if own and own != self._source.session_id and not self._source.spawned_by and record.get("isSidechain") is not True:
            # Another conversation in the same file: it begins with a root of its own, or was begun so before.
            other = f"{_OTHER}{own}"
            is_root = record.get("type") in _CHAT and "parentUuid" in record and record["parentUuid"] is None
            if other in self.told or (is_root and MAIN in self.told and self.told[MAIN].first_id):
                return other
        if record.get("isSidechain") is not True or self._source.spawned_by or self._source.session_id.startswith("agent-"):
            return MAIN
        uuid, parent = _id(record, "uuid"), _id(record, "parentUuid")
        slot = text_of(record, "agentId") or self._chains.get(parent or "")
        if not slot:  # a new chain begins with a root; a parent that was never written continues the last one
            slot = self._latest if parent and self._latest else uuid or f"{self._source.session_id}-p{self._count}"
        self._latest = slot
        if uuid:
            _remember(self._chains, uuid, slot)
        return slot

    def _told(self, slot: str) -> Told:
        told = self.told.get(slot)
        if told is None:
            source = self._source
            if slot.startswith(_OTHER):
                name = slot.removeprefix(_OTHER)
                told = Told(key=str(keys.imported(source.agent, name)), session_id=name)
            elif slot == MAIN:
                told = Told(key=source.key, session_id=source.session_id, spawned_by=source.spawned_by)
            else:
                told = Told(key=str(keys.subagent(source.agent, slot)), session_id=f"agent-{slot}", spawned_by=source.key)
            self.told[slot] = told
        return told

    def _chat(self, record: Record, slot: str, told: Told) -> Nav:
        nav = Nav(kind=NavKind.ENTRY, id=_id(record, "uuid") or f"p{self._count}", has_message=True)
        written = _id(record, "parentUuid") or _id(record, "logicalParentUuid")
        if written is not None:
            nav = replace(nav, has_parent=True, parent=self._links.get(written, written) or None)
        elif "parentUuid" in record and _role(record, record["type"], record["message"].get("content")) == "user":
            nav = replace(nav, has_parent=True)  # a person's line without a parent starts over; any other goes on from where it stands
        if record["type"] == "assistant":
            nav = self._reply_line(record, slot, nav)
        told.first_id = told.first_id or nav.id
        told.last_id = nav.id
        return nav

    def _reply_line(self, record: Record, slot: str, nav: Nav) -> Nav:
        """One API reply is several lines. A line that begins with all that the one before it said takes that one's place."""
        message = record["message"]
        api, text = text_of(message, "id"), _text(message.get("content"))
        before = self._reply.get(slot)
        if before and api and before[2] == api and nav.parent == before[0] and before[3] and text.startswith(before[3]):
            nav = replace(nav, parent=before[1], has_parent=before[4])
        self._reply[slot] = [nav.id, nav.parent, api, text[: limits.BLOB_STRING_CHARS], nav.has_parent]
        return nav

    def _silent(self, record: Record, told: Told) -> Nav:
        """A line that is no chat: later lines that hang from it hang from the chat line it stands for."""
        uuid = _id(record, "uuid")
        if uuid is None:
            return _NO_ID
        parent = _id(record, "parentUuid") or _id(record, "logicalParentUuid")
        stands_for = told.last_id or "" if parent is None else self._links.get(parent, parent)
        _remember(self._links, uuid, stands_for)
        return replace(_NO_ID, id=uuid)

    def _learn(self, record: Record, kind: str, told: Told, found: int | None) -> None:
        if found is not None:
            told.created_at = min(told.created_at, found) if told.created_at else found
            told.updated_at = max(told.updated_at, found)
        told.project = told.project or text_of(record, "cwd")
        if kind == "custom-title":
            told.title = text_of(record, "customTitle") or told.title
        elif kind == "ai-title":
            told.better_title = text_of(record, "aiTitle") or told.better_title
        elif kind == "summary":
            leaf, summary = _id(record, "leafUuid"), text_of(record, "summary")
            if leaf and summary and len(told.summaries) < limits.GUESS_LINES:
                told.summaries[leaf] = summary
        elif "gitBranch" not in told.extra and (branch := text_of(record, "gitBranch")):
            told.extra["gitBranch"] = branch


def _id(record: Mapping[str, Any], key: str) -> str | None:
    found = text_of(record, key)
    return keys.message_id(found) if found else None


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(block["text"] for block in blocks if isinstance(block, dict) and isinstance(block.get("text"), str))


def _remember(table: dict[str, str], name: str, value: str) -> None:
    """Keep the latest ``limits.NAV_LINKS`` names."""
    table[name] = value
    if len(table) > limits.NAV_LINKS:
        del table[next(iter(table))]

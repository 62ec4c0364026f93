"""Where a line of Claude Code's transcript hangs, and which conversation it belongs to (formats.md §3).

The chain of ``parentUuid`` runs through lines that say nothing (attachments, hooks, progress); here it is drawn through chat lines only, so
that the last chat line's chain is the active branch, as Claude Code shows it. It refuses to open files and to resolve branches.
Invariants: nothing is dropped; an event's record is the line as it was, with the message beside it that a queued prompt is; the lines of one
API reply and its tool results stand one after the other, whichever of them later lines name as their parent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, Final

from wesaid import keys, limits
from wesaid.importers.claude_code.lines import CHAT, role_of, said_in
from wesaid.importers.claude_code.queue import Queue
from wesaid.importers.known import MAIN, Clock, Source, Told, first_moment, text_of
from wesaid.importers.reading import Record
from wesaid.values import Event, Nav, NavKind

_OTHER: Final = "session:"  # slots of other conversations in the same file, by their session id
_NO_ID: Final = Nav(kind=NavKind.NONE)
_TASKS: Final = frozenset({"Task", "Agent"})  # the tools that spawn a subagent
_STEPS: Final = 8  # silent lines stand for chat lines, those for the end of their reply: three steps, and some for what nobody foresaw


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
        self._reply: dict[str, list[Any]] = dict(
            kept.get("replies", {})
        )  # slot -> id, parent, API id, text's length and digest, has_parent
        self._turn: dict[str, list[Any]] = dict(kept.get("turn", {}))  # slot -> API id, parent of the first line, last line, all lines
        self._errors: list[str] = list(kept.get("errors", []))  # failed requests since the last reply
        self._tasks: dict[str, list[str]] = dict(kept.get("tasks", {}))  # a prompt's digest -> slot, description, type of the subagent
        self._queue = Queue(kept.get("queue", {}))
        self._ground: str | None = kept.get("ground")  # the last chat line, while prompts that wait stand behind it
        self.told: dict[str, Told] = {slot: Told(**told) for slot, told in kept.get("told", {}).items()}

    def state(self) -> Mapping[str, Any]:
        """Where this reading stands, with the links that later lines are likely to name."""
        return {
            "count": self._count,
            "now": self._clock.now,
            "links": dict(list(self._links.items())[-limits.NAV_LINKS_KEPT :]),
            "chains": dict(list(self._chains.items())[-limits.NAV_LINKS_KEPT :]),
            "latest": self._latest,
            "replies": self._reply,
            "turn": self._turn,
            "errors": self._errors,
            "tasks": self._tasks,
            "queue": self._queue.state(),
            "ground": self._ground,
            "told": {slot: asdict(told) for slot, told in self.told.items()},
        }

    def read(self, record: Record) -> tuple[str, Event]:
        """The line as an event of the main conversation or of one of its subagents."""
        kind = text_of(record, "type") or "unknown"
        slot = self._slot(record)
        told = self._told(slot, record)
        message = record.get("message")
        own = message if isinstance(message, dict) else {}
        found = first_moment(record.get("timestamp"), own.get("timestamp"))
        when = self._clock.tick(found)
        queued = self._queued(record, kind)
        if queued is not None:
            record = {**record, "message": {"role": "user", "content": queued}}
            nav = self._hang(record, slot, told)
        elif kind in CHAT and own and not self._repeats(record, kind):
            nav = self._hang(record, slot, told)
        else:
            nav = self._silent(record, slot, told)
        self._count += 1
        self._learn(record, kind, told, found)
        return slot, Event(nav=nav, type=kind, timestamp=when, record=record)

    def rest(self) -> list[tuple[str, Event]]:
        """Prompts that still wait in the queue where the file ends, behind its last line."""
        waiting, told = self._queue.waiting(), self.told.get(MAIN)
        if told is None or self._ground is not None:
            return []  # nothing was read since they were put there
        self._ground = (told.last_id or "") if waiting else None
        out = []
        for number, (name, content, when) in enumerate(waiting):
            own = f"queued-{keys.short_digest(f'{name}:{when}:{self._count}:{number}')}"
            nav = Nav(kind=NavKind.ENTRY, id=own, parent=told.last_id, has_parent=True, has_message=True)
            record = {"type": "queue-operation", "uuid": own, "timestamp": when, "message": {"role": "user", "content": content}}
            out.append((MAIN, Event(nav=nav, type="queue-operation", timestamp=when or self._clock.now, record=record)))
            told.last_id = own
        return out

    def resumed(self) -> list[tuple[str, Event]]:
        """Back to the last chat line, before the first line that comes after prompts which waited."""
        told = self.told.get(MAIN)
        if told is None or self._ground is None:
            return []
        end, last = told.last_id, self._ground or None
        own = f"taken-{keys.short_digest(f'{end}:{self._count}')}"
        record = {"type": "leaf", "id": own, "parentId": end, "targetId": last, "appendParentId": last, "timestamp": self._clock.now}
        nav = Nav(kind=NavKind.LEAF, id=own, parent=end, has_parent=True, target=last, has_target=True, append_parent=last)
        told.last_id, self._ground = last, None
        return [(MAIN, Event(nav=nav, type="leaf", timestamp=self._clock.now, record=record))]

    # ── which conversation ───────────────────────────────────────────────────────────────────────────────────────
    def _slot(self, record: Record) -> str:
        own = text_of(record, "sessionId")
        if own and own != self._source.session_id and not self._source.spawned_by and record.get("isSidechain") is not True:
            # Another conversation in the same file: it begins with a root of its own, or was begun so before.
            other = f"{_OTHER}{own}"
            is_root = record.get("type") in CHAT and "parentUuid" in record and record["parentUuid"] is None
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

    def _told(self, slot: str, record: Record) -> Told:
        told = self.told.get(slot)
        if told is None:
            told = self.told[slot] = self._begun(slot, record)
        return told

    def _begun(self, slot: str, record: Record) -> Told:
        """What is known of a conversation where it begins."""
        source = self._source
        if slot.startswith(_OTHER):
            name = slot.removeprefix(_OTHER)
            return Told(key=str(keys.imported(source.agent, name)), session_id=name)
        if slot == MAIN:
            title, kind = text_of(source.row, "description"), text_of(source.row, "agentType")
            told = Told(key=source.key, session_id=source.session_id, spawned_by=source.spawned_by, better_title=title)
            told.forked_from = source.forked_from
            told.extra |= {"agentType": kind} if kind else {}
            return told
        told = Told(key=str(keys.subagent(source.agent, slot)), session_id=f"agent-{slot}", spawned_by=source.key)
        spawner, description, kind = self._tasks.get(_digest(said_in(record)), ["", "", ""])
        told.better_title = description or None
        told.extra |= {"agentType": kind} if kind else {}
        if spawner in self.told:
            told.spawned_by = self.told[spawner].key
        return told

    # ── where it hangs ───────────────────────────────────────────────────────────────────────────────────────────
    def _hang(self, record: Record, slot: str, told: Told) -> Nav:
        """A line of the chat, behind the chat line that its parent is or stands for."""
        nav = Nav(kind=NavKind.ENTRY, id=_id(record, "uuid") or f"p{self._count}", has_message=True)
        written = _id(record, "parentUuid") or _id(record, "logicalParentUuid")
        kind = record["type"]
        role = role_of(record) if kind in CHAT else "queued"
        if written is not None:
            nav = replace(nav, has_parent=True, parent=self._resolve(written, slot) or None)
        elif role == "queued":
            nav = replace(nav, has_parent=told.last_id is not None, parent=told.last_id)
        elif "parentUuid" in record and role == "user":
            nav = replace(
                nav, has_parent=True, parent=None
            )  # a person's line without a parent starts over; any other goes on from where it stands
        nav = self._in_turn(record, slot, nav, role)
        if kind == "assistant":
            nav = self._reply_line(record, slot, nav)
        told.first_id = told.first_id or nav.id
        told.last_id = nav.id
        return nav

    def _in_turn(self, record: Record, slot: str, nav: Nav, role: str) -> Nav:
        """One API reply is several lines, its tools' results hang from some of them: whatever of them a line names, it stands behind all."""
        api, own = text_of(record["message"], "id"), str(nav.id)
        turn = self._turn.get(slot)
        result = isinstance(blocks := record["message"].get("content"), list) and any(
            isinstance(block, dict) and block.get("type") == "tool_result" for block in blocks
        )
        if turn and own in turn[3]:  # the same line once more, or more of it: its place is the same
            before = [each for each in turn[3][: turn[3].index(own)] if each not in self._links]
            return replace(nav, parent=before[-1] if before else turn[1]) if nav.has_parent else nav
        if turn and api and api == turn[0] and nav.has_parent and (nav.parent == turn[1] or nav.parent in turn[3]):
            nav = replace(nav, parent=turn[2])  # also a sibling of the first line
        elif role == "queued":
            turn = self._turn[slot] = turn if turn and nav.parent in turn[3] else [None, None, nav.parent, [nav.parent]]
        elif not (turn and (result or role == "toolResult") and nav.parent in turn[3]):
            failed = [each for each in self._errors if self._links.get(each) == nav.parent] if role == "assistant" else []
            self._errors = []
            self._turn[slot] = [api, nav.parent, own, [*failed, own]] if record["type"] == "assistant" else [None, None, own, [own]]
            return nav
        turn[2] = own
        turn[3] = [*turn[3], own][-limits.TURN_LINES :]
        return nav

    def _resolve(self, name: str, slot: str) -> str:
        """The chat line that a line named as parent is, stands for, or has behind it in its turn; empty: the root."""
        turn = self._turn.get(slot)
        for _ in range(_STEPS):
            if turn and name in turn[3]:
                return str(turn[2])
            if name not in self._links:
                break
            name = self._links[name]
        return name

    def _reply_line(self, record: Record, slot: str, nav: Nav) -> Nav:
        """A reply's line that begins with all that the one before it said takes that one's place."""
        api, text = text_of(record["message"], "id"), said_in(record)
        before = self._reply.get(slot)
        if before and api and before[2] == api and nav.parent == before[0] and before[3] and _digest(text[: before[3]]) == before[4]:
            nav = replace(nav, parent=before[1], has_parent=before[5])
        self._reply[slot] = [nav.id, nav.parent, api, len(text), _digest(text), nav.has_parent]
        return nav

    def _silent(self, record: Record, slot: str, told: Told) -> Nav:
        """A line that is no chat: later lines that hang from it hang from the chat line it stands for."""
        uuid = _id(record, "uuid")
        if uuid is None:
            return _NO_ID
        parent = _id(record, "parentUuid") or _id(record, "logicalParentUuid")
        _remember(self._links, uuid, (told.last_id or "") if parent is None else self._resolve(parent, slot))
        if record.get("subtype") == "api_error":
            self._errors = [*self._errors, uuid][-limits.QUEUE_PROMPTS :]
        return replace(_NO_ID, id=uuid)

    # ── what was queued ──────────────────────────────────────────────────────────────────────────────────────────
    def _queued(self, record: Record, kind: str) -> Any:
        if record.get("isSidechain") is True and not self._source.spawned_by:
            return None
        if kind == "queue-operation":
            return self._queue.operation(record)
        return self._queue.attachment(record) if kind == "attachment" else None

    def _repeats(self, record: Record, kind: str) -> bool:
        """Whether a person's line is a prompt that stands there already."""
        role = role_of(record) if kind == "user" and record.get("isSidechain") is not True else "toolResult"
        return role != "toolResult" and self._queue.came(record, said_in(record), is_human=role == "user")

    # ── what else is told ────────────────────────────────────────────────────────────────────────────────────────
    def _learn(self, record: Record, kind: str, told: Told, found: int | None) -> None:
        if found is not None:
            told.created_at = min(told.created_at, found) if told.created_at else found
            told.updated_at = max(told.updated_at, found)
        told.project = told.project or text_of(record, "cwd")
        for name in ("gitBranch", "sessionKind"):
            if name not in told.extra and (fact := text_of(record, name)):
                told.extra[name] = fact
        if kind == "custom-title":
            told.title = text_of(record, "customTitle") or told.title
        elif kind == "ai-title":
            told.better_title = text_of(record, "aiTitle") or told.better_title
        elif kind == "agent-name":
            told.label = text_of(record, "agentName") or told.label
        elif kind == "summary":
            leaf, summary = _id(record, "leafUuid"), text_of(record, "summary")
            if leaf and summary and len(told.summaries) < limits.GUESS_LINES:
                told.summaries[leaf] = summary
        elif kind == "assistant":
            self._learn_tasks(record)

    def _learn_tasks(self, record: Record) -> None:
        """What a reply's calls say about the subagents that they spawn, whose lines begin with the same prompt."""
        message = record.get("message")
        blocks = message.get("content") if isinstance(message, dict) else None
        for block in blocks if isinstance(blocks, list) else ():
            given = block.get("input") if isinstance(block, dict) and block.get("name") in _TASKS else None
            if isinstance(given, dict) and (prompt := text_of(given, "prompt")):
                slot = self._slot_of(record)
                self._tasks[_digest(prompt)] = [slot, text_of(given, "description") or "", text_of(given, "subagent_type") or ""]
                if len(self._tasks) > limits.QUEUE_PROMPTS:
                    del self._tasks[next(iter(self._tasks))]

    def _slot_of(self, record: Record) -> str:
        return self._chains.get(_id(record, "uuid") or "", MAIN) if record.get("isSidechain") is True else MAIN


def _id(record: Mapping[str, Any], key: str) -> str | None:
    found = text_of(record, key)
    return keys.message_id(found) if found else None


def _digest(text: str) -> str:
    """Tells texts apart: a reader's state outlives the session, so it holds none."""
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest()  # 16: a UUID's size


def _remember(table: dict[str, str], name: str, value: str) -> None:
    """Keep the latest ``limits.NAV_LINKS`` names."""
    table[name] = value
    if len(table) > limits.NAV_LINKS:
        del table[next(iter(table))]

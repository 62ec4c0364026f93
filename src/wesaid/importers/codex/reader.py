"""The lines of a rollout: what each hangs from, and which of two tellings is the message.

Codex writes each turn twice: as the model's history (``response_item``) and as what its interface showed (``event_msg``). The first telling is
the message; the other one with the same words is known as the same while it is near, and is on no path. Files of ``codex exec`` have one kind
only, and then nothing is a second telling. Invariants: an event's
record is the line as it was; a message's id is the same at every reading, and for a turn that a fork replays it is the same in the fork, so
that a search shows it once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import PurePath
from typing import Any, Final

from wesaid import keys, limits
from wesaid.importers.codex import said, whose
from wesaid.importers.known import MAIN, Clock, Source, Told, first_moment, text_of
from wesaid.importers.reading import Record
from wesaid.values import Event, Nav, NavKind

ARCHIVE: Final = "archived_sessions"
_NONE: Final = Nav(kind=NavKind.NONE)


class LineReader:
    """Reads one rollout (see ``known.Reader``). Its memory is bounded: second tellings are near, and so are rollbacks."""

    def __init__(self, source: Source, state: Mapping[str, Any] | None, fallback_ms: int) -> None:
        kept = state or {}
        self._source = source
        self._count = int(kept.get("count", 0))
        self._clock = Clock(int(kept.get("now", fallback_ms)))
        self._rollout: str = kept.get("rollout", "")  # names events of paginated threads: its ordinals go on in the next file
        self._scope: str = kept.get("scope", source.session_id)  # the turn, else the thread, that events without an id are named after
        self._counts: dict[str, int] = dict(kept.get("counts", {}))  # scope -> events named after it
        self._names: dict[str, int] = dict.fromkeys(kept.get("names", ()), 0)  # ids given lately: one that comes twice is two messages
        self._leaf: str | None = kept.get("leaf")
        self._cut: str | None = kept.get("cut")  # a second name of where this page goes on
        self._turns: list[str | None] = list(kept.get("turns", ()))  # the leaf before each prompt, for rollbacks
        self._told_once: list[list[Any]] = [
            list(one) for one in kept.get("toldOnce", ())
        ]  # role, words' digest, and the channel they came by first, "" when by both
        self._prompt: str | None = kept.get("prompt")  # digest of the last prompt, while its turn was aborted
        self._aborted = bool(kept.get("aborted"))
        self.told: dict[str, Told] = {slot: Told(**told) for slot, told in kept.get("told", {}).items()}

    def state(self) -> Mapping[str, Any]:
        """Where this reading stands."""
        return {
            "count": self._count,
            "now": self._clock.now,
            "rollout": self._rollout,
            "scope": self._scope,
            "counts": self._counts,
            "names": list(self._names),
            "leaf": self._leaf,
            "cut": self._cut,
            "turns": self._turns,
            "toldOnce": self._told_once,
            "prompt": self._prompt,
            "aborted": self._aborted,
            "told": {slot: asdict(told) for slot, told in self.told.items()},
        }

    def read(self, record: Record) -> tuple[str, Event]:
        """The line as an event of the file's one conversation."""
        found = said.line(record)
        told = self._told()
        when = first_moment(record.get("timestamp"), record.get("created_at"), found.payload.get("timestamp"))
        at = self._clock.tick(when)
        self._learn(found, told)
        nav = self._nav(record, found, told)
        self._count += 1
        told.last_id = self._leaf
        if when is not None:
            told.created_at = min(told.created_at, when) if told.created_at else when
            told.updated_at = max(told.updated_at, when)
        if ARCHIVE in PurePath(self._source.path).parts:
            told.archived_at = told.updated_at  # the file says that it was archived, not when
        return MAIN, Event(nav=nav, type=found.name, timestamp=at, record=record)

    def _told(self) -> Told:
        if MAIN not in self.told:
            source = self._source
            self.told[MAIN] = Told(
                key=source.key,
                session_id=source.session_id,
                spawned_by=source.spawned_by,
                forked_from=source.forked_from,
                title=text_of(source.row, "thread_name"),
            )
        return self.told[MAIN]

    # ── what a line tells of the conversation ────────────────────────────────────────────────────────────────────
    def _learn(self, found: said.Line, told: Told) -> None:
        payload = found.payload
        if found.outer in ("session_meta", "turn_context"):
            told.project = told.project or text_of(payload, "cwd")
        turn = text_of(payload, "turn_id")
        if turn and (found.outer == "turn_context" or found.kind == "task_started"):
            self._scope = turn
        if found.outer == "session_meta":
            self._meet(payload, told)
        elif found.kind == "turn_aborted":
            self._aborted = True
        elif found.kind == "thread_name_updated" and text_of(payload, "thread_id") in (None, self._source.session_id):
            told.title = text_of(payload, "thread_name") or told.title

    def _meet(self, meta: Mapping[str, Any], told: Told) -> None:
        """The first says whose the file is; a later one is that of the thread whose turns are replayed here."""
        thread = whose.thread(meta)
        if not self._rollout:
            self._rollout = whose.rollout(meta, self._source.path, self._source.session_id)
            self._scope = text_of(meta, "forked_from_id") or self._scope  # whose turns are replayed, if any
            git = meta.get("git")
            if isinstance(git, dict) and (branch := text_of(git, "branch")):
                told.extra["gitBranch"] = branch
        elif thread and thread != self._source.session_id:
            self._scope = thread
            if told.forked_from is None and not self._source.spawned_by and whose.spawned(meta) is None:
                told.forked_from = str(keys.imported(self._source.agent, thread))

    # ── where it hangs ───────────────────────────────────────────────────────────────────────────────────────────
    def _nav(self, record: Record, found: said.Line, told: Told) -> Nav:
        if said.is_ours(record):  # in a file that wesaid exported
            return self._ours(record)
        if found.kind == "thread_rolled_back":
            return self._rolled_back(found.payload.get("num_turns"))
        if found.outer == "session_meta" and self._count == 0 and whose.goes_on(found.payload, self._source.path):
            return self._page(found.payload)
        return self._entry(record, found, told)

    def _ours(self, record: Record) -> Nav:
        own, target = text_of(record, "id"), text_of(record, "targetId")
        if record["type"] == "leaf":
            return self._to(keys.message_id(target) if target else None)
        self._leaf = keys.message_id(own) if own else self._name(None, record)
        kind = NavKind.RESET if record["type"] == "reset" else NavKind.ENTRY
        return Nav(kind=kind, id=self._leaf, has_message=kind is NavKind.ENTRY)

    def _entry(self, record: Record, found: said.Line, told: Told) -> Nav:
        """Words, and what tools did between them. Of a paginated thread the other lines are named too: a page may be cut at any."""
        spoke = said.spoken(found)
        if spoke is not None and self._is_told(spoke):
            return _NONE
        paginated = bool(self._rollout) and _ordinal(record) is not None
        if spoke or said.is_tool(found) or found.outer == "compacted":
            own = spoke.name if spoke else None if paginated else text_of(found.payload, "id")
            self._leaf = self._name(own, record)
            if spoke:
                told.first_id = told.first_id or self._leaf
            return Nav(kind=NavKind.ENTRY, id=self._leaf, has_message=spoke is not None)
        if not paginated:
            return _NONE
        name, cut = self._name(None, record), self._cut
        if cut is not None:
            self._cut = None
            return self._to(cut, name)
        return Nav(kind=NavKind.OPAQUE, id=name, parent=self._leaf, has_parent=True)

    def _name(self, own: str | None, record: Record) -> str:
        """An event's id: its own, else one by its place in the thread or in its turn, which a replay of the turn gives again."""
        ordinal = _ordinal(record)
        if own:
            name = keys.message_id(own)
        elif ordinal is not None and self._rollout:
            name = _at(self._rollout, ordinal)
        else:
            count = self._counts.pop(self._scope, 0)
            self._counts[self._scope] = count + 1
            name = keys.message_id(f"{self._scope}.{count}")
        if name in self._names:
            name = keys.message_id(f"{name}.p{self._count}")
        self._names[name] = 0
        for table in (self._counts, self._names):
            if len(table) > limits.NAV_LINKS_KEPT:
                del table[next(iter(table))]
        return name

    def _is_told(self, spoke: said.Spoken) -> bool:
        """Whether these words came already, by the other channel or as a prompt sent again after its turn was aborted."""
        parts = [_digest(part) for part in spoke.parts]
        twin = next((one for one in self._told_once if one[:2] == [spoke.role, parts[0]] and one[2] not in ("", spoke.channel)), None)
        if twin is not None:
            twin[2] = ""
            return True
        # A person's prompt has its twin before anybody answers, a reply before the next prompt.
        self._told_once = [one for one in self._told_once if one[0] == spoke.role]
        self._told_once.extend([spoke.role, part, spoke.channel] for part in parts)
        del self._told_once[: -limits.NEAR_TWINS]
        again = spoke.role == "user" and self._aborted and parts[0] == self._prompt
        self._aborted = False
        if spoke.role == "user":
            self._prompt = parts[0]
            self._turns = [*self._turns, self._leaf][-limits.NAV_LINKS_KEPT :]
        return again

    def _rolled_back(self, turns: Any) -> Nav:
        """The last ``turns`` prompts and all that followed them are taken back."""
        if isinstance(turns, bool) or not isinstance(turns, int) or turns <= 0 or not self._turns:
            return _NONE
        target = self._turns[max(0, len(self._turns) - turns)]
        del self._turns[max(0, len(self._turns) - turns) :]
        self._told_once, self._prompt, self._aborted = [], None, False
        return self._to(target)

    def _page(self, meta: Mapping[str, Any]) -> Nav:
        """A later page goes on from the last line of the page before it that still counts."""
        base = meta["history_base"]
        end = base.get("end_ordinal_exclusive")
        if isinstance(end, bool) or not isinstance(end, int) or end <= 0:
            return _NONE
        rollout = str(text_of(base, "thread_id"))
        # The line before the cut may have an id of its own, by which this file cannot name it; then the first line behind it, whose place is
        # the same, is named by the next line here. A control that names what is not there, as behind the end of a page, does nothing.
        self._cut = _at(rollout, end)
        return self._to(_at(rollout, end - 1))

    def _to(self, target: str | None, name: str | None = None) -> Nav:
        """A control that moves the leaf."""
        self._leaf = target
        name = name or keys.message_id(f"{self._rollout or self._source.session_id}.leaf{self._count}")
        return Nav(kind=NavKind.LEAF, id=name, target=target, has_target=True, append_parent=target)


def _ordinal(record: Record) -> int | None:
    found = record.get("ordinal")
    return found if isinstance(found, int) and not isinstance(found, bool) and found >= 0 else None


def _digest(words: str) -> str:
    """Tells words apart whose white space does not matter: blocks are joined without any in one telling, and lines kept in the other."""
    return keys.short_digest("".join(words.split()))


def _at(rollout: str, ordinal: int) -> str:
    """The id of the line with this ordinal that has none of its own."""
    return keys.message_id(f"{rollout}.{ordinal}")

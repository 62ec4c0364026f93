"""What a person typed while Claude Code was busy: which line of a transcript is that prompt, once (docs/decisions/0006-importing.md).

One prompt leaves up to four lines: ``queue-operation`` ``enqueue`` when it is typed, then either ``dequeue`` and a user line of its own, or an
``attachment`` of type ``queued_command`` and ``remove`` when the running turn took it in (no user line ever comes), or ``popAll`` when it went
back into the input box. It refuses to know where lines hang. Invariants: a prompt is given to one line only; what a program put into the
queue (task notifications, hooks, peers) is nobody's prompt; memory is bounded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

from wesaid import limits
from wesaid.importers.known import moment, text_of

_MACHINES: Final = (
    "<task-notification",
    "<system-reminder>",
    "[SYSTEM NOTIFICATION",
    "<channel ",
    "<teammate-message",
    "<agent-message",
    "!",
)
_DIGEST_BYTES: Final = 16  # as many as a UUID has


class Queue:
    """The prompts that wait, oldest first, and those that were given to a line and may come by once more."""

    def __init__(self, kept: Mapping[str, Any]) -> None:
        self._waiting: list[list[Any]] = list(kept.get("waiting", []))  # text's digest, content (None: no person's), Unix milliseconds
        self._given: list[str] = list(kept.get("given", []))
        self._due = int(kept.get("due", 0))  # taken out of the queue, to come as user lines

    def state(self) -> Mapping[str, Any]:
        """What a queue needs to go on."""
        return {"waiting": self._waiting, "given": self._given, "due": self._due}

    def operation(self, record: Mapping[str, Any]) -> Any:
        """Take note of a ``queue-operation``; the content of the prompt that this line is, or None."""
        kind, content = text_of(record, "operation"), record.get("content")
        name = _name(content)
        if kind == "enqueue" and name:
            said = content if _is_human(content) else None
            self._waiting = [*self._waiting, [name, said, moment(record.get("timestamp"))]][-limits.QUEUE_PROMPTS :]
        elif kind == "dequeue":
            self._due += 1
        elif kind == "popAll":
            self._waiting = []
        elif kind == "remove" and name:
            reason = text_of(record, "reason")
            known = self._take(name) or name not in self._given
            if known and reason in (None, "absorbed_mid_turn") and _is_human(content):
                self._give(name)
                return content
        return None

    def attachment(self, record: Mapping[str, Any]) -> Any:
        """The content of the prompt that an ``attachment`` line is, or None."""
        held = record.get("attachment")
        if not isinstance(held, dict) or held.get("type") != "queued_command" or held.get("isMeta") is True or record.get("isMeta") is True:
            return None
        content, name = held.get("prompt"), _name(held.get("prompt"))
        origin = held.get("origin", record.get("origin"))
        by = origin.get("kind") if isinstance(origin, dict) else None
        taken = name is not None and self._take(name)
        if name is None or held.get("commandMode") not in (None, "prompt") or by not in (None, "human") or not _is_human(content):
            return None
        if not taken and name in self._given:
            self._given.remove(name)
            return None
        self._give(name)
        return content

    def came(self, record: Mapping[str, Any], text: str, *, is_human: bool) -> bool:
        """Take note of a user line that is no tool's result; whether it only repeats a prompt that another line is."""
        name = _name(text)
        if name is None:
            return False
        if self._take(name):
            self._due = max(0, self._due - 1)
            return False
        if name in self._given and record.get("promptSource") == "queued":
            self._given.remove(name)
            return True
        if self._due and is_human:  # its words were changed on the way, or several prompts became one line
            inside = [each for each in self._waiting if (said := _text(each[1]).strip()) and said in text] or self._waiting[:1]
            self._waiting = [each for each in self._waiting if each not in inside]
            self._due = max(0, self._due - max(1, len(inside)))
        return False

    def waiting(self) -> list[tuple[str, Any, int | None]]:
        """Name, content and time of the prompts that no line has become."""
        return [(name, content, when) for name, content, when in self._waiting if content is not None]

    def _take(self, name: str) -> bool:
        """Whether a prompt of this text was waiting; it waits no more."""
        at = next((at for at, each in enumerate(self._waiting) if each[0] == name), None)
        if at is not None:
            del self._waiting[at]
        return at is not None

    def _give(self, name: str) -> None:
        self._given = [*self._given, name][-limits.QUEUE_PROMPTS :]


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(
        text for block in blocks if isinstance(text := block.get("text") if isinstance(block, dict) else block, str) and text.strip()
    )


def _name(content: Any) -> str | None:
    """A digest of a prompt's text; None when it has none. Texts of deleted sessions must not stay in a reader's state."""
    text = " ".join(_text(content).split())
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=_DIGEST_BYTES).hexdigest() if text else None


def _is_human(content: Any) -> bool:
    text = _text(content).strip()
    return bool(text) and not text.startswith(_MACHINES)

"""A conversation for people: who, when, what; tools' calls and results; the anchor marked; how to read on. Pure, every text passed through `safe`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from wesaid import limits
from wesaid.cli.ages import age, moment
from wesaid.cli.output import quoted, safe
from wesaid.cli.paint import Line, clip
from wesaid.cli.render_search import role
from wesaid.values import HistoryPage, Message

_INDENT = "  "


class Around(NamedTuple):
    """What a page was asked for with: options as text that a shell takes, for the next page and for another command, and its sizes."""

    place: str = ""
    wider: str = ""
    tools: bool = False


_ALONE = Around()


def history_lines(page: HistoryPage, asked: Around = _ALONE, *, now: int) -> Iterator[Line]:
    """A stretch of a session. ``now`` in Unix milliseconds."""
    yield [(safe(page.session_key), "key"), (f" · {_count(page, tools=asked.tools)}", "dim")]
    for message in page.messages:
        yield []
        yield from message_lines(message, now=now, anchor=message.message_id == page.anchor)
    if page.dropped_messages or page.content_truncated:
        yield []
        yield [(f"Long messages were cut; `wesaid export {quoted(page.session_key)}{asked.wider}` has all of it.", "dim")]
    name = quoted(page.session_id if page.next_session_id else page.session_key)  # an older window is named by its own id
    older = f"{name} --offset {page.next_offset}" if page.next_offset is not None else _window(page.previous_session_id)
    newer = f"{name} --offset {page.previous_offset}" if page.previous_offset is not None else _window(page.next_session_id)
    leads = {"Read on: ": older, "Read on, newer: ": newer}
    if older or newer:
        yield []
    yield from ([(lead, "dim"), (f"wesaid history {words}{asked.place}", "command")] for lead, words in leads.items() if words)


def _window(session_id: str | None) -> str | None:
    return quoted(session_id) if session_id else None


def _count(page: HistoryPage, *, tools: bool) -> str:
    """How much of it this is. With tools rows are shown, of which the messages of people and assistants are some."""
    shown, total = len(page.messages), page.total_messages
    messages = "message" if total == 1 else "messages"
    if not tools:
        return f"{shown} of {total} {messages}"
    return f"{shown} {'row' if shown == 1 else 'rows'}, tools included; without tools it has {total} {messages}"


def message_lines(message: Message, *, now: int, anchor: bool = False, whole: bool = False) -> Iterator[Line]:
    """One message: a line of facts, then its text and what stands beside it, indented; ``>`` points at the anchor of a page.

    A call of a tool is one line, cut unless it is to be ``whole``.
    """
    facts = [moment(message.timestamp), age(message.timestamp, now), safe(message.message_id), message.kind]
    if message.tool.get("toolName"):
        facts.append(safe(message.tool["toolName"]))
    lead = [("> ", "anchor")] if anchor else []
    yield [*lead, role(message.role), *[(f" · {fact}", "dim") for fact in facts if fact]]
    if message.text:
        yield from _text(message.text)
    for block in message.content:
        yield from _block(block, whole=whole)


def _block(block: Mapping[str, Any], *, whole: bool) -> Iterator[Line]:
    """A content block beside the text."""
    kind = block.get("type")
    if kind == "image":
        yield [(f"{_INDENT}[{safe(str(block['mimeType']))}, {block['bytes']} bytes: not shown]", "dim")]
    elif kind == "toolCall":
        given = block.get("arguments")
        words = safe(given if isinstance(given, str) else json.dumps(given, ensure_ascii=False, default=str))
        words = words if whole else clip(words, limits.CLI_CALL_CELLS)
        yield [(f"{_INDENT}calls ", "dim"), (safe(str(block["name"])), "key"), (f" {words}", "")]
    elif kind == "toolResult":
        yield [(f"{_INDENT}{'failed' if block.get('isError') else 'gave'}:", "dim")]
        for inner in block["content"]:
            yield from _text(str(inner["text"]))


def _text(text: str) -> Iterator[Line]:
    for line in safe(text, lines=True).split("\n"):
        yield [(_INDENT, ""), (line.expandtabs(4), "")]

"""A conversation for people: who, when, what; the anchor marked; how to read on. Pure, every text passed through `safe`."""

from __future__ import annotations

from collections.abc import Iterator

from wesaid.cli.ages import age, moment
from wesaid.cli.output import quoted, safe
from wesaid.cli.paint import Line
from wesaid.cli.render_search import role
from wesaid.values import HistoryPage, Message


def history_lines(page: HistoryPage, *, now: int, place: str = "", wider: str = "") -> Iterator[Line]:
    """A stretch of a session. ``now`` in Unix milliseconds; ``place`` and ``wider`` are options for the next page, and for another command."""
    shown = len(page.messages)
    yield [(safe(page.session_key), "key"), (f" · {shown} of {page.total_messages} messages", "dim")]
    for message in page.messages:
        yield []
        yield from message_lines(message, now=now, anchor=message.message_id == page.anchor)
    if page.dropped_messages or page.content_truncated:
        yield []
        yield [(f"Long messages were cut; `wesaid export {quoted(page.session_key)}{wider}` has all of it.", "dim")]
    name = page.session_id if page.next_session_id else page.session_key  # an older window is named by its own id
    reads_on = f"{quoted(name)} --offset {page.next_offset}" if page.next_offset is not None else page.previous_session_id
    if reads_on:
        yield []
        yield [("Read on: ", "dim"), (f"wesaid history {reads_on if page.has_more else quoted(reads_on)}{place}", "command")]


def message_lines(message: Message, *, now: int, anchor: bool = False) -> Iterator[Line]:
    """One message: a line of facts, then its text, indented; ``>`` points at the anchor of a page."""
    facts = [moment(message.timestamp), age(message.timestamp, now), safe(message.message_id), message.kind]
    lead = [("> ", "anchor")] if anchor else []
    yield [*lead, role(message.role), *[(f" · {fact}", "dim") for fact in facts if fact]]
    for line in safe(message.text, lines=True).split("\n"):
        yield [("  ", ""), (line.expandtabs(4), "")]

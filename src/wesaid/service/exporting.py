"""``export``: a session as JSON lines or Markdown, streamed. Redacted unless the operator asks to see what was said.

JSON lines with ``reveal`` are the source's records, in their order, and import again to the same thing. Without it every string in them is
redacted as a string, then written again, since a pattern over raw JSON breaks escapes (field report B89).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from wesaid import keys, limits
from wesaid.engines.contract import Store
from wesaid.errors import InputError, WesaidError
from wesaid.rules import private
from wesaid.rules.redact import Redactor, fields
from wesaid.service import addressing
from wesaid.service.opening import Home
from wesaid.service.preparing import readable, safe, words_of
from wesaid.service.writing import iso
from wesaid.values import Caller, StoredEvent

FORMATS = ("jsonl", "md")


class Export(Iterator[str]):
    """Lines of text, each with its line end. ``key`` is the session's once the first one was asked for; ``unreadable`` counts what was passed over."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self.key = ""
        self.unreadable = 0
        self.lines: Iterator[str] = iter(())

    def __next__(self) -> str:
        try:
            return next(self.lines)
        except WesaidError as error:  # it leaves the home after the call that began it has returned
            self._home.clean(error)
            raise


def export(home: Home, caller: Caller, key: str, *, format: str = "jsonl", reveal: bool = False) -> Export:  # noqa: A002 - the contract's word
    """A session's lines, made as they are asked for. With the first one, NotFoundError as for history; InputError for another format.

    JSON lines are the whole transcript for the operator, abandoned branches included, and the visible path for a session.
    """
    made = Export(home)
    made.lines = _lines(home, caller, key, (format, reveal), made)
    return made


def _lines(home: Home, caller: Caller, key: str, how: tuple[str, bool], made: Export) -> Iterator[str]:
    format, reveal = how  # noqa: A001 - the contract's word
    if format not in FORMATS:
        raise InputError(f"format is {format!r}", hint=f"one of {', '.join(FORMATS)}", details={"field": "format"})
    if reveal:
        addressing.check_operator(caller, "showing what was redacted")
    row = addressing.visible_session(home, caller, key)
    made.key = row.facts.key
    store = home.store(keys.parse(row.facts.key).agent_id)
    with store.reading() as view:
        windows = [window for window in view.windows(row.facts.key) if window.findable]
    if format == "md":
        yield f"# {safe(home.redactor, row).facts.title or row.facts.key}\n\n"
    for window in windows:
        for event in _events(store, window.window, visible=format == "md" or not caller.is_operator):
            record = readable(event)
            if record is None:
                made.unreadable += 1
            elif format == "jsonl":
                yield msgspec.json.encode(record if reveal else redacted(home.redactor, record)).decode() + "\n"
            elif (words := words_of(home.redactor, row.facts.dialect, event, reveal=reveal)) is not None:
                yield f"**{words.role}** · {iso(event.timestamp)}\n\n{words.text}\n\n"


def _events(store: Store, window: int, *, visible: bool) -> Iterator[StoredEvent]:
    """A window's rows, all or the visible ones; a slice a snapshot, since a long read would pin the write-ahead log."""
    seq, position = -1, 0
    while True:
        with store.reading() as view:
            if visible:
                events = view.path(window, start=position, count=limits.REBUILD_SLICE_ROWS)
            else:
                events = view.events(window, after_seq=seq, limit=limits.REBUILD_SLICE_ROWS)
        if not events:
            return
        yield from events
        seq, position = events[-1].seq, position + len(events)


def redacted(redactor: Redactor, value: Any) -> Any:
    """A JSON value without ``<private>`` spans and with every string redacted, names included, with regard to what its fields say about them."""
    return fields.redacted(redactor, private.removed(value))

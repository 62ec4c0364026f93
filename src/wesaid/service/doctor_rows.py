"""The stored events read in full: does each unpack to JSON, is each that should be found indexed, and does a real question find it?

The rules of what is searchable are asked again, and compared with what the index has. Memory is one slice of a window and a small sample.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from zlib import crc32

import msgspec

from wesaid import importers, limits
from wesaid.engines.contract import View
from wesaid.errors import StoreDamagedError
from wesaid.rules import fold, searchable
from wesaid.rules.redact import Redactor, joined
from wesaid.service.preparing import record_of, words_of
from wesaid.values import EVERYTHING, Clause, Filters, Flaw, Match, Scope, SessionRow, StoredEvent, Term, counted


@dataclass(slots=True)
class Reading:
    """What reading all events gave."""

    events: int = 0
    unreadable: int = 0
    missing: int = 0
    extra: int = 0
    old: int = 0
    sessions: set[str] = field(default_factory=set)  # that have events which cannot be read; a few
    sample: list[tuple[int, int, StoredEvent, SessionRow]] = field(default_factory=list)


def flaws(view: View, redactor: Redactor, tick: Callable[[str], object]) -> Iterator[Flaw]:
    """What is wrong with events and with the index of them, each kind once."""
    read = Reading()
    keeps = {stale.window: stale.keep for stale in view.stale(EVERYTHING, limit=limits.INDEXED_COUNT_ROWS)}
    for number, row in enumerate(_sessions(view)):
        tick(f"session {number + 1}")
        for window in view.windows(row.facts.key):
            keep = keeps.get(window.window, window.path) if window.findable else 0
            for event in _events(view, window.window, window.events, row, read):
                _look(redactor, row, event, keep, read)
    if read.unreadable:
        named = ", ".join(sorted(read.sessions)[: limits.DOCTOR_NAMES])
        yield Flaw(
            code="rows.unreadable", message=f"{read.unreadable} of {counted(read.events, 'stored event')} cannot be read, in {named}"
        )
    if read.missing:
        yield Flaw(
            code="index.missing",
            message=f"{counted(read.missing, 'message')} should be found and {'is' if read.missing == 1 else 'are'} not indexed",
        )
    if read.extra:
        yield Flaw(code="index.extra", message=f"{counted(read.extra, 'event')} can be found that nobody said, or not on the visible path")
    if read.old:
        yield Flaw(
            code="index.old",
            message=f"{counted(read.old, 'message was', 'messages were')} redacted by older rules; today's are applied when shown",
        )
    tick("questions")
    unfound = sum(1 for _, _, event, row in read.sample if not _is_found(view, redactor, event, row))
    if unfound:
        yield Flaw(
            code="index.unfound",
            message=f"{unfound} of {counted(len(read.sample), 'message')} asked for not found by {'its' if unfound == 1 else 'their'} own words",
        )


def _sessions(view: View) -> Iterator[SessionRow]:
    offset = 0
    while rows := view.sessions(EVERYTHING, offset=offset, limit=limits.LIST_SLICE_ROWS):
        yield from rows
        offset += len(rows)


def _events(view: View, window: int, count: int, row: SessionRow, read: Reading) -> Iterator[StoredEvent]:
    """Every event of a window that can be read; where a slice cannot, its rows are read one by one."""
    after = -1
    while after < count - 1:
        try:
            events = view.events(window, after_seq=after, limit=limits.REBUILD_SLICE_ROWS)
        except StoreDamagedError:
            end = after + limits.REBUILD_SLICE_ROWS
            for seq in range(after + 1, min(end + 1, count)):
                try:
                    yield from (event for event in view.events(window, after_seq=seq - 1, limit=1) if event.seq == seq)
                except StoreDamagedError:
                    _unreadable(row, read)
            after = end
            continue
        if not events:
            return
        yield from events
        after = events[-1].seq


def _unreadable(row: SessionRow, read: Reading) -> None:
    read.events += 1
    read.unreadable += 1
    if len(read.sessions) <= limits.DOCTOR_NAMES:
        read.sessions.add(row.facts.key)


def _look(redactor: Redactor, row: SessionRow, event: StoredEvent, keep: int, read: Reading) -> None:
    """One event: what the rules say of it, against what the index has. ``keep``: up to where its window's index is complete."""
    try:
        record = record_of(event)
        view = importers.view(row.facts.dialect, record)
    except (msgspec.DecodeError, ValueError, AttributeError, TypeError):  # no JSON, or no object
        _unreadable(row, read)
        return
    read.events += 1
    said = view is not None and searchable.searchable(view, joined) is not None
    is_indexed = event.redact_version is not None
    if is_indexed and not said:
        read.extra += 1
    if said and not is_indexed and event.position is not None and event.position < keep:
        read.missing += 1
    if is_indexed and event.redact_version != redactor.version:
        read.old += 1
    if said and is_indexed and event.position is not None and keep:
        order = -crc32(f"{row.facts.key}\0{event.seq}".encode())  # as good as chance, and the same each time
        heapq.heappush(read.sample, (order, read.events, event, row))
        if len(read.sample) > limits.DOCTOR_SAMPLE:
            heapq.heappop(read.sample)


def _is_found(view: View, redactor: Redactor, event: StoredEvent, row: SessionRow) -> bool:
    """Whether a question for the longest word of a message, in its session, at its time, finds it. Messages without a word cannot be asked for."""
    words = words_of(redactor, row.facts.dialect, event)
    tokens = fold.tokens(words.text[: limits.EXCERPT_WHOLE_CODE_POINTS]) if words is not None else ()
    if not tokens or words is None or words.redacted:
        return True  # what today's rules hide may have been indexed by older ones as something else
    word = max(tokens, key=lambda token: (len(token), token))
    term = Term(text=word, tokens=(word,))
    found = view.candidates(
        Match(all_of=(Clause(terms=(term,)),), score=(term,)),
        Scope(keys=frozenset((row.facts.key,))),
        Filters(after=event.timestamp, before=event.timestamp + 1),
        limit=limits.FREQUENCY_COUNT_ROWS,
    )
    return not found.complete or any((one.window, one.seq) == (event.window, event.seq) for one in found.candidates)

"""What an import makes of what a file said: a session's facts, its title, and marks that tell events apart. No I/O.

Titles and labels are redacted here, whole, before they are cut.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Final

import msgspec

from wesaid import importers, keys, limits
from wesaid.engines.contract import View, Writer
from wesaid.importers.known import Dialect, Reader, Reason, Told
from wesaid.rules import searchable
from wesaid.rules.private import without_private
from wesaid.rules.redact import Redactor, joined
from wesaid.service import exporting, preparing
from wesaid.values import Event, Facts, Flag, Nav, NavKind, Prepared, SessionRow, StoredEvent, WindowSpec

Mark = tuple[str, bytes]  # an event's id and a digest of its record
Place = tuple[int, int]  # a window and a seq in it
ELSEWHERE: Final[Place] = (0, 0)  # in a window that the source does not write to

_MESSAGE: Final = b'"message"'  # in every record in which somebody says something, of any tool
_OURS: Final = f'"{importers.NATIVE}"'.encode()
_GROUPS: Final = frozenset({"group", "channel", "room"})
_MARK_BYTES: Final = 8
_OWN_ID_CHARS: Final = 32  # of a UUID: no other conversation has it by chance
TITLED_BY: Final = "titledBy"  # in a session's extra facts: where its title comes from, if from another session's file
_COMMAND: Final = re.compile("<command-(?:name|message|args)>")


@dataclass(slots=True)
class Target:
    """Where one conversation of the file goes."""

    slot: str
    key: str
    told: Told
    refused: Reason | None = None  # why it is not imported
    known: dict[Mark, Place] | None = None  # what is stored already, and where; None: nothing of it can be
    ids: set[str] = field(default_factory=set)
    known_as: str = "unchanged"  # the figure of what is stored already
    renews: bool = False  # a record of it takes the place of a stored one of the same id
    window: WindowSpec | None = None  # where it goes; None: the session's current one
    respec: bool = False  # what is said of the window has changed, so that it is written without events too
    beside: bool = False  # a file's part of what a database holds: only messages that are missing there are taken
    words: set[tuple[str, int]] = field(default_factory=set)  # beside: role and digest of the messages that are there
    skipped: dict[str, int] = field(default_factory=dict)  # of what was read of it now, by reason
    damaged: int = 0
    retitle: bool = True  # its title may have changed
    lifts: str | None = None  # a tombstone to lift
    first: str | None = None  # id and digest of its first message, which a fork shares
    begins: bool = False  # that message was read now, or by an import that did not come to its end
    messages: int = 0  # that the session has of this file
    batch: list[Prepared] = field(default_factory=list)
    early: dict[Place, list[Prepared]] = field(default_factory=dict)  # what the source has in front of events that are stored
    has_sources: bool = False  # something that was said is stored, and not by wesaid itself
    flushed: bool = False  # events were written behind the stored ones
    stored: bool = False
    ends: bool = True  # its branch ends at the last entry read; False: at `end`, which a control has led it to
    end: str | None = None
    moved: bool = False  # a changed message was written again: the branch has to be led back to the file's last one
    last: str | None = None  # id of the last event written
    at: str | None = None  # id of the entry that was just read
    before: str | None = None  # and of the one before it


def has_begun(target: Target) -> bool:
    """Whether somebody spoke in a conversation, or its tool says that it began: one in which nobody did is not worth a session."""
    if target.stored or target.known is not None or target.messages:
        return True
    return any(prepared.event.nav.has_message or prepared.event.type == "session" for prepared in target.batch)


def load(redactor: Redactor, target: Target, view: View, *, session_id: str | None = None) -> None:
    """Fill in what a session has already, as ids and digests: of all its windows, or of one."""
    target.known, target.ids = {}, set()
    for window in view.windows(target.key) if session_id is None else (view.window(target.key, session_id),):
        after = -1
        while window and (rows := view.events(window.window, after_seq=after, limit=limits.REBUILD_SLICE_ROWS)):
            after = rows[-1].seq
            is_own = target.window is None or window.session_id == target.window.session_id
            target.known.update((stored_mark(row), (row.window, row.seq) if is_own else ELSEWHERE) for row in rows)
            target.has_sources = target.has_sources or any(_MESSAGE in row.body and _OURS not in row.body for row in rows)
            target.ids.update(row.id for row in rows if row.id)
            if target.beside:
                said = (preparing.words_of(redactor, "openclaw", row) for row in rows)
                target.words.update((words.role, preparing.digest(words.text)) for words in said if words is not None)


def facts_of(redactor: Redactor, tool: str, told: Told, row: SessionRow | None, *, titles: Iterable[str | None]) -> Facts:
    """A session's facts: what this file says, over what is known. ``titles`` are raw, the best first."""
    before = row.facts if row else Facts(key=told.key, session_id=told.session_id)
    title = next((made for text in titles if text and (made := searchable.title_of(redactor.redact(without_private(text))))), None)
    kind = keys.kind(told.key)
    if kind == "other" and told.extra.get("chatType") in _GROUPS:
        kind = "group"
    spawned_by = before.spawned_by if row and before.spawned_by else told.spawned_by
    created = [when for when in (before.created_at, told.created_at) if when]
    return replace(
        before,
        dialect=tool,
        kind=kind,
        title=title or before.title,
        label=redactor.redact(without_private(told.label))[: limits.LABEL_CODE_POINTS] if told.label else before.label,
        tool=tool,
        project=redactor.redact(without_private(told.project)) if told.project else before.project,
        created_at=min(created, default=0),
        updated_at=max(before.updated_at, told.updated_at, told.created_at),
        archived_at=told.archived_at if told.archived_at is not None else before.archived_at,
        spawned_by=None if spawned_by == told.key else spawned_by,
        forked_from=before.forked_from or (None if told.forked_from == told.key else told.forked_from),
        extra={**before.extra, **exporting.redacted(redactor, told.extra)},
    )


def words_of(view: View, window: int, dialect: Dialect) -> str | None:
    """What a person said first in a window, of what is visible: the raw material of a title.

    An abandoned beginning must not be found again through the title. What follows a slash command is a second choice.
    """
    second = None
    for row in view.path(window, start=0, count=limits.TITLE_ROWS):
        record = importers.view(dialect.name, preparing.readable(row) or {})
        found = searchable.searchable(record, joined)
        if found is None or found.role != "user" or found.flags & Flag.AUTOMATION:
            continue
        if not _COMMAND.search(str(record["message"].get("content"))[: limits.PREVIEW_CODE_POINTS] if record else ""):
            return found.text
        second = second or found.text
    return second


def behind_ours(writer: Writer, key: str, session_id: str | None, batch: list[Prepared]) -> None:
    """The next events of a file, hung after what wesaid itself appended to the session since the last import.

    The file knows nothing of that message: by its own ``parent`` the first event would abandon it, and so would a control that leads back from
    prompts which waited. A local rewind is another thing: the leaf is then an event of the file, and the file's branch goes on.
    """
    window = writer.window(key)
    leaf = writer.event(window.window, window.leaf) if window and window.leaf and session_id in {None, window.session_id} else None
    if leaf is not None:
        _behind(writer, leaf, batch)


def insert(writer: Writer, target: Target) -> None:
    """Write what the source has in front of stored events to where it belongs; what is known of places is put right.

    A repair may have lost these, or a tool has put them there. Written behind the others they would end the branch, and hide what follows them.
    """
    for window in sorted({place[0] for place in target.early}):
        groups = {seq: group for (number, seq), group in target.early.items() if number == window}
        for seq, group in groups.items():
            before = writer.events(window, after_seq=seq - 2, limit=1) if seq else []
            if before and before[0].seq == seq - 1:
                _behind(writer, before[0], group)
        writer.insert(window, groups)
        starts = sorted(groups)
        moves = [0, *accumulate(len(groups[seq]) for seq in starts)]
        for mark, (number, seq) in (target.known or {}).items():
            if number == window:  # each is put right alone: no mark is added or taken
                (target.known or {})[mark] = number, seq + moves[bisect_right(starts, seq)]
    target.early.clear()


def _behind(writer: Writer, leaf: StoredEvent, batch: list[Prepared]) -> None:
    """See ``behind_ours``: ``leaf`` is what the events come to stand behind."""
    if importers.NATIVE not in (preparing.readable(leaf) or {}):
        return
    if batch[0].event.nav.kind is NavKind.LEAF and len(batch) > 1:
        del batch[0]
    nav = batch[0].event.nav
    parent = writer.event(leaf.window, nav.parent) if nav.parent and nav.parent != leaf.id and not nav.side else None
    if parent is not None and parent.position is not None:
        batch[0] = replace(batch[0], event=replace(batch[0].event, nav=replace(nav, parent=None, has_parent=False)))


def mark_of(event: Event) -> Mark:
    """What an event is told by: its id and its record."""
    return event.nav.id or "", _digest(msgspec.json.encode(event.record))


def stored_mark(row: StoredEvent) -> Mark:
    """The same of an event that is stored."""
    return row.id or "", _digest(row.body)


def _digest(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=_MARK_BYTES).digest()


def titles_told(reader: Reader) -> int:
    """How many titles of conversations a reader has met that may stand in other files."""
    return sum(len(told.summaries) for told in reader.told.values())


def is_own_id(event: Event, target: Target) -> bool:
    """Whether an event's id alone tells that the session has it: the same line in another file may have another shape."""
    return len(event.nav.id or "") >= _OWN_ID_CHARS and event.nav.id in target.ids


def again(event: Event, before: str | None) -> Event:
    """A changed event, written once more under its id. One that says no parent would hang from the end of the branch: it gets its own."""
    nav = event.nav
    return event if nav.has_parent else replace(event, nav=replace(nav, has_parent=True, parent=before))


def return_to(last: str | None, end: str | None, *, when: int, unique: str) -> Event:
    """A control that leads the branch back to where it ends (None: nowhere), after changed entries were written behind it."""
    name = f"leaf-{keys.short_digest(f'{last}:{unique}')}"
    record = {"type": "leaf", "id": name, "parentId": end, "targetId": last, "appendParentId": last, "timestamp": when}
    nav = Nav(kind=NavKind.LEAF, id=name, parent=end, has_parent=True, target=last, has_target=True, append_parent=last)
    return Event(nav=nav, type="leaf", timestamp=when, record=record)


def reset_event(path: str, when: int) -> Event:
    """What OpenClaw's newer stores write where a file of the same name was begun anew: what was said before stays on the path."""
    name = f"reset-{keys.short_digest(f'{path}:{when}')}"
    record = {"type": "reset", "id": name, "reason": "reset", "timestamp": when}
    return Event(nav=Nav(kind=NavKind.RESET, id=name), type="reset", timestamp=when, record=record)


__all__ = [
    "ELSEWHERE",
    "TITLED_BY",
    "Mark",
    "Place",
    "Target",
    "again",
    "behind_ours",
    "facts_of",
    "has_begun",
    "insert",
    "is_own_id",
    "load",
    "mark_of",
    "reset_event",
    "return_to",
    "stored_mark",
    "titles_told",
    "words_of",
]

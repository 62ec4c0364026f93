"""What an import does not bring in although it could read it: sessions that say so, and what a fork copied of a session that was deleted.

It refuses to write but for taking a session out again that says so. Invariants: the mark counts where a person or the model said it, not
where a tool put it out; a line is taken for a deleted session's only by the id of that session or by the ids of its own transcript.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from wesaid import limits
from wesaid.engines.contract import Store, View, Writer
from wesaid.errors import SourceError
from wesaid.importers import DIALECTS, claude_code, reading
from wesaid.importers.known import MAIN, Dialect, Holding, Source, text_of
from wesaid.rules import searchable
from wesaid.rules.redact import joined
from wesaid.values import Event

MARKER: Final = "<!-- wesaid: do not index -->"
_NEEDLE: Final = b"wesaid: do not index"  # the part of it that no JSON writer escapes
_OWN_ID_CHARS: Final = 32  # of a UUID; shorter ids come back in other conversations


# ── sessions that say so ─────────────────────────────────────────────────────────────────────────────────────────
def is_marked(source: Source, offset: int = 0) -> bool:
    """Whether somebody said in it that it is not to be indexed. Bytes first: the mark is rare, and reading is not free."""
    dialect = DIALECTS[source.tool]
    if not reading.contains(source.path, _NEEDLE, start=offset):
        return False
    for event in _events(dialect, source):
        found = searchable.searchable(dialect.view(event.record), joined)
        if found is not None and MARKER in found.text:
            return True
    return False


def is_around_marked(source: Source) -> bool:
    """Whether the session says so that spawned this one. What it sent out is a part of it."""
    path = claude_code.parent_path(source) if source.tool == claude_code.DIALECT.name else None
    try:
        stat = os.stat(path) if path else None  # noqa: PTH116 - bytes of no encoding may be in it
    except (OSError, ValueError):
        return False
    return path is not None and stat is not None and _file_is_marked(path, source.agent, stat.st_size, stat.st_mtime_ns)


@lru_cache(maxsize=256)  # a session may have spawned hundreds
def _file_is_marked(path: str, agent: str, _size: int, _mtime_ns: int) -> bool:
    try:
        return is_marked(claude_code.DIALECT.source(path, reading.head(path), agent))
    except SourceError:
        return False


def _events(dialect: Dialect, source: Source) -> Iterator[Event]:
    reader = dialect.reader(source, None, 0)
    for line in reading.lines(source.path):
        for record in line.records:
            yield reader.read(record)[1]
    if isinstance(reader, Holding):
        yield from (event for _, event in reader.rest())


def forget(writer: Writer, keys: Iterable[str], tool: str, now: int) -> None:
    """Take sessions out that earlier imports brought in, with what they spawned. No tombstone: the file itself says no."""
    waiting, seen = list(keys), set[str]()
    while waiting and len(seen) < limits.SUBTREE_SESSIONS_MAX:
        key = waiting.pop()
        row = writer.session(key)
        if key in seen or row is None or row.facts.tool != tool:
            continue
        seen.add(key)
        waiting.extend(writer.children(key))
        writer.delete(key, now)
        writer.lift(key)


# ── what was deleted ─────────────────────────────────────────────────────────────────────────────────────────────
class Gone:
    """What one agent's deleted sessions are told by in other transcripts. ``again``: the one that is called back."""

    def __init__(self, store: Store | None, again: str | None) -> None:
        self._store = store
        self._again = again
        self._owners: dict[str, bool] = {}
        self._begun: dict[str, str] | None = None  # id of its transcript's first message -> the transcript

    def copied(self, source: Source) -> Copied:
        """For the lines of one transcript."""
        return Copied(self, source)

    def is_owner(self, session_id: str) -> bool:
        """Whether a session of this id was deleted."""
        if session_id not in self._owners and self._store is not None:
            with self._store.reading() as view:
                stone = view.tombstone_by_id(session_id)
            self._owners[session_id] = stone is not None and stone.key != self._again
        return self._owners.get(session_id, False)

    def ids_after(self, first: str, path: str) -> frozenset[str]:
        """The ids of the deleted session whose transcript begins with this message and is in this one whole; its file must still be there.

        Of two that went different ways nobody can tell which one copied the other: then this one keeps its lines.
        """
        if self._store is None:
            return frozenset()
        if self._begun is None:
            with self._store.reading() as view:
                self._begun = self._find(view) if view.totals()["tombstones"] else {}
        deleted = self._begun.get(first)
        if deleted is None or deleted == path:
            return frozenset()
        ids = frozenset(_ids(deleted))
        return ids if ids <= frozenset(_ids(path)) else frozenset()

    def _find(self, view: View) -> dict[str, str]:
        found: dict[str, str] = {}
        for state in view.sources():
            key = state.state.get("slots", {}).get(MAIN)
            if state.tool == claude_code.DIALECT.name and key and key != self._again and view.tombstone(key):
                first = next(_ids(state.path), None)
                if first is not None:
                    found.setdefault(first, state.path)
        return found


class Copied:
    """Which lines of a transcript are copies of a deleted session's."""

    def __init__(self, gone: Gone, source: Source) -> None:
        self._gone = gone
        self._source = source
        self._ids: frozenset[str] | None = None
        self._own = False  # a message of its own was met

    def goes_on(self) -> None:
        """Its beginning was read before: what comes now is its own."""
        self._ids = frozenset()

    def has(self, event: Event) -> bool:
        """Whether a line is one: it names that session, or the transcript begins as that one's did and the line is in it."""
        record = event.record
        owner = text_of(record, "sessionId")
        if self._source.tool != claude_code.DIALECT.name or self._source.spawned_by or record.get("isSidechain") is True:
            return False
        if owner and owner != self._source.session_id and self._gone.is_owner(owner):
            return True
        if self._ids is None and event.nav.has_message:
            self._ids = self._gone.ids_after(event.nav.id or "", self._source.path)
        if not event.nav.has_message:
            return bool(self._ids) and not self._own  # what stands around copied messages is copied too
        copied = event.nav.id in (self._ids or ())
        self._own |= not copied
        return copied


def _ids(path: str) -> Iterator[str]:
    """Ids of a transcript's messages, in order; none when it cannot be read."""
    try:
        for number, record in enumerate(record for line in reading.lines(path) for record in line.records):
            if number >= limits.GONE_LINES:
                return
            if len(own := text_of(record, "uuid") or "") >= _OWN_ID_CHARS and _has_message(record):
                yield own
    except SourceError:
        return


def _has_message(record: Mapping[str, Any]) -> bool:
    return isinstance(record.get("message"), dict)

"""What an import does not bring in although it could read it: sessions that say so, and what a fork copied of a session that was deleted.

It refuses to write but for taking a session out again that says so. Invariants: the mark counts where a person or the model said it, not
where a tool put it out; a line is taken for a deleted session's only by the id of that session or by the ids of its own transcript.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import PurePath
from typing import Any, Final

from wesaid import limits
from wesaid.engines.contract import Store, View, Writer
from wesaid.errors import SourceError
from wesaid.importers import DIALECTS, claude_code, reading
from wesaid.importers.known import MAIN, Dialect, Holding, Source, text_of
from wesaid.rules import searchable
from wesaid.rules.redact import joined
from wesaid.values import Event, SourceState

MARKER: Final = "<!-- wesaid: do not index -->"
NEEDLE: Final = "wesaid: do not index"  # the part of it that JSON writers leave as it is
REFUSED: Final = "do-not-index"  # the figure that it is counted under
_OWN_ID_CHARS: Final = 32  # of a UUID; shorter ids come back in other conversations


# ── sessions that say so ─────────────────────────────────────────────────────────────────────────────────────────
def says_mark(dialect: Dialect, record: Mapping[str, Any]) -> bool:
    """Whether somebody said in this record that the conversation is not to be indexed."""
    found = searchable.searchable(dialect.view(record), joined)
    return found is not None and MARKER in found.text


def is_marked(source: Source, start: int = 0) -> bool:
    """Whether somebody said in it that it is not to be indexed; before ``start`` nobody did. Bytes first: it is rare, and reading is not free."""
    if not reading.contains(source.path, NEEDLE, start=start):
        return False
    dialect = DIALECTS[source.tool]
    return any(says_mark(dialect, event.record) for event in _events(dialect, source))


def clear_until(path: str, state: SourceState | None) -> int:
    """Up to which byte a file is known to be without the mark: what an earlier import remembered, if the file is still that one."""
    if state is None or REFUSED in state.state.get("refused", {}).values():
        return 0
    end, before = state.state.get("clear", (0, ""))
    return end if reading.digest_before(path, end) == before else 0


class Around:
    """The session that spawned this one, whose mark holds for what it sent out: ``unread`` bytes of it have to be looked through."""

    def __init__(self, source: Source, view: View | None) -> None:
        self._path = (claude_code.parent_path(source) if source.tool == claude_code.DIALECT.name else None) or ""
        self._agent = source.agent
        self._told: bool | None = None  # what its own import has found, if it is still as it was then
        self._start = self.unread = 0
        self._now = (0, 0)
        state = view.source(reading.printable(self._path)) if self._path and view else None
        try:
            stat = os.stat(self._path)  # noqa: PTH116 - bytes of no encoding may be in it
        except (OSError, ValueError):
            self._told = state is not None and REFUSED in state.state.get("refused", {}).values()
            return
        self._now = (stat.st_size, stat.st_mtime_ns)
        if state is not None and state.state.get("complete") and self._now == (state.size, state.mtime_ns):
            self._told = REFUSED in state.state.get("refused", {}).values()
            return
        with suppress(SourceError):
            self._start = clear_until(self._path, state)
        self.unread = max(0, stat.st_size - self._start)

    def is_marked(self) -> bool:
        """Whether it says so. One that cannot be read says nothing."""
        return _file_is_marked(self._path, self._agent, self._start, self._now) if self._told is None else self._told


@lru_cache(maxsize=256)  # a session may have spawned hundreds
def _file_is_marked(path: str, agent: str, start: int, _now: tuple[int, int]) -> bool:
    try:
        return is_marked(claude_code.DIALECT.source(path, reading.head(path), agent), start)
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
    """Take sessions out that earlier imports brought in. No tombstone: the source itself says no.

    What they spawned goes too where its own import will be refused for them (``Around``).
    """
    waiting, seen = list(keys), set[str]()
    while waiting and len(seen) < limits.SUBTREE_SESSIONS_MAX:
        key = waiting.pop()
        row = writer.session(key)
        if key in seen or row is None or row.facts.tool != tool:
            continue
        seen.add(key)
        waiting.extend(writer.children(key) if tool == claude_code.DIALECT.name else ())
        writer.delete(key, now)
        writer.lift(key)


# ── what was deleted ─────────────────────────────────────────────────────────────────────────────────────────────
class Gone:
    """What one agent's deleted sessions are told by in other transcripts. ``again``: the one that is called back.

    While a search waits (``quick``), deleted sessions' transcripts are looked for in the folder of the one that is read, where forks lie.
    """

    def __init__(self, store: Store | None, again: str | None, *, quick: bool = False) -> None:
        self._store = store
        self._again = again
        self._quick = quick
        self._owners: dict[str, bool] = {}
        self._begun: dict[str, dict[str, str]] = {}  # by folder ("": all): id of a transcript's first message -> the transcript

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
        folder = f"{PurePath(path).parent}/" if self._quick else ""
        if folder not in self._begun:
            with self._store.reading() as view:
                self._begun[folder] = self._find(view, reading.printable(folder)) if view.totals()["tombstones"] else {}
        deleted = self._begun[folder].get(first)
        if deleted is None or deleted == path:
            return frozenset()
        ids = frozenset(_ids(deleted))
        return ids if ids <= frozenset(_ids(path)) else frozenset()

    def _find(self, view: View, folder: str) -> dict[str, str]:
        found: dict[str, str] = {}
        for path in self._near(view, folder) if folder else self._all(view):
            first = next(_ids(path), None)
            if first is not None:
                found.setdefault(first, path)
        return found

    def _all(self, view: View) -> Iterator[str]:
        """Deleted sessions' transcripts."""
        for state in view.sources():
            key = state.state.get("slots", {}).get(MAIN)
            if state.tool == claude_code.DIALECT.name and key and key != self._again and view.tombstone(key):
                yield state.path

    def _near(self, view: View, folder: str) -> Iterator[str]:
        """Those of a folder, by their names, without what else is remembered of each."""
        after = folder
        while files := view.files(after=after, limit=limits.FRESH_PAGE_FILES):
            for file in files:
                if not file.path.startswith(folder):
                    return
                stone = view.tombstone_by_id(PurePath(file.path).stem) if file.tool == claude_code.DIALECT.name else None
                if stone is not None and stone.key != self._again:
                    yield file.path
            after = files[-1].path


class Copied:
    """Which lines of a transcript are copies of a deleted session's."""

    def __init__(self, gone: Gone, source: Source) -> None:
        self._gone = gone
        self._source = source
        self._ids: frozenset[str] | None = None
        self._first: str | None = None  # id of its first message
        self._own = False  # a message of its own was met

    def state(self) -> Mapping[str, Any]:
        """What a reading that did not come to the end needs to go on."""
        return {"first": self._first, "own": self._own}

    def goes_on(self, kept: Mapping[str, Any] | None) -> None:
        """Its beginning was read before; None: to the end that it had then, and what comes now is its own."""
        if kept is None or (kept["own"] and kept["first"] is None):
            self._ids, self._own = frozenset(), True
        elif kept["first"] is not None:
            self._begin(kept["first"])
            self._own = kept["own"]

    def _begin(self, first: str) -> None:
        self._first, self._ids = first, self._gone.ids_after(first, self._source.path)

    def has(self, event: Event) -> bool:
        """Whether a line is one: it names that session, or the transcript begins as that one's did and the line is in it."""
        record = event.record
        owner = text_of(record, "sessionId")
        if self._source.tool != claude_code.DIALECT.name or self._source.spawned_by or record.get("isSidechain") is True:
            return False
        if owner and owner != self._source.session_id and self._gone.is_owner(owner):
            return True
        if self._ids is None and event.nav.has_message:
            self._begin(event.nav.id or "")
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

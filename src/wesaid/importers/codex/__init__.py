"""Codex's rollouts, three generations (formats.md §4): where a file lands, and the reader and view of its lines.

It refuses to open files and to resolve branches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from wesaid import keys
from wesaid.importers.codex import said, whose
from wesaid.importers.codex.reader import ARCHIVE, LineReader
from wesaid.importers.known import Source, text_of
from wesaid.importers.reading import Record
from wesaid.values import WindowSpec

FOLDERS: Final = ("sessions", ARCHIVE)  # of Codex's home


class Codex:
    """The dialect (see ``known.Dialect``)."""

    name = "codex"

    def source(self, path: str, head: Sequence[Record], agent: str) -> Source:
        """A thread by the id of its first ``session_meta``, else of its file's name; a subagent's thread by who spawned it.

        A paginated thread is several files, each of which goes on where the one before it ended, or was reverted to: they are one
        session, whose events follow each other in one window.
        """
        lines = [said.line(record) for record in head]
        meta = next((found.payload for found in lines if found.outer == "session_meta"), {})
        own = whose.thread(meta) or whose.thread_named(path)
        pages = any("ordinal" in record for record in head) or meta.get("history_mode") == "paginated"
        spawned = whose.spawned(meta)
        parent = whose.parent(meta)
        forked = text_of(meta, "forked_from_id") or (None if whose.goes_on(meta, path) else whose.base(meta))
        spawner = None
        if spawned is not None and parent:
            depth = spawned.get("depth")
            nested = isinstance(depth, int) and depth > 1
            spawner = str(keys.subagent(agent, parent) if nested else keys.imported(agent, parent))
        return Source(
            path=path,
            tool=self.name,
            agent=agent,
            key=str(keys.imported(agent, own) if spawned is None else keys.subagent(agent, own)),
            session_id=own,
            window=WindowSpec(session_id=own) if pages and whose.thread(meta) else None,
            spawned_by=spawner,
            forked_from=str(keys.imported(agent, forked)) if forked and forked != own and spawned is None else None,
        )

    def reader(self, source: Source, state: Mapping[str, Any] | None, fallback_ms: int) -> LineReader:
        """A reader of one rollout file."""
        return LineReader(source, state, fallback_ms)

    def view(self, record: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """A line as an OpenClaw-shaped event."""
        return said.view(record)


DIALECT: Final = Codex()


def is_bare(head: Sequence[Record]) -> bool:
    """Whether records are the oldest form, ``{timestamp, role, content}``, which other tools write too: told, not guessed."""
    return any(record.get("role") in ("user", "assistant") and not {"content", "message"}.isdisjoint(record) for record in head)


__all__ = ["DIALECT", "FOLDERS", "is_bare"]

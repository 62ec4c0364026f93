"""Claude Code's transcripts: whose conversation a file is (formats.md §3). What its lines say and where they hang: ``lines``, ``chain``, ``queue``.

It refuses to open files.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any, Final

from wesaid import keys
from wesaid.importers.claude_code.chain import LineReader
from wesaid.importers.claude_code.lines import CHAT, said_in, view
from wesaid.importers.known import Reason, Source, text_of
from wesaid.importers.reading import Record, printable

_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")  # a transcript is named after its session
_FOLDER: Final = "subagents"


class ClaudeCode:
    """The dialect (see ``known.Dialect``)."""

    name = "claude-code"

    def source(self, path: str, head: Sequence[Record], agent: str) -> Source:
        """A main transcript by its name or the session id of its lines, a subagent's by its agent id and the session that spawned it."""
        pure = PurePath(printable(path))
        named = [found for record in head if (found := text_of(record, "sessionId"))]
        own = pure.stem if pure.stem in named or not named or _UUID.fullmatch(pure.stem) else named[0]
        sidechains = [record.get("isSidechain") is True for record in head if text_of(record, "type") in CHAT]
        folder = spawner_of(path)
        is_agents = pure.stem.startswith("agent-") and (folder is not None or all(sidechains))
        if not is_agents and not (folder and all(sidechains)):
            forked = str(keys.imported(agent, named[0])) if named and named[0] != own else None
            return Source(path=path, tool=self.name, agent=agent, key=str(keys.imported(agent, own)), session_id=own, forked_from=forked)
        ids = (text_of(record, "agentId") for record in head)
        name = next((found for found in ids if found), pure.stem.removeprefix("agent-"))
        parent = next((found for found in named if not found.startswith("agent-")), folder)
        spawner = str(keys.imported(agent, parent)) if parent else None
        key = str(keys.subagent(agent, name))
        return Source(path=path, tool=self.name, agent=agent, key=key, session_id=f"agent-{name}", spawned_by=spawner)

    def reader(self, source: Source, state: Mapping[str, Any] | None, fallback_ms: int) -> LineReader:
        """A reader of one transcript file."""
        return LineReader(source, state, fallback_ms)

    def view(self, record: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """A line as an OpenClaw-shaped event."""
        return view(record)


DIALECT: Final = ClaudeCode()


# ── what lies around a transcript ────────────────────────────────────────────────────────────────────────────────
def spawner_of(path: str) -> str | None:
    """The session in whose ``<session>/subagents/`` folder (or below it: ``workflows/<id>/``) a file lies."""
    parts = PurePath(path).parts[:-1]
    at = max((at for at, part in enumerate(parts) if part == _FOLDER), default=0)
    return printable(parts[at - 1]) if at else None


def parent_path(source: Source) -> str | None:
    """Where the transcript lies of the session that spawned this subagent: beside its folder, or beside its file."""
    if source.spawned_by is None:
        return None
    path = PurePath(source.path)
    above = [at for at, part in enumerate(path.parts[:-1]) if part == _FOLDER]
    if above:
        folder = PurePath(*path.parts[: above[-1]])
        return str(folder.with_name(f"{folder.name}.jsonl"))
    return str(path.with_name(f"{source.spawned_by.rpartition(':')[2]}.jsonl"))


def sidecar_path(path: str) -> str:
    """Where a subagent's description lies."""
    return path.removesuffix(".jsonl") + ".meta.json"


def described(source: Source, sidecar: Mapping[str, Any]) -> Source:
    """A subagent's source with what its ``.meta.json`` says: what it is for, its type, and which subagent spawned it."""
    parent = text_of(sidecar, "parentAgentId")
    spawner = str(keys.subagent(source.agent, parent.removeprefix("agent-"))) if parent else source.spawned_by
    return replace(source, row=sidecar, spawned_by=None if spawner == source.key else spawner)


def left_out(path: str, head: Sequence[Record]) -> Reason | None:
    """Why a transcript is not worth reading: a warm-up, or what the program did to compact a conversation that stands elsewhere."""
    name = PurePath(path).name
    if name.startswith("agent-acompact-"):
        return "compaction"
    first = next((record for record in head if text_of(record, "type") == "user" and record.get("isSidechain") is True), None)
    return "warm-up" if name.startswith("agent-") and first is not None and said_in(first).strip() == "Warmup" else None

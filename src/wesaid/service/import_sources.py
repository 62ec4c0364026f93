"""From paths to sources: which files are transcripts, whose they are, and where their conversations land.

It refuses to read transcripts beyond their beginnings. Invariants: what cannot be read or told is said, never dropped; sources come
in an order in which a parent comes before what it spawned and an older generation before a newer one.
"""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Any, Final

from wesaid import keys
from wesaid.errors import InputError, SourceError, WesaidError
from wesaid.importers import DIALECTS, codex, known, openclaw, reading
from wesaid.importers.known import LeftOut, Source

_IGNORE_FILE: Final = ".wesaidignore"
_SUFFIXES: Final = (".jsonl", ".ndjson")
_PACKED: Final = (".jsonl.zst", ".jsonl.gz")
_NAMED: Final = {
    "history.jsonl": "prompt-log",
    "sessions-index.json": "session-list",
    "sessions.json": "session-list",
    "session_index.jsonl": "session-list",
}
_DEFAULT_AGENT: Final = "main"  # of OpenClaw-format files outside an agent's folder (contract.md §4)


@dataclass(frozen=True, slots=True)
class Unread:
    """A path that could not be looked at."""

    path: str
    error: WesaidError


Met = Source | LeftOut | Unread


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the caller said: the tool and agent for all, and globs to leave out."""

    tool: str | None = None
    agent: str | None = None
    ignore: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.agent is not None:
            keys.agent_id(self.agent)
        if self.tool is not None and self.tool not in DIALECTS:
            exists = self.tool in known.TOOLS
            raise InputError(
                f"there is no importer for {self.tool!r} yet" if exists else f"tool {self.tool!r} is not known",
                hint=f"--from takes {', '.join(DIALECTS)}; without it the content decides",
                details={"field": "from", "allowed": list(DIALECTS)},
            )


def known_places() -> list[Path]:
    """The folders of this machine where tools keep transcripts, those that exist."""
    return [folder for _, folder in known.places(os.environ, Path.home()) if folder.is_dir()]


def discover(paths: Iterable[str | Path], wanted: Wanted) -> list[Met]:
    """Everything that the paths hold, each file once."""
    met: dict[str, Met] = {}
    for path in paths:
        try:
            absolute = os.path.realpath(Path(path).expanduser())
        except (OSError, ValueError) as error:  # too long, a NUL, or no Unicode
            shown = reading.printable(str(path))
            met[shown] = Unread(shown, reading.failure(shown, error))
            continue
        for found in _folder(absolute, wanted) if Path(absolute).is_dir() else _file(absolute, wanted):
            met.setdefault(found.path, found)
    spawned = [found for found in met.values() if isinstance(found, Source) and found.spawned_by and found.tool != openclaw.DIALECT.name]
    later = {found.path for found in spawned}
    return [*(found for found in met.values() if found.path not in later), *spawned]


def _file(path: str, wanted: Wanted) -> Iterator[Met]:
    """One file that was named: through its folder's list when it lies in an agent's, else by itself."""
    folder = PurePath(path).parent
    if wanted.tool in (None, openclaw.DIALECT.name) and _agent_of(folder):
        listing = next(iter(reading.walk(str(folder))), None)
        if isinstance(listing, reading.Folder):
            met = list(_sessions_folder(listing, _agent_of(folder) or _DEFAULT_AGENT, wanted))
            yield from met if PurePath(path).name == "sessions.json" else (found for found in met if found.path == path)
            return
    yield from _lone(path, wanted, named=True)


def _folder(top: str, wanted: Wanted) -> Iterator[Met]:
    """A tree. ``.wesaidignore`` in a folder holds globs for it and what is below it."""
    rules: dict[str, list[str]] = {"": [*wanted.ignore]}
    for folder in reading.walk(top):
        if isinstance(folder, SourceError):
            yield Unread(str(folder.details["path"]), folder)
            continue
        own = _ignored(folder)
        if own:
            rules[folder.path] = own
        kept = reading.Folder(folder.path, {n: t for n, t in folder.files.items() if not _left_out(f"{folder.path}/{n}", rules)})
        agent = _agent_of(PurePath(folder.path))
        if agent is None and "sessions.json" in kept.files:
            agent = _DEFAULT_AGENT
        if agent is not None and wanted.tool in (None, openclaw.DIALECT.name):
            yield from _sessions_folder(kept, agent, wanted)
            continue
        for name in kept.files:
            yield from _lone(f"{folder.path}/{name}", wanted, named=False)


def _ignored(folder: reading.Folder) -> list[str]:
    if _IGNORE_FILE not in folder.files:
        return []
    try:
        text = reading.beginning(f"{folder.path}/{_IGNORE_FILE}").decode("utf-8", "replace")
    except SourceError:
        return ["*"]  # what was to be left out cannot be known
    return [line.strip() for line in text.split("\n") if line.strip() and not line.startswith("#")]


def _left_out(path: str, rules: Mapping[str, Sequence[str]]) -> bool:
    """Whether a glob of a folder above fits the path below it, a folder on the way, or the file's name."""
    for top, globs in rules.items():
        if not path.startswith(top):
            continue
        parts = PurePath(path[len(top) :].lstrip("/")).parts if top else PurePath(path).parts
        ways = ["/".join(parts[: count + 1]).lstrip("/") for count in range(len(parts))]
        if any(
            fnmatch.fnmatchcase(way, glob.strip("/")) or fnmatch.fnmatchcase(PurePath(way).name, glob.strip("/"))
            for glob in globs
            for way in ways
        ):
            return True
    return False


def _agent_of(folder: PurePath) -> str | None:
    """The agent whose ``agents/<id>/sessions`` a folder is."""
    parts = folder.parts
    if len(parts) < 3 or parts[-1] != "sessions" or parts[-3] != "agents":
        return None
    return parts[-2].lower() if keys.AGENT_ID.fullmatch(parts[-2].lower()) else None


def _sessions_folder(folder: reading.Folder, agent: str, wanted: Wanted) -> Iterator[Met]:
    rows: Mapping[str, Any] = {}
    if "sessions.json" in folder.files:
        path = f"{folder.path}/sessions.json"
        try:
            rows = reading.document(path)
        except SourceError as error:  # its transcripts are still there, only nameless
            yield Unread(path, error)
    yield from openclaw.plan(folder.path, agent, folder.files, rows, wanted.agent)


def _lone(path: str, wanted: Wanted, *, named: bool) -> Iterator[Met]:
    """A file by its name and content. A file that nobody named and that looks like nothing is passed by in silence."""
    name = PurePath(path).name
    try:
        secondary = openclaw.left_out(name) if wanted.tool in (None, openclaw.DIALECT.name) else None
        if secondary and (named or name.endswith(_SUFFIXES)):
            yield LeftOut(path=path, tool=openclaw.DIALECT.name, agent=wanted.agent, reason=secondary)
        elif name in _NAMED:
            reading.identify(path)
            yield LeftOut(path=path, tool=wanted.tool, agent=wanted.agent, reason=_NAMED[name])
        elif name.endswith(_PACKED):
            yield LeftOut(path=path, tool=wanted.tool, agent=wanted.agent, reason="compressed")
        elif name.endswith(".json") and (name.startswith("rollout-") or b'"loglines"' in reading.beginning(path)):  # Codex's first ones
            yield LeftOut(path=path, tool=wanted.tool, agent=wanted.agent, reason="unsupported-format")
        elif name.endswith(_SUFFIXES) or ".jsonl.reset." in name or named:
            yield _by_content(path, wanted)
    except SourceError as error:
        yield Unread(path, error)


def _by_content(path: str, wanted: Wanted) -> Met:
    head = reading.head(path)
    found = known.guess(head)
    tool = wanted.tool or found
    reason = None
    if found in ("stream-json", "prompt-log"):
        reason = "unsupported-format" if found == "stream-json" else "prompt-log"
    elif found is not None and tool != found:
        reason = "other-format"
    elif found is None and not (tool == codex.DIALECT.name and codex.is_bare(head)):
        reason = _nothing(path, tool, head)
    if reason or tool is None:
        return LeftOut(path=path, tool=tool, agent=wanted.agent, reason=reason or "not-a-transcript")
    agent = wanted.agent or (_DEFAULT_AGENT if tool == openclaw.DIALECT.name else tool)
    source = DIALECTS[tool].source(path, head, agent)
    return replace(source, row={"thread_name": name}) if tool == codex.DIALECT.name and (name := _thread_name(source)) else source


def _thread_name(source: Source) -> str | None:
    """What Codex's own list calls a rollout's thread; it lies beside the folder of sessions."""
    home = next((folder.parent for folder in PurePath(source.path).parents if folder.name in codex.FOLDERS), None)
    path = str(home / "session_index.jsonl") if home else ""
    if not path or not Path(path).is_file():
        return None
    try:
        return _thread_names(path, reading.identify(path)).get(source.session_id)
    except SourceError:  # a thread without its name is still worth having
        return None


@lru_cache(maxsize=1)  # the rollouts of one home follow each other; a list that changed is another one
def _thread_names(path: str, _identity: reading.Identity) -> Mapping[str, str]:
    """Thread id -> its name; the last line of an id counts."""
    records = (record for line in reading.lines(path) for record in line.records)
    named = ((known.text_of(record, "id"), known.text_of(record, "thread_name")) for record in records)
    return {thread: name for thread, name in named if thread and name}


def _nothing(path: str, tool: str | None, head: Sequence[reading.Record]) -> str | None:
    """Why a file without a telling record is left out; None for an empty or barely begun one whose tool is given."""
    begun = reading.beginning(path)
    if tool is not None and not head and b"\n" not in begun.strip():
        return None
    return "not-a-transcript" if begun.strip() else "empty"


__all__ = ["Met", "Unread", "Wanted", "discover", "known_places"]

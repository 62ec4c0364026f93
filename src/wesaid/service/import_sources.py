"""From paths to sources: which files are transcripts, whose they are, and where their conversations land.

It refuses to read transcripts beyond their beginnings. Invariants: what cannot be read or told is said, never dropped; sources come
in an order in which a parent comes before what it spawned and an older generation before a newer one.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Any, Final

from wesaid import keys
from wesaid.errors import InputError, SourceError, WesaidError
from wesaid.importers import DIALECTS, claude_code, codex, known, openclaw, openclaw_sqlite, reading
from wesaid.importers.known import Database, LeftOut, Reason, Source
from wesaid.importers.reading_sqlite import MAGIC, snapshot
from wesaid.service.import_ignore import IGNORE_FILE, Ignoring

_SUFFIXES: Final = (".jsonl", ".ndjson")
_PACKED: Final = (".jsonl.zst", ".jsonl.gz")
_NAMED: Final[Mapping[str, Reason]] = {
    "history.jsonl": "prompt-log",
    "sessions-index.json": "session-list",
    "sessions.json": "session-list",
    "session_index.jsonl": "session-list",
}
SESSION_LIST: Final = "sessions.json"  # of an OpenClaw agent: what its transcripts are called
_ARCHIVE: Final = "session-sqlite-import-archive"
_DEFAULT_AGENT: Final = "main"  # of OpenClaw-format files outside an agent's folder (contract.md §4)


@dataclass(frozen=True, slots=True)
class Unread:
    """A path that could not be looked at."""

    path: str
    error: WesaidError


Met = Source | Database | LeftOut | Unread


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


def known_places(tool: str | None = None) -> list[Path]:
    """The folders of this machine where tools (or one) keep transcripts, those that exist."""
    return [folder for name, folder in known.places(os.environ, Path.home()) if tool in (None, name) and folder.is_dir()]


def is_gone(path: str) -> bool:
    """Whether nothing is there. What may not be looked at is not gone."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False


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
        rules = Ignoring(wanted.ignore)
        rules.above(absolute)
        if not Path(absolute).is_dir() and rules.leaves_out(absolute):  # not even opened
            met[absolute] = LeftOut(path=absolute, tool=wanted.tool, agent=wanted.agent, reason="ignored")
            continue
        for found in _folder(absolute, wanted, rules) if Path(absolute).is_dir() else _file(absolute, wanted, rules):
            met.setdefault(found.path, _unless_ignored(found, rules))
    return _parents_first(met.values())


def _parents_first(met: Collection[Met]) -> list[Met]:
    spawned = [found for found in met if isinstance(found, Source) and found.spawned_by and found.tool != openclaw.DIALECT.name]
    later = {found.path for found in spawned}
    return [*(found for found in met if found.path not in later), *spawned]


def some(folder: str, names: Collection[str], wanted: Wanted, *, known: bool) -> Iterator[Met]:
    """What a few files of a folder are, one by one, as an import of a folder above would tell.

    Of files that are not ``known`` those that look like nothing are passed by in silence.
    """
    rules = Ignoring(wanted.ignore)
    rules.above(f"{folder}/{IGNORE_FILE}")
    left = [name for name in names if not rules.leaves_out(f"{folder}/{name}")]
    agent = _agent_of(PurePath(folder)) or (_DEFAULT_AGENT if os.path.lexists(f"{folder}/sessions.json") else None)
    if left and agent is not None and wanted.tool in (None, openclaw.DIALECT.name):
        listing = next(iter(reading.walk(folder)), None)
        if not isinstance(listing, reading.Folder):
            if listing is not None:
                yield Unread(folder, listing)
            return
        yield from (found for found in _sessions_folder(listing, agent, wanted, rules) if PurePath(found.path).name in left)
        return
    for name in left:
        yield from (_unless_ignored(found, rules) for found in _lone(f"{folder}/{name}", wanted, named=known))


def _file(path: str, wanted: Wanted, rules: Ignoring) -> Iterator[Met]:
    """One file that was named: through its folder's list when it lies in an agent's, else by itself."""
    folder = PurePath(path).parent
    owner = _owner_of(folder)
    if owner and folder.name == _ARCHIVE and wanted.tool in (None, openclaw.DIALECT.name):
        listing = next(iter(reading.walk(str(folder))), None)
        if isinstance(listing, reading.Folder):
            yield from (found for found in _archive(listing, owner, wanted, rules) if found.path == path)
            return
    if wanted.tool in (None, openclaw.DIALECT.name) and _agent_of(folder):
        listing = next(iter(reading.walk(str(folder))), None)
        if isinstance(listing, reading.Folder):
            met = list(_sessions_folder(listing, _agent_of(folder) or _DEFAULT_AGENT, wanted, rules))
            yield from met if PurePath(path).name == "sessions.json" else (found for found in met if found.path == path)
            return
    yield from _lone(path, wanted, named=True)


def _folder(top: str, wanted: Wanted, rules: Ignoring) -> Iterator[Met]:
    """A tree. ``.wesaidignore`` in a folder holds rules for it and what is below it."""
    for folder in reading.walk(top):
        if isinstance(folder, SourceError):
            yield Unread(str(folder.details["path"]), folder)
            continue
        if IGNORE_FILE in folder.files:
            rules.enter(folder.path)
        agent = _agent_of(PurePath(folder.path))
        if agent is None and "sessions.json" in folder.files:
            agent = _DEFAULT_AGENT
        owner = _owner_of(PurePath(folder.path))
        if wanted.tool in (None, openclaw.DIALECT.name):
            if agent is not None:
                yield from _sessions_folder(folder, agent, wanted, rules)
                continue
            if owner is not None and PurePath(folder.path).name == _ARCHIVE:
                yield from _archive(folder, owner, wanted, rules)
                continue
        yield from _files(folder, wanted, rules)


def _files(folder: reading.Folder, wanted: Wanted, rules: Ignoring) -> Iterator[Met]:
    """Files of a folder that is no agent's, each by itself; of what is ignored not even the beginning is read."""
    for name in folder.files:
        path = f"{folder.path}/{name}"
        if not rules.leaves_out(path):
            yield from _lone(path, wanted, named=False)
        elif name.endswith((*_SUFFIXES, *_PACKED)) or name == openclaw_sqlite.FILE:
            yield LeftOut(path=path, tool=wanted.tool, agent=wanted.agent, reason="ignored")


def _unless_ignored(met: Met, rules: Ignoring) -> Met:
    """What was met, or that it is left out: by its own path, or by that of the session that spawned it."""
    around = claude_code.parent_path(met) if isinstance(met, Source) and met.tool == claude_code.DIALECT.name else None
    if isinstance(met, LeftOut) or not any(path and rules.leaves_out(path) for path in (met.path, around)):
        return met
    return LeftOut(path=met.path, tool=getattr(met, "tool", None), agent=getattr(met, "agent", None), reason="ignored")


def _agent_of(folder: PurePath) -> str | None:
    """The agent whose ``agents/<id>/sessions`` a folder is."""
    parts = folder.parts
    if len(parts) < 3 or parts[-1] != "sessions" or parts[-3] != "agents":
        return None
    return parts[-2].lower() if keys.AGENT_ID.fullmatch(parts[-2].lower()) else None


def _owner_of(folder: PurePath) -> str | None:
    """The agent whose folder this one lies in: ``agents/<id>/…``, at most two levels below it."""
    for parent in (folder, *folder.parents)[:3]:
        if parent.parent.name == "agents" and keys.AGENT_ID.fullmatch(parent.name.lower()):
            return parent.name.lower()
    return None


def _database(path: str, wanted: Wanted) -> Iterator[Met]:
    """A database: its agent's by the folder, else by what it says itself."""
    if wanted.tool not in (None, openclaw.DIALECT.name):
        yield LeftOut(path=path, tool=wanted.tool, agent=wanted.agent, reason="other-format")
        return
    owner = _owner_of(PurePath(path).parent)
    if owner is None:
        try:
            with snapshot(path) as taken:
                if not openclaw_sqlite.is_openclaws(taken):
                    yield LeftOut(path=path, tool=wanted.tool, agent=wanted.agent, reason="unsupported-format")
                    return
                owner = openclaw_sqlite.agent_of(taken) or _DEFAULT_AGENT
        except SourceError as error:
            yield Unread(path, error)
            return
    yield Database(path=path, tool=openclaw.DIALECT.name, agent=wanted.agent or owner, owner=owner)


def _archive(folder: reading.Folder, agent: str, wanted: Wanted, rules: Ignoring) -> Iterator[Met]:
    """Files that were moved away when the database took them in. Their session lists only matter where that database is lost."""
    rows: dict[str, Any] = {}
    for name in sorted(name for name in folder.files if ".sessions.json.imported-" in name):
        if rules.leaves_out(f"{folder.path}/{name}"):
            continue
        try:
            rows.update(reading.document(f"{folder.path}/{name}"))
        except SourceError as error:
            yield Unread(f"{folder.path}/{name}", error)
        else:
            yield LeftOut(path=f"{folder.path}/{name}", tool=openclaw.DIALECT.name, agent=wanted.agent or agent, reason="session-list")
    yield from _beside(openclaw.archive(folder.path, agent, folder.files, rows, wanted.agent), folder.path)


def _beside(found: Iterable[Met], folder: str) -> Iterator[Met]:
    """Files of an agent's folder, with the database in which the same conversations may be."""
    agent = next((parent for parent in PurePath(folder).parents if parent.parent.name == "agents"), None)
    database = f"{agent}/agent/{openclaw_sqlite.FILE}" if agent else None
    for one in found:
        yield replace(one, database=database) if isinstance(one, Source) else one


def _sessions_folder(folder: reading.Folder, agent: str, wanted: Wanted, rules: Ignoring) -> Iterator[Met]:
    rows: Mapping[str, Any] = {}
    path = f"{folder.path}/sessions.json"
    if "sessions.json" in folder.files and not rules.leaves_out(path):
        try:
            rows = reading.document(path)
        except SourceError as error:  # its transcripts are still there, only nameless
            yield Unread(path, error)
    yield from _beside(openclaw.plan(folder.path, agent, folder.files, rows, wanted.agent), folder.path)


def _lone(path: str, wanted: Wanted, *, named: bool) -> Iterator[Met]:
    """A file by its name and content. A file that nobody named and that looks like nothing is passed by in silence."""
    name = PurePath(path).name
    try:
        secondary = openclaw.left_out(name) if wanted.tool in (None, openclaw.DIALECT.name) else None
        if secondary and (named or name.endswith(_SUFFIXES)):
            yield LeftOut(path=path, tool=openclaw.DIALECT.name, agent=wanted.agent, reason=secondary)
        elif name == openclaw_sqlite.FILE or (named and reading.beginning(path).startswith(MAGIC)):
            yield from _database(path, wanted)
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
    reason: Reason | None = None
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
    if tool == claude_code.DIALECT.name and source.spawned_by:
        if reason := claude_code.left_out(path, head):
            return LeftOut(path=path, tool=tool, agent=agent, reason=reason)
        return claude_code.described(source, _sidecar(claude_code.sidecar_path(path)))
    return replace(source, row={"thread_name": name}) if tool == codex.DIALECT.name and (name := _thread_name(source)) else source


def _sidecar(path: str) -> Mapping[str, Any]:
    """What lies beside a transcript and describes it; a damaged one says nothing, and costs nothing else."""
    try:
        return reading.document(path) if os.path.lexists(path) else {}
    except SourceError:
        return {}


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


def _nothing(path: str, tool: str | None, head: Sequence[reading.Record]) -> Reason | None:
    """Why a file without a telling record is left out; None for an empty or barely begun one whose tool is given."""
    begun = reading.beginning(path)
    if tool is not None and not head and b"\n" not in begun.strip():
        return None
    return "not-a-transcript" if begun.strip() else "empty"


__all__ = ["SESSION_LIST", "Met", "Unread", "Wanted", "discover", "is_gone", "known_places", "some"]

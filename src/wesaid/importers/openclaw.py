"""OpenClaw's file era: which file of an ``agents/<id>/sessions`` folder is what, and what a line does (formats.md §1).

It refuses to open files and to resolve branches: it says what each line *is*, ``rules.branch`` what is visible. Invariants: an event's
record is the line as it was; an entry without an id gets one from its position, the same at every reading.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Final

from wesaid import keys
from wesaid.errors import InputError
from wesaid.importers.known import MAIN, POSITION, Clock, LeftOut, Reason, Source, Told, first_moment, moment, text_of
from wesaid.importers.reading import Record, printable
from wesaid.values import Event, Nav, NavKind, WindowSpec

_ENTRIES: Final = frozenset(
    {
        "message",
        "thinking_level_change",
        "model_change",
        "compaction",
        "branch_summary",
        "custom",
        "custom_message",
        "label",
        "session_info",
    }
)
_RESET: Final = re.compile(r"(?P<id>.+)\.jsonl\.reset\.(?P<time>\d{4}-\d\d-\d\dT[\dZ.:+-]+)")
_ARCHIVED: Final = re.compile(r"(?:.*\.)?(?P<id>[^.]+)\.jsonl\.imported-(?P<time>\d{1,15})")
# Names that are no transcript to import, in the order they are asked (formats.md §1a).
_LEFT_OUT: Final[tuple[tuple[re.Pattern[str], Reason], ...]] = (
    (re.compile(r".+\.jsonl\.deleted\..+"), "deleted-file"),
    (re.compile(r".+\.checkpoint\..+\.jsonl"), "checkpoint"),
    (re.compile(r".+\.trajectory(?:\.jsonl|-path\.json)"), "trajectory"),
    (re.compile(r".+\.jsonl(?:\..+)?\.bak.*"), "backup"),
    (re.compile(r".+\.jsonl\..+\.zst"), "deleted-file"),
)


class OpenClaw:
    """The dialect (see ``known.Dialect``). Its records are the house's event shape already."""

    name = "openclaw"

    def source(self, path: str, head: Sequence[Record], agent: str) -> Source:
        """A file outside an agent's folder: named by its header's id, else by its stem (contract.md §4)."""
        header = next((record for record in head if record.get("type") == "session"), None)
        own = (text_of(header, "id") if header else None) or stem_of(path)
        return Source(path=path, tool=self.name, agent=agent, key=str(keys.imported(agent, own)), session_id=own)

    def reader(self, source: Source, state: Mapping[str, Any] | None, fallback_ms: int) -> LineReader:
        """A reader of one transcript file."""
        return LineReader(source, state, fallback_ms)

    def view(self, record: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The record itself; one of version 1, which has no ids, with a stand-in for the id that its position gave it."""
        return record if text_of(record, "id") else {**record, "id": POSITION}


DIALECT: Final = OpenClaw()


class LineReader:
    """Reads one transcript (see ``known.Reader``)."""

    def __init__(self, source: Source, state: Mapping[str, Any] | None, fallback_ms: int) -> None:
        self._source = source
        kept = state or {}
        self._count = int(kept.get("count", 0))
        self._clock = Clock(int(kept.get("now", fallback_ms)))
        self.told: dict[str, Told] = {slot: Told(**told) for slot, told in kept.get("told", {}).items()}

    def state(self) -> Mapping[str, Any]:
        """Where this reading stands."""
        return {"count": self._count, "now": self._clock.now, "told": {slot: asdict(told) for slot, told in self.told.items()}}

    def read(self, record: Record) -> tuple[str, Event]:
        """The line as an event of the file's one conversation."""
        self._count += 1
        return self.entry(record, self._count - 1)

    def entry(self, record: Record, position: int, written_at: int | None = None) -> tuple[str, Event]:
        """A record that stands at a position of its transcript; ``written_at`` is for one that says no time itself."""
        kind = text_of(record, "type") or "unknown"
        nav = navigation(record, f"p{position}")
        message = record.get("message")
        own = message if isinstance(message, dict) else {}
        found = first_moment(record.get("timestamp"), own.get("timestamp"), written_at)
        when = self._clock.tick(found)
        self._learn(record, kind, nav, found)
        return MAIN, Event(nav=nav, type=kind, timestamp=when, record=record)

    def _learn(self, record: Record, kind: str, nav: Nav, found: int | None) -> None:
        told = self.told.get(MAIN)
        if told is None:
            told = self.told[MAIN] = from_row(self._source)
        if found is not None:
            told.created_at = min(told.created_at, found) if told.created_at else found
            told.updated_at = max(told.updated_at, found)
        if nav.kind in (NavKind.ENTRY, NavKind.RESET) and not nav.side:
            told.last_id = nav.id
        if kind == "message" and told.first_id is None:
            told.first_id = nav.id
        elif kind == "session":
            told.project = told.project or text_of(record, "cwd")
            parent = text_of(record, "parentSession") or text_of(record, "branchedFrom")
            if parent and told.forked_from is None:
                told.forked_from = self._source.siblings.get(basename(parent))
        elif kind == "session_info":
            told.title = text_of(record, "name") or told.title


def navigation(record: Mapping[str, Any], position_id: str) -> Nav:
    """What a record does to the branch (openclaw.md §1.1). ``position_id`` names an entry that has no id (version 1 files)."""
    kind, own, parent = text_of(record, "type"), _reference(record, "id"), _reference(record, "parentId")
    target = _reference(record, "targetId")
    if kind == "session":
        return Nav(kind=NavKind.NONE)
    control = kind == "leaf" and "targetId" in record and (target is not None or record["targetId"] is None)
    canonical = kind in _ENTRIES or kind == "reset"
    return Nav(
        kind=NavKind.RESET if kind == "reset" else NavKind.ENTRY if canonical else NavKind.LEAF if control else NavKind.OPAQUE,
        id=own or (position_id if canonical else None),
        parent=parent,
        has_parent="parentId" in record and (parent is not None or record["parentId"] is None),
        side=record.get("appendMode") == "side",
        target=target if control else None,
        has_target=control,
        append_parent=_reference(record, "appendParentId") if control else None,
        has_message=isinstance(record.get("message"), dict),
    )


def _reference(record: Mapping[str, Any], key: str) -> str | None:
    found = text_of(record, key)
    return keys.message_id(found) if found else None


# ── a folder of sessions ─────────────────────────────────────────────────────────────────────────────────────────
def from_row(source: Source) -> Told:
    """What ``sessions.json`` says of a conversation, before its transcript is read."""
    row = source.row
    return Told(
        key=source.key,
        session_id=source.session_id,
        spawned_by=source.spawned_by,
        forked_from=source.forked_from,
        label=text_of(row, "label"),
        archived_at=moment(row.get("archivedAt")),
        better_title=text_of(row, "displayName") or text_of(row, "subject"),
        project=text_of(row, "spawnedCwd") or text_of(row, "spawnedWorkspaceDir"),
        created_at=first_moment(row.get("sessionStartedAt"), row.get("createdAt"), row.get("startedAt")) or 0,
        updated_at=moment(row.get("updatedAt")) or 0,
        extra={name: row[name] for name in ("chatType", "channel") if isinstance(row.get(name), str)},
    )


def full_key(name: str, agent: str, override: str | None = None) -> str | None:
    """A row's name as a full key: bare names belong to the folder's agent; None when it has no proper shape."""
    try:
        parsed = keys.parse(name if name.lower().startswith("agent:") else f"agent:{agent}:{name}")
        return str(parsed if override is None else keys.fit(keys.SessionKey(keys.agent_id(override), parsed.rest)))
    except InputError:
        return None


def stem_of(path: str) -> str:
    """A transcript's name without folder and endings."""
    return printable(basename(path)).partition(".jsonl")[0]


def basename(path: str) -> str:
    """The last part of a path of whatever machine wrote it."""
    return re.split(r"[/\\]", path)[-1]


def plan(folder: str, agent: str, names: Mapping[str, int], rows: Mapping[str, Any], override: str | None = None) -> list[Source | LeftOut]:
    """What each file of a sessions folder is, oldest generation of a session first.

    Args:
        folder: absolute path of ``agents/<agent>/sessions``.
        agent: the agent of the folder.
        names: file name to time of last change, Unix milliseconds.
        rows: ``sessions.json``.
        override: the agent to land in instead.
    """
    found: list[Source | LeftOut] = []
    named = _named(agent, rows, names, override)
    siblings = {name: key for name, (key, _) in named.items()}
    resets: dict[str, list[tuple[int, str]]] = {}
    for name in sorted(names):
        reason = left_out(name)
        if reason:
            found.append(LeftOut(path=f"{folder}/{name}", tool="openclaw", agent=override or agent, reason=reason))
        elif match := _RESET.fullmatch(name):
            resets.setdefault(match["id"], []).append((_reset_time(match["time"]) or names[name], name))
    lives = {name[: -len(".jsonl")]: name for name in names if name.endswith(".jsonl") and not left_out(name)}
    missing = {name[: -len(".jsonl")]: name for name in named if name not in names}
    for stem in sorted(lives.keys() | resets.keys() | missing.keys()):
        key, row = named.get(f"{stem}.jsonl", (str(keys.imported(override or agent, stem)), {}))
        if keys.is_incognito(key):
            found.append(LeftOut(path=f"{folder}/{stem}.jsonl", tool="openclaw", agent=keys.parse(key).agent_id, reason="incognito"))
            continue
        common = lineage(key, row, agent, override, siblings)
        found.extend(_generations(folder, stem, resets.get(stem, []), common))
        if stem in lives:
            # A live transcript is younger than all that was ever reset out of it.
            latest = max([names[lives[stem]], *(when + 1 for when, _ in resets.get(stem, []))])
            window = WindowSpec(session_id=printable(stem), ordinal=latest)
            found.append(Source(path=f"{folder}/{lives[stem]}", session_id=window.session_id, window=window, **common))
        elif stem in missing and stem not in resets:
            found.append(Source(path=f"{folder}/{stem}.jsonl", session_id=printable(stem), missing=True, **common))
    return found


def archive(
    folder: str, agent: str, names: Mapping[str, int], rows: Mapping[str, Any], override: str | None = None
) -> list[Source | LeftOut]:
    """What the files are that OpenClaw moved away after it had taken them into its database.

    Args:
        folder: absolute path of ``agents/<agent>/session-sqlite-import-archive``.
        agent: the agent of the folder.
        names: its files.
        rows: what the session lists among them say, the newest last.
        override: the agent to land in instead.
    """
    found: list[Source | LeftOut] = []
    keyed = {id_: name for name, row in rows.items() if isinstance(row, dict) and (id_ := text_of(row, "sessionId"))}
    for name in sorted(names):
        match = _ARCHIVED.fullmatch(name)
        if match is None:
            continue
        own = printable(match["id"])
        row = rows.get(keyed.get(match["id"], ""), {})
        key = full_key(keyed[match["id"]], agent, override) if match["id"] in keyed else None
        common = lineage(key or str(keys.imported(override or agent, own)), row, agent, override, {})
        if keys.is_incognito(common["key"]):
            found.append(LeftOut(path=f"{folder}/{name}", tool="openclaw", agent=common["agent"], reason="incognito"))
            continue
        window = WindowSpec(session_id=own, ordinal=int(match["time"]))
        found.append(Source(path=f"{folder}/{name}", session_id=own, window=window, archived=True, **common))
    return found


def held(source: Source, windows: Mapping[str, tuple[str, int]] | None) -> Source | LeftOut:
    """A file beside a database, as what it is to that database.

    Args:
        source: the file.
        windows: the database's windows, session id → key and ordinal; none of one that could not be read; None when there is no database.

    Returns:
        The file as it was when the database does not know its session; as a part of that session when it does; left out when it was
        moved away on being taken in and the database has the session no more, since then somebody has deleted it.
    """
    stem = source.session_id.partition("@")[0]
    found = (windows or {}).get(stem)
    if found is None:
        gone = source.archived and windows is not None
        return LeftOut(path=source.path, tool=source.tool, agent=source.agent, reason="archived") if gone else source
    if source.missing:
        return LeftOut(path=source.path, tool=source.tool, agent=source.agent, reason="copy")
    key, ordinal = found
    source = replace(source, key=key, agent=keys.parse(key).agent_id, spawned_by=None, forked_from=None, row={})
    if stem != source.session_id:
        return source  # a generation that was reset in the time of files is an older window of the same session
    window = WindowSpec(session_id=f"{stem}@file", ordinal=ordinal - 1, reason="recovery")
    return replace(source, session_id=window.session_id, window=window, beside=True)


def left_out(name: str) -> Reason | None:
    """Why a file of this name is never imported, or None."""
    return next((why for pattern, why in _LEFT_OUT if pattern.fullmatch(name)), None)


def _generations(folder: str, stem: str, resets: list[tuple[int, str]], common: Mapping[str, Any]) -> list[Source]:
    """Windows that were closed by a reset, oldest first."""
    out = []
    for when, name in sorted(resets):
        own = f"{printable(stem)}@{name.rpartition('.reset.')[2]}"
        out.append(
            Source(path=f"{folder}/{name}", session_id=own, window=WindowSpec(session_id=own, ordinal=when, reason="reset"), **common)
        )
    return out


def lineage(key: str, row: Mapping[str, Any], agent: str, override: str | None, siblings: Mapping[str, str]) -> dict[str, Any]:
    """What a session's row says of where it belongs and came from: arguments of a ``Source``."""
    parent = text_of(row, "parentSessionKey")
    forked = row.get("forkedFromParent") is True
    spawner = text_of(row, "spawnedBy") or (None if forked else parent)
    return {
        "tool": "openclaw",
        "agent": keys.parse(key).agent_id,
        "key": key,
        "row": row,
        "siblings": siblings,
        "spawned_by": full_key(spawner, agent, override) if spawner else None,
        "forked_from": full_key(parent, agent, override) if parent and forked else None,
    }


def _named(agent: str, rows: Mapping[str, Any], names: Mapping[str, int], override: str | None) -> dict[str, tuple[str, Mapping[str, Any]]]:
    """File name -> key and row. A full key wins over a bare alias of the same file, then the row that was used last."""
    ranked = sorted(
        ((name, row) for name, row in rows.items() if isinstance(row, dict)),
        key=lambda item: (not keys.is_key(item[0]), -(moment(item[1].get("updatedAt")) or 0), item[0]),
    )
    out: dict[str, tuple[str, Mapping[str, Any]]] = {}
    for name, row in ranked:
        key, session_id = full_key(name, agent, override), text_of(row, "sessionId")
        given = basename(text_of(row, "sessionFile") or "")
        file = given if given in names or not session_id else f"{session_id}.jsonl"
        if key is not None and file.endswith(".jsonl"):
            out.setdefault(file, (key, row))
            previous = text_of(row, "previousSessionId")
            if previous and f"{previous}.jsonl" in names:
                out.setdefault(f"{previous}.jsonl", (key, row))
    return out


def _reset_time(text: str) -> int | None:
    """Unix milliseconds of ``2026-05-06T16-18-01.123Z``: colons are dashes, since a file name may not hold them."""
    day, _, clock = text.partition("T")
    return moment(day + "T" + re.sub(r"^(\d\d)-(\d\d)-(\d\d)", r"\1:\2:\3", clock))

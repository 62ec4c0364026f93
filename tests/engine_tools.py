"""Helpers of the engine tests: prepared events from plain words, questions from plain words, and readings that can be compared.

Also used by the child processes of the crash and process tests, hence no pytest here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from wesaid.engines import memory, sqlite
from wesaid.rules import fold
from wesaid.values import (
    EVERYTHING,
    Clause,
    Event,
    Facts,
    Filters,
    Flag,
    Match,
    Nav,
    NavKind,
    Prepared,
    Said,
    Scope,
    Span,
    StoredEvent,
    Versions,
)

ENGINES = ("memory", "sqlite")
KEY = "agent:main:main"
OTHER = "agent:main:other"
START = 1_752_969_600_000
STEP = 100_000  # ms between two events, so that rowids allocated from seconds keep the order of time
FEW = 1_000_000  # a limit that nothing here reaches
CANONICAL = frozenset(
    [
        "message",
        "thinking_level_change",
        "model_change",
        "compaction",
        "branch_summary",
        "custom",
        "custom_message",
        "label",
        "session_info",
    ]
)


def open_engine(name: str, home: Path) -> Any:
    """An engine by name; memory has no home."""
    return memory.open_engine() if name == "memory" else sqlite.open_engine(home)


# ── events ───────────────────────────────────────────────────────────────────────────────────────────────────────
def at(step: int) -> int:
    """The time of the n-th event of a test."""
    return START + step * STEP


def record(id_: str | None, type_: str = "message", **more: Any) -> dict[str, Any]:
    """An OpenClaw record; its parent is absent (legacy: the current leaf) unless ``parentId`` is given."""
    made = {"type": type_, **more}
    return made if id_ is None else {**made, "id": id_}


def say(id_: str, text: str, *, role: str = "user", step: int = 0, mirror: bool = False, **more: Any) -> Prepared:
    """A message."""
    return prepared(record(id_, message={"role": role, "content": text}, timestamp=at(step), **more), mirror=mirror)


def leaf(id_: str, target: str | None, *, step: int = 0, **more: Any) -> Prepared:
    """A leaf control: what rewinds and switches branches."""
    return prepared(record(id_, "leaf", targetId=target, timestamp=at(step), **more))


def prepared(source: Any, *, mirror: bool = False) -> Prepared:
    """What the service would make of a record."""
    body = json.dumps(source, ensure_ascii=False).encode()
    fields: Mapping[str, Any] = source if isinstance(source, dict) else {}
    if mirror:
        body = json.dumps({**fields, "mirror": True}, ensure_ascii=False).encode()
    event = Event(nav=nav_of(fields), type=str(fields.get("type", "")), timestamp=_moment(fields.get("timestamp", START)), record=fields)
    return Prepared(event=event, body=body, said=_said(fields, mirror=mirror or bool(fields.get("mirror"))))


def again(event: StoredEvent) -> Prepared:
    """A stored event prepared anew from its body, as the reconciler does."""
    return prepared(json.loads(event.body))


def said_again(event: StoredEvent, versions: Versions) -> Said | None:
    """What a stored event said, by these rules."""
    said = again(event).said
    return said and replace(said, fold_version=versions.fold, redact_version=versions.redact)


def nav_of(fields: Mapping[str, Any]) -> Nav:
    """The part of a record that decides the branch."""
    type_, id_ = fields.get("type"), fields.get("id")
    if type_ in (None, "session"):
        return Nav(kind=NavKind.NONE)
    kind = {"leaf": NavKind.LEAF, "reset": NavKind.RESET}.get(str(type_), NavKind.ENTRY if type_ in CANONICAL else NavKind.OPAQUE)
    return Nav(
        kind=kind,
        id=id_ if isinstance(id_, str) and id_.strip() else None,
        parent=fields.get("parentId"),
        has_parent="parentId" in fields,
        side=fields.get("appendMode") == "side",
        target=fields.get("targetId"),
        has_target="targetId" in fields,
        append_parent=fields.get("appendParentId"),
        has_message="message" in fields,
    )


def text_of(fields: Mapping[str, Any]) -> str | None:
    """Searchable text, as openclaw.md 1.2 says; None when there is none."""
    message, id_ = fields.get("message"), fields.get("id")
    if fields.get("type") != "message" or not isinstance(message, dict) or not isinstance(id_, str) or not id_.strip():
        return None
    content = message.get("content")
    if message.get("role") not in ("user", "assistant"):
        return None
    if isinstance(content, str):
        return content.strip() or None
    if isinstance(message.get("text"), str):
        return str(message["text"]).strip() or None
    blocks = [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []
    kept = [b["text"] for b in blocks if b.get("type") in ("text", "input_text", "output_text") and isinstance(b.get("text"), str)]
    return "\n".join(text for text in kept if text.strip()) or None


def _moment(value: int | str) -> int:
    try:
        return value if isinstance(value, int) else round(datetime.fromisoformat(value).timestamp() * 1000)
    except ValueError:
        return START


def _said(fields: Mapping[str, Any], *, mirror: bool) -> Said | None:
    text = text_of(fields)
    if text is None:
        return None
    folded = fold.fold(text)
    return Said(
        role=fields["message"]["role"],
        spans=(Span(0, 1, "test"),) if "secret" in text else (),
        index_text=folded.text,
        index_parts=folded.parts,
        digest=int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big", signed=True),
        flags=Flag.MIRROR if mirror else Flag.NONE,
        fold_version=fold.VERSION,
        redact_version=1,
    )


# ── sessions ─────────────────────────────────────────────────────────────────────────────────────────────────────
def facts(key: str = KEY, session_id: str | None = None, **more: Any) -> Facts:
    """Facts of a session named after its key."""
    return Facts(key=key, session_id=session_id or "id-" + key.rsplit(":", 1)[-1], **more)


def begin(store: Any, *items: Prepared, key: str = KEY, **more: Any) -> None:
    """A new session that holds these events."""
    with store.writing() as writer:
        writer.create(facts(key, **more))
        writer.append(key, items)


def add(store: Any, *items: Prepared, key: str = KEY, **more: Any) -> list[Any]:
    """Append in one transaction."""
    with store.writing() as writer:
        placed: list[Any] = writer.append(key, items, **more)
    return placed


def current(store: Any, key: str = KEY) -> int:
    """The number of a session's current window."""
    with store.reading() as view:
        return int(view.windows(key)[-1].window)


def complete(store: Any, *, slice_rows: int = 3) -> int:
    """Rebuild whatever is stale, as the reconciler does; the number of slices it took."""
    slices = 0
    while True:
        with store.reading() as view:
            stale = view.stale(EVERYTHING, limit=FEW)
        if not stale:
            return slices
        with store.writing() as writer:
            versions = writer.versions() or Versions(1, 1)
            gap = writer.unindexed(stale[0].window, versions, limit=slice_rows)
            writer.index(stale[0].window, gap.end, {row.seq: said_again(row, versions) for row in gap.events})
        slices += 1
        assert slices < 10_000, f"{stale[0]} stays stale"


# ── questions ────────────────────────────────────────────────────────────────────────────────────────────────────
def clause(*words: str, quoted: bool = False, prefix: bool = False) -> Clause:
    """Words joined by OR."""
    return Clause(terms=tuple(term(word, quoted=quoted, prefix=prefix) for word in words))


def term(text: str, **how: bool) -> Any:
    """A term; these tests never ask for nothing."""
    made = fold.term(text, **how)
    assert made is not None
    return made


def every(*words: str, score: Iterable[str] = ()) -> Match:
    """All words required."""
    return Match(all_of=tuple(clause(word) for word in words), score=tuple(term(word) for word in score))


def found(store: Any, match: Match | str, scope: Scope = EVERYTHING, filters: Filters | None = None, **how: Any) -> list[Any]:
    """Candidates, in the engine's order."""
    wanted = every(match) if isinstance(match, str) else match
    with store.reading() as view:
        return list(view.candidates(wanted, scope, filters or Filters(), **{"limit": FEW, **how}).candidates)


def ids(store: Any, match: Match | str, scope: Scope = EVERYTHING, filters: Filters | None = None, **how: Any) -> list[str | None]:
    """Event ids of the candidates, in the engine's order."""
    hits = found(store, match, scope, filters, **how)
    with store.reading() as view:
        names = {window: [event.id for event in view.events(window, limit=FEW)] for window in {hit.window for hit in hits}}
    return [names[hit.window][hit.seq] for hit in hits]


def path_ids(store: Any, key: str = KEY) -> list[str | None]:
    """Ids along the visible path of the current window."""
    with store.reading() as view:
        return [event.id for event in view.path(view.windows(key)[-1].window, start=0, count=FEW)]


def count(store: Any, key: str = KEY) -> int:
    """A session's message count."""
    with store.reading() as view:
        return int(view.session(key).message_count)


# ── readings that can be compared between engines ────────────────────────────────────────────────────────────────
def events_of(view: Any) -> dict[str, Any]:
    """Every row of every window, by names instead of numbers, without what depends on the index."""
    return {
        row.facts.key: [
            (w.session_id, w.ordinal, [(e.seq, e.id, e.type, e.timestamp, e.body) for e in view.events(w.window, limit=FEW)])
            for w in view.windows(row.facts.key)
        ]
        for row in view.sessions(EVERYTHING)
    }


def matched(view: Any, words: Iterable[str]) -> dict[str, set[Any]]:
    """What each word finds, by names instead of numbers."""
    names = {w.window: w.session_id for row in view.sessions(EVERYTHING) for w in view.windows(row.facts.key)}
    return {
        word: {
            (c.key, names[c.window], c.seq, c.role, c.timestamp, c.flags, c.digest, c.length, c.counts, c.span)
            for c in view.candidates(every(word, score=words), EVERYTHING, Filters(), limit=FEW).candidates
        }
        for word in words
    }


def snapshot(store: Any, words: Iterable[str]) -> dict[str, Any]:
    """Everything that two engines with the same history must agree on."""
    with store.reading() as view:
        rows = view.sessions(EVERYTHING)
        windows = {row.facts.key: view.windows(row.facts.key) for row in rows}
        totals = {name: number for name, number in view.totals().items() if name != "bytes"}
        return {
            "sessions": [(r.facts, r.message_count, r.stale, r.source_path, r.source_missing) for r in rows],
            "windows": {
                key: [(w.session_id, w.ordinal, w.reason, w.findable, w.events, w.path, w.leaf) for w in ws] for key, ws in windows.items()
            },
            "events": {
                w.session_id: [(e.seq, e.id, e.position, e.shown, e.body, e.spans, e.flags) for e in view.events(w.window, limit=FEW)]
                for ws in windows.values()
                for w in ws
            },
            "paths": {
                (w.session_id, shown): [e.seq for e in view.path(w.window, start=0, count=FEW, shown=shown)]
                for ws in windows.values()
                for w in ws
                for shown in (False, True)
            },
            "matches": matched(view, words),
            "frequencies": {word: view.frequency(term(word), EVERYTHING, bound=FEW) for word in words},
            "indexed": view.indexed(EVERYTHING, bound=FEW),
            "totals": totals,
            "sources": view.sources(),
        }


def check_index(store: Any, words: Iterable[str]) -> None:
    """No word is found that the visible path does not hold, and each of its words is, unless the window is stale and it is above ``keep``."""
    with store.reading() as view:
        keeps = {stale.window: stale.keep for stale in view.stale(EVERYTHING, limit=FEW)}
        hits = {
            word: {(c.window, c.seq) for c in view.candidates(every(word), EVERYTHING, Filters(), limit=FEW).candidates} for word in words
        }
        for row in view.sessions(EVERYTHING):
            for window in view.windows(row.facts.key):
                for event in view.path(window.window, start=0, count=FEW) if window.findable else []:
                    said = again(event).said
                    for word in set(f"{said.index_text} {said.index_parts}".split()) & set(words) if said else ():
                        where = (window.window, event.seq)
                        assert where in hits[word] or event.position >= keeps.get(window.window, FEW), (word, event)
                        hits[word].discard(where)
        assert not any(hits.values()), hits

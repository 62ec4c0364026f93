"""Events made ready for an engine, and stored events read back as text: the only place that joins searchable, redact and fold.

``prepare`` is pure. What it makes holds no secret in its index text; the record itself stays as it was said.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import msgspec

from wesaid import importers
from wesaid.rules import fold, searchable
from wesaid.rules.redact import Redactor, apply, joined
from wesaid.values import Event, Flag, NavKind, Prepared, Said, SessionRow, StoredEvent

_DIGEST_BYTES = 8
_RECORD = msgspec.json.Decoder(dict[str, Any])


class Words(NamedTuple):
    """What a stored event's person or assistant said: redacted, unless raw text was asked for."""

    role: str
    text: str
    redacted: bool


def prepare(redactor: Redactor, dialect: str, event: Event, *, subagent: bool = False) -> Prepared:
    """An event with its index text, spans and versions (design.md, "Where a message goes")."""
    body = msgspec.json.encode(event.record)
    if event.nav.kind is NavKind.NONE and not event.nav.has_message:  # on no path: a second telling of another event's words, if any
        return Prepared(event=event, body=body, said=None)
    return Prepared(event=event, body=body, said=said_by(redactor, dialect, event.record, subagent=subagent))


def said_by(redactor: Redactor, dialect: str, record: Mapping[str, Any], *, subagent: bool = False) -> Said | None:
    """What a record's person or assistant said, ready for the index; None when nobody said anything."""
    view = importers.view(dialect, record)
    found = searchable.searchable(view, joined) if view is not None else None
    if found is None:
        return None
    spans = redactor.spans(found.text)
    safe = apply(found.text, spans) if spans else found.text
    folded = fold.fold(safe)
    return Said(
        role=found.role,
        spans=spans,
        index_text=folded.text,
        index_parts=folded.parts,
        digest=digest(safe),  # of what everybody may see: a comparison with it must not confirm a secret
        flags=found.flags | (Flag.SUBAGENT if subagent else Flag.NONE),
        fold_version=fold.VERSION,
        redact_version=redactor.version,
    )


def digest(text: str) -> int:
    """A signed 64-bit hash of a text whose white space does not matter: tells copies, and reveals nothing."""
    made = hashlib.blake2b(" ".join(text.split()).encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest()
    return int.from_bytes(made, "big", signed=True)


def again(redactor: Redactor, dialect: str, stored: StoredEvent, *, subagent: bool = False) -> Prepared:
    """A stored event prepared anew, for an index row that is missing or old."""
    record = readable(stored) or {}
    view = importers.view(dialect, record) or record
    event = Event(nav=searchable.nav_of(view), type=stored.type, timestamp=stored.timestamp, record=record)
    return prepare(redactor, dialect, event, subagent=subagent)


def record_of(stored: StoredEvent) -> dict[str, Any]:
    """The source's record of a stored event. msgspec.DecodeError when what is stored is none: where that has to be known, see ``readable``."""
    return _RECORD.decode(stored.body)


def readable(stored: StoredEvent) -> dict[str, Any] | None:
    """The record; None when what is stored is none.

    Such a row is damage, which `doctor` names. An answer passes it over and says so (``lost``): the rows beside it are not its hostages.
    """
    try:
        return record_of(stored)
    except (msgspec.DecodeError, RecursionError):  # RecursionError: nested deeper than anything that we store
        return None


def words_of(redactor: Redactor, dialect: str, stored: StoredEvent, *, reveal: bool = False) -> Words | None:
    """What was said in a stored event; None when it is not searchable.

    Stored spans are sliced when the same rules made them; older rows, and those that hold a value of today's environment, are redacted anew.
    """
    record = readable(stored)
    view = importers.view(dialect, record) if record is not None else None
    found = searchable.searchable(view, joined) if view is not None else None
    if found is None:
        return None
    if reveal:
        return Words(found.role, found.text, redacted=False)
    spans = redactor.outgoing(found.text, stored.spans, stored.redact_version)
    return Words(found.role, apply(found.text, spans) if spans else found.text, redacted=bool(spans))


def safe(redactor: Redactor, row: SessionRow) -> SessionRow:
    """A session's row without secrets in its texts; they were redacted when they were stored, but perhaps by older rules."""
    facts = row.facts
    title, label, project, path = (
        redactor.redact(text) if text else text for text in (facts.title, facts.label, facts.project, row.source_path)
    )
    if (title, label, project, path) == (facts.title, facts.label, facts.project, row.source_path):
        return row
    return replace(row, facts=replace(facts, title=title, label=label, project=project), source_path=path)


def view_of(dialect: str, stored: StoredEvent) -> Mapping[str, Any]:
    """A stored event as an OpenClaw-shaped record, raw; empty when it cannot be read."""
    record = readable(stored) or {}
    return importers.view(dialect, record) or record


def lost(count: int) -> str:
    """What an answer says when it passed over rows that cannot be read."""
    return f"{count} stored {'row was' if count == 1 else 'rows were'} passed over, unreadable; `wesaid doctor` says where, `wesaid doctor --fix` mends it"

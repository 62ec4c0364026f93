"""Events made ready for an engine, and stored events read back as text: the only place that joins searchable, redact and fold.

``prepare`` is pure. What it makes holds no secret in its index text; the record itself stays as it was said.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from wesaid import importers
from wesaid.rules import fold, redact, searchable
from wesaid.values import Event, Flag, Prepared, Said, StoredEvent

_DIGEST_BYTES = 8


class Words(NamedTuple):
    """What a stored event's person or assistant said: redacted, unless raw text was asked for."""

    role: str
    text: str
    redacted: bool


def prepare(dialect: str, event: Event, *, subagent: bool = False) -> Prepared:
    """An event with its index text, spans and versions (design.md, "Where a message goes")."""
    body = msgspec.json.encode(event.record)
    view = importers.view(dialect, event.record)
    found = searchable.searchable(view) if view is not None else None
    if found is None:
        return Prepared(event=event, body=body, said=None)
    spans = redact.spans(found.text)
    folded = fold.fold(redact.apply(found.text, spans) if spans else found.text)
    said = Said(
        role=found.role,
        spans=spans,
        index_text=folded.text,
        index_parts=folded.parts,
        digest=digest(found.text),
        flags=found.flags | (Flag.SUBAGENT if subagent else Flag.NONE),
        fold_version=fold.VERSION,
        redact_version=redact.VERSION,
    )
    return Prepared(event=event, body=body, said=said)


def digest(text: str) -> int:
    """A signed 64-bit hash of a text whose white space does not matter: tells copies, and reveals nothing."""
    made = hashlib.blake2b(" ".join(text.split()).encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest()
    return int.from_bytes(made, "big", signed=True)


def again(dialect: str, stored: StoredEvent, *, subagent: bool = False) -> Prepared:
    """A stored event prepared anew, for an index row that is missing or old."""
    record = record_of(stored)
    view = importers.view(dialect, record) or record
    event = Event(nav=searchable.nav_of(view), type=stored.type, timestamp=stored.timestamp, record=record)
    return prepare(dialect, event, subagent=subagent)


def record_of(stored: StoredEvent) -> dict[str, Any]:
    """The source's record of a stored event."""
    record: dict[str, Any] = msgspec.json.decode(stored.body)
    return record


def words_of(dialect: str, stored: StoredEvent, *, reveal: bool = False) -> Words | None:
    """What was said in a stored event; None when it is not searchable.

    Stored spans are sliced when the redactor made them at its present version; older rows are redacted anew on the way out.
    """
    view = importers.view(dialect, record_of(stored))
    found = searchable.searchable(view) if view is not None else None
    if found is None:
        return None
    if reveal:
        return Words(found.role, found.text, redacted=False)
    spans = stored.spans if stored.redact_version == redact.VERSION else redact.spans(found.text)
    return Words(found.role, redact.apply(found.text, spans) if spans else found.text, redacted=bool(spans))


def view_of(dialect: str, stored: StoredEvent) -> Mapping[str, Any]:
    """A stored event as an OpenClaw-shaped record, raw."""
    record = record_of(stored)
    return importers.view(dialect, record) or record

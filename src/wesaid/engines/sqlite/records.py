"""How values are packed into columns: record bodies, navigation flags, spans. Both ways, and nothing else.

A body's first byte names its coding, so that better ones can join: ``0`` the JSON as it is, ``1`` zlib.
"""

from __future__ import annotations

import json
import zlib

from wesaid import limits
from wesaid.errors import StoreDamagedError
from wesaid.values import Nav, NavKind, Span

_PLAIN, _ZLIB = b"\x00", b"\x01"
_KINDS = (NavKind.ENTRY, NavKind.RESET, NavKind.LEAF, NavKind.OPAQUE, NavKind.NONE)
_HAS_PARENT, _SIDE, _HAS_TARGET, _HAS_MESSAGE = 8, 16, 32, 64  # bits above the kind; part of the format
SHIFT = 32  # a place is window << 32 | seq, a spot window << 32 | position (schema)
LOW = 0xFFFFFFFF  # the seq of a place, the position of a spot
SHOWN = 128  # history shows the event: somebody said something, or a boundary
SPEAKS = f"v.nav & {SHOWN} AND v.nav & 7 <> {_KINDS.index(NavKind.RESET)} AND v.type <> 'compaction'"  # SQL, of event v: it is no boundary


def pack_body(body: bytes) -> bytes:
    """A record as stored. Level 1: three quarters of the gain at a fifth of the time."""
    if len(body) < limits.COMPRESS_FROM_BYTES:
        return _PLAIN + body
    packed = zlib.compress(body, 1)
    return _ZLIB + packed if len(packed) < len(body) else _PLAIN + body


def unpack_body(stored: bytes) -> bytes:
    """The record's JSON. StoreDamagedError when the coding is unknown or broken."""
    coding, rest = stored[:1], stored[1:]
    if coding == _PLAIN:
        return rest
    try:
        if coding == _ZLIB:
            return zlib.decompress(rest)
    except zlib.error as error:
        raise StoreDamagedError("a stored event cannot be unpacked", hint="copy the database aside and import its source again") from error
    raise StoreDamagedError("a stored event has a coding that this wesaid does not know", hint="upgrade wesaid as it was installed")


def pack_nav(nav: Nav) -> int:
    """A Nav's kind and flags in one integer."""
    return (
        _KINDS.index(nav.kind)
        | (_HAS_PARENT if nav.has_parent else 0)
        | (_SIDE if nav.side else 0)
        | (_HAS_TARGET if nav.has_target else 0)
        | (_HAS_MESSAGE if nav.has_message else 0)
    )


def unpack_nav(packed: int, *columns: str | None) -> Nav:
    """A Nav from its integer and the columns ``id, parent, target, append_parent``."""
    identity, parent, target, append_parent = columns
    return Nav(
        kind=_KINDS[packed & 7],
        id=identity,
        parent=parent,
        has_parent=bool(packed & _HAS_PARENT),
        side=bool(packed & _SIDE),
        target=target,
        has_target=bool(packed & _HAS_TARGET),
        append_parent=append_parent,
        has_message=bool(packed & _HAS_MESSAGE),
    )


def pack_spans(spans: tuple[Span, ...]) -> str | None:
    """Spans as JSON, None for none: the usual case costs nothing."""
    return json.dumps([[s.start, s.end, s.kind] for s in spans]) if spans else None


def unpack_spans(stored: str | None) -> tuple[Span, ...]:
    """The reverse."""
    return tuple(Span(start, end, kind) for start, end, kind in json.loads(stored)) if stored else ()

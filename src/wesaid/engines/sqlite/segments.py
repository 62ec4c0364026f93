"""FTS5's structure record: which segments an index consists of, and which hold rows that were deleted (ext/fts5/fts5_index.c).

A delete in a ``contentless_delete`` table adds a tombstone beside a segment; the words stay in the segment until a merge writes them
no more. So the words of a delete are gone when every segment that had tombstones then is gone.
"""

from __future__ import annotations

from typing import Final

import apsw

from wesaid.engines.sqlite.connection import fetch

_STRUCTURE: Final = 10  # rowid of the structure record in the data table (format)
_COOKIE: Final = 4  # bytes of the configuration cookie before it
_V2: Final = b"\xff\x00\x00\x01"  # marks the form with origins, which contentless_delete tables have
_LAST: Final = 9  # bytes of the longest varint, whose last byte has eight bits
_SEVEN, _MORE = 0x7F, 0x80  # bits of a varint's byte

Segment = tuple[int, int, int]  # id and range of origins: together they never name another segment later


def with_tombstones(db: apsw.Connection, table: str) -> set[Segment]:
    """The segments that hold deleted rows."""
    return {segment for segment, tombstones in _segments(db, table) if tombstones}


def present(db: apsw.Connection, table: str) -> set[Segment]:
    """All segments of an index."""
    return {segment for segment, _ in _segments(db, table)}


def _segments(db: apsw.Connection, table: str) -> list[tuple[Segment, int]]:
    rows = fetch(db, f"SELECT block FROM {table}_data WHERE id = ?", (_STRUCTURE,))
    if not rows or not rows[0][0]:
        return []
    record = rows[0][0]
    at = _COOKIE
    modern = record[at : at + len(_V2)] == _V2
    at += len(_V2) if modern else 0

    def take(count: int) -> list[int]:
        nonlocal at
        numbers = []
        for _ in range(count):
            number, at = _varint(record, at)
            numbers.append(number)
        return numbers

    levels, _, _ = take(3)
    found: list[tuple[Segment, int]] = []
    for _ in range(levels):
        _, segments = take(2)
        for _ in range(segments):
            name, _, _ = take(3)
            first, last, pages, _, _ = take(5) if modern else (0, 0, 0, 0, 0)
            found.append(((name, first, last), pages))
    return found


def _varint(record: bytes, at: int) -> tuple[int, int]:
    number = 0
    for _ in range(1, _LAST):
        byte = record[at]
        at += 1
        number = number << 7 | byte & _SEVEN
        if byte < _MORE:
            return number, at
    return number << 8 | record[at], at + 1

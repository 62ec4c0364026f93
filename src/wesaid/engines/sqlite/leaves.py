"""Rows of leaf pages that no tree leads to any more, since a page above them is damaged: every page of a file is looked at, as SQLite's format says.

Knows the file format (pages, cells, records, overflow chains) and no table: whoever calls it says how a row looks. Everything is checked against
the page's bounds, so that noise gives nothing and no loop; a page's free space is never read, since what was deleted may have lain there.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Final

_TABLE_LEAF: Final = 0x0D  # the first byte of a leaf of a rowid table
_FILE_HEADER: Final = 100  # bytes before the first page's own header
_TEXT_FROM: Final = 13  # the first serial type of a text; blobs are the even ones from 12
_BLOB_FROM: Final = 12  # see above
_INTEGERS: Final = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}  # bytes of an integer, by serial type
_ZERO, _ONE, _FLOAT = 8, 9, 7  # serial types of the constants 0 and 1, and of a float
_LONGEST: Final = 1 << 30  # bytes of a record: SQLite's own bound is a little less
_USED_MIN: Final = 23  # format: what a local payload is computed with (M = (U - 12) * 32 / 255 - 23)

Value = int | float | str | bytes | None
Row = tuple[int, list[Value]]
Read = Callable[[int], bytes]  # a page by its number from 1; fewer bytes at the end of a cut file


def rows(read: Read, count: int, size: int, columns: int) -> Iterator[Row]:
    """``(rowid, values)`` of each record with so many columns in any table leaf among ``count`` pages of ``size`` bytes."""
    for number in range(1, count + 1):
        page = read(number)
        start = _FILE_HEADER if number == 1 else 0
        if len(page) != size or page[start] != _TABLE_LEAF:
            continue
        cells = int.from_bytes(page[start + 3 : start + 5], "big")
        if start + 8 + 2 * cells > size:
            continue
        for at in struct.unpack_from(f">{cells}H", page, start + 8):
            try:
                row = _cell(read, page, at, size, columns)
            except (IndexError, ValueError, UnicodeDecodeError, struct.error):
                continue
            if row is not None:
                yield row


def _cell(read: Read, page: bytes, at: int, size: int, columns: int) -> Row | None:
    length, at = _varint(page, at)
    rowid, at = _varint(page, at)
    if not 0 < length < _LONGEST:
        return None
    rowid = rowid - (1 << 64) if rowid >> 63 else rowid  # 64, 63: two's complement
    most = size - 35  # format: a payload up to this stays in its page
    local = length
    if length > most:
        least = (size - 12) * 32 // 255 - _USED_MIN  # format
        local = least + (length - least) % (size - 4)
        local = local if local <= most else least
    if at + local > size:
        return None
    kinds = _kinds(page[at : at + local])
    if kinds is None or len(kinds[0]) != columns or kinds[1] + sum(map(_width, kinds[0])) != length:
        return None  # before any overflow page is read
    payload = page[at : at + local]
    if local < length:
        payload += _overflow(read, page[at + local : at + local + 4], length - local, size)
    return (rowid, _values(payload, *kinds)) if len(payload) == length else None


def _overflow(read: Read, first: bytes, length: int, size: int) -> bytes:
    """The rest of a record; shorter when its chain is broken."""
    parts: list[bytes] = []
    number = int.from_bytes(first, "big")
    while number and length > 0:
        page = read(number)
        if len(page) != size:
            break
        parts.append(page[4 : 4 + min(length, size - 4)])
        length -= len(parts[-1])
        number = int.from_bytes(page[:4], "big")
    return b"".join(parts)


def _kinds(payload: bytes) -> tuple[list[int], int] | None:
    """A record's serial types, and where its values begin; None when its header is not all here."""
    end, at = _varint(payload, 0)
    if not at <= end <= len(payload):
        return None
    kinds = []
    while at < end:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    return (kinds, end) if at == end else None


def _width(kind: int) -> int:
    if kind >= _BLOB_FROM:
        return (kind - _BLOB_FROM) // 2
    return 8 if kind == _FLOAT else _INTEGERS.get(kind, 0)


def _values(payload: bytes, kinds: list[int], at: int) -> list[Value]:
    made: list[Value] = []
    for kind in kinds:
        piece = payload[at : at + _width(kind)]
        at += len(piece)
        if kind >= _TEXT_FROM and kind % 2:
            made.append(piece.decode("utf-8"))
        elif kind >= _BLOB_FROM:
            made.append(piece)
        elif kind == _FLOAT:
            made.append(struct.unpack(">d", piece)[0])
        elif kind in _INTEGERS:
            made.append(int.from_bytes(piece, "big", signed=True))
        else:
            made.append({_ZERO: 0, _ONE: 1}.get(kind))
    return made


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """SQLite's variable-length integer (unsigned), and where it ends. IndexError at the end of the data."""
    value = 0
    for _ in range(8):
        byte = data[at]
        at += 1
        value = value << 7 | byte & 0x7F  # seven bits a byte
        if byte < 0x80:  # the last one
            return value, at
    return value << 8 | data[at], at + 1


__all__ = ["Read", "Row", "rows"]

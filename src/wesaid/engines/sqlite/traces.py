"""Looking for pieces of deleted text in a database's bytes: the file and its log, every offset, and what of it live rows explain.

It refuses to trust statements: the bytes are read, through SQLite's own file layer (closing a plain descriptor of the file would drop the locks of
every connection of this process). The ``-shm`` beside them holds page numbers by its format, never content.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Final

import apsw

from wesaid import limits
from wesaid.engines.sqlite import pages
from wesaid.engines.sqlite.connection import fetch
from wesaid.values import Traces

PIECE: Final = limits.PIECE_BYTES
_LOG_HEADER: Final = 32  # bytes before the first frame of a log (format)
_FRAME_HEADER: Final = 24  # bytes before the page of a frame (format)
_FTS: Final = ("words_data", "words_idx", "titles_data", "titles_idx")


def look(db: apsw.Connection, path: Path, wanted: frozenset[bytes]) -> Traces:
    """Scan file and log for pieces of ``PIECE`` bytes. A piece that stands in a live row is somebody else's too, and is counted as shared."""
    pieces = {int.from_bytes(piece, sys.byteorder): piece for piece in wanted}
    owner = dict(fetch(db, "SELECT pageno, name FROM dbstat")) if wanted else {}
    sought = frozenset(pieces)
    anywhere, live, indexed = set[int](), set[int](), set[int]()
    size = int(db.pragma("page_size") or 0)
    log = path.with_name(path.name + "-wal")
    total = 0
    for numbers, block, stride in chain(_blocks(path, size), _frames(log, size)):
        total += len(numbers) * stride
        for count, number in enumerate(numbers) if _found(block, sought) else ():
            page = block[count * stride : (count + 1) * stride + PIECE - 1]
            found = _found(page, sought)
            anywhere |= found
            dead = pages.nobodys(page[:size], number)
            standing = {one for one in found if not _only_in(page, pieces[one], dead)}
            if owner.get(number) in _FTS:
                indexed |= standing  # only words that the index has by right explain these
            elif number in owner:
                live |= standing
                sought -= standing  # what a row has needs no second look
    live |= _words(db, indexed - live, pieces)
    files = (path.name, log.name) if log.exists() else (path.name,)
    return Traces(files=files, bytes=total, pieces=len(wanted), shared=len(anywhere & live), left=len(anywhere - live))


def _blocks(path: Path, size: int) -> Iterator[tuple[range, bytes, int]]:
    """The file in blocks: the numbers of a block's pages, its bytes and a few of the next (no piece hides across the two), bytes a page."""
    file = apsw.VFSFile("", str(path), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])
    try:
        end, step = file.xFileSize() // size, limits.PROOF_BLOCK_PAGES
        for start in range(0, end, step):
            last = min(start + step, end)
            yield range(start + 1, last + 1), file.xRead(min((last - start) * size + PIECE - 1, (end - start) * size), start * size), size
    finally:
        file.xClose()


def _frames(log: Path, size: int) -> Iterator[tuple[list[int], bytes, int]]:
    """The log, frame by frame, old ones that wait to be overwritten too: each is a page (format: a header, then frames of header and page)."""
    if not log.exists():
        return
    with log.open("rb") as stream:
        stream.read(_LOG_HEADER)
        while frame := stream.read(_FRAME_HEADER + size):
            yield [int.from_bytes(frame[:4], "big")], frame[_FRAME_HEADER:], len(frame)


def _found(data: bytes, numbers: frozenset[int]) -> set[int]:
    """Which pieces stand in ``data``, at whatever offset."""
    found: set[int] = set()
    for shift in range(min(PIECE, len(data) - PIECE + 1)):
        view = memoryview(data)[shift:]
        found.update(numbers.intersection(view[: len(view) // PIECE * PIECE].cast("Q")))
    return found


def _only_in(data: bytes, piece: bytes, dead: list[tuple[int, int]]) -> bool:
    """Whether every place of a piece lies in a range that is nobody's."""
    at = data.find(piece)
    while at >= 0:
        if not any(start <= at < end for start, end in dead):
            return False
        at = data.find(piece, at + 1)
    return True


def _words(db: apsw.Connection, suspects: set[int], pieces: dict[int, bytes]) -> set[int]:
    """Pieces that are part of a word which some message or title has."""
    if not suspects:
        return set()
    db.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.title_words USING fts5vocab (main, titles, row)")
    known = "SELECT 1 FROM word WHERE instr(word, ?1) UNION ALL SELECT 1 FROM temp.title_words WHERE instr(term, ?1) LIMIT 1"
    return {one for one in suspects if (text := pieces[one].decode("utf-8", "ignore")) and db.execute(known, (text,)).get}

"""Looking for pieces of deleted text in a database's bytes: the file and its log, every offset, and what of it live rows explain.

It refuses to trust statements: the bytes are read, through SQLite's own file layer (closing a plain descriptor of the file would drop the locks of
every connection of this process). The ``-shm`` beside them holds page numbers by its format, never content.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import apsw

from wesaid import limits
from wesaid.engines.sqlite import pages
from wesaid.engines.sqlite.connection import fetch
from wesaid.values import Traces

PIECE: Final = limits.PIECE_BYTES
_FTS: Final = ("words_data", "words_idx", "titles_data", "titles_idx")


def look(db: apsw.Connection, path: Path, wanted: frozenset[bytes]) -> Traces:
    """Scan file and log for pieces of ``PIECE`` bytes. A piece that stands in a live row is somebody else's too, and is counted as shared."""
    pieces = {int.from_bytes(piece, sys.byteorder): piece for piece in wanted}
    owner = dict(fetch(db, "SELECT pageno, name FROM dbstat")) if wanted else {}
    sought = frozenset(pieces)
    anywhere, live, indexed = set[int](), set[int](), set[int]()
    size = int(db.pragma("page_size") or 0)
    total = 0
    for first, block in _blocks(path, size):
        whole = len(block) - len(block) % size
        total += whole
        for at in range(0, whole, size) if _found(block, sought) else ():
            number, page = first + at // size, block[at : at + size + PIECE - 1]
            found = _found(page, sought)
            anywhere |= found
            dead = pages.nobodys(page[:size], number)
            standing = {one for one in found if not _only_in(page, pieces[one], dead)}
            if owner.get(number) in _FTS:
                indexed |= standing  # only words that the index has by right explain these
            elif number in owner:
                live |= standing
                sought -= standing  # what a row has needs no second look
    log = path.with_name(path.name + "-wal")
    if log.exists():
        tail = b""
        with log.open("rb") as stream:
            while chunk := stream.read(limits.READ_CHUNK_BYTES):
                total += len(chunk)
                anywhere |= _found(tail + chunk, sought)
                tail = chunk[-PIECE + 1 :]
    live |= _words(db, indexed - live, pieces)
    files = (path.name, log.name) if log.exists() else (path.name,)
    return Traces(files=files, bytes=total, pieces=len(wanted), shared=len(anywhere & live), left=len(anywhere - live))


def _blocks(path: Path, size: int) -> Iterator[tuple[int, bytes]]:
    """The file in blocks of pages, each with the number of its first and a few bytes of the next, so that no piece hides across the two."""
    file = apsw.VFSFile("", str(path), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])
    try:
        end, step = file.xFileSize(), size * limits.PROOF_BLOCK_PAGES
        for start in range(0, end, step):
            yield start // size + 1, file.xRead(min(step + PIECE - 1, end - start), start)
    finally:
        file.xClose()


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

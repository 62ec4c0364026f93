"""The only file that opens other programs' files: bytes in, JSON records out, however damaged the file is.

It refuses to know what a record means. Invariants: memory stays within a few lines (``limits.LINE_BYTES`` is the longest that is kept);
work is linear in the bytes read; nothing raises on content, only on a file that cannot be read (``SourceError``); a record that comes
out can be written as JSON and bound by SQLite: no lone surrogate is left in it, and its base64 payloads are replaced by size and digest.
U+0000 stays in strings, since an event is kept as it was; whoever makes text or ids of it takes it out.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from wesaid import limits
from wesaid.errors import SourceError
from wesaid.importers import coding
from wesaid.importers.coding import UTF8, Encoding
from wesaid.importers.payloads import omit_payloads
from wesaid.importers.repairing import clean, parse

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file: its records (two when a newline was lost), and what was lost of it.

    ``end`` is the offset to go on from; of a pending line and of a piece it is the line's beginning.
    """

    end: int
    records: tuple[Record, ...]
    damaged: int = 0  # 1: something of this line is lost
    pending: bool = False  # the last line, unterminated and not whole: still being written
    piece: bool = False  # part of a line that is too long to keep, which goes on: whoever has no more time may stop here


@dataclass(frozen=True, slots=True)
class Identity:
    """What tells that a file is still the same one: the digest covers its first ``head`` bytes."""

    size: int
    mtime_ns: int
    head_digest: str  # `<bytes>:<sha256>`


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────────────
def printable(path: str) -> str:
    """A path as text that can be stored and written: bytes of a name that are no UTF-8 are spelled out."""
    try:
        return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # a surrogate that no file name can hold
        return path.encode("utf-8", "backslashreplace").decode("utf-8")


def failure(path: str, error: OSError | ValueError) -> SourceError:
    """A file system error as ours, with the path and what to do."""
    hint = "check that the path can be read"
    if isinstance(error, PermissionError):
        mode = "u+rx" if os.path.isdir(path) else "u+r"  # noqa: PTH112 - bytes of no encoding may be in it
        hint = f"give this user read permission (chmod {mode}), or leave the path out"
    elif isinstance(error, FileNotFoundError):
        hint = "check the path; it may have been moved or cleaned up"
    shown = printable(path)
    return SourceError(
        f"cannot read {shown}: {getattr(error, 'strerror', error) or type(error).__name__}", hint=hint, details={"path": shown}
    )


def _open(path: str) -> BufferedReader:
    """A regular file, opened for reading. A pipe or device may never end, or never open, so it is refused before."""
    try:
        if stat.S_ISREG(Path(path).stat().st_mode):
            return Path(path).open("rb")
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise failure(path, error) from error
    shown = printable(path)
    raise SourceError(
        f"cannot read {shown}: not a regular file", hint="give a transcript file or a folder of them", details={"path": shown}
    )


def identify(path: str, *, like: str = "") -> Identity:
    """Size, time and head digest of a file; ``like`` is an older digest, whose number of bytes is taken again.

    What a database has in its write-ahead log counts as part of it, as does the time of that log.

    Raises:
        SourceError: the file cannot be read.
    """
    before = like.partition(":")[0]
    with _open(path) as handle:
        try:
            now = os.fstat(handle.fileno())
            length = int(before) if before.isdecimal() else min(now.st_size, limits.HEAD_DIGEST_BYTES)
            head = handle.read(min(length, limits.HEAD_DIGEST_BYTES))
        except OSError as error:
            raise failure(path, error) from error
    size, changed = now.st_size, now.st_mtime_ns
    with suppress(OSError, ValueError):
        log = Path(f"{os.path.realpath(path)}-wal").stat()
        size, changed = size + log.st_size, max(changed, log.st_mtime_ns)
    return Identity(size, changed, f"{len(head)}:{hashlib.sha256(head).hexdigest()}")


def peek(path: str, count: int, *, absent_ok: bool = False) -> bytes:
    """The first ``count`` bytes of a file. SourceError when it cannot be read; nothing when it may be absent and is."""
    try:
        with _open(path) as handle:
            return handle.read(count)
    except (OSError, SourceError) as error:
        if absent_ok and not os.path.lexists(path):
            return b""
        raise failure(path, error) if isinstance(error, OSError) else error from None


def digest_before(path: str, offset: int) -> str:
    """Digest of the bytes just before an offset: they must be the same for a reading to go on from there."""
    with _open(path) as handle:
        try:
            handle.seek(max(0, offset - limits.HEAD_DIGEST_BYTES))
            return hashlib.sha256(handle.read(min(offset, limits.HEAD_DIGEST_BYTES))).hexdigest()
        except OSError as error:
            raise failure(path, error) from error


def contains(path: str, words: str, *, start: int = 0) -> bool:
    """Whether a file may say something from ``start`` on (see ``coding``), in the file's own encoding; memory is one chunk."""
    kept = 0  # bytes of the chunk before that the words may have begun in
    with _open(path) as handle:
        try:
            encoding = coding.of(handle.read(coding.MARK_BYTES))
            most = encoding.longest(words)
            held = bytearray(limits.READ_CHUNK_BYTES + most)
            handle.seek(max(0, start - most))
            while got := handle.readinto(memoryview(held)[kept:]):
                end = kept + got
                if coding.may_say(memoryview(held)[:end], words, encoding):
                    return True
                kept = min(end, most)
                held[:kept] = held[end - kept : end]
        except OSError as error:
            raise failure(path, error) from error
    return False


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of a tree: its path, and its files by name with their time of last change in Unix milliseconds."""

    path: str
    files: Mapping[str, int]


def walk(top: str) -> Iterator[Folder | SourceError]:
    """Every folder of a tree, parents first, names sorted; a folder that cannot be read gives its error, and the walk goes on.

    Links to folders are not followed, so that no walk goes in circles; depth and number of files are bounded.
    """
    waiting, seen = [(top, 0)], 0
    while waiting:
        path, depth = waiting.pop()
        try:
            with os.scandir(path) as entries:
                inside = sorted(entries, key=lambda entry: entry.name)
            folders = [entry.path for entry in inside if entry.is_dir(follow_symlinks=False)]
            files = dict(_file_times(inside))
        except OSError as error:
            yield failure(path, error)
            continue
        seen += len(files)
        if seen > limits.WALK_FILES or (depth >= limits.WALK_DEPTH and folders):
            what = f"more than {limits.WALK_FILES} files" if seen > limits.WALK_FILES else f"folders deeper than {limits.WALK_DEPTH}"
            yield SourceError(
                f"{printable(top)} has {what}", hint="name the folder that holds the transcripts", details={"path": printable(path)}
            )
            folders = []
        yield Folder(path, files)
        waiting.extend((folder, depth + 1) for folder in reversed(folders))
        if seen > limits.WALK_FILES:
            return


def _file_times(entries: Iterable[os.DirEntry[str]]) -> Iterator[tuple[str, int]]:
    """Names of the files among entries, with their times; a link that leads nowhere, or to itself, is no file."""
    for entry in entries:
        with suppress(OSError):
            if entry.is_file():
                yield entry.name, entry.stat().st_mtime_ns // limits.MILLISECOND_NS


def beginning(path: str) -> bytes:
    """The first bytes of a file, to tell what it is."""
    return peek(path, limits.HEAD_DIGEST_BYTES)


def document(path: str) -> Record:
    """A file that is one JSON object (``sessions.json``). SourceError when it is none, or larger than ``limits.LINE_BYTES``."""
    with _open(path) as handle:
        try:
            data = handle.read(limits.LINE_BYTES + 1)
        except OSError as error:
            raise failure(path, error) from error
    try:
        value = clean(json.loads(data.decode("utf-8-sig", "replace"), strict=False)) if len(data) <= limits.LINE_BYTES else None
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        shown = printable(path)
        raise SourceError(f"{shown} is not a JSON object", hint="mend or remove it, then import again", details={"path": shown})
    return value


def head(path: str) -> list[Record]:
    """The records of a file's beginning, for guessing: at most ``GUESS_LINES`` lines of ``GUESS_BYTES`` bytes; none behind one too long to keep."""
    found: list[Record] = []
    for number, line in enumerate(lines(path)):
        found.extend(line.records)
        if line.piece or number >= limits.GUESS_LINES or line.end >= limits.GUESS_BYTES:
            break
    return found


# ── lines ────────────────────────────────────────────────────────────────────────────────────────────────────────
def lines(path: str, offset: int = 0) -> Iterator[Line]:
    """Every line from ``offset`` on. A blank line has no records and no damage; a value that is no object is not a record.

    Raises:
        SourceError: the file cannot be read.
    """
    with _open(path) as handle:
        try:
            encoding = coding.of(handle.read(coding.MARK_BYTES))
            handle.seek(max(offset, encoding.skip))
            for raw, end, whole in _split(handle, encoding):
                yield _line(raw, end, encoding, whole=whole) if whole is not None else Line(end, (), piece=True)
        except OSError as error:
            raise failure(path, error) from error


def _split(handle: BinaryIO, encoding: Encoding) -> Iterator[tuple[bytes | None, int, bool | None]]:
    """``(bytes, offset after, terminated)`` of each line; None for one too long to keep. Of such a line each chunk first: ``(None, its beginning, None)``."""
    start = handle.tell()
    held, skipped = bytearray(), 0  # bytes of the line at hand that were forgotten
    while chunk := handle.read(limits.READ_CHUNK_BYTES):
        seen = max(0, len(held) - encoding.width + 1)
        held += chunk
        begin = 0
        while (at := _newline(held, encoding, max(seen, begin))) >= 0:
            end = at + encoding.width
            yield (None if skipped else bytes(memoryview(held)[begin:at])), start + end, True
            begin, skipped = end, 0
        del held[:begin]
        start += begin
        if skipped or len(held) > limits.LINE_BYTES:  # forget it, whole code units at a time
            cut = len(held) - len(held) % encoding.width
            del held[:cut]
            start += cut
            skipped += cut
            yield None, start - skipped, None
    if held or skipped:
        yield (None if skipped else bytes(held)), start + len(held), False


def _newline(held: bytearray, encoding: Encoding, at: int) -> int:
    """Where the next newline is, or -1."""
    at = held.find(encoding.newline, at)
    while at >= 0 and at % encoding.width:
        at = held.find(encoding.newline, at + 1)
    return at


def row(raw: bytes | None, end: int) -> Line:
    """A value of a database row as a line; None for one that could not be had."""
    return _line(raw, end, UTF8, whole=True)


def _line(raw: bytes | None, end: int, encoding: Encoding, *, whole: bool) -> Line:
    if raw is None:
        return Line(end, (), damaged=1)
    size = len(raw)  # in the file's own coding: the offset to come back to is counted in it
    if encoding is not UTF8 and encoding.width > 1:
        raw = raw.decode(encoding.name, "replace").encode("utf-8", "replace")
    bare = raw.strip()
    if not bare:
        return Line(end, ())
    try:
        value: Any = msgspec.json.decode(bare)
        found, damaged = [value], 0
    except (ValueError, RecursionError):
        found, damaged = parse(bare.decode("utf-8", "replace"))
        if damaged and not whole:
            return Line(end - size, (), pending=True)
    records = [value for value in found if isinstance(value, dict)]
    if len(raw) >= limits.BLOB_STRING_CHARS:
        for record in records:
            omit_payloads(record)
    return Line(end, tuple(records), damaged=damaged)

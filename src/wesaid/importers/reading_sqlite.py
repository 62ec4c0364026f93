"""Other programs' SQLite databases, read from a private copy: what ``reading.py`` is for files, this is for databases.

A database that somebody else has open is never opened here: the file and what its write-ahead log (or rollback journal) holds are copied
together, and the copy is opened. So nothing of the source changes, not even its shared-memory file; read-only media can be read; a
database whose tables are all still in the log is whole. Invariants: the copy lies in a private folder which is unlinked as soon as SQLite
has it open, since such databases hold credentials; only ordinary tables are read, and only those that are asked for by name; nothing but
``SourceError`` is raised; a value longer than ``limits.LINE_BYTES`` is never loaded.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import apsw

from wesaid import limits
from wesaid.errors import SourceError
from wesaid.importers.reading import failure, peek, printable

if sys.version_info >= (3, 14):  # where it is part of Python
    from compression import zstd
else:
    from backports import zstd

if sys.platform != "win32":
    import fcntl

MAGIC: Final = b"SQLite format 3\x00"
_LOGS: Final = ("-wal", "-journal")
PREFIX: Final = "wesaid-reading-"  # of a copy's folder


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A database as it was at one moment. ``columns`` is by table: the ordinary tables, whatever version made them."""

    path: str
    version: int  # user_version
    columns: Mapping[str, frozenset[str]]
    _db: apsw.Connection = field(repr=False)

    def has(self, table: str, *columns: str) -> bool:
        """Whether it has a table with these columns."""
        return self.columns.get(table, frozenset()).issuperset(columns) and table in self.columns

    def rows(self, statement: str, bindings: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Rows of a statement over tables that ``columns`` names, one by one.

        Raises:
            SourceError: the database is damaged there.
        """
        try:
            yield from self._db.execute(statement, bindings)
        except (apsw.Error, UnicodeError) as error:
            raise damaged(self.path, error) from error


def damaged(path: str, error: Exception | None = None) -> SourceError:
    """What to say of a database that cannot be read."""
    shown = printable(path)
    return SourceError(
        f"{shown} is damaged, or is no database" + (f" ({type(error).__name__})" if error else ""),
        hint="let its own program mend it (OpenClaw: `openclaw doctor --session-sqlite recover`), then import again; what could be read is kept",
        details={"path": shown},
    )


@contextmanager
def snapshot(path: str, scratch: Path | None = None) -> Iterator[Snapshot]:
    """A consistent copy of a database and its log, opened; gone at the end of the block, also after a kill.

    Args:
        path: the database.
        scratch: an existing folder for the copy, the system's temporary one when not given.

    Raises:
        SourceError: it cannot be read, is damaged, or changed all the time while it was copied.
    """
    sweep(scratch)
    try:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=scratch))  # 0700
    except OSError as error:
        raise _no_room(path, error) from error
    db: apsw.Connection | None = None
    lock = _locked(folder)
    try:
        _copy(path, folder)
        db = _opened(path, folder / "copy")
        shutil.rmtree(folder, ignore_errors=True)  # SQLite has the files open: their names are not needed, and a kill leaves none
        yield _described(path, db)
    finally:
        if db is not None:
            with suppress(apsw.Error):
                db.close()
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def unpacked(data: bytes) -> bytes | None:
    """A zstd frame's content; None when it is damaged or larger than ``limits.LINE_BYTES``, of which no more is ever unpacked."""
    try:
        unpacker = zstd.ZstdDecompressor()
        found = unpacker.decompress(data, max_length=limits.LINE_BYTES)
    except (zstd.ZstdError, ValueError, MemoryError):
        return None
    return found if unpacker.eof else None


# ── copying ──────────────────────────────────────────────────────────────────────────────────────────────────────
def _copy(path: str, folder: Path) -> None:
    """Copy database and log so that they belong together.

    A checkpoint writes to the database only pages that stand in the log, so a database that changes meanwhile is whole together with a log
    that is copied afterwards, as long as that log was not begun anew in between: its header says so. Without a log the database itself
    must not have changed.
    """
    with suppress(OSError, ValueError):  # what is wrong with the name is said below
        path = os.path.realpath(path)  # the log lies beside the file itself, not beside a link to it
    for attempt in range(limits.SNAPSHOT_TRIES):
        before = _fingerprint(path)
        try:
            shutil.copyfile(path, folder / "copy")
            for log in _LOGS:
                (folder / f"copy{log}").unlink(missing_ok=True)
                with suppress(FileNotFoundError):
                    shutil.copyfile(f"{path}{log}", folder / f"copy{log}")
        except OSError as error:
            raise _no_room(path, error) if error.errno in {errno.ENOSPC, errno.EDQUOT} else failure(path, error) from error
        if _fingerprint(path) == before:
            return
        time.sleep(limits.SNAPSHOT_PAUSE_SECONDS * (attempt + 1))
    shown = printable(path)
    raise SourceError(
        f"{shown} changed all the time while it was copied",
        hint="import again; stop the program that writes to it if that does not help",
        details={"path": shown},
    )


def _fingerprint(path: str) -> tuple[object, ...]:
    """What must be the same before and after a copy: the log's header when there is a log, else size and time of the database.

    Raises:
        SourceError: the database is no regular file, or cannot be read.
    """
    log = peek(f"{path}-wal", limits.WAL_HEADER_BYTES, absent_ok=True)
    try:
        now = os.stat(path)  # noqa: PTH116 - a name that is no Unicode passes here as it is
        journal = os.path.lexists(f"{path}-journal")
    except (OSError, ValueError) as error:
        raise failure(path, error) from error
    if not stat.S_ISREG(now.st_mode):
        peek(path, 1)  # says what it is
    return (log,) if log else (b"", journal, now.st_ino, now.st_size, now.st_mtime_ns)


def sweep(scratch: Path | None) -> int:
    """Take away copies that a process left which was killed while copying: nobody holds their lock any more. How many there were."""
    swept = 0
    for folder in (scratch or Path(tempfile.gettempdir())).glob(f"{PREFIX}*"):
        with suppress(OSError):
            is_old = folder.lstat().st_mtime < time.time() - limits.SNAPSHOT_LEFT_SECONDS
            if is_old and not folder.is_symlink() and (lock := _locked(folder)) is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)
                swept += 1
    return swept


def _locked(folder: Path) -> int | None:
    """The lock of a copy's folder, which ends with the process that holds it; None when another one does, or when there are no such locks."""
    if sys.platform == "win32":
        return None  # there an open file keeps its name
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock


def _no_room(path: str, error: OSError) -> SourceError:
    shown = printable(path)
    return SourceError(
        f"cannot make a copy of {shown} to read: {error.strerror}",
        hint="free some space in the home folder or the temporary folder, then import again",
        details={"path": shown},
    )


# ── opening ──────────────────────────────────────────────────────────────────────────────────────────────────────
def _opened(path: str, copy: Path) -> apsw.Connection:
    header = peek(str(copy), limits.HEADER_BYTES)
    page = int.from_bytes(header[16:18], "big")  # where the header has the size of a page; 1 stands for 64 KiB
    if not header.startswith(MAGIC) or copy.stat().st_size < (page if page > 1 else limits.DATABASE_BYTES_MIN):
        raise damaged(path)  # SQLite would take one shorter than a page for an empty database
    try:
        db = apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READWRITE)
    except apsw.Error as error:
        raise damaged(path, error) from error
    try:
        for config in _HARDENED:
            config(db)
        db.pragma("locking_mode", "exclusive")  # the log's index in memory: no third file
        db.pragma("cell_size_check", 1)
        db.execute("SELECT count(*) FROM sqlite_schema").fetchall()  # the log is read now
        db.pragma("query_only", 1)
    except apsw.Error as error:
        db.close()
        raise damaged(path, error) from error
    return db


# The schema is somebody else's: no functions of it are run, nothing is written, no value is larger than a line may be.
_HARDENED: Final[tuple[Callable[[apsw.Connection], object], ...]] = (
    lambda db: db.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
    lambda db: db.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1),
    lambda db: db.config(apsw.SQLITE_DBCONFIG_DQS_DML, 0),
    lambda db: db.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0),
    lambda db: db.config(apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0),
    lambda db: db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1),
    lambda db: db.limit(apsw.SQLITE_LIMIT_LENGTH, limits.LINE_BYTES),
    lambda db: db.wal_autocheckpoint(0),
)


def _described(path: str, db: apsw.Connection) -> Snapshot:
    try:
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0")]
        columns = {name: frozenset(column for (column,) in db.execute("SELECT name FROM pragma_table_info(?)", (name,))) for name in tables}
        return Snapshot(path, int(db.pragma("user_version") or 0), columns, db)
    except (apsw.Error, UnicodeError) as error:  # names that are no UTF-8
        raise damaged(path, error) from error

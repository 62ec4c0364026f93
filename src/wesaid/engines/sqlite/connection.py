"""A connection with our settings, and SQLite's errors in our words.

WAL, so that readers and the writer do not wait for each other; a busy handler of ``limits.BUSY_MS``, so that lock waits are ours and never the
caller's. Refuses to know any table.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FunctionType
from typing import Any, Final, TypeVar
from urllib.parse import quote

import apsw

from wesaid import limits
from wesaid.errors import (
    InputError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreForeignError,
    StoreFullError,
    StoreIndexError,
    StoreReadOnlyError,
    WesaidError,
)

Reader = TypeVar("Reader")
_INDEX_SIGNS: Final = ("fts5", "vtable", "no such table: words", "no such table: titles", "no such table: entry", "no such table: word")
_TRIES = 5  # switching a new file to WAL does not go through the busy handler in every SQLite code path


def connect(path: Path, check: Callable[[apsw.Connection], object], *, create: bool, synchronous: str = "NORMAL") -> apsw.Connection:
    """An open connection to ``path`` in WAL mode. StoreError and its children; never a driver's exception.

    ``check`` looks at the file before any pragma is set, since setting one may already write to somebody else's database.
    """
    with reachable(path), translated(path):
        if create and not path.exists():
            make_private(path)
        check_file(path)
        size, log = path.stat().st_size, Path(f"{path}-wal")
        if 0 < size < limits.DATABASE_BYTES_MIN or (not size and log.exists() and log.stat().st_size):  # SQLite would delete that log
            raise StoreDamagedError(
                f"{path} is damaged: too short to be a database",
                hint="`wesaid doctor --fix` makes a copy and begins anew; transcripts can be imported again",
            )
        if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
            db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        else:
            db = _read_only(path)
        try:
            _ready(db, check, synchronous)
        except (apsw.IOError, apsw.FullError):
            db.close()
            log = Path(f"{path}-wal")
            if log.exists() and log.stat().st_size:
                raise
            db = _as_it_lies(path)  # a full disk has no room for the shared-memory file; what was committed is in the file
            _ready(db, check, synchronous)
        except BaseException:
            db.close()
            raise
    return db


def check_file(path: Path) -> None:
    """StoreForeignError when something lies there that is no file."""
    if path.exists() and not path.is_file():
        raise StoreForeignError(
            f"{path} is {'a folder' if path.is_dir() else 'no file'}, where a database should be",
            hint="move it away; the next append or import begins a database there",
        )


def _read_only(path: Path) -> apsw.Connection:
    """A connection to a file that we may not write.

    While somebody has it open, its -wal and -shm are there and SQLite reads with them. When they are not, nobody has it open, and SQLite
    would have to make them, which it cannot: then the file is taken as it lies (`immutable`), for as long as this process reads it.
    """
    if Path(f"{path}-wal").exists():
        return apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    return _as_it_lies(path)


def _as_it_lies(path: Path) -> apsw.Connection:
    return apsw.Connection(f"file:{quote(str(path))}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)


def _ready(db: apsw.Connection, check: Callable[[apsw.Connection], object], synchronous: str) -> None:
    db.set_busy_timeout(limits.BUSY_MS)
    check(db)
    settle(db, synchronous)


def settle(db: apsw.Connection, synchronous: str) -> None:
    """Apply our pragmas; each is explained in docs/decisions/0010-schema.md."""
    for attempt in range(_TRIES):
        try:
            db.pragma("journal_mode", "wal")
            break
        except (apsw.BusyError, apsw.LockedError):
            if attempt == _TRIES - 1:
                raise
        except (apsw.ReadOnlyError, apsw.CantOpenError):
            break  # a read-only home: reading works when no log is waiting
    db.pragma("synchronous", synchronous)
    db.pragma("foreign_keys", 0)  # deletes are written out, in an order that the reader can follow
    db.pragma("secure_delete", 1)  # what is deleted is zeroed: no measurable price (0011-erasure.md)
    db.pragma("cache_size", -limits.CACHE_KIB)
    db.pragma("mmap_size", limits.MMAP_BYTES)
    db.pragma("temp_store", "memory")
    db.pragma("journal_size_limit", limits.WAL_LIMIT_BYTES)
    db.wal_autocheckpoint(limits.WAL_PAGES)
    db.config(apsw.SQLITE_DBCONFIG_DQS_DML, 0)
    db.config(apsw.SQLITE_DBCONFIG_DQS_DDL, 0)
    db.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)


def make_private(path: Path) -> None:
    """Create an empty file that only its owner may read, and its folders likewise."""
    try:
        missing = [folder for folder in (path.parent, *path.parent.parents) if not folder.exists()]
        for folder in reversed(missing):  # one by one: `parents=True` would give the upper ones the default mode
            folder.mkdir(mode=limits.FOLDER_MODE, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, limits.FILE_MODE))
    except OSError as error:
        raise StoreReadOnlyError(
            f"cannot create {path}: {error.strerror}", hint="choose a folder that you may write, with --home or WESAID_HOME"
        ) from error


def fetch(db: apsw.Connection, statement: str, bindings: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """All rows of a statement whose columns' types its table declares (STRICT), so that they are taken as declared."""
    return db.execute(statement, bindings).fetchall()


@contextmanager
def reachable(path: Path | str) -> Iterator[None]:
    """Turn the file system's exceptions into ours, around looking for and opening a file; never around a caller's block."""
    try:
        yield
    except OSError as error:
        raise StoreReadOnlyError(
            f"cannot open {path}: {error.strerror}",
            hint="check the permissions of the home folder and the free space, or choose another with --home",
        ) from error


@contextmanager
def translated(path: Path | str) -> Iterator[None]:
    """Turn a driver's exception into ours. The text of a statement or of a row never gets into a message."""
    try:
        yield
    except apsw.InterruptError:
        raise
    except (apsw.Error, UnicodeEncodeError) as error:
        raise ours(path, error) from error


_READ_ONLY_HINT: Final = "check the permissions of the home folder and the free space, or choose another with --home"
_OURS: Final[tuple[tuple[tuple[type[Exception], ...], type[WesaidError], str, str], ...]] = (
    (
        (apsw.BusyError, apsw.LockedError),
        StoreBusyError,
        f"{{path}} was locked by another process for more than {limits.BUSY_MS // limits.SECONDS_MS} s",
        "try again; `wesaid stats` shows whether an import is running",
    ),
    ((apsw.ReadOnlyError, apsw.PermissionsError), StoreReadOnlyError, "{path} cannot be written", _READ_ONLY_HINT),
    ((apsw.FullError,), StoreFullError, "no space left for {path}", "free some space; everything committed before is readable"),
    (
        (apsw.NotADBError, apsw.CorruptError),
        StoreDamagedError,
        "{path} is damaged, or is not a wesaid database",
        "`wesaid doctor` says what is damaged; `wesaid doctor --fix` saves what is readable, after it has made a copy",
    ),
    (
        (apsw.SQLError,),
        StoreDamagedError,
        "{path} lacks a table or a column that it should have",
        "`wesaid doctor` says what is damaged; `wesaid doctor --fix` saves what is readable, after it has made a copy",
    ),
    ((apsw.CantOpenError,), StoreReadOnlyError, "cannot open {path}", "check that the folder exists and that you may read and write it"),
    ((apsw.IOError,), StoreError, "reading or writing {path} failed", "check the disk; everything committed before is kept"),
    (
        (UnicodeEncodeError,),
        InputError,
        "a text holds a lone surrogate, which is no character",
        "give valid Unicode; what was typed may have been cut in a character",
    ),
    ((Exception,), StoreError, "{path} could not be used (SQLite: {kind})", "`wesaid doctor` looks for what is wrong"),
)


def ours(path: Path | str, error: apsw.Error | UnicodeEncodeError) -> WesaidError:
    """A driver's exception as one of ours."""
    if isinstance(error, (apsw.CorruptError, apsw.SQLError)) and any(sign in str(error) for sign in _INDEX_SIGNS):
        return StoreIndexError(
            f"the search index of {path} is damaged",
            hint="`wesaid doctor --fix` makes it anew; every stored message is readable without it",
        )
    made, message, hint = next(row[1:] for row in _OURS if isinstance(error, row[0]))
    return made(message.format(path=path, kind=type(error).__name__), hint=hint)


def reader(cls: type[Reader]) -> type[Reader]:
    """A class whose public methods raise our errors, each about its own file: an answer reads several, and has to say which one failed.

    Its instances have ``_path`` and ``agent_id``.
    """
    for name, method in list(vars(cls).items()):
        if not name.startswith("_") and isinstance(method, FunctionType) and not inspect.isgeneratorfunction(method):
            setattr(cls, name, _raising_ours(method))
    return cls


def _raising_ours(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def called(self: Any, *given: Any, **named: Any) -> Any:
        try:
            return method(self, *given, **named)
        except apsw.InterruptError:
            raise
        except (apsw.Error, UnicodeEncodeError) as error:
            told = ours(self._path, error)
            told.details.setdefault("agentId", self.agent_id)
            raise told from error
        except StoreError as error:
            error.details.setdefault("agentId", self.agent_id)
            raise

    return called

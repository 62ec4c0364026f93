"""Looking at a database without changing a byte of its files: no log is written back, no -wal or -shm is left behind.

Three ways, by what lies beside the file: its shared memory (somebody may have it open: read with their locks), a log alone (nobody has it open, and
somebody was killed: the log's index is kept in memory), nothing (the file is taken as it lies). Refuses to migrate, to mend, and to know what a flaw is.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import apsw

from wesaid import limits
from wesaid.engines.sqlite import checking, schema
from wesaid.engines.sqlite.connection import check_file, distrust, reachable, translated
from wesaid.engines.sqlite.lookup import Lookup
from wesaid.engines.sqlite.view import SqliteView
from wesaid.errors import StoreDamagedError, StoreForeignError
from wesaid.values import Flaw

_NO_LOCKS = "unix-none" if os.name == "posix" else "win32-none"
_READ = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI


class SqliteInspection:
    """``engines.contract.Inspection``."""

    def __init__(self, db: apsw.Connection, path: Path, agent_id: str) -> None:
        self._db = db
        self._path = path
        self.view = SqliteView(db, path, Lookup(db, agent_id, {}, {}))

    def flaws(self, *, now: int, seconds: float, tick: Callable[[str], object]) -> Iterator[Flaw]:
        """See the contract."""
        with translated(self._path):
            yield from checking.flaws(self._db, now=now, seconds=seconds, tick=tick)

    def figures(self) -> Mapping[str, int]:
        """See the contract."""
        log = Path(f"{self._path}-wal")
        with translated(self._path):
            size, pages, free = (int(self._db.pragma(name) or 0) for name in ("page_size", "page_count", "freelist_count"))
            return {
                "schemaVersion": schema.version_of(self._db),
                "bytes": size * pages,
                "freeBytes": size * free,
                "logBytes": log.stat().st_size if log.exists() else 0,
            }


@contextmanager
def inspecting(path: Path, agent_id: str) -> Iterator[SqliteInspection]:
    """A consistent reading of a file. StoreError and its children."""
    with reachable(path):
        check_file(path)
        size = path.stat().st_size
        log = Path(f"{path}-wal")
        is_empty = size == 0 and not (log.exists() and log.stat().st_size)
    if is_empty:  # as a program leaves it that ends before it has made the tables, and as somebody leaves it who has emptied it
        with _nothing() as db:
            yield SqliteInspection(db, path, agent_id)
        return
    if size < limits.DATABASE_BYTES_MIN:
        raise StoreDamagedError(f"{path} has {size} bytes: too short to be a database", hint="`wesaid doctor --fix` begins it anew")
    with translated(path):
        db = unchanging(path)
    try:
        with translated(path):
            if _version(db, path) == 0 and int(db.pragma("page_count") or 0) > 1:
                raise StoreDamagedError(f"{path} has no tables", hint="`wesaid doctor --fix` begins it anew")
            is_empty = schema.version_of(db) == 0
            schema.seen_as_new(db)
            db.execute("BEGIN")
        if not is_empty:
            yield SqliteInspection(db, path, agent_id)
    finally:
        db.close()
    if is_empty:
        with _nothing() as db:
            yield SqliteInspection(db, path, agent_id)


@contextmanager
def _nothing() -> Iterator[apsw.Connection]:
    """What a file without tables will be when it is opened."""
    db = apsw.Connection(":memory:")
    try:
        schema.migrate(db)
        yield db
    finally:
        db.close()


def _version(db: apsw.Connection, path: Path) -> int:
    """The schema version. A file with our tables under another program's mark is ours, and its first page damaged."""
    try:
        return schema.version_of(db)
    except StoreForeignError:
        if not all(checking.exists(db, table) for table in checking.KEPT):
            raise
        raise StoreDamagedError(f"the first page of {path} is damaged", hint="`wesaid doctor --fix` saves what is readable") from None


def unchanging(path: Path) -> apsw.Connection:
    """A connection that reads the file with its log and writes nothing."""
    log, shared = Path(f"{path}-wal"), Path(f"{path}-shm")
    place = quote(str(path))
    if shared.exists():
        db = apsw.Connection(f"file:{place}?readonly_shm=1", flags=_READ)
    elif log.exists() and log.stat().st_size:
        db = apsw.Connection(f"file:{place}", flags=_READ, vfs=_NO_LOCKS)  # locks nothing: nobody else is there
        db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        db.pragma("locking_mode", "exclusive")  # the log's index in memory, no -shm
    else:
        db = apsw.Connection(f"file:{place}?immutable=1", flags=_READ)
    db.set_busy_timeout(limits.BUSY_MS)
    db.pragma("cache_size", -limits.CACHE_KIB)
    db.pragma("temp_store", "memory")
    distrust(db)
    return db

"""Reading what is readable out of a damaged database into a new one, which takes its place when it is checked.

Order is everything: the damaged file is copied aside with its log; rows are read from the copy; the new file is made, checked and synced; only then it
takes the name. An exclusive lock is held on the damaged file from the first byte to the last, so that nobody writes what would be lost; while another
process has it open, nothing is begun. Invariants: the copy is never written to; every row that was readable is in the new file.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import apsw

from wesaid import limits
from wesaid.engines.sqlite import leaves, losses, mending, rescuing, schema
from wesaid.engines.sqlite.connection import make_private
from wesaid.engines.sqlite.inspecting import unchanging
from wesaid.engines.sqlite.store import SqliteStore
from wesaid.errors import StoreBusyError, StoreDamagedError, StoreError, StoreForeignError
from wesaid.values import Lost, Salvaged

NEW: Final = ".salvaging"  # after the database's name: a new file that is not finished; of no use after a kill
ASIDE: Final = ".damaged-"  # after the database's name, before the time
_NAME_BYTES: Final = 16  # of an SQLite file: what makes it one
_MAIN: Final = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READWRITE


def salvage(path: Path, agent_id: str, *, now: int, synchronous: str) -> Salvaged:
    """See ``engines.contract.Engine.salvage``."""
    with _held(path) as file:
        aside = _aside(path, file, now)
        new = path.with_name(path.name + NEW)
        _remove(new)
        make_private(new)
        try:
            read = _rescued(aside, new, now)
            _finish(new, agent_id, synchronous, read)
            _swap(path, new, file)
        except BaseException:
            _remove(new)
            raise
    return Salvaged(
        aside=str(aside),
        sessions=read.sessions,
        events=read.events,
        lost=read.lost,
        unreadable=tuple(read.unreadable),
        uncounted=read.uncounted,
        deletions=read.deletions,
    )


@contextmanager
def _held(path: Path) -> Iterator[apsw.VFSFile]:
    """The damaged file under an exclusive lock, through SQLite's file layer: closing a plain descriptor would drop others' locks."""
    file = apsw.VFSFile("", str(path), [_MAIN, 0])
    try:
        try:
            file.xLock(apsw.SQLITE_LOCK_SHARED)
            file.xLock(apsw.SQLITE_LOCK_RESERVED)
            file.xLock(apsw.SQLITE_LOCK_EXCLUSIVE)
        except apsw.BusyError as error:
            raise StoreBusyError(
                f"{path} is open in another process, and cannot be exchanged under its hands",
                hint="stop it (an agent's gateway, an import, another wesaid), then `wesaid doctor --fix` again; nothing was changed",
            ) from error
        yield file
    finally:
        file.xClose()


def _aside(path: Path, file: apsw.VFSFile, now: int) -> Path:
    """A copy of the damaged file and its log beside it, on the disk before anything is done.

    When a repair was killed after it had taken the log away, the copy that it made is used: it has the log.
    """
    log = Path(f"{path}-wal")
    for old in sorted(path.parent.glob(f"{path.name}{ASIDE}*")) if not log.exists() else ():
        if Path(f"{old}-wal").exists() and _is_same(file, old):
            return old
    stamp = datetime.fromtimestamp(now / limits.SECONDS_MS, UTC).strftime("%Y%m%dT%H%M%S")
    names = (path.with_name(f"{path.name}{ASIDE}{stamp}{more}") for more in ("", *(f"-{n}" for n in range(1, limits.DAMAGED_COPIES))))
    aside = next((name for name in names if not name.exists()), None)
    if aside is None:
        raise StoreError(f"there are too many copies of {path} already", hint="delete the oldest *.damaged-* files beside it")
    _copy(lambda at, count: file.xRead(count, at), file.xFileSize(), aside)
    if log.exists():
        with log.open("rb") as source:

            def read(at: int, count: int) -> bytes:
                source.seek(at)
                return source.read(count)

            _copy(read, log.stat().st_size, Path(f"{aside}-wal"))
    return aside


def _is_same(file: apsw.VFSFile, copy: Path) -> bool:
    size = file.xFileSize()
    if copy.stat().st_size != size:
        return False
    with copy.open("rb") as there:
        return all(
            file.xRead(min(limits.READ_CHUNK_BYTES, size - at), at) == there.read(limits.READ_CHUNK_BYTES)
            for at in range(0, size, limits.READ_CHUNK_BYTES)
        )


def _copy(read: Callable[[int, int], bytes], size: int, target: Path) -> None:
    make_private(target)
    with target.open("r+b") as out:
        for at in range(0, size, limits.READ_CHUNK_BYTES):
            out.write(read(at, min(limits.READ_CHUNK_BYTES, size - at)))
        out.flush()
        os.fsync(out.fileno())


def _rescued(aside: Path, new: Path, now: int) -> rescuing.Read:
    """Rows of the copy in the new file. A copy whose first page is no database's gets a new first page, in a copy of the copy."""
    target = apsw.Connection(str(new), flags=apsw.SQLITE_OPEN_READWRITE)
    grafted, whole = (new.with_name(f"{new.name}-{name}") for name in ("graft", "whole"))
    try:
        size = _page_size(aside)
        target.pragma("page_size", size)
        schema.migrate(target)
        base, source = aside, _opened(aside)
        if source is None:
            _graft(aside, new, grafted)
            base, source = grafted, _opened(grafted)
        if source is None:
            losses.note(target, Lost(at=now, uncounted=True, deletions=True, aside=str(aside)))
            return rescuing.Read(unreadable=["all tables"], uncounted=True, deletions=True)
        target.execute("BEGIN")
        with _pages(base, whole, size) as strays:
            read = rescuing.rescue(source, target, strays)
        lost = {key or "": count for key, count in read.lost.items()}
        before = losses.lost(source)
        losses.note(
            target, losses.added(before, Lost(at=now, events=lost, uncounted=read.uncounted, deletions=read.deletions, aside=str(aside)))
        )
        target.execute("COMMIT")
        source.close()
    finally:
        target.close()
        _remove(grafted)
        _remove(whole)
    return read


@contextmanager
def _pages(base: Path, whole: Path, size: int) -> Iterator[rescuing.Leaves | None]:
    """Every page as of the last commit: of ``base``, or of a copy of it into which its log was written. None when that fails: old pages hold what was deleted."""
    file = base
    if Path(f"{base}-wal").exists():
        for suffix in ("", "-wal"):
            make_private(Path(f"{whole}{suffix}"))
            shutil.copyfile(f"{base}{suffix}", f"{whole}{suffix}")
        try:
            db = apsw.Connection(str(whole), flags=apsw.SQLITE_OPEN_READWRITE)
            busy = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").get[0]
            db.close()
        except apsw.Error:
            busy = True
        if busy:
            yield None
            return
        file = whole
    with file.open("rb") as pages:

        def page(number: int) -> bytes:
            pages.seek((number - 1) * size)
            return pages.read(size)

        yield lambda columns: leaves.rows(page, file.stat().st_size // size, size, columns)


def _opened(path: Path) -> apsw.Connection | None:
    """A connection to a file that says it is ours; None when its first page cannot be read. StoreNewerError as everywhere."""
    if path.stat().st_size < limits.DATABASE_BYTES_MIN:
        return None  # SQLite would take it for empty, and delete its log
    source = None
    try:
        source = unchanging(path)
        if schema.version_of(source):
            return source
    except (apsw.NotADBError, apsw.CorruptError, apsw.IOError, apsw.CantOpenError, StoreForeignError):
        pass  # foreign: whoever asks for a salvage has seen that the tables are ours
    if source is not None:
        source.close()
    return None


def _page_size(aside: Path) -> int:
    with aside.open("rb") as file:
        header = file.read(limits.HEADER_BYTES)
    size = int.from_bytes(header[16:18], "big")  # 16-18: the page size in SQLite's header, 1 for 65 536
    return size if size >= limits.DATABASE_BYTES_MIN and size & (size - 1) == 0 else limits.PAGE_BYTES


def _graft(aside: Path, new: Path, grafted: Path) -> None:
    """A working copy whose first page, which says where each table begins, is that of a new database: tables are made in one order."""
    size = aside.stat().st_size
    with aside.open("rb") as source:
        make_private(grafted)
        with grafted.open("r+b") as out, new.open("rb") as fresh:
            page = _page_size(new)
            first = bytearray(fresh.read(page))
            first[28:32] = (size // page).to_bytes(4, "big")  # 28-32: how many pages there are
            first[32:40] = bytes(8)  # 32-40: no free pages that we know of
            out.write(first)
            source.seek(page)
            while chunk := source.read(limits.READ_CHUNK_BYTES):
                out.write(chunk)
    if Path(f"{aside}-wal").exists():
        make_private(Path(f"{grafted}-wal"))
        shutil.copyfile(f"{aside}-wal", f"{grafted}-wal")


def _finish(new: Path, agent_id: str, synchronous: str, read: rescuing.Read) -> None:
    """Paths and marks of the new file, and the proof that it has what was read."""
    store = SqliteStore(new, agent_id, create=False, synchronous=synchronous)
    try:
        with store.writing() as writer:
            mending.mend(store.connection, writer, agent_id, anew=True, now=None)
        store.checkpoint()
        sound = all(row == "ok" for (row,) in store.connection.execute("PRAGMA integrity_check"))
        there = int(store.connection.execute("SELECT count(*) FROM event").get)
        sessions = int(store.connection.execute("SELECT count(*) FROM session").get)
    finally:
        store.close()
    if not sound or there != read.events or sessions < read.sessions:
        raise StoreDamagedError(
            f"the new database beside {new.parent} does not hold what was read; nothing was exchanged",
            hint="please report this; the damaged file is as it was, and there is a copy beside it",
        )


def _swap(path: Path, new: Path, file: apsw.VFSFile) -> None:
    """The new file under the database's name. Who opened the old one meanwhile, and waits, finds no database in it and opens again."""
    with new.open("rb") as written:
        os.fsync(written.fileno())
    for suffix in ("-wal", "-shm"):  # of the damaged file, copied aside: beside the new one they would be taken for its own
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    new.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
    with suppress(apsw.Error):
        file.xWrite(bytes(_NAME_BYTES), 0)


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm", "-journal"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)


__all__ = ["ASIDE", "NEW", "salvage"]

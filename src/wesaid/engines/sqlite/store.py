"""One agent's database: a writer behind a lock, readers from a small pool, each block one transaction."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from wesaid import limits
from wesaid.engines.sqlite import mending, schema, traces
from wesaid.engines.sqlite.connection import connect, translated
from wesaid.engines.sqlite.erasing import Erasing
from wesaid.engines.sqlite.index import Index, Known
from wesaid.engines.sqlite.lookup import Common, Lookup
from wesaid.engines.sqlite.view import SqliteView
from wesaid.engines.sqlite.writer import SqliteWriter
from wesaid.errors import StoreBusyError, StoreError, StoreReadOnlyError
from wesaid.values import Mended, Traces


class SqliteStore:
    """``engines.contract.Store`` on one SQLite file; safe to use from several threads and processes."""

    def __init__(self, path: Path, agent_id: str, *, create: bool, synchronous: str) -> None:
        self.agent_id = agent_id
        self.path = path
        self._synchronous = synchronous
        self._turn = threading.RLock()
        self._readers: list[tuple[apsw.Connection, Lookup]] = []
        self._pool = threading.Lock()
        self._closed = False
        self._in_block = False
        self._keys: dict[int, str] = {}
        self._common: Common = {}
        self._known_words = Known()
        self._hints: dict[int, int] = {}
        self.connection = connect(path, schema.version_of, create=create, synchronous=synchronous)
        self._lookup = Lookup(self.connection, agent_id, self._keys, self._common)
        try:
            with translated(path):
                if schema.version_of(self.connection) < schema.VERSION:
                    schema.migrate(self.connection)
        except BaseException:
            self.connection.close()
            raise

    @contextmanager
    def reading(self) -> Iterator[SqliteView]:
        """See the contract."""
        db, lookup = self._take()
        try:
            lookup.begin()
            with translated(self.path):
                db.execute("BEGIN")
                try:
                    yield SqliteView(db, self.path, lookup)
                finally:
                    if db.in_transaction:
                        db.execute("ROLLBACK")
        finally:
            self._give(db, lookup)

    @contextmanager
    def writing(self, *, seconds: float | None = None) -> Iterator[SqliteWriter]:
        """See the contract."""
        with self._alone(seconds), translated(self.path):
            self._check_open()
            db = self.connection
            if db.readonly("main"):
                raise StoreReadOnlyError(
                    f"{self.path} cannot be written",
                    hint="check the permissions of the home folder and the free space, or choose another with --home",
                )
            if self._in_block:
                raise StoreError("a writing block is open already in this thread", hint="use the writer that is open")
            if seconds is not None:
                db.set_busy_timeout(int(seconds * limits.SECONDS_MS))
            try:
                db.execute("BEGIN IMMEDIATE")
            finally:
                db.set_busy_timeout(limits.BUSY_MS)
            self._in_block = True
            try:
                writer = SqliteWriter(db, self.path, self._lookup, Index(db, self._known_words, self._hints))
                yield writer
                writer.finish()
                db.execute("COMMIT")
            except BaseException:
                # A failed COMMIT, or an error that SQLite rolled back for itself, leaves no transaction to end. Words that this
                # transaction added are gone from the table, so the memory of them goes too.
                if db.in_transaction:
                    db.execute("ROLLBACK")
                self._known_words.forget()
                self._hints.clear()
                self._keys.clear()
                raise
            finally:
                self._in_block = False

    def erase(self, *, seconds: float, now: int, anew: bool = False) -> bool:
        """See the contract."""
        self._check_open()
        with self.reading() as view:
            if not (anew or view.unerased()):
                return True
        with translated(self.path):
            work = Erasing(self.path, self._synchronous)
            try:
                return work.run(seconds=seconds, now=now, anew=anew)
            except (apsw.BusyError, apsw.LockedError):
                return False
            finally:
                work.close()

    def traces(self, pieces: frozenset[bytes]) -> Traces:
        """See the contract."""
        db, lookup = self._take()
        try:
            with translated(self.path):
                return traces.look(db, self.path, pieces)
        finally:
            self._give(db, lookup)

    def mend(self, *, anew: bool, now: int) -> Mended:
        """See the contract."""
        with self.writing() as writer:
            self._known_words.forget()
            self._hints.clear()
            return mending.mend(self.connection, writer, self.agent_id, anew=anew, now=now)

    def checkpoint(self) -> bool:
        """See the contract."""
        with self._turn, translated(self.path):
            self._check_open()
            busy, _, _ = self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").get
            return not busy

    def close(self) -> None:
        """See the contract."""
        with self._turn, self._pool:
            self._closed = True
            for db, _ in self._readers:
                db.close()
            self._readers.clear()
            self.connection.close()

    def _take(self) -> tuple[apsw.Connection, Lookup]:
        with self._pool:
            self._check_open()
            if self._readers:
                return self._readers.pop()
        db = connect(self.path, schema.version_of, create=False, synchronous=self._synchronous)
        return db, Lookup(db, self.agent_id, self._keys, self._common)

    def _give(self, db: apsw.Connection, lookup: Lookup) -> None:
        with self._pool:
            if not self._closed and len(self._readers) < limits.READERS:
                self._readers.append((db, lookup))
                return
        db.close()

    @contextmanager
    def _alone(self, seconds: float | None) -> Iterator[None]:
        """One writing thread of this process at a time; the others wait for it as they would for another process."""
        if not self._turn.acquire(timeout=-1 if seconds is None else seconds):
            raise StoreBusyError(f"{self.path} is being written to", hint="try again; an import may be running")
        try:
            yield
        finally:
            self._turn.release()

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError("this store is closed", hint="open it again")

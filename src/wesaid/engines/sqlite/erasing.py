"""What deletes left in the files, taken out in short transactions (docs/decisions/0011-erasure.md).

Deletes zero their rows (``secure_delete``). Three things stay behind: words in FTS5's segments, words of the vocabulary that no message has any
more, and old copies in the gaps of B-tree pages. A *round* removes them for every delete that was committed before it began; where it stands is one
row of ``meta``, so that a kill loses one slice. It refuses to wait: a file that others keep busy is left for the next time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final

import apsw

from wesaid import limits
from wesaid.engines.sqlite import pages, schema, segments
from wesaid.engines.sqlite.connection import connect, fetch

PENDING: Final = "unerased"  # meta: something was deleted since the last round began
ROUND: Final = "erasing"  # meta: the round under way, as JSON {"step", "words", "titles", "after", "page"}
VOCABULARY: Final = "vocabulary"  # meta: how often words were taken out of the word table
_INDEXES: Final = ("words", "titles")
_FREE_AT: Final = slice(32, 36)  # of the file header (format): first trunk of the free list


def is_pending(db: apsw.Connection) -> bool:
    """Whether a round is under way or due."""
    return bool(db.execute("SELECT EXISTS (SELECT 1 FROM meta WHERE name IN (?, ?))", (PENDING, ROUND)).get)


class Erasing:
    """One call's work on one file, over a connection of its own that waits for nobody long."""

    def __init__(self, path: Path, synchronous: str) -> None:
        self._path = path
        self._db = connect(path, schema.version_of, create=False, synchronous=synchronous)
        self._db.set_busy_timeout(limits.ERASE_BUSY_MS)
        self._size = int(self._db.pragma("page_size") or 0)

    def close(self) -> None:
        """Close the connection."""
        self._db.close()

    def run(self, *, seconds: float, now: int, anew: bool = False) -> bool:
        """Go on for about so long, at least one slice; whether nothing is left to do. apsw.BusyError when others hold the file."""
        started = monotonic()
        until = started + seconds
        if anew:
            with self._transaction():
                self._db.execute("INSERT OR REPLACE INTO meta (name, value) VALUES (?, 1)", (PENDING,))
        while True:
            began = monotonic()
            with suppress(apsw.BusyError):  # others hold the file: after the pause it may be free
                state = self._begun()
                if state is None:
                    return True
                self._step(state, now + int((monotonic() - started) * limits.SECONDS_MS))
            spent = monotonic() - began
            if monotonic() + spent >= until:
                return not is_pending(self._db)
            sleep(spent)  # as long as others had to wait: they ask for the lock every few milliseconds, and must find it free

    # ── a round ──────────────────────────────────────────────────────────────────────────────────────────────────
    def _begun(self) -> dict[str, Any] | None:
        """The round under way, begun when one is due; None when nothing is."""
        stored = self._db.execute("SELECT value FROM meta WHERE name = ?", (ROUND,)).get
        if stored is None and not is_pending(self._db):
            return None
        if stored is not None:
            known: dict[str, Any] = json.loads(stored)
            return known
        with self._transaction():
            state: dict[str, Any] = {"step": "words"}
            for index in _INDEXES:
                state[index] = sorted(segments.with_tombstones(self._db, index))
                self._db.execute(f"INSERT INTO {index} ({index}, rank) VALUES ('usermerge', 2)")
                self._merge(index, -limits.ERASE_MERGE_PAGES)
            self._db.execute("UPDATE tombstone SET erased_at = 0 WHERE erased_at IS NULL")
            self._db.execute("DELETE FROM meta WHERE name = ?", (PENDING,))
            self._save(state)
        return state

    def _step(self, state: dict[str, Any], now: int) -> bool:
        """One slice of the round; whether it got further."""
        step = state["step"]
        if step in _INDEXES:
            with self._transaction():
                if self._merged(step, state[step]):
                    state["step"] = "titles" if step == "words" else "vocabulary"
                self._save(state)
            return True
        if step == "vocabulary":
            with self._transaction():
                state["after"] = self._prune(str(state.get("after", "")))
                if state["after"] is None:
                    del state["after"]
                    state["step"] = "pages"
                self._save(state)
            return True
        return self._clean(state, now)

    def _merged(self, index: str, old: list[list[int]]) -> bool:
        """A slice of merging; whether every segment that had deleted rows when the round began is gone."""
        left = {tuple(segment) for segment in old} & segments.present(self._db, index)
        if not left:
            return True
        if not self._merge(index, limits.ERASE_MERGE_PAGES):
            self._merge(index, -limits.ERASE_MERGE_PAGES)  # nothing under way: begin with all segments there are
        return False

    def _merge(self, index: str, count: int) -> bool:
        """FTS5's incremental merge of about ``count`` pages (negative: of all segments into one); whether it did anything."""
        before = self._db.total_changes()
        self._db.execute(f"INSERT INTO {index} ({index}, rank) VALUES ('merge', ?)", (count,))
        return self._db.total_changes() - before > 1

    def _prune(self, after: str) -> str | None:
        """Take the next words that no message has out of the vocabulary; the last word that stays, None at the end."""
        words = [
            row[0] for row in fetch(self._db, "SELECT word FROM word WHERE word > ? ORDER BY word LIMIT ?", (after, limits.ERASE_WORDS))
        ]
        gone = [word for word in words if not self._is_used(word)]
        if gone:
            self._db.executemany("DELETE FROM word WHERE word = ?", [(word,) for word in gone])
            self._db.execute(
                "INSERT INTO meta (name, value) VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET value = value + 1", (VOCABULARY,)
            )
        if len(words) < limits.ERASE_WORDS:
            return None
        kept = set(words) - set(gone)
        return max(kept) if kept else after

    def _is_used(self, word: str) -> bool:
        phrase = '{text parts} : "' + word.replace('"', '""') + '"'
        return self._db.execute("SELECT 1 FROM words WHERE words MATCH ? LIMIT 1", (phrase,)).get is not None

    # ── pages ────────────────────────────────────────────────────────────────────────────────────────────────────
    def _clean(self, state: dict[str, Any], now: int) -> bool:
        """Zero what is nobody's in the next pages, directly in the file; the last slice ends the round. False when others kept the log busy.

        Which pages need it is seen without a lock, once everything that was committed before is in the file; few do.
        """
        with self._file() as file:
            if "page" not in state:
                if not self._emptied():
                    return False
                state["page"] = 1
            size = self._size
            last = min(state["page"] + limits.ERASE_PAGES - 1, file.xFileSize() // size)
            ends = last < state["page"]
            dirty = [] if ends else self._dirty(file, state["page"], last)
            if (dirty or ends) and not self._emptied():
                return False
            with self._transaction():
                if (dirty or ends) and self._log_bytes():
                    return False  # somebody wrote in between
                self._zero(file, dirty)
                if not ends:
                    state["page"] = last + 1
                    self._save(state)
                    return True
                self._zero_free(file, size)
                file.xSync(apsw.SQLITE_SYNC_NORMAL)
                self._db.execute("DELETE FROM meta WHERE name = ?", (ROUND,))
                self._db.execute("UPDATE tombstone SET erased_at = max(deleted_at, ?) WHERE erased_at = 0", (now,))
        return True

    @contextmanager
    def _file(self) -> Iterator[apsw.VFSFile]:
        """The database file itself, through SQLite's file layer: closing a plain descriptor would drop the locks of the whole process."""
        file = apsw.VFSFile("", str(self._path), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READWRITE, 0])
        try:
            yield file
        finally:
            file.xClose()

    def _emptied(self) -> bool:
        """Write the whole log into the file and empty it; False when somebody still reads from it."""
        busy, _, _ = fetch(self._db, "PRAGMA wal_checkpoint(TRUNCATE)")[0]
        return not busy

    def _log_bytes(self) -> int:
        log = self._path.with_name(self._path.name + "-wal")
        return log.stat().st_size if log.exists() else 0

    def _dirty(self, file: apsw.VFSFile, first: int, last: int) -> list[int]:
        """Pages with bytes that are nobody's and not zero."""
        size = self._size
        read = file.xRead((last - first + 1) * size, (first - 1) * size)
        return [first + n for n in range(last - first + 1) if pages.nobodys(read[n * size : (n + 1) * size], first + n)]

    def _zero(self, file: apsw.VFSFile, numbers: list[int]) -> None:
        """Clean pages, as they are now.

        Safe because the log is empty and stays so while the write lock is held, so that the file alone is the database, and only bytes
        that no B-tree refers to change. The commit at the end makes every other connection drop its cached copies.
        """
        for number in numbers:
            at = (number - 1) * self._size
            for start, end in pages.nobodys(file.xRead(self._size, at), number):
                file.xWrite(bytes(end - start), at + start)

    @staticmethod
    def _zero_free(file: apsw.VFSFile, size: int) -> None:
        """Pages of the free list, which hold nothing (secure_delete leaves them zero already; older versions did not)."""
        last = file.xFileSize() // size
        trunk = int.from_bytes(file.xRead(limits.HEADER_BYTES, 0)[_FREE_AT], "big")
        seen: set[int] = set()
        while 0 < trunk <= last and trunk not in seen:
            seen.add(trunk)
            page = file.xRead(size, (trunk - 1) * size)
            trunk, free = pages.leaves_of(page)
            for number in free:
                if 0 < number <= last and any(file.xRead(size, (number - 1) * size)):
                    file.xWrite(bytes(size), (number - 1) * size)

    # ── helpers ──────────────────────────────────────────────────────────────────────────────────────────────────
    def _save(self, state: dict[str, Any]) -> None:
        self._db.execute("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)", (ROUND, json.dumps(state)))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

"""**floor**: bare external-content FTS5 over an ordinary table of rows: what SQLite costs when nothing else is done.

No policy, no redaction, no folding, no tiers. ``newest`` walks back from the newest match; ``search`` is FTS5's own ranking with nothing
around it; ``append`` is one transaction of a row and its index entry. Run as a program it imports Claude Code transcripts, for ``bench.importing``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from bench.baselines.sqlite import connect, words_of

SCHEMA: Final = """
CREATE TABLE messages(id INTEGER PRIMARY KEY, session TEXT NOT NULL, role TEXT NOT NULL, timestamp INTEGER NOT NULL, text TEXT NOT NULL);
CREATE VIRTUAL TABLE said USING fts5(text, content='messages', content_rowid='id', tokenize='unicode61 remove_diacritics 2');
"""
_BATCH: Final = 2000
_NEWEST: Final = "SELECT session, id, role, timestamp, text FROM messages WHERE id IN (SELECT rowid FROM said WHERE said MATCH ? ORDER BY rowid DESC LIMIT ?) ORDER BY id DESC"
_RANKED: Final = (
    "SELECT session, id, role, timestamp, text FROM (SELECT rowid AS found, rank AS place FROM said WHERE said MATCH ? ORDER BY rank LIMIT ?) "
    "JOIN messages ON id = found ORDER BY place"
)


class Floor:
    """One database of rows with an index beside."""

    def __init__(self, path: Path, *, synchronous: str = "NORMAL") -> None:
        self._db = connect(path, synchronous=synchronous)
        if not self._db.execute("SELECT 1 FROM sqlite_master WHERE name='said'").fetchall():
            self._db.execute(SCHEMA).fetchall()
        self._next = (self._db.execute("SELECT max(id) FROM messages").get or 0) + 1

    def append(self, session: str, role: str, text: str, timestamp: int) -> None:
        """One message, one transaction."""
        with self._db:
            self._insert([(session, role, text, timestamp)])

    def add(self, rows: Iterable[tuple[str, str, str, int]]) -> None:
        """Rows of (session, role, text, timestamp) in one transaction."""
        with self._db:
            self._insert(rows)

    def _insert(self, rows: Iterable[tuple[str, str, str, int]]) -> None:
        for session, role, text, timestamp in rows:
            self._db.execute("INSERT INTO messages VALUES(?,?,?,?,?)", (self._next, session, role, timestamp, text))
            self._db.execute("INSERT INTO said(rowid, text) VALUES(?,?)", (self._next, text))
            self._next += 1

    def settle(self) -> None:
        """Merge the index to one segment and checkpoint."""
        self._db.execute("INSERT INTO said(said) VALUES('optimize')").fetchall()
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def newest(self, query: str, *, limit: int = 10) -> list[tuple]:
        """The newest ``limit`` messages that have every word, by order of insertion."""
        words = words_of(query)
        return self._db.execute(_NEWEST, (words, limit)).fetchall() if words else []

    def search(self, query: str, *, limit: int = 10) -> list[tuple]:
        """The ``limit`` best by FTS5's rank."""
        words = words_of(query)
        return self._db.execute(_RANKED, (words, limit)).fetchall() if words else []

    def frequencies(self) -> dict[str, int]:
        """Word -> number of messages that have it; the benchmarks choose their words from it."""
        self._db.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab(main, said, row)").fetchall()
        return dict(self._db.execute("SELECT term, doc FROM temp.vocabulary"))

    def bytes(self) -> int:
        """Size of the database."""
        return self._db.pragma("page_count") * self._db.pragma("page_size")

    def close(self) -> None:
        self._db.close()


def import_claude(folder: Path, path: Path) -> int:
    """Read every transcript line of ``folder``, keep what was said, and return the number of messages."""
    floor = Floor(path)
    batch: list[tuple[str, str, str, int]] = []
    count = 0
    for file in sorted(folder.rglob("*.jsonl")):
        with file.open("rb") as lines:
            for number, line in enumerate(lines):
                record = json.loads(line)
                content = record["message"]["content"]
                text = content if isinstance(content, str) else "\n".join(one["text"] for one in content if one["type"] == "text")
                if text:
                    batch.append((record["sessionId"], record["type"], text, number))
                if len(batch) >= _BATCH:
                    floor.add(batch)
                    count += len(batch)
                    batch.clear()
    floor.add(batch)
    floor.close()
    return count + len(batch)


if __name__ == "__main__":
    print(import_claude(Path(sys.argv[1]), Path(sys.argv[2])))

"""**plain**: the layout and the query of OpenClaw's session search (openclaw.md §1.7, §2.2), rebuilt in our own code.

The text is stored in FTS5 with unindexed columns; every word of the query must be in the message; all matches are scored with ``bm25()``
before the limit; the excerpt is FTS5's ``snippet()`` of 48 tokens. Refuses to know policy and redaction: it has none.

Two statements give the same rows in the same order. ``DIRECT`` is the query as one would write it; ``INNER`` ranks row numbers first, so that no text
is read for rows that are not shown. The faster one counts (``bench/README.md`` has both figures).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from bench.baselines.sqlite import connect, words_of

SCHEMA: Final = """
CREATE VIRTUAL TABLE said USING fts5(
  text, session_id UNINDEXED, message_id UNINDEXED, role UNINDEXED, timestamp UNINDEXED, tokenize='unicode61 remove_diacritics 2');
CREATE TABLE windows(session_id TEXT PRIMARY KEY, session_key TEXT NOT NULL) WITHOUT ROWID;
"""
_COLUMNS: Final = "said.session_id, message_id, role, timestamp, bm25(said) AS rank_, snippet(said, 0, '', '', ' … ', 48)"
DIRECT: Final = f"SELECT {_COLUMNS} FROM said WHERE said MATCH :words {{scope}} ORDER BY rank_, timestamp DESC, message_id LIMIT :limit"
INNER: Final = (
    f"SELECT {_COLUMNS} FROM said WHERE said MATCH :words AND rowid IN "
    "(SELECT rowid FROM said WHERE said MATCH :words {scope} ORDER BY bm25(said) LIMIT :limit) ORDER BY rank_, timestamp DESC, message_id"
)
_KEYS: Final = "AND said.session_id IN (SELECT value FROM json_each(:keys))"


class Plain:
    """One database in that layout."""

    def __init__(self, path: Path, *, statement: str = DIRECT) -> None:
        self._db = connect(path)
        self.statement = statement
        if not self._db.execute("SELECT 1 FROM sqlite_master WHERE name='said'").fetchall():
            self._db.execute(SCHEMA).fetchall()

    def add(self, rows: Iterable[tuple[str, str, str, str, int]]) -> None:
        """Insert rows of (text, session, message id, role, timestamp) in one transaction."""
        with self._db:
            self._db.executemany("INSERT INTO said(text, session_id, message_id, role, timestamp) VALUES(?,?,?,?,?)", rows)

    def settle(self) -> None:
        """Merge the index to one segment and checkpoint, its best state for reading."""
        self._db.execute("INSERT INTO said(said) VALUES('optimize')").fetchall()
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def search(self, query: str, *, limit: int = 10, keys: Sequence[str] | None = None) -> list[tuple]:
        """The ``limit`` best rows: session, message id, role, timestamp, bm25 (smaller is better), snippet."""
        words = words_of(query)
        if not words:
            return []
        bound = {"words": words, "limit": limit}
        if keys is not None:
            bound["keys"] = json.dumps(list(keys))
        return self._db.execute(self.statement.format(scope="" if keys is None else _KEYS), bound).fetchall()

    def bytes(self) -> int:
        """Size of the database."""
        return self._db.pragma("page_count") * self._db.pragma("page_size")

    def close(self) -> None:
        self._db.close()

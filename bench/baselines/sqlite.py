"""What both baselines share: a connection at its best settings."""

from __future__ import annotations

from pathlib import Path

import apsw


def connect(path: Path, *, synchronous: str = "NORMAL") -> apsw.Connection:
    """A database with a write-ahead log, the whole working set in cache, and mapped reads."""
    db = apsw.Connection(str(path))
    for pragma in (
        "page_size=4096",
        "journal_mode=WAL",
        f"synchronous={synchronous}",
        "cache_size=-262144",  # 256 MiB
        "mmap_size=4294967296",
        "temp_store=MEMORY",
        "wal_autocheckpoint=2000",
    ):
        db.execute(f"PRAGMA {pragma}").fetchall()
    return db


def words_of(query: str) -> str:
    """A query as OpenClaw's kernel builds it: words at white space, each in double quotes, joined by AND (openclaw.md §2.2)."""
    return " AND ".join('"' + word.replace("\0", " ").replace('"', '""') + '"' for word in query.split())

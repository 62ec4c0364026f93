"""Databases shaped as OpenClaw's per-agent one, written by hand: the tables that an importer reads, and one that it must not."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import apsw

AUTH = "sk-ant-credential-that-nobody-may-read"
_TABLES = """
CREATE TABLE session_nodes (session_key TEXT NOT NULL PRIMARY KEY, current_session_id TEXT NOT NULL, entry_json TEXT NOT NULL, updated_at INTEGER NOT NULL) STRICT;
CREATE TABLE session_windows (session_id TEXT NOT NULL PRIMARY KEY, session_key TEXT NOT NULL, previous_session_id TEXT, reason TEXT,
    created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL) STRICT;
CREATE TABLE transcript_events (session_id TEXT NOT NULL, seq INTEGER NOT NULL, event_json TEXT, created_at INTEGER NOT NULL, event_zstd BLOB,
    PRIMARY KEY (session_id, seq)) STRICT;
CREATE TABLE transcript_rewrite_watermarks (session_id TEXT NOT NULL PRIMARY KEY, generation TEXT NOT NULL, updated_at INTEGER NOT NULL) STRICT;
CREATE TABLE auth_profile_store (profile TEXT PRIMARY KEY, secret TEXT) STRICT;
"""
T0 = 1_772_359_200_000


def said(name: str, parent: str | None, text: str, role: str = "user", **more: Any) -> dict[str, Any]:
    """A message's record."""
    return {"type": "message", "id": name, "parentId": parent, "timestamp": T0, "message": {"role": role, "content": text}, **more}


def chain(*texts: str, prefix: str = "m") -> list[dict[str, Any]]:
    """Messages that hang from one another, the first from nothing."""
    return [said(f"{prefix}{at}", f"{prefix}{at - 1}" if at else None, text) for at, text in enumerate(texts)]


class Claw:
    """A database that OpenClaw has open: changes stay in its write-ahead log until it is closed."""

    def __init__(self, state: Path, agent: str = "main") -> None:
        self.path = state / "agents" / agent / "agent" / "openclaw-agent.sqlite"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.db = apsw.Connection(str(self.path))
        self.db.pragma("journal_mode", "wal")
        self.db.wal_autocheckpoint(0)
        if not self.db.execute("SELECT count(*) FROM sqlite_schema").get:
            self.db.execute("BEGIN;" + _TABLES + "PRAGMA user_version = 23; COMMIT")
            self.db.execute("INSERT INTO auth_profile_store VALUES ('p', ?)", (AUTH,))
        self._clock = T0

    def node(self, key: str, current: str, **entry: Any) -> None:
        """A session, and what OpenClaw knows of it."""
        row = json.dumps({"sessionId": current, **entry})
        self.db.execute("INSERT OR REPLACE INTO session_nodes VALUES (?, ?, ?, ?)", (key, current, row, T0))

    def window(
        self, name: str, key: str, records: Iterable[dict[str, Any]] = (), *, previous: str | None = None, reason: str | None = None
    ) -> None:
        """A window with its rows; the newest made is the session's current one."""
        self._clock += 1000
        self.db.execute("INSERT INTO session_windows VALUES (?, ?, ?, ?, ?, ?)", (name, key, previous, reason, self._clock, self._clock))
        self.db.execute("INSERT INTO transcript_rewrite_watermarks VALUES (?, 'g0', ?)", (name, T0))
        if self.db.execute("UPDATE session_nodes SET current_session_id = ? WHERE session_key = ? RETURNING 1", (name, key)).get is None:
            self.node(key, name)
        self.add(name, {"type": "session", "version": 4, "id": name, "timestamp": T0, "cwd": "/w/demo"}, *records)

    def add(self, name: str, *records: dict[str, Any] | str) -> None:
        """Rows at the end of a window."""
        for record in records:
            text = record if isinstance(record, str) else json.dumps(record)
            self.db.execute(
                "INSERT INTO transcript_events (session_id, seq, event_json, created_at)"
                " VALUES (?1, (SELECT coalesce(max(seq), -1) + 1 FROM transcript_events WHERE session_id = ?1), ?2, ?3)",
                (name, text, T0),
            )

    def rewrite(self, name: str, seq: int, record: dict[str, Any], generation: str) -> None:
        """Put another record in a row's place, as OpenClaw marks it."""
        self.db.execute("UPDATE transcript_events SET event_json = ? WHERE session_id = ? AND seq = ?", (json.dumps(record), name, seq))
        self.db.execute("UPDATE transcript_rewrite_watermarks SET generation = ? WHERE session_id = ?", (generation, name))

    def run(self, statement: str, *bindings: Any) -> None:
        """Anything else."""
        self.db.execute(statement, bindings)

    def close(self) -> None:
        """OpenClaw ends: the log goes into the database."""
        self.db.close()

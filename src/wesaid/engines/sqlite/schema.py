"""The tables of one agent's database: numbered, frozen migrations that import nothing of the house.

A migration and the record of it (``user_version``) commit together. Every version ever released stays here unchanged, and a tiny database of
each is kept under ``tests/engines/kept/``. Why each table is as it is: ``docs/decisions/0010-schema.md``.

Numbers that appear here are part of the format: a *place* is ``window << 32 | seq`` and a *spot* ``window << 32 | position``, so that a window's
rows lie together and a range is one B-tree walk.
"""

from __future__ import annotations

from typing import Final

import apsw

from wesaid.errors import StoreForeignError, StoreNewerError

APPLICATION_ID: Final = 0x77736169  # "wsai": tells our files from other people's SQLite

_V1 = (
    # Facts of the database: counters and the versions that its rows were made with.
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID",
    "INSERT INTO meta (name, value) VALUES ('messages', 0), ('drift', 0)",
    # AUTOINCREMENT: a token is a word of the index, so a deleted session's must never name another.
    """CREATE TABLE session (
        token INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, session_id TEXT NOT NULL, dialect TEXT NOT NULL, kind TEXT NOT NULL,
        title TEXT, label TEXT, tool TEXT, project TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, archived_at INTEGER,
        spawned_by TEXT, forked_from TEXT, message_count INTEGER NOT NULL DEFAULT 0, extra TEXT NOT NULL DEFAULT '{}') STRICT""",
    "CREATE INDEX session_updated ON session (updated_at DESC, key)",
    "CREATE INDEX session_spawned ON session (spawned_by) WHERE spawned_by IS NOT NULL",
    """CREATE TABLE window (
        window INTEGER PRIMARY KEY AUTOINCREMENT, session INTEGER NOT NULL REFERENCES session (token), session_id TEXT NOT NULL,
        ordinal INTEGER NOT NULL, reason TEXT NOT NULL, created_at INTEGER NOT NULL, findable INTEGER NOT NULL,
        next_seq INTEGER NOT NULL DEFAULT 0, path_length INTEGER NOT NULL DEFAULT 0, cursor TEXT NOT NULL) STRICT""",
    "CREATE INDEX window_session ON window (session, ordinal)",
    "CREATE INDEX window_name ON window (session_id)",
    # The transcript: what was said, as it was said. `nav` packs the flags of a values.Nav.
    """CREATE TABLE event (
        place INTEGER PRIMARY KEY, id TEXT, type TEXT NOT NULL, nav INTEGER NOT NULL, parent TEXT, target TEXT, append_parent TEXT,
        timestamp INTEGER NOT NULL, body BLOB NOT NULL) STRICT""",
    "CREATE INDEX event_name ON event (id) WHERE id IS NOT NULL",
    # The visible path, stored: paging and rewinding cost what they touch. `shown` counts the rows that history shows, up to this one.
    "CREATE TABLE path (spot INTEGER PRIMARY KEY, place INTEGER NOT NULL UNIQUE, shown INTEGER NOT NULL) STRICT",
    # One row an indexed message. `rid` is its time in seconds, next free one: the index's rowid, claimed here first, since a second INSERT
    # on a taken rowid of a contentless FTS5 table merges two messages without a word.
    """CREATE TABLE entry (
        rid INTEGER PRIMARY KEY, place INTEGER NOT NULL UNIQUE, session INTEGER NOT NULL, role INTEGER NOT NULL, timestamp INTEGER NOT NULL,
        flags INTEGER NOT NULL, digest INTEGER NOT NULL, fold INTEGER NOT NULL, redact INTEGER NOT NULL, spans TEXT) STRICT""",
    # text: folded redacted words; parts: humps of identifiers; scope: the session's token and the role, as words.
    "CREATE VIRTUAL TABLE words USING fts5 (text, parts, scope, content='', contentless_delete=1, tokenize='ascii')",
    "CREATE VIRTUAL TABLE titles USING fts5 (text, content='', contentless_delete=1, tokenize='ascii')",
    # The vocabulary, for prefixes now and spelling later. `seen` orders words by use; it is a hint, never a count to show or score by.
    "CREATE TABLE word (word TEXT PRIMARY KEY, seen INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    # Windows whose index is incomplete: positions from `keep` on may lack a row; rows of places from `purge` on may be off the path.
    "CREATE TABLE stale (window INTEGER PRIMARY KEY, keep INTEGER NOT NULL, purge INTEGER) STRICT",
    "CREATE TABLE tombstone (key TEXT PRIMARY KEY, deleted_at INTEGER NOT NULL, erased_at INTEGER) STRICT, WITHOUT ROWID",
    "CREATE TABLE tombstone_window (session_id TEXT PRIMARY KEY, key TEXT NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE INDEX tombstone_window_key ON tombstone_window (key)",
    """CREATE TABLE source (
        path TEXT PRIMARY KEY, tool TEXT NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, offset INTEGER NOT NULL,
        head_digest TEXT NOT NULL, state TEXT NOT NULL, keys TEXT NOT NULL, missing INTEGER NOT NULL) STRICT, WITHOUT ROWID""",
    "CREATE TABLE source_session (key TEXT NOT NULL, path TEXT NOT NULL, PRIMARY KEY (key, path)) STRICT, WITHOUT ROWID",
)

# Versions of rows, and the newest window that was given a path: rows whose making is not known are looked at once. `old`: positions from which
# rows are there but may be of older rules.
_V2 = (
    "ALTER TABLE stale ADD COLUMN old INTEGER",
    "INSERT OR IGNORE INTO meta (name, value) SELECT 'fold', -1 WHERE EXISTS (SELECT 1 FROM entry)",
    "INSERT OR IGNORE INTO meta (name, value) SELECT 'redact', -1 WHERE EXISTS (SELECT 1 FROM entry)",
    "INSERT OR IGNORE INTO meta (name, value) SELECT 'windows', coalesce(max(window), 0) FROM window",
)

MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (_V1, _V2)
VERSION: Final = len(MIGRATIONS)

# What can be made again from the transcript, by table, as the newest version has it.
INDEX_TABLES: Final = {name: next(s for s in _V1 if f" {name} " in s.partition("(")[0]) for name in ("entry", "words", "titles")}


def version_of(db: apsw.Connection) -> int:
    """The schema version of a file, 0 when it is empty. StoreForeignError, StoreNewerError when it is not ours to touch."""
    # One statement, so that all three are of one moment: another process may be making the tables.
    version, application, tables = db.execute(
        "SELECT (SELECT user_version FROM pragma_user_version), (SELECT application_id FROM pragma_application_id), count(*) FROM sqlite_schema"
    ).get
    if application != APPLICATION_ID:
        if tables or version:
            raise StoreForeignError(
                f"{db.filename} is a database of another program",
                hint="give another --home, or move that file away; nothing was changed",
            )
        return 0
    if version > VERSION:
        raise StoreNewerError(
            f"{db.filename} has schema version {version}; this wesaid knows up to {VERSION}",
            hint="upgrade wesaid as it was installed; nothing was changed",
            details={"found": version, "known": VERSION},
        )
    return int(version)


def seen_as_new(db: apsw.Connection) -> None:
    """Let a connection that may not migrate read an older file by today's names: temporary views stand in front of its tables."""
    if version_of(db) == 1:
        db.execute("CREATE TEMP VIEW stale AS SELECT window, keep, purge, NULL AS old FROM main.stale")


def migrate(db: apsw.Connection) -> None:
    """Bring a file to the newest version, each step in one transaction with the record of it."""
    while version_of(db) < VERSION:
        db.execute("BEGIN IMMEDIATE")
        try:
            version = version_of(db)  # another process may have been first
            if version < VERSION:
                for statement in MIGRATIONS[version]:
                    db.execute(statement)
                db.pragma("application_id", APPLICATION_ID)
                db.pragma("user_version", version + 1)
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise

"""What tells that index rows are missing or old without looking at them all, and the marks that make the reconciler renew them.

Three numbers in ``meta`` say what an index is: the rules that its rows were made with (``fold``, ``redact``) and the newest window that was
ever given a path (``windows``). An index that was dropped is seen by its newest row being gone. Invariant: a mark changes no transcript row.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Final

import apsw

from wesaid import limits
from wesaid.engines.sqlite.connection import fetch
from wesaid.engines.sqlite.erasing import VOCABULARY
from wesaid.engines.sqlite.records import SHIFT
from wesaid.engines.sqlite.schema import INDEX_TABLES
from wesaid.rules import branch, fold
from wesaid.values import UNKNOWN, Versions

WINDOWS: Final = "windows"
_FOLD: Final = "fold"
_REDACT: Final = "redact"
_TURN: Final = "turn"
_SHADOWS: Final = ("config", "content", "data", "docsize", "idx")  # of an FTS5 table
_NEEDED: Final = (*INDEX_TABLES, *(f"{name}_{part}" for name in ("words", "titles") for part in ("data", "idx", "config", "docsize")))


def versions(db: apsw.Connection) -> Versions | None:
    """The rules that rows outside stale windows were made with; None before the first row."""
    found = dict(fetch(db, "SELECT name, value FROM meta WHERE name IN (?, ?)", (_FOLD, _REDACT)))
    if not found:
        return None
    made = (found.get(_FOLD), found.get(_REDACT))
    return Versions(*(one if isinstance(one, int) else UNKNOWN.fold for one in made))  # a damaged value is as good as none


def first_row(db: apsw.Connection, made_with: Versions) -> None:
    """Note the rules of the very first index row; later calls change nothing."""
    db.executemany("INSERT OR IGNORE INTO meta (name, value) VALUES (?, ?)", [(_FOLD, made_with.fold), (_REDACT, made_with.redact)])


def unmarked(db: apsw.Connection) -> bool:
    """Whether there are rows without an index that no mark tells of."""
    return _is_lost(db) or _has_strange_windows(db)


def _is_lost(db: apsw.Connection) -> bool:
    """Whether the index, or a table of it, is gone: its newest row stands for all, since rows go one by one and an index as a whole."""
    there = int(db.execute("SELECT count(*) FROM sqlite_schema WHERE name IN (SELECT value FROM json_each(?))", (json.dumps(_NEEDED),)).get)
    if there < len(_NEEDED):
        return True
    newest = db.execute("SELECT max(rid) FROM entry").get
    if newest is None:
        return bool(db.execute("SELECT value FROM meta WHERE name = 'messages'").get)
    return db.execute("SELECT 1 FROM words_docsize WHERE id = ?", (newest,)).get is None


def _has_strange_windows(db: apsw.Connection) -> bool:
    """Whether a window was written by a program that gave it no path and no mark."""
    return bool(
        db.execute("SELECT coalesce(max(window), 0) > coalesce((SELECT value FROM meta WHERE name = ?), 0) FROM window", (WINDOWS,)).get
    )


def strange_windows(db: apsw.Connection) -> list[int]:
    """Those windows; each gets its count of rows right and an empty cursor, so that its path can be resolved."""
    after = "coalesce((SELECT value FROM meta WHERE name = ?1), 0)"
    db.execute(
        "UPDATE window SET cursor = ?3, next_seq = coalesce((SELECT max(place) - (window << ?2) + 1 FROM event"
        f" WHERE place >= window << ?2 AND place < (window + 1) << ?2), 0) WHERE window > {after}",
        (WINDOWS, SHIFT, branch.START.to_json()),
    )
    found = [row[0] for row in fetch(db, f"SELECT window FROM window WHERE window > {after} ORDER BY window", (WINDOWS,))]
    db.execute("INSERT OR REPLACE INTO meta (name, value) SELECT ?, coalesce(max(window), 0) FROM window", (WINDOWS,))
    return found


def mark(db: apsw.Connection, now: Versions) -> None:
    """Mark what other rules made; make an index that is gone anew. Paths of strange windows are the writer's."""
    before = versions(db)
    if _is_lost(db):
        drop_index(db)
    elif before is not None and before.fold not in {now.fold, UNKNOWN.fold}:
        _mark_all(db, "keep")  # other words find them: until they are renewed they may be missed
    elif before not in {None, now}:
        _mark_all(db, "old")
    db.executemany("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)", [(_FOLD, now.fold), (_REDACT, now.redact)])


def _mark_all(db: apsw.Connection, what: str) -> None:
    """Every window that may be found has to be looked at from its beginning: rows are missing (``keep``) or old; those that are there serve."""
    db.execute(
        "INSERT INTO stale (window, keep, old) SELECT window, path_length, 0 FROM window WHERE findable AND path_length"
        " ON CONFLICT (window) DO UPDATE SET old = 0"
    )
    if what == "keep":
        db.execute("UPDATE stale SET keep = 0")


def drop_index(db: apsw.Connection) -> None:
    """Make the tables of the index anew, empty but for titles, and mark every window."""
    for name, statement in INDEX_TABLES.items():
        _drop(db, name)
        db.execute(statement)
    db.execute("DELETE FROM word")
    db.execute("INSERT INTO meta (name, value) VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET value = value + 1", (VOCABULARY,))
    db.execute("UPDATE meta SET value = 0 WHERE name = 'messages'")
    db.execute("UPDATE session SET message_count = 0 WHERE message_count")
    db.execute("UPDATE stale SET purge = NULL")
    _mark_all(db, "keep")
    for token, title, label in fetch(db, "SELECT token, title, label FROM session WHERE title IS NOT NULL OR label IS NOT NULL"):
        enter_title(db, token, title, label)


def _drop(db: apsw.Connection, name: str) -> None:
    """Drop a table; what is left of an FTS5 table that cannot be opened any more is dropped piece by piece."""
    with suppress(apsw.SQLError, apsw.CorruptError):
        db.execute(f"DROP TABLE IF EXISTS {name}")
        return
    db.pragma("writable_schema", 1)
    try:
        db.execute("DELETE FROM sqlite_schema WHERE name = ?", (name,))
    finally:
        db.pragma("writable_schema", "reset")
    for part in _SHADOWS:
        db.execute(f"DROP TABLE IF EXISTS {name}_{part}")


def enter_title(db: apsw.Connection, token: int, title: str | None, label: str | None) -> None:
    """A session's words for the index of titles."""
    words = fold.fold(" \n ".join(text for text in (title, label) if text)).text
    if words:
        db.execute("INSERT INTO titles (rowid, text) VALUES (?, ?)", (token, words))


def _holder(stored: object) -> tuple[str, int] | None:
    """Who has the turn, and until when; None for nobody, and for a value that is damaged."""
    try:
        holder, end = json.loads(str(stored or ""))
    except (ValueError, TypeError, RecursionError):
        return None
    return (holder, end) if isinstance(holder, str) and isinstance(end, int) else None


def turn(db: apsw.Connection, owner: str, *, now: int, until: int, instead_of: str) -> str:
    """See ``contract.Writer.turn``."""
    found = db.execute("SELECT value FROM meta WHERE name = ?", (_TURN,)).get
    holder, end = _holder(found) or (owner, 0)
    if holder not in {owner, instead_of} and now < end <= now + limits.TURN_MS_MAX:
        return str(holder)
    if until <= now:
        db.execute("DELETE FROM meta WHERE name = ?", (_TURN,))
    else:
        db.execute("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)", (_TURN, json.dumps([owner, until])))
    return owner

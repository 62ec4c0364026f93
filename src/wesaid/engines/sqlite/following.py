"""Known files and followed folders, read cheaply: a search looks at all of them.

A source's JSON lies behind its other columns, on pages of its own; nothing here reads it but for the sessions of a narrow scope. That
is why a missing file is also told by its size, which is then kept as ``-1 - size``. Folders are rows of ``meta``: name and JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final

import apsw

from wesaid import limits
from wesaid.engines.sqlite.connection import fetch
from wesaid.values import Folder, KnownFile, Scope, SourceState

_FOLDER: Final = "folder:"
_FILE: Final = "f.path, f.tool, f.size, f.mtime_ns"


def recent_files(db: apsw.Connection, scope: Scope, limit: int) -> list[KnownFile]:
    """See the contract. The work is bounded by ``limit`` or by the scope: few files are sorted, of many the latest sessions have some."""
    if scope.keys is None:
        few = int(db.execute("SELECT count(*) FROM (SELECT 1 FROM source_session LIMIT ?)", (limit + 1,)).get) <= limit
        walk = "source_session p CROSS JOIN session s ON s.key = p.key" if few else "session s CROSS JOIN source_session p ON p.key = s.key"
        rows = fetch(
            db,
            f"SELECT {_FILE} FROM {walk} CROSS JOIN source f ON f.path = p.path ORDER BY s.updated_at DESC, s.key LIMIT ?",
            (limit,),
        )
    else:
        wanted = json.dumps(sorted(scope.keys))
        rows = fetch(
            db,
            f"SELECT {_FILE} FROM json_each(?1) j CROSS JOIN session s ON s.key = j.value CROSS JOIN source_session p ON p.key = s.key"
            " CROSS JOIN source f ON f.path = p.path"
            " WHERE NOT EXISTS (SELECT 1 FROM json_each(f.keys) k WHERE k.value NOT IN (SELECT value FROM json_each(?1)))"
            " ORDER BY s.updated_at DESC, s.key LIMIT ?2",
            (wanted, limit),
        )
    return [_known(*row) for row in dict.fromkeys(rows)]


def files(db: apsw.Connection, after: str, limit: int) -> list[KnownFile]:
    """See the contract."""
    rows = fetch(db, f"SELECT {_FILE} FROM source f WHERE f.path > ? ORDER BY f.path LIMIT ?", (after, limit))
    return [_known(*row) for row in rows]


def known_paths(db: apsw.Connection, paths: Iterable[str]) -> set[str]:
    """See the contract."""
    asked, found = list(paths), set[str]()
    for begin in range(0, len(asked), limits.FRESH_PAGE_FILES):
        page = json.dumps(asked[begin : begin + limits.FRESH_PAGE_FILES])
        found.update(path for (path,) in fetch(db, "SELECT f.path FROM json_each(?) j CROSS JOIN source f ON f.path = j.value", (page,)))
    return found


def _known(path: str, tool: str, size: int, mtime_ns: int) -> KnownFile:
    return KnownFile(path, tool, size if size >= 0 else -1 - size, mtime_ns, size < 0)


def size_of(state: SourceState) -> int:
    """A source's size as it is kept."""
    return -1 - state.size if state.missing else state.size


def folders(db: apsw.Connection) -> list[Folder]:
    """See the contract."""
    rows = fetch(db, "SELECT name, value FROM meta WHERE name >= ? AND name < ? ORDER BY name", (_FOLDER, _FOLDER + "\U0010ffff"))
    return [Folder(name[len(_FOLDER) :], *json.loads(value)) for name, value in rows]


def note_folder(db: apsw.Connection, folder: Folder) -> None:
    """See the contract."""
    value = json.dumps([folder.tool, folder.agent, folder.mtime_ns])
    db.execute("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)", (_FOLDER + folder.path, value))


def forget_folder(db: apsw.Connection, path: str) -> None:
    """See the contract."""
    db.execute("DELETE FROM meta WHERE name = ?", (_FOLDER + path,))

"""What repairs could not save, as a row of ``meta``; and sources that have to be read anew for it.

It refuses to know how anything was lost. A row that cannot be read says nothing.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict
from typing import Any, Final

import apsw

from wesaid.engines.sqlite.connection import fetch
from wesaid.values import Lost

_NAME: Final = "lost"


def lost(db: apsw.Connection) -> Lost | None:
    """What ``note`` was last told."""
    try:
        found = _json(db.execute("SELECT value FROM meta WHERE name = ?", (_NAME,)).get)
    except (apsw.CorruptError, apsw.SQLError, apsw.IOError):
        return None
    if not isinstance(found, dict):
        return None
    events = found.get("events")
    return Lost(
        at=found["at"] if isinstance(found.get("at"), int) else 0,
        events={key: count for key, count in events.items() if isinstance(count, int) and count > 0} if isinstance(events, dict) else {},
        uncounted=found.get("uncounted") is True,
        deletions=found.get("deletions") is True,
        aside=found["aside"] if isinstance(found.get("aside"), str) else "",
    )


def note(db: apsw.Connection, now: Lost | None) -> None:
    """Remember it in place of what was remembered."""
    if now is None or not (now.events or now.uncounted or now.deletions):
        db.execute("DELETE FROM meta WHERE name = ?", (_NAME,))
    else:
        db.execute(
            "INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)", (_NAME, json.dumps({**asdict(now), "events": dict(now.events)}))
        )


def added(before: Lost | None, now: Lost) -> Lost:
    """What two repairs together could not save."""
    if before is None:
        return now
    events = {key: before.events.get(key, 0) + now.events.get(key, 0) for key in {**before.events, **now.events}}
    return Lost(
        at=now.at,
        events=events,
        uncounted=before.uncounted or now.uncounted,
        deletions=before.deletions or now.deletions,
        aside=now.aside or before.aside,
    )


def read_anew(db: apsw.Connection, keys: Collection[str] | None) -> None:
    """Let an import read the sources of these sessions anew (None: every source), and compare them with what is stored."""
    wanted = None if keys is None else set(keys)
    for path, told, state, size in fetch(db, "SELECT path, keys, state, size FROM source ORDER BY path"):
        names = _json(told)
        if wanted is not None and not (isinstance(names, list) and wanted.intersection(name for name in names if isinstance(name, str))):
            continue
        known = _json(state)
        if not isinstance(known, dict):
            db.execute("DELETE FROM source WHERE path = ?", (path,))
            db.execute("DELETE FROM source_session WHERE path = ?", (path,))
            continue
        windows = known.get("windows")
        if isinstance(windows, dict):  # of a database
            known["windows"] = {name: {**kept, "compares": True} for name, kept in windows.items() if isinstance(kept, Mapping)}
        known["complete"] = False
        # No size and no beginning: whatever the file is now, it is not what was read. A missing one stays missing (its size is negative).
        db.execute("UPDATE source SET state = ?, head_digest = '', size = ? WHERE path = ?", (json.dumps(known), min(size, 0), path))


def _json(text: Any) -> Any:
    try:
        return json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None


__all__ = ["added", "lost", "note", "read_anew"]

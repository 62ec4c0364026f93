"""Putting a database right in place, inside the caller's transaction: rows that refer to nothing, paths, the index, counters.

Everything here is made of what was said, and is made again from it; `event`, `session` and `window` rows are never taken away. Refuses to work
where pages are damaged: that is `salvaging`, on a copy.
"""

from __future__ import annotations

from typing import Final

import apsw

from wesaid.engines.sqlite import checking, erasing, losses, marking, schema
from wesaid.engines.sqlite.connection import fetch
from wesaid.engines.sqlite.records import LOW, SHIFT
from wesaid.engines.sqlite.writer import SqliteWriter
from wesaid.rules import branch
from wesaid.values import Flag, Lost, Mended

_LONELY: Final = (
    "DELETE FROM path WHERE NOT EXISTS (SELECT 1 FROM event e WHERE e.place = path.place)",
    "DELETE FROM stale WHERE window NOT IN (SELECT window FROM window)",
    "DELETE FROM source_session WHERE path NOT IN (SELECT path FROM source)",
)


def mend(db: apsw.Connection, writer: SqliteWriter, agent_id: str, *, anew: bool, now: int | None) -> Mended:
    """See ``engines.contract.Store.mend``; without ``now`` somebody else has told already what was lost."""
    orphans = adopt(db, agent_id)
    anew = anew or orphans > 0  # index rows name the session that their window had
    if anew:
        _make_tables(db)
        writer.drop_index()
    for path in checking.damaged_sources(db):
        db.execute("DELETE FROM source WHERE path = ?", (path,))
        orphans += db.changes()
    for statement in _LONELY:
        db.execute(statement)
        orphans += db.changes()
    lonely = fetch(db, "SELECT rid FROM entry WHERE NOT EXISTS (SELECT 1 FROM event e WHERE e.place = entry.place)")
    for (rid,) in lonely:
        db.execute("DELETE FROM words WHERE rowid = ?", (rid,))
        db.execute("DELETE FROM entry WHERE rid = ?", (rid,))
    paths, lost = 0, dict[str, int]()
    for (window,) in fetch(db, "SELECT window FROM window"):
        if not (checking.is_right(db, window) and checking.is_numbered(db, window)):
            gone = _again(db, writer, window)
            paths += 1
            if gone:
                key = db.execute("SELECT s.key FROM window w JOIN session s ON s.token = w.session WHERE w.window = ?", (window,)).get
                lost[str(key)] = lost.get(str(key), 0) + gone
    if lost and now is not None:
        losses.read_anew(db, lost)
        losses.note(db, losses.added(losses.lost(db), Lost(at=now, events=lost)))
    remade = 0
    if anew:
        writer.drop_index()
        remade = int(db.execute("SELECT count(*) FROM stale").get)
    return Mended(paths=paths, orphans=orphans + len(lonely), indexes=remade, counters=_count(db), lost=sum(lost.values()))


def _make_tables(db: apsw.Connection) -> None:
    """Tables beside the index that are not there, and how far is known what they hold."""
    for name in ("path", "word", "stale"):
        if not checking.exists(db, name):
            makes = (f"CREATE TABLE {name} ", f"ALTER TABLE {name} ")
            for statement in (one for step in schema.MIGRATIONS for one in step if one.startswith(makes)):
                db.execute(statement)
    db.execute("INSERT OR REPLACE INTO meta (name, value) SELECT ?, coalesce(max(window), 0) FROM window", (marking.WINDOWS,))
    # The round of erasing under way names segments that will be gone; another one begins, for what the dropped pages held.
    db.execute("DELETE FROM meta WHERE name = ?", (erasing.ROUND,))
    db.execute("INSERT OR REPLACE INTO meta (name, value) VALUES (?, 1)", (erasing.PENDING,))


def adopt(db: apsw.Connection, agent_id: str) -> int:
    """Give events that no session has a session of their own, so that they can be read; how many windows there were."""
    known = {window for (window,) in fetch(db, "SELECT window FROM window")}
    dialect = db.execute("SELECT dialect FROM session GROUP BY dialect ORDER BY count(*) DESC LIMIT 1").get or "openclaw"
    lost = [window for window in checking.windows_of_events(db) if window not in known]
    for window in lost:
        # It may have been hidden since its chain was rewound into another window, which then has the same events: history alone shows it.
        base = window << SHIFT
        copied = (
            "SELECT EXISTS (SELECT 1 FROM event e JOIN event o ON o.id = e.id AND o.place >> ?3 <> ?4 WHERE e.place >= ?1 AND e.place < ?2)"
        )
        findable = not db.execute(copied, (base, base + LOW, SHIFT, window)).get
        db.execute(
            "INSERT INTO window (window, session, session_id, ordinal, reason, created_at, findable, cursor) VALUES (?, 0, ?, 0, 'recovered', 0, ?, ?)",
            (window, f"recovered-{window}", findable, branch.START.to_json()),
        )
    homeless = fetch(db, "SELECT window, session_id FROM window WHERE session NOT IN (SELECT token FROM session)")
    for window, session_id in homeless:
        base = window << SHIFT
        latest = int(
            db.execute("SELECT coalesce(max(timestamp), 0) FROM event WHERE place >= ? AND place < ?", (base, base + LOW)).get or 0
        )
        db.execute(
            "INSERT INTO session (key, session_id, dialect, kind, created_at, updated_at) VALUES (?, ?, ?, 'import', ?, ?)",
            (f"agent:{agent_id}:import:recovered-{window}", session_id, dialect, latest, latest),
        )
        db.execute("UPDATE window SET session = ? WHERE window = ?", (db.last_insert_rowid(), window))
    for token, session_id in fetch(
        db, "SELECT token, session_id FROM session s WHERE NOT EXISTS (SELECT 1 FROM window w WHERE w.session = s.token)"
    ):
        db.execute(
            "INSERT INTO window (session, session_id, ordinal, reason, created_at, findable, cursor) VALUES (?, ?, 0, 'recovered', 0, 1, ?)",
            (token, session_id, branch.START.to_json()),
        )
    return len(homeless)


def _again(db: apsw.Connection, writer: SqliteWriter, window: int) -> int:
    """Store a window's path anew; how many of its events are not there. Its index rows stay where they are on it; the rest are dropped as the window is indexed again."""
    base, end = window << SHIFT, (window + 1) << SHIFT
    places = [place for (place,) in fetch(db, "SELECT place FROM event WHERE place >= ? AND place < ? ORDER BY place", (base, end))]
    counted = db.execute("SELECT next_seq FROM window WHERE window = ?", (window,)).get
    lost = max(counted if counted <= LOW else 0, (places[-1] & LOW) + 1 if places else 0) - len(places)
    db.execute("DELETE FROM path WHERE (spot >= ?1 AND spot < ?2) OR (place >= ?1 AND place < ?2)", (base, end))
    for seq, place in enumerate(places):  # numbered without gaps, from below, so that no number is taken
        if place != base + seq:
            db.execute("UPDATE event SET place = ? WHERE place = ?", (base + seq, place))
            db.execute("UPDATE entry SET place = ? WHERE place = ?", (base + seq, place))
    db.execute(
        "UPDATE window SET path_length = 0, next_seq = ?, cursor = ? WHERE window = ?", (len(places), branch.START.to_json(), window)
    )
    writer.rebuild(window)
    findable = db.execute("SELECT findable FROM window WHERE window = ?", (window,)).get
    if findable:
        db.execute(
            "INSERT INTO stale (window, keep, purge) VALUES (?, 0, 0) ON CONFLICT (window) DO UPDATE SET keep = 0, purge = 0", (window,)
        )
    else:
        db.execute("DELETE FROM stale WHERE window = ?", (window,))
    return lost


def _count(db: apsw.Connection) -> int:
    """Counters as they should be; how many were wrong."""
    wrong = [(there, token) for token, counted, there in fetch(db, checking.COUNTED, (int(Flag.COPY),)) if counted != there]
    db.executemany("UPDATE session SET message_count = ? WHERE token = ?", wrong)
    changed = len(wrong)
    for name, number in zip(("messages", "drift"), checking.totals(db), strict=True):
        stored = db.execute("SELECT value FROM meta WHERE name = ?", (name,)).get
        if not isinstance(stored, int) or (stored != number if name == "messages" else stored < number):
            db.execute("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)", (name, number))
            changed += 1
    return changed


__all__ = ["adopt", "mend"]

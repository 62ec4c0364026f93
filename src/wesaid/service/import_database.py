"""A tool's database of many conversations into its sessions: each window is read on from the row where the last import ended.

The database is one source of the account. Invariants beside those of ``import_writing``: what is remembered of each window (its last row,
the digest of that row, the mark of its last rewriting) is written in the transaction that holds its events; a window whose rows may have
been rewritten is read anew and compared with what is stored; a session that vanished from the database stays, and says that its source
is missing. What is remembered holds no text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from wesaid import keys, limits
from wesaid.engines.contract import Writer
from wesaid.errors import SourceError
from wesaid.importers import NATIVE, coding, openclaw_sqlite, reading
from wesaid.importers.known import MAIN, Database, Reason, Told
from wesaid.importers.openclaw import LineReader
from wesaid.importers.openclaw_sqlite import Generation
from wesaid.importers.reading_sqlite import Snapshot, snapshot
from wesaid.rules import branch
from wesaid.service.import_facts import Target
from wesaid.service.import_refusing import NEEDLE, REFUSED, says_mark
from wesaid.service.import_writing import Intake
from wesaid.service.preparing import again, readable
from wesaid.values import Nav, SourceState, WindowSpec

Kept = dict[str, Any]  # what is remembered of a window; see `_remember`
Held = Mapping[str, tuple[str, int]]  # what a database holds: session id -> key and ordinal of the window


@dataclass(slots=True)
class Standing:
    """What stands against a session of the database, or nothing does."""

    refused: Reason | None = None
    lifts: str | None = None  # a tombstone that is to be lifted
    stored: Mapping[str, tuple[int, str, bool]] = field(default_factory=dict)  # its windows here: session id -> ordinal, reason, findable


@dataclass(slots=True)
class Progress:
    """How far a window was read."""

    window: Generation
    row: str  # digest of what the database says of its session
    seq: int
    tail: str
    compares: bool
    before: Kept | None  # what was known of it, of which this reading is the rest
    findable: bool  # as the database has it
    complete: bool = False


@dataclass(slots=True)
class DatabaseImport(Intake):
    """One database's import."""

    held: dict[str, tuple[str, int]] = field(init=False, default_factory=dict)
    _identity: reading.Identity = field(init=False)
    _kept: dict[str, Kept] = field(init=False, default_factory=dict)
    _firsts: dict[str, str] = field(init=False, default_factory=dict)
    _progress: dict[str, Progress] = field(init=False, default_factory=dict)
    _waiting: int = field(init=False, default=0)
    _size: int = field(init=False, default=0)
    _cut: bool = field(init=False, default=False)  # the last import did not come to its end

    @property
    def _database(self) -> Database:
        if not isinstance(self.source, Database):
            raise TypeError(self.source)
        return self.source

    def read_all(self) -> None:
        """Every window that has something new."""
        with self.view() as view:
            state = self.pace.stored = view.source(self.source.name) if view else None
        self._identity = reading.identify(self.source.path, like=state.head_digest if state else "")
        if state is not None:
            self._kept, self._firsts = dict(state.state["windows"]), dict(state.state["firsts"])
            self._cut = not state.state["complete"]
            if self._is_unchanged(state):
                return
        if not self.pace.is_quick(self._identity.size, 0, anew=True):
            return
        failed: SourceError | None = None
        with snapshot(self.source.path, self.home.path if self.home.path.is_dir() else None) as taken:
            if openclaw_sqlite.is_without(taken):
                self.account.skip("empty")
                return
            windows = openclaw_sqlite.generations(taken, self._database)
            self.held = {window.spec.session_id: (window.key, window.ordinal) for window in windows}
            for key, own in groupby(windows, key=lambda window: window.key):
                try:
                    self._session(taken, key, list(own))
                except SourceError as error:  # a damaged page must not keep the other sessions out
                    failed = failed or error
        self._commit(complete=failed is None)
        if failed is not None:
            raise failed

    # ── what is new ──────────────────────────────────────────────────────────────────────────────────────────────
    def _is_unchanged(self, state: SourceState) -> bool:
        """Whether nothing of the database is new; then the account is what the last import said."""
        now = self._identity
        if not state.state["complete"] or state.missing:
            return False
        if (state.size, state.mtime_ns, state.head_digest) != (now.size, now.mtime_ns, now.head_digest):
            return False
        there = sorted((kept for kept in self._kept.values() if not kept["gone"]), key=lambda kept: str(kept["key"]))
        standings: dict[str, Standing] = {}
        for key, grouped in groupby(there, key=lambda kept: str(kept["key"])):
            windows = list(grouped)
            standings[key] = standing = self._standing(key, [kept["name"] for kept in windows])
            for kept in windows:
                lost = kept["stored"] and standing.refused is None and kept["name"] not in standing.stored
                if lost or standing.lifts or (kept["refused"] == "deleted" and standing.refused is None):
                    return False
        for kept in there:
            self._carry(kept, standings[kept["key"]])
        self.held = dict(held_of(state))
        return True

    def _standing(self, key: str, names: Iterable[str]) -> Standing:
        """What stands against a session with windows of these names, as far as the store knows."""
        if keys.is_incognito(key):
            return Standing("incognito")
        if keys.parse(key).agent_id != self.source.agent:
            return Standing("other-agent")
        with self.view() as view:
            if view is None:
                return Standing()
            found = (view.tombstone(key), *(view.tombstone_by_id(name) for name in names))
            tombstone = next((one for one in found if one is not None), None)
            if tombstone is not None and self.again not in {key, tombstone.key}:
                return Standing("deleted")
            stored = {one.session_id: (one.ordinal, one.reason, one.findable) for one in view.windows(key)}
            return Standing(None, tombstone.key if tombstone else None, stored)

    def _carry(self, kept: Kept, standing: Standing) -> None:
        """Account for what earlier imports met in a window."""
        if standing.refused == "deleted" and not kept["refused"]:
            if kept["n"]:
                self.account.skip("deleted", kept["n"])
            return
        self.account.unchanged += kept["n"]
        for reason, count in kept["skip"].items():
            self.account.skip(reason, count)
        self.account.damaged_lines += kept["damaged"]
        if not kept["refused"]:
            self.account.keys.add(kept["key"])

    # ── one session ──────────────────────────────────────────────────────────────────────────────────────────────
    def _session(self, taken: Snapshot, key: str, windows: list[Generation]) -> None:
        standing = self._standing(key, [window.spec.session_id for window in windows])
        if standing.refused in {"incognito", "other-agent"}:
            self.account.skip(standing.refused, len(windows))
            return
        read_to = {window.session_id: self._read_to(taken, window, standing) for window in windows}
        if standing.refused is None and self._is_marked(taken, windows, read_to):
            standing.refused = REFUSED
            read_to = {window.session_id: self._read_to(taken, window, standing) for window in windows}
            self.forget_refused([key])
        for window in windows:
            self._window(taken, window, standing, read_to[window.session_id])

    def _read_to(self, taken: Snapshot, window: Generation, standing: Standing) -> Kept | None:
        """What is remembered of a window, when its rows up to there are still what they were and what is stored of them is too."""
        kept = self._kept.get(window.session_id)
        if kept is None or kept["compares"] or kept["key"] != window.key or standing.lifts:
            return None
        if kept["refused"] != standing.refused or (not standing.refused and kept["stored"] and kept["name"] not in standing.stored):
            return None
        if (kept["mark"], kept["touched"]) == (window.mark, window.touched) and kept["seq"] == window.last:
            return kept
        is_same = kept["mark"] == window.mark and -1 < kept["seq"] < window.last
        return kept if is_same and openclaw_sqlite.tail(taken, window.session_id, kept["seq"]) == kept["tail"] else None

    def _is_marked(self, taken: Snapshot, windows: list[Generation], read_to: Mapping[str, Kept | None]) -> bool:
        """Whether somebody said in the session that it is not to be indexed. Bytes first: the marker is rare."""
        if any((self._kept.get(window.session_id) or {}).get("refused") == REFUSED for window in windows):
            return True
        for window in windows:
            kept = read_to[window.session_id]
            after = kept["seq"] if kept else -1
            for row in openclaw_sqlite.rows(taken, window.session_id, after) if after < window.last else ():
                if (
                    row.body is not None
                    and coding.may_say(row.body, NEEDLE)
                    and any(says_mark(self.dialect, record) for record in row.line.records)
                ):
                    return True
        return False

    def _window(self, taken: Snapshot, window: Generation, standing: Standing, kept: Kept | None) -> None:
        row, before = openclaw_sqlite.facts_digest(taken, window), self._kept.get(window.session_id)
        stored = standing.stored.get(window.spec.session_id)
        says = window.findable
        if stored is not None and not stored[2] and (before is None or before["findable"]):
            window.findable = False  # another source has taken it out: an older copy of a database does not bring it back
        spec = window.spec
        respec = stored is not None and stored != (spec.ordinal, spec.reason, spec.findable) and not standing.refused
        if kept is not None:
            self._carry(kept, standing)
            if kept["seq"] == window.last and (standing.refused or (kept["row"] == row and not respec)):
                return
        reader = openclaw_sqlite.reader(openclaw_sqlite.source_of(taken, window, self._database))
        target = self._meet(window, reader.told[MAIN], standing, kept)
        target.respec = respec
        target.retitle |= kept is None or respec or kept["row"] != row
        after, tail = (kept["seq"], kept["tail"]) if kept else (-1, "")
        progress = self._progress[target.slot] = Progress(window, row, after, tail, target.known is not None, kept, says)
        navs = self._rows(taken, progress, target, reader)
        if target.known_as == "copy" and target.known is not None and not self.dry_run:
            target.moved |= self._set_aside(target, {nav.id for nav in navs if nav.id})
        if target.moved:
            target.ends, target.end = False, branch.resolve(navs).cursor.leaf
        progress.complete = True
        self._count_up()

    def _meet(self, window: Generation, told: Told, standing: Standing, kept: Kept | None) -> Target:
        """Where a window goes, with what is stored of it when it cannot be read on."""
        name, key = window.session_id, window.key
        target = self.targets[name] = Target(name, key, told, refused=standing.refused, window=window.spec, renews=True)
        target.lifts, target.first, target.begins = standing.lifts, self._firsts.get(key), self._cut
        target.messages = kept["n"] if kept else 0
        target.known_as = "unchanged" if name in self._kept else "copy"
        if window.spec.session_id in standing.stored and not standing.refused:
            target.stored = kept is not None
            with self.view() as view:
                if view is not None and kept is None:
                    self.load(target, view, session_id=window.spec.session_id)
                row = view.session(key) if view is not None else None
                target.retitle = row is None or row.facts.title is None
        return target

    def _rows(self, taken: Snapshot, progress: Progress, target: Target, reader: LineReader) -> list[Nav]:
        """Take a window's rows from where it stands; when it is compared, what each does to the branch."""
        navs: list[Nav] = []
        for row in openclaw_sqlite.rows(taken, progress.window.session_id, progress.seq):
            line = row.line
            self.account.damaged_lines += line.damaged
            target.damaged += line.damaged
            for record in line.records:
                event = reader.entry(record, row.seq, row.written_at)[1]
                if target.known is not None:
                    navs.append(event.nav)
                self._size += self.take(target, event)
            progress.seq, progress.tail = row.seq, row.digest
            self._count_up()
        return navs

    def _set_aside(self, target: Target, names: set[str]) -> bool:
        """Keep what only a file had said, when the database has gone another way: in a window beside; whether there was any.

        A window mirrors the database's, so that what was imported from a file before would be abandoned there.
        """
        if self.store is None or target.window is None:
            return False
        name, subagent, after = target.window.session_id, ":subagent:" in target.key, -1
        beside = WindowSpec(session_id=f"{name}@file", ordinal=target.window.ordinal - 1, reason="recovery")
        found = ours = False
        while True:
            with self.store.reading() as view:
                window = view.window(target.key, name)
                rows = () if window is None else view.events(window.window, after_seq=after, limit=limits.REBUILD_SLICE_ROWS)
            if not rows:
                return found and not ours
            after = rows[-1].seq
            alone = [row for row in rows if row.id and row.id not in names and row.position is not None]
            told = [(row, record) for row in alone if (record := readable(row)) is not None]
            ours |= any(NATIVE in record for _, record in told)
            made = [again(self.home.redactor, self.dialect.name, row, subagent=subagent) for row, record in told if NATIVE not in record]
            kept = [prepared for prepared in made if prepared.event.nav.has_message]
            if kept:
                found = True
                with self.store.writing() as writer:
                    writer.append(target.key, kept, window=beside)

    def _count_up(self) -> None:
        self._waiting += 1
        is_full = self._waiting >= limits.IMPORT_BATCH_MESSAGES or self._size >= limits.IMPORT_BATCH_BYTES
        if self._size >= limits.IMPORT_HELD_BYTES or (is_full and not self.holds):
            self._commit(complete=False)

    # ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────
    def _commit(self, *, complete: bool) -> None:
        """One transaction: what waits, and how far each window was read. What is read to its end is let go."""
        self._waiting = self._size = 0
        done = [self.targets[slot] for slot, progress in self._progress.items() if progress.complete]
        self.commit(done, lambda writer, _: self._note(writer, complete=complete))
        for target in done:
            del self.targets[target.slot], self._progress[target.slot]

    def _note(self, writer: Writer, *, complete: bool) -> None:
        for slot, progress in self._progress.items():
            target = self.targets[slot]
            self._kept[slot] = _remember(progress, target)
            if target.first and not target.refused:
                self._firsts[target.key] = target.first
        if complete:
            self._note_gone(writer)
        live = {kept["key"] for kept in self._kept.values() if kept["stored"] and not kept["gone"]}
        writer.note_source(
            SourceState(
                path=self.source.name,
                tool=self.source.tool,
                size=self._identity.size,
                mtime_ns=self._identity.mtime_ns,
                offset=0,
                head_digest=self._identity.head_digest,
                keys=tuple(sorted(live)),
                state={"complete": complete, "windows": dict(self._kept), "firsts": dict(self._firsts)},
            )
        )

    def _note_gone(self, writer: Writer) -> None:
        """Windows that the database has no more. A session of which it has none at all has lost its source, until it is back."""
        were_gone = {kept["key"] for kept in self._kept.values() if kept["gone"]}
        self._kept = {slot: {**kept, "gone": kept["name"] not in self.held} for slot, kept in self._kept.items()}
        there = {key for key, _ in self.held.values()}
        for key in {kept["key"] for kept in self._kept.values() if kept["gone"]} - there:
            if writer.session(key) is not None:
                writer.note_source(_gone(self._gone_path(key), self.source.tool, key))
        for key in were_gone & there:
            writer.forget_source(self._gone_path(key))

    def _gone_path(self, key: str) -> str:
        """The name of a source that is no file: nothing lies below a database."""
        return f"{self.source.name}/{keys.short_digest(key)}"


def held_of(state: SourceState) -> Held:
    """What a database held when it was last read."""
    return {kept["name"]: (kept["key"], kept["ordinal"]) for kept in state.state["windows"].values() if not kept["gone"]}


def _gone(path: str, tool: str, key: str) -> SourceState:
    """A source that is no file: what stands for a session that its database has lost."""
    state = {"complete": False, "windows": {}, "firsts": {}}
    return SourceState(path=path, tool=tool, size=0, mtime_ns=0, offset=0, head_digest="", state=state, keys=(key,), missing=True)


def _remember(progress: Progress, target: Target) -> Kept:
    """What is remembered of a window. ``n`` counts its messages here, ``skip`` those that were left out."""
    before = progress.before or {"skip": {}, "damaged": 0}
    reasons = {*before["skip"], *target.skipped}
    return {
        "name": progress.window.spec.session_id,
        "key": target.key,
        "ordinal": progress.window.ordinal,
        "seq": progress.seq,
        "tail": progress.tail,
        "mark": progress.window.mark,
        "touched": progress.window.touched,
        "row": progress.row if progress.complete else "",
        "n": target.messages,
        "skip": {reason: before["skip"].get(reason, 0) + target.skipped.get(reason, 0) for reason in sorted(reasons)},
        "damaged": before["damaged"] + target.damaged,
        "refused": target.refused,
        "stored": target.stored and not target.refused,
        "findable": progress.findable,
        "compares": progress.compares and not progress.complete,
        "gone": False,
    }


__all__ = ["DatabaseImport", "Held", "held_of"]

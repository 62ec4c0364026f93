"""The promise of an engine: where rows live, and what one transaction holds.

An engine keeps, for each agent, sessions with their windows, events, visible paths and index rows. It knows two rules: ``rules.branch``
(which events are visible) and ``rules.fold`` (how index text was made). It refuses to know who asks, what is secret, and what ranks first:
it gets *prepared* events and a *scope*, and gives rows and features.

Invariants, which every engine's tests check:

* a message is findable the moment its transaction commits, and a search never returns what the visible path does not hold; the visible
  path is always right, and when index rows for some of it are still missing, from position ``StaleWindow.keep`` on, the window is stale;
* deleting a session removes its events, path and index rows in the deleting transaction and leaves a tombstone;
* ``candidates`` applies scope and filters before its limit, and returns newest first (oldest first on demand);
* a failed ``writing`` block leaves nothing behind.

Every method raises only ``wesaid.errors``. A ``View`` or ``Writer`` is valid inside its ``with`` block only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from wesaid.values import (
    NO_FILTERS,
    Clause,
    Facts,
    Filters,
    Flaw,
    Folder,
    Found,
    Gap,
    KnownFile,
    Lost,
    Match,
    Mended,
    Placed,
    Prepared,
    Said,
    Salvaged,
    Scope,
    SessionRow,
    SourceState,
    StaleWindow,
    StoredEvent,
    Term,
    Tombstone,
    Traces,
    Versions,
    WindowRow,
    WindowSpec,
)


class View(Protocol):
    """A consistent reading of one agent's database."""

    # sessions
    def session(self, key: str) -> SessionRow | None:
        """The session of a full key."""

    def session_by_id(self, session_id: str, scope: Scope) -> SessionRow | None:
        """The session in scope one of whose windows has this id (the newest such session)."""

    def sessions(self, scope: Scope, *, offset: int = 0, limit: int | None = None, filters: Filters = NO_FILTERS) -> list[SessionRow]:
        """Sessions in scope, latest ``updated_at`` first, ties by key; of ``filters`` only ``tool`` and ``project`` are looked at."""

    def tools(self, scope: Scope) -> list[str]:
        """The tools that sessions in scope came from, sorted."""

    def sessions_with(self, event_id: str, scope: Scope) -> list[SessionRow]:
        """Sessions in scope one of whose windows has an event of this id, latest first; a handful at most."""

    def count_sessions(self, scope: Scope, filters: Filters = NO_FILTERS) -> int:
        """How many sessions are in scope; cheap. Of ``filters`` only ``tool`` and ``project`` are looked at."""

    def children(self, key: str) -> list[str]:
        """Keys in this database whose ``spawned_by`` is ``key``."""

    def forks(self, scope: Scope) -> list[tuple[str, str]]:
        """``(key, forked_from)`` of every fork and resume in scope, by key."""

    def windows(self, key: str) -> list[WindowRow]:
        """Every window of a session, oldest first; the last one is current."""

    def window(self, key: str, session_id: str | None = None) -> WindowRow | None:
        """The window of a session that has this id; without one its current window. What this costs does not depend on how many there are."""

    def tombstone(self, key: str) -> Tombstone | None:
        """What a deleted session left, until it is brought back on purpose."""

    def tombstone_by_id(self, session_id: str) -> Tombstone | None:
        """The same, by the id of one of its windows."""

    def unerased(self) -> bool:
        """Whether deletes have left something in the files that ``Store.erase`` has not yet taken out."""

    def stored(self, key: str) -> Iterator[bytes]:
        """What is stored of a session as it lies in the files: bodies, then title, label, project, extra. For finding it again after a delete."""

    # events
    def events(self, window: int, *, after_seq: int = -1, limit: int) -> list[StoredEvent]:
        """Rows of a window in order of ``seq``, all of them, visible or not. A row that cannot be unpacked has an empty ``body``, here as everywhere."""

    def event(self, window: int, event_id: str) -> StoredEvent | None:
        """The newest row with this id in a window."""

    def path(self, window: int, *, start: int, count: int, shown: bool = False) -> list[StoredEvent]:
        """At most ``count`` rows of the visible path from position ``start`` on; with ``shown``, only those that history shows.

        The path is right in a stale window too; only index rows may lack.
        """

    def path_length(self, window: int) -> int:
        """Number of positions of the visible path."""

    def shown(self, window: int) -> int:
        """How many rows of the visible path history shows (``Prepared.shown``)."""

    def shown_at(self, window: int, number: int) -> int | None:
        """The position of the ``number``-th shown row, counted from 0; None when there are fewer."""

    def locate(self, key: str, event_id: str, session_id: str | None = None) -> StoredEvent | None:
        """The visible row with this id in the newest window that has one (or in the window named); None when it is not visible."""

    def known_ids(self, key: str, ids: Iterable[str]) -> set[str]:
        """Which of these event ids a session has already, in any window."""

    def holders(self, ids: Iterable[str]) -> list[tuple[str, str]]:
        """``(event id, key)`` of every session that has one of these events, visible or not; work is by how many ids, not by how many sessions."""

    # index
    def frequency(self, term: Term, scope: Scope, *, bound: int) -> int:
        """In how many indexed messages of the scope a term occurs, counted up to ``bound``."""

    def indexed(self, scope: Scope, *, bound: int) -> int:
        """How many messages the scope's index has, counted up to ``bound`` for a narrow scope (exact for everything)."""

    def candidates(  # noqa: PLR0913 - what, where, and how far: all of it decides the walk
        self, match: Match, scope: Scope, filters: Filters, *, limit: int, oldest_first: bool = False, beyond: int | None = None
    ) -> Found:
        """Messages that match, newest first, within scope and filters *before* the limit.

        ``beyond`` continues a walk: only rows older (newer, when oldest first) than that rowid.
        """

    def titles(self, clauses: Sequence[Clause], scope: Scope, *, limit: int) -> list[str]:
        """Keys of sessions whose title or label has every clause, latest first."""

    def stale(self, scope: Scope, *, limit: int, lacking: bool = False) -> list[StaleWindow]:
        """Windows in scope with work to do on their index, or only those that lack rows. What this costs is bounded by how many are stale, never by how many exist."""

    def unindexed(self, window: int, versions: Versions, *, start: int | None = None, limit: int) -> Gap | None:
        """The next work on a stale window, from ``keep`` on or from where an earlier gap ended, with at most ``limit`` events.

        Only events that said something are in it. Its size and the positions looked at are bounded; None when there is nothing from there on.
        """

    def versions(self) -> Versions | None:
        """The rules that all index rows outside stale windows were made with; ``UNKNOWN`` for several, None before the first row."""

    def renewing(self, *, limit: int) -> list[SessionRow] | None:
        """The next sessions whose title, label and project an older redactor let pass, by token.

        Empty when all were looked at and ``Writer.renewed`` was not told that the rows are renewed too; None when nothing is to be renewed.
        """

    def unmarked(self) -> bool:
        """Whether rows have no index and no mark says so: a restored backup, a dropped index, windows of a program that made none.

        A few look-ups, whatever the number of sessions.
        """

    # sources, totals
    def source(self, path: str) -> SourceState | None:
        """How far a transcript file was read."""

    def sources(self, key: str | None = None) -> list[SourceState]:
        """Every known source (that a session came from), by path."""

    def recent_files(self, scope: Scope, *, limit: int) -> list[KnownFile]:
        """Known sources of the sessions that were last updated, latest first, each once; of a narrow scope only those that are in no other session."""

    def files(self, *, after: str, limit: int) -> list[KnownFile]:
        """Known sources by path, from the first one after ``after`` on (``""``: from the first)."""

    def known_paths(self, paths: Iterable[str]) -> set[str]:
        """Which of these paths are known sources; a statement a page of paths."""

    def folders(self) -> list[Folder]:
        """The folders that are followed, by path."""

    def lost(self) -> Lost | None:
        """What repairs could not save, as ``Writer.note_lost`` was last told."""

    def totals(self) -> Mapping[str, int]:
        """``sessions``, ``windows``, ``events``, ``messages`` (indexed), ``stale``, ``tombstones``, ``bytes`` (of storage)."""


class Writer(View, Protocol):
    """One transaction. Reads see its own writes."""

    def create(self, facts: Facts) -> SessionRow:
        """A new session with one empty window. ConflictError if the key exists.

        A tombstone of the key stays: what was deleted must not come back by re-import because somebody goes on under the same name.
        """

    def append(self, key: str, prepared: Sequence[Prepared], *, window: WindowSpec | None = None) -> list[Placed]:
        """Add events in order, with path and index rows. An id that the window has with an equal body is a duplicate: nothing is written.

        Without ``window`` the events go to the current one; with it, to the window of that session id, made when absent. A window that is
        there takes the ordinal, reason and ``findable`` that are given now, also with no events: unfindable drops its index rows in this
        transaction, findable leaves them to be rebuilt.
        NotFoundError if the session is absent.
        """

    def insert(self, window: int, before: Mapping[int, Sequence[Prepared]]) -> None:
        """Put events where they belong in a window: in front of the event of each seq, which moves up with all that follow it.

        The path is resolved anew, and the window is stale from the first change. Reads the whole window: for what a damaged file had lost.
        """

    def rebuild(self, window: int) -> None:
        """Resolve a window's path anew, drop or hide index rows that are no longer on it, and mark it stale from the divergence point.

        After ``rebuild`` of a healthy window everything is as before and it is stale from its end, that is: one ``index`` step ends it.
        """

    def index(self, window: int, end: int, said: Mapping[int, Said | None]) -> None:
        """Index rows for a gap that ends at position ``end``: what the events of these seqs said, prepared anew.

        Rows that are there are replaced; what is no longer on the path is passed over. Also a step of clearing index rows that a large
        rewind left hidden. The window stops being stale when nothing is left to do.
        """

    def mark(self, versions: Versions) -> None:
        """Mark as stale what was made by other rules, has lost its index, or never had one; from now on ``versions`` are the store's.

        Rows that are there keep serving until they are renewed; of another redactor, so do titles, labels and projects (``renewing``). What ``unmarked`` found is mended first: missing tables are made again.
        """

    def renewed(self, token: int | None) -> None:
        """The texts of sessions up to this token were looked at; None: all are, and no row is stale any more.

        Then what only they said is to be erased, from the vocabulary too.
        """

    def drop_index(self) -> None:
        """Drop every index row and mark every window stale: for an index that is damaged. Transcripts and paths are not touched."""

    def turn(self, owner: str, *, now: int, until: int, instead_of: str = "") -> str:
        """Take, keep or (with ``until`` in the past) give back the turn to reconcile, so that two processes do not do the same work.

        Whose it is now: ``owner``'s until then (Unix milliseconds), or another's. A turn whose time is over, or too far away to be true, is
        anybody's, and so is that of ``instead_of``, who is known to be gone.
        """

    def patch(self, key: str, facts: Facts) -> SessionRow:
        """Replace a session's facts (its key stays). Lineage once set stays: a different ``spawned_by`` is a ConflictError."""

    def delete(self, key: str, now: int) -> Tombstone:
        """Remove a session in this transaction, leaving a tombstone that names it and all that was deleted under its key before.

        NotFoundError if absent.
        """

    def lift(self, key: str) -> None:
        """Forget a tombstone, so that an import may bring the session back."""

    def note_source(self, state: SourceState) -> None:
        """Remember how far a file was read, in the transaction that stored what it said."""

    def forget_source(self, path: str) -> None:
        """Forget that a file was ever read. Sessions that came from it stay."""

    def note_lost(self, lost: Lost | None) -> None:
        """Remember what a repair could not save, or that nothing is missed any more."""

    def note_folder(self, folder: Folder) -> None:
        """Follow a folder, or remember what of it was looked at."""

    def forget_folder(self, path: str) -> None:
        """Follow a folder no more."""


class Store(Protocol):
    """One agent's database."""

    agent_id: str

    def erase(self, *, seconds: float, now: int, anew: bool = False) -> bool:
        """Take what deletes left out of the files, in short transactions, for about so long; whether nothing is left to do.

        ``anew`` begins a round although none is due: a proof has found something.

        Progress is kept. Others are never made to wait long: while they keep the files busy, nothing is done and False returned. When a
        round of work is done, the tombstones of all deletes before it get ``now`` as ``erased_at``.
        """

    def traces(self, pieces: frozenset[bytes]) -> Traces:
        """Look for pieces of ``limits.PIECE_BYTES`` bytes in every byte of the store's files."""

    def reading(self) -> AbstractContextManager[View]:
        """A consistent snapshot; keep it short, since it pins the write-ahead log."""

    def writing(self, *, seconds: float | None = None) -> AbstractContextManager[Writer]:
        """One transaction: committed at the end of the block, rolled back when it raises.

        Waits for other writers, at most so long when ``seconds`` are given; then it is a StoreBusyError.
        """

    def mend(self, *, anew: bool, now: int) -> Mended:
        """Put right what rows alone can put right, in one transaction: rows that refer to nothing, paths, counters.

        ``anew`` drops the whole index; its windows are then stale, to be filled again as after any rewind. What was said is not touched; events that were
        counted and are not there are remembered as lost, and their sources are to be read anew.
        """

    def checkpoint(self) -> bool:
        """Write the whole log into the file and empty it; False while somebody still reads from it."""

    def close(self) -> None:
        """Release files; further use raises StoreError."""


class Inspection(Protocol):
    """A reading of one agent's database that changes no byte of its files, whatever state they are in."""

    view: View

    def flaws(self, *, now: int, seconds: float, tick: Callable[[str], object]) -> Iterator[Flaw]:
        """What is wrong with pages, rows, paths, counters and index, each kind once. ``tick`` is told what is looked at."""

    def figures(self) -> Mapping[str, int]:
        """Sizes and counts of the files: ``bytes``, ``logBytes``, ``freeBytes``, ``schemaVersion``."""


class Engine(Protocol):
    """All agents of one home."""

    def agents(self) -> list[str]:
        """Ids of the agents that have a database, sorted."""

    def store(self, agent_id: str, *, create: bool = False) -> Store | None:
        """An agent's database, opened once and kept; None when it does not exist and ``create`` is False."""

    def inspecting(self, agent_id: str) -> AbstractContextManager[Inspection]:
        """Look at an agent's database without opening its store. StoreError and its children when not even that is possible."""

    def salvage(self, agent_id: str, *, now: int) -> Salvaged:
        """Read what is readable of a damaged database into a new one, which takes its place once it is checked; the damaged one is kept aside.

        StoreBusyError while another process has it open: a file cannot be exchanged under its hands.
        """

    def close(self) -> None:
        """Close every store."""


__all__ = ["Engine", "Inspection", "Store", "View", "Writer"]

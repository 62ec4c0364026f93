"""Stale windows made whole: slices prepared outside the lock and written inside it, so that neither a writer nor a search waits long.

Three kinds of windows are stale: those whose branch was led elsewhere, those whose rows older rules made, and those that never had an index
(``engines.contract.View.unmarked``). A search works on those in its own scope while it may wait, and wakes a thread for the rest. Progress is kept
in the database: stopping at any moment loses one slice, and whoever comes next goes on. One process works on a store at a time, by turns.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from math import inf
from time import monotonic

from wesaid import limits
from wesaid.engines.contract import Store, View, Writer
from wesaid.errors import StoreError
from wesaid.rules import fold
from wesaid.service import alive, erasing, opening, preparing, process
from wesaid.service.apart import Preparer
from wesaid.service.background import Stopping
from wesaid.service.opening import Home
from wesaid.values import EVERYTHING, UNKNOWN, Gap, Said, Scope, SessionRow, Versions

Piece = tuple[Gap, SessionRow]  # work on a window, and whose it is


def settle(home: Home, scopes: Mapping[str, Scope], *, seconds: float, lacking: bool = False) -> None:
    """Rebuild stale windows in scope for at most about so long, at least one slice (repeated calls end); with 0 nothing is done.

    ``lacking``: only those that lack rows; rows that are only old can wait.

    A store that is read-only, busy or damaged is left as it is: what is stale in it, ``stale_sessions`` tells, and whoever reads it for an
    answer says that it failed. The other agents' windows are not its hostages.
    """
    until = monotonic() + seconds
    worked = seconds <= 0
    for agent, scope in scopes.items():
        with suppress(StoreError):
            store = home.engine.store(agent)
            if store is not None and (not worked or monotonic() < until):
                worked = _Work(home, store, scope, until=until, lacking=lacking).run() or worked
                if not lacking:
                    _renew(home, store, until=until)


def wait_for(home: Home, scopes: Mapping[str, Scope], *, seconds: float) -> None:
    """``settle`` for a search: what is due is marked at once, and what is stale is done when it can be in so long.

    Else the search does not wait for what it will not get.
    """
    left = 0.0
    for agent, scope in scopes.items():
        with suppress(StoreError):
            store = home.engine.store(agent)
            if store is not None:
                _mark(home, store, seconds=max(seconds, limits.POLL_SECONDS))
                left += _left(store, scope, lacking=True)
    if 0 < left <= seconds * limits.REBUILD_ROWS_A_SECOND:
        settle(home, scopes, seconds=seconds, lacking=True)


def _left(store: Store, scope: Scope, *, lacking: bool) -> float:
    """Positions that wait for work; infinitely many when more windows do than are looked at."""
    with store.reading() as view:
        stale = view.stale(scope, limit=limits.STALE_WINDOWS_A_SEARCH, lacking=lacking)
    return sum(window.left for window in stale) if len(stale) < limits.STALE_WINDOWS_A_SEARCH else inf


def stale_sessions(view: View, scope: Scope) -> int:
    """How many sessions in scope are incomplete in this reading, counted up to ``limits.STALE_WINDOWS_A_SEARCH``.

    Rows of an older redactor are there, and serve: they wait for the reconciler and make nothing incomplete.
    """
    made = view.versions()
    if view.unmarked() or (made is not None and UNKNOWN.fold < made.fold < fold.VERSION):
        return min(view.count_sessions(scope), limits.STALE_WINDOWS_A_SEARCH)  # nobody could mark them yet
    return len({window.key for window in view.stale(scope, limit=limits.STALE_WINDOWS_A_SEARCH, lacking=True)})


def reconcile(home: Home, *, seconds: float) -> int:
    """Rebuild whatever is stale in every agent, for at most so long; how many sessions are still stale. What time is left erases."""
    home.background.stop()  # what it had left to do is done here
    until = monotonic() + seconds
    agents = home.engine.agents()
    settle(home, dict.fromkeys(agents, EVERYTHING), seconds=seconds)
    erasing.erase(home, agents, seconds=max(until - monotonic(), 0))
    left = 0
    for agent in agents:
        with suppress(StoreError), home.store(agent).reading() as view:
            left += len({window.key for window in view.stale(EVERYTHING, limit=limits.STALE_WINDOWS_A_SEARCH)}) + is_due(home, view)
            left += view.renewing(limit=1) is not None
    return left


def wake(home: Home, views: Mapping[str, View]) -> None:
    """Start the background reconciler when something in these stores is stale, whoever may see it."""
    # What is due was marked before, or will be by the next search.
    if any(view.stale(EVERYTHING, limit=1) or view.renewing(limit=1) is not None for view in views.values()):
        agents = list(views)
        home.background.wake(lambda stopping: _go_on(home, agents, stopping))


def is_due(home: Home, view: View) -> bool:
    """Whether windows have to be marked first: their rows are of older rules, or are not there at all."""
    made = view.versions()
    is_old = made is not None and (made.fold < fold.VERSION or (made.fold == fold.VERSION and home.redactor.supersedes(made.redact)))
    return is_old or view.unmarked()


def _mark(home: Home, store: Store, *, seconds: float) -> None:
    """Mark what is due, waiting at most so long for other writers."""
    with store.reading() as view:
        if not is_due(home, view):
            return
    with store.writing(seconds=seconds) as writer:
        if is_due(home, writer):
            writer.mark(Versions(fold.VERSION, home.redactor.version))


def _go_on(home: Home, agents: list[str], stopping: Stopping) -> None:
    """All that is stale, in the background: much of it by a process of its own, so that searches of this one keep the interpreter."""
    left = 0.0
    for agent in agents:
        with suppress(StoreError):
            store = home.engine.store(agent)
            left += _left(store, EVERYTHING, lacking=False) if store is not None else 0
    if left < limits.APART_FROM_SLICES * limits.REBUILD_SLICE_ROWS:
        _work_on(home, agents, stopping)
        return
    _work_on(home, agents, stopping, until=0.0)  # one slice here, so that programs that end soon get further too
    if not stopping() and not _is_done_apart(home, agents, stopping):
        _work_on(home, agents, stopping)


def _work_on(home: Home, agents: list[str], stopping: Stopping, *, until: float = inf) -> None:
    for agent in agents:
        with suppress(StoreError):  # busy or damaged: the other agents are not its hostages, and the next search tries again
            store = home.engine.store(agent)
            if store is not None and not stopping():
                _Work(home, store, EVERYTHING, until=until, stopping=stopping).run()
                _renew(home, store, until=until, stopping=stopping)


def _renew(home: Home, store: Store, *, until: float, stopping: Stopping | None = None) -> None:
    """Titles, labels and projects redacted by today's rules, at least one slice of them; when the rows are renewed too, the end of it.

    A slice is read, redacted and written in one transaction: texts are short, and whoever comes next goes on behind it.
    """
    while True:
        with store.reading() as view:
            if view.renewing(limit=1) is None:
                return
        with store.writing(seconds=min(max(until - monotonic(), limits.POLL_SECONDS), limits.BACKGROUND_WAIT_SECONDS)) as writer:
            rows = writer.renewing(limit=limits.REBUILD_SLICE_ROWS)
            for row in rows or ():
                facts = preparing.safe(home.redactor, row).facts
                if facts != row.facts:
                    writer.patch(facts.key, facts)
            if rows:
                writer.renewed(rows[-1].token)
            elif rows is not None and not writer.stale(EVERYTHING, limit=1):
                writer.renewed(None)
        if not rows or monotonic() >= until or (stopping is not None and stopping()):
            return


def _is_done_apart(home: Home, agents: list[str], stopping: Stopping) -> bool:
    """Have another process do it, until it is done or has to stop; False when it cannot be, or failed."""
    if not home.path.is_dir():
        return False  # a home in memory
    running = process.start("wesaid.service.reconciling")
    if running is None:
        return False
    try:
        with suppress(OSError):
            process.put(running.stdin, pickle.dumps((home.path, home.settings, home.redactor, agents, os.getpid())))
        while running.poll() is None and not stopping():
            home.background.pause(limits.APART_POLL_SECONDS)
        return running.returncode == 0 or stopping()
    finally:
        process.end(running)


def main() -> None:
    """The process of ``_is_done_apart``: reconcile what the first message names, while the one that started it is there."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C goes to both; the other side decides
    process.give_way()
    path, settings, redactor, agents, parent = pickle.loads(process.get(sys.stdin.buffer))  # noqa: S301 - from who started this process
    with opening.home_of(path, settings, redactor) as home:
        home.asked_at = inf  # searches of other processes are not seen here: there is always room for them
        _work_on(home, agents, lambda: os.getppid() != parent)


@dataclass(slots=True)
class _Work:
    """Making what is stale in one store and scope whole. With ``stopping`` it is done in the background, and makes room for searches."""

    home: Home
    store: Store
    scope: Scope
    until: float  # by the monotonic clock
    stopping: Stopping | None = None
    lacking: bool = False
    _seen: dict[int, int] = field(default_factory=dict)  # window -> position up to which it was read, and will be written

    def run(self) -> bool:
        """Slice by slice until nothing is stale or the time is over; at least one slice, when it is our turn. Whether it was."""
        if not self._begin():
            return False
        waiting: list[Piece] = []
        with Preparer(self.home.redactor) as preparer:
            while True:
                pieces = self._read(len(waiting))
                said = preparer.collect() if waiting else []
                if pieces:
                    preparer.send([(row.facts.dialect, row.facts.kind == "subagent", event) for gap, row in pieces for event in gap.events])
                began = monotonic()
                if (waiting and not self._write(waiting, said)) or not (waiting or pieces) or self._is_over(waiting):
                    break
                self._make_room(monotonic() - began)
                if not pieces:
                    self._seen.clear()  # once more from where each window stands now: is anything left?
                waiting = pieces
        with self._writing() as writer:
            writer.turn(self.home.owner, now=self.home.now(), until=0)
        return True

    def _begin(self) -> bool:
        """Mark what is due, and wait for our turn while another process is at work; False when nothing is left to do, or no time."""
        _mark(self.home, self.store, seconds=self._patience())
        while True:
            with self.store.reading() as view:
                if not view.stale(self.scope, limit=1, lacking=self.lacking):
                    return False
            with self._writing() as writer:
                if self._has_turn(writer):
                    return True
            if self._is_over():
                return False
            self.home.rest(limits.POLL_SECONDS)

    def _read(self, waiting: int) -> list[Piece]:
        """The next slice of work, of as many windows as it needs; so many others were read and wait to be written."""
        pieces: list[Piece] = []
        rows = looked = 0
        versions = Versions(fold.VERSION, self.home.redactor.version)
        with self.store.reading() as view:
            for stale in view.stale(self.scope, limit=waiting + limits.REBUILD_SLICE_ROWS, lacking=self.lacking):
                if self._seen.get(stale.window, 0) >= stale.keep + stale.left > 0:
                    continue  # read already, and about to be written
                while rows < limits.REBUILD_SLICE_ROWS and looked < limits.REBUILD_LOOK_ROWS:
                    start, most = self._seen.get(stale.window), limits.REBUILD_SLICE_ROWS - rows
                    gap = view.unindexed(stale.window, versions, start=start, limit=most)
                    row = view.session(stale.key) if gap is not None else None
                    if gap is None or row is None:
                        break
                    self._seen[stale.window] = gap.end
                    pieces.append((gap, row))
                    rows += len(gap.events)
                    looked += gap.end - gap.start + 1
        return pieces

    def _write(self, pieces: Sequence[Piece], said: Sequence[Said | None]) -> bool:
        """One transaction; False when the turn was lost to another process, which then does this work."""
        given = iter(said)
        with self._writing() as writer:
            if not self._has_turn(writer):
                return False
            for gap, _ in pieces:
                writer.index(gap.window, gap.end, {event.seq: next(given) for event in gap.events})
        return True

    def _has_turn(self, writer: Writer) -> bool:
        """Take or keep the turn, also from a process that is no more."""
        now = self.home.now()
        holder = writer.turn(self.home.owner, now=now, until=now + limits.TURN_MS)
        if holder != self.home.owner and alive.is_gone(holder):
            holder = writer.turn(self.home.owner, now=now, until=now + limits.TURN_MS, instead_of=holder)
        return holder == self.home.owner

    def _writing(self) -> AbstractContextManager[Writer]:
        return self.store.writing(seconds=self._patience())

    def _patience(self) -> float:
        """How long to wait for other writers: no longer than a search may wait; in the background not so long that nobody can stop it."""
        return min(max(self.until - monotonic(), limits.POLL_SECONDS), limits.BACKGROUND_WAIT_SECONDS)

    def _is_over(self, done: object = True) -> bool:  # noqa: FBT002
        """Whether to end; never before something was done."""
        return bool(done) and (monotonic() >= self.until or (self.stopping is not None and self.stopping()))

    def _make_room(self, worked: float) -> None:
        """Pause as long as the last slice took while people search: they get half of the machine, and all of it in between."""
        if self.stopping is not None and monotonic() - self.home.asked_at < limits.MAKE_ROOM_SECONDS:
            self.home.rest(worked)


if __name__ == "__main__":
    main()

"""Mending what a look has found, from what is safe to what takes a copy first; and saying what was done, and what could not be.

Invariants: nothing that was readable is lost; nothing is imported by itself into a store that no longer knows what was deleted from it, or that
holds nothing, since what was deleted would come back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from time import monotonic
from typing import NamedTuple

from wesaid import limits
from wesaid.errors import StoreDamagedError, StoreError, StoreIndexError, WesaidError
from wesaid.service import doctor_files, doctor_losses, importing, reconciling
from wesaid.service.doctor_codes import CODES
from wesaid.service.doctor_looking import Look, Progress
from wesaid.service.doctor_sources import Sources
from wesaid.service.import_sources import known_places
from wesaid.service.opening import Home
from wesaid.values import EVERYTHING, Flaw, Lost, Mended, counted

_COPY_FIRST = frozenset(code for code, row in CODES.items() if row.mending == "copies")
_ANEW = frozenset({"index.damaged", "index.differs", "index.extra", "index.missing", "index.titles", "index.unfound"})
_IN_PLACE = frozenset({"rows.orphaned", "rows.numbers", "path.differs", "counters.wrong"})
_BY_HAND = frozenset({"store.foreign", "store.newer", "store.unreadable", "store.busy", "store.failed"})


class Done(NamedTuple):
    """A sentence about one thing, and whether it was mended."""

    said: str
    is_mended: bool = True


def _left(said: str) -> Done:
    """What was not mended."""
    return Done(said, is_mended=False)


def mend(home: Home, look: Look, progress: Progress | None) -> Iterator[Done]:
    """Mend what was found, and say what was done."""
    began = home.now()
    home.background.stop()  # what it had left to do is done here
    closed, removed = doctor_files.mend(home.path)
    if closed:
        yield Done(f"files: {counted(closed, 'file or folder', 'files and folders')} closed to other users")
    if removed:
        yield Done(f"files: {counted(removed, 'left-over file')} of an interrupted repair removed")
    until = monotonic() + limits.DOCTOR_FIX_SECONDS
    lossy: dict[str, dict[str, int]] = {}  # agents that lost something now -> how many events those sessions have
    for agent in sorted({agent for agent, _ in look.found if agent is not None} | set(look.figures)):
        try:
            yield from _mend_agent(home, look, agent, until)
            if look.of(agent) & (_COPY_FIRST | _IN_PLACE | _ANEW):
                with home.store(agent).reading() as view:
                    lost = doctor_losses.missed(view)
                    if lost is not None and lost.at >= began:
                        lossy[agent] = doctor_losses.events(view, lost.events)
        except StoreError as error:
            told = home.clean(error)
            look.blocked[agent] = told.hint
            yield _left(f"{agent}: {told.message}" + (f"; {told.hint}" if told.hint else ""))
    yield from _import(home, look, progress, lossy)


def _mend_agent(home: Home, look: Look, agent: str, until: float) -> Iterator[Done]:
    codes = look.of(agent)
    if codes & _BY_HAND:
        yield _left(f"{agent}: not touched; the finding says why")
        return
    salvaged = bool(codes & _COPY_FIRST)
    if salvaged:
        yield from _salvage(home, agent)
    elif codes & (_ANEW | _IN_PLACE):
        try:
            done = home.store(agent).mend(anew=bool(codes & _ANEW), now=home.now())
        except (StoreDamagedError, StoreIndexError):  # not even dropping it works: from its rows, on a copy
            yield from _salvage(home, agent)
            salvaged = True
        else:
            yield from _mended(agent, done)
    yield from _end(home, look, agent, until, codes | ({"store.damaged"} if salvaged else set()))


def _end(home: Home, look: Look, agent: str, until: float, codes: set[str]) -> Iterator[Done]:
    """What mending leaves to do, and what was left from before: indexing, erasing, the log."""
    if codes & (_COPY_FIRST | _ANEW | _IN_PLACE | {"index.stale"}):
        left = _refill(home, agent, until)
        if left:
            yield _left(f"{agent}: {counted(left, 'window is', 'windows are')} still to be indexed; the next search goes on")
        else:
            yield Done(f"{agent}: indexed")
    if codes & (_COPY_FIRST | _ANEW | _IN_PLACE | {"erase.pending"}):
        is_erased = home.store(agent).erase(seconds=limits.WAIT_ERASE_SECONDS, now=home.now())
        if not is_erased:
            yield _left(f"{agent}: what was deleted is not erased yet; the next commands go on")
        elif "erase.pending" in codes:
            yield Done(f"{agent}: erased what was deleted")
    if "log.large" in codes:
        if home.store(agent).checkpoint():
            yield Done(f"{agent}: emptied the write-ahead log")
        else:
            look.found.append((agent, Flaw(code="log.pinned", message="the write-ahead log could not be emptied: somebody reads from it")))


def _mended(agent: str, done: Mended) -> Iterator[Done]:
    """What was mended in place, and nothing of what was not."""
    parts = [
        (done.paths, f"{counted(done.paths, 'visible path')} stored anew"),
        (done.counters, f"{counted(done.counters, 'counter')} stored anew"),
        (done.orphans, f"{counted(done.orphans, 'lost row')} given a place or removed"),
        (done.indexes, f"{counted(done.indexes, 'window')} to be indexed again"),
    ]
    said = [part for number, part in parts if number]
    if said:
        yield Done(f"{agent}: {', '.join(said)}")


def _refill(home: Home, agent: str, until: float) -> int:
    """Index what is stale, as long as that gets further; how many windows are left."""
    left = None
    while True:
        with home.store(agent).reading() as view:
            stale = len(view.stale(EVERYTHING, limit=limits.INDEXED_COUNT_ROWS))
        if not stale or monotonic() >= until or (left is not None and stale >= left):
            return stale
        left = stale
        reconciling.settle(home, {agent: EVERYTHING}, seconds=until - monotonic())


def _salvage(home: Home, agent: str) -> Iterator[Done]:
    """A new database of what can be read. What cannot is told when the transcripts were read again (``_remember``)."""
    made = home.engine.salvage(agent, now=home.now())
    kept = f"the damaged files are kept as {made.aside}"
    if not (made.events or made.sessions):
        yield _left(f"{agent}: no event and no session could be saved, and an empty database was begun; {kept}")
        return
    lost = sum(made.lost.values())
    gone = f", {lost} could not be read" if lost else ""
    yield Done(f"{agent}: saved {counted(made.events, 'event')} of {counted(made.sessions, 'session')}{gone}; {kept}")
    tables = [table for table in made.unreadable if table != "event" or not lost]
    if tables:
        yield _left(f"{agent}: some rows of {', '.join(tables)} could not be read")


# ── importing ────────────────────────────────────────────────────────────────────────────────────────────────────
def _import(home: Home, look: Look, progress: Progress | None, lossy: dict[str, dict[str, int]]) -> Iterator[Done]:
    """Transcripts that were never imported, have grown, or were read half, or came from a database that was damaged."""
    sources = Sources.of(home.settings.import_ignore)
    losses: dict[str, Lost] = {}
    for agent in home.engine.agents():  # once more: what was mended says more now
        try:
            with home.engine.inspecting(agent) as inspection:
                list(sources.flaws(inspection.view, agent))
                lost = doctor_losses.missed(inspection.view)
        except StoreError:
            sources.unread.add(agent)
            continue
        if lost is not None:
            losses[agent] = lost
    by_agent: dict[str | None, list[str]] = {}
    for path, agent in sorted(sources.again.items()):
        if agent not in sources.kept_out:
            by_agent.setdefault(sources.own(path, agent), []).append(path)
    for agent in sorted(sources.kept_out):
        yield _left(
            f"{agent}: nothing is imported by itself: what was deleted there is not known, and could come back; `wesaid import` does"
        )
    never = [(None, [str(place) for place in known_places(tool)]) for tool in sorted(sources.wanted())]
    for agent_given, paths in (*never, *by_agent.items()):
        try:
            account = importing.import_paths(home, paths, agent=agent_given, progress=progress)
        except WesaidError as error:
            yield _left(f"import: {home.clean(error).message}")
            continue
        yield from _imported(look, account)
    for agent, lost in losses.items():
        yield from _remember(home, agent, lost, lossy.get(agent, {}))


def _imported(look: Look, account: importing.Account) -> Iterator[Done]:
    figures = account.totals
    read = len(account.sources) - len(account.failed)
    if read:
        done = f"{counted(figures.imported, 'message')} imported, {figures.updated} updated"
        yield Done(f"import: {counted(read, 'transcript file')} read, {done}")
    if account.failed:
        first = account.failed[0]
        files = counted(len(account.failed), "transcript")
        look.found.append(
            (
                None,
                Flaw(
                    code="source.failed",
                    message=f"{files} could not be read: {first.error.message}",
                    path=first.path,
                    advice=first.error.hint,
                ),
            )
        )


def _remember(home: Home, agent: str, lost: Lost, before: dict[str, int]) -> Iterator[Done]:
    """What is still missed after the import, which took what it read for whole; ``before`` has the sessions that lost something now.

    Only a person who imports says by it that the rest is not missed.
    """
    with home.store(agent).writing() as writer:
        now = doctor_losses.events(writer, before)
        back = {key: min(max(0, now[key] - count), lost.events.get(key, 0)) for key, count in before.items()}
        whole = writer.lost() or Lost()
        left = {
            key: count - back[key] if key in back else count
            for key, count in lost.events.items()
            if key in back or key in whole.events or not key
        }
        writer.note_lost(replace(lost, events={key: count for key, count in left.items() if count > 0}))
    missed = {key: left[key] for key in left if (key in before or not key) and left[key] > 0}
    came = sum(back.values())
    rewinds = "; a rewind that was made here and lost is not known any more"
    if came:
        yield Done(
            f"{agent}: {counted(came, 'lost event')} came back from {'its transcript' if came == 1 else 'their transcripts'}{rewinds}"
        )
    if missed:
        named = [key or "sessions that are not known" for key in sorted(missed)]
        more = len(named) - limits.DOCTOR_NAMES
        shown = ", ".join(named[: limits.DOCTOR_NAMES]) + (f" and {more} more" if more > 0 else "")
        count = sum(missed.values())
        yield _left(
            f"{agent}: {counted(count, 'event is', 'events are')} lost, and no transcript that was read has {'it' if count == 1 else 'them'}, of {shown}"
        )


__all__ = ["Done", "mend"]

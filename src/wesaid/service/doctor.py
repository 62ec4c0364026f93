"""``doctor``: is everything as it should be, what is not, and what mends it? And with ``fix``: mends it. The operator's.

The look changes no byte of the home and opens no store: each database is read as it lies, and one that cannot be opened does not keep the others
from being looked at. Mending goes from what is safe to what takes a copy first (``engines.contract.Engine.salvage``), then looks again: what it
answers is what is left.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from wesaid import limits
from wesaid.engines.contract import Inspection
from wesaid.errors import (
    SettingError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreForeignError,
    StoreIndexError,
    StoreNewerError,
    StoreReadOnlyError,
    WesaidError,
)
from wesaid.service import doctor_files, doctor_rows, importing, opening, reconciling
from wesaid.service.doctor_codes import CODES, Severity
from wesaid.service.doctor_sources import Sources
from wesaid.service.opening import Home
from wesaid.settings import Settings
from wesaid.values import EVERYTHING, Flaw

Progress = Callable[[int, int, str], None]  # agents done, agents in all, what is at work
_COPY_FIRST = frozenset(code for code, row in CODES.items() if row.mending == "copies")
_ANEW = frozenset({"index.damaged", "index.differs", "index.extra", "index.missing", "index.titles", "index.unfound"})
_IN_PLACE = frozenset({"rows.orphaned", "rows.numbers", "path.differs", "counters.wrong"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A flaw with what the table says of it. ``message`` names numbers, files and session keys, never what was said."""

    code: str
    severity: Severity
    message: str
    agent_id: str | None = None
    path: str | None = None
    command: str | None = None

    def as_json(self) -> dict[str, str]:
        """Without what is absent."""
        named = {
            "code": self.code,
            "severity": self.severity,
            "agentId": self.agent_id,
            "message": self.message,
            "path": self.path,
            "command": self.command,
        }
        return {name: value for name, value in named.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What was found (after mending: what is left), what was mended, and each agent's figures."""

    findings: tuple[Finding, ...]
    mended: tuple[str, ...] = ()
    agents: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def worst(self) -> Severity | None:
        """The worst severity; None when there is nothing to say."""
        found = {finding.severity for finding in self.findings}
        order: tuple[Severity, ...] = ("error", "warning", "note")
        return next((severity for severity in order if severity in found), None)

    def as_json(self) -> dict[str, Any]:
        """``{findings, mended, agents}``."""
        return {
            "findings": [finding.as_json() for finding in self.findings],
            "mended": list(self.mended),
            "agents": {agent: dict(figures) for agent, figures in self.agents.items()},
        }


@dataclass(slots=True)
class _Look:
    """One look at a home."""

    home: Home
    sources: Sources
    found: list[tuple[str | None, Flaw]] = field(default_factory=list)
    figures: dict[str, Mapping[str, int]] = field(default_factory=dict)

    def of(self, agent: str | None) -> set[str]:
        """The codes found of an agent, or of the home."""
        return {flaw.code for whose, flaw in self.found if whose == agent}


def doctor_at(path: Path | None, *, fix: bool = False, progress: Progress | None = None) -> Report:
    """``doctor`` for a home that may not even open: its settings may be wrong, which is one more finding."""
    try:
        home = opening.open_home(path)
    except SettingError as error:
        with opening.open_home(path, chosen=Settings()) as home:
            report = doctor(home, progress=progress)
            wrong = _finding(home, None, Flaw(code="config.invalid", message=home.clean(error).message))
        mended = ("nothing: what the settings hide is not known while one of them is wrong",) if fix else ()
        return Report(findings=(wrong, *report.findings), agents=report.agents, mended=mended)
    with home:
        return doctor(home, fix=fix, progress=progress)


def doctor(home: Home, *, fix: bool = False, progress: Progress | None = None) -> Report:
    """Look at everything; with ``fix`` mend what can be mended without losing anything, and look again.

    Raises:
        StoreError: the home itself cannot be listed. What is wrong with one agent is a finding.
    """
    look = _look(home, progress)
    mended: list[str] = []
    if fix:
        mended = [*_mend(home, look, progress)]
        failed = [(agent, flaw) for agent, flaw in look.found if flaw.code in ("source.failed", "log.pinned")]
        look = _look(home, progress)
        look.found += failed
    found = [_finding(home, agent, flaw) for agent, flaw in look.found]
    found.sort(key=lambda finding: (("error", "warning", "note").index(finding.severity), finding.agent_id or ""))
    return Report(findings=tuple(found), mended=tuple(home.redactor.redact(line) for line in mended), agents=look.figures)


def _finding(home: Home, agent: str | None, flaw: Flaw) -> Finding:
    row = CODES[flaw.code]
    return Finding(
        code=flaw.code,
        severity=row.severity,
        message=home.redactor.redact(flaw.message),
        agent_id=agent,
        path=home.redactor.redact(flaw.path) if flaw.path else None,
        command=row.command,
    )


# ── looking ──────────────────────────────────────────────────────────────────────────────────────────────────────
def _look(home: Home, progress: Progress | None) -> _Look:
    look = _Look(home, Sources.of(home.settings.import_ignore))
    look.found += [(None, flaw) for flaw in doctor_files.flaws(home.path)]
    try:
        agents = home.engine.agents()
    except StoreError as error:
        look.found.append((None, Flaw(code="store.unreadable", message=error.message, path=str(home.path))))
        agents = []
    for done, agent in enumerate(agents):

        def tick(what: str, done: int = done, agent: str = agent) -> None:
            if progress is not None:
                progress(done, len(agents), f"{agent}: {what}")

        look.found += [(agent, flaw) for flaw in _settled(look, agent, tick)]
    if progress is not None:
        progress(len(agents), len(agents), "")
    look.found += [(None, flaw) for flaw in look.sources.never()]
    return look


def _settled(look: _Look, agent: str, tick: Callable[[str], None]) -> list[Flaw]:
    """What is wrong with an agent; looked at again when somebody wrote to a file that lay still, and could have been read half old, half new."""
    path = look.home.path / "agents" / agent / doctor_files.DATABASE
    for _ in range(limits.DOCTOR_LOOKS):
        tick("opening")
        before = doctor_files.marks(path)
        found = list(_agent(look, agent, tick))
        if before == doctor_files.marks(path) or not any(CODES[flaw.code].severity == "error" for flaw in found):
            break
    return found


def _agent(look: _Look, agent: str, tick: Callable[[str], None]) -> Iterator[Flaw]:
    path = str(look.home.path / "agents" / agent / doctor_files.DATABASE)
    try:
        with look.home.engine.inspecting(agent) as inspection:
            yield from _inspected(look, agent, inspection, tick)
    except StoreError as error:
        yield Flaw(code=_code_of(error), message=error.message, path=path)


def _code_of(error: StoreError) -> str:
    kinds = (
        (StoreIndexError, "index.damaged"),
        (StoreDamagedError, "store.damaged"),
        (StoreForeignError, "store.foreign"),
        (StoreNewerError, "store.newer"),
        (StoreReadOnlyError, "store.unreadable"),
        (StoreBusyError, "store.busy"),
    )
    return next((code for kind, code in kinds if isinstance(error, kind)), "store.failed")


def _inspected(look: _Look, agent: str, inspection: Inspection, tick: Callable[[str], None]) -> Iterator[Flaw]:
    """Everything about one database, each code once, in the order in which it is looked at."""
    figures = dict(inspection.figures())
    seen: set[str] = set()
    for flaw in inspection.flaws(now=look.home.now(), seconds=limits.DOCTOR_SECONDS, tick=tick):
        seen.add(flaw.code)
        yield flaw
    if not seen & {"store.strange", "store.damaged", "index.pages", "index.damaged", "check.partial"}:
        for flaw in doctor_rows.flaws(inspection.view, look.home.redactor, tick):
            if flaw.code not in seen:
                yield flaw
        figures |= inspection.view.totals()
        look.figures[agent] = figures
    if not seen & {"store.strange", "store.damaged"}:
        yield from look.sources.flaws(inspection.view, agent)
    log, size, free = (figures.get(name, 0) for name in ("logBytes", "bytes", "freeBytes"))
    if log > limits.LOG_LARGE_BYTES:
        yield Flaw(code="log.large", message=f"the write-ahead log has {log / (1 << 20):.0f} MiB")  # 1 << 20: bytes of a mebibyte
    if free > limits.SPACE_LOW_BYTES / 4 and free > size * limits.FREE_SHARE:
        yield Flaw(code="file.free", message=f"{100 * free // size} % of the file's pages are free")  # 100: per cent


# ── mending ──────────────────────────────────────────────────────────────────────────────────────────────────────
def _mend(home: Home, look: _Look, progress: Progress | None) -> Iterator[str]:
    """Mend what was found, and say what was done."""
    home.background.stop()  # what it had left to do is done here
    closed = doctor_files.mend(home.path)
    if closed:
        yield f"files: {closed} closed to other users, or left-overs removed"
    again = dict(look.sources.again)
    until = monotonic() + limits.DOCTOR_FIX_SECONDS
    for agent in sorted({agent for agent, _ in look.found if agent is not None} | set(look.figures)):
        try:
            yield from _mend_agent(home, look, agent, again, until)
        except StoreError as error:
            yield f"{agent}: not mended: {home.clean(error).message}" + (f"; {error.hint}" if error.hint else "")
    yield from _import(home, look, again, progress)


def _mend_agent(home: Home, look: _Look, agent: str, again: dict[str, str], until: float) -> Iterator[str]:
    codes = look.of(agent)
    if codes & {"store.foreign", "store.newer", "store.unreadable", "store.busy", "store.failed"}:
        yield f"{agent}: not touched; the finding says why"
        return
    salvaged = False
    if codes & _COPY_FIRST:
        yield _salvage(home, agent, again)
        salvaged = True
    elif codes & (_ANEW | _IN_PLACE):
        try:
            done = home.store(agent).mend(anew=bool(codes & _ANEW))
        except (StoreDamagedError, StoreIndexError):  # not even dropping it works: from its rows, on a copy
            yield _salvage(home, agent, again)
            salvaged = True
        else:
            yield (
                f"{agent}: {done.paths} paths and {done.counters} counters stored anew, {done.orphans} lost rows given a place or removed,"
                f" {done.indexes} windows to be indexed again"
            )
    if salvaged or codes & (_ANEW | _IN_PLACE | {"index.stale"}):
        left = _refill(home, agent, until)
        yield f"{agent}: indexed" if not left else f"{agent}: {left} windows are still to be indexed; the next search goes on"
    if salvaged or codes & (_ANEW | _IN_PLACE | {"erase.pending"}):
        done_erasing = home.store(agent).erase(seconds=limits.WAIT_ERASE_SECONDS, now=home.now())
        yield f"{agent}: " + ("erased what was deleted" if done_erasing else "erasing goes on with the next commands")
    if "log.large" in codes and not home.store(agent).checkpoint():
        look.found.append((agent, Flaw(code="log.pinned", message="the write-ahead log could not be emptied: somebody reads from it")))


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


def _salvage(home: Home, agent: str, again: dict[str, str]) -> str:
    """A new database of what can be read, and a sentence that says what cannot."""
    made = home.engine.salvage(agent, now=home.now())
    again.update((path, agent) for path in made.sources if os.path.lexists(path))
    lost = sum(made.lost.values())
    named = sorted(key or "sessions that are not known" for key in made.lost)[: limits.DOCTOR_NAMES]
    said = f"{agent}: saved {made.events} events of {made.sessions} sessions; the damaged files are kept as {made.aside}"
    if lost:
        more = len(made.lost) - len(named)
        said += f"; {lost} events could not be read, of {', '.join(named)}" + (f" and {more} more" if more > 0 else "")
    if made.unreadable:
        said += f"; some rows of {', '.join(made.unreadable)} could not be read"
    if lost or made.unreadable:
        said += f"; {len(again)} transcript files are read again" if again else "; no transcript file is there to read them again from"
    return said


def _import(home: Home, look: _Look, again: dict[str, str], progress: Progress | None) -> Iterator[str]:
    """Transcripts that were never imported, have grown, or were read half, or came from a database that was damaged."""
    never = any(flaw.code == "source.never" for _, flaw in look.found)
    work: list[tuple[str | None, list[str]]] = [(None, [])] if never else []  # no path: every known place
    by_agent: dict[str | None, list[str]] = {}
    for path, agent in sorted(again.items()):
        by_agent.setdefault(look.sources.own(path, agent), []).append(path)
    for agent_given, paths in (*work, *by_agent.items()):
        try:
            account = importing.import_paths(home, paths, agent=agent_given, progress=progress)
        except WesaidError as error:
            yield f"import: not done: {home.clean(error).message}"
            continue
        figures = account.totals
        yield f"import: {len(account.sources)} transcript files read, {figures.imported} messages imported, {figures.updated} updated"
        if account.failed:
            failure = Flaw(
                code="source.failed", message=f"{len(account.failed)} transcripts could not be read", path=account.failed[0].path
            )
            look.found.append((None, failure))


__all__ = ["Finding", "Report", "doctor", "doctor_at"]

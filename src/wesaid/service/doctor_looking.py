"""One look at a home: its files, each database as it lies, the transcripts beside it. Changes no byte and opens no store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from wesaid import limits
from wesaid.engines.contract import Inspection
from wesaid.errors import (
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreForeignError,
    StoreIndexError,
    StoreNewerError,
    StoreReadOnlyError,
)
from wesaid.service import doctor_files, doctor_losses, doctor_rows
from wesaid.service.doctor_codes import CODES
from wesaid.service.doctor_sources import Sources
from wesaid.service.opening import Home
from wesaid.values import Flaw

Progress = Callable[[int, int, str], None]  # agents done, agents in all, what is at work


@dataclass(slots=True)
class Look:
    """What one look found. ``blocked`` says by agent what keeps it from being mended."""

    home: Home
    sources: Sources
    found: list[tuple[str | None, Flaw]] = field(default_factory=list)
    figures: dict[str, Mapping[str, int]] = field(default_factory=dict)
    blocked: dict[str | None, str] = field(default_factory=dict)

    def of(self, agent: str | None) -> set[str]:
        """The codes found of an agent, or of the home."""
        return {flaw.code for whose, flaw in self.found if whose == agent}


def look_at(home: Home, progress: Progress | None) -> Look:
    """Everything that is wrong with a home. StoreError when it cannot be listed."""
    look = Look(home, Sources.of(home.settings.import_ignore))
    look.found += [(None, flaw) for flaw in doctor_files.flaws(home.path)]
    try:
        agents = home.engine.agents()
    except StoreError as error:
        look.found.append((None, Flaw(code="store.unreadable", message=error.message, path=str(home.path), advice=error.hint)))
        look.sources.unread.add("")
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


def _settled(look: Look, agent: str, tick: Callable[[str], None]) -> list[Flaw]:
    """What is wrong with an agent; looked at again when somebody wrote to a file that lay still, and could have been read half old, half new."""
    path = look.home.path / "agents" / agent / doctor_files.DATABASE
    for _ in range(limits.DOCTOR_LOOKS):
        tick("opening")
        before = doctor_files.marks(path)
        found = list(_agent(look, agent, tick))
        if before == doctor_files.marks(path) or not any(CODES[flaw.code].severity == "error" for flaw in found):
            break
    return found


def _agent(look: Look, agent: str, tick: Callable[[str], None]) -> Iterator[Flaw]:
    path = str(look.home.path / "agents" / agent / doctor_files.DATABASE)
    try:
        with look.home.engine.inspecting(agent) as inspection:
            yield from _inspected(look, agent, inspection, tick)
    except StoreError as error:
        look.sources.unread.add(agent)
        code = _code_of(error)
        yield Flaw(code=code, message=error.message, path=path, advice=None if CODES[code].command else error.hint)


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


def _inspected(look: Look, agent: str, inspection: Inspection, tick: Callable[[str], None]) -> Iterator[Flaw]:
    """Everything about one database, each code once, in the order in which it is looked at."""
    figures = dict(inspection.figures())
    seen: set[str] = set()
    for flaw in inspection.flaws(now=look.home.now(), seconds=limits.DOCTOR_SECONDS, tick=tick):
        seen.add(flaw.code)
        yield flaw
    if not seen & {"store.damaged", "index.pages", "index.damaged", "check.partial"}:
        for flaw in doctor_rows.flaws(inspection.view, look.home.redactor, tick):
            if flaw.code not in seen:
                yield flaw
        figures |= inspection.view.totals()
        look.figures[agent] = figures
    if "store.damaged" in seen:
        look.sources.unread.add(agent)
    else:
        yield from look.sources.flaws(inspection.view, agent)
        yield from doctor_losses.flaws(inspection.view, look.home.path / "agents" / agent)
    log, size, free = (figures.get(name, 0) for name in ("logBytes", "bytes", "freeBytes"))
    if log > limits.LOG_LARGE_BYTES:
        yield Flaw(code="log.large", message=f"the write-ahead log has {log / (1 << 20):.0f} MiB")  # 1 << 20: bytes of a mebibyte
    if free > limits.SPACE_LOW_BYTES / 4 and free > size * limits.FREE_SHARE:
        yield Flaw(code="file.free", message=f"{100 * free // size} % of the file's pages are free")  # 100: per cent


__all__ = ["Look", "Progress", "look_at"]

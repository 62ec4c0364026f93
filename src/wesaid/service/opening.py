"""The composition root: the one file outside ``engines/`` that names an engine, and imports it only when it is asked for.

Time, new ids and randomness enter here, as arguments of a ``Home``, so that everything below is a function of its input.
"""

from __future__ import annotations

import importlib
import os
import time
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar, cast

from wesaid import limits, settings
from wesaid.engines.contract import Engine, Store, View
from wesaid.errors import NotFoundError, StoreError, StoreReadOnlyError, WesaidError
from wesaid.rules.redact import BUILT_IN, Redactor
from wesaid.service import alive
from wesaid.service.background import Background
from wesaid.settings import Settings

Answer = TypeVar("Answer")


def _now() -> int:
    return time.time_ns() // limits.MILLISECOND_NS


def _new_id() -> str:
    return str(uuid.uuid4())


@dataclass(slots=True)
class Home:
    """One home: where it lies, what is set, and the engine over it. A context manager that closes the engine."""

    path: Path
    settings: Settings
    engine: Engine
    now: Callable[[], int] = field(default=_now)  # Unix milliseconds
    new_id: Callable[[], str] = field(default=_new_id)
    redactor: Redactor = field(default=BUILT_IN)  # what leaves passes it, whatever the road
    rest: Callable[[float], object] = field(default=time.sleep)  # seconds; for answers that must not come too soon
    background: Background = field(default_factory=Background)  # the reconciler's thread
    owner: str = field(default_factory=alive.name)  # names this opening of the home among others, in its databases
    asked_at: float = 0.0  # when somebody last searched, by the monotonic clock: background work then makes room

    def store(self, agent_id: str) -> Store:
        """An agent's store that has to be there already. NotFoundError when it is not."""
        store = self.engine.store(agent_id)
        if store is None:
            raise NotFoundError(
                f"there is no agent {agent_id!r}", hint="`wesaid stats` lists the agents of this home", details={"field": "agentId"}
            )
        return store

    def new_store(self, agent_id: str) -> Store:
        """An agent's store, made when it is not there."""
        return cast("Store", self.engine.store(agent_id, create=True))

    @contextmanager
    def reading(self, agents: Collection[str]) -> Iterator[tuple[dict[str, View], tuple[str, ...]]]:
        """Views of agents, and those whose stores could not be read: for the answer to say. StoreError when it is the only one."""
        views: dict[str, View] = {}
        failed: list[str] = []
        with ExitStack() as open_views:
            for agent in agents:
                try:
                    views[agent] = open_views.enter_context(self.store(agent).reading())
                except StoreError:
                    if len(agents) == 1:
                        raise
                    failed.append(agent)
            yield views, tuple(failed)

    def answered(self, agents: Collection[str], answer: Callable[[dict[str, View], tuple[str, ...]], Answer]) -> Answer:
        """What ``answer`` makes of the agents' views, and of the names of those that failed, whether at once or while they were read.

        An agent that fails half-way is left out and the others are asked again. StoreError when none is left.
        """
        broken: list[str] = []
        while True:
            left = [agent for agent in agents if agent not in broken]
            try:
                with self.reading(left) as (views, failed):
                    return answer(views, (*broken, *failed))
            except StoreError as error:
                agent = error.details.get("agentId")
                if not isinstance(agent, str) or agent not in left or len(left) == 1:
                    raise
                broken.append(agent)

    def close(self) -> None:
        """End background work and close the engine; further use raises StoreError."""
        self.background.stop()
        self.engine.close()

    def clean(self, error: WesaidError) -> WesaidError:
        """An error without secrets in its words: what it names may be what was asked."""
        return error.cleaned(self.redactor.redact)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if isinstance(error, WesaidError):
            self.clean(error)
        self.close()


def open_home(home: Path | str | None = None, *, environ: Mapping[str, str] | None = None, chosen: Settings | None = None) -> Home:
    """Open a home: the path given, else ``WESAID_HOME``, else the platform's user data folder.

    ``chosen`` settings are taken instead of those that are set: for a doctor, who has to look at a home whose settings are wrong.
    Nothing is created before something is written. SettingError when a setting is invalid, StoreReadOnlyError when the path is a file.
    """
    environment = os.environ if environ is None else environ
    path = Path(home).expanduser().absolute() if home is not None else settings.home_path(environment)
    if path.exists() and not path.is_dir():
        raise StoreReadOnlyError(f"{path} is a file, not a folder", hint="give a folder with --home or WESAID_HOME")
    if chosen is None:
        chosen = settings.load(path, environment)
    return home_of(path, chosen, Redactor.of(chosen.redaction_patterns, environment))


def home_of(path: Path, chosen: Settings, redactor: Redactor) -> Home:
    """The home of a folder, with settings and redactor that are known: as another process has it open."""
    package = importlib.import_module("wesaid.engines.sqlite")
    return Home(path=path, settings=chosen, engine=package.open_engine(path, synchronous=chosen.store_synchronous), redactor=redactor)


def memory_home(*, now: Callable[[], int] = _now, new_id: Callable[[], str] = _new_id) -> Home:
    """A home that is gone when it is closed: the memory engine, default settings. For tests and trying out."""
    package = importlib.import_module("wesaid.engines.memory")
    path = Path("memory:")
    return Home(path=path, settings=settings.load(path, {}), engine=package.open_engine(), now=now, new_id=new_id)

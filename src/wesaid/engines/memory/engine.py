"""Stores of one process, and their transactions: a writer works on a copy, which takes the place of the state at the end.

It refuses to know what a session is. Invariants: one writer at a time; a reader keeps the state that it began with; a view is dead
once its block is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import RLock

from wesaid import keys
from wesaid.engines.memory.state import State
from wesaid.engines.memory.view import MemoryView
from wesaid.engines.memory.writer import MemoryWriter
from wesaid.errors import StoreBusyError, StoreError
from wesaid.values import Flaw, Mended, Salvaged, Traces


class MemoryStore:
    """One agent's sessions; gone with the process."""

    def __init__(self, agent_id: str) -> None:
        self.agent_id = agent_id
        self._state = State()
        self._turn = RLock()
        self._open = False
        self._closed = False

    @contextmanager
    def reading(self) -> Iterator[MemoryView]:
        """The state of this moment, whatever is written meanwhile."""
        self._check()
        view = MemoryView(self.agent_id, self._state)
        try:
            yield view
        finally:
            view.end()

    @contextmanager
    def writing(self, *, seconds: float | None = None) -> Iterator[MemoryWriter]:
        """A copy to work on, kept when the block ends well and dropped when it raises."""
        with self._alone(seconds):
            self._check()
            if self._open:
                raise StoreError("a writing block is open already in this thread", hint="use the writer that is open")
            draft = self._state.copy()
            writer = MemoryWriter(self.agent_id, draft)
            self._open = True
            try:
                yield writer
            finally:
                self._open = False
                writer.end()
            self._state = draft

    def erase(self, *, seconds: float, now: int, anew: bool = False) -> bool:  # noqa: ARG002 - the contract's signature
        """Nothing lies in any file; the tombstones are told so."""
        with self.writing() as writer:
            writer.erased(now)
        return True

    def traces(self, pieces: frozenset[bytes]) -> Traces:
        """What the present state holds, as if it were a file."""
        data = repr(self._state).encode("utf-8", "replace")
        return Traces(files=(), bytes=len(data), pieces=len(pieces), shared=sum(1 for piece in pieces if piece in data))

    def mend(self, *, anew: bool, now: int) -> Mended:  # noqa: ARG002 - the contract's signature
        """Nothing can be damaged."""
        return Mended()

    def checkpoint(self) -> bool:
        """There is no log."""
        return True

    def close(self) -> None:
        """Refuse further use."""
        self._closed = True

    @contextmanager
    def _alone(self, seconds: float | None) -> Iterator[None]:
        if not self._turn.acquire(timeout=-1 if seconds is None else seconds):
            raise StoreBusyError(f"the store of agent {self.agent_id!r} is being written to", hint="try again")
        try:
            yield
        finally:
            self._turn.release()

    def _check(self) -> None:
        if self._closed:
            raise StoreError(f"the store of agent {self.agent_id!r} is closed", hint="open it again")


class MemoryInspection:
    """A reading of one store; it has no files that could be damaged."""

    def __init__(self, view: MemoryView) -> None:
        self.view = view

    def flaws(self, *, now: int, seconds: float, tick: Callable[[str], object]) -> Iterator[Flaw]:  # noqa: ARG002 - the contract's signature
        """None."""
        return iter(())

    def figures(self) -> Mapping[str, int]:
        """No files, no sizes."""
        return {}


class MemoryEngine:
    """All agents of one process."""

    def __init__(self) -> None:
        self._stores: dict[str, MemoryStore] = {}
        self._closed = False

    def agents(self) -> list[str]:
        """Ids of the agents that have a store, sorted."""
        return sorted(self._stores)

    def store(self, agent_id: str, *, create: bool = False) -> MemoryStore | None:
        """An agent's store; None when it does not exist and ``create`` is False."""
        if self._closed:
            raise StoreError("the engine is closed", hint="open it again")
        name = keys.agent_id(agent_id)
        if name not in self._stores and create:
            self._stores[name] = MemoryStore(name)
        return self._stores.get(name)

    @contextmanager
    def inspecting(self, agent_id: str) -> Iterator[MemoryInspection]:
        """The store's present state."""
        store = self.store(agent_id)
        if store is None:
            raise StoreError(f"there is no agent {agent_id!r}", hint="append something to it first")
        with store.reading() as view:
            yield MemoryInspection(view)

    def salvage(self, agent_id: str, *, now: int) -> Salvaged:  # noqa: ARG002 - the contract's signature
        """Nothing can be damaged."""
        raise StoreError(f"the store of agent {agent_id!r} has no file", hint="nothing is to be done")

    def close(self) -> None:
        """Close every store."""
        self._closed = True
        for store in self._stores.values():
            store.close()


def open_engine() -> MemoryEngine:
    """A new, empty engine; nothing is shared between two of them."""
    return MemoryEngine()

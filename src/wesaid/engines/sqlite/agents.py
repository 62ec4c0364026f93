"""All agents of one home: a folder each, with ``agent.sqlite`` in it (contract.md §1)."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager
from pathlib import Path

from wesaid import keys
from wesaid.engines.sqlite.connection import reachable, translated
from wesaid.engines.sqlite.inspecting import SqliteInspection, inspecting
from wesaid.engines.sqlite.salvaging import salvage
from wesaid.engines.sqlite.store import SqliteStore
from wesaid.errors import StoreError
from wesaid.values import Salvaged

FILE_NAME = "agent.sqlite"


class SqliteEngine:
    """``engines.contract.Engine`` over ``<home>/agents/<agentId>/agent.sqlite``."""

    def __init__(self, home: Path, *, synchronous: str = "NORMAL") -> None:
        self.home = home
        self._synchronous = synchronous
        self._stores: dict[str, SqliteStore] = {}
        self._lock = threading.Lock()
        self._closed = False

    def agents(self) -> list[str]:
        """See the contract."""
        self._check_open()
        folder = self.home / "agents"
        with reachable(folder):
            if not folder.is_dir():
                return []
            return sorted(f.name for f in folder.iterdir() if keys.AGENT_ID.fullmatch(f.name) and _may_be_there(f / FILE_NAME))

    def store(self, agent_id: str, *, create: bool = False) -> SqliteStore | None:
        """See the contract."""
        name = keys.agent_id(agent_id)
        with self._lock, reachable(self.home / "agents" / name / FILE_NAME):
            self._check_open()
            store = self._stores.get(name)
            if store is None:
                path = self.home / "agents" / name / FILE_NAME
                if not create and not _may_be_there(path):
                    return None
                store = self._stores[name] = SqliteStore(path, name, create=create, synchronous=self._synchronous)
            return store

    def inspecting(self, agent_id: str) -> AbstractContextManager[SqliteInspection]:
        """See the contract."""
        name = keys.agent_id(agent_id)
        return inspecting(self.home / "agents" / name / FILE_NAME, name)

    def salvage(self, agent_id: str, *, now: int) -> Salvaged:
        """See the contract."""
        name = keys.agent_id(agent_id)
        path = self.home / "agents" / name / FILE_NAME
        with self._lock:
            self._check_open()
            store = self._stores.pop(name, None)
            if store is not None:
                store.close()  # its connections hold the file; whoever asks next opens the new one
        with reachable(path), translated(path):
            return salvage(path, name, now=now, synchronous=self._synchronous)

    def close(self) -> None:
        """See the contract."""
        with self._lock:
            for store in self._stores.values():
                store.close()
            self._stores.clear()
            self._closed = True

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError("this home is closed", hint="open it again")


def _may_be_there(path: Path) -> bool:
    """Whether an agent has a database; what is no file, or may not be looked at, counts too, so that opening it says what is wrong."""
    try:
        return path.exists()
    except PermissionError:
        return True

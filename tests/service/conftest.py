"""A home of the test's own, over both engines, with few words for saying, asking and reading."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from wesaid import keys
from wesaid.service import exporting, history, listing, methods, opening, searching, wire, writing
from wesaid.service.opening import Home
from wesaid.values import OPERATOR, Caller, Page

MAIN = "agent:main:main"
NOW = 1_772_359_200_000  # 2026-03-01T10:00:00Z
MINUTE = 60_000


@dataclass
class Lab:
    """A home, and what the tests do with it; answers are the JSON objects of contract.md §2."""

    home: Home
    said: int = 0

    def say(self, text: str, *, key: str = MAIN, role: str = "user", at: int | None = None, by: str | None = None) -> str:
        """Append a message, a minute after the one before unless it says when; its id."""
        self.said += 1
        when = NOW + self.said * MINUTE if at is None else at
        [done] = writing.append(self.home, OPERATOR, key, [{"role": role, "text": text, "timestamp": when}], spawned_by=by)
        return done.message_id

    def say_all(self, texts: list[str], *, key: str = MAIN, at: int = NOW, step: int = MINUTE) -> list[str]:
        """Append many human messages at once; their ids."""
        made = [{"role": "user", "text": text, "timestamp": at + n * step} for n, text in enumerate(texts)]
        return [done.message_id for done in writing.append(self.home, OPERATOR, key, made)]

    def page(self, query: str, *, caller: Caller = OPERATOR, **params: Any) -> Page:
        """A search, as Python gets it."""
        return searching.search(self.home, caller, methods.convert(methods.SearchParams, {"query": query, **params}))

    def search(self, query: str, *, caller: Caller = OPERATOR, **params: Any) -> dict[str, Any]:
        """A search, as JSON that came over a wire."""
        return dict(json.loads(json.dumps(wire.page_json(self.page(query, caller=caller, **params)))))

    def ids(self, query: str, *, caller: Caller = OPERATOR, **params: Any) -> list[str]:
        """Message ids that a search gives, in order."""
        return [hit["messageId"] for hit in self.search(query, caller=caller, **params)["results"]]

    def history(self, key: str = MAIN, *, caller: Caller = OPERATOR, **params: Any) -> dict[str, Any]:
        """A page of history."""
        return wire.history_json(history.history(self.home, caller, methods.convert(methods.HistoryParams, {"sessionKey": key, **params})))

    def texts(self, key: str = MAIN, *, caller: Caller = OPERATOR, **params: Any) -> list[str]:
        """The texts of a page of history."""
        return [message["text"] for message in self.history(key, caller=caller, **params)["messages"]]

    def listed(self, *, caller: Caller = OPERATOR, **params: Any) -> list[str]:
        """Keys that the list shows, sorted."""
        page = wire.sessions_json(listing.sessions(self.home, caller, methods.convert(methods.ListParams, params)))
        return sorted(row["key"] for row in page["sessions"])

    def exported(self, key: str = MAIN, *, caller: Caller = OPERATOR, **params: Any) -> str:
        """An export in one piece."""
        return "".join(exporting.export(self.home, caller, key, **params))

    def window(self, key: str = MAIN) -> Any:
        """A session's current window."""
        with self.home.store(keys.parse(key).agent_id).reading() as view:
            return view.windows(key)[-1]

    def stored(self, key: str = MAIN) -> list[Any]:
        """Every stored event of a session, in order, visible or not."""
        with self.home.store(keys.parse(key).agent_id).reading() as view:
            return [event for window in view.windows(key) for event in view.events(window.window, limit=100_000)]


def lab_of(home: Home) -> Lab:
    """A lab whose clock stands still, a day after the first message, and that answers at once."""
    home.now = lambda: NOW + 24 * 60 * MINUTE
    home.rest = bool  # takes a number and does nothing: no test waits
    return Lab(home)


@pytest.fixture(params=["memory", "sqlite"])
def lab(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Lab]:
    """An empty home on every engine."""
    with opening.memory_home() if request.param == "memory" else opening.open_home(tmp_path / "home") as home:
        yield lab_of(home)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Lab]:
    """An empty home on disk, where a test is about files or about several who open it."""
    with opening.open_home(tmp_path / "home") as home:
        yield lab_of(home)


@pytest.fixture
def another(tmp_path: Path) -> Iterator[Lab]:
    """The same home on disk, opened a second time as another process has it."""
    with opening.open_home(tmp_path / "home") as home:
        yield lab_of(home)

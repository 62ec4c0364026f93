"""``stats``: what a home holds, agent by agent. The operator's; it reads counters and sizes, never text."""

from __future__ import annotations

from typing import Any

from wesaid.engines.contract import View
from wesaid.errors import StoreError
from wesaid.service.opening import Home
from wesaid.values import EVERYTHING


def stats(home: Home) -> dict[str, Any]:
    """``{home, agents: [{agentId, sessions, windows, events, messages, stale, tombstones, bytes, sources} | {agentId, error}], totals}``."""
    agents: list[dict[str, Any]] = []
    totals: dict[str, int] = {}
    for agent in home.engine.agents():
        try:
            with home.store(agent).reading() as view:
                counted = dict(view.totals())
                counted["sources"] = len(view.sources())
        except StoreError as error:
            agents.append({"agentId": agent} | error.as_json())
            continue
        agents.append({"agentId": agent, **counted})
        for name, number in counted.items():
            totals[name] = totals.get(name, 0) + number
    return {"home": str(home.path), "agents": agents, "totals": totals}


def is_empty(view: View) -> bool:
    """Whether a store holds nothing: not even that something was deleted from it, or read from a source."""
    return not (view.count_sessions(EVERYTHING) or view.totals()["tombstones"] or view.sources())

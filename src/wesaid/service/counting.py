"""``stats``: what a home holds, agent by agent. The operator's; it reads counters and sizes, never text."""

from __future__ import annotations

from typing import Any

from wesaid.errors import StoreError
from wesaid.service.opening import Home


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

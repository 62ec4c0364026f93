"""Stale windows made whole: slices prepared outside the lock and written inside it, so that neither a writer nor a search waits long.

Progress is kept in the database (``StaleWindow.keep``): stopping at any moment loses one slice, and whoever comes next goes on. Until the
background reconciler exists, a search does this in its own process for the sessions that it may see, within its ``waitMs``.
"""

from __future__ import annotations

from collections.abc import Mapping
from time import monotonic

from wesaid import limits
from wesaid.engines.contract import Store
from wesaid.errors import StoreError
from wesaid.rules.redact import Redactor
from wesaid.service import erasing
from wesaid.service.opening import Home
from wesaid.service.preparing import again
from wesaid.values import EVERYTHING, Scope, StaleWindow


def settle(home: Home, scopes: Mapping[str, Scope], *, seconds: float) -> int:
    """Rebuild stale windows in scope for at most so long (0: only look); how many are still stale.

    A read-only or busy store is left as it is: the answer then says ``indexing``, which is true.
    """
    until = monotonic() + seconds
    left = 0
    for agent, scope in scopes.items():
        try:
            store = home.engine.store(agent)
            if store is None:
                continue
            with store.reading() as view:
                stale = view.stale(scope, limit=limits.STALE_WINDOWS_A_SEARCH)
        except StoreError:
            continue  # whoever reads it for an answer says that it failed; the other agents' windows are not its hostages
        for window in stale:
            try:
                done = monotonic() < until and rebuild(home.redactor, store, window, until=until)
            except StoreError:  # read-only, busy, or damaged: what reads it for the answer says so
                done = False
            left += 0 if done else 1
    return left


def rebuild(redactor: Redactor, store: Store, stale: StaleWindow, *, until: float) -> bool:
    """Index one window slice by slice; whether it is whole now. At least one slice is done."""
    while True:
        with store.reading() as view:
            row = view.session(stale.key)
            missing = [
                found
                for found in view.stale(Scope(keys=frozenset((stale.key,))), limit=limits.STALE_WINDOWS_A_SEARCH)
                if found.window == stale.window
            ]
            if row is None or not missing:
                return True
            slice_ = view.unindexed(stale.window, limit=limits.REBUILD_SLICE_ROWS)
        subagent = row.facts.kind == "subagent"
        prepared = [(event.seq, again(redactor, row.facts.dialect, event, subagent=subagent)) for event in slice_]
        with store.writing() as writer:
            writer.index(stale.window, prepared)
            left = writer.stale(Scope(keys=frozenset((stale.key,))), limit=limits.STALE_WINDOWS_A_SEARCH)
            whole = not any(found.window == stale.window for found in left)
        if whole or monotonic() >= until:
            return whole


def reconcile(home: Home, *, seconds: float) -> int:
    """Rebuild whatever is stale in every agent, for at most so long; how many windows are still stale. What time is left erases."""
    until = monotonic() + seconds
    agents = home.engine.agents()
    left = settle(home, dict.fromkeys(agents, EVERYTHING), seconds=seconds)
    erasing.erase(home, agents, seconds=max(until - monotonic(), 0))
    return left

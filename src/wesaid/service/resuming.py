"""The command that opens a session again in its tool, for results and lists: of what the caller may see, and of what is still there."""

from __future__ import annotations

from wesaid import keys, limits
from wesaid.engines.contract import View
from wesaid.importers import resuming
from wesaid.service import addressing
from wesaid.values import Policy, SessionRow


def resume(view: View, policy: Policy, row: SessionRow, session_id: str | None = None) -> tuple[str, ...]:
    """The words of the command for a session, or for one generation of it; none when its tool could not open it.

    That is so when its transcript is gone, when wesaid itself began it, and for a subagent whose parent is not there or not to be seen.
    """
    own = session_id or row.facts.session_id
    for _ in range(limits.LINEAGE_DEPTH_MAX):
        facts = row.facts
        if facts.tool not in resuming.BY_PARENT or keys.kind(facts.key) != "subagent":
            break
        parent = facts.spawned_by
        found = view.session(parent) if parent and addressing.allows(policy, parent) else None
        if found is None:
            return ()
        row, own = found, found.facts.session_id
    else:
        return ()
    if row.source_path is None or row.source_missing:
        return ()
    return resuming.resume(row.facts.tool, own, row.facts.key)

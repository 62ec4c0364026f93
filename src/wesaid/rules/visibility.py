"""Who may see and change what: one pure function for search, history, list, memory, export and every door (contract.md §3).

Takes a caller, the settings and the lineage as stored; returns a ``Policy`` that engines apply. Knows no database, no time (how long ago a
child ended never changes a permission, field report B70) and no request parameter.

Invariants:
- fail closed: an agent that is not named in the policy is not seen, a caller's key that is no key raises;
- the sandbox only narrows: what a sandboxed caller sees, the same caller sees unsandboxed;
- incognito sessions see nothing and are never seen.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from wesaid import keys
from wesaid.values import EVERYTHING, Caller, Policy, Scope

Visibility = Literal["self", "tree", "agent", "all"]
_HELPERS: Final = ("subagent:", "acp:")  # sessions that exist to work for another, so that crossing agents is their purpose


@dataclass(frozen=True, slots=True, kw_only=True)
class VisibilityRules:
    """The settings that decide, under their names in ``settings``. An empty ``allow`` means every agent."""

    visibility: Visibility = "tree"
    agent_to_agent_enabled: bool = True
    agent_to_agent_allow: tuple[str, ...] = ()
    sandbox_session_tools_visibility: Literal["spawned", "all"] = "spawned"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineage:
    """What is stored about who spawned whom: the descendants of the caller, whatever their agent, and the agents that exist."""

    subtree: frozenset[str] = frozenset()
    agents: frozenset[str] = frozenset()


def policy(caller: Caller, rules: VisibilityRules, lineage: Lineage) -> Policy:
    """What ``caller`` may read.

    The operator sees everything. A session always sees itself; ``tree`` adds what it spawned, ``agent`` its own agent, ``all`` every agent
    that ``agentToAgent`` lets it reach. InputError when the caller's key is none.
    """
    if caller.key is None:
        return Policy(name="all", other=EVERYTHING)
    me = keys.parse(caller.key)
    name = _effective(caller, rules)
    if keys.is_incognito(str(me)):
        return Policy(name=name, sandboxed=caller.sandboxed)
    scopes = {me.agent_id: Scope(keys=frozenset({str(me)}))}
    if rules.visibility in {"tree", "all"}:
        scopes = _family(me, lineage)
    elif name == "tree":  # clamped from `agent`, which does not cross agents: nor may the narrower view
        scopes = {me.agent_id: _family(me, lineage)[me.agent_id]}
    if name in {"agent", "all"} or (name == "tree" and me.rest == "main" and not caller.sandboxed):
        scopes[me.agent_id] = EVERYTHING
    if name == "all":
        scopes |= {agent: EVERYTHING for agent in lineage.agents - {me.agent_id} if _may_cross(me.agent_id, agent, rules)}
    return Policy(name=name, sandboxed=caller.sandboxed, scopes=scopes)


def may_write(caller: Caller, key: str, lineage: Lineage) -> bool:
    """Whether ``caller`` may append to, rewind or label the session ``key``: itself and what it spawned.

    Nobody writes to an incognito session, the operator included.
    """
    if keys.is_incognito(key):
        return False
    if caller.key is None:
        return True
    me = keys.parse(caller.key)
    return not keys.is_incognito(str(me)) and (key == str(me) or (key in lineage.subtree and owned(me, key)))


def _effective(caller: Caller, rules: VisibilityRules) -> Visibility:
    """The visibility in force: a sandboxed caller has ``tree`` at most, unless the settings say that the sandbox does not matter."""
    if caller.sandboxed and rules.sandbox_session_tools_visibility == "spawned" and rules.visibility != "self":
        return "tree"
    return rules.visibility


def _family(me: keys.SessionKey, lineage: Lineage) -> dict[str, Scope]:
    """The caller and what it spawned, by agent."""
    members: dict[str, set[str]] = {me.agent_id: {str(me)}}
    for key in lineage.subtree:
        if owned(me, key) and not keys.is_incognito(key):
            members.setdefault(keys.parse(key).agent_id, set()).add(key)
    return {agent: Scope(keys=frozenset(found)) for agent, found in members.items()}


def owned(me: keys.SessionKey, key: str) -> bool:
    """Whether a descendant counts as the caller's own: in its agent any, elsewhere one made to work for another (openclaw.md §2.5).

    What descends from one that does not count is no descendant: else a session that the caller may not see would decide what he may.
    """
    other = keys.parse(key)
    return other.agent_id == me.agent_id or other.rest.lower().startswith(_HELPERS)


def _may_cross(mine: str, theirs: str, rules: VisibilityRules) -> bool:
    """Whether sessions of one agent may see those of another: both must be allowed, and no list means all are."""
    if not rules.agent_to_agent_enabled:
        return False
    allow = rules.agent_to_agent_allow
    return not allow or all(any(_matches(entry, agent) for entry in allow) for agent in (mine, theirs))


def _matches(entry: str, agent: str) -> bool:
    """An exact id as it is written; with ``*``, any run of characters and any case; a blank entry matches nobody."""
    entry = entry.strip()
    if "*" not in entry:
        return entry == agent
    return re.fullmatch(".*".join(map(re.escape, re.split(r"\*+", entry))), agent, re.IGNORECASE) is not None

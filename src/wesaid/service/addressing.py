"""Which session is meant, and whether the caller may: the one place where keys, ids and policies meet.

Every use case asks here. Absent and hidden sessions give the same error, word for word.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

from wesaid import keys, limits
from wesaid.errors import InputError, NotFoundError, NotVisibleError, StoreError, quoted
from wesaid.rules import visibility
from wesaid.service.opening import Home
from wesaid.values import Caller, Policy, Scope, SessionRow

_MAIN_AGENT = "main"


def policy_of(home: Home, caller: Caller) -> Policy:
    """What a caller may read: the one rule for every surface (contract.md §3)."""
    if not isinstance(caller, Caller):
        raise InputError("a reading needs a caller", hint='wesaid.Caller("agent:…") or wesaid.OPERATOR', details={"field": "caller"})
    if caller.is_operator:
        return visibility.policy(caller, visibility.VisibilityRules(), visibility.Lineage())
    settings = home.settings
    rules = visibility.VisibilityRules(
        visibility=settings.sessions_visibility,
        agent_to_agent_enabled=settings.agent_to_agent_enabled,
        agent_to_agent_allow=settings.agent_to_agent_allow,
        sandbox_session_tools_visibility=settings.sandbox_session_tools_visibility,
    )
    return visibility.policy(normal(caller), rules, lineage_of(home, caller))


def normal(caller: Caller) -> Caller:
    """A caller whose key has its one spelling. InputError when it is no key."""
    return caller if caller.key is None else Caller(str(keys.parse(caller.key)), caller.sandboxed)


def lineage_of(home: Home, caller: Caller) -> visibility.Lineage:
    """Everything that a caller spawned, however deep, in every agent's database. Stored lineage decides, never time.

    A session that is not the caller's own is not followed further, so that no hidden session decides what is seen. A database that cannot
    be read adds nothing: less is seen, and nobody is told of an agent that he may not see.
    """
    agents = home.engine.agents()
    if caller.key is None:
        return visibility.Lineage(agents=frozenset(agents))
    me = keys.parse(caller.key)
    found = {str(me)}
    waiting = sorted(found)
    while waiting and len(found) < limits.SUBTREE_SESSIONS_MAX:
        parents, waiting = waiting, []
        for agent in agents:
            with suppress(StoreError):
                store = home.engine.store(agent)
                if store is not None:
                    with store.reading() as view:
                        children = {child for parent in parents for child in view.children(parent) if visibility.owned(me, child)}
                    waiting += sorted(children - found)
        found.update(waiting)
    return visibility.Lineage(subtree=frozenset(found) - {str(me)}, agents=frozenset(agents))


def full_key(home: Home, caller: Caller, reference: str) -> str:
    """A session's full key from a key, ``current``, ``main`` or a session id. NotFoundError when nothing visible has that id."""
    text = reference.encode("utf-8", "replace").decode("utf-8").strip()
    if not text:
        raise InputError(
            "sessionKey is empty", hint="give a session key, a session id, `current` or `main`", details={"field": "sessionKey"}
        )
    if text == "current":
        if caller.key is None:
            raise InputError("`current` means the caller's session, and the operator has none", details={"field": "sessionKey"})
        return str(keys.parse(caller.key))
    if text == "main":
        agent = keys.parse(caller.key).agent_id if caller.key else _MAIN_AGENT
        return f"agent:{agent}:main"
    if keys.is_key(text):
        return str(keys.parse(text))
    for agent, scope in scopes(home, policy_of(home, caller), None).items():
        with suppress(StoreError):  # the session may be another agent's
            with home.store(agent).reading() as view:
                row = view.session_by_id(text, scope)
            if row is not None:
                return row.facts.key
    raise absent(text)


def allows(policy: Policy, key: str) -> bool:
    """Whether a key is in a caller's view, be there such a session or not: only then may an answer name it."""
    return not keys.is_incognito(key) and policy.scope(keys.parse(key).agent_id).allows(key)


def absent(reference: str) -> NotFoundError:
    """The error for a session that is not there, or that this caller may not see: they look the same."""
    return NotFoundError(
        f"no session {quoted(reference, limits.SESSION_KEY_BYTES)}",
        hint="`wesaid sessions` lists what can be opened; a key looks like agent:<agentId>:<name>",
        details={"field": "sessionKey"},
    )


def visible_session(home: Home, caller: Caller, reference: str) -> SessionRow:
    """The session of a reference, if the caller may read it. NotFoundError otherwise."""
    key = full_key(home, caller, reference)
    agent = keys.parse(key).agent_id
    store = home.engine.store(agent)
    if store is None or keys.is_incognito(key) or not policy_of(home, caller).scope(agent).allows(key):
        raise absent(reference)
    with store.reading() as view:
        row = view.session(key)
    if row is None:
        raise absent(reference)
    return row


def told_to(home: Home, caller: Caller, row: SessionRow) -> SessionRow:
    """A session's row as a caller may know it: a session caller learns of no session that is hidden from it, and of no file."""
    if caller.is_operator:
        return row
    policy = policy_of(home, caller)
    known = {key: key if key is not None and allows(policy, key) else None for key in (row.facts.spawned_by, row.facts.forked_from)}
    facts = replace(row.facts, spawned_by=known[row.facts.spawned_by], forked_from=known[row.facts.forked_from], extra={})
    return replace(row, facts=facts, token=0, source_path=None, source_missing=False)


def check_may_write(home: Home, caller: Caller, key: str) -> None:
    """NotVisibleError unless the caller may write to a session: the operator, the session itself, or what spawned it."""
    if caller.is_operator:
        return
    if not visibility.may_write(normal(caller), key, lineage_of(home, caller)):
        raise NotVisibleError(
            f"no session {key!r} that this caller may write to",
            hint="a session may write to itself and to what it spawned",
            details={"field": "sessionKey"},
        )


def check_operator(caller: Caller, what: str) -> None:
    """NotVisibleError unless the caller is the operator."""
    if not caller.is_operator:
        raise NotVisibleError(f"{what} is the operator's", hint="run it on the command line, as the person at this machine")


def scopes(home: Home, policy: Policy, agents: Iterable[str] | None) -> dict[str, Scope]:
    """The agents to look in, each with what may be read of it; those of which nothing may be read are left out.

    NotFoundError when an agent is named of which nothing may be read, or, where all of it may be, that has no database. What lies in a
    database that a caller sees a part of never decides: to him an agent of his is there, with or without it.
    """
    known = home.engine.agents()
    if agents is None:
        wanted = known
    else:
        wanted = sorted({keys.agent_id(agent) for agent in agents})
        for agent in wanted:
            scope = policy.scope(agent)
            if scope.keys == frozenset() or (agent not in known and agent not in policy.scopes):
                raise NotFoundError(
                    f"no agent {agent!r}", hint="`wesaid stats` lists the agents of this home", details={"field": "agentId"}
                )
    return {agent: scope for agent in wanted if agent in known and (scope := policy.scope(agent)).keys != frozenset()}

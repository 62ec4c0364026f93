"""Claims about ``wesaid.rules.visibility``: a small family of sessions, and who of them sees whom."""

from __future__ import annotations

import itertools

import pytest

from wesaid.errors import InputError
from wesaid.rules.visibility import Lineage, VisibilityRules, may_write, policy
from wesaid.values import OPERATOR, Caller

MAIN = "agent:harbour:main"
GROUP = "agent:harbour:telegram:group:-7"
CHILD = "agent:harbour:subagent:child"  # spawned by MAIN
GRANDCHILD = "agent:harbour:subagent:grandchild"  # spawned by CHILD
ABROAD = "agent:tides:subagent:abroad"  # spawned by CHILD, in another agent
WORKER = "agent:harbour:subagent:worker"  # spawned by GROUP
BOAT = "agent:tides:main"
GUEST = "agent:tides:dashboard:guest"  # spawned by MAIN, but a conversation of its own
LIGHT = "agent:lights:main"
EVERYBODY = (MAIN, GROUP, CHILD, GRANDCHILD, ABROAD, WORKER, BOAT, GUEST, LIGHT)
PARENTS = {CHILD: MAIN, GRANDCHILD: CHILD, ABROAD: CHILD, WORKER: GROUP, GUEST: MAIN}
HARBOUR = {MAIN, GROUP, CHILD, GRANDCHILD, WORKER}


def lineage(key: str) -> Lineage:
    found: set[str] = set()
    level = {key}
    while level:
        level = {child for child, parent in PARENTS.items() if parent in level}
        found |= level
    return Lineage(subtree=frozenset(found), agents=frozenset(name.split(":")[1] for name in EVERYBODY))


def sees(key: str | None, *, sandboxed: bool = False, **rules) -> set[str]:
    view = policy(Caller(key, sandboxed), VisibilityRules(**rules), lineage(key or ""))
    return {other for other in EVERYBODY if view.scope(other.split(":")[1]).allows(other)}


@pytest.mark.parametrize(
    ("caller", "rules", "seen"),
    [
        (MAIN, {}, HARBOUR | {ABROAD}),
        (GROUP, {}, {GROUP, WORKER}),
        (CHILD, {}, {CHILD, GRANDCHILD, ABROAD}),
        (GRANDCHILD, {}, {GRANDCHILD}),
        (BOAT, {}, {BOAT, ABROAD, GUEST}),
        (MAIN, {"visibility": "self"}, {MAIN}),
        (CHILD, {"visibility": "self"}, {CHILD}),
        (GROUP, {"visibility": "agent"}, HARBOUR),
        (MAIN, {"visibility": "agent"}, HARBOUR),
        (BOAT, {"visibility": "agent"}, {BOAT, ABROAD, GUEST}),
        (GRANDCHILD, {"visibility": "all"}, set(EVERYBODY)),
        (GROUP, {"visibility": "all", "agent_to_agent_enabled": False}, HARBOUR),
        (MAIN, {"visibility": "all", "agent_to_agent_enabled": False}, HARBOUR | {ABROAD}),
        (GROUP, {"visibility": "all", "agent_to_agent_allow": ("harbour",)}, HARBOUR),
        (GROUP, {"visibility": "all", "agent_to_agent_allow": ("tides",)}, HARBOUR),
        (GROUP, {"visibility": "all", "agent_to_agent_allow": ("harbour", "tides")}, HARBOUR | {BOAT, ABROAD, GUEST}),
        (GROUP, {"visibility": "all", "agent_to_agent_allow": ("h*", "*S")}, set(EVERYBODY)),
        (GROUP, {"visibility": "all", "agent_to_agent_allow": ("Harbour", "tides")}, HARBOUR),
        (GROUP, {"visibility": "all", "agent_to_agent_allow": ("", " ")}, HARBOUR),
        (GROUP, {"visibility": "all", "agent_to_agent_allow": ("*",)}, set(EVERYBODY)),
        (GROUP, {"visibility": "all", "agent_to_agent_allow": ("h.*", "tides")}, HARBOUR),
    ],
)
def test_a_session_sees_what_its_setting_says(caller, rules, seen):
    """Each visibility, the pairing of agents by list and wildcard, the whole subtree, and the main session's view of its agent."""
    assert sees(caller, **rules) == seen


@pytest.mark.parametrize(
    ("caller", "rules", "seen"),
    [
        (MAIN, {}, {MAIN, CHILD, GRANDCHILD, ABROAD}),
        (MAIN, {"visibility": "all"}, {MAIN, CHILD, GRANDCHILD, ABROAD}),
        (GROUP, {"visibility": "agent"}, {GROUP, WORKER}),
        (CHILD, {"visibility": "agent"}, {CHILD, GRANDCHILD}),
        (MAIN, {"visibility": "self"}, {MAIN}),
        (MAIN, {"visibility": "all", "sandbox_session_tools_visibility": "all"}, set(EVERYBODY)),
        (GROUP, {"visibility": "agent", "sandbox_session_tools_visibility": "all"}, HARBOUR),
        (MAIN, {"visibility": "self", "sandbox_session_tools_visibility": "all"}, {MAIN}),
        (MAIN, {"sandbox_session_tools_visibility": "all"}, {MAIN, CHILD, GRANDCHILD, ABROAD}),
    ],
)
def test_a_sandboxed_session_sees_its_tree_at_most(caller, rules, seen):
    """The clamp takes away the main session's exception, leaves `self` alone, and ends where the setting says so."""
    assert sees(caller, sandboxed=True, **rules) == seen


def test_for_every_setting_the_sandbox_only_narrows():
    """For every caller and setting: sandboxed is a subset of unsandboxed and holds at least the caller; `agent` crosses to no other agent."""
    order = ("self", "tree", "agent", "all")
    for key, name, clamp, enabled in itertools.product(EVERYBODY, order, ("spawned", "all"), (True, False)):
        rules = {"visibility": name, "sandbox_session_tools_visibility": clamp, "agent_to_agent_enabled": enabled}
        inside, outside = sees(key, sandboxed=True, **rules), sees(key, **rules)
        assert key in inside
        assert inside <= outside
        view = policy(Caller(key, sandboxed=True), VisibilityRules(**rules), lineage(key))
        assert order.index(view.name) <= order.index(name)


def test_the_operator_sees_every_agent_known_or_not():
    """The person at this machine is not narrowed by settings made for sessions."""
    assert sees(None, visibility="self") == set(EVERYBODY)
    assert policy(OPERATOR, VisibilityRules(visibility="self"), Lineage()).scope("anything").allows("agent:anything:main")


def test_an_agent_that_nobody_named_is_not_seen():
    """With `all`, an agent that was not known when the policy was made stays closed."""
    view = policy(Caller(MAIN), VisibilityRules(visibility="all"), Lineage(agents=frozenset({"harbour"})))
    assert not view.scope("tides").allows(BOAT)


def test_incognito_sessions_see_nothing_and_are_not_seen():
    """Not even themselves: nothing of them is stored, so nothing may answer for them."""
    hidden = "agent:harbour:subagent:incognito-7"
    assert sees(hidden, visibility="all") == set()
    view = policy(Caller(GROUP), VisibilityRules(), Lineage(subtree=frozenset({hidden, WORKER})))
    assert view.scope("harbour").keys == {GROUP, WORKER}
    assert not may_write(OPERATOR, hidden, Lineage())
    assert not may_write(Caller(hidden), hidden, Lineage())


def test_a_session_writes_to_itself_and_to_what_it_spawned():
    """Seeing a session is no right to write to it: the main session sees its agent and changes its own tree only."""
    assert {key for key in EVERYBODY if may_write(Caller(MAIN), key, lineage(MAIN))} == {MAIN, CHILD, GRANDCHILD, ABROAD}
    assert {key for key in EVERYBODY if may_write(Caller(GRANDCHILD), key, lineage(GRANDCHILD))} == {GRANDCHILD}
    assert all(may_write(OPERATOR, key, Lineage()) for key in EVERYBODY)


@pytest.mark.parametrize("key", ["", "main", "agent:harbour", "agent::main", "nobody"])
def test_a_caller_that_is_no_session_is_refused(key):
    """A key that is none never becomes a wider caller."""
    with pytest.raises(InputError):
        policy(Caller(key), VisibilityRules(), Lineage())

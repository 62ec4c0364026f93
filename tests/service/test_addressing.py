"""Claims about who sees what: one rule for search, history, list and export, and no difference between hidden and absent."""

from __future__ import annotations

import dataclasses

import pytest

from wesaid.errors import InputError, NotFoundError, WesaidError
from wesaid.service import addressing, exporting, writing
from wesaid.values import OPERATOR, Caller

MAIN = "agent:main:main"
ME = "agent:main:me"
CHILD = "agent:main:subagent:child"
GRANDCHILD = "agent:work:subagent:grandchild"
SIBLING = "agent:main:sibling"
FOREIGN = "agent:work:main"
EVERYONE = {MAIN, ME, CHILD, GRANDCHILD, SIBLING, FOREIGN}
FAMILY = {ME, CHILD, GRANDCHILD}
OWN_AGENT = {MAIN, ME, CHILD, SIBLING}


@pytest.fixture
def village(lab):
    """Six sessions that all say "ferry": a family over two agents, and strangers."""
    for key, parent in ((MAIN, None), (ME, None), (CHILD, ME), (GRANDCHILD, CHILD), (SIBLING, None), (FOREIGN, None)):
        lab.say(f"ferry of {key}", key=key, by=parent)
    return lab


def set_visibility(lab, visibility, **more):
    lab.home.settings = dataclasses.replace(lab.home.settings, sessions_visibility=visibility, **more)


def readable(lab, caller, read):
    """Keys that a way of reading one session gives."""
    found = set()
    for key in EVERYONE:
        try:
            read(key, caller)
        except NotFoundError:
            continue
        found.add(key)
    return found


def check_every_surface(lab, caller, expected):
    searched = {hit["sessionKey"] for hit in lab.search("ferry", caller=caller, limit=25)["results"]}
    assert searched == expected
    assert set(lab.listed(caller=caller)) == expected
    assert readable(lab, caller, lambda key, who: lab.history(key, caller=who)) == expected
    assert readable(lab, caller, lambda key, who: lab.exported(key, caller=who)) == expected
    assert readable(lab, caller, lambda key, who: lab.search("ferry", caller=who, sessionKey=key)) == expected
    assert lab.search("ferry", caller=caller)["diagnostics"]["sessionsSearched"] == len(expected)


@pytest.mark.parametrize(
    ("visibility", "expected"),
    [("self", {ME}), ("tree", FAMILY), ("agent", OWN_AGENT), ("all", EVERYONE)],
    ids=lambda value: str(value)[:6],
)
def test_each_visibility_shows_the_same_sessions_on_every_surface(village, visibility, expected):
    """Search, history, list and export agree, for a session in the middle of a family."""
    set_visibility(village, visibility)
    check_every_surface(village, Caller(ME), expected)
    assert village.search("ferry", caller=Caller(ME))["diagnostics"]["scope"] == visibility


def test_the_operator_sees_everything_whatever_the_setting(village):
    """The settings are about sessions that ask."""
    set_visibility(village, "self")
    check_every_surface(village, OPERATOR, EVERYONE)


def test_an_agents_main_session_sees_its_agent_by_default(village):
    """`tree` of an unsandboxed main session is its whole agent; sandboxed it is its tree alone."""
    check_every_surface(village, Caller(MAIN), OWN_AGENT)
    check_every_surface(village, Caller(MAIN, sandboxed=True), {MAIN})


def test_a_sandboxed_caller_never_sees_more(village):
    """`all` becomes `tree`, `self` stays `self`."""
    set_visibility(village, "all")
    check_every_surface(village, Caller(ME, sandboxed=True), FAMILY)
    set_visibility(village, "self")
    check_every_surface(village, Caller(ME, sandboxed=True), {ME})


def test_agents_that_may_not_talk_do_not_see_each_other(village):
    """`all` without agentToAgent, or with an allow list that lacks one, stops at the agent; its own spawned helpers stay visible."""
    set_visibility(village, "all", agent_to_agent_enabled=False)
    check_every_surface(village, Caller(ME), OWN_AGENT | {GRANDCHILD})
    set_visibility(village, "all", agent_to_agent_enabled=True, agent_to_agent_allow=("main",))
    check_every_surface(village, Caller(ME), OWN_AGENT | {GRANDCHILD})


def test_an_incognito_caller_sees_nothing(village):
    """Nor itself."""
    set_visibility(village, "all")
    check_every_surface(village, Caller("agent:main:dashboard:incognito-1"), set())


def test_a_hidden_session_and_an_absent_one_give_the_same_error(village):
    """Word for word, by key and by session id, on every surface that reads or writes."""
    lab = village
    set_visibility(lab, "self")
    caller = Caller(ME)
    hidden_id = lab.history(SIBLING)["sessionId"]
    absent_id = "0" * len(hidden_id)

    def error(act, reference):
        with pytest.raises(WesaidError) as caught:
            act(reference)
        return str(caught.value.as_json()).replace(reference, "REFERENCE"), type(caught.value)

    surfaces = [
        lambda reference: lab.history(reference, caller=caller),
        lambda reference: lab.history(reference, caller=caller, messageId="x"),
        lambda reference: lab.exported(reference, caller=caller),
        lambda reference: lab.search("ferry", caller=caller, sessionKey=reference),
        lambda reference: lab.search(f"ferry session:{reference}", caller=caller),
        lambda reference: writing.reset(lab.home, caller, reference),
        lambda reference: writing.rewind(lab.home, caller, reference, "x"),
        lambda reference: writing.patch(lab.home, caller, reference, label="x"),
        lambda reference: writing.fork(lab.home, caller, reference, "x"),
        lambda reference: writing.delete(lab.home, caller, reference),
    ]
    for act in surfaces:
        assert error(act, SIBLING) == error(act, "agent:main:nobody1")
        assert error(act, FOREIGN) == error(act, "agent:nobody:main")
        assert error(act, hidden_id) == error(act, absent_id)
    append = lambda key: writing.append(lab.home, caller, key, [{"role": "user", "text": "x"}])  # noqa: E731 - one of a row
    assert error(append, SIBLING) == error(append, "agent:main:nobody1")


def test_a_hidden_agent_and_an_absent_one_give_the_same_error(village):
    """For `agent:` in a query, `agentIds` and the list's `agentId`."""
    set_visibility(village, "self")
    for act in (
        lambda agent: village.search(f"ferry agent:{agent}", caller=Caller(ME)),
        lambda agent: village.search("ferry", caller=Caller(ME), agentIds=[agent]),
        lambda agent: village.listed(caller=Caller(ME), agentId=agent),
    ):
        said = []
        for agent in ("work", "none"):
            with pytest.raises(NotFoundError) as caught:
                act(agent)
            said.append(str(caught.value.as_json()).replace(agent, "AGENT"))
        assert said[0] == said[1]


def test_a_session_can_be_named_by_key_id_current_and_main(village):
    """Display forms are accepted as input; answers have full keys."""
    session_id = village.history(ME)["sessionId"]
    for reference in (ME, "AGENT:MAIN:ME", f"  {ME} ", session_id, "current"):
        assert village.history(reference, caller=Caller(ME))["sessionKey"] == ME
    assert addressing.full_key(village.home, Caller(GRANDCHILD), "main") == "agent:work:main"
    assert village.history("main")["sessionKey"] == MAIN


@pytest.mark.parametrize("reference", ["", "   ", "current"])
def test_a_reference_that_means_nothing_is_an_input_error(village, reference):
    """The operator has no current session, and an empty key is no session."""
    with pytest.raises(InputError) as caught:
        village.history(reference)
    assert caught.value.details["field"] == "sessionKey"


def test_a_caller_whose_key_is_none_is_refused(village):
    """A caller that cannot be parsed sees nothing, by an error."""
    for act in (
        lambda who: village.search("ferry", caller=who),
        lambda who: village.listed(caller=who),
        lambda who: village.history(ME, caller=who),
    ):
        with pytest.raises(InputError):
            act(Caller("nonsense"))


def test_reveal_is_the_operators(village):
    """Raw text is never a session's to export."""
    with pytest.raises(NotFoundError):
        list(exporting.export(village.home, Caller(ME), ME, reveal=True))


@pytest.mark.parametrize(
    "name", ["agent:main:päron och äpple", "agent:main:import:A b%c", "agent:main:" + "é" * 300, "agent:main:import:" + "会" * 200]
)
def test_what_search_returns_history_opens_whatever_the_key(lab, name):
    """A key as an answer spells it is the same session everywhere, also when it had to be encoded or cut."""
    message = lab.say("the ferry leaves at nine", key=name)
    [hit] = lab.search("ferry")["results"]
    page = lab.history(hit["sessionKey"], messageId=hit["messageId"])
    assert [found["messageId"] for found in page["messages"]] == [message]
    assert lab.ids("ferry", sessionKey=hit["sessionKey"]) == [message]
    assert lab.ids("ferry", caller=Caller(hit["sessionKey"])) == [message]
    assert lab.listed() == [hit["sessionKey"]]

"""The claim at the heart of visibility: what a caller may not see changes no byte of any answer to him (contract.md §3).

Two homes are made from one history of steps: one with every step, one without those on sessions that the caller may not see. Every question
that a caller can ask is then asked of both. WESAID_EXAMPLES asks for more examples than the usual hundred.
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from wesaid import limits
from wesaid.errors import NotFoundError, WesaidError
from wesaid.service import exporting, history, listing, methods, opening, searching, wire, writing
from wesaid.values import OPERATOR, Caller

NOW = 1_772_359_200_000
DAY = 24 * 60 * 60_000
EXAMPLES = int(os.environ.get("WESAID_EXAMPLES", "100"))
# Many examples are for looking; shrinking what they find takes minutes.
PHASES = (Phase.explicit, Phase.generate) if "WESAID_EXAMPLES" in os.environ else tuple(Phase)

ME = "agent:main:me"
MAIN = "agent:main:main"


@dataclass(frozen=True)
class Case:
    """Who asks under which settings; sessions that he may see, with their parents, and sessions that he may not."""

    caller: Caller
    visible: tuple[tuple[str, str | None], ...]
    hidden: tuple[tuple[str, str | None], ...]
    rules: dict = field(default_factory=dict)


CHILD, GRANDCHILD, GUEST = "agent:main:subagent:child", "agent:work:subagent:grandchild", "agent:work:dashboard:guest"
FAMILY = ((ME, None), (CHILD, ME), (GRANDCHILD, CHILD))
STRANGERS = (
    ("agent:main:stranger", None),
    ("agent:main:subagent:theirs", "agent:main:stranger"),
    ("agent:aaa:main", None),
    ("agent:zzz:main", None),
)
# A guest is spawned by the caller, but is a conversation of another agent; what the guest spawned is the guest's.
GUESTS = ((GUEST, ME), ("agent:zzz:subagent:of-guest", GUEST))
CASES = {
    "self": Case(Caller(ME), ((ME, None),), (*STRANGERS, (CHILD, ME), (MAIN, None)), {"sessions_visibility": "self"}),
    "tree": Case(Caller(ME), FAMILY, (*STRANGERS, *GUESTS, (MAIN, None))),
    "agent": Case(Caller(ME), ((ME, None), (MAIN, None), (CHILD, ME), STRANGERS[0]), (*STRANGERS[2:], *GUESTS), {"sessions_visibility": "agent"}),
    "all": Case(
        Caller(ME), ((ME, None), (MAIN, None), (CHILD, ME), (GUEST, None)), (*STRANGERS[2:], ("agent:aaa:subagent:x", None)),
        {"sessions_visibility": "all", "agent_to_agent_allow": ("main", "work")},
    ),
    "main": Case(Caller(MAIN), ((MAIN, None), (ME, None), STRANGERS[0]), (*STRANGERS[2:], ("agent:work:main", None))),
    "sandboxed": Case(
        Caller(MAIN, sandboxed=True), ((MAIN, None), ("agent:main:subagent:mine", MAIN)), (*STRANGERS, (ME, None), (CHILD, ME)),
        {"sessions_visibility": "all"},
    ),
}  # fmt: skip
WORDS = ("ferry", "harbour", "ferries", "nine", "the", "fer", "会议", "key sk-AbCd3fGh1jKlMn0pQrStUvWxYz")
TEXT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)


@dataclass(frozen=True)
class Step:
    """One thing that happens to the session of number ``who`` among those the caller may see, or may not."""

    hidden: bool
    who: int
    act: str
    text: str
    at: int
    same: bool = False  # takes ids of a visible session and message, where it can


STEPS = st.builds(
    Step,
    hidden=st.booleans(),
    who=st.integers(0, 5),
    act=st.sampled_from(["say", "say", "say", "reply", "rewind", "reset", "label", "archive", "fork", "stale", "delete"]),
    text=TEXT,
    at=st.integers(0, 3),
    same=st.booleans(),
)


class World:
    """A home whose ids come from the step that makes them, so that the same step makes the same thing in another home."""

    def __init__(self, home, case):
        self.home, self.case = home, case
        home.now = lambda: NOW + DAY
        home.settings = replace(home.settings, **case.rules)
        self.said = {}

    def run(self, steps, *, all_of_them):
        for number, step in enumerate(steps):
            family = self.case.hidden if step.hidden else self.case.visible
            key, parent = family[step.who % len(family)]
            ids = (f"id-{number}-{turn}" for turn in count())
            first = self.said.get(self.case.visible[0][0])
            if step.hidden and step.same and first:
                ids = iter([first[0], *(f"id-{number}-{turn}" for turn in range(9))])
            self.home.new_id = lambda ids=ids: next(ids)
            if all_of_them or not step.hidden:
                try:
                    self.do(step, number, key, parent)
                except WesaidError:
                    continue

    def do(self, step, number, key, parent):
        said = self.said.get(key)
        if step.act in ("say", "reply"):
            role = "user" if step.act == "say" else "assistant"
            name = "0" if step.same else str(number)
            message = {"role": role, "text": step.text, "timestamp": NOW + step.at * 1000, "idempotencyKey": name}
            [done] = writing.append(self.home, OPERATOR, key, [message], spawned_by=parent)
            self.said[key] = [done.session_id, *(said or ["", ""])[1:], done.message_id]
        elif said is None:
            return
        elif step.act == "rewind":
            writing.rewind(self.home, OPERATOR, key, said[-1])
        elif step.act == "reset":
            writing.reset(self.home, OPERATOR, key)
        elif step.act == "label":
            writing.patch(self.home, OPERATOR, key, label=step.text)
        elif step.act == "archive":
            writing.patch(self.home, OPERATOR, key, archived=step.same)
        elif step.act == "fork":
            origin = self.case.visible[0][0] if step.same and self.said.get(self.case.visible[0][0]) else key
            family = self.case.hidden if step.hidden else self.case.visible
            writing.fork(self.home, OPERATOR, origin, self.said[origin][-1], new_key=family[(step.who + 1) % len(family)][0])
        elif step.act == "stale":
            agent = key.split(":")[1]
            with self.home.store(agent).writing() as writer:
                writer.rebuild(writer.windows(key)[-1].window)
        elif step.act == "delete":
            writing.delete(self.home, OPERATOR, key)
            self.said.pop(key)


def asked(call):
    """An answer, or an error, as bytes."""
    try:
        return json.dumps(call(), ensure_ascii=False)
    except WesaidError as error:
        return f"{type(error).__name__} {error.exit_code} {json.dumps(error.as_json())}"


def every_answer(world, ids):
    """Everything that the caller can ask: by what, and what came."""
    home, case = world.home, world.case
    caller = case.caller

    def search(**params):
        return asked(lambda: wire.page_json(searching.search(home, caller, methods.convert(methods.SearchParams, params))))

    def read(**params):
        return asked(lambda: wire.history_json(history.history(home, caller, methods.convert(methods.HistoryParams, params))))

    def listed(**params):
        return asked(lambda: wire.sessions_json(listing.sessions(home, caller, methods.convert(methods.ListParams, params))))

    def show(key, message):
        found = history.message(home, caller, key, message)
        return found[0], wire.message_json(found[1])

    answers = {}
    for query in (
        "ferry",
        "ferry harbour nine",
        '"ferry harbour"',
        "fer*",
        "f*",
        "ferry -nine",
        "nine OR 会",
        "the",
        "sk-AbCd3fGh1jKlMn0pQrStUvWxYz",
        "zzz",
        "agent:zzz ferry",
        "agent:work ferry",
    ):
        answers["search", query] = search(query=query)
    for more in (
        {"order": "newest"},
        {"order": "oldest"},
        {"limit": 1},
        {"context": 2},
        {"detail": "full"},
        {"role": "user"},
        {"waitMs": 0},
        {"tool": "x"},
        {"excludeSessionKeys": [ME]},
    ):
        answers["search", str(more)] = search(query="ferry harbour", **more)
    for agent in ("main", "work", "aaa", "zzz", "none"):
        answers["agent", agent] = search(query="ferry", agentIds=[agent])
        answers["list of", agent] = listed(agentId=agent)
    for reference in (*(key for key, _ in (*case.visible, *case.hidden)), "main", "current", *ids):
        answers["in", reference] = search(query="ferry", sessionKey=reference)
        answers["without", reference] = search(query="ferry", excludeSessionKeys=[reference])
        for params in (
            {},
            {"limit": 1},
            {"offset": 1},
            {"includeTools": True},
            *({"messageId": one} for one in ids),
            {"sessionId": "id-0-0"},
        ):
            answers["history", reference, str(params)] = read(sessionKey=reference, **params)
        for form in ("jsonl", "md"):
            answers["export", reference, form] = asked(
                lambda reference=reference, form=form: list(exporting.export(home, caller, reference, format=form))
            )
        answers["show in", reference] = asked(lambda reference=reference: show(reference, ids[0]))
    for message in ids:
        answers["show", message] = asked(lambda message=message: show(None, message))
    for params in (
        {},
        {"limit": 1},
        {"offset": 1},
        {"search": "ferry"},
        {"archived": False},
        {"messageLimit": 5, "includeDerivedTitles": True, "includeLastMessage": True},
    ):
        answers["list", str(params)] = listed(**params)
    return answers


def check(engine, name, steps):
    """Both homes give the same answers."""
    case = CASES[name]
    seen = []
    for all_of_them in (True, False):
        with tempfile.TemporaryDirectory() as folder:
            made = opening.memory_home() if engine == "memory" else opening.open_home(Path(folder), environ={})
            made.rest = bool  # these many answers need not be late; that they would be is another test's claim
            with made as home:
                world = World(home, case)
                world.run(steps, all_of_them=all_of_them)
                if all_of_them:
                    known = [one for said in world.said.values() for one in (said[0], said[-1])]
                    ids = [*sorted(set(known))[:4], "id-nobody"]
                seen.append(every_answer(world, ids))
    for question, answer in seen[1].items():
        assert seen[0][question] == answer, question


@pytest.mark.parametrize("engine", ["memory", "sqlite"])
@example(name="tree", steps=[Step(hidden, who, "say", "ferry", 0) for hidden, who in ((False, 0), (True, 4), (True, 5))])  # guests
@given(name=st.sampled_from(sorted(CASES)), steps=st.lists(STEPS, min_size=2, max_size=14))
@settings(max_examples=EXAMPLES, phases=PHASES, deadline=None, suppress_health_check=list(HealthCheck))
def test_what_a_caller_may_not_see_changes_no_byte_of_any_answer(engine, name, steps):
    """Results, order, scores, counts, hints, history, list, export, one message, and errors, whatever is added, changed or removed."""
    check(engine, name, steps)


@pytest.mark.parametrize("engine", ["memory", "sqlite"])
@pytest.mark.parametrize("name", sorted(CASES))
def test_more_newer_hidden_matches_than_a_walk_looks_at_hide_nothing(engine, name, tmp_path):
    """Policy comes before every limit: for each kind of caller, its one older message is found among hundreds that it may not see."""
    case = CASES[name]
    with opening.memory_home() if engine == "memory" else opening.open_home(tmp_path / "home", environ={}) as home:
        world = World(home, case)
        key = case.visible[0][0]
        [wanted] = writing.append(home, OPERATOR, key, [{"role": "user", "text": "the ferry", "timestamp": NOW - DAY}])
        for hidden, parent in case.hidden[:2]:
            many = [{"role": "user", "text": "the ferry", "timestamp": NOW + number} for number in range(limits.CANDIDATES + 1)]
            writing.append(home, OPERATOR, hidden, many, spawned_by=parent)
        for order in ("relevance", "newest", "oldest"):
            found = searching.search(world.home, case.caller, methods.SearchParams(query="ferry", limit=1, order=order))
            assert [hit.message_id for hit in found.hits] == [wanted.message_id]
            assert found.truncated is False


def test_a_place_that_a_hidden_message_freed_changes_no_order(tmp_path):
    """Two equal messages of one moment come in the order of speech, also when the second took an index row that a stranger's deletion freed."""
    answers = []
    for strangers in (True, False):
        folder = tmp_path / str(strangers)
        message = {"role": "user", "text": "the ferry", "timestamp": NOW}
        for number, who in enumerate(("agent:main:stranger", ME, None, ME)):  # each in a process of its own
            with opening.open_home(folder, environ={}) as home:
                if who is None and strangers:
                    writing.delete(home, OPERATOR, "agent:main:stranger")
                elif who == ME or (who is not None and strangers):
                    writing.append(home, OPERATOR, who, [message | {"idempotencyKey": str(number)}])
        with opening.open_home(folder, environ={}) as home:
            home.now = lambda: NOW + DAY
            orders = ("relevance", "newest", "oldest")
            pages = [searching.search(home, Caller(ME), methods.SearchParams(query="ferry", order=order)) for order in orders]
            answers.append([[hit.message_id for hit in page.hits] for page in pages])
    assert answers[0] == answers[1]
    relevance, newest, oldest = answers[0]
    assert relevance == newest == oldest[::-1]


@pytest.mark.parametrize("engine", ["memory", "sqlite"])
def test_a_caller_of_many_sessions_is_told_nothing_of_the_others_either(engine, tmp_path):
    """Scopes too wide for the MATCH are joined: titles, counts, prefixes and results are those of a home without strangers."""
    answers = []
    for strangers in (True, False):
        with opening.memory_home() if engine == "memory" else opening.open_home(tmp_path / str(strangers), environ={}) as home:
            home.now = lambda: NOW + DAY
            for number in range(limits.SCOPE_TOKENS + 20):
                key = ME if number == 0 else f"agent:main:subagent:{number}"
                home.new_id = lambda number=number: f"id-{number}"
                message = {"role": "user", "text": f"ferry {number}", "timestamp": NOW + number, "idempotencyKey": "0"}
                writing.append(home, OPERATOR, key, [message], spawned_by=ME if number else None)
            for number in range(5 if strangers else 0):
                key = f"agent:main:stranger{number}"
                said = {"role": "user", "text": "ferry harbour ferries", "timestamp": NOW + number}
                home.new_id = lambda number=number: f"stranger-{number}"
                writing.append(home, OPERATOR, key, [said | {"idempotencyKey": str(turn)} for turn in range(9)])
                writing.patch(home, OPERATOR, key, label="lighthouse ferry")
            asked_for = ("ferry", "ferry harbour", "harbour", "ferr*", "lighthouse", "lighthouse ferry", "ferry 7")
            pages = [searching.search(home, Caller(ME), methods.SearchParams(query=query)) for query in asked_for]
            answers.append([json.dumps(wire.page_json(page)) for page in pages])
    assert answers[0] == answers[1]


def test_a_session_callers_answer_comes_no_sooner_than_others_would(lab):
    """What is left of the least time is rested, whether something is found, nothing, or an error is raised; the operator never waits."""
    lab.say("the ferry leaves at nine")
    rests = []
    lab.home.rest = rests.append
    lab.search("ferry", caller=Caller(MAIN))
    lab.search("zebra", caller=Caller(MAIN))
    with pytest.raises(NotFoundError):
        lab.search("ferry", caller=Caller("agent:main:x"), sessionKey="agent:main:y")
    lab.search("ferry")
    assert len(rests) == 3
    assert all(0 <= rest <= limits.SESSION_ANSWER_SECONDS for rest in rests)

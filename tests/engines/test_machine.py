"""Two engines live through the same history and never disagree: memory, which is obviously right, and SQLite, which is fast."""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from engine_tools import at, check_index, clause, complete, facts, open_engine, prepared, record, snapshot, term
from wesaid import limits
from wesaid.errors import WesaidError
from wesaid.values import EVERYTHING, Filters, Match, Scope, Versions, WindowSpec

WORDS = ("alpha", "beta", "gamma", "userName", "数据库")
ASKED = ("alpha", "beta", "gamma", "user", "username", "数据")
KEYS = tuple(f"agent:main:s{n}" for n in range(3))

keys = st.sampled_from(KEYS)
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
PARENTS = ("absent", "absent", "absent", "leaf", "any", "any", "null", "unknown")
TARGETS = ("path", "path", "any", "null", "unknown", "missing")


class OnPurposeError(RuntimeError):
    """Raised on purpose inside a block."""


class TwoEngines(RuleBasedStateMachine):
    """Random sessions, appends, rewinds, switches, forks, resets, deletes, on both engines."""

    bounds: ClassVar[dict[str, int]] = {}  # limits that are lowered, so that a short history has what a long one has

    def __init__(self):
        super().__init__()
        self.usual = {name: getattr(limits, name) for name in self.bounds}
        for name, value in self.bounds.items():
            setattr(limits, name, value)
        self.home = Path(tempfile.mkdtemp(prefix="wesaid-machine-"))
        self.engines = [open_engine(name, self.home) for name in ("memory", "sqlite")]
        self.stores = [engine.store("main", create=True) for engine in self.engines]
        self.made = {}  # key -> ids of its events, in order
        self.step = 0

    def teardown(self):
        try:
            self.agree()
        finally:
            for name, value in self.usual.items():
                setattr(limits, name, value)
            for engine in self.engines:
                engine.close()
            shutil.rmtree(self.home)

    # ── doing the same to both ───────────────────────────────────────────────────────────────────────────────────
    def both(self, change):
        """One transaction on each; the same result or the same error."""
        results = []
        for store in self.stores:
            try:
                with store.writing() as writer:
                    results.append(change(writer))
            except WesaidError as error:
                results.append(type(error))
        return results

    def new_id(self):
        self.step += 1
        return f"e{self.step}"

    def chosen(self, data, key):
        """Some id that the session has had, or one that nobody has."""
        return data.draw(st.sampled_from(self.made.get(key) or ["nobody"]))

    def path_of(self, key):
        with self.stores[0].reading() as view:
            windows = view.windows(key)
            return [e.id for e in view.path(windows[-1].window, start=0, count=1000) if e.id] if windows else []

    def event(self, data, key, kind):
        id_ = self.new_id()
        more = {"timestamp": at(self.step)}
        if kind == "leaf":
            how = data.draw(st.sampled_from(TARGETS))
            if how != "missing":
                path = self.path_of(key) or [None]
                any_ = {"path": lambda: data.draw(st.sampled_from(path)), "any": lambda: self.chosen(data, key)}
                more["targetId"] = any_[how]() if how in any_ else {"null": None, "unknown": "nobody"}[how]
            made = record(data.draw(st.sampled_from([id_, id_, None])), "leaf", **more)
        else:
            how = data.draw(st.sampled_from(PARENTS))
            if how != "absent":
                path = self.path_of(key)
                parents = {"leaf": lambda: path[-1] if path else None, "any": lambda: self.chosen(data, key)}
                more["parentId"] = parents[how]() if how in parents else {"null": None, "unknown": "nobody"}[how]
            if data.draw(st.integers(0, 7)) == 0:
                more["appendMode"] = "side"
            if kind == "message":
                role = data.draw(st.sampled_from(["user", "assistant", "toolResult"]))
                more["message"] = {"role": role, "content": data.draw(texts)}
            made = record(id_, kind, **more)
        self.made.setdefault(key, []).append(id_)
        return prepared(made, mirror=kind == "message" and made["message"]["role"] == "assistant" and data.draw(st.booleans()))

    def append(self, key, items, **more):
        memory, sqlite = self.both(lambda writer: writer.append(key, items, **more))
        if isinstance(memory, list):
            plain = [(p.id, p.timestamp, p.duplicate) for p in memory]
            assert plain == [(p.id, p.timestamp, p.duplicate) for p in sqlite]
        else:
            assert memory == sqlite

    def agree(self, rows=2):
        """Completed, both answer the same to everything."""
        for store in self.stores:
            complete(store, slice_rows=rows)
        memory, sqlite = (snapshot(store, ASKED) for store in self.stores)
        for part, value in memory.items():
            assert value == sqlite[part], part

    # ── rules ────────────────────────────────────────────────────────────────────────────────────────────────────
    @initialize(data=st.data())
    def first(self, data):
        self.create(KEYS[0])
        self.append(KEYS[0], [self.event(data, KEYS[0], "message") for _ in range(4)])

    @rule(key=keys)
    def create(self, key):
        self.step += 1
        memory, sqlite = self.both(lambda w: w.create(facts(key, session_id=f"{key}-{self.step}", updated_at=self.step, title=key[-2:])))
        assert memory == sqlite if isinstance(memory, type) else memory.facts == sqlite.facts

    @rule(key=keys, data=st.data(), kind=st.sampled_from(["message"] * 6 + ["leaf", "leaf", "label", "reset", "weird", "session"]))
    def append_one(self, key, data, kind):
        self.append(key, [self.event(data, key, kind)])

    @rule(key=keys, data=st.data(), number=st.integers(2, 6))
    def append_many(self, key, data, number):
        self.append(key, [self.event(data, key, "message") for _ in range(number)])

    @rule(key=keys, data=st.data())
    def rewind(self, key, data):
        path = self.path_of(key)
        if path:
            self.append(key, [prepared(record(self.new_id(), "leaf", targetId=data.draw(st.sampled_from(path)), timestamp=at(self.step)))])

    @rule(key=keys, data=st.data())
    def switch(self, key, data):
        self.append(key, [prepared(record(self.new_id(), "leaf", targetId=self.chosen(data, key), timestamp=at(self.step)))])

    @rule(key=keys, data=st.data())
    def append_again(self, key, data):
        """An event that is there already."""
        with self.stores[0].reading() as view:
            windows = view.windows(key)
            events = [e for e in view.events(windows[-1].window, limit=1000) if e.id] if windows else []
            newest = [e for e in events if e.seq == max(o.seq for o in events if o.id == e.id)]
        if newest:
            from_body = json.loads(data.draw(st.sampled_from(newest)).body)
            self.append(key, [prepared(from_body)])

    @rule(key=keys, data=st.data(), ordinal=st.integers(-2, 3), findable=st.booleans())
    def append_to_window(self, key, data, ordinal, findable):
        spec = WindowSpec(session_id=f"{key}-w{ordinal}", ordinal=ordinal, reason="reset", findable=findable)
        self.append(key, [self.event(data, key, "message")], window=spec)

    @rule(key=keys, to=keys, data=st.data())
    def fork(self, key, to, data):
        self.step += 1
        upto = data.draw(st.integers(1, 9))

        def change(writer):
            windows = writer.windows(key)
            rows = writer.path(windows[-1].window, start=0, count=upto) if windows else []
            writer.create(facts(to, session_id=f"{to}-{self.step}", forked_from=key, updated_at=self.step))
            writer.append(to, [prepared(json.loads(row.body)) for row in rows])

        memory, sqlite = self.both(change)
        assert memory == sqlite
        self.made.setdefault(to, []).extend(self.made.get(key, [])[:upto])

    @rule(key=keys, title=st.sampled_from([None, "alpha", "beta gamma"]), parent=st.sampled_from([None, *KEYS]))
    def patch(self, key, title, parent):
        def change(writer):
            row = writer.session(key)
            known = facts(key) if row is None else row.facts
            return writer.patch(key, replace(known, title=title, spawned_by=parent or known.spawned_by)).facts

        memory, sqlite = self.both(change)
        assert memory == sqlite

    @rule(key=keys)
    def delete(self, key):
        self.step += 1
        memory, sqlite = self.both(lambda writer: writer.delete(key, self.step))
        assert memory == sqlite
        self.made.pop(key, None)

    @rule(key=keys, data=st.data())
    def fail(self, key, data):
        """A block that does much and raises."""
        item = self.event(data, key, "message")
        for store in self.stores:
            with pytest.raises((OnPurposeError, WesaidError)), store.writing() as writer:
                self.much(writer, key, item)

    @staticmethod
    def much(writer, key, item):
        writer.append(key, [item])
        writer.delete(key, 1)
        raise OnPurposeError

    @rule(key=keys, which=st.integers(0, 3))
    def rebuild(self, key, which):
        for store in self.stores:
            with store.writing() as writer:
                windows = writer.windows(key)
                if windows:
                    writer.rebuild(windows[which % len(windows)].window)

    @rule(number=st.integers(1, 3))
    def other_rules(self, number):
        """The program is another version now: its rows are renewed, and what is not yet serves on."""
        self.both(lambda writer: writer.mark(Versions(number, 1)))

    @rule()
    def lose_the_index(self):
        """As a repair does."""
        self.both(lambda writer: writer.drop_index())

    @rule(rows=st.integers(1, 3))
    def reconcile(self, rows):
        self.agree(rows)

    @precondition(lambda self: self.step > 3)
    @rule(
        wanted=st.lists(st.sampled_from(ASKED), min_size=1, max_size=2, unique=True),
        unwanted=st.lists(st.sampled_from(ASKED), max_size=1),
        scope=st.sets(keys, min_size=1),
        role=st.sampled_from([None, "user", "assistant"]),
        bounds=st.tuples(st.integers(0, 30), st.integers(0, 60)),
        limit=st.integers(1, 5),
        oldest_first=st.booleans(),
    )
    def search(self, wanted, unwanted, scope, role, bounds, limit, oldest_first):
        """Any question has the same answer, once the index is complete."""
        match = Match(any_of=tuple(clause(word) for word in wanted), none_of=tuple(term(word) for word in unwanted))
        filters = Filters(role=role, after=at(bounds[0]), before=at(bounds[1]))
        answers = []
        for store in self.stores:
            complete(store)
            with store.reading() as view:
                found = view.candidates(match, Scope(keys=frozenset(scope)), filters, limit=limit, oldest_first=oldest_first)
                answers.append(
                    (
                        [hit.timestamp for hit in found.candidates],
                        [view.frequency(term(word), Scope(keys=frozenset(scope)), bound=3) for word in wanted],
                        view.titles([clause(word) for word in wanted], EVERYTHING, limit=2),
                        [(view.tombstone(key), view.children(key), view.known_ids(key, ["e1", "e2", "e9"])) for key in KEYS],
                        view.holders(["e1", "e2", "e9"]),
                    )
                )
        assert answers[0] == answers[1]

    # ── what holds after every step ──────────────────────────────────────────────────────────────────────────────
    @invariant()
    def nothing_is_found_that_is_not_visible(self):
        """Before anything is completed: SQLite's matches are the visible path's, or fewer above the mark of a stale window."""
        check_index(self.stores[1], ASKED)

    @invariant()
    def paths_and_events_agree_at_once(self):
        """Whatever the index lacks, the path does not."""
        memory, sqlite = (snapshot(store, ()) for store in self.stores)
        assert memory["paths"] == sqlite["paths"]
        for window, events in memory["events"].items():
            assert [event[:5] for event in events] == [event[:5] for event in sqlite["events"][window]]


class TwoEnginesWithSmallBounds(TwoEngines):
    """Rewinds hide their rows, switches wait to be rebuilt, scopes are joined: what else only thousands of rows bring about."""

    bounds: ClassVar[dict[str, int]] = {
        "APPEND_RESOLUTIONS": 0,
        "BODIES_REMEMBERED": 1,
        "PATH_CUT_ROWS": 1,
        "REBUILD_SLICE_ROWS": 2,
        "SCOPE_TOKENS": 1,
        "LEARN_BULK_WORDS": 2,
        "KNOWN_WORDS": 2,
    }


FEW_STEPS = settings(max_examples=30, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
TestTwoEngines = TwoEngines.TestCase
TestTwoEngines.settings = FEW_STEPS
TestTwoEnginesWithSmallBounds = TwoEnginesWithSmallBounds.TestCase
TestTwoEnginesWithSmallBounds.settings = FEW_STEPS

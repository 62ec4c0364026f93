"""What child processes of the engine tests do. Usage, for those with pipes: engine_child.py COMMAND HOME [NAME SECONDS]."""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import apsw

import wesaid.engines
from engine_tools import at, complete, facts, found, leaf, open_engine, prepared, record, say
from wesaid.errors import StoreError
from wesaid.values import SourceState

CHILD = [sys.executable, __file__]
CHILD_ENV = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(wesaid.engines.__path__[0]).parents[1]), str(Path(__file__).parent)])}
WORDS = ("alpha", "beta", "gamma", "delta")
_KEYS = tuple(f"agent:main:s{n}" for n in range(4))
_STEPS = 4000


def script(seed: int) -> list[dict[str, Any]]:
    """A long seeded history. A step is plain data, one transaction (``complete`` apart), and legal or refused alike wherever it is done."""
    random_ = random.Random(seed)
    made: dict[str, list[str]] = {}
    steps: list[dict[str, Any]] = []
    for number in range(_STEPS):
        key = random_.choice(_KEYS)
        if key not in made:
            made[key] = []
            steps.append({"do": "create", "key": key, "number": number})
            continue
        kind = random_.choices(("append", "many", "leaf", "delete", "complete"), (5, 3, 4, 1, 2))[0]
        if kind == "delete" and len(made) > 2:
            del made[key]
        ids = [f"e{number}-{n}" for n in range({"append": 1, "many": random_.randint(2, 12)}.get(kind, 0))]
        target = random_.choice(made.get(key) or ["nobody"])
        text = [" ".join(random_.choices(WORDS, k=3)) for _ in ids]
        steps.append({"do": kind, "key": key, "number": number, "ids": ids, "texts": text, "target": target})
        if key in made:
            made[key] += ids
    return steps


def perform(store: Any, step: dict[str, Any]) -> None:
    """Do one step; what the state forbids is refused in the same way by every engine."""
    number, key = step["number"], step["key"]
    if step["do"] == "complete":
        complete(store, slice_rows=5)
        return
    with store.writing() as writer:
        there = writer.session(key) is not None
        if step["do"] == "create" and not there:
            writer.create(facts(key, session_id=f"{key}-{number}", updated_at=number))
        elif step["do"] == "append" and there:
            writer.append(key, [say(step["ids"][0], step["texts"][0], step=number)])
        elif step["do"] == "many" and there:
            writer.append(key, [say(id_, text, step=number) for id_, text in zip(step["ids"], step["texts"], strict=True)])
            writer.note_source(
                SourceState(path=f"/t/{key}", tool="pi", size=number, mtime_ns=number, offset=number, head_digest="", keys=(key,))
            )
        elif step["do"] == "leaf" and there:
            writer.append(key, [leaf(f"l{number}", step["target"], step=number)])
        elif step["do"] == "delete" and there:
            writer.delete(key, number)


def live(home: Path, steps: Sequence[dict[str, Any]], first: int, say_so: Callable[[int], None]) -> None:
    """Perform the script from a step on, saying each step once it is committed; until killed."""
    store = open_engine("sqlite", home).store("main", create=True)
    for number, step in enumerate(steps[first:], first):
        perform(store, step)
        say_so(number)


def die_at(home: Path, step: dict[str, Any], statement: int) -> None:
    """Perform one step, and end without any clean-up just before its n-th statement; returns if it has fewer."""
    left, armed = statement, False

    def count(_cursor: Any, _sql: str, _bindings: Any) -> bool:
        nonlocal left
        left -= armed
        if left < 0:
            os._exit(9)
        return True

    apsw.connection_hooks.append(lambda connection: setattr(connection, "exec_trace", count))
    store = open_engine("sqlite", home).store("main", create=True)
    armed = True
    perform(store, step)


def pause_at(home: Path, step: dict[str, Any], ask: Callable[[], None]) -> None:
    """Perform one step, asking before each statement and after the last whether to go on."""
    armed = False

    def trace(_cursor: Any, _sql: str, _bindings: Any) -> bool:
        if armed:
            ask()
        return True

    apsw.connection_hooks.append(lambda connection: setattr(connection, "exec_trace", trace))
    store = open_engine("sqlite", home).store("main", create=True)
    armed = True
    perform(store, step)
    ask()


def tell(answer: object) -> None:
    """One line to whoever started this process."""
    sys.stdout.write(f"{answer}\n")
    sys.stdout.flush()


def write(home: Path, name: str, seconds: str) -> None:
    """Append to a session of one's own and to a shared one until the time is over; say how many of each."""
    store = open_engine("sqlite", home).store("main", create=True)
    key, number, end = f"agent:main:{name}", 0, time.monotonic() + float(seconds)
    with store.writing() as writer:
        writer.create(facts(key))
    while not number or time.monotonic() < end:  # at least once, however busy the machine is
        with store.writing() as writer:
            writer.append(key, [say(f"{name}-{number}", f"needle own{name}", step=number)])
            writer.append("agent:main:shared", [say(f"{name}-{number}", "needle shared", step=number, parentId=None)])
            if number % 10 == 9:
                writer.append(key, [prepared(record(f"{name}-l{number}", "leaf", targetId=f"{name}-{number - 2}", timestamp=at(number)))])
        number += 1
    tell(json.dumps({"name": name, "written": number}))


def read(home: Path, _name: str, seconds: str) -> None:
    """Search until the time is over; what was found once never becomes less in the session that only grows. Say how many searches."""
    store = open_engine("sqlite", home).store("main")
    number, end, least = 0, time.monotonic() + float(seconds), 0
    while not number or time.monotonic() < end:  # at least once, however busy the machine is
        with store.reading() as view:
            row = view.session("agent:main:shared")
            window = view.windows("agent:main:shared")[0]
            assert window.events >= least, (window, least)
            least = window.events
            assert row.message_count == view.path_length(window.window), "a snapshot disagrees with itself"
        assert len(found(store, "needle", limit=20)) <= 20
        number += 1
    tell(json.dumps({"searches": number}))


def answer(home: Path) -> None:
    """For each line ``append ID WORD`` or ``search WORD`` or ``rewind ID``: do it and say so."""
    store = open_engine("sqlite", home).store("main", create=True)
    tell("ready")
    for number, line in enumerate(sys.stdin):
        verb, *rest = line.split()
        try:
            if verb == "search":
                tell(len(found(store, rest[0])))
                continue
            with store.writing() as writer:
                item = say(rest[0], rest[1], step=number) if verb == "append" else leaf(f"l{number}", rest[0], step=number)
                writer.append("agent:main:main", [item])
            tell("done")
        except StoreError as error:
            tell(f"failed {error.code}")


if __name__ == "__main__":
    commands: dict[str, Callable[..., None]] = {"write": write, "read": read, "answer": answer}
    commands[sys.argv[1]](Path(sys.argv[2]), *sys.argv[3:])

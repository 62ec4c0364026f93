"""Several processes on one agent: nobody sees an error, nobody loses a write, everybody sees what is committed at once."""

from __future__ import annotations

import json
import subprocess

from engine_child import CHILD, CHILD_ENV
from engine_tools import FEW, add, begin, check_index, complete, facts, ids, open_engine, path_ids, say
from wesaid.values import EVERYTHING

SECONDS = "4"


def test_four_writers_and_four_readers_get_no_error_and_lose_no_write(tmp_path):
    """All of them at it for some seconds, in sessions of their own and in one that they share."""
    engine = open_engine("sqlite", tmp_path)
    store = engine.store("main", create=True)
    begin(store, key="agent:main:shared")
    children = [
        subprocess.Popen(
            [*CHILD, command, str(tmp_path), f"{command}{n}", SECONDS], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=CHILD_ENV
        )
        for n in range(4)
        for command in ("write", "read")
    ]
    outputs = [child.communicate() for child in children]
    assert [(child.returncode, error) for child, (_, error) in zip(children, outputs, strict=True)] == [(0, b"")] * 8
    answers = [json.loads(output) for output, _ in outputs]
    written = {each["name"]: each["written"] for each in answers if "name" in each}
    assert len(written) == 4
    assert all(number > 0 for number in written.values())
    assert all(each["searches"] > 0 for each in answers if "searches" in each)
    expected = {f"{name}-{n}" for name, number in written.items() for n in range(number)}
    complete(store, slice_rows=500)
    with store.reading() as view:
        (shared,) = view.windows("agent:main:shared")
        assert {event.id for event in view.events(shared.window, limit=FEW)} == expected
        assert shared.events == len(expected)
        for name, number in written.items():
            (window,) = view.windows(f"agent:main:{name}")
            assert [e.id for e in view.events(window.window, limit=FEW) if e.type == "message"] == [f"{name}-{n}" for n in range(number)]
    check_index(store, ("needle", "shared", *(f"own{name}" for name in written)))
    engine.close()


def test_what_one_process_writes_another_finds_at_once(tmp_path):
    """Two processes that were open all along, twenty appends and a rewind; pipes say when, no clock does."""
    engine = open_engine("sqlite", tmp_path)
    begin(engine.store("main", create=True))
    both = [
        subprocess.Popen(
            [*CHILD, "answer", str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, env=CHILD_ENV
        )
        for _ in range(2)
    ]

    def ask(child, line):
        print(line, file=child.stdin, flush=True)
        return child.stdout.readline().strip()

    writer, reader = both
    assert [child.stdout.readline() for child in both] == ["ready\n", "ready\n"]
    assert ask(reader, "search word") == "0"
    for number in range(20):
        assert ask(writer, f"append m{number} word") == "done"
        assert ask(reader, "search word") == str(number + 1)
        writer, reader = reader, writer
    assert ask(writer, "rewind m4") == "done"
    assert ask(reader, "search word") == "5"
    for child in both:
        child.stdin.close()
        assert child.wait() == 0
        child.stdout.close()
    assert path_ids(engine.store("main")) == [f"m{number}" for number in range(5)]
    engine.close()


def test_a_session_deleted_by_one_handle_is_gone_for_another(tmp_path):
    """No handle answers from what it remembers: keys, counts and words of the old session are not the new one's."""
    first, second = (open_engine("sqlite", tmp_path) for _ in range(2))
    begin(first.store("main", create=True), say("a", "old needle"))
    assert ids(second.store("main"), "needle") == ["a"]
    with second.store("main").writing() as writer:
        writer.delete("agent:main:main", 5)
        writer.create(facts("agent:main:other"))
    add(second.store("main"), say("b", "new needle"), key="agent:main:other")
    assert ids(first.store("main"), "needle") == ["b"]
    with first.store("main").reading() as view:
        assert [row.facts.key for row in view.sessions(EVERYTHING)] == ["agent:main:other"]
    first.close()
    second.close()

"""Every promise has a test and every contract test a promise; what waits is data, and stops waiting when its issue is done."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from contract.requirements import REQUIREMENTS, ROWS, Requirement

HERE = Path(__file__).parent
FRAGMENTS = HERE.parents[1] / "changelog.d"


def marks(source: str) -> Iterator[tuple[str, list[str]]]:
    """Each test function of a source with the ids of its ``@promise`` decorators."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            calls = [d for d in node.decorator_list if isinstance(d, ast.Call) and getattr(d.func, "id", None) == "promise"]
            yield node.name, [arg.value for call in calls for arg in call.args if isinstance(arg, ast.Constant)]


def gaps(rows: Mapping[str, Requirement], tests: Mapping[str, list[str]], finished: set[int]) -> Iterator[str]:
    """What is missing on either side: ``tests`` maps a test to the promises it proves, ``finished`` are issues with a fragment."""
    proved = {promise for promises in tests.values() for promise in promises}
    for test, promises in tests.items():
        if not promises:
            yield f"{test} proves no promise"
        for promise in promises:
            if promise not in rows:
                yield f"{test} proves {promise}, which is no promise"
    for row in rows.values():
        if row.waits is None and row.id not in proved:
            yield f"{row.id} has no test"
        if row.waits is not None and row.id in proved:
            yield f"{row.id} has a test and waits for issue {row.waits} no longer"
        if row.waits in finished:
            yield f"{row.id} still waits for issue {row.waits}, whose changelog fragment exists"


def contract_tests() -> dict[str, list[str]]:
    """Every test of this folder but those of this file."""
    found = {}
    for path in sorted(HERE.glob("test_*.py")):
        if path != Path(__file__):
            found.update({f"{path.name}::{name}": ids for name, ids in marks(path.read_text(encoding="utf-8"))})
    return found


def finished_issues() -> set[int]:
    """Issues that left a fragment ``<n>.<kind>.md``."""
    return {int(path.name.split(".")[0]) for path in FRAGMENTS.glob("*.*.md") if path.name.split(".")[0].isdigit()}


def test_every_promise_has_a_test_and_every_test_a_promise() -> None:
    """Nothing is promised without proof, nothing proved that was not promised, nothing waits for what is done."""
    assert list(gaps(REQUIREMENTS, contract_tests(), finished_issues())) == []


def test_no_two_promises_share_an_id() -> None:
    """The ids are the rows' names."""
    assert len(REQUIREMENTS) == len(ROWS)


def test_a_gap_on_either_side_is_seen() -> None:
    """The check itself: a promise without test, a test without promise, an unknown id, and both ends of waiting."""
    now, later = Requirement("a", "s", "t"), Requirement("b", "s", "t", waits=7)
    assert list(gaps({"a": now, "b": later}, {"test_a": ["a"]}, {2})) == []
    assert len(list(gaps({"a": now}, {}, set()))) == 1
    assert len(list(gaps({"a": now}, {"test_a": ["a"], "test_x": []}, set()))) == 1
    assert len(list(gaps({"a": now}, {"test_a": ["a", "zz"]}, set()))) == 1
    assert len(list(gaps({"b": later}, {"test_b": ["b"]}, set()))) == 1
    assert len(list(gaps({"b": later}, {}, {7}))) == 1


def test_a_mark_is_read_from_the_source() -> None:
    """Decorators are read without importing the test."""
    source = '@promise("a")\n@promise("b")\ndef test_one(): ...\n\ndef test_two(): ...\n\ndef helper(): ...\n'
    assert list(marks(source)) == [("test_one", ["a", "b"]), ("test_two", [])]

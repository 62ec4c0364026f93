"""Paths that an import leaves out: the rules are those of ``.gitignore``, and nothing of what is left out is told."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wesaid import limits
from wesaid.service import importing, opening
from wesaid.service.import_ignore import Ignoring
from wesaid.service.opening import Home
from wesaid.values import EVERYTHING


@pytest.fixture
def home() -> Iterator[Home]:
    with opening.memory_home() as made:
        yield made


def keys(home: Home) -> set[str]:
    found: set[str] = set()
    for agent in home.engine.agents():
        with home.store(agent).reading() as view:
            found |= {row.facts.key for row in view.sessions(EVERYTHING)}
    return found


@pytest.mark.parametrize(
    ("rules", "left_out", "kept"),
    [
        ("secret", "secret a/secret secret/x.jsonl a/secret/b/x.jsonl", "secrets a/x.jsonl"),
        ("secret/", "secret/x.jsonl a/secret/x.jsonl", "secret a/secret"),
        ("/secret", "secret secret/x.jsonl", "a/secret a/secret/x.jsonl"),
        ("a/secret", "a/secret a/secret/x", "secret b/a/secret"),
        ("a/*/x", "a/b/x", "a/x a/b/c/x"),
        ("a/**/x", "a/x a/b/x a/b/c/x", "x b/x"),
        ("**/x", "x a/x a/b/x", "xy"),
        ("a/**", "a/x a/b/x", "a b/x"),
        ("*.jsonl", "x.jsonl a/x.jsonl", "x.json"),
        ("[ab]?.txt", "ax.txt d/bx.txt", "cx.txt a.txt"),
        ("*.jsonl\n!keep.jsonl", "x.jsonl a/y.jsonl", "keep.jsonl a/keep.jsonl"),
        ("!keep.jsonl\n*.jsonl", "keep.jsonl", "x.txt"),
        ("a/\n!a/keep.jsonl", "a/keep.jsonl", "keep.jsonl"),
        ("a/*\n!a/keep.jsonl", "a/x", "a/keep.jsonl"),
        ("# secret\n\n  \n\\#x\n\\!y", "#x !y", "secret x y"),
        ("/", "", "a b/c"),
    ],
)
def test_rules_mean_what_they_mean_to_git(tmp_path: Path, rules: str, left_out: str, kept: str) -> None:
    """Names at any depth, paths from the rules' folder, folders, ``**``, ``!``; what lies in a folder left out cannot be brought back."""
    (tmp_path / ".wesaidignore").write_text(rules)
    ignoring = Ignoring(())
    ignoring.enter(str(tmp_path))
    said = {path: ignoring.leaves_out(str(tmp_path / path)) for path in [*left_out.split(" "), *kept.split(" ")] if path}
    assert said == {path: path in left_out.split(" ") for path in said}


def test_a_rule_counts_wherever_it_stands_in_a_long_file(tmp_path: Path) -> None:
    """A file is read whole; one that is too large to be a person's leaves out its folder, as one that cannot be read does."""
    (tmp_path / ".wesaidignore").write_text("/no/such/folder/\n" * 2000 + "secret/")
    ignoring = Ignoring(())
    ignoring.enter(str(tmp_path))
    assert [ignoring.leaves_out(str(tmp_path / path)) for path in ("secret/x", "open/x")] == [True, False]
    (tmp_path / ".wesaidignore").write_text("#" * (limits.IGNORE_BYTES + 1))
    ignoring.enter(str(tmp_path))
    assert [ignoring.leaves_out(str(path)) for path in (tmp_path / "open" / "x", tmp_path.parent / "x")] == [True, False]


def test_inner_rules_win_over_outer_ones_and_over_the_setting(tmp_path: Path) -> None:
    """As a folder's rules do in git; a setting's path begins at the root or at the home, else it fits anywhere."""
    inner = tmp_path / "in"
    inner.mkdir()
    (tmp_path / ".wesaidignore").write_text("*.jsonl")
    (inner / ".wesaidignore").write_text("!x.jsonl")
    ignoring = Ignoring(["drop*", f"{tmp_path}/top", "~/mine", "clients/drafts"])
    ignoring.above(str(inner / "x.jsonl"))
    assert not ignoring.leaves_out(str(inner / "x.jsonl"))
    assert ignoring.leaves_out(str(tmp_path / "x.jsonl"))
    assert ignoring.leaves_out(str(inner / "drop.txt"))
    assert ignoring.leaves_out(str(tmp_path / "top" / "x"))
    assert ignoring.leaves_out(os.path.expanduser("~/mine/x"))  # noqa: PTH111 - what a shell would do
    assert ignoring.leaves_out("/any/where/clients/drafts/x")
    assert not ignoring.leaves_out("/any/where/clients/x")


def test_an_ignore_file_that_cannot_be_read_leaves_out_its_folder(tmp_path: Path) -> None:
    """Nobody can tell what it says."""
    (tmp_path / ".wesaidignore").mkdir()
    ignoring = Ignoring(())
    ignoring.above(str(tmp_path / "a" / "x"))
    assert ignoring.leaves_out(str(tmp_path / "a" / "x"))
    assert not ignoring.leaves_out(str(tmp_path.parent / "x"))


@given(
    rule=st.text(alphabet="ab*?[]!/\\#. ", max_size=12),
    path=st.lists(st.text(alphabet="ab*.", min_size=1, max_size=3), min_size=1, max_size=5),
)
def test_no_rule_raises(rule: str, path: list[str]) -> None:
    """For every rule and path there is an answer."""
    assert Ignoring([rule]).leaves_out("/" + "/".join(path)) in (True, False)


def test_a_session_whose_transcript_is_ignored_is_not_even_named(home: Home, tmp_path: Path) -> None:
    """OpenClaw's list names it, with a title: nothing of that is taken in."""
    folder = tmp_path / "agents" / "main" / "sessions"
    folder.mkdir(parents=True)
    rows = {f"agent:main:dashboard:{name}": {"sessionId": name, "displayName": f"about {name}"} for name in ("keep", "drop")}
    (folder / "sessions.json").write_text(json.dumps(rows))
    for name in rows:
        own = name.rpartition(":")[2]
        record = {"type": "message", "id": "a", "parentId": None, "message": {"role": "user", "content": own}}
        (folder / f"{own}.jsonl").write_text(json.dumps({"type": "session", "id": own}) + "\n" + json.dumps(record) + "\n")
    (tmp_path / ".wesaidignore").write_text("drop*\n")
    importing.import_paths(home, [tmp_path])
    importing.import_paths(home, [folder / "drop.jsonl"])
    assert keys(home) == {"agent:main:dashboard:keep"}


def test_what_was_brought_in_before_a_rule_stays(home: Home, tmp_path: Path) -> None:
    """A rule says what is read; ``wesaid forget --source`` takes out what was."""
    record = {"type": "message", "id": "a", "parentId": None, "message": {"role": "user", "content": "heron"}}
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps({"type": "session", "id": "s"}) + "\n" + json.dumps(record) + "\n")
    importing.import_paths(home, [path])
    (tmp_path / ".wesaidignore").write_text("*\n")
    [source] = importing.import_paths(home, [path]).as_json()["sources"]
    assert source["skipped"] == {"ignored": 1}
    assert keys(home) == {"agent:main:import:s"}

"""What every engine knows of files and folders without reading their states, and how it narrows sessions by tool and project."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from engine_tools import KEY, OTHER, at, begin, ids, say
from wesaid import limits
from wesaid.errors import StoreBusyError
from wesaid.values import EVERYTHING, Filters, Folder, KnownFile, Scope, SourceState


def source(path: str, *keys: str, **more: Any) -> SourceState:
    return SourceState(**{"path": path, "tool": "pi", "size": 10, "mtime_ns": 7, "offset": 10, "head_digest": "", "keys": keys, **more})


def note(store: Any, *states: SourceState) -> None:
    with store.writing() as writer:
        for state in states:
            writer.note_source(state)


def paths(files: list[KnownFile]) -> list[str]:
    return [file.path for file in files]


def test_files_are_walked_by_path_a_page_at_a_time(store: Any) -> None:
    """Every known file once, in order, also those that no session came from."""
    note(store, *(source(f"/t/{number}") for number in range(5)))
    with store.reading() as view:
        first = view.files(after="", limit=2)
        assert paths(first) == ["/t/0", "/t/1"]
        assert paths(view.files(after=first[-1].path, limit=9)) == ["/t/2", "/t/3", "/t/4"]
        assert view.files(after="/t/4", limit=9) == []


def test_which_paths_are_known_is_asked_for_many_at_once(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over pages, in any order, missing files too; what is no known path is not told."""
    monkeypatch.setattr(limits, "FRESH_PAGE_FILES", 2)
    note(store, *(source(f"/t/{number}", missing=number == 3) for number in range(5)))
    with store.reading() as view:
        assert view.known_paths([f"/t/{number}" for number in range(9, -1, -2)]) == {"/t/1", "/t/3"}
        assert view.known_paths([]) == set()


@pytest.mark.parametrize("size", [0, 1, 10])
def test_a_missing_file_is_known_as_missing_and_keeps_its_size(store: Any, size: int) -> None:
    """Also an empty one; and the whole state says the same."""
    gone = source("/t/a", KEY, size=size, missing=True)
    note(store, gone)
    with store.reading() as view:
        assert view.files(after="", limit=9) == [KnownFile("/t/a", "pi", size, 7, missing=True)]
        assert view.source("/t/a") == gone
    note(store, source("/t/a", KEY, size=size))
    with store.reading() as view:
        assert view.files(after="", limit=9) == [KnownFile("/t/a", "pi", size, 7, missing=False)]


def test_recent_files_are_those_of_the_latest_sessions(store: Any) -> None:
    """Latest session first, each file once, as many as are asked for."""
    begin(store, say("a", "one"), updated_at=at(1))
    begin(store, say("b", "two"), key=OTHER, updated_at=at(2))
    note(store, source("/t/old", KEY), source("/t/new", OTHER), source("/t/both", KEY, OTHER), source("/t/none"))
    with store.reading() as view:
        found = paths(view.recent_files(EVERYTHING, limit=9))
        assert sorted(found) == ["/t/both", "/t/new", "/t/old"]
        assert found[-1] == "/t/old"
        assert len(view.recent_files(EVERYTHING, limit=1)) == 1


def test_recent_files_are_the_same_whether_files_or_sessions_are_walked(store: Any) -> None:
    """Up to as many files as are asked for are sorted; of more, sessions are walked until there are enough."""
    names = [f"agent:main:s{n}" for n in range(6)]
    for n, key in enumerate(names):
        begin(store, say(f"m{n}", "one"), key=key, updated_at=at(n * 7 % 6))
    note(store, *(source(f"/t/{n}", key) for n, key in enumerate(names)))
    with store.reading() as view:
        whole = paths(view.recent_files(EVERYTHING, limit=6))
        assert whole == [f"/t/{n}" for n in sorted(range(6), key=lambda n: -(n * 7 % 6))]
        assert [paths(view.recent_files(EVERYTHING, limit=most)) for most in range(1, 6)] == [whole[:most] for most in range(1, 6)]


def test_a_file_of_a_session_out_of_scope_is_not_told(store: Any) -> None:
    """A file that also holds a hidden session is as hidden as that one."""
    begin(store, say("a", "one"))
    begin(store, say("b", "two"), key=OTHER)
    note(store, source("/t/mine", KEY), source("/t/theirs", OTHER), source("/t/both", KEY, OTHER), source("/t/none"))
    with store.reading() as view:
        assert paths(view.recent_files(Scope(keys=frozenset((KEY,))), limit=9)) == ["/t/mine"]
        assert view.recent_files(Scope(keys=frozenset()), limit=9) == []


def test_folders_are_followed_noted_and_forgotten(store: Any) -> None:
    """One row a path; what was told last holds."""
    with store.writing() as writer:
        writer.note_folder(Folder("/b"))
        writer.note_folder(Folder("/a", "pi", "mine", 5))
        writer.note_folder(Folder("/b", mtime_ns=9))
    with store.reading() as view:
        assert view.folders() == [Folder("/a", "pi", "mine", 5), Folder("/b", mtime_ns=9)]
    with store.writing() as writer:
        writer.forget_folder("/a")
        assert writer.folders() == [Folder("/b", mtime_ns=9)]


def test_sessions_are_narrowed_by_tool_and_project(store: Any) -> None:
    """As candidates are: tool as it is, project by whole folder names; paging counts what passes."""
    kept = [("a", "pi", "/p/x"), ("b", "pi", "/p/xy"), ("c", "codex", "/p/x/sub"), ("d", None, None), ("e", "pi", r"C:\Work\Ferry")]
    for number, (name, tool, project) in enumerate(kept):
        begin(store, say(name, "ferry", step=number), key=f"agent:main:{name}", tool=tool, project=project, updated_at=at(number))
    with store.reading() as view:

        def names(**asked: Any) -> list[str]:
            return [row.facts.key[-1] for row in view.sessions(EVERYTHING, filters=Filters(**asked))]

        assert names(tool="pi") == ["e", "b", "a"]
        assert names(project="/p/x/") == names(project="/p/x") == ["c", "a"]
        assert names(project="c:/work") == ["e"]
        assert names(project="/") == ["c", "b", "a"]
        assert names(tool="pi", project="/p/x") == ["a"]
        assert names(tool="gemini") == []
        assert [row.facts.key[-1] for row in view.sessions(EVERYTHING, offset=1, limit=1, filters=Filters(tool="pi"))] == ["b"]
        assert view.tools(EVERYTHING) == ["codex", "pi"]
        assert view.tools(Scope(keys=frozenset(("agent:main:c", "agent:main:d")))) == ["codex"]
    for asked in ({"tool": "pi"}, {"project": "/p/x"}, {"project": "c:/work"}, {"project": "/"}, {"tool": "pi", "project": "/p/x"}):
        with store.reading() as view:
            listed = [row.facts.key[-1] for row in view.sessions(EVERYTHING, filters=Filters(**asked))]
        assert ids(store, "ferry", filters=Filters(**asked)) == listed


def test_what_a_writer_changes_is_chosen_anew(store: Any) -> None:
    """Inside one transaction, and by the next reading."""
    begin(store, say("a", "ferry"), tool="pi")
    assert ids(store, "ferry", filters=Filters(tool="pi")) == ["a"]
    begin(store, say("b", "ferry", step=1), key=OTHER, tool="pi")
    assert ids(store, "ferry", filters=Filters(tool="pi")) == ["b", "a"]


def test_who_does_not_want_to_wait_is_told_that_the_store_is_busy(store: Any, reopened: Any) -> None:
    """While another handle writes, and not after."""
    other = reopened()
    inside, leave = threading.Event(), threading.Event()

    def write() -> None:
        with other.writing():
            inside.set()
            leave.wait()

    thread = threading.Thread(target=write)
    thread.start()
    inside.wait()
    try:
        with pytest.raises(StoreBusyError), store.writing(seconds=0.001):
            pass
    finally:
        leave.set()
        thread.join()
    with store.writing(seconds=0.001) as writer:
        writer.note_folder(Folder("/a"))

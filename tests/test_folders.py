"""Folders inside folders: paths of any machine, as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wesaid import folders

NAMES = st.lists(
    st.text(st.characters(exclude_characters="/\\\x00", exclude_categories=("Cs",)), min_size=1, max_size=5), min_size=1, max_size=4
)


@pytest.mark.parametrize(
    ("path", "folder", "is_inside"),
    [
        ("/a/b", "/a/b", True),
        ("/a/b/", "/a/b", True),
        ("/a/b/c", "/a/b/", True),
        ("/a/bc", "/a/b", False),
        ("/A/b", "/a/b", False),
        ("/a", "/", True),
        (None, "/", False),
        (r"C:\Users\mai\ferry", r"c:\users\mai", True),
        (r"C:\Users\mai\ferry", "C:/Users/mai/", True),
        (r"C:\Users\maia", r"C:\Users\mai", False),
        (r"D:\x", "C:\\", False),
        (r"\\server\share\x", r"\\SERVER\share", True),
        ("/c:/x", "c:/x", False),
    ],
)
def test_a_folder_is_inside_by_whole_names(path: str | None, folder: str, is_inside: bool) -> None:
    """Whole names decide, a slash at the end does not; letters' case only on Windows."""
    assert folders.inside(path, folder) is is_inside


@given(NAMES, NAMES)
def test_what_is_below_a_folder_is_inside_and_what_is_beside_it_is_not(names: list[str], more: list[str]) -> None:
    """For every path: all that begins with it and a slash, and nothing that goes on in its last name."""
    top = "/" + "/".join(names)
    assert folders.inside(f"{top}/{'/'.join(more)}", top)
    assert not folders.inside(top + "".join(more), top)

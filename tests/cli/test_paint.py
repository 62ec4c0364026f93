"""Widths, wrapping and columns."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wesaid.cli.paint import clip, clip_start, clip_words, plain, styled, table, width, wrap


def test_a_wide_character_takes_two_cells_and_a_mark_none() -> None:
    """Columns are counted in cells, not in characters."""
    assert width("数据库") == 6
    assert width("e\u0301") == 1
    assert width("ferry") == 5


def test_a_row_breaks_at_a_space_and_keeps_its_indent() -> None:
    """The second row starts below the first one's text."""
    assert [plain(row) for row in wrap([("  the ferry timetable", "")], 12)] == ["  the ferry", "  timetable"]


def test_a_style_lives_on_across_rows() -> None:
    """A marked phrase that is broken is marked in both rows."""
    assert wrap([("the ", ""), ("ferry timetable", "mark")], 10) == [[("the ", ""), ("ferry", "mark")], [("timetable", "mark")]]


def test_a_command_is_never_broken() -> None:
    """What is there to be copied stays one line."""
    line = [("Read on: ", "dim"), ("wesaid history agent:main:main --around m1", "command")]
    assert wrap(line, 20) == [line]


def test_a_line_breaks_around_what_stays_whole() -> None:
    """A key that fits a row moves there as one; what follows it is wrapped as ever."""
    line = [("  in ", ""), ("agent:main:main x", "key"), (" · this session · codex", "dim")]
    assert [plain(row) for row in wrap(line, 19)] == ["  in", "  agent:main:main x", "  · this session ·", "  codex"]


@given(st.lists(st.text(alphabet="ab 数é", max_size=12), max_size=8), st.integers(min_value=4, max_value=30))
def test_for_every_line_no_row_is_too_wide_and_no_word_is_lost(words: list[str], size: int) -> None:
    """Rows fit, and hold all that is not a space, in order."""
    text = " ".join(words)
    rows = [plain(row) for row in wrap([(text, "")], size)]
    assert all(width(row) <= size for row in rows)
    assert "".join("".join(rows).split()) == "".join(text.split())


def test_a_style_is_closed_where_its_piece_ends() -> None:
    """Nothing leaks into the next line, and plain text stays plain."""
    assert styled([("a", "title"), ("b", "")]) == "\x1b[1ma\x1b[0mb"
    assert plain([("a", "title"), ("b", "")]) == "ab"


def test_columns_are_aligned_in_cells() -> None:
    """Chinese beside English keeps its column; figures stand to the right."""
    rows = [plain(line) for line in table(("NAME", "N"), [("数据", "5"), ("ab", "10")])]
    assert rows == ["NAME   N", "数据   5", "ab    10"]


def test_a_table_gives_way_in_one_column() -> None:
    """Of a table that is too wide the long column is cut, so that a row stays a row."""
    rows = [plain(line) for line in table(("PATH", "TOOL"), [("a" * 40, "codex")], room=20)]
    assert rows[1] == "a" * 12 + "…  codex"


def test_a_clipped_text_says_so() -> None:
    """The ellipsis is within the bound."""
    assert clip("数据库表", 5) == "数据…"
    assert clip("abc", 3) == "abc"


def test_a_path_is_clipped_at_its_beginning() -> None:
    """The file's name shows, behind a whole folder where there is room for one."""
    assert clip_start("/home/mai/viewer/fe5e.jsonl", 20) == "…/viewer/fe5e.jsonl"
    assert clip_start("/home/mai/viewer/fe5e.jsonl", 8) == "…e.jsonl"
    assert clip_start("/srv/", 3) == "…v/"
    assert clip_start("/srv", 4) == "/srv"


def test_a_title_is_clipped_behind_a_word() -> None:
    """Unless that would cost too much of it."""
    assert clip_words("we moved the ferry", 15) == "we moved the…"
    assert clip_words("a ferrytimetable", 12) == "a ferrytime…"
    assert clip_words("we moved", 8) == "we moved"


@given(st.text(alphabet="ab /数é", max_size=30), st.integers(min_value=2, max_value=20))
def test_for_every_text_what_is_clipped_fits(text: str, size: int) -> None:
    """Whichever way it is cut; and what fits is not cut."""
    for cut in (clip, clip_start, clip_words):
        assert width(cut(text, size)) <= size
        assert width(text) > size or cut(text, size) == text

"""What may reach a terminal, and what JSON looks like on the wire."""

from __future__ import annotations

import io
import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from wesaid.cli.output import dumps, has_colour, safe


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def controls(text: str) -> set[str]:
    """What of a text could act on a terminal or turn the line around."""
    bidi = {"LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI"}
    return {char for char in text if unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") or unicodedata.bidirectional(char) in bidi}


def test_an_escape_sequence_is_shown_and_not_obeyed() -> None:
    """ESC, BEL and C1's CSI become visible characters."""
    assert safe("a\x1b[2Jb\x07c\x9bd") == "a␛[2Jb␇c\ufffdd"


def test_a_direction_override_is_shown_and_not_obeyed() -> None:
    """Text cannot pretend to be other text by being written backwards."""
    assert safe("safe\u202etxt.exe") == "safe\ufffdtxt.exe"


def test_a_text_of_several_lines_keeps_its_lines() -> None:
    """History keeps line ends and tabs; a lone CR, which would overwrite the line, it does not."""
    assert safe("a\r\nb\tc\rd\n", lines=True) == "a\nb\tc d\n"


def test_joiners_and_marks_stay() -> None:
    """Emoji sequences, Persian and Thai are text."""
    text = "👩‍🚀 می‌خواهم ฐานข้อมูล"
    assert safe(text) == text


@given(st.text(alphabet=st.characters()))
def test_for_every_text_nothing_acts_on_a_terminal_and_offsets_stay(text: str) -> None:
    """Whatever was said, the safe text has no control in it and as many characters."""
    assert not controls(safe(text))
    assert len(safe(text)) == len(text)
    assert not controls(safe(text, lines=True)) - {"\n", "\t"}


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])), st.booleans())
def test_for_every_text_json_is_one_harmless_line_that_reads_back(text: str, ascii_only: bool) -> None:
    """``--json`` escapes what a terminal would obey, and loses nothing."""
    line = dumps({"text": text}, ascii_only=ascii_only)
    assert json.loads(line) == {"text": text}
    assert not controls(line)
    assert line.isascii() or not ascii_only


def test_half_a_character_does_not_break_json() -> None:
    """A lone surrogate, which UTF-8 cannot carry, becomes U+FFFD."""
    assert json.loads(dumps({"text": "a\ud83db"})) == {"text": "a\ufffdb"}


def test_colour_is_for_terminals_that_want_it() -> None:
    """A pipe, NO_COLOR and a dumb terminal get none."""
    assert has_colour(Terminal(), {})
    assert has_colour(Terminal(), {"NO_COLOR": ""})
    assert not has_colour(Terminal(), {"NO_COLOR": "1"})
    assert not has_colour(Terminal(), {"TERM": "dumb"})
    assert not has_colour(io.StringIO(), {})

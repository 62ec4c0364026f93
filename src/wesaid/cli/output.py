"""Where output goes: data to stdout, everything else to stderr, and nothing foreign reaches a terminal as control.

Refuses to know what it prints. Invariants: with ``--json`` stdout holds one JSON object and nothing else; text of transcripts passes
`safe` before a person sees it; an escape sequence is ours or it is not written.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Mapping
from typing import Any, Final, TextIO

from wesaid import limits
from wesaid.cli.paint import Line, plain, styled, wrap

SCHEMA_VERSION: Final = 1

# What moves a cursor, ends a line early or turns text around: C0, DEL, C1, line separators, bidi controls; and lone surrogates.
_RISKY: Final = "\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_CONTROL: Final = re.compile(f"[{_RISKY}]")
_CONTROL_BUT_LINES: Final = re.compile(f"(?![\\n\\t])[{_RISKY}]")
# JSON itself escapes C0; the rest of the list is escaped here, so that `--json` on a terminal is as harmless.
_CONTROL_IN_JSON: Final = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_PICTURES: Final = 0x2400  # Unicode's control pictures: U+2400 + the C0 character shows its name
_REPLACEMENT: Final = "\ufffd"


def safe(text: str, *, lines: bool = False) -> str:
    """``text`` with each control character replaced by one visible one, so that offsets stay what they were.

    Line ends and tabs become spaces, unless ``lines`` keeps them (then CR LF is one line end).
    """
    if lines:
        return _CONTROL_BUT_LINES.sub(_visible, text.replace("\r\n", "\n"))
    return _CONTROL.sub(_visible, text)


def _visible(match: re.Match[str]) -> str:
    char = match.group()
    if char in "\n\r\t\u2028\u2029":
        return " "
    return chr(_PICTURES + ord(char)) if char < " " else _REPLACEMENT


def quoted(text: str) -> str:
    """``text`` as one word of a shell, harmless to print."""
    return shlex.quote(safe(text))


def dumps(value: object, *, ascii_only: bool = False) -> str:
    """One line of JSON, safe to show: no raw control, bidi or surrogate in it. Values that JSON lacks are their ``str``."""
    text = json.dumps(value, ensure_ascii=ascii_only, default=str)
    text = _SURROGATE.sub(_REPLACEMENT, text)
    return _CONTROL_IN_JSON.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def has_colour(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Whether ``stream`` is a terminal that wants colour (https://no-color.org: any non-empty NO_COLOR says no)."""
    return stream.isatty() and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


class Out:
    """The two streams of one run. ``as_json`` is what the user asked for; a command asks it and prints one form or the other."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self.is_terminal = sys.stdout.isatty()
        self.width = min(shutil.get_terminal_size().columns, limits.CLI_WIDTH_MAX) if self.is_terminal else None
        self._colour = has_colour(sys.stdout, os.environ)

    def object(self, fields: Mapping[str, Any]) -> None:
        """The answer as JSON."""
        self.write(dumps({"schemaVersion": SCHEMA_VERSION, **fields}, ascii_only=self.ascii_only) + "\n")

    def lines(self, lines: Iterable[Line], *, prose: bool = False) -> None:
        """The answer for people, coloured on a terminal, where ``prose`` is wrapped too; one line each in a pipe."""
        paint = styled if self._colour else plain
        for line in lines:
            for row in wrap(line, self.width) if prose and self.width else [line]:
                self.write(paint(row).rstrip(" ") + "\n")

    @property
    def ascii_only(self) -> bool:
        """Whether stdout cannot carry every character."""
        return (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"

    @staticmethod
    def write(text: str) -> None:
        """Text that is ready, to stdout."""
        sys.stdout.write(text)

    @staticmethod
    def note(text: str) -> None:
        """One line for the person, on stderr."""
        say(text)


def say(text: str, label: str = "") -> None:
    """One line on stderr, its ``label`` (``error``, ``hint``, ``warning``) in colour on a terminal."""
    line: Line = [(safe(text), "")]
    if label:
        line.insert(0, (f"{label}: ", label))
    paint = styled if has_colour(sys.stderr, os.environ) else plain
    sys.stderr.write(paint(line) + "\n")
    sys.stderr.flush()  # in a file it is block buffered, and has to stand where it was said


def fail(error: Mapping[str, Any], *, as_json: bool) -> None:
    """A refusal: contract.md §8's object on stdout for programs, or message and hint on stderr for people."""
    if as_json:
        Out(as_json=True).object({"error": error})
        return
    say(str(error["message"]), "error")
    if error.get("hint"):
        say(str(error["hint"]), "hint")

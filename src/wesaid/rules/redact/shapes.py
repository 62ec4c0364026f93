r"""What the rows of the table are made of: ``Rule``, and the pieces that their patterns share. No row is here, and no loop.

Invariants of every pattern, which the loop relies on:
- It begins with what its anchor says and is tried only there; its last group that took part is the secret (no group: all of it).
- Every repetition is possessive or bounded, so that what fails, fails after a bounded number of steps (field report B86).
- A line end or a carriage return is read by unbounded repetitions only (``\s*+``), never counted: the loop fills what is hidden with
  carriage returns, and how many they are must not matter.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One shape of a secret.

    ``anchors`` are lower case; without any, the pattern is searched everywhere. ``pattern`` is the source of a regex. ``examples`` are
    ``(text, secret)``, ``not_examples`` are texts that must stay as they are. All are invented.
    """

    kind: str
    anchors: tuple[str, ...]
    pattern: str
    examples: tuple[tuple[str, str], ...]
    not_examples: tuple[str, ...]


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern, compiled when it is first tried: most texts need none, and all of them together cost 50 ms."""
    return re.compile(pattern)


# Not inside a word. ASCII on purpose: a key right after Chinese or Cyrillic text is a key. Two exceptions: an escaped line end ("\nsk-…"
# inside pasted JSON) and a percent-escape ("token%3Dsk-…") end in a letter that belongs to no word.
_ESCAPED: Final = r"|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2})"
LEFT: Final = rf"(?:(?<![A-Za-z0-9]){_ESCAPED})"
LEFT_TIGHT: Final = (
    rf"(?:(?<![A-Za-z0-9_-]){_ESCAPED})"  # where more must follow the body: else each anchor in one run would read to its end
)
HAS_DIGIT: Final = r"(?=[A-Za-z_-]{0,64}+[0-9])"

# A value that no prose has: a digit, a symbol, or two changes from small to capital (one is a name: GitHub, JavaScript).
EVIDENCE: Final = r"(?=[A-Za-z._/-]{0,64}+[0-9+=@#$%^]|[A-Z]{0,64}+[a-z]{1,64}+[A-Z]{1,64}+[a-z]{1,64}+[A-Z])"
_WORDS: Final = r"none|null|nil|true|false|undefined|string|boolean|number|integer|object|optional|required|unknown"
# What stands for a value without being one: variables, templates, calls, types, paths, links.
NOT_A_VALUE: Final = (
    r"(?![<{(\[]|\$[{(]|\$[A-Za-z_]\w{0,64}+(?!\S)|%[sd({]|\*{3}|https?:|[~.]{0,2}/[a-z][\w.-]{0,64}+(?:[/\s]|$)"
    rf"|[A-Za-z_][\w.]{{0,64}}+[(\[]|(?:process|os|self|this|req|ctx|config|settings|env|args|options)\.|(?i:{_WORDS})(?!\w))"
)
HOLLOW: Final = rf"(?!\$?\{{|<|%[sd(]|\*{{3}}|(?i:{_WORDS})[\"'`\\])"  # the same for quoted values
BARE: Final = r"(?:[^\s\"'`,;<>&\\]|\\(?![nrt\"'\\]))"
# What ends a line of a program after "= ": an attribute, or a variable called like what it is given to.
_CODE: Final = r"(?:[A-Za-z_]{1,40}+(?:\.[A-Za-z_]{1,40}+){1,6}+(?=[ \t]{0,4}(?:[\r\n]|\\[nr]|$))|(?i:[a-z_]{0,32}?(?:password|passwd|secret|token|key)s?(?!\w)))"
_ENDS: Final = r"(?i:[_-](?:base|value|prod|dev|test|staging|live|old|new|[0-9]{1,3}))?"


def either(names: tuple[str, ...]) -> str:
    """Any of some names, in any case."""
    return rf"(?i:{'|'.join(re.escape(name) for name in names)})"


def quoted(*, spaces: bool, shortest: int = 6) -> str:
    """A quoted value, one group a kind of quotes. ``spaces``: it may hold some (a passphrase)."""
    inside = "" if spaces else r"\s"
    marks = ('"', "'", "`")
    return "|".join(rf"{mark}{HOLLOW}((?:[^{mark}\\\r\n{inside}]|\\[^\r\n{inside}]){{{shortest},1024}}+){mark}" for mark in marks)


def assignment(names: tuple[str, ...], *, spaces: bool) -> str:
    r"""``name=value``, ``name: value``, ``"name": "value"``, also inside escaped JSON.

    Quoted values are literals and always hidden, and so is what stands right after ``=``. ``:`` is also punctuation and asks for evidence,
    ``= `` is also code: evidence again, or a value that ends its line.
    ``spaces``: a quoted value may hold some, and a bare one may be a number.
    """
    inside = "" if spaces else r"\s"
    number = "" if spaces else r"(?![0-9]{1,15}(?!\w))"  # token=4096 is a budget; password=123456 is one
    return (
        rf"{either(names)}{_ENDS}"
        rf"[*`]{{0,3}}(?:\\{{0,7}}[\"'])?\]?[*`]{{0,3}}[ \t]{{0,4}}"
        rf"(?:(?:=>|:=|:|=(?!=))[*]{{0,3}}[ \t]{{0,4}}"
        rf"(?:\\{{1,7}}\"{HOLLOW}([^\"\\\r\n{inside}]{{6,1024}}+)\\{{1,7}}\"|{quoted(spaces=spaces)})"
        rf"|(?:=(?![=>\s])|=[ \t]{{1,4}}(?:{EVIDENCE}|(?!{_CODE})(?={BARE}{{6,}}+[ \t]{{0,4}}(?:[\r\n]|\\[nr]|$)))"
        rf"|:=?[*]{{0,3}}[ \t]{{0,4}}{EVIDENCE})"
        rf"{number}(?:\\{{0,7}}[\"'`])?{NOT_A_VALUE}({BARE}{{6,}}+))"
    )


# Material for examples: clearly of nobody.
EXAMPLE_26: Final = "AbCd3fGh1jKlMn0pQrStUvWxYz"
EXAMPLE_HEX_32: Final = "0123456789abcdef0123456789abcdef"

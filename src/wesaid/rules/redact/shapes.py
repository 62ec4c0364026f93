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

# Names of words ("configuration-of-2026"): what a random body is not, wherever its digits stand.
_PART: Final = r"(?:[A-Z]?[a-z]{1,24}+[0-9]{0,2}+|[A-Z]{1,24}+|v?[0-9]{1,4}+)"
NO_WORDS: Final = rf"(?!{_PART}(?:[_-]{_PART}){{0,7}}+(?:(?![A-Za-z0-9_-])|[_-]{_PART}))"
_PARAMETER: Final = r"[a-z]{2,16}+(?:[_-]?[A-Za-z][a-z]{1,16}+){0,3}+"  # how links and calls name the next one
# One character of a bare value. What also ends sentences, tags, calls and links is part of it only where more of it follows.
BARE: Final = (
    r"(?:[^\s\"'`,;:.!?)\]}<>&\\]|[,;:.!?)\]}>](?![,;:.!?)\]}>]{0,8}(?:[\s\"'`]|\\[nrt\"'\\]|</[A-Za-z]|$))|(?<=[A-Za-z0-9])[\"'](?=[A-Za-z0-9])"
    rf"|&(?!(?:amp;)?{_PARAMETER}=)"
    r"|<(?!/[A-Za-z]|[A-Za-z]{1,10}[ />])|\\(?![nrt\"'\\]))"
)
# Words written together, as names of types are: AccessTokenDto, JavaScriptCore.
NO_TYPE: Final = rf"(?!(?:[A-Z]?[a-z]{{2,24}}+\.?){{1,9}}+(?:Id)?(?:(?!{BARE})|\[\]|<[A-Z][A-Za-z]{{1,32}}>))"
# A count, a budget, or one of two: token=4096, tokens 4096/8192.
NO_NUMBER: Final = rf"(?![0-9]{{1,15}}+(?:(?!{BARE})|[,;&/](?:[A-Za-z_]{{1,32}}=|[0-9]{{1,15}}+(?!{BARE}))))"
# A value that no prose has: somewhere a digit or a symbol, or two changes from small to capital (one is a name: GitHub, JavaScript).
_SOFT: Final = r"[A-Za-z._/~!?*|:(){}\[\]<>,;&-]"
_HUMP: Final = r"(?:(?![a-z][A-Z])[A-Za-z_-]){0,64}+[a-z][A-Z]"
EVIDENCE: Final = rf"(?={_SOFT}{{0,64}}+[0-9+=@#$%^]|[A-Za-z]{{1,64}}+![A-Za-z]|{_HUMP}{_HUMP})"
_WORDS: Final = r"none|null|nil|true|false|undefined|string|boolean|number|integer|object|optional|required|unknown"
# A path to a file is what a configuration names beside its secrets, and may have a digit.
NO_FILE: Final = (
    r"(?!(?:[\w~.-]{1,64}+/){1,8}+[\w.-]{0,64}?\.(?:pem|key|crt|cer|pub|der|asc|gpg|json|ya?ml|toml|ini|txt|env|md|py|[jt]sx?|go|rs|sh)(?![\w.])"
    r"|[\w.-]{1,64}?\.(?:pem|crt|cer|pub|p12|pfx|jks)(?![\w.]))"
)
# What stands for a value without being one: variables, templates, calls, types, paths, links.
NOT_A_VALUE: Final = (
    r"(?!<[^<>\r\n]{0,64}>|\{\{|\{[^{}\r\n]{0,64}\}|\{(?:[\s\"'`]|$)|[(\[](?:[\s\"'`({\[]|$|[^()\[\]\r\n]{0,64}[)\]]|[A-Za-z_.]{1,32}+\()|\$[{(]"
    r"|\$[A-Za-z_]\w{0,64}+(?!\S)|%[sd](?!\w)|%[({]|\*{3,64}+(?![A-Za-z0-9])|https?://|op://|arn:aws|[~.]{0,2}/[a-z][\w.-]{0,64}+(?:[/\s]|$)"
    r"|(?:[._]|[A-Z]?[a-z]{1,24}+|[A-Z]{2,24}(?![a-z])|[0-9]{1,2}+){1,12}+[(\[](?:[\s\"'`)\]{\\]|$|[\w., =*&:+-]{1,64}+(?:[)\]]|(?<=[ ,=])[\"'`{])|[A-Za-z_.]{1,32}+\()"
    rf"|(?:process|os|self|this|req|ctx|config|settings|env|args|options)\.[A-Za-z_]"
    rf"|(?i:{_WORDS})(?![\w!@#$%^+=~-]))"
)
HOLLOW: Final = rf"(?!\$?\{{\{{|<|%[sd(]|\*{{3}}|(?i:{_WORDS})[\"'`\\<])"  # the same for quoted values
# A variable called like what it is given to, and, at the end of a line of a program after "= ", an attribute.
_SELF: Final = (
    r"(?:[A-Za-z]{1,24}[._]){0,5}(?:[a-z]{1,24}?(?=[A-Z]))?(?i:(?:api|access|secret|private|auth)?[_-]?key|password|passwd|passphrase|passcode"
    r"|secret|token|credential)s?(?:[\s)\]}&\"'`]|[,;.](?:\s|$|\w{1,32}[=,)])|$)"
)
_CODE: Final = rf"(?:[A-Za-z_]{{1,40}}+(?:\.[A-Za-z_]{{1,40}}+){{1,6}}+(?=[ \t]{{0,4}}(?:[\r\n]|\\[nr]|$))|{_SELF})"
_ENDS: Final = r"(?i:[_-](?:base|value|prod|dev|test|staging|live|old|new|[0-9]{1,3})|[_-]?(?:confirm(?:ation|ed)?|again|repeat))?"


def either(names: tuple[str, ...]) -> str:
    """Any of some names, in any case."""
    return rf"(?i:{'|'.join(re.escape(name) for name in names)})"


def quoted(*, spaces: bool, shortest: int = 6) -> str:
    """A quoted value, one group a kind of quotes. ``spaces``: it may hold some (a passphrase)."""
    inside = "" if spaces else r"\s"
    marks = ('"', "'", "`")
    return "|".join(rf"{mark}{HOLLOW}((?:[^{mark}\\\r\n{inside}]|\\[^\r\n{inside}]){{{shortest},1024}}+){mark}" for mark in marks)


def assignment(names: tuple[str, ...], *, spaces: bool) -> str:
    r"""``name=value``, ``name: value``, ``"name": "value"``, ``<name>value</name>``, also inside escaped JSON.

    Quoted values and those of elements are literals and always hidden, and so is what stands right after ``=``. ``:`` and ``->`` are also
    punctuation and ask for evidence, ``= `` is also code: evidence again, or a value that ends its line.
    ``spaces``: a quoted value may hold some, and a bare one may be a number or words written together.
    """
    inside = "" if spaces else r"\s"
    number = "" if spaces else NO_NUMBER  # token=4096 is a budget; password=123456 is one
    arrow = "|->|→" if spaces else ""  # from tokens to a parser, arrows lead in prose
    evidence = NO_FILE + (EVIDENCE if spaces else NO_TYPE + EVIDENCE)
    return (
        rf"{either(names)}{_ENDS}(?:>{HOLLOW}([^<>\r\n{inside}]{{6,1024}}+)</"
        rf"|[*`]{{0,3}}(?:\\{{0,7}}[\"'])?\]?[*`]{{0,3}}[ \t]{{0,4}}"
        rf"(?:(?:=>|:=|[:：＝]|=(?!=))[*]{{0,3}}[ \t]{{0,4}}"
        rf"(?:\\{{1,7}}\"{HOLLOW}([^\"\\\r\n{inside}]{{6,1024}}+)\\{{1,7}}\"|{quoted(spaces=spaces)}|“{HOLLOW}([^”\r\n{inside}]{{6,1024}}+)”)"
        rf"|(?:[=＝](?![=>\s])(?!{_SELF})|[=＝][ \t]{{1,4}}(?:{evidence}|(?!{_CODE})(?={BARE}{{6,}}+[ \t]{{0,4}}(?:[\r\n]|\\[nr]|$)))"
        rf"|(?::=?|：{arrow})[*]{{0,3}}[ \t]{{0,4}}{evidence})"
        rf"{number}(?:\\{{0,7}}[\"'`])?{NOT_A_VALUE}({BARE}{{6,}}+)))"
    )


# Material for examples: clearly of nobody.
EXAMPLE_26: Final = "AbCd3fGh1jKlMn0pQrStUvWxYz"
EXAMPLE_HEX_32: Final = "0123456789abcdef0123456789abcdef"

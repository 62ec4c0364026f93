r"""What a person adds to the table: patterns of the settings, checked before use, and exact values of the environment.

A pattern is refused at start rather than at the first text that it hangs on: what is not a regex, what can match nothing or a single
character, and shapes that need exponential time (a repetition inside a repetition, neighbours that fight for the same letters).
Errors name a pattern by its number and never quote it: it may be the secret itself.
"""

from __future__ import annotations

import importlib
import json
import re
import urllib.parse
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from wesaid import limits
from wesaid.errors import SettingError

SETTING: Final = "redaction.patterns"
# The standard library's own parser of regexes, private but the same since 3.11: one of ours would differ from it.
_codes: Final[Any] = importlib.import_module("re._constants")
_parser: Final[Any] = importlib.import_module("re._parser")
_LEAST: Final = 2  # characters of a match: one hidden letter at a time would leave no text
_REPEATS: Final = frozenset({_codes.MAX_REPEAT, _codes.MIN_REPEAT})
_PLAIN: Final = "".join(map(chr, range(128))) + "é中🙂"  # ASCII and three others stand for all characters
_SECRET_NAME: Final = re.compile(r"(?:^|_)(?:TOKEN|API_?KEY|SECRET|PASSWORD|PASSWD|PASSPHRASE|KEY|CREDENTIALS?)$")
_ONLY_KEY: Final = re.compile(r"(?<!API)(?<!ACCESS)(?<!SECRET)_KEY$|^KEY$")
_NO_SECRET: Final = re.compile(
    r"[~.]{0,2}/|[A-Za-z]:[\\/]|[-+]?[0-9][0-9.,_]*$|(?:true|false|yes|no|on|off|none|null|default|enabled|disabled|required)$|https?://[^@]*$",
    re.IGNORECASE,
)
_RANDOM: Final = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])|(?=.*[a-z][A-Z].*[a-z][A-Z])")


def checked(sources: Sequence[str]) -> tuple[tuple[re.Pattern[str], str], ...]:
    """The patterns, each with a literal that all its matches have (or ""). SettingError for one that is not allowed, with its number and why."""
    if len(sources) > limits.REDACT_PATTERNS_MAX:
        raise _refused(f"{SETTING} has {len(sources)} patterns", f"at most {limits.REDACT_PATTERNS_MAX}; join some with |")
    return tuple(_checked(number, source) for number, source in enumerate(sources, 1))


def _checked(number: int, source: str) -> tuple[re.Pattern[str], str]:
    where = f"{SETTING}: pattern {number}"
    if len(source) > limits.REDACT_PATTERN_CHARS:
        raise _refused(f"{where} has {len(source)} characters", f"at most {limits.REDACT_PATTERN_CHARS}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # an ambiguous set is a mistake here, not advice
            tree = _parser.parse(source)
            pattern = re.compile(source)
            least = tree.getwidth()[0]
    except (re.error, FutureWarning, DeprecationWarning) as error:
        reason = f"{error.msg} at position {error.pos}" if isinstance(error, re.error) else "it has an ambiguous set"
        raise _refused(f"{where} is no regular expression: {reason}", "Python's syntax; write a TOML text in single quotes") from None
    except (OverflowError, RecursionError):
        raise _refused(f"{where} is nested too deeply", "make it simpler") from None
    if least < _LEAST:
        raise _refused(
            f"{where} can match {'nothing' if least == 0 else 'a single character'}", f"make it match at least {_LEAST} characters"
        )
    slow = _slow(list(tree))
    if slow:
        raise _refused(f"{where} can take forever: {slow}", "bound one of them, as in {1,64}, or make it possessive, as in ++")
    return pattern, "" if pattern.flags & re.IGNORECASE else _needed(list(tree))


def _refused(message: str, hint: str) -> SettingError:
    return SettingError(message, hint=hint, details={"field": SETTING})


# ── shapes that need too much time ───────────────────────────────────────────────────────────────────────────────
def _slow(items: Sequence[tuple[Any, Any]], *, repeated: bool = False) -> str:
    """Why a sequence may need more than squares of time; "" when it does not."""
    before: frozenset[str] = frozenset()  # what an unbounded repetition just before could also have read
    for code, given in items:
        if code in _REPEATS:
            least, most, inner = given
            letters = _letters(inner) if most is _codes.MAXREPEAT else frozenset()
            why = _slow_repetition(most, inner, repeated=repeated)
            if not why and letters & before:
                why = "two repetitions side by side that read the same characters"
            before = letters | (before if least == 0 else frozenset())
        else:
            inner_ones = _inside(code, given)
            why = next((found for inner in inner_ones if (found := _slow(inner, repeated=repeated))), "")
            if not why and repeated and code is _codes.BRANCH and _alike(inner_ones):
                why = "alternatives that begin alike inside a repetition"
            before = before if code is _codes.AT else frozenset()
        if why:
            return why
    return ""


def _slow_repetition(most: Any, inner: Sequence[tuple[Any, Any]], *, repeated: bool) -> str:
    if most is not _codes.MAXREPEAT and most <= 1:
        return _slow(inner, repeated=repeated)
    if repeated:
        return "a repetition inside a repetition"
    return _slow(inner, repeated=most is _codes.MAXREPEAT or most > limits.REDACT_PATTERNS_MAX)


def _alike(branches: Sequence[Sequence[tuple[Any, Any]]]) -> bool:
    firsts = [_letters(branch[:1]) for branch in branches]
    return any(one & other for number, one in enumerate(firsts) for other in firsts[:number])


def _inside(code: Any, given: Any) -> list[Sequence[tuple[Any, Any]]]:
    """The sequences inside an item that is no repetition."""
    where: dict[Any, Callable[[], list[Any]]] = {
        _codes.SUBPATTERN: lambda: [given[3]],
        _codes.BRANCH: lambda: given[1],
        _codes.ASSERT: lambda: [given[1]],
        _codes.ASSERT_NOT: lambda: [given[1]],
        _codes.ATOMIC_GROUP: lambda: [given],
        _codes.POSSESSIVE_REPEAT: lambda: [given[2]],
        _codes.GROUPREF_EXISTS: lambda: [branch for branch in given[1:] if branch is not None],
    }
    return [list(sequence) for sequence in where[code]()] if code in where else []


def _letters(items: Iterable[tuple[Any, Any]]) -> frozenset[str]:
    """Characters, of those that stand for all, that a sequence may read anywhere."""
    found: set[str] = set()
    for code, given in items:
        if code in _REPEATS:
            found |= _letters(given[2])
        elif code is _codes.LITERAL:
            found.add(chr(given) if chr(given) in _PLAIN else "中")
        elif code is _codes.NOT_LITERAL:
            found |= set(_PLAIN) - {chr(given)}
        elif code is _codes.ANY:
            found |= set(_PLAIN)
        elif code is _codes.IN:
            found |= _set(given)
        else:
            for inner in _inside(code, given):
                found |= _letters(inner)
    return frozenset(found)


def _set(members: Iterable[tuple[Any, Any]]) -> set[str]:
    """The characters of a set, generously: a class of characters counts as all letters, digits or spaces that it may be."""
    classes: dict[str, Callable[[str], bool]] = {"DIGIT": str.isdigit, "SPACE": str.isspace, "WORD": lambda c: c.isalnum() or c == "_"}
    found: set[str] = set()
    negated = False
    for code, given in members:
        if code is _codes.NEGATE:
            negated = True
        elif code is _codes.LITERAL:
            found.add(chr(given) if chr(given) in _PLAIN else "中")
        elif code is _codes.RANGE:
            found |= {c for c in _PLAIN if given[0] <= ord(c) <= given[1]} or {"中"}
        elif code is _codes.CATEGORY:
            name = str(given).removeprefix("CATEGORY_")
            inside = classes[name.removeprefix("NOT_")]
            found |= {c for c in _PLAIN if bool(inside(c)) != name.startswith("NOT_")}
    return set(_PLAIN) - found if negated else found


def _needed(items: list[tuple[Any, Any]]) -> str:
    """The longest literal that every match has, as far as it stands in the outermost sequence: texts without it are not read."""
    best = run = ""
    for code, given in [*items, (None, None)]:
        run = run + chr(given) if code is _codes.LITERAL else ""
        best = max(best, run, key=len)
    return best


# ── exact values ─────────────────────────────────────────────────────────────────────────────────────────────────
def environment_values(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Values of variables whose name says that they are secret, as they are and as links and JSON write them; the longest first.

    Paths, numbers, switches and short values are none, and after a bare ``…_KEY`` only what looks random (``CACHE_KEY=production`` is a word).
    """
    found: dict[str, None] = {}
    for name, value in sorted(environ.items()):
        upper = name.upper()
        text = value.strip()
        if (
            _SECRET_NAME.search(upper)
            and limits.REDACT_VALUE_CHARS_MIN <= len(text) <= limits.REDACT_VALUE_CHARS_MAX
            and not _NO_SECRET.match(text)
            and len(set(text)) > 2
            and (not _ONLY_KEY.search(upper) or _RANDOM.match(text))
        ):
            found[text] = None
        if len(found) == limits.REDACT_VALUES_MAX:
            break
    written = {
        form: None
        for text in found
        for form in (text, urllib.parse.quote(text, safe=""), urllib.parse.quote_plus(text), json.dumps(text)[1:-1])
    }
    return tuple(sorted(written, key=lambda form: (-len(form), form)))

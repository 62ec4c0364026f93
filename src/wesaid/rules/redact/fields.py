"""Secrets in a JSON value: what a text says in one line stands here beside each other, in fields, pairs and lists.

``{"apiKey": V}``, ``{"name": "X-Api-Key", "value": V}``, ``["--password", V]``, ``{"password": {"value": V}}``, a key as a list of its lines.
Each is written as the line that it means and given to the redactor; no shape of a secret is known here.

Invariants: every value is visited once, with at most a few short lines tried for it; what is nested absurdly deep becomes its redacted text.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, NamedTuple

from wesaid import limits
from wesaid.rules.redact import blocks
from wesaid.rules.redact.redactor import BUILT_IN, Redactor

_NAMES: Final = ("name", "key", "field", "header", "param", "variable")  # fields that say what another field's value is called
_NAMED: Final = frozenset(("value", "values", "val", "default"))
_VALUES: Final = _NAMED | {"content", "data", "raw", "text", "current", "new", "old", "plain", "plaintext"}  # under a secret name
_FACTS: Final = re.compile(
    r"(?:at|id|date|time|type|kind|name|url|path|file|version|format|expir\w{0,9}|description)s?$", re.IGNORECASE
)  # about a secret, not the secret
_PLURAL: Final = re.compile(r"(?:(?<=[A-Za-z])s|[_-]?(?:confirm(?:ation|ed)?|again|repeat(?:ed)?))$", re.IGNORECASE)
_COOKIES: Final = frozenset(("cookie", "cookies", "setcookie", "set-cookie", "set_cookie"))
_NAME_CHARS: Final = 128  # longer ones are no names
_SAMPLES: Final = ("Zq8Wv7Xu6Yt5Sr4Pn3Mk2", "4000123", " ".join(["ferry"] * 12))  # 12: the words of the shortest seed phrase


class _Name(NamedTuple):
    """What a value may be called; ``sure`` that it is its value, as a literal is: a word beside a name needs evidence."""

    text: str
    sure: bool


def redacted(redactor: Redactor, value: Any) -> Any:
    """A JSON value with every string in it redacted, names of fields included."""
    return _value(redactor, value, (), 0)


def _value(redactor: Redactor, value: Any, names: tuple[_Name, ...], depth: int) -> Any:
    if isinstance(value, str):
        safe = redactor.redact(value)
        return safe if safe != value else _called(redactor, value, names)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, dict | list):
        if depth > limits.JSON_DEPTH:
            return {"omitted": True}  # too deep to be looked through (rules.private says the same)
        if isinstance(value, dict):
            return {redactor.redact(str(name)): _value(redactor, inner, called, depth + 1) for name, inner, called in _fields(value, names)}
        return _line(redactor, value, [_value(redactor, inner, names, depth + 1) for inner in value], names)
    text = str(value)
    sure = tuple(name for name in names if name.sure and not name.text.lower().endswith("tokens"))  # those are counts
    return value if (said := _called(redactor, text, sure)) == text else said


def _fields(value: dict[Any, Any], names: tuple[_Name, ...]) -> Iterator[tuple[Any, Any, tuple[_Name, ...]]]:
    """Each field, and what its value may be called: by itself, by the field beside it, by the nearest secret name around it."""
    beside = ""
    if any(str(name).lower() in _NAMED for name in value):
        beside = next((inner for name, inner in value.items() if str(name).lower() in _NAMES and isinstance(inner, str)), "")
    around = next((name.text for name in names if _secret(name.text)), "")
    for name, inner in value.items():
        own = str(name)
        called = [_Name(own, sure=True)]
        if beside and own.lower() in _NAMED:
            called.append(_Name(beside, sure=True))
        sure = own.lower() in _VALUES or (around.lower() in _COOKIES and not beside)  # a cookie has a domain and a path beside its value
        if around and (sure or not (_FACTS.search(own) or around.lower() in _COOKIES)):
            called.append(_Name(around, sure=sure))
        yield name, inner, tuple(called)


def _line(redactor: Redactor, items: list[Any], out: list[Any], names: tuple[_Name, ...]) -> list[Any]:
    """A list of texts once more: what stands after a flag or a name, and all of them as the one line that they may be, also under their name."""
    if len(items) < 2 or not all(isinstance(inner, str) for inner in items):
        return _texts(redactor, items, out)
    whole = " ".join(items)
    again = "[redacted:" in whole  # its rest is no whole
    if out == items and not again and (hidden_as := _called(redactor, whole, tuple(name for name in names if name.sure))) != whole:
        return [hidden_as] * len(items)
    for number, (before, inner) in enumerate(itertools.pairwise(items), 1):
        flag = before.startswith("-")
        if (flag or len(items) == 2) and out[number] == inner and not inner.startswith("-"):
            out[number] = _called(redactor, inner, (_Name(before.lstrip("-"), sure=flag),))
    hidden = redactor.spans(" ".join(out))
    return blocks.clipped(out, [1] * len(out), hidden) if hidden else out


def _texts(redactor: Redactor, items: list[Any], out: list[Any]) -> list[Any]:
    """Blocks of a message once more, as the one text that they are shown as: read as they were, since a half that is hidden explains no other."""
    told = [number for number, inner in enumerate(items) if isinstance(inner, dict) and isinstance(inner.get("text"), str)]
    if len(told) < 2:
        return out
    texts = [items[number]["text"] for number in told]
    for number, text, safe in zip(told, texts, blocks.redacted(texts, redactor), strict=True):
        if safe != text and isinstance(out[number], dict):  # else it was nested too deep
            out[number]["text"] = redactor.redact(safe)
    return out


def _called(redactor: Redactor, value: str, names: tuple[_Name, ...]) -> str:
    """A text without a secret of its own, hidden when one of its names makes it one."""
    if len(value) > limits.REDACT_VALUE_CHARS_MAX:
        return value
    for name in names:
        for line, start in _lines(name, value):
            kinds = [span.kind for span in redactor.spans(line) if span.end > start]
            if kinds:
                return f"[redacted:{kinds[0]}]"
    return value


def _lines(name: _Name, value: str) -> Iterator[tuple[str, int]]:
    """The lines that mean a name and its value, each with the place where the value begins."""
    text = name.text
    if len(text) > _NAME_CHARS:
        return
    single = _PLURAL.sub("", text)
    if text.lower() in _COOKIES:
        head = "Cookie: " if "=" in value else "Cookie: value="
        yield head + value, len(head)
    if not name.sure or text.lower().endswith("tokens"):
        yield f"{single}: {value}", len(single) + 2
        return
    for one in dict.fromkeys((text, single)):
        head = json.dumps(one, ensure_ascii=False)
        yield f"{{{head}: {json.dumps(value, ensure_ascii=False)}}}", len(head) + 3


@lru_cache(maxsize=1024)  # names of fields come back in every record
def _secret(name: str) -> bool:
    """Whether a field of this name holds secrets, whatever it holds: some samples are tried."""
    return any(_called(BUILT_IN, sample, (_Name(name, sure=True),)) != sample for sample in _SAMPLES)

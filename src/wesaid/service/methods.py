"""THE TABLE's types: what each method takes, with the numbers of ``limits.py``. Every door converts its input here and nowhere else.

Attributes are snake_case in Python and camelCase on the wire. An unknown parameter is an input error, and a number out of range names its range.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta

from wesaid import limits
from wesaid.errors import InputError, quoted

Params = TypeVar("Params", bound=msgspec.Struct)

_Query = Annotated[str, Meta(description='words, a "phrase", prefix*, -word, OR, role: session: agent: tool: project: after: before:')]
_Limit = Annotated[int, Meta(ge=1, le=limits.RESULTS_MAX)]
_Count = Annotated[int, Meta(ge=0)]


class SearchParams(msgspec.Struct, kw_only=True, frozen=True, rename="camel", forbid_unknown_fields=True):
    """``sessions_search`` (contract.md §2). ``agent_ids`` and ``reveal`` are the command line's and Python's alone."""

    query: _Query
    session_key: str | None = None
    limit: _Limit = limits.RESULTS_DEFAULT
    role: Literal["user", "assistant"] | None = None
    after: str | None = None
    before: str | None = None
    order: Literal["relevance", "newest", "oldest"] = "relevance"
    tool: str | None = None
    project: str | None = None
    exclude_session_keys: Annotated[tuple[str, ...], Meta(max_length=limits.EXCLUDED_KEYS_MAX)] = ()
    context: Annotated[int, Meta(ge=0, le=limits.CONTEXT_MESSAGES_MAX)] = 0
    detail: Literal["index", "snippet", "full"] = "snippet"
    wait_ms: Annotated[int, Meta(ge=0, le=limits.WAIT_MS_MAX)] = limits.WAIT_MS_DEFAULT
    time_zone: str | None = None
    agent_ids: tuple[str, ...] | None = None
    reveal: bool = False


class HistoryParams(msgspec.Struct, kw_only=True, frozen=True, rename="camel", forbid_unknown_fields=True):
    """``sessions_history`` (contract.md §2). ``offset`` counts back from the newest message and is ignored beside an anchor."""

    session_key: str
    limit: Annotated[int, Meta(ge=1, le=limits.HISTORY_MAX)] = limits.HISTORY_DEFAULT
    offset: _Count = 0
    message_id: str | None = None
    session_id: str | None = None
    include_tools: bool = False
    messages_before: Annotated[int, Meta(ge=0, le=limits.HISTORY_MAX)] | None = None
    messages_after: Annotated[int, Meta(ge=0, le=limits.HISTORY_MAX)] | None = None
    reveal: bool = False


class ListParams(msgspec.Struct, kw_only=True, frozen=True, rename="camel", forbid_unknown_fields=True):
    """``sessions_list`` (contract.md §2)."""

    kinds: tuple[str, ...] = ()
    label: str | None = None
    agent_id: str | None = None
    search: str | None = None
    archived: bool | Literal["all"] = "all"
    active_minutes: Annotated[int, Meta(ge=1)] | None = None
    limit: Annotated[int, Meta(ge=1, le=limits.LIST_MAX)] = limits.LIST_DEFAULT
    offset: _Count = 0
    tool: str | None = None
    project: str | None = None
    include_derived_titles: bool = False
    include_last_message: bool = False
    message_limit: Annotated[int, Meta(ge=0, le=limits.LIST_MESSAGES_MAX)] = 0


def convert(kind: type[Params], given: Mapping[str, Any]) -> Params:
    """Parameters from a mapping of wire names (Python names are taken too). InputError names the field, what was given and what is allowed."""
    names = {field.name: field.encode_name for field in _fields(kind)}
    wire = {names.get(name, name): _valid(value) for name, value in given.items()}
    allowed = sorted(names.values())
    for name in wire:
        if name not in allowed:
            raise InputError(f"unknown parameter {name!r}", hint=f"allowed are {', '.join(allowed)}", details={"field": name})
    for field in _fields(kind):
        if field.required and field.encode_name not in wire:
            raise InputError(f"{field.encode_name} is missing", hint=f"give {field.encode_name}", details={"field": field.encode_name})
        if field.encode_name in wire:
            _check(kind, field, wire[field.encode_name])
    return msgspec.convert(wire, kind)


@functools.cache
def _fields(kind: type[msgspec.Struct]) -> tuple[msgspec.structs.FieldInfo, ...]:
    """A type's fields, read once: asking anew costs half a millisecond."""
    return msgspec.structs.fields(kind)


def _valid(value: Any) -> Any:
    """A text with lone surrogates made valid: they come from arguments that are not UTF-8, and no coding can hold them."""
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) and not value.isascii() else value


def _check(kind: type[msgspec.Struct], field: msgspec.structs.FieldInfo, value: Any) -> None:
    """One field alone, so that the error is about it."""
    try:
        msgspec.convert(value, field.type)
    except msgspec.ValidationError as error:
        shown = quoted(value, limits.PREVIEW_CODE_POINTS)
        raise InputError(
            f"{field.encode_name} is {shown}", hint=_allowed(kind, field.encode_name, str(error)), details={"field": field.encode_name}
        ) from None


def _allowed(kind: type[msgspec.Struct], name: str, fallback: str) -> str:
    """What a field may be, in words, read off its schema."""
    components = msgspec.json.schema_components([kind])[1]
    schema = components[kind.__name__]["properties"][name]
    options = [schema, *schema.get("anyOf", [])]
    for option in options:
        if "minimum" in option and "maximum" in option:
            return f"{name} is a whole number from {option['minimum']} to {option['maximum']}"
        if "minimum" in option:
            return f"{name} is a whole number from {option['minimum']} on"
        if "enum" in option:
            return f"{name} is one of {', '.join(str(word) for word in option['enum'])}"
        if "maxItems" in option:
            return f"{name} is a list of at most {option['maxItems']} texts"
    return fallback

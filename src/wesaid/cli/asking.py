"""Who asks, and the same question again: the caller of a command, and options as they were typed, for the command that is offered next."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import click

from wesaid import folders
from wesaid.cli.output import quoted
from wesaid.errors import InputError, UsageError
from wesaid.service import methods
from wesaid.values import OPERATOR, Caller

_OPTIONS: Final = {"sessionKey": "--session", "messagesBefore": "--before", "messagesAfter": "--after", "activeMinutes": "--active-minutes"}
PLACE: Final = ("home", "as_key", "sandboxed")  # what every command of the same caller on the same store takes


def caller_of(as_key: str | None, *, sandboxed: bool = False, reveal: bool = False) -> Caller:
    """Who asks: the operator, or with ``--as`` a session. UsageError for what is the operator's alone."""
    if as_key is None:
        if sandboxed:
            raise UsageError("--sandboxed needs --as", hint="--as CALLER_KEY --sandboxed asks as that session in a sandbox")
        return OPERATOR
    if reveal:
        raise UsageError("--reveal is the operator's, and --as asks as a session", hint="leave one of the two out")
    return Caller(as_key, sandboxed)


def folder_of(path: str | None) -> str | None:
    """A folder as it was typed, whole: from the home folder (``~``) or from where the person is. Paths of Windows stay as they are."""
    if not path or folders.is_windows(path):
        return path
    with suppress(RuntimeError):  # ~ of nobody
        path = str(Path(path).expanduser())
    return os.path.normpath(Path(path).absolute())


def typed(names: tuple[str, ...]) -> str:
    """The options of these names that were given, each as `` --role user``, ready to be typed again."""
    context = click.get_current_context()
    words: list[str] = []
    for param in context.command.get_params(context):
        value = context.params.get(param.name or "")
        if param.name in names and value not in (None, False, ()):
            for each in value if isinstance(value, tuple) else (value,):
                words += [param.opts[0]] if each is True else [param.opts[0], quoted(str(each))]
    return "".join(f" {word}" for word in words)


def as_options(hint: str | None) -> str | None:
    """A hint in this door's words: it names the option, where the service names the field."""
    return hint.replace("sessionKey", _OPTIONS["sessionKey"]) if hint else hint


def params_of(kind: type[methods.Params], wanted: Mapping[str, Any]) -> methods.Params:
    """A method's parameters from options. InputError as of ``methods.convert``, in this door's words."""
    try:
        return methods.convert(kind, wanted)
    except InputError as error:
        field = str(error.details.get("field"))
        option = _OPTIONS.get(field, f"--{field}")
        raise InputError(error.message.replace(field, option), hint=error.hint.replace(field, option), details=error.details) from None

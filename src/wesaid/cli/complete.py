"""What a shell completes besides names: session keys of the store, and values that the service knows.

Invariant: completion is quiet. Whatever is wrong (no store, a damaged one, a slow lock) offers nothing and says nothing.
"""

from __future__ import annotations

import importlib
from typing import Final

import click
from click.shell_completion import CompletionItem
from click.types import StringParamType


class Values(StringParamType):
    """Any text, with known values offered to the shell: for what the service decides, not the command line."""

    name = "text"

    def __init__(self, *values: str) -> None:
        self.values = values

    def shell_complete(self, _ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The values that begin so."""
        return [CompletionItem(value) for value in self.values if value.startswith(incomplete)]


class SessionKeys(StringParamType):
    """A session key; the newest ones of the store are offered to the shell."""

    name = "session"

    def shell_complete(self, ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Keys that begin so. Only here is the store looked at, and its module imported."""
        try:
            found: list[str] = importlib.import_module("wesaid.cli.session_keys").beginning_with(ctx.params.get("home"), incomplete)
        except Exception:  # noqa: BLE001 - see the module's invariant
            return []
        return [CompletionItem(key) for key in found]


SESSION_KEY: Final = SessionKeys()

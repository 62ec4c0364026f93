"""What a shell completes besides names: session keys of the store, and values that the service knows.

Invariant: completion is quiet. Whatever is wrong (no store, a damaged one, a slow lock) offers nothing and says nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click
from click.shell_completion import CompletionItem
from click.types import StringParamType

from wesaid import limits
from wesaid.service import listing, methods, opening
from wesaid.values import OPERATOR


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
        """Keys that begin so, with their titles."""
        try:
            home = ctx.params.get("home")
            with opening.open_home(home if isinstance(home, Path) else None) as store:
                wanted = methods.convert(methods.ListParams, {"limit": limits.CLI_COMPLETION_KEYS, "search": incomplete or None})
                rows = listing.sessions(store, OPERATOR, wanted).rows
        except Exception:  # noqa: BLE001 - see the module's invariant
            return []
        return [CompletionItem(row.key) for row in rows if row.key.startswith(incomplete)]


SESSION_KEY: Final = SessionKeys()

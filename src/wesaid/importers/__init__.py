"""The registry of dialects: a tool's name to how its records are read and viewed.

It opens no file. An importer that is added is one line here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from wesaid.errors import StoreError
from wesaid.importers import claude_code, codex, openclaw
from wesaid.importers.known import Dialect

DIALECTS: Final[Mapping[str, Dialect]] = {dialect.name: dialect for dialect in (openclaw.DIALECT, claude_code.DIALECT, codex.DIALECT)}


NATIVE: Final = "__wesaid"  # in records that wesaid itself wrote, OpenClaw-shaped in a session of any dialect


def view(dialect: str, record: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """A stored record as an OpenClaw-shaped event; None for what is no event.

    Raises:
        StoreError: the session was imported by a tool that this version does not know.
    """
    if NATIVE in record:
        return record
    found = DIALECTS.get(dialect)
    if found is None:
        raise StoreError(f"records of {dialect!r} are not known to this wesaid", hint="upgrade wesaid as it was installed")
    return found.view(record)


__all__ = ["DIALECTS", "NATIVE", "view"]

"""What ``import wesaid`` gives, imported when it is first asked for (PEP 562): the command line must not pay for the whole house to say ``--help``.

The names and where they live are the table below; ``__init__.pyi`` says the same to type checkers, and a test compares the two.
"""

from __future__ import annotations

import importlib
from typing import Final

HOMES: Final = {
    "OPERATOR": "wesaid.values",
    "Caller": "wesaid.values",
    "HistoryPage": "wesaid.values",
    "Hit": "wesaid.values",
    "Message": "wesaid.values",
    "Page": "wesaid.values",
    "Session": "wesaid.api",
    "Store": "wesaid.api",
    "WesaidError": "wesaid.errors",
    "open": "wesaid.api",
}


def __getattr__(name: str) -> object:
    """A public name of the package."""
    if name not in HOMES:
        raise AttributeError(f"module 'wesaid' has no attribute {name!r}")
    return getattr(importlib.import_module(HOMES[name]), name)


def __dir__() -> list[str]:
    """Every public name of the package."""
    return sorted(HOMES)

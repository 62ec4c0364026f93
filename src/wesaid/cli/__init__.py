"""The command line: the service's use cases as commands, rendered for people or as JSON (contract.md §6, docs/cli.md)."""

from __future__ import annotations

from wesaid.cli.program import main

__all__ = ["main"]

"""The table: every row in the order in which a kind gives its name to what several rows found, the more telling first.

``VERSION`` rises with every change of what is found, or of the text that it is found in (``rules/private``): stored spans carry it and are renewed by it (contract.md §7).
"""

from __future__ import annotations

from typing import Final

from wesaid.rules.redact.context import CONTEXT, CONTEXT_FIRST
from wesaid.rules.redact.keys import KEYS
from wesaid.rules.redact.named import NAMED
from wesaid.rules.redact.shapes import Rule

VERSION: Final = 5
RULES: Final[tuple[Rule, ...]] = (*CONTEXT_FIRST, *KEYS, *NAMED[:2], *CONTEXT[:4], *NAMED[2:], *CONTEXT[4:])

r"""Secrets in a text: where they are, and the text without them. This face names what the rooms behind it hold.

``table`` joins the rows of ``keys``, ``named`` and ``context``; a new shape is a new row, never new code. ``normal`` takes away what hides
letters, ``loop`` reads, ``own`` checks what a person adds, ``redactor`` is all of it together, ``blocks`` joins a message's blocks for it.
Knows nothing of sessions or who reads: it takes the whole text of one message, because a cut text has lost the context that a shape needs.
"""

from __future__ import annotations

from wesaid.rules.redact.blocks import joined
from wesaid.rules.redact.loop import KINDS, PLACEHOLDER, spans
from wesaid.rules.redact.redactor import BUILT_IN, Redactor, apply
from wesaid.rules.redact.shapes import Rule
from wesaid.rules.redact.table import RULES, VERSION
from wesaid.values import Span

redact = BUILT_IN.redact

__all__ = ["BUILT_IN", "KINDS", "PLACEHOLDER", "RULES", "VERSION", "Redactor", "Rule", "Span", "apply", "joined", "redact", "spans"]

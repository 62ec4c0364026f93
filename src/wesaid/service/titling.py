"""Titles that a conversation gives itself: the first line of the first thing that a person said on its visible path.

A title must not keep what a rewind abandoned: whoever changes the path asks for the title of the old path and of the new one here.
Everything is redacted whole, then cut.
"""

from __future__ import annotations

from dataclasses import replace

from wesaid import limits
from wesaid.engines.contract import View, Writer
from wesaid.rules import searchable
from wesaid.rules.redact import Redactor
from wesaid.service.preparing import words_of
from wesaid.values import SessionRow


def derived(redactor: Redactor, view: View, row: SessionRow, window: int) -> str | None:
    """The title that a window's visible path gives, None when nobody spoke among its first messages."""
    for event in view.path(window, start=0, count=limits.ECHO_MESSAGES, shown=True):
        words = words_of(redactor, row.facts.dialect, event)
        if words is not None and words.role == "user" and (title := searchable.title_of(words.text)):
            return title
    return None


def renew(redactor: Redactor, writer: Writer, row: SessionRow, before: str | None) -> SessionRow:
    """After a change of the path: a title that was ``derived`` from the old one (``before``) is derived anew; a given one stays."""
    current = writer.session(row.facts.key) or row
    if before is None or current.facts.title != before:
        return current
    window = writer.windows(row.facts.key)[-1].window
    return writer.patch(row.facts.key, replace(current.facts, title=derived(redactor, writer, current, window)))

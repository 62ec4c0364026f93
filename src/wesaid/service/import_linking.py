"""What only all transcripts of an agent together tell: which sessions are forks, and titles that stand in another session's file.

It reads what the imports noted of their files and writes sessions' facts. Invariant: the order in which files were imported decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from wesaid import keys, limits
from wesaid.engines.contract import Store, View
from wesaid.importers import claude_code
from wesaid.importers.known import text_of
from wesaid.rules.private import without_private
from wesaid.rules.redact import Redactor
from wesaid.rules.searchable import title_of
from wesaid.service.import_facts import TITLED_BY


def link_forks(store: Store, begun: set[str]) -> None:
    """Sessions that begin with the same message, by id and text, are forks of the one that began first (formats.md §3).

    ``begun`` are the first messages of the sessions that were written to.
    """
    with store.reading() as view:
        alike: dict[str, set[str]] = {}
        for state in view.sources() if begun else ():
            for key, first in state.state.get("firsts", {}).items():
                if first in begun and keys.kind(key) != "subagent":
                    alike.setdefault(first, set()).add(key)
        rows = [[row for key in found if (row := view.session(key))] for found in alike.values() if len(found) > 1]
    for group in rows:
        origin, *forks = sorted(group, key=lambda row: (row.facts.created_at, row.facts.updated_at, row.facts.key))
        for fork in forks:
            if fork.facts.forked_from is None:
                with store.writing() as writer:
                    writer.patch(fork.facts.key, replace(fork.facts, forked_from=origin.facts.key))


def link_titles(redactor: Redactor, store: Store) -> None:
    """Claude Code writes a conversation's summary into whatever file is open: it names the message that the conversation ended with."""
    with store.reading() as view:
        summaries: dict[str, str] = {}
        last: dict[str, str] = {}  # id of a session's last message -> key
        untitled: set[str] = set()  # neither a person nor the tool named them
        for key, told in _told(view):
            summaries |= {leaf: text for leaf, text in told.get("summaries", {}).items() if len(summaries) < limits.GONE_LINES}
            last.setdefault(told.get("last_id") or "", key)
            if not (text_of(told, "title") or text_of(told, "better_title")):
                untitled.add(key)
        # A fork has its origin's messages: the summary is of the session that ended there.
        held = [(leaf, key) for leaf, key in view.holders(summaries) if key in untitled and last.get(leaf, key) == key]
        found = {key: summaries[leaf] for leaf, key in held}
        rows = {key: row for key in found if (row := view.session(key))}
    for key, row in rows.items():
        title = title_of(redactor.redact(without_private(found[key])))
        if title and title != row.facts.title:
            with store.writing() as writer:
                writer.patch(key, replace(row.facts, title=title, extra={**row.facts.extra, TITLED_BY: "summary"}))


def _told(view: View) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What each transcript said about each of its conversations, with the key that the conversation has."""
    for state in view.sources():
        if state.tool == claude_code.DIALECT.name:
            slots = state.state.get("slots", {})
            for slot, told in state.state.get("reader", {}).get("told", {}).items():
                yield slots.get(slot, told.get("key", "")), told


__all__ = ["link_forks", "link_titles"]

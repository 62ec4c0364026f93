"""What only all transcripts of an agent together tell: which sessions are forks, and titles that stand in another session's file.

It reads what the imports noted of their files and writes sessions' facts. Invariant: the order in which files were imported decides nothing;
but a search that waits (``quick``) takes titles from the files that it has read, and looks at no more sources than their sessions have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

from wesaid import keys, limits
from wesaid.engines.contract import Store, View, Writer
from wesaid.importers import claude_code
from wesaid.importers.known import text_of
from wesaid.rules.private import without_private
from wesaid.rules.redact import Redactor
from wesaid.rules.searchable import title_of
from wesaid.service.import_facts import TITLED_BY
from wesaid.values import EVERYTHING, SourceState


@dataclass(frozen=True, slots=True)
class Link:
    """The linking of one agent's sessions after an import; ``quick`` for an import that a search waits for."""

    store: Store
    quick: bool = False

    def _writing(self) -> AbstractContextManager[Writer]:
        return self.store.writing(seconds=limits.FRESH_BUSY_SECONDS if self.quick else None)

    # ── forks ────────────────────────────────────────────────────────────────────────────────────────────────────
    def forks(self, begun: set[str]) -> None:
        """Sessions that begin with the same message, by id and text, are forks of the one that began first (formats.md §3).

        ``begun`` are the first messages of the sessions that were written to.
        """
        with self.store.reading() as view:
            alike: dict[str, set[str]] = {}
            for state in self._beginnings(view, begun) if begun else ():
                for key, first in state.state.get("firsts", {}).items():
                    if first in begun and keys.kind(key) != "subagent":
                        alike.setdefault(first, set()).add(key)
            rows = [[row for key in found if (row := view.session(key))] for found in alike.values() if len(found) > 1]
        for group in rows:
            origin, *forks = sorted(group, key=lambda row: (row.facts.created_at, row.facts.updated_at, row.facts.key))
            for fork in forks:
                if fork.facts.forked_from is None:
                    with self._writing() as writer:
                        now = writer.session(fork.facts.key)
                        if now is not None and now.facts.forked_from is None:
                            writer.patch(now.facts.key, replace(now.facts, forked_from=origin.facts.key))

    def _beginnings(self, view: View, begun: set[str]) -> list[SourceState]:
        """Sources in which a session may begin as one that was written did: all of them, or, where a search waits, those of its sessions."""
        if not self.quick:
            return view.sources()
        ids = {first.rpartition(":")[0] for first in begun}
        alike = {row.facts.key for event_id in ids for row in view.sessions_with(event_id, EVERYTHING)}
        return [state for key in sorted(alike) for state in view.sources(key)]

    # ── titles ───────────────────────────────────────────────────────────────────────────────────────────────────
    def titles(self, redactor: Redactor, named: Iterable[str]) -> None:
        """Claude Code writes a conversation's summary into whatever file is open: it names the message that the conversation ended with.

        ``named`` are the files just read that have summaries.
        """
        with self.store.reading() as view:
            states = [state for name in sorted(named) if (state := view.source(name))] if self.quick else view.sources()
            summaries: dict[str, str] = {}
            for _, told in _told(states):
                summaries |= {leaf: text for leaf, text in told.get("summaries", {}).items() if len(summaries) < limits.GONE_LINES}
            holders = view.holders(summaries)
            if self.quick:
                states = [state for key in sorted({key for _, key in holders}) for state in view.sources(key)]
            last: dict[str, str] = {}  # id of a session's last message -> key
            untitled: set[str] = set()  # neither a person nor the tool named them
            for key, told in _told(states):
                last.setdefault(told.get("last_id") or "", key)
                if not (text_of(told, "title") or text_of(told, "better_title")):
                    untitled.add(key)
            # A fork has its origin's messages: the summary is of the session that ended there.
            found = {key: summaries[leaf] for leaf, key in holders if key in untitled and last.get(leaf, key) == key}
            rows = {key: row for key in found if (row := view.session(key))}
        for key, row in rows.items():
            title = title_of(redactor.redact(without_private(found[key])))
            if title and title != row.facts.title:
                with self._writing() as writer:
                    now = writer.session(key)
                    if now is not None and now.facts.title == row.facts.title:
                        writer.patch(key, replace(now.facts, title=title, extra={**now.facts.extra, TITLED_BY: "summary"}))


def _told(states: Iterable[SourceState]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What each transcript said about each of its conversations, with the key that the conversation has."""
    for state in states:
        if state.tool == claude_code.DIALECT.name:
            slots = state.state.get("slots", {})
            for slot, told in state.state.get("reader", {}).get("told", {}).items():
                yield slots.get(slot, told.get("key", "")), told


__all__ = ["Link"]

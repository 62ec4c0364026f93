"""``Walk``: what the parts of one search (``searching``, ``finishing``) share while it is under way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from wesaid import limits
from wesaid.engines.contract import View
from wesaid.service.methods import SearchParams
from wesaid.service.opening import Home
from wesaid.service.preparing import Words, readable, words_of
from wesaid.values import Caller, Filters, Policy, Query, Scope, SessionRow, StoredEvent, Term


@dataclass(slots=True)
class Walk:
    """One search under way."""

    home: Home
    caller: Caller
    params: SearchParams
    asked: Query
    policy: Policy
    filters: Filters
    views: dict[str, View]
    scopes: Mapping[str, Scope]
    frequencies: dict[Term, int] = field(default_factory=dict)
    complete: bool = True
    behind: int = 0  # sources that have grown and are not all read
    lost: set[tuple[str, int, int]] = field(default_factory=set)  # session, window, seq of rows that were met and cannot be read

    def frequency(self, term: Term) -> int:
        """In how many messages that the caller may see a term occurs, over all agents looked in."""
        found = self.frequencies.get(term)
        if found is None:
            found = sum(view.frequency(term, self.scopes[agent], bound=limits.FREQUENCY_COUNT_ROWS) for agent, view in self.views.items())
            self.frequencies[term] = found
        return found

    def words(self, row: SessionRow, event: StoredEvent, *, reveal: bool = False) -> Words | None:
        """What was said in an event, as ``words_of``; one that cannot be read is remembered, for the answer to say."""
        words = words_of(self.home.redactor, row.facts.dialect, event, reveal=reveal)
        if words is None and readable(event) is None:
            self.lost.add((row.facts.key, event.window, event.seq))
        return words

    def indexed(self) -> int:
        """How many messages the caller may see."""
        return sum(view.indexed(self.scopes[agent], bound=limits.INDEXED_COUNT_ROWS) for agent, view in self.views.items())

"""Does a match still hold, by today's rules? Rows that an older redactor made are in the index with words that today's hides.

They serve until they are renewed, but must not confirm such a word to whoever guesses it. Usually there are none, and nothing is looked at.
"""

from __future__ import annotations

from collections.abc import Sequence

from wesaid.engines.contract import View
from wesaid.rules import fold
from wesaid.service.preparing import again, readable
from wesaid.service.walk import Walk
from wesaid.values import Candidate, Clause, Match, Said


def confirmed(walk: Walk, view: View, match: Match, found: Sequence[Candidate]) -> list[Candidate]:
    """The candidates without those that match only by what is hidden today."""
    made = view.versions()
    if made is None or (made.redact == walk.home.redactor.version and view.renewing(limit=1) is None):
        return list(found)
    return [candidate for candidate in found if _holds(walk, view, match, candidate)]


def _holds(walk: Walk, view: View, match: Match, candidate: Candidate) -> bool:
    events = view.events(candidate.window, after_seq=candidate.seq - 1, limit=1)
    row = view.session(candidate.key)
    if not events or row is None:
        return False
    if events[0].redact_version == walk.home.redactor.version or readable(events[0]) is None:
        return True  # one that cannot be read is passed over, and told, where it would be shown
    said = again(walk.home.redactor, row.facts.dialect, events[0]).said
    return said is not None and _matches(match, said)


def _matches(match: Match, said: Said) -> bool:
    """Whether words have every clause of ``all_of``, one of ``any_of`` when given, and no term of ``none_of``."""
    texts = (said.index_text.split(), said.index_parts.split())

    def has(clause: Clause) -> bool:
        return any(fold.find(words, term) for words in texts for term in clause.terms)

    return (
        all(map(has, match.all_of))
        and (not match.any_of or any(map(has, match.any_of)))
        and not any(fold.find(words, term) for words in texts for term in match.none_of)
    )


__all__ = ["confirmed"]

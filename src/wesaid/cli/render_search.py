"""A page of hits for people: grouped by session, the match marked, below each session the command that opens it. Pure.

Every text of a transcript passes `safe`. Offsets of marks stay valid, since `safe` replaces one character by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from wesaid import limits
from wesaid.cli.ages import dated
from wesaid.cli.output import quoted, safe
from wesaid.cli.paint import Line, Piece
from wesaid.values import Hit, Neighbour, Page

_LOOSE: Final = {"forms": "other word forms", "some": "some of the words", "typo": "spelling corrected"}


class Asked(NamedTuple):
    """What was typed, so that it can be typed again: the query, and options as text that a shell takes (" --role user")."""

    query: str
    limit: int = limits.RESULTS_DEFAULT
    narrowing: str = ""  # options of the search but for --session and --limit
    place: str = ""  # options that every command on this store needs: --home

    def in_session(self, key: str, count: int) -> str:
        """The same search in one session, of which ``count`` hits are known."""
        many = f" --limit {min(count, limits.RESULTS_MAX)}" if count > limits.RESULTS_DEFAULT else ""
        options = f"{self.narrowing} --session {quoted(key)}{many}{self.place}"
        query = quoted(self.query)
        return f"wesaid search{options} -- {query}" if self.query.startswith("-") else f"wesaid search {query}{options}"

    def around(self, hit: Hit) -> str:
        """What opens the conversation around a hit."""
        return f"wesaid history {quoted(hit.session_key)} --around {quoted(hit.message_id)}{self.place}"


def page_lines(page: Page, asked: Asked, *, now: int, explain: bool = False) -> Iterator[Line]:
    """The whole answer. ``now`` in Unix milliseconds."""
    groups: dict[str, list[Hit]] = {}
    for hit in page.hits:
        groups.setdefault(hit.session_key, []).append(hit)
    for hits in groups.values():
        yield from _group(hits, asked, now=now, explain=explain)
        yield []
    yield [(_total(page, len(groups), asked.limit), "dim")]


def _group(hits: Sequence[Hit], asked: Asked, *, now: int, explain: bool) -> Iterator[Line]:
    first = hits[0]
    yield [(safe(first.title or "Untitled session"), "title")]
    facts = [
        first.tool,
        short_path(first.project),
        dated(max(hit.timestamp for hit in hits), now),
        "this session" if first.current else None,
    ]
    yield [(safe(first.session_key), "key"), *[(f" · {safe(fact)}", "dim") for fact in facts if fact]]
    for hit in hits:
        yield from _hit(hit, now=now, explain=explain)
    more = max(hit.more_in_session for hit in hits)
    if more:
        yield [(f"  … {more} more in this session: ", "dim"), (asked.in_session(first.session_key, len(hits) + more), "aside")]
    yield [("  Read on: ", "dim"), (asked.around(first), "aside")]
    if first.resume:
        yield [("  Go on there: ", "dim"), (_resume(first), "aside")]


def _resume(hit: Hit) -> str:
    """What opens the session again in its tool, from the folder that it worked in: some tools find it nowhere else."""
    command = " ".join(map(quoted, hit.resume))
    folder = hit.project
    if not folder or safe(folder) != folder or "[redacted:" in folder:
        return command
    return f"cd {quoted(folder)} && {command}" if not folder.startswith("-") else f"cd -- {quoted(folder)} && {command}"


def _hit(hit: Hit, *, now: int, explain: bool) -> Iterator[Line]:
    facts = [dated(hit.timestamp, now), safe(hit.message_id)]
    if hit.match in _LOOSE:
        facts.append(_LOOSE[hit.match] + (f", without: {', '.join(map(safe, hit.missing))}" if hit.missing else ""))
    if hit.copies > 1:
        facts.append(f"{hit.copies} copies")
    if not hit.marks and hit.score == 0:  # the session's title or label has the words, and this is how the session begins
        facts.append("(title)")
    yield [("  ", ""), role(hit.role), *[(f" · {fact}", "dim") for fact in facts]]
    before = [near for near in hit.context if near.timestamp < hit.timestamp]
    after = [near for near in hit.context if near.timestamp >= hit.timestamp]
    yield from map(_neighbour, before)
    if hit.snippet:
        yield [("    ", ""), *([("> ", "anchor")] if hit.context else []), *marked(hit.snippet, hit.marks)]
    yield from map(_neighbour, after)
    if explain:
        parts = ", ".join(f"{name} {value:.2f}" for name, value in hit.parts.items())
        yield [(f"    score {hit.score:.2f}, tier {hit.match}{': ' if parts else ''}{parts}", "dim")]


def _neighbour(near: Neighbour) -> Line:
    return [("    ", ""), (f"{safe(near.role)}: {safe(near.text)}", "dim")]


def marked(text: str, marks: Sequence[tuple[int, int]]) -> list[Piece]:
    """``text`` as one line, its ``marks`` (code points) set off."""
    shown = safe(text)
    pieces: list[Piece] = []
    at = 0
    for start, end in sorted(marks):
        if at <= start < end:
            pieces += [(shown[at:start], ""), (shown[start:end], "mark")]
            at = end
    return [*pieces, (shown[at:], "")]


def _total(page: Page, sessions: int, limit: int) -> str:
    """How much was found, and how to get at the rest: a higher limit where that would help, else a narrower search."""
    hits = len(page.hits)
    text = f"{hits} {'hit' if hits == 1 else 'hits'} in {sessions} {'session' if sessions == 1 else 'sessions'}"
    if not page.truncated and not page.next_cursor:
        return text
    higher = "ask for a higher --limit, or " if hits == limit < limits.RESULTS_MAX else ""
    return f"{text}; there are more: {higher}narrow the search with --after, --session or more words"


def nothing_lines(query: str, page: Page, filters: Mapping[str, Any]) -> Iterator[str]:
    """What an empty answer says: what was searched, and what would widen it."""
    searched = page.diagnostics.sessions_searched
    narrowed = "".join(f", {name} {_words(value)}" for name, value in filters.items())
    yield f"nothing found for {query!r} in {searched} {'session' if searched == 1 else 'sessions'}{narrowed}"
    if page.diagnostics.hint:
        yield page.diagnostics.hint
    elif narrowed:
        yield f"without {' and '.join(filters)} more would be searched"
    elif not searched:
        yield "the store has no sessions: `wesaid import` reads what the agents on this machine said"


def _words(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def role(name: str) -> Piece:
    """A role, in its colour."""
    return (safe(name), name if name in ("user", "assistant") else "dim")


def short_path(path: str | None) -> str | None:
    """A folder as people write it: ``~`` for their home."""
    if not path:
        return None
    home = str(Path.home())
    return "~" + path[len(home) :] if path == home or path.startswith(home.rstrip("/") + "/") else path

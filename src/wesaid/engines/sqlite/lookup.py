"""Candidates and frequencies: the index read newest first, within scope and filters before any limit.

A narrow scope is AND-ed into the MATCH as session words, a wide one joined (limits.SCOPE_TOKENS; docs/decisions/0010-schema.md has the figures).
The work of a walk is bounded by its limit, whatever the corpus; counts stop at their bound.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import apsw

from wesaid import limits
from wesaid.engines.sqlite import narrowing
from wesaid.engines.sqlite.match import Counter, express
from wesaid.engines.sqlite.records import LOW, SHIFT
from wesaid.rules import fold
from wesaid.values import Candidate, Clause, Filters, Flag, Found, Match, Scope, Term

_UNSEGMENTED_FROM = 0x0E00  # Thai and above: tokens are bigrams there, the word table has none (fold)
_FLAGS = {number: Flag(number) for number in range(2 * max(Flag))}  # looking up a member is what takes an enum's time
_EXPANSIONS = 64  # words that a prefix may stand for; more is FTS5's own prefix, or incomplete and said so
_FTS_PREFIX_CHARS = 3  # from here on FTS5's own prefix reads few enough postings (design.md: com* 42 ms, co* 175 ms at 1 M)


Common = dict[tuple[tuple[str, ...], bool, int], tuple[int, int]]  # tokens, prefix, bound -> count, and the messages there were then


class Lookup:
    """The index of one database, over one connection."""

    def __init__(self, db: apsw.Connection, agent_id: str, keys: dict[int, str], common: Common) -> None:
        self._db = db
        self.agent_id = agent_id
        self._keys = keys  # token -> session key, for ever true, shared by the store's connections
        self._common = common  # shared likewise
        self._counter = Counter()
        self._chosen: dict[tuple[Scope, str | None, str | None], list[int] | None] | None = None  # what _tokens found in this snapshot
        db.register_fts5_function("tally", self._counter)

    def begin(self) -> None:
        """A snapshot begins: what sessions are chosen by a scope and filters stays so until the next one."""
        self._chosen = {}

    def messages(self) -> int:
        """How many messages the index has; a counter, kept by the writer."""
        return int(self._db.execute("SELECT value FROM meta WHERE name = 'messages'").get or 0)

    def indexed(self, scope: Scope, bound: int) -> int:
        """See the contract."""
        if scope.keys is None:
            return self.messages()
        tokens = self._tokens(scope, Filters())
        if not tokens:
            return 0
        total = self._db.execute(
            "SELECT sum(message_count) FROM session WHERE token IN (SELECT value FROM json_each(?))", (json.dumps(tokens),)
        ).get
        return min(int(total or 0), bound)

    def frequency(self, term: Term, scope: Scope, bound: int) -> int:
        """See the contract."""
        tokens = self._tokens(scope, Filters())
        if tokens == []:
            return 0
        if tokens is not None:
            return self._count(term, scope, bound, tokens)
        # Counting a common word takes longer than the search, and a hundredth of its count more or less changes no weight that matters.
        # Rare words are counted each time, and so is everything for a caller who does not see all: others' words must not show.
        asked, messages = (term.tokens, term.prefix, bound), self.messages()
        count, counted_in = self._common.get(asked, (0, 0))
        if counted_in and abs(messages - counted_in) * limits.COMMON_DRIFT_SHARE <= count:
            return count
        count = self._count(term, scope, bound, None)
        if count >= limits.COMMON_WORD_ROWS:
            if len(self._common) >= limits.COMMON_WORDS:
                self._common.clear()
            self._common[asked] = (count, messages)
        return count

    def _count(self, term: Term, scope: Scope, bound: int, tokens: list[int] | None) -> int:
        """``frequency``, counted now."""
        narrow = tokens if tokens is not None and len(tokens) <= limits.SCOPE_TOKENS else None
        clause = Clause(terms=(term,))
        written = express(Match(all_of=(clause,)), expand=lambda t: self._expand(t, scope)[0], role=None, tokens=narrow)
        if written is None or not written.phrases:
            return 0
        joined = ""
        bindings: list[str | int] = [written.text]
        if tokens is not None and narrow is None:
            joined = "JOIN entry e ON e.rid = words.rowid WHERE words MATCH ? AND e.session IN (SELECT value FROM json_each(?))"
            bindings.append(json.dumps(tokens))
        return int(
            self._db.execute(
                f"SELECT count(*) FROM (SELECT 1 FROM words {joined or 'WHERE words MATCH ?'} LIMIT ?)", (*bindings, bound)
            ).get
        )

    def candidates(  # noqa: PLR0913 - the contract's
        self, match: Match, scope: Scope, filters: Filters, *, limit: int, oldest_first: bool, beyond: int | None
    ) -> Found:
        """See the contract."""
        tokens = self._tokens(scope, filters)
        if tokens == [] or limit <= 0:
            return Found(candidates=(), complete=True)
        exact = True

        def expand(term: Term) -> Sequence[Term]:
            nonlocal exact
            terms, complete = self._expand(term, scope)
            exact = exact and complete
            return terms

        narrow = tokens if tokens is not None and len(tokens) <= limits.SCOPE_TOKENS else None
        written = express(match, expand=expand, role=filters.role, tokens=narrow)
        if written is None:
            return Found(candidates=(), complete=True)
        where, bindings = self._conditions(filters, tokens if narrow is None else None, beyond=beyond, oldest_first=oldest_first)
        self._counter.prepare(written)
        rows = self._db.execute(
            "SELECT words.rowid, tally(words), e.place, e.session, e.role, e.timestamp, e.flags, e.digest"
            f" FROM words CROSS JOIN entry e ON e.rid = words.rowid WHERE words MATCH ? {where}"
            f" ORDER BY words.rowid {'ASC' if oldest_first else 'DESC'} LIMIT ?",
            (written.text, *bindings, limit + 1),
        ).fetchall()
        found = tuple(self._candidate(row) for row in rows[:limit])
        self._counter.seen = {}
        return Found(candidates=found, complete=exact and len(rows) <= limit)

    def titles(self, clauses: Sequence[Clause], scope: Scope, limit: int) -> list[str]:
        """See the contract."""
        if not clauses:
            return []
        if scope.keys is not None and len(scope.keys) <= limits.SCOPE_TOKENS:
            return self._own_titles(clauses, scope)[:limit]
        written = " AND ".join(
            "(" + " OR ".join(f'"{" ".join(term.tokens)}"' + (" *" if term.prefix else "") for term in clause.terms) + ")"
            for clause in clauses
        )
        keys = [
            row[0]
            for row in self._db.execute(
                "SELECT s.key FROM titles CROSS JOIN session s ON s.token = titles.rowid WHERE titles MATCH ? ORDER BY s.updated_at DESC, s.key",
                (written,),
            )
        ]
        return [key for key in keys if scope.allows(key)][:limit]

    def _own_titles(self, clauses: Sequence[Clause], scope: Scope) -> list[str]:
        """``titles`` of few sessions, read themselves: a walk of the titles' index would take as long as others' titles are many."""
        rows = self._db.execute(
            "SELECT key, title, label FROM session WHERE key IN (SELECT value FROM json_each(?)) AND (title IS NOT NULL OR label IS NOT NULL)"
            " ORDER BY updated_at DESC, key",
            (json.dumps(sorted(scope.keys or ())),),
        )
        found: list[str] = []
        for key, title, label in rows:
            words = fold.tokens(" \n ".join(text for text in (title, label) if text))
            if all(any(fold.find(words, term) for term in clause.terms) for clause in clauses):
                found.append(key)
        return found

    def _conditions(
        self, filters: Filters, joined: Sequence[int] | None, *, beyond: int | None, oldest_first: bool
    ) -> tuple[str, list[str | int]]:
        """SQL conditions besides the MATCH. A row's own milliseconds decide; rowids only narrow, widened by the recorded drift."""
        where: list[str] = []
        bindings: list[str | int] = []
        if filters.after is not None:
            where.append("words.rowid >= ? AND e.timestamp >= ?")
            bindings += [filters.after // limits.SECONDS_MS, filters.after]
        if filters.before is not None:
            drift = int(self._db.execute("SELECT value FROM meta WHERE name = 'drift'").get or 0)
            where.append("words.rowid <= ? AND e.timestamp < ?")
            bindings += [filters.before // limits.SECONDS_MS + drift + 1, filters.before]
        if beyond is not None:
            where.append("words.rowid > ?" if oldest_first else "words.rowid < ?")
            bindings.append(beyond)
        if joined is not None:
            where.append("e.session IN (SELECT value FROM json_each(?))")
            bindings.append(json.dumps(joined))
        if filters.exclude_keys:
            where.append("e.session NOT IN (SELECT token FROM session WHERE key IN (SELECT value FROM json_each(?)))")
            bindings.append(json.dumps(sorted(filters.exclude_keys)))
        if self._db.execute("SELECT EXISTS (SELECT 1 FROM stale WHERE purge IS NOT NULL)").get:
            where.append("EXISTS (SELECT 1 FROM path p WHERE p.place = e.place)")  # rows that a large rewind has hidden
        return "".join(f" AND {condition}" for condition in where), bindings

    def _tokens(self, scope: Scope, filters: Filters) -> list[int] | None:
        """The sessions to look in, by token; None for all of them. Found once a snapshot: a search asks for each of its words."""
        if self._chosen is None:
            return self._choose(scope, filters)
        asked = (scope, filters.tool, filters.project)
        if asked not in self._chosen:
            self._chosen[asked] = self._choose(scope, filters)
        return self._chosen[asked]

    def _choose(self, scope: Scope, filters: Filters) -> list[int] | None:
        where: list[str] = []
        bindings: list[str] = []
        if scope.keys is not None:
            where.append("key IN (SELECT value FROM json_each(?))")
            bindings.append(json.dumps(sorted(scope.keys)))
        asked, more = narrowing.conditions(filters)
        where += asked
        bindings += more
        if not where:
            return None
        return [row[0] for row in self._db.execute(f"SELECT token FROM session WHERE {' AND '.join(where)}", bindings)]

    def _expand(self, term: Term, scope: Scope) -> tuple[Sequence[Term], bool]:
        """What a prefix may stand for, and whether that is all of it.

        With a narrow scope it is always all of it, or FTS5's own prefix: words are chosen by how often they are used, which must not depend
        on what the caller may not see. Few words are looked up one by one there too, since FTS5's prefix reads every posting of theirs.
        """
        last = term.tokens[-1]
        if not term.prefix or ord(last[0]) >= _UNSEGMENTED_FROM:
            return (term,), True
        words = [
            row[0]
            for row in self._db.execute(
                "SELECT word FROM word WHERE word >= ? AND word < ? ORDER BY seen DESC, word LIMIT ?",
                (last, last + "\U0010ffff", _EXPANSIONS + 1),
            )
        ]
        if len(words) > _EXPANSIONS and (scope.keys is not None or len(last) >= _FTS_PREFIX_CHARS):
            return (term,), True
        whole = [Term(text=term.text, tokens=(*term.tokens[:-1], word), quoted=term.quoted) for word in words[:_EXPANSIONS]]
        return whole or (Term(text=term.text, tokens=term.tokens),), len(words) <= _EXPANSIONS

    def _candidate(self, row: Sequence[Any]) -> Candidate:
        rowid, _, place, session, role, timestamp, flags, digest = row
        counts, span, length = self._counter.seen[rowid]
        key = self._keys.get(session)
        if key is None:
            key = self._keys[session] = str(self._db.execute("SELECT key FROM session WHERE token = ?", (session,)).get)
        return Candidate(
            agent_id=self.agent_id,
            key=key,
            window=place >> SHIFT,
            seq=place & LOW,
            rowid=rowid,
            role="assistant" if role else "user",
            timestamp=timestamp,
            flags=_FLAGS[flags] if flags in _FLAGS else Flag(flags),
            digest=digest,
            length=length,
            counts=counts,
            span=span,
        )

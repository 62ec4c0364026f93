"""Index rows: an ``entry`` and its words, written and dropped together; rowids from time; the vocabulary.

Invariant: an ``entry`` row and the FTS row of the same rowid exist together, in the transaction that made them or not at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import apsw

from wesaid import limits
from wesaid.engines.sqlite import marking
from wesaid.engines.sqlite.erasing import VOCABULARY
from wesaid.engines.sqlite.match import ROLE_WORDS, session_word
from wesaid.engines.sqlite.records import pack_spans
from wesaid.values import Flag, Said, Versions

_LAST_RID = (1 << 40) - 1  # year 36 812 in seconds: keeps rowids small in the index
_AUTOMERGE = 4  # FTS5's default: segments of a level that are merged
_WORDS_BELOW = 0x0E00  # scripts with spaces: their tokens are words; above, bigrams that no prefix search wants


class Known(set[str]):
    """Words that are surely in the word table, as of the ``pruned``-th time that words were taken out of it."""

    pruned = 0
    is_versioned = False  # the rules that the first row was made with are noted
    bulks = 0  # transactions so far that brought many words

    def counts_now(self) -> bool:
        """Whether this bulk transaction counts how often its words are used: one in some stands for all, since the count is a hint."""
        self.bulks += 1
        return self.bulks % limits.LEARN_BULK_EACH == 1

    def forget(self) -> None:
        """Be sure of nothing any more."""
        self.clear()
        self.is_versioned = False


class Index:
    """The writing side of one database's index, inside the caller's transaction."""

    def __init__(self, db: apsw.Connection, known_words: Known, hints: dict[int, int]) -> None:
        self._db = db
        self._hints = hints  # second -> the rowid to try first; only a hint, shared by the store's transactions
        self._known = known_words  # words that are surely in the word table; shared by the store's transactions
        self._fresh: Counter[str] = Counter()
        self._messages = 0
        self._made_with: Versions | None = None
        self._drift = 0

    def add(self, place: int, session: int, timestamp: int, said: Said, flags: Flag) -> None:
        """Index one message. The rowid is claimed by the ordinary row first (see schema)."""
        rid = self._claim(timestamp)
        self._db.execute(
            "INSERT INTO entry (rid, place, session, role, timestamp, flags, digest, fold, redact, spans) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                rid,
                place,
                session,
                int(said.role == "assistant"),
                timestamp,
                int(flags),
                said.digest,
                said.fold_version,
                said.redact_version,
                pack_spans(said.spans),
            ),
        )
        self._db.execute(
            "INSERT INTO words (rowid, text, parts, scope) VALUES (?, ?, ?, ?)",
            (rid, said.index_text, said.index_parts, f"{session_word(session)} {ROLE_WORDS[said.role]}"),
        )
        self._messages += 1
        self._made_with = self._made_with or Versions(said.fold_version, said.redact_version)
        self._drift = max(self._drift, rid - _seconds(timestamp))
        self._fresh.update(set(said.index_text.split(" ")) | set(said.index_parts.split(" ")))

    def drop(self, rids: Sequence[int]) -> None:
        """Drop index rows."""
        for rid in rids:
            self._db.execute("DELETE FROM words WHERE rowid = ?", (rid,))
            self._db.execute("DELETE FROM entry WHERE rid = ?", (rid,))
        self._messages -= len(rids)

    @contextmanager
    def unmerged(self) -> Iterator[None]:
        """A block whose many drops make FTS5 merge nothing: it would count each as a page written, and merge for 100 ms at the commit."""
        self._db.execute("INSERT INTO words (words, rank) VALUES ('automerge', 0)")
        yield
        self._db.execute("INSERT INTO words (words) VALUES ('flush')")
        self._db.execute("INSERT INTO words (words, rank) VALUES ('automerge', ?)", (_AUTOMERGE,))

    def count(self) -> None:
        """Write the counters: at the end of each call, so that the transaction reads its own."""
        if self._messages:
            self._db.execute("UPDATE meta SET value = value + ? WHERE name = 'messages'", (self._messages,))
        if self._drift:
            self._db.execute("UPDATE meta SET value = ?1 WHERE name = 'drift' AND value < ?1", (self._drift,))
        self._messages = self._drift = 0

    def finish(self) -> None:
        """Write the new words: once a transaction, at its end."""
        self.count()
        if self._made_with is not None and not self._known.is_versioned:
            marking.first_row(self._db, self._made_with)
            self._known.is_versioned = True
        self._learn()
        self._fresh.clear()

    def _learn(self) -> None:
        """Put words into the word table; those that are there already cost a set look-up, their use is counted in bulk only."""
        if not self._fresh:
            return
        pruned = int(self._db.execute("SELECT coalesce(max(value), 0) FROM meta WHERE name = ?", (VOCABULARY,)).get)
        if pruned != self._known.pruned:
            self._known.clear()  # an erasure, perhaps of another process, took words out
            self._known.pruned = pruned
        bulk = len(self._fresh) > limits.LEARN_BULK_WORDS and self._known.counts_now()
        met = self._fresh.keys() if bulk else self._fresh.keys() - self._known
        words = sorted(word for word in met if word and ord(word[0]) < _WORDS_BELOW)
        if not words:
            return
        again = "UPDATE SET seen = seen + excluded.seen" if bulk else "NOTHING"  # an append writes no page for a word that is there
        times = limits.LEARN_BULK_EACH if bulk else 1
        self._db.executemany(
            f"INSERT INTO word (word, seen) VALUES (?, ?) ON CONFLICT (word) DO {again}",
            [(word, self._fresh[word] * times) for word in words],
        )
        if len(self._known) > limits.KNOWN_WORDS:
            self._known.clear()
        self._known.update(words)

    def _claim(self, timestamp: int) -> int:
        """The first free rowid from a message's second on, near enough: doubling steps, then halving back to a free one after a taken one."""
        second = rid = _seconds(timestamp)
        hint = self._hints.get(second)
        if hint is not None:
            rid = hint  # where this second's last message went: a burst then probes one rowid, not many
        if not self._taken(rid):
            return self._remember(second, rid)
        step = 1
        while self._taken(rid + step):
            rid += step
            step *= 2
        low, high = rid, rid + step  # low is taken, high is free
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._taken(middle) else (low, middle)
        return self._remember(second, high)

    def _remember(self, second: int, rid: int) -> int:
        if len(self._hints) > limits.ROWID_HINTS:
            self._hints.clear()
        self._hints[second] = rid + 1
        return rid

    def _taken(self, rid: int) -> bool:
        return bool(self._db.execute("SELECT EXISTS (SELECT 1 FROM entry WHERE rid = ?)", (rid,)).get)


def _seconds(timestamp: int) -> int:
    return min(max(timestamp // limits.SECONDS_MS, 1), _LAST_RID)


def rids_of(db: apsw.Connection, condition: str, bindings: Iterable[int]) -> list[tuple[int, int]]:
    """``(rid, flags)`` of the index rows that a condition on ``entry e`` names."""
    return [(row[0], row[1]) for row in db.execute(f"SELECT e.rid, e.flags FROM entry e WHERE {condition}", tuple(bindings))]

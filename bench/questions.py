"""The classes of questions that ``bench.search`` asks, made from a corpus and its word frequencies.

Refuses to know who answers them. Invariant: the questions of a class are distinct texts, and the same corpus gives the same questions.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from typing import Any, Final

from bench import generate, words

CLASSES: Final = (
    "rare word", "2 % word", "30 % word", "90 % word", "two words", "eight words", "phrase with a rare word", "phrase of common words",
    "phrase with no hit", "prefix of 3+", "prefix of 1-2", "no match", "plain question", "CJK 1", "CJK 2", "CJK 4", "one session",
    "200 keys", "newest first", "dates",
)  # fmt: skip
SHORT_PREFIX: Final = "prefix of 1-2"  # the one class with a bound of its own in the targets
UNMATCHED: Final = frozenset({"no match", "phrase with no hit"})  # where an empty answer is a right one
COMPARABLE: Final = frozenset(CLASSES[:9]) | {"one session", "200 keys"}  # where plain is asked the same thing, quotation marks apart
_RARE: Final = range(1, 21)  # messages that a rare word is in
_SAMPLE: Final = 4000  # messages kept to take phrases from
_ASKING: Final = ("where did we", "how do we", "what was the", "when should i", "who said that the", "why is the")


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked. ``options`` are keyword arguments of ``store.search``; ``tree`` asks as the session that sees 200 keys."""

    text: str
    options: Mapping[str, Any] = field(default_factory=dict)
    tree: bool = False


class Sample:
    """What questions are made from, gathered while a corpus passes by: some messages, and the tree's keys. Memory is bounded."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(f"sample {seed}")
        self.latin: list[tuple[str, str]] = []  # (session key, text)
        self.cjk: list[str] = []
        self.tree: list[str] = []
        self._seen = {True: 0, False: 0}

    def note(self, session: generate.Session) -> None:
        """Take part of a session into the sample."""
        if session.spawned_by or session.key == generate.TREE_ROOT:
            self.tree.append(session.key)
        for message in session.messages:
            if session.language == "latin":
                self._keep(self.latin, (session.key, message.text), latin=True)
            elif session.language in {"chinese", "japanese"}:
                self._keep(self.cjk, message.text, latin=False)

    def _keep(self, kept: list, one: object, *, latin: bool) -> None:
        seen = self._seen[latin] = self._seen[latin] + 1
        if len(kept) < _SAMPLE:
            kept.append(one)
        elif (place := self._rng.randrange(seen)) < _SAMPLE:
            kept[place] = one


def _plain(text: str) -> list[str]:
    return [word.strip(".?!:").lower() for word in text.split()]


def _spelt(chosen: Sequence[str]) -> Iterator[str]:
    """The words in every mixture of upper and lower case, the mixtures outermost: there are not 200 words in 90 % of all messages."""
    longest = max(map(len, chosen))
    for upper in product((False, True), repeat=longest):
        for word in chosen:
            if not any(upper[len(word) :]):
                yield "".join(c.upper() if big else c for c, big in zip(word, upper, strict=False))


class Maker:
    """Makes the questions of every class."""

    def __init__(self, sample: Sample, frequencies: Mapping[str, int], vocabulary: words.Vocabulary, seed: int) -> None:
        self._rng = random.Random(f"questions {seed}")
        self._sample = sample
        self._vocabulary = vocabulary
        self._frequency = frequencies
        self._rare = [word for word in vocabulary.rest if frequencies.get(word, 0) in _RARE]
        self._rng.shuffle(self._rare)
        self._known = set(vocabulary.words)

    def of(self, name: str, count: int) -> list[Question]:
        """Up to ``count`` distinct questions of a class (fewer when a corpus has no more)."""
        makers: dict[str, Callable[[], Iterator[Question]]] = {
            "rare word": lambda: map(Question, self._rare),
            "2 % word": lambda: map(Question, self._vocabulary.sometimes),
            "30 % word": lambda: map(Question, _spelt(self._vocabulary.often)),
            "90 % word": lambda: map(Question, _spelt(self._vocabulary.everywhere)),
            "two words": lambda: self._together(2),
            "eight words": lambda: self._together(8),
            "phrase with a rare word": lambda: self._phrases(rare=True),
            "phrase of common words": lambda: self._phrases(rare=False),
            "phrase with no hit": self._unsaid,
            "prefix of 3+": lambda: self._prefixes(3, 6),
            "prefix of 1-2": lambda: self._prefixes(1, 2),
            "no match": lambda: map(Question, words.made_up(count, self._rng, taken=set(self._known))),
            "plain question": self._asked,
            "CJK 1": lambda: self._characters(1),
            "CJK 2": lambda: self._characters(2),
            "CJK 4": lambda: self._characters(4),
            "one session": self._inside,
            "200 keys": lambda: (Question(one, tree=True) for one in self._mixed()),
            "newest first": lambda: (Question(one, {"order": "newest"}) for one in self._mixed()),
            "dates": self._dated,
        }
        distinct: dict[tuple, Question] = {}
        for question in islice(makers[name](), count * 20):
            distinct.setdefault((question.text, tuple(question.options.items())), question)
            if len(distinct) == count:
                break
        return list(distinct.values())

    def _messages(self) -> Iterator[tuple[str, list[str]]]:
        while True:
            key, text = self._rng.choice(self._sample.latin)
            yield key, _plain(text)

    def _mixed(self) -> Iterator[str]:
        """30 % words, 2 % words and rare ones in turn: a scope must be quick whatever is asked in it."""
        for three in zip(_spelt(self._vocabulary.often), self._vocabulary.sometimes, self._rare, strict=False):
            yield from three

    def _together(self, count: int) -> Iterator[Question]:
        """Words that one message has, not in its order."""
        for _, said in self._messages():
            distinct = sorted(set(said) & self._known)
            if len(distinct) >= count:
                yield Question(" ".join(self._rng.sample(distinct, count)))

    def _phrases(self, *, rare: bool) -> Iterator[Question]:
        """Three or four adjacent words of a message, in quotation marks."""
        common = set(self._vocabulary.everywhere) | set(self._vocabulary.often)
        for _, said in self._messages():
            size = self._rng.randint(3, 4) if rare else self._rng.randint(2, 4)
            for begin in range(len(said) - size):
                part = said[begin : begin + size]
                fits = any(self._frequency.get(word, 0) in _RARE and word in self._known for word in part) if rare else set(part) <= common
                if fits:
                    yield Question(f'"{" ".join(part)}"')
                    break

    def _unsaid(self) -> Iterator[Question]:
        """Four to eight words of the commonest, in a row that nobody said: the dearest phrase to look for."""
        common = self._vocabulary.everywhere + self._vocabulary.often[:6]
        while True:
            size = self._rng.choice((4, 8))
            row = self._rng.sample(self._vocabulary.often, 2) + self._rng.sample(common, size - 2)
            yield Question(f'"{" ".join(row)}"')

    def _prefixes(self, least: int, most: int) -> Iterator[Question]:
        # Ten of the commonest and ten of the rest in turn: a beginning that many words share, and one that few do.
        while True:
            word = self._rng.choice(self._rng.choice((self._vocabulary.words[:400], self._vocabulary.rest)))
            yield Question(word[: self._rng.randint(least, most)] + "*")

    def _asked(self) -> Iterator[Question]:
        """A question in plain language: asking words that the corpus has not, common ones, and two or three that a message has."""
        for _, said in self._messages():
            telling = sorted({word for word in said if word in self._known and self._frequency.get(word, 0) in range(2, 2000)})
            if len(telling) >= 3:
                common = self._rng.sample(self._vocabulary.everywhere, 2)
                about = self._rng.sample(telling, self._rng.randint(2, 3))
                yield Question(f"{self._rng.choice(_ASKING)} {common[0]} {about[0]} {common[1]} {' '.join(about[1:])}?")

    def _characters(self, size: int) -> Iterator[Question]:
        while self._sample.cjk:
            text = self._rng.choice(self._sample.cjk)
            begin = self._rng.randrange(max(1, len(text) - size))
            part = text[begin : begin + size]
            if len(part) == size and all("぀" <= c <= "ヿ" or "一" <= c <= "鿿" for c in part):
                yield Question(part)

    def _inside(self) -> Iterator[Question]:
        for key, said in self._messages():
            word = self._rng.choice([word for word in said if word in self._known] or self._vocabulary.often)
            yield Question(word, {"session_key": key})

    def _dated(self) -> Iterator[Question]:
        """A month, a week or a day somewhere in the year, for words of every frequency."""
        for one in self._mixed():
            span = self._rng.choice((30, 7, 1))
            day = self._rng.randrange(365 - span)
            yield Question(one, {"after": _date(day), "before": _date(day + span)})


def _date(day: int) -> str:
    return generate.iso(generate.YEAR_BEGINS + day * 86_400_000)[:10]

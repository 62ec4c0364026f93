"""Seeded corpora: chat sessions as values, and Claude Code transcripts as files.

Refuses to know what they are loaded into. Invariants: the same arguments give the same corpus, byte for byte; memory is bounded by one
session (a plan of lengths and beginnings apart); Latin words fall into bands of about 90 %, 30 % and 2 % of the messages, and a long rare tail.
"""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from bench import words

SEED: Final = 20260101
YEAR_BEGINS: Final = 1_735_689_600_000  # 2025-01-01, Unix milliseconds
YEAR_MS: Final = 365 * 86_400_000
TREE: Final = 200  # sessions of the tree that one caller sees, itself included
TREE_ROOT: Final = "agent:main:chat:lead"
_LANGUAGES: Final = ("latin", "chinese", "vietnamese", "japanese", "thai")
_SHARES: Final = (0.95, 0.02, 0.01, 0.01, 0.01)  # of sessions; small, so that a Latin word can be in 90 % of all messages
_WORDS: Final = 60  # a message's mean


@dataclass(frozen=True, slots=True)
class Message:
    """One thing said. ``timestamp`` in Unix milliseconds."""

    role: str
    text: str
    timestamp: int


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation; ``spawned_by`` is the key of the session that started it, which was yielded before."""

    key: str
    spawned_by: str | None
    language: str
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class _Planned:
    start: int
    length: int


def _plan(messages: int, rng: random.Random) -> list[_Planned]:
    """Long-tailed session lengths (median 14, mean about 30, at most 2 000) that add up to ``messages``, by beginning."""
    planned: list[_Planned] = []
    left = messages
    while left:
        length = min(left, 2000, max(2, int(rng.lognormvariate(2.65, 1.15))))
        planned.append(_Planned(YEAR_BEGINS + rng.randrange(YEAR_MS - 14 * 86_400_000), length))
        left -= length
    return sorted(planned, key=lambda one: one.start)


class Writer:
    """Makes sentences; one for a corpus, so that topics and rare things follow one another reproducibly."""

    def __init__(self, seed: int) -> None:
        self.vocabulary = words.Vocabulary.of(seed)
        self.rng = random.Random(f"text {seed}")

    def topic(self) -> list[str]:
        """A dozen words that a session keeps coming back to."""
        return self.rng.choices(self.vocabulary.rest[:20_000], k=12)

    def latin(self, count: int, topic: list[str]) -> str:
        """About ``count`` words in sentences, now and then with an identifier as technical chat has them."""
        rng = self.rng
        picked = self.vocabulary.pick(rng, count)
        for _ in range(max(1, count // 15)):
            picked[rng.randrange(count)] = rng.choice(topic)
        if rng.random() < 0.2:
            picked[rng.randrange(count)] = rng.choice(
                (
                    f"{rng.getrandbits(48):012x}",
                    f"src/{rng.choice(topic)}_{rng.choice(topic)}.py",
                    f"{topic[0].upper()}-{rng.randrange(9999)}",
                )
            )
        begin = 0
        while begin < count:
            end = min(count, begin + rng.randint(5, 18))
            picked[begin] = picked[begin].capitalize()
            picked[end - 1] += rng.choice(".....?!:")
            begin = end
        return " ".join(picked)

    def text(self, language: str, count: int, topic: list[str]) -> str:
        """A message of about ``count`` words of a language; half of the foreign ones hold a Latin word too."""
        rng = self.rng
        if language == "latin":
            return self.latin(count, topic)
        if language == "chinese":
            picked = rng.choices(self.vocabulary.hanzi, cum_weights=self.vocabulary.hanzi_cumulative, k=count)
            stop = "。"
        else:
            picked = rng.choices({"japanese": words.JAPANESE, "vietnamese": words.VIETNAMESE, "thai": words.THAI}[language], k=count)
            stop = {"japanese": "。", "vietnamese": ".", "thai": " "}[language]
        if rng.random() < 0.5:
            picked[rng.randrange(count)] = f" {rng.choice(topic)} "
        gap = " " if language == "vietnamese" else ""
        return gap.join(word + (stop if place % 9 == 8 else "") for place, word in enumerate(picked))


def sessions(messages: int, *, seed: int = SEED) -> Iterator[Session]:
    """A corpus of exactly ``messages`` messages over one year, session by session in the order of their beginnings.

    The first session is ``TREE_ROOT``; 199 others (fewer in a corpus that has fewer) are below it, a quarter of them two levels down.
    """
    rng = random.Random(f"sessions {seed} {messages}")
    planned = _plan(messages, rng)
    below = set(rng.sample(range(1, len(planned)), min(TREE - 1, len(planned) - 1)))
    writer = Writer(seed)
    parents = [TREE_ROOT]
    for number, one in enumerate(planned):
        language = rng.choices(_LANGUAGES, _SHARES)[0]
        key = TREE_ROOT if number == 0 else f"agent:main:chat:s{number:06}"
        parent = None
        if number in below:
            key = f"agent:main:subagent:s{number:06}"
            parent = rng.choice(parents[1:]) if len(parents) > 4 and rng.random() < 0.25 else TREE_ROOT
            if parent == TREE_ROOT:
                parents.append(key)
        yield Session(key, parent, language, tuple(_messages(one, language, writer, rng)))


def _messages(one: _Planned, language: str, writer: Writer, rng: random.Random) -> Iterator[Message]:
    topic = writer.topic()
    now = one.start
    for place in range(one.length):
        role = "assistant" if place % 2 else "user"
        mean = _WORDS * (1.3 if role == "assistant" else 0.8)
        count = min(600, max(8, int(rng.gammavariate(3, mean / 3))))
        yield Message(role, writer.text(language, count, topic), now)
        now += int(rng.expovariate(1 / 90_000)) + 1000


# ── Claude Code ──────────────────────────────────────────────────────────────────────────────────────────────────
@dataclass(frozen=True, slots=True)
class Shape:
    """What a Claude Code corpus looks like: ``messages`` a person or the assistant said, ``tools`` calls with their output."""

    sessions: int
    messages: int
    words: int  # of a message, on average
    tools: int  # calls a session
    output_bytes: int  # of a call's output, on average


TALK: Final = Shape(sessions=2200, messages=44_000, words=238, tools=0, output_bytes=0)  # 110 MB, nearly all of it text
TOOLS: Final = Shape(sessions=2200, messages=17_600, words=22, tools=3, output_bytes=14_900)  # 110 MB, nine tenths of it tool output


@dataclass(frozen=True, slots=True)
class Written:
    """What was written, for the account to be checked against."""

    files: int
    messages: int
    lines: int
    size: int


def claude_code(folder: Path, shape: Shape, *, seed: int = SEED) -> Written:
    """Write a corpus of main transcripts under ``folder``/projects, one file a session."""
    rng = random.Random(f"claude {seed} {shape}")
    writer = Writer(seed)
    noise = _Noise(rng)
    said = lines = size = 0
    for number in range(shape.sessions):
        session = str(uuid.UUID(int=rng.getrandbits(128), version=4))
        project = f"-home-dev-project{number % 40}"
        home = folder / "projects" / project
        home.mkdir(parents=True, exist_ok=True)
        count = shape.messages * (number + 1) // shape.sessions - shape.messages * number // shape.sessions
        body = b"".join(_transcript(session, project, count, shape, writer, noise))
        (home / f"{session}.jsonl").write_bytes(body)
        said += count
        lines += body.count(b"\n")
        size += len(body)
    return Written(shape.sessions, said, lines, size)


class _Noise:
    """Tool output: lines of paths, numbers and log text, cut from one block so that 100 MB cost seconds."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._lines = [
            f"{rng.randrange(10**6):06} src/{'/'.join(words.made_up(3, rng, taken=set()))}.py:{rng.randrange(900)}: {rng.getrandbits(64):016x} ok\n"
            for _ in range(4000)
        ]

    def output(self, size: int) -> str:
        rng = self._rng
        want = max(200, int(rng.gammavariate(1.5, size / 1.5)))
        place = rng.randrange(len(self._lines))
        taken: list[str] = []
        got = 0
        while got < want:
            line = self._lines[(place + len(taken)) % len(self._lines)]
            taken.append(line)
            got += len(line)
        return "".join(taken)


def _transcript(session: str, project: str, count: int, shape: Shape, writer: Writer, noise: _Noise) -> Iterator[bytes]:
    rng = writer.rng
    topic = writer.topic()
    now = YEAR_BEGINS + rng.randrange(YEAR_MS - 86_400_000)
    parent: str | None = None
    tools = shape.tools
    for place in range(count):
        role = "assistant" if place % 2 else "user"
        text = writer.latin(max(4, int(rng.gammavariate(3, shape.words / 3))), topic)
        steps: list[tuple[str, object]] = [(role, text if role == "user" else [{"type": "text", "text": text}])]
        if role == "assistant":
            for _ in range(-(-tools // max(1, (count - place + 1) // 2))):
                call = f"toolu_{rng.getrandbits(64):016x}"
                steps.append(("assistant", [{"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "make " + topic[0]}}]))
                steps.append(("user", [{"type": "tool_result", "tool_use_id": call, "content": noise.output(shape.output_bytes)}]))
                tools -= 1
        for who, content in steps:
            now += rng.randrange(1000, 120_000)
            made = str(uuid.UUID(int=rng.getrandbits(128), version=4))
            record = {
                "parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": project.replace("-", "/"), "sessionId": session,
                "version": "2.0.14", "type": who, "message": {"role": who, "content": content}, "uuid": made, "timestamp": iso(now),
            }  # fmt: skip
            yield json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
            parent = made


def iso(milliseconds: int) -> str:
    """A moment as Claude Code writes it."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

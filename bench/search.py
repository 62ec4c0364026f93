"""``python -m bench.search``: every class of questions, ours beside **plain** and **floor**, in one process.

Absolute figures are milliseconds of one call in process, policy, redaction and excerpt included. ``ratio`` is plain's median over ours: how many times
faster ours is. ``processor p95`` is the thread's own work, which other people's load does not stretch. A baseline that is slow is asked fewer questions (at least seven) of a class; ours is asked all of them.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bench import generate, questions
from bench.baselines.floor import Floor
from bench.baselines.plain import INNER, Plain
from bench.common import Report, folder, median, percentile, timed

CLASS_QUESTIONS: Final = 200
QUICK_QUESTIONS: Final = 30
_LIMIT: Final = 10
_LEAST: Final = 7  # a median of fewer says nothing
_BASELINE_MS: Final = 3000  # a baseline's share of a class, beyond its seven questions
_BATCH: Final = 10_000
_WORD_CLASSES: Final = frozenset({"rare word", "2 % word", "30 % word", "90 % word"})  # where plain is measured in both its statements


def ours() -> Any:
    """The package, or None while it cannot be opened (a bench of the baselines alone is still worth having)."""
    import wesaid  # here: the baselines are measured also where it is not installed

    return wesaid if hasattr(wesaid, "open") else None


@dataclass(slots=True)
class Corpus:
    """One corpus in three layouts, and what questions are made from."""

    sample: questions.Sample
    plain: Plain
    floor: Floor
    store: Any
    text_bytes: int = 0
    loading: dict[str, float] = field(default_factory=dict)


def load(messages: int, home: Path, package: Any) -> Corpus:
    """Fill whatever is not there yet; a kept folder of the same size is used again."""
    plain, floor = Plain(home / "plain.sqlite"), Floor(home / "floor.sqlite")
    corpus = Corpus(questions.Sample(generate.SEED), plain, floor, package.open(home=home / "ours") if package else None)
    spent = dict.fromkeys(("plain", "floor", "ours"), 0.0)
    done = {name: (home / f"{name}.{messages}").exists() for name in spent}

    def fill(name: str, call: Callable[[], Any]) -> None:
        if not done[name]:
            spent[name] += timed(call)[0]

    for session in generate.sessions(messages):
        corpus.sample.note(session)
        said = session.messages
        corpus.text_bytes += sum(len(one.text.encode()) for one in said)
        key = session.key
        fill("plain", lambda: plain.add([(m.text, key, f"{key}#{n}", m.role, m.timestamp) for n, m in enumerate(said)]))  # noqa: B023 - called at once
        fill("floor", lambda: floor.add([(key, m.role, m.text, m.timestamp) for m in said]))  # noqa: B023
        if corpus.store is not None:
            fill("ours", lambda: _append(corpus.store, session))  # noqa: B023
    fill("plain", plain.settle)
    fill("floor", floor.settle)
    for name in spent:
        if name != "ours" or corpus.store is not None:
            (home / f"{name}.{messages}").touch()
    corpus.loading = {name: ms for name, ms in spent.items() if ms}
    return corpus


def _append(store: Any, session: generate.Session) -> None:
    chat = store.session(session.key, create=True, spawned_by=session.spawned_by)
    for begin in range(0, len(session.messages), _BATCH):
        chat.append_many([{"role": m.role, "text": m.text, "timestamp": m.timestamp} for m in session.messages[begin : begin + _BATCH]])


class Contest:
    """Asks the three the same question."""

    def __init__(self, corpus: Corpus, package: Any) -> None:
        self._corpus = corpus
        self._package = package
        self.found = 0
        self.processor: list[float] = []  # milliseconds of this thread's own work in each of our answers

    def plain(self, asked: questions.Question) -> float:
        """Milliseconds of plain, which takes quotation marks for letters, as OpenClaw does."""
        keys = self._corpus.sample.tree if asked.tree else None
        if "session_key" in asked.options:
            keys = [asked.options["session_key"]]
        return timed(lambda: self._corpus.plain.search(asked.text.strip('"*'), limit=_LIMIT, keys=keys))[0]

    def inner(self, asked: questions.Question) -> float:
        """Milliseconds of plain with its rows ranked before any text is read: not OpenClaw's statement, but the best that its layout can do."""
        before, self._corpus.plain.statement = self._corpus.plain.statement, INNER
        try:
            return self.plain(asked)
        finally:
            self._corpus.plain.statement = before

    def floor(self, asked: questions.Question) -> float:
        """Milliseconds of the newest-first walk without anything around it."""
        return timed(lambda: self._corpus.floor.newest(asked.text.strip('"*'), limit=_LIMIT))[0]

    def ours(self, asked: questions.Question) -> float:
        """Milliseconds of ours."""
        caller = self._package.Caller(generate.TREE_ROOT) if asked.tree else self._package.OPERATOR
        begin = time.thread_time_ns()
        spent, page = timed(lambda: self._corpus.store.search(asked.text, caller=caller, limit=_LIMIT, **asked.options))
        self.processor.append((time.thread_time_ns() - begin) / 1e6)
        self.found += bool(page.hits)
        return spent


def measure(name: str, asked: list[questions.Question], contest: Contest, report: Report, *, with_ours: bool) -> float | None:
    """Run one class interleaved and report it; the class's p95 of ours."""
    seen: dict[str, list[float]] = {"ours": [], "plain": [], "inner": [], "floor": []}
    contest.found = 0
    contest.processor.clear()
    for turn, question in enumerate(asked):
        order = [who for who in seen if (with_ours or who != "ours") and (name in _WORD_CLASSES or who != "inner")]
        for place in range(len(order)):
            who = order[(turn + place) % len(order)]
            if who == "ours" or len(seen[who]) < _LEAST or sum(seen[who]) < _BASELINE_MS:
                seen[who].append(getattr(contest, who)(question))
    middle = {who: median(spent) for who, spent in seen.items() if spent}
    for who in ("plain", "inner", "floor"):
        if who in middle:
            report.add(f"{who} · {name} · p50", middle[who], "ms")
    if not with_ours:
        report.add(f"plain · {name} · p95", percentile(seen["plain"], 0.95), "ms")
        return None
    last = percentile(seen["ours"], 0.95)
    same = name in questions.COMPARABLE
    against = {"baseline": middle["plain"], "ratio": middle["plain"] / middle["ours"]} if same else {}
    report.add(f"search · {name} · p50", middle["ours"], "ms", **against)
    report.add(f"search · {name} · p95", last, "ms", baseline=percentile(seen["plain"], 0.95) if same else None)
    report.add(f"search · {name} · processor p95", percentile(contest.processor, 0.95), "ms")
    report.add(f"search · {name} · max", max(seen["ours"]), "ms")
    if name not in questions.UNMATCHED:
        report.add(f"search · {name} · answered", contest.found / len(asked), "share")
    return last


def main() -> None:
    """Build, ask, report."""
    parser = argparse.ArgumentParser(prog="bench.search", description=__doc__.partition("\n")[0])
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_QUESTIONS} questions a class")
    parser.add_argument("--only", action="append", choices=questions.CLASSES, help="a class; may be repeated")
    parser.add_argument("--data", help="keep the databases in this folder, and use them again")
    chosen = parser.parse_args()
    package = ours()
    report = Report("search")
    with folder(chosen.data) as home:
        corpus = load(chosen.messages, home, package)
        for who, spent in corpus.loading.items():
            report.add(f"load · {who}", chosen.messages / spent * 1000, "messages/s")
        _sizes(report, corpus, home)
        frequencies = corpus.floor.frequencies()
        maker = questions.Maker(corpus.sample, frequencies, generate.Writer(generate.SEED).vocabulary, generate.SEED)
        del frequencies
        contest = Contest(corpus, package)
        gc.collect()
        _warm(corpus, package)
        worst: list[tuple[float, str]] = []
        for name in chosen.only or questions.CLASSES:
            asked = maker.of(name, QUICK_QUESTIONS if chosen.quick else CLASS_QUESTIONS)
            last = measure(name, asked, contest, report, with_ours=package is not None)
            if last is not None:
                worst.append((last, name))
        if worst:
            last, name = max(worst)
            report.add(f"search · worst class ({name}) · p95", last, "ms")
        corpus.plain.close()
        corpus.floor.close()
        if corpus.store is not None:
            corpus.store.close()
    print(f"written to {report.close()}")


def _warm(corpus: Corpus, package: Any) -> None:
    """One question each before the clock runs: opening files is not what is measured."""
    corpus.plain.search("warm up")
    corpus.floor.newest("warm up")
    if corpus.store is not None:
        corpus.store.search("warm up", caller=package.OPERATOR)


def _sizes(report: Report, corpus: Corpus, home: Path) -> None:
    report.add("text", corpus.text_bytes / 1e6, "MB")
    report.add("size / text · plain", corpus.plain.bytes() / corpus.text_bytes, "×")
    report.add("size / text · floor", corpus.floor.bytes() / corpus.text_bytes, "×")
    files = [one for one in (home / "ours").rglob("*") if one.is_file() and "-wal" not in one.name and "-shm" not in one.name]
    if files:
        report.add("size / text · ours", sum(one.stat().st_size for one in files) / corpus.text_bytes, "×")


if __name__ == "__main__":
    main()

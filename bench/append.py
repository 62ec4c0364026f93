"""``python -m bench.append``: one transaction a message of 100 words, ours beside **floor** at the same ``synchronous``.

Blocks of messages alternate, so that a busy moment of the machine hits both. ``ratio`` is ours over the floor in messages a second: the share of what
SQLite can do at all that is left after policy, redaction, folding, path and index. Then the same while another thread searches.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

from bench import generate
from bench.baselines.floor import Floor
from bench.common import Report, folder, interleave, median, percentile, timed
from bench.search import ours

_WORDS: Final = 100
_BLOCK: Final = 100  # messages of one contestant before the other's turn
_ROUNDS: Final = 15
_QUICK_ROUNDS: Final = 7
_SEARCHES_A_SECOND: Final = 50  # of the searching thread: a busy person's tools, not a load test
_SYNCHRONOUS: Final = "WESAID_STORE_SYNCHRONOUS"


def texts(seed: int = generate.SEED) -> Iterator[str]:
    """Messages of 100 words, without end."""
    writer = generate.Writer(seed)
    topic = writer.topic()
    for number in itertools.count(1):
        if number % 30 == 0:
            topic = writer.topic()
        yield writer.latin(_WORDS, topic)


def block(append: Callable[[str], Any], said: Iterator[str], spent: list[float]) -> float:
    """Append one block; messages a second, each one's milliseconds added to ``spent``."""
    prepared = list(itertools.islice(said, _BLOCK))
    begin = time.perf_counter()
    spent.extend(timed(partial(append, text))[0] for text in prepared)
    return len(prepared) / (time.perf_counter() - begin)


def level(synchronous: str, home: Path, package: Any, report: Report, *, rounds: int, before: int) -> None:
    """Everything at one ``synchronous``, into databases that hold ``before`` messages already."""
    os.environ[_SYNCHRONOUS] = synchronous
    said, clock = texts(), itertools.count(generate.YEAR_BEGINS, 1000)
    floor = Floor(home / f"floor-{synchronous}.sqlite", synchronous=synchronous)
    store = package.open(home=home / f"ours-{synchronous}") if package else None
    for session in generate.sessions(before):
        rows = [(session.key, one.role, one.text, one.timestamp) for one in session.messages]
        floor.add(rows)
        if store is not None:
            store.session(session.key, create=True).append_many([{"role": r, "text": t, "timestamp": at} for _, r, t, at in rows])
    spent: dict[str, list[float]] = {"floor": [], "ours": []}
    contestants = {"floor": lambda _: block(lambda text: floor.append("bench", "user", text, next(clock)), said, spent["floor"])}
    chat = None
    if store is not None:
        chat = store.session("agent:main:chat:bench", create=True)
        contestants["ours"] = lambda _: block(lambda text: chat.append("user", text), said, spent["ours"])
    rates = {name: median(rate) for name, rate in interleave(contestants, rounds).items()}
    report.add(f"append · floor · {synchronous}", rates["floor"], "messages/s")
    report.add(f"append · floor · {synchronous} · p99", percentile(spent["floor"], 0.99), "ms")
    if store is not None:
        report.add(
            f"append · ours · {synchronous}", rates["ours"], "messages/s", baseline=rates["floor"], ratio=rates["ours"] / rates["floor"]
        )
        report.add(f"append · ours · {synchronous} · p50", median(spent["ours"]), "ms", baseline=median(spent["floor"]))
        report.add(f"append · ours · {synchronous} · p99", percentile(spent["ours"], 0.99), "ms", baseline=percentile(spent["floor"], 0.99))
        _while_searching(synchronous, store, chat, said, package, report, rounds)
        store.close()
    floor.close()


def _while_searching(synchronous: str, store: Any, chat: Any, said: Iterator[str], package: Any, report: Report, rounds: int) -> None:
    words = generate.Writer(generate.SEED).vocabulary
    asked = itertools.cycle(random.Random(1).sample(words.often + words.sometimes, 100))
    stop, searches = threading.Event(), []

    def search() -> None:
        while not stop.wait(1 / _SEARCHES_A_SECOND):
            searches.append(timed(lambda: store.search(next(asked), caller=package.OPERATOR))[0])

    thread = threading.Thread(target=search, name="searching", daemon=True)
    thread.start()
    spent: list[float] = []
    try:
        rates = [block(lambda text: chat.append("user", text), said, spent) for _ in range(rounds)]
    finally:
        stop.set()
        thread.join()
    report.add(f"append · ours · {synchronous} · searching", median(rates), "messages/s")
    report.add(f"append · ours · {synchronous} · searching · p99", percentile(spent, 0.99), "ms")
    if searches:
        report.add(f"search · {synchronous} · appending · p95", percentile(searches, 0.95), "ms")


def main() -> None:
    """NORMAL, then FULL."""
    parser = argparse.ArgumentParser(prog="bench.append", description=__doc__.partition("\n")[0])
    parser.add_argument("--messages", type=int, default=100_000, help="already there before the clock runs")
    parser.add_argument("--quick", action="store_true", help=f"{_QUICK_ROUNDS} rounds, a tenth of the messages before")
    parser.add_argument("--data", help="keep the databases in this folder (it must be empty)")
    chosen = parser.parse_args()
    report = Report("append")
    with folder(chosen.data) as home:
        for synchronous in ("NORMAL", "FULL"):
            rounds = _QUICK_ROUNDS if chosen.quick else _ROUNDS
            before = chosen.messages // 10 if chosen.quick else chosen.messages
            level(synchronous, home, ours(), report, rounds=rounds, before=before)
    print(f"written to {report.close()}")


if __name__ == "__main__":
    main()

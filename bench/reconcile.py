"""``python -m bench.reconcile``: rewinding, and making an index anew: how long, what searches feel meanwhile, and how much memory it takes.

A re-index is what a repair or a change of rules needs: the index is dropped and every message prepared and indexed again. ``ratio`` is the searches' p95
while that runs in the background of the searching process over their p95 before; of a rewind by one message, the time in a session of 100 000
messages over that in one of 100.
"""

from __future__ import annotations

import argparse
import os
import re
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self

from bench import generate
from bench.common import Report, folder, median, percentile, timed
from bench.erase import fill, searching
from bench.search import ours

_SEARCHES: Final = 300
_ROUNDS: Final = 9
_LONG: Final = 10_000  # messages of the session that is rewound
_BACK: Final = 100
_TARGET: Final = "the very last abandoned walrus"
_KIB: Final = 1024


def rewinding(report: Report, package: Any, store: Any, length: int) -> float:
    """Rewinding a session of ``length`` messages by ``_BACK``, and by one; the median of the latter in ms."""
    chat = store.session(f"agent:main:chat:long{length}", create=True)
    writer = generate.Writer(3)
    topic = writer.topic()
    said: list[str] = []
    for _ in range(0, length, 1000):
        messages = [{"role": "user", "text": writer.latin(60, topic)} for _ in range(min(1000, length))]
        said += [one.message_id for one in chat.append_many(messages)]
    answers, complete, ones = [], [], []
    for number in range(_ROUNDS):
        more = chat.append_many([{"role": "user", "text": f"{_TARGET} {number} {place}"} for place in range(_BACK)])
        answers.append(timed(lambda: chat.rewind(said[-1]))[0])
        page = store.search(_TARGET, caller=package.OPERATOR, session_key=chat.key)
        complete.append(not page.indexing and not page.hits)
        chat.switch(more[-1].message_id)  # back on the abandoned branch: now all of it has to be indexed
        spent, page = timed(lambda: store.search(f'"{_TARGET}"', caller=package.OPERATOR, session_key=chat.key, limit=25))
        complete.append(not page.indexing and len(page.hits) == min(_BACK * 1, 25))
        answers.append(timed(lambda: chat.rewind(said[-1]))[0])
        last = chat.append("user", "one more thing")
        ones.append(timed(lambda: chat.rewind(said[-1]))[0])
        del last, spent
    if length == _LONG:
        report.add(f"rewind · {_BACK} of {length} messages · answer p50", median(answers), "ms")
        report.add(f"rewind · {_BACK} of {length} messages · answer worst", max(answers), "ms")
        report.add("rewind and switch · next search complete within the default wait", sum(complete) / len(complete), "share")
    return median(ones)


class Memory:
    """The most memory that this process and those it started had at once, besides pages of files (Linux; elsewhere 0), in bytes."""

    def __init__(self) -> None:
        self.first = self.most = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self.first = self.now()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(0.1):
            self.most = max(self.most, self.now())

    @staticmethod
    def now() -> int:
        """At this moment."""
        parents: dict[int, list[int]] = {}
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                parents.setdefault(int(stat.read_text().rpartition(")")[2].split()[1]), []).append(int(stat.parent.name))
        waiting, total = [os.getpid()], 0
        while waiting:
            number = waiting.pop()
            waiting += parents.get(number, [])
            with suppress(OSError):
                found = re.search(r"RssAnon:\s+(\d+)", Path(f"/proc/{number}/status").read_text())
                total += int(found[1]) * _KIB if found else 0
        return total


def _drop(store: Any) -> None:
    with store._home.store("main").writing() as writer:  # noqa: SLF001 - what `doctor --fix` does
        writer.drop_index()


def _left(store: Any) -> int:
    with store._home.store("main").reading() as view:  # noqa: SLF001
        return int(view.totals()["stale"])


def reindexing(report: Report, package: Any, store: Any, messages: int) -> None:
    """The whole index anew: idle, and while people search."""
    searching(package, store, lambda count: count < _SEARCHES)  # warm
    alone = searching(package, store, lambda count: count < _SEARCHES)
    _drop(store)
    with Memory() as memory:
        begin = time.perf_counter()
        left = store.reconcile(seconds=600)
        spent = time.perf_counter() - begin
    assert left == 0
    report.add(f"re-index · {messages} messages · idle", spent, "s")
    report.add("re-index · memory more, its processes included", (memory.most - memory.first) / 1e6, "MB")
    _drop(store)
    with Memory() as memory:
        begin = time.perf_counter()
        meanwhile = searching(package, store, lambda count: count < _SEARCHES or ((count % 20 or _left(store) > 0) and count < 50_000))
        spent = time.perf_counter() - begin
    report.add("re-index · while searches run", spent, "s")
    report.add("re-index · memory more, while searches run", (memory.most - memory.first) / 1e6, "MB")
    before, during = percentile(alone, 0.95), percentile(meanwhile, 0.95)
    report.add("search · while re-indexing · p95", during, "ms", baseline=before, ratio=during / before)


def main() -> None:
    """Build, rewind, drop, make anew."""
    parser = argparse.ArgumentParser(prog="bench.reconcile", description=__doc__.partition("\n")[0])
    parser.add_argument("--messages", type=int, default=100_000, help="in the store")
    parser.add_argument("--data", help="keep the database in this folder (it must be empty)")
    chosen = parser.parse_args()
    report = Report("reconcile")
    package = ours()
    if package is None:
        raise SystemExit("wesaid cannot be imported")
    with folder(chosen.data) as home:
        with package.open(home=Path(home) / "home") as store:
            fill(store, chosen.messages)
            reindexing(report, package, store, chosen.messages)
        with package.open(home=Path(home) / "rewinds") as store:
            short = rewinding(report, package, store, _BACK)
            rewinding(report, package, store, _LONG)
            long = rewinding(report, package, store, chosen.messages)
            report.add(f"rewind · one of {chosen.messages} messages", long, "ms", baseline=short, ratio=long / short)
    print(f"written to {report.close()}")


if __name__ == "__main__":
    main()

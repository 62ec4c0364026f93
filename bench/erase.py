"""``python -m bench.erase``: deleting a 100-message session: how soon it is unfindable, how long its bytes stay, and what searches feel meanwhile.

Erasing runs in a process of its own, as it does behind a command line, while this one searches. ``ratio`` is the searches' p95 while it runs over
their p95 before.
"""

from __future__ import annotations

import argparse
import itertools
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from bench import generate
from bench.common import Report, folder, median, percentile, timed
from bench.search import ours

_MESSAGES: Final = 100  # of each session that is deleted
_SESSIONS: Final = 8  # that are deleted, each measured alone
_SEARCHES: Final = 200
_ERASE: Final = """
import sys, time, wesaid
with wesaid.open(sys.argv[1]) as store:
    begin = time.perf_counter()
    while True:
        store.reconcile(seconds=1)
        with store._home.store("main").reading() as view:
            if not view.unerased():
                break
    print(time.perf_counter() - begin)
"""


def fill(store: Any, messages: int) -> list[str]:
    """The store with its messages, the sessions to delete spread among them; their keys."""
    writer, doomed = generate.Writer(1), []
    every = max(messages // _SESSIONS, 1)
    done = 0
    for session in generate.sessions(messages):
        store.session(session.key, create=True).append_many(
            [{"role": one.role, "text": one.text, "timestamp": one.timestamp} for one in session.messages]
        )
        done += len(session.messages)
        if done >= every * (len(doomed) + 1) or done >= messages:
            key = f"agent:main:chat:doomed{len(doomed)}"
            topic = writer.topic()
            said = [
                {"role": "user", "text": writer.latin(60, topic), "timestamp": session.messages[0].timestamp + n} for n in range(_MESSAGES)
            ]
            store.session(key, create=True).append_many(said)
            doomed.append(key)
    return doomed


def searching(package: Any, store: Any, go_on: Callable[[int], bool]) -> list[float]:
    """Milliseconds of distinct searches, as long as ``go_on`` says."""
    words = generate.Writer(generate.SEED).vocabulary
    asked = itertools.cycle(random.Random(2).sample(words.often + words.sometimes, 100))
    spent: list[float] = []
    while go_on(len(spent)):
        query = f"{next(asked)} {next(asked)}"
        spent.append(timed(lambda: store.search(query, caller=package.OPERATOR))[0])  # noqa: B023 (used at once)
    return spent


def measure(home: Path, messages: int, report: Report, package: Any) -> None:
    """Everything, in a store of so many messages."""
    with package.open(home=home) as store:
        doomed = fill(store, messages)
        searching(package, store, lambda count: count < _SEARCHES)  # warm
        alone = searching(package, store, lambda count: count < _SEARCHES)
        *early, proven = doomed
        spent = [timed(store.session(key).delete)[0] for key in early]
        report.add("delete · unfindable · p50", median(spent), "ms")
        report.add("delete · unfindable · worst", max(spent), "ms")
        child = subprocess.Popen([sys.executable, "-c", _ERASE, str(home)], stdout=subprocess.PIPE, text=True)
        slow = threading.Event()
        appended: list[float] = []
        chat = store.session("agent:main:chat:meanwhile", create=True)

        def append() -> None:
            while not slow.wait(0.02):
                appended.append(timed(lambda: chat.append("user", "said while something else is being erased"))[0])

        thread = threading.Thread(target=append, daemon=True)
        thread.start()
        meanwhile = searching(package, store, lambda _: child.poll() is None)
        slow.set()
        thread.join()
        assert child.stdout is not None
        report.add(f"erase · {len(early)} sessions at once · background", float(child.stdout.read()), "s")
        before, during = percentile(alone, 0.95), percentile(meanwhile, 0.95)
        report.add("search · while erasing · p95", during, "ms", baseline=before, ratio=during / before)
        report.add("append · while erasing · p99", percentile(appended, 0.99), "ms")
        begin = time.perf_counter()
        store.session(proven).delete(wait=True)
        report.add("delete --wait · erased and proven", time.perf_counter() - begin, "s")
        report.add("file", sum(path.stat().st_size for path in home.rglob("agent.sqlite*")) / 1e6, "MB")


def main() -> None:
    """Build, delete, erase, prove."""
    parser = argparse.ArgumentParser(prog="bench.erase", description=__doc__.partition("\n")[0])
    parser.add_argument("--messages", type=int, default=100_000, help="in the store")
    parser.add_argument("--data", help="keep the database in this folder (it must be empty)")
    chosen = parser.parse_args()
    report = Report("delete")
    package = ours()
    if package is None:
        raise SystemExit("wesaid cannot be imported")
    with folder(chosen.data) as home:
        measure(home / "home", chosen.messages, report, package)
    print(f"written to {report.close()}")


if __name__ == "__main__":
    main()

"""``python -m bench.probe``: does the time of an answer tell what hidden sessions say (targets.md, "hidden sessions")?

Two homes that differ in one thing: in one, hidden sessions say a probe word (in a share of their messages, and as a title), in the other they say
another word of the same length instead. A caller with a scope of 1 or 200 sessions asks both for the word, by turns. ``ratio`` is the median with
the word over the median without: 1 is no difference, the target is below 1.2. Only the time of a call in process is looked at.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Final

import wesaid
from bench.common import Report, folder, interleave, median, timed

MESSAGES: Final = 100_000
QUICK_MESSAGES: Final = 10_000
ROUNDS: Final = 60
ME: Final = "agent:main:me"
WORD, OTHER = "zanzibarry", "valparaiso"
_SESSION: Final = 200  # messages
_SCOPES: Final = (1, 200)
_SHARES: Final = {"rare": 1000, "common": 2}  # one message of so many says it
_QUESTIONS: Final = {"word": WORD, "prefix": "zanzib*", "phrase": f'"{WORD} harbour"', "with a visible word": f"{WORD} ferry"}


def fill(home: Path, word: str, *, every: int, messages: int) -> Any:
    """A home in which strangers say ``word`` in one of ``every`` messages, and the caller's 200 sessions never do."""
    store = wesaid.open(home=home)
    for number in range(max(_SCOPES)):
        key = ME if number == 0 else f"agent:main:subagent:{number}"
        chat = store.session(key, create=True, spawned_by=None if number == 0 else ME)
        chat.append_many([{"role": "user", "text": f"the ferry leaves at {number} from pier {turn}"} for turn in range(20)])  # a short talk
    for number in range(messages // _SESSION):
        chat = store.session(f"agent:main:stranger:{number}", create=True)
        said = [
            f"{word if turn % every == number % every else 'nothing'} harbour of message {turn} in {number}" for turn in range(_SESSION)
        ]
        chat.append_many([{"role": "user", "text": text} for text in said])
        chat.patch(label=f"{word} {number}")
    return store


def main() -> None:
    """Measure every share, scope and question."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_MESSAGES} hidden messages instead of {MESSAGES}")
    parser.add_argument("--data", help="keep the data in this folder")
    asked = parser.parse_args()
    report = Report("probe")
    messages = QUICK_MESSAGES if asked.quick else MESSAGES
    with folder(asked.data) as home:
        for share, every in _SHARES.items():
            stores = {
                name: fill(home / f"{share}-{name}", word, every=every, messages=messages)
                for name, word in (("with", WORD), ("without", OTHER))
            }
            for scope in _SCOPES:
                caller = wesaid.Caller(ME if scope > 1 else "agent:main:subagent:1")
                for name, question in _QUESTIONS.items():

                    def ask(store: Any, question: str = question, caller: Any = caller) -> float:
                        return timed(lambda: store.search(question, caller=caller))[0]

                    for store in stores.values():
                        ask(store)
                    times = interleave({kind: lambda _, store=store, ask=ask: ask(store) for kind, store in stores.items()}, ROUNDS)
                    with_it, without = median(times["with"]), median(times["without"])
                    report.add(f"{share}, {scope} sessions: {name}", with_it, "ms", baseline=without, ratio=with_it / without)
            for store in stores.values():
                store.close()
    report.close()


if __name__ == "__main__":
    main()

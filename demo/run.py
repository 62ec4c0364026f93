"""``make demo``: import the sample transcripts into a throw-away store, search them, and check each answer.

Everything is done with the real program, as a person would type it. It leaves with 0 only when each search gave what it should.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SAMPLES = HERE / "transcripts"
SECRET = "tidewater-Not-A-Real-1"  # planted in a sample, to show that it does not come out
Answer = dict[str, Any]


@dataclass(frozen=True)
class Scene:
    """One search: why it is shown, what is typed, and what the answer must be."""

    why: str
    words: tuple[str, ...]
    exit_code: int
    holds: Callable[[Answer], bool]


def first(answer: Answer) -> Answer:
    """The best result, or an empty one."""
    results = answer.get("results") or [{}]
    best: Answer = results[0]
    return best


def says(text: str, match: str | None = None) -> Callable[[Answer], bool]:
    """The best result's excerpt has this text (and, when given, was found by this tier)."""
    return lambda answer: text in first(answer).get("snippet", "") and match in {None, first(answer).get("match")}


SCENES = (
    Scene("An exact phrase, in quotes", ('"read-only for a month"',), 0, says("read-only for a month", "phrase")),
    Scene("Vietnamese, typed without its marks", ("duong den ben pha", "--limit", "2"), 0, says("ường đến bến phà")),
    Scene("Chinese: two characters inside a sentence", ("评审",), 0, says("评审")),
    Scene("A branch that was rewound: it must not show", ("redis sentinel",), 1, lambda a: a["results"] == []),
    Scene("A pasted log line: found, and its password stays hidden", ("could not get a connection", "--limit", "1"), 0, says("[redacted:")),
    Scene(
        "A question in plain language",
        ("why were departures an hour late after the move", "--limit", "3"),
        0,
        lambda a: first(a).get("sessionId", "").endswith("2"),
    ),
)


class Demo:
    """Runs the program on one home and remembers what went wrong."""

    def __init__(self, home: Path) -> None:
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("WESAID_")}
        self.environment["WESAID_HOME"] = str(home)
        self.failures: list[str] = []

    def show(self, *words: str) -> None:
        """Type a command and let its output through as it is, its notes (stderr) in their place among it."""
        typed = "$ wesaid " + " ".join(map(quoted, words))
        print(f"\n\033[1m{typed}\033[0m" if sys.stdout.isatty() else f"\n{typed}")
        sys.stdout.flush()
        subprocess.run([sys.executable, "-m", "wesaid", *words], env=self.environment, check=False, stderr=subprocess.STDOUT)

    def ask(self, *words: str) -> tuple[int, Answer, str]:
        """The same command for a program: exit code, its JSON object, and the raw text."""
        done = subprocess.run(
            [sys.executable, "-m", "wesaid", *words, "--json"], env=self.environment, check=False, capture_output=True, encoding="utf-8"
        )
        try:
            return done.returncode, json.loads(done.stdout), done.stdout
        except ValueError:
            return done.returncode, {}, done.stdout + done.stderr

    def expect(self, what: str, *, good: bool) -> None:
        """Note a failure; the demo goes on, so that all of them are seen."""
        if not good:
            self.failures.append(what)
            print(f"  ✗ not as it should be: {what}")


def quoted(word: str) -> str:
    """A word as one types it in a shell."""
    plain = word and all(c.isalnum() or c in "-_./:@=+," for c in word)
    return word if plain else "'" + word.replace("'", "'\\''") + "'"


def bring_in(demo: Demo) -> None:
    """Import both sample folders; a second run must find nothing new."""
    print("Seven made-up sessions of somebody who moves a ferry timetable to Postgres: four of Claude Code, three of OpenClaw.")
    for tool in ("claude-code", "openclaw"):
        demo.show("import", os.path.relpath(SAMPLES / tool), "--from", tool)
        code, account, raw = demo.ask("import", str(SAMPLES / tool), "--from", tool)
        again = account.get("totals", {})
        demo.expect(f"a second import of {tool} changes nothing: {raw[:300]}", good=code == 0 and again.get("imported") == 0)


def search(demo: Demo) -> Answer:
    """Play the scenes. Returns the best hit of the last one, whose conversation is opened next."""
    kept: Answer = {}
    for scene in SCENES:
        print(f"\n── {scene.why} " + "─" * max(0, 90 - len(scene.why)))  # as wide as a terminal usually is
        demo.show("search", *scene.words)
        code, answer, raw = demo.ask("search", *scene.words)
        good = code == scene.exit_code and "results" in answer and scene.holds(answer) and SECRET not in raw
        demo.expect(f"search {' '.join(scene.words)} (exit {code}): {raw[:400]}", good=good)
        kept = first(answer)
    return kept


def reopen(demo: Demo, hit: Answer) -> None:
    """A hit's key and id open the conversation around it."""
    print("\n── The conversation around that answer " + "─" * 52)  # the same width
    words = ("history", hit.get("sessionKey", "?"), "--around", hit.get("messageId", "?"), "--before", "1", "--after", "1")
    demo.show(*words)
    code, page, raw = demo.ask(*words)
    ids = [message.get("messageId") for message in page.get("messages", [])]
    demo.expect(f"history around the hit (exit {code}): {raw[:300]}", good=code == 0 and hit.get("messageId") in ids and len(ids) > 1)


def main() -> int:
    """Run the demo; 0 when everything was as it should be."""
    with tempfile.TemporaryDirectory(prefix="wesaid-demo-") as folder:
        demo = Demo(Path(folder) / "home")
        bring_in(demo)
        reopen(demo, search(demo))
        if demo.failures:
            print(f"\n{len(demo.failures)} of the answers were not as they should be.")
            return 1
    program = ".venv/bin/wesaid"
    print(f"""
All answers were as they should be. The throw-away store is gone. Next, with your own transcripts:

  {program} import                       every known place on this machine
  {program} import PATH --from claude-code
  {program} search what did we decide about the timetable
  {program} search --help
""")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""``python -m bench.freshness``: what looking for growth adds to a search, and how soon what was appended to a transcript is found.

One home with many known transcripts, none of which has changed, is asked what a home is asked that has the same sessions and no files to
look at. ``ratio`` is the first one's p50 over the other's. Then lines are appended to a transcript, one at a time, and each is looked for.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import Any, Final

from bench import generate
from bench.common import Report, folder, interleave, median, percentile, timed
from bench.search import ours

_FOLDERS: Final = 200  # projects that the transcripts lie in
_ROUNDS: Final = 60
_APPENDED: Final = 40
_BIG_BYTES: Final = 100_000_000  # by which a transcript has grown before one search


def line(session: str, number: int, text: str) -> str:
    """A line of Claude Code's."""
    record = {
        "type": "user",
        "uuid": f"{session}-{number}",
        "parentUuid": f"{session}-{number - 1}" if number else None,
        "sessionId": session,
        "cwd": f"/home/mai/{session}",
        "timestamp": f"2026-01-{1 + number // 86400:02}T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}Z",
        "message": {"role": "user", "content": text},
    }
    return json.dumps(record) + "\n"


def write(top: Path, files: int) -> list[Path]:
    """Transcripts of two messages in many folders."""
    writer = generate.Writer(3)
    made = []
    for number in range(files):
        path = top / f"-home-mai-{number % _FOLDERS}" / f"s{number}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        said = [line(f"s{number}", turn, writer.latin(20, writer.topic())) for turn in range(2)]
        path.write_text("".join(said), encoding="utf-8")
        made.append(path)
    return made


def measure(report: Report, package: Any, place: Path, files: int) -> None:
    """All figures."""
    made = write(place / "projects", files)
    for home in ("followed", "alone"):
        with package.open(place / home) as store:
            store.import_paths([place / "projects"])
    with package.open(place / "followed") as followed, package.open(place / "alone") as alone:
        with alone._home.store("claude-code").writing() as writer:  # noqa: SLF001 - no door forgets what a file is
            for state in writer.sources():
                writer.forget_source(state.path)
            for kept in writer.folders():
                writer.forget_folder(kept.path)
        words = generate.Writer(generate.SEED).vocabulary
        asked = random.Random(4).sample(words.often + words.sometimes, _ROUNDS)

        def search(store: Any, query: str) -> float:
            return timed(lambda: store.search(query, caller=package.OPERATOR))[0]

        search(followed, "first")  # lists every folder, once
        spent = interleave(
            {"followed": lambda turn: search(followed, asked[turn]), "alone": lambda turn: search(alone, asked[turn])}, _ROUNDS
        )
        own, other = median(spent["followed"]), median(spent["alone"])
        report.add(f"search, {files} known files unchanged, p50", own, "ms", baseline=other, ratio=own / other)
        report.add(
            f"search, {files} known files unchanged, p95",
            percentile(spent["followed"], 0.95),
            "ms",
            baseline=percentile(spent["alone"], 0.95),
        )
        report.add("looking alone, p50", own - other, "ms")
        found = []
        for turn in range(_APPENDED):
            path = made[-1 - turn * 7 % files]
            with path.open("a", encoding="utf-8") as stream:
                stream.write(line(path.stem, 2 + turn, f"zugvogel{turn} came by"))
            took, page = timed(lambda turn=turn: followed.search(f"zugvogel{turn}", caller=package.OPERATOR))
            if len(page.hits) != 1:
                raise SystemExit(f"what was appended is not found: {turn}")
            found.append(took)
        report.add("an appended line found, p50", median(found), "ms")
        report.add("an appended line found, p95", percentile(found, 0.95), "ms")
        big, number, writer = made[0], 2, generate.Writer(5)
        texts = [writer.latin(200, writer.topic()) for _ in range(_ROUNDS)]
        with big.open("a", encoding="utf-8") as stream:
            while stream.tell() < _BIG_BYTES:
                stream.write(line(big.stem, number, f"seagull {texts[number % len(texts)]} {number}"))
                number += 1
        waits = [timed(lambda: followed.search("seagull", caller=package.OPERATOR))[0] for _ in range(7)]
        report.add("search while 100 MB wait to be read, p50", median(waits), "ms")
        report.add("search while 100 MB wait to be read, slowest", max(waits), "ms")


def main() -> None:
    """Measure, print, write down."""
    parser = argparse.ArgumentParser(prog="bench.freshness", description=__doc__.partition("\n")[0])
    parser.add_argument("--files", type=int, default=10_000, help="known transcripts")
    parser.add_argument("--data", help="keep the data in this folder (it must be empty)")
    chosen = parser.parse_args()
    package = ours()
    if package is None:
        raise SystemExit("wesaid cannot be imported")
    report = Report("freshness")
    with folder(chosen.data) as place:
        measure(report, package, place, chosen.files)
    print(f"written to {report.close()}")


if __name__ == "__main__":
    main()

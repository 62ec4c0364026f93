"""``python -m bench.importing``: 110 MB of Claude Code transcripts through ``wesaid import``, as a process of its own.

Two corpora of the same size: nearly all talk, and nine tenths tool output. Seconds are of the whole process, from its start to its exit; memory is the
peak of resident memory of the process and its children, sampled: pages of the database that SQLite maps count in it, for both. The **floor** parses the same lines and inserts what was said. ``ratio`` is ours over the
floor in seconds: smaller is better.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from bench import generate
from bench.common import ROOT, Report, folder, median
from bench.search import ours

_ROUNDS: Final = 3  # of whole imports, each into a fresh home; one is seconds long, so that more would measure patience
_SAMPLE_SECONDS: Final = 0.02


@dataclass(frozen=True, slots=True)
class Run:
    """One process: how long, how much memory at most (bytes), what it printed."""

    seconds: float
    peak: int
    output: str


def run(command: list[str]) -> Run:
    """Run a command to its end, watching its memory and its children's. A failure ends the bench with what it said."""
    begin = time.perf_counter()
    paths = os.pathsep.join(filter(None, (str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH"))))
    # Into files: an account names every source, and would fill a pipe that nobody reads meanwhile.
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdout=output, stderr=errors, env=os.environ | {"PYTHONPATH": paths})
        peak = 0
        try:
            while process.poll() is None:
                peak = max(peak, _memory(process.pid))
                time.sleep(_SAMPLE_SECONDS)
        except BaseException:
            process.kill()
            process.wait()
            raise
        spent = time.perf_counter() - begin
        output.seek(0)
        errors.seek(0)
        if process.returncode:
            raise SystemExit(f"{' '.join(command[:4])} … ended with {process.returncode}\n{errors.read()[-2000:]}")
        return Run(spent, peak, output.read())


def _memory(pid: int) -> int:
    """Resident bytes of a process and all below it (0 where /proc is missing). Pages shared by two count twice: never too little."""
    total, left = 0, [pid]
    while left:
        one = left.pop()
        try:
            total += int(Path(f"/proc/{one}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            for task in Path(f"/proc/{one}/task").iterdir():
                left += map(int, (task / "children").read_text().split())
        except (OSError, ValueError, IndexError):
            continue  # it ended while we looked, or the system has no /proc
    return total


def corpus(name: str, shape: generate.Shape, home: Path, report: Report, *, rounds: int) -> None:
    """Generate one corpus, import it by both, and report."""
    source = home / name
    written = generate.claude_code(source, shape)
    megabytes = written.size / 1e6
    report.add(f"import · {name} · size", megabytes, "MB")
    seen: dict[str, list[Run]] = {"floor": [], "ours": [], "again": []}
    counted = 0
    for turn in range(rounds):
        target = home / f"{name}-floor-{turn}.sqlite"
        seen["floor"].append(run([sys.executable, "-m", "bench.baselines.floor", str(source), str(target)]))
        _drop(target)
        if ours() is not None:
            place = home / f"{name}-ours-{turn}"
            command = [sys.executable, "-m", "wesaid", "import", str(source), "--from", "claude-code", "--home", str(place), "--json"]
            seen["ours"].append(run(command))
            seen["again"].append(run(command))
            counted = json.loads(seen["ours"][-1].output)["totals"]["imported"]
            for file in sorted(place.rglob("*"), reverse=True):
                file.rmdir() if file.is_dir() else file.unlink()
    middle = {who: median([one.seconds for one in runs]) for who, runs in seen.items() if runs}
    report.add(f"import · {name} · floor", middle["floor"], "s")
    if "ours" not in middle:
        return
    report.add(f"import · {name} · ours", middle["ours"], "s", baseline=middle["floor"], ratio=middle["ours"] / middle["floor"])
    report.add(f"import · {name} · rate", megabytes / middle["ours"], "MB/s", baseline=megabytes / middle["floor"])
    peaks = {who: max(one.peak for one in seen[who]) / 1e6 for who in ("ours", "floor")}
    report.add(f"import · {name} · peak memory", peaks["ours"], "MB", baseline=peaks["floor"])
    report.add(f"import · {name} · unchanged again", middle["again"], "s")
    report.add(f"import · {name} · messages found of those written", counted / written.messages, "share")


def _drop(database: Path) -> None:
    for file in database.parent.glob(database.name + "*"):
        file.unlink()


def main() -> None:
    """Both corpora."""
    parser = argparse.ArgumentParser(prog="bench.importing", description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the sessions, once")
    parser.add_argument("--data", help="keep the transcripts in this folder")
    chosen = parser.parse_args()
    report = Report("import")
    with folder(chosen.data) as home:
        for name, whole in (("talk", generate.TALK), ("tools", generate.TOOLS)):
            part = replace(whole, sessions=whole.sessions // 10, messages=whole.messages // 10)
            corpus(name, part if chosen.quick else whole, home, report, rounds=1 if chosen.quick else _ROUNDS)
    print(f"written to {report.close()}")


if __name__ == "__main__":
    main()

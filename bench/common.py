"""What every measurement shares: clocks, percentiles, interleaving, the machine, and how a figure is written down.

Invariants: a ratio is made of medians of interleaved runs; a figure is one line on stdout and one object in ``bench/results/<name>.json``.
"""

from __future__ import annotations

import json
import math
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import apsw
from rich.console import Console
from rich.table import Table

ROOT: Final = Path(__file__).resolve().parent.parent
RESULTS: Final = ROOT / "bench" / "results"


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least ``share`` (0–1) of ``values`` do not exceed; no interpolation, so that it was really seen."""
    if not values:
        raise ValueError("no values to take a percentile of")
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def median(values: Sequence[float]) -> float:
    """The middle value."""
    return percentile(values, 0.5)


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Milliseconds that a call took, and what it gave."""
    begin = time.perf_counter_ns()
    result = call()
    return (time.perf_counter_ns() - begin) / 1e6, result


def interleave(contestants: Mapping[str, Callable[[int], float]], rounds: int) -> dict[str, list[float]]:
    """Run every contestant once a round, the order turning, and collect what each returns (its time, or its rate)."""
    names = list(contestants)
    seen: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(rounds):
        for place in range(len(names)):
            name = names[(turn + place) % len(names)]
            seen[name].append(contestants[name](turn))
    return seen


@dataclass(frozen=True, slots=True)
class Figure:
    """One number. ``baseline`` is in ``unit``; ``ratio`` says in its name's favour what ``bench/README.md`` says of that bench."""

    name: str
    value: float
    unit: str
    baseline: float | None = None
    ratio: float | None = None

    def line(self) -> str:
        """The figure as one line of text."""
        beside = f"  baseline {_short(self.baseline)}" if self.baseline is not None else ""
        times = f"  ratio {_short(self.ratio)}" if self.ratio is not None else ""
        return f"{self.name}  {_short(self.value)} {self.unit}{beside}{times}"


def _short(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


class Report:
    """The figures of one bench, printed as they come and written at the end."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.figures: list[Figure] = []
        self._terminal = sys.stdout.isatty()

    def add(self, name: str, value: float, unit: str, *, baseline: float | None = None, ratio: float | None = None) -> None:
        """Note a figure; not on a terminal, print its line at once."""
        figure = Figure(name, value, unit, baseline, ratio)
        self.figures.append(figure)
        if not self._terminal:
            print(figure.line(), flush=True)

    def close(self) -> Path:
        """Show the table on a terminal, write the file, and return its path."""
        if self._terminal:
            table = Table(title=f"bench-{self.name}", title_justify="left")
            for heading in ("figure", "value", "unit", "baseline", "ratio"):
                table.add_column(heading, justify="left" if heading in {"figure", "unit"} else "right")
            for figure in self.figures:
                beside = ["" if one is None else _short(one) for one in (figure.baseline, figure.ratio)]
                table.add_row(figure.name, _short(figure.value), figure.unit, *beside)
            Console().print(table)
        RESULTS.mkdir(parents=True, exist_ok=True)
        path = RESULTS / f"{self.name}.json"
        whole = {"figures": [asdict(one) for one in self.figures], "machine": machine(), "commit": commit()}
        path.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return path


def machine() -> dict[str, Any]:
    """What the figures were taken on, as far as figures depend on it."""
    facts: dict[str, Any] = {
        "system": f"{platform.system()} {platform.release()}",
        "processor": _processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "sqlite": apsw.sqlite_lib_version(),
        "apsw": apsw.apsw_version(),
    }
    if hasattr(os, "getloadavg"):
        facts["loadNow"] = round(os.getloadavg()[0], 2)  # a busy machine makes absolute figures worthless: say so beside them
    return facts


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def commit() -> str:
    """The commit that was measured, with ``+`` when the tree differs from it; ``unknown`` outside a repository."""
    try:
        head = subprocess.run(
            ["git", "rev-parse", "--short=12", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.strip()
        changed = subprocess.run(
            ["git", "status", "--porcelain", "--untracked-files=no"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return head + ("+" if changed.strip() else "")


@contextmanager
def folder(kept: str | None) -> Iterator[Path]:
    """Where a bench puts its data: ``kept`` when given (and left there), else a temporary folder that goes away."""
    if kept:
        path = Path(kept)
        path.mkdir(parents=True, exist_ok=True)
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="wesaid-bench-") as name:
        yield Path(name)

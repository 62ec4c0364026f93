"""Break it on purpose: each mutation of the house in ``mutations.py`` is caught by the test beside it. Not part of the suite: ``python tests/break_it.py``.

Each mutation replaces one piece of text in a copy of the sources and runs the tests that are named; a mutation that no test notices, or whose
text is no longer there, is printed and makes the exit code 1.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from mutations import MUTATIONS, Mutation

ROOT = Path(__file__).resolve().parents[1]
LONGEST_SECONDS = 300  # the named tests take a minute at most


def caught(mutation: Mutation, folder: Path) -> bool | None:
    """Whether a test fails under the mutation; None when its text is not there."""
    path = folder / "wesaid" / mutation.file
    before = path.read_text(encoding="utf-8")
    if before.count(mutation.old) != 1:
        return None
    path.write_text(before.replace(mutation.old, mutation.new), encoding="utf-8")
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:randomly", "-k", "not ten_thousand", *mutation.tests],
            cwd=ROOT, env={**os.environ, "PYTHONPATH": str(folder), "WESAID_EXAMPLES": "100"}, capture_output=True, check=False,
            timeout=LONGEST_SECONDS,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return True  # a test that waits for what never comes
    finally:
        path.write_text(before, encoding="utf-8")
    return done.returncode == 1


def main(words: list[str]) -> int:
    """Try every mutation, or those whose name has one of the words."""
    missed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(ROOT / "src" / "wesaid", folder / "wesaid")
        for mutation in MUTATIONS:
            if words and not any(word in mutation.what for word in words):
                continue
            outcome = {True: "caught", False: "NOT CAUGHT", None: "TEXT NOT FOUND"}[caught(mutation, folder)]
            missed += outcome != "caught"
            sys.stdout.write(f"{outcome:15}{mutation.what}  ({mutation.file}; {', '.join(mutation.tests)})\n")
            sys.stdout.flush()
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

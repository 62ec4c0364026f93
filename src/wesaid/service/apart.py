"""Preparing index rows in a process of its own, so that searches of this one keep the interpreter: ``python -m wesaid.service.apart``.

The two talk by pickles over pipes that only they hold. Without the process (it could not be started, or was killed) the same work is done
here. Invariant: every batch that was sent is answered once, in order.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Self

import msgspec

from wesaid import limits
from wesaid.rules.redact import Redactor
from wesaid.service.preparing import again
from wesaid.values import Said, StoredEvent

Job = tuple[str, bool, StoredEvent]  # the session's dialect, whether it is a subagent's, and the event


class Preparer:
    """Prepares batches one after the other: here, or apart once it is clear that there are many. A context manager that ends its process."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._process: subprocess.Popen[bytes] | None = None
        self._sent: list[Job] | None = None
        self._full = 0  # batches so far that were as large as they may be
        self._is_apart = False

    def send(self, jobs: Sequence[Job]) -> None:
        """Take a batch; the one before it must have been collected."""
        self._sent = list(jobs)
        self._full += len(jobs) >= limits.REBUILD_SLICE_ROWS
        if self._process is None and self._full == limits.APART_FROM_SLICES:
            self._start()
        if self._process is not None and self._process.stdin is not None:
            try:
                _put(self._process.stdin, self._sent)
                self._is_apart = True
            except OSError:
                self._end()

    def collect(self) -> list[Said | None]:
        """What the events of the batch said."""
        jobs, self._sent = self._sent or [], None
        if self._is_apart and self._process is not None and self._process.stdout is not None:
            self._is_apart = False
            try:
                answer: list[Said | None] = pickle.load(self._process.stdout)  # noqa: S301 - from the process that we started, over our own pipe
            except (OSError, EOFError, pickle.UnpicklingError):
                self._end()  # killed: the work is done here, and so is the rest
            else:
                return answer
        return prepared(self._redactor, jobs)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def _start(self) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        command = [sys.executable, "-P", "-m", "wesaid.service.apart"]
        with suppress(OSError):
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
            )
            if self._process.stdin is not None:
                _put(self._process.stdin, self._redactor)

    def _end(self) -> None:
        process, self._process, self._is_apart = self._process, None, False
        if process is not None:
            process.kill()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()
            process.wait()


def prepared(redactor: Redactor, jobs: Sequence[Job]) -> list[Said | None]:
    """What events said, in this process."""
    return [_said(redactor, *job) for job in jobs]


def _said(redactor: Redactor, dialect: str, subagent: bool, event: StoredEvent) -> Said | None:  # noqa: FBT001 (a job's parts)
    try:
        return again(redactor, dialect, event, subagent=subagent).said
    except msgspec.DecodeError:
        return None  # a damaged row: `doctor` names it, and the others are not its hostages


def _put(pipe: IO[bytes] | None, value: object) -> None:
    if pipe is not None:
        pickle.dump(value, pipe, protocol=pickle.HIGHEST_PROTOCOL)
        pipe.flush()


def main() -> None:
    """Answer batches until the other side closes its end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C goes to both; the other side decides
    if hasattr(os, "nice"):
        os.nice(limits.APART_NICE)
    source, answers = sys.stdin.buffer, sys.stdout.buffer
    with suppress(EOFError, OSError):
        redactor: Redactor = pickle.load(source)  # noqa: S301 - from the process that started this one
        while True:
            jobs: list[Job] = pickle.load(source)  # noqa: S301
            _put(answers, prepared(redactor, jobs))


if __name__ == "__main__":
    main()

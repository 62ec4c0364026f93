"""Preparing index rows in a process of its own, so that searches of this one keep the interpreter: ``python -m wesaid.service.apart``.

The two talk in MessagePack over pipes that only they hold (``process``); the first message is the redactor. Without the process (it could not be started,
or was killed) the same work is done here. Invariant: every batch that was sent is answered once, in order.
"""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Self

import msgspec

from wesaid import limits
from wesaid.rules.redact import Redactor
from wesaid.service import process
from wesaid.service.preparing import said_by
from wesaid.values import Flag, Said, Span, StoredEvent

Job = tuple[str, bool, StoredEvent]  # the session's dialect, whether it is a subagent's, and the event


class Preparer:
    """Prepares batches one after the other: here, or apart once it is clear that there are many. A context manager that ends its process."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._process: subprocess.Popen[bytes] | None = None
        self._sent: list[Job] = []
        self._full = 0  # batches so far that were as large as they may be
        self._is_apart = False  # the batch that was sent

    def send(self, jobs: Sequence[Job]) -> None:
        """Take a batch; the one before it must have been collected."""
        self._sent = list(jobs)
        self._full += len(jobs) >= limits.REBUILD_SLICE_ROWS
        if self._process is None and self._full == limits.APART_FROM_SLICES:
            self._start()
        if self._process is not None:
            try:
                process.put(self._process.stdin, [(dialect, subagent, event.body) for dialect, subagent, event in jobs])
                self._is_apart = True
            except OSError:
                self._end()

    def collect(self) -> list[Said | None]:
        """What the events of the batch said."""
        jobs, self._sent = self._sent, []
        if self._is_apart and self._process is not None:
            self._is_apart = False
            try:
                return [packed and _unpacked(packed) for packed in process.get(self._process.stdout)]
            except (OSError, EOFError, msgspec.DecodeError):
                self._end()  # killed: the work is done here, and so is the rest
        return [_said(self._redactor, dialect, subagent, event.body) for dialect, subagent, event in jobs]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def _start(self) -> None:
        self._process = process.start("wesaid.service.apart")
        if self._process is not None:
            with suppress(OSError):
                process.put(self._process.stdin, pickle.dumps(self._redactor))

    def _end(self) -> None:
        running, self._process, self._is_apart = self._process, None, False
        if running is not None:
            process.end(running)


def _said(redactor: Redactor, dialect: str, subagent: bool, body: bytes) -> Said | None:  # noqa: FBT001 (a job's parts)
    try:
        return said_by(redactor, dialect, msgspec.json.decode(body), subagent=subagent)
    except msgspec.DecodeError:
        return None  # a damaged row: `doctor` names it, and the others are not its hostages


# ── over the pipe ────────────────────────────────────────────────────────────────────────────────────────────────
def _packed(said: Said) -> tuple[Any, ...]:
    spans = [(span.start, span.end, span.kind) for span in said.spans]
    return said.role, spans, said.index_text, said.index_parts, said.digest, int(said.flags), said.fold_version, said.redact_version


def _unpacked(packed: Sequence[Any]) -> Said:
    role, spans, text, parts, digest, flags, fold_version, redact_version = packed
    return Said(
        role=role,
        spans=tuple(Span(*span) for span in spans),
        index_text=text,
        index_parts=parts,
        digest=digest,
        flags=Flag(flags),
        fold_version=fold_version,
        redact_version=redact_version,
    )


def main() -> None:
    """Answer batches until the other side closes its end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C goes to both; the other side decides
    process.give_way()
    source, answers = sys.stdin.buffer, sys.stdout.buffer
    with suppress(EOFError, OSError):
        redactor: Redactor = pickle.loads(process.get(source))  # noqa: S301 - from the process that started this one, over its own pipe
        while True:
            found = [_said(redactor, dialect, subagent, body) for dialect, subagent, body in process.get(source)]
            process.put(answers, [said and _packed(said) for said in found])


if __name__ == "__main__":
    main()

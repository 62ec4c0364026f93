"""A process of our own beside this one, and messages over pipes that only the two hold. It refuses to know what they say."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from typing import IO, Any, Final

import msgspec

from wesaid import limits

_LENGTH_BYTES: Final = 4  # before each message
_DEPTH: Final = "WESAID_PROCESS_DEPTH"  # in the environment of what was started here: a dot for each process above it
_DEEPEST: Final = 2  # the reconciler, and its preparer


def start(module: str) -> subprocess.Popen[bytes] | None:
    """Start one of our modules as a program, from where this one was imported; None where no process can be begun.

    A program that is frozen, or has an interpreter inside it, has none to start; and what was started so starts at most the preparer.
    """
    depth = os.environ.get(_DEPTH, "")
    if not sys.executable or getattr(sys, "frozen", False) or len(depth) >= _DEEPEST:
        return None
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path), _DEPTH: f"{depth}."}
    with suppress(OSError, ValueError):
        return subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [sys.executable, "-P", "-m", module], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
        )
    return None


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process at once, whatever it is doing."""
    process.kill()
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):
            if pipe is not None:
                pipe.close()
    process.wait()


def give_way() -> None:
    """Let whoever searches go first."""
    if hasattr(os, "nice"):
        os.nice(limits.APART_NICE)


def put(pipe: IO[bytes] | None, value: object) -> None:
    """Send a message: what MessagePack can say."""
    if pipe is not None:
        message = msgspec.msgpack.encode(value)
        pipe.write(len(message).to_bytes(_LENGTH_BYTES, "big") + message)
        pipe.flush()


def get(pipe: IO[bytes] | None) -> Any:
    """The next message. EOFError when the other side is gone."""
    length = _read(pipe, _LENGTH_BYTES)
    return msgspec.msgpack.decode(_read(pipe, int.from_bytes(length, "big")))


def _read(pipe: IO[bytes] | None, count: int) -> bytes:
    found = pipe.read(count) if pipe is not None else b""
    if len(found) < count:
        raise EOFError
    return found

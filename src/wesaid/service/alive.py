"""Names of processes, and whether the one of a name is no more: what a killed process held need not wait for its time to be over."""

from __future__ import annotations

import os
import platform
import uuid


def name() -> str:
    """A new name in this process: ``<uuid>:<process id>@<machine>``."""
    return f"{uuid.uuid4()}:{os.getpid()}@{platform.node()}"


def is_gone(holder: str) -> bool:
    """Whether the process of a name ran on this machine and runs no longer. Not knowing is no."""
    who, _, machine = holder.partition("@")
    number = who.rpartition(":")[2]
    if machine != platform.node() or not number.isdecimal() or os.name != "posix":
        return False
    try:
        os.kill(int(number), 0)  # signal 0 only asks
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False  # somebody else's process: it runs
    return False

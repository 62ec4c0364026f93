"""How each tool opens a conversation again: the words of a command, as its program takes them.

It refuses to run anything and to look at any disk. Ids are untrusted: one that could be taken for an option, or that a shell would read
anything into, gives no command. A tool of which no such command is known gives none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
_KEY: Final = re.compile(r"agent:[A-Za-z0-9][A-Za-z0-9._:@+%-]{0,255}")


def _claude_code(session_id: str, _: str) -> tuple[str, ...]:
    """It looks for the session in the folder that the session was begun in, and nowhere else: whoever runs this has to be there."""
    return ("claude", "--resume", session_id) if _ID.fullmatch(session_id) else ()


def _codex(session_id: str, _: str) -> tuple[str, ...]:
    return ("codex", "resume", session_id) if _ID.fullmatch(session_id) else ()


def _openclaw(_: str, key: str) -> tuple[str, ...]:
    """By its key. A transcript that OpenClaw's own list does not name has a key of ours, which it would not know."""
    return () if ":import:" in key or not _KEY.fullmatch(key) else ("openclaw", "tui", "--session", key)


_OF: Final[Mapping[str, Callable[[str, str], tuple[str, ...]]]] = {
    "claude-code": _claude_code,
    "codex": _codex,
    "openclaw": _openclaw,
}
# A subagent's transcript is no session of its own there: what can be opened is the session that spawned it.
BY_PARENT: Final = frozenset({"claude-code"})


def resume(tool: str | None, session_id: str, key: str) -> tuple[str, ...]:
    """The words that open a conversation of a tool again; none when that is not known, or the id is not safe to type."""
    known = _OF.get(tool or "")
    return known(session_id, key) if known is not None else ()


__all__ = ["BY_PARENT", "resume"]

"""Agent ids, session keys and message ids: parse and format, nothing else.

A session key is ``agent:<agentId>:<rest>`` (contract.md §4; OpenClaw's form). ``import:`` and ``subagent:`` tails keep their case,
the rest is lower case as OpenClaw folds it. Characters outside ``[A-Za-z0-9._:@+-]`` are percent-encoded; 256 bytes at most.
"""

from __future__ import annotations

import hashlib
import re
from typing import NamedTuple

from wesaid import limits
from wesaid.errors import InputError, quoted

AGENT_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_UNSAFE = re.compile(r"%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9._:@+%-]")  # an escape stays, so that a key given back is the same key
_HALF_ESCAPE = re.compile(r"%[0-9A-Fa-f]?\Z")
_KEEPS_CASE = ("import:", "subagent:")
_INCOGNITO = re.compile(r"agent:[^:]+:(?:dashboard|subagent|internal-session-effects):incognito-")
_DIGEST_CHARS = 8  # contract.md §4: `:<8 hex of its path's digest>`


class SessionKey(NamedTuple):
    """A parsed key: ``str(key)`` is its one spelling."""

    agent_id: str
    rest: str

    def __str__(self) -> str:
        return f"agent:{self.agent_id}:{self.rest}"


def agent_id(text: str) -> str:
    """``text`` as an agent id, or InputError naming what is allowed."""
    if not AGENT_ID.fullmatch(text):
        raise InputError(
            f"agent id {quoted(text, limits.AGENT_ID_CHARS)} is not allowed",
            hint="an agent id is 1-64 of a-z, 0-9, _ and -, beginning with a letter or digit",
            details={"field": "agentId"},
        )
    return text


def encode(text: str) -> str:
    """Percent-encode what a key may not hold, byte by byte of its UTF-8."""
    return _UNSAFE.sub(lambda m: "".join(f"%{b:02X}" for b in m.group().encode("utf-8", "replace")), text)


def parse(text: str) -> SessionKey:
    """A full key. Raises InputError for anything else (display forms such as ``main`` are resolved by the service)."""
    parts = text.encode("utf-8", "replace").decode("utf-8").strip().split(":", 2)
    if len(parts) != 3 or parts[0].lower() != "agent" or not parts[2]:
        raise InputError(
            f"session key {quoted(text, limits.SESSION_KEY_BYTES)} is not of the form agent:<agentId>:<name>",
            hint="take the sessionKey of a result, or of `wesaid sessions`",
            details={"field": "sessionKey"},
        )
    rest = encode(parts[2])
    if not rest.lower().startswith(_KEEPS_CASE):
        rest = rest.lower()
    return fit(SessionKey(agent_id(parts[1].lower()), rest))


def fit(key: SessionKey) -> SessionKey:
    """The key cut to 256 bytes, its end replaced by a digest so that two long names stay two keys."""
    if len(str(key).encode()) <= limits.SESSION_KEY_BYTES:
        return key
    mark = ":" + short_digest(key.rest)
    room = limits.SESSION_KEY_BYTES - len(f"agent:{key.agent_id}:") - len(mark)
    return SessionKey(key.agent_id, _HALF_ESCAPE.sub("", key.rest[:room]) + mark)


def imported(agent: str, source_id: str) -> SessionKey:
    """``agent:<agent>:import:<id>`` (contract.md §4)."""
    return fit(SessionKey(agent_id(agent), "import:" + encode(source_id)))


def subagent(agent: str, source_id: str) -> SessionKey:
    """``agent:<agent>:subagent:<id>`` (contract.md §4)."""
    return fit(SessionKey(agent_id(agent), "subagent:" + encode(source_id)))


def is_key(text: str) -> bool:
    """Whether ``text`` looks like a full key at all."""
    return text.lower().startswith("agent:") and text.count(":") >= 2


def is_incognito(key: str) -> bool:
    """Incognito sessions are never stored, indexed, imported, listed or returned (contract.md §3)."""
    return bool(_INCOGNITO.match(key.lower()))


def kind(key: str) -> str:
    """One of main | group | cron | hook | subagent | import | other, read off the key (openclaw.md §1.5)."""
    rest = key.split(":", 2)[-1].lower()
    if rest == "main":
        return "main"
    for word in ("subagent", "import", "cron", "hook"):
        if rest.startswith(word + ":") or f":{word}:" in rest:
            return word
    if any(f":{word}:" in rest or rest.startswith(word + ":") for word in ("group", "channel", "room")):
        return "group"
    return "other"


def short_digest(text: str) -> str:
    """8 hex characters that tell two paths or names apart."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_CHARS]


def message_id(text: str) -> str:
    """A source's id as stored: its own, or a digest of one that is absurdly long."""
    if len(text.encode("utf-8", "replace")) <= limits.MESSAGE_ID_BYTES:
        return text
    return "sha256-" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

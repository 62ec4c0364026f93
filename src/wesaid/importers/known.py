"""What the importers know in common: the shape of a dialect, where tools keep their files, and whose a file is by its content.

It refuses to open files and to know any one format's rules. Invariant: a guess is made from content; a path only rules out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, Protocol, runtime_checkable

from wesaid import limits
from wesaid.importers.reading import Record, printable
from wesaid.values import Event, WindowSpec

# Every name of contract.md §6; those without an importer yet are known, so that the answer can say so.
TOOLS: Final = (
    "openclaw", "claude-code", "codex", "gemini", "opencode", "pi", "hermes", "aider", "cursor", "copilot", "goose", "cline", "chatgpt", "claude-ai",
    "messages",
)  # fmt: skip

# Why a message, a session or a whole file is left out: the words of an account. The command's help and docs/cli.md say what each means.
Reason = Literal[
    "copy", "duplicate", "deleted", "do-not-index", "ignored", "warm-up", "compaction", "incognito", "other-agent", "missing-file", "prompt-log",
    "session-list", "trajectory", "checkpoint", "backup", "deleted-file", "archived", "not-a-transcript", "empty", "compressed",
    "unsupported-format", "other-format",
]  # fmt: skip

MAIN: Final = ""  # the slot of a file's own conversation; others are named by subagent


POSITION: Final = "position"  # in a view: the record has no id, its event was named by its position


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A transcript file, and where its conversation lands. ``path`` is absolute; ``missing``: named by the tool, but not there."""

    path: str
    tool: str
    agent: str
    key: str
    session_id: str
    window: WindowSpec | None = None  # None: the session's only one
    spawned_by: str | None = None
    forked_from: str | None = None
    row: Mapping[str, Any] = field(default_factory=dict)  # what the tool's own list says of the session
    siblings: Mapping[str, str] = field(default_factory=dict)  # file name -> key, to resolve a parent given as a path
    missing: bool = False
    database: str | None = None  # path of the tool's database that may hold the same conversation
    archived: bool = False  # the tool moved it away after it had taken it into that database
    beside: bool = False  # that database holds the conversation: only what it lacks is imported, into a window of its own

    @property
    def name(self) -> str:
        """The path as it is kept and shown."""
        return printable(self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """A tool's database of many conversations. ``path`` is absolute."""

    path: str
    tool: str
    agent: str  # where its sessions land
    owner: str  # the agent whose database it is

    @property
    def override(self) -> str | None:
        """The agent that its sessions are given to, whatever they say."""
        return None if self.agent == self.owner else self.agent

    @property
    def name(self) -> str:
        """The path as it is kept and shown."""
        return printable(self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A file that is not imported, and why (one word, for the account)."""

    path: str
    tool: str | None
    agent: str | None
    reason: Reason


@dataclass(slots=True, kw_only=True)
class Told:
    """What a file said about one conversation so far; JSON both ways, so that a reading can go on tomorrow."""

    key: str
    session_id: str
    spawned_by: str | None = None
    forked_from: str | None = None
    label: str | None = None
    archived_at: int | None = None
    title: str | None = None  # given by the person
    better_title: str | None = None  # made by the tool for this conversation
    summaries: dict[str, str] = field(default_factory=dict)  # id of a last message -> the tool's summary of the chat that ends there
    project: str | None = None
    created_at: int = 0
    updated_at: int = 0
    first_id: str | None = None  # of its first message: tells a fork, which begins with a copy
    last_id: str | None = None  # of its last message in file order
    extra: dict[str, Any] = field(default_factory=dict)


class Reader(Protocol):
    """Reads one file's records in order. ``told`` is by slot; a slot appears with its first record."""

    told: dict[str, Told]

    def read(self, record: Record) -> tuple[str, Event]:
        """The slot of a record, and the record as an event."""

    def state(self) -> Mapping[str, Any]:
        """JSON-safe: what a reader needs to go on after the records read so far."""


@runtime_checkable
class Holding(Protocol):
    """A reader that holds something back until it knows more."""

    def rest(self) -> list[tuple[str, Event]]:
        """What is held back where the file ends today: events behind its last one."""

    def resumed(self) -> list[tuple[str, Event]]:
        """What leads back from those, before the first record that was written later."""


class Dialect(Protocol):
    """A tool's record format."""

    name: str

    def source(self, path: str, head: Sequence[Record], agent: str) -> Source:
        """Where a file lands that no list of its tool names: decided by its first records, else by its name."""

    def reader(self, source: Source, state: Mapping[str, Any] | None, fallback_ms: int) -> Reader:
        """A reader at the beginning of a file, or where ``state`` was taken; ``fallback_ms`` stands in when no record has a time."""

    def view(self, record: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """A record as an OpenClaw-shaped event, so that one rule says what of it can be searched; None for what is no event."""


@dataclass(slots=True)
class Clock:
    """The time of a record that has none: that of the one before it, else the file's."""

    now: int

    def tick(self, found: int | None) -> int:
        """The record's time."""
        if found is not None:
            self.now = found
        return self.now


def moment(value: Any) -> int | None:
    """Unix milliseconds of a timestamp as transcripts have it, or None: ISO with or without zone (without: UTC), seconds, milliseconds."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        text = value.strip()
        try:
            if not text.replace(".", "", 1).isdecimal():
                found = datetime.fromisoformat(text)
                aware = found if found.tzinfo else found.replace(tzinfo=UTC)
                return max(0, int(aware.timestamp() * limits.SECONDS_MS))
            value = float(text)
        except (ValueError, OverflowError):
            return None
    if not isinstance(value, (int, float)) or not 0 < value < limits.LATEST_MS:  # NaN fails both
        return None
    return (int(value) if value >= limits.MS_FROM else int(value * limits.SECONDS_MS)) or None  # a fraction of a millisecond is none


def first_moment(*values: Any) -> int | None:
    """The first of these that is a time."""
    return next((found for value in values if (found := moment(value)) is not None), None)


def text_of(record: Mapping[str, Any], key: str) -> str | None:
    """A field that is a non-blank string, without NUL, which no id or name may hold."""
    value = record.get(key)
    return value.replace("\x00", "\ufffd") if isinstance(value, str) and value.strip() else None


def places(environ: Mapping[str, str], home: Path) -> list[tuple[str, Path]]:
    """Where each tool keeps its transcripts on this machine: ``(tool, folder)``, whether or not the folder exists."""
    state = environ.get("OPENCLAW_STATE_DIR", "").strip()
    codex = environ.get("CODEX_HOME", "").strip()
    openclaw = [Path(state)] if state else [home / name for name in (".openclaw", ".clawdbot", ".moltbot")]
    rollouts = [("codex", (Path(codex) if codex else home / ".codex") / name) for name in ("sessions", "archived_sessions")]
    claude_code = [("claude-code", folder) for folder in _claude(environ, home)]
    return [*(("openclaw", folder / "agents") for folder in openclaw), *claude_code, *rollouts]


def _claude(environ: Mapping[str, str], home: Path) -> list[Path]:
    """Claude Code's projects, and the sessions that Claude Desktop ran it for (macOS, Linux, Windows)."""
    own, config, roaming = (environ.get(name, "").strip() for name in ("CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME", "APPDATA"))
    xdg = Path(config) if config else home / ".config"
    code = [Path(own)] if own else [home / ".claude", xdg / "claude"]
    desktop = [home / "Library" / "Application Support" / "Claude", xdg / "Claude", *([Path(roaming) / "Claude"] if roaming else [])]
    return [*(folder / "projects" for folder in code), *(folder / "local-agent-mode-sessions" for folder in desktop)]


def guess(records: Iterable[Record]) -> str | None:
    """The format of a file's first records: a tool, ``stream-json`` or ``prompt-log`` (known, not transcripts), or None."""
    for record in records:
        if found := _of(record):
            return found
    return None


def _of(record: Record) -> str | None:
    kind = record.get("type")
    if "display" in record and "pastedContents" in record:
        return "prompt-log"
    if (found := _of_codex(record, kind)) or not isinstance(kind, str) or "payload" in record:
        return found
    if "session_id" in record and "sessionId" not in record and "parentUuid" not in record and kind in _STREAM_TYPES:
        return "stream-json"
    message = record.get("message")
    chat = isinstance(message, dict) and "role" in message
    if kind in _CLAUDE_TYPES and not ("id" in record and "parentId" in record):
        return "claude-code" if chat or not _CLAUDE_KEYS.isdisjoint(record) else None
    header = kind == "session" and isinstance(record.get("id"), str)
    entry = kind in _OPENCLAW_TYPES and not _OPENCLAW_KEYS.isdisjoint(record)
    return "openclaw" if header or entry or (kind == "message" and chat) else None


def _of_codex(record: Record, kind: Any) -> str | None:
    """Codex's rollouts, its prompt log, and what ``codex exec --json`` prints."""
    if kind is None:
        header = isinstance(record.get("id"), str) and "timestamp" in record and not {"instructions", "git"}.isdisjoint(record)
        log = isinstance(record.get("session_id"), str) and "ts" in record and isinstance(record.get("text"), str)
        return "codex" if header or "record_type" in record else "prompt-log" if log else None
    if not isinstance(kind, str):
        return None
    if isinstance(record.get("payload"), dict):
        return "codex" if kind in _CODEX_WRAPPED else None
    if kind in _CODEX_EXEC:
        return "stream-json"
    item = kind == "message" and "role" in record and isinstance(record.get("content"), list) and "message" not in record
    return "codex" if item or (kind in _CODEX_ITEMS and not {"call_id", "summary"}.isdisjoint(record)) else None


_CODEX_WRAPPED: Final = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"})
_CODEX_EXEC: Final = frozenset({"thread.started", "turn.started", "turn.completed", "item.started", "item.updated", "item.completed"})
_CODEX_ITEMS: Final = frozenset(
    {"reasoning", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", "local_shell_call"}
)
_STREAM_TYPES: Final = frozenset({"system", "assistant", "user", "result", "stream_event", "rate_limit_event"})
_CLAUDE_TYPES: Final = frozenset(
    {
        "user",
        "assistant",
        "system",
        "summary",
        "attachment",
        "progress",
        "file-history-snapshot",
        "queue-operation",
        "custom-title",
        "ai-title",
    }
    | {"permission-mode", "mode", "last-prompt", "agent-name", "worktree-state", "pr-link"}
)
_CLAUDE_KEYS: Final = frozenset({"parentUuid", "sessionId", "uuid", "leafUuid", "isSidechain", "messageId"})
_OPENCLAW_TYPES: Final = frozenset(
    {"model_change", "thinking_level_change", "compaction", "custom_message", "branch_summary", "session_info"}
)
_OPENCLAW_KEYS: Final = frozenset({"id", "parentId", "timestamp"})

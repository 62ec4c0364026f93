"""What an event says, and who said it: the words of a person or an assistant, without what machines put around them.

Works on OpenClaw-shaped records (an importer's ``view`` gives them for every tool). It refuses to know storage, secrets and the index:
texts leave here raw, and are redacted and folded by others.

Invariants:

* which text is chosen is OpenClaw's rule (openclaw.md §1.2, vector ``message_types``); a text without envelopes is returned unchanged;
* envelopes (formats.md §1e, §3) go only when they are complete and stand where machines put them: in front, or as lines of their own
  outside code fences. Who quotes one within a sentence keeps his words; ``<private>…</private>`` goes wherever it stands (``private``);
* everything takes linear time: no pattern repeats a repetition, every closing mark is looked for once.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, cast

from wesaid.limits import PREVIEW_CODE_POINTS
from wesaid.rules.private import without_private
from wesaid.values import Flag, Nav, NavKind, Role

_CANONICAL: Final = re.compile(
    "message|thinking_level_change|model_change|compaction|reset|branch_summary|custom|custom_message|label|session_info"
)
_TEXT_BLOCKS: Final = frozenset(("text", "input_text", "output_text"))
_MIRRORS: Final = frozenset(("delivery-mirror", "gateway-injected"))
_SPACE: Final = (  # what JavaScript's trim() takes
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
)
_MS_FROM: Final = 10**11  # formats.md, rule 5: smaller numbers are seconds (until the year 5138)
_MS_MAX: Final = 253_402_300_799_999  # the end of the year 9999; beyond it nothing is a time
_NUMBER: Final = re.compile(r"\d{10,15}\Z")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)  # Unix time


@dataclass(frozen=True, slots=True, kw_only=True)
class Searchable:
    """The words of one message: raw, without envelopes, never blank."""

    role: Role
    text: str
    flags: Flag


# ── records ──────────────────────────────────────────────────────────────────────────────────────────────────────
def nav_of(record: object) -> Nav:
    """The part of a record that decides the branch (openclaw.md §1.1, §1.3). Never raises; a blank or foreign id is no id."""
    if not isinstance(record, Mapping):
        return Nav(kind=NavKind.NONE)
    type_, name = record.get("type"), _name(record.get("id"))
    if type_ == "session":
        return Nav(kind=NavKind.NONE, id=name)
    parent, target = _name(record.get("parentId")), record.get("targetId")
    control = type_ == "leaf" and "targetId" in record and (target is None or _name(target) is not None)
    kind = NavKind.LEAF if control else NavKind.OPAQUE
    if isinstance(type_, str) and _CANONICAL.fullmatch(type_):
        kind = NavKind.RESET if type_ == "reset" else NavKind.ENTRY
    return Nav(
        kind=kind,
        id=name,
        parent=parent,
        has_parent="parentId" in record and (record["parentId"] is None or parent is not None),
        side=record.get("appendMode") == "side",
        target=_name(target) if control else None,
        has_target=control,
        append_parent=_name(record.get("appendParentId")) if control else None,
        has_message=isinstance(record.get("message"), Mapping),
    )


def timestamp_of(record: object) -> int | None:
    """Unix milliseconds of an event: its own ``timestamp``, else its message's; None if neither is a time.

    Understood: ISO 8601 with ``Z``, an offset or nothing (then UTC), and numbers of milliseconds or seconds, whole or not.
    """
    if not isinstance(record, Mapping):
        return None
    message = record.get("message")
    own = _moment(record.get("timestamp"))
    return own if own is not None or not isinstance(message, Mapping) else _moment(message.get("timestamp"))


def searchable(record: object, join: Callable[[Sequence[str]], str] = "\n".join) -> Searchable | None:
    """What search finds of a record: a user's or assistant's text without envelopes, or None. ``join`` makes its blocks one text."""
    if not isinstance(record, Mapping) or record.get("type") != "message" or _name(record.get("id")) is None:
        return None
    message = record.get("message")
    if not isinstance(message, Mapping) or message.get("role") not in ("user", "assistant"):
        return None
    role = cast("Role", message["role"])
    chosen = _chosen(message, join)
    text = without_private(chosen)
    text = _users(text) if role == "user" else _assistants(text)
    if not text.strip(_SPACE):
        return None
    flags = Flag.AUTOMATION if _is_automation(text.strip(_SPACE), role) else Flag.NONE
    if role == "user" and _SUBAGENT.match(chosen):
        flags |= Flag.SUBAGENT
    if role == "assistant" and message.get("provider") == "openclaw" and message.get("model") in _MIRRORS:
        flags |= Flag.MIRROR
    return Searchable(role=role, text=text, flags=flags)


def title_of(text: str) -> str | None:
    """The first line with words of a person's text, at most ``PREVIEW_CODE_POINTS`` long and cut between characters; None if blank.

    Raw: the caller redacts the *text* before, so that a secret cannot hide in the cut.
    """
    line = text.lstrip(_SPACE).split("\n", 1)[0].strip(_SPACE)
    end = PREVIEW_CODE_POINTS
    if len(line) <= end:
        return line or None
    while end > 0 and (_joins(line[end]) or line[end - 1] == "\u200d"):
        end -= 1
    return line[: end or PREVIEW_CODE_POINTS].rstrip(_SPACE)


# ── envelopes (formats.md §1e, §3) ───────────────────────────────────────────────────────────────────────────────
_DAY: Final = r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) )?\d{4}-\d\d-\d\d[ T]\d\d:\d\d[^\]\n]{0,60}"
_CHANNELS: Final = (
    "Telegram|WhatsApp|Discord|Slack|Signal|iMessage|BlueBubbles|Matrix|Mattermost|Microsoft Teams|MSTeams|Teams|Feishu|Lark|LINE|IRC"
    "|Google Chat|GoogleChat|Zalo|Nostr|Twitch|Nextcloud Talk|WebChat"
)
# In front of a user's text, in any order and number. Bounded, so that a try costs little.
_FRONT: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\[{_DAY}\]",
        rf"System(?: \(untrusted\))?: \[{_DAY}\][^\n]*",
        r"\[Queued (?:[a-z]{1,20} )?messages while agent was busy\]",
        rf"\[(?:{_CHANNELS}) (?=[^\]\n]{{0,300}}?(?:\bid:|\+\d{{1,6}}[smhdw]\b|\d{{4}}-\d\d-\d\d))[^\]\n]{{0,400}}\]",
        r"\[media attached(?: \d{1,4}/\d{1,4})?: [^\]\n]{1,2000}\]",
        r"To send an image back, prefer the message tool[^\n]*",
        r"\[message_id: [^\]\n]{1,300}\]",
        r"\[Subagent [^\]\n]{1,80}\]:?",
        r"\[Request interrupted by user[^\]\n]{0,80}\]",
        r"(?i:Caveat: The messages below)[^\n]*",
    )
)
_FENCED: Final = re.compile(r"[A-Z][A-Za-z ]{0,60} \(untrusted[^)\n]{0,60}\):[ \t]{0,9}\n{1,3}```(?:json)?[ \t]{0,9}\n")
_WHOLE: Final = ("This session is being continued from a previous conversation", "Base directory for this skill:")
_JUMPS: Final = {  # what stands between the two is context that a machine wrote
    "[Subagent Context]": "[Subagent Task]:",
    "[Chat messages since your last reply": "[Current message - respond to this]",
}
_QUEUED: Final = re.compile(r"^---\nQueued #\d{1,6}[^\n]*$", re.MULTILINE)
_LAST_LINE: Final = re.compile(r"\n\[message_id: [^\]\n]{1,300}\]\s*\Z")
_SUBAGENT: Final = re.compile(rf"(?:\[{_DAY}\] )?\[Subagent ")

# Tag pairs that go with what is inside, and those whose inside is a person's (the arguments of a command) or the answer.
_USER_TAGS: Final = re.compile(
    "system-reminder|command-(?:name|message|args)|local-command-(?:stdout|stderr|caveat)|bash-(?:input|stdout|stderr)|task-notification"
    "|ide_opened_file|ide_selection|user-prompt-submit-hook|relevant-memories"
)
_ASSISTANT_TAGS: Final = re.compile(
    "think|thinking|thought|relevant-memories|tool_calls?|tool_result|(?:antml:)?function_calls?|function_results|(?:antml:)?invoke"
    "|minimax:tool_call"
)
_FINAL_TAG: Final = re.compile("final")
_THINKING: Final = tuple((f"<{name}>", f"</{name}>") for name in ("think", "thinking", "thought"))
_KEPT_INSIDE: Final = frozenset(("command-args", "final"))
_TOKEN: Final = r"<[|｜][^|｜<>\n`]{1,60}[|｜]>"  # noqa: S105  a model's control token
_TOKENS_FIRST: Final = re.compile(rf"(?:{_TOKEN}[ \t]?)+")
_TOKEN_LAST: Final = re.compile(rf"[ \t]?{_TOKEN}\Z")
_TOKEN_CHARS: Final = 65  # of the longest _TOKEN_LAST

_AUTOMATION: Final = (  # beginnings, whoever said them
    "[OpenClaw heartbeat poll]",
    "Read HEARTBEAT.md if it exists",
    "[cron:",
    "A new session was started via /new",
    "Pre-compaction memory flush",
    "Session nearing compaction. Store durable memories now",
    "A subagent task ",
    "A background task ",
    "A completed subagent task",
    "[System Message]",
    "[Internal task completion event]",
    "Agent-to-agent announce step",
)
_SILENT: Final = ("HEARTBEAT_OK", "NO_REPLY", "REPLY_SKIP", "ANNOUNCE_SKIP")


class _Marks:
    """Where the next closing mark is. Positions asked for only grow, so each mark of a text is found once and missed once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._next: dict[str, int] = {}

    def find(self, mark: str, at: int) -> int:
        """The first place of ``mark`` from ``at`` on, or -1."""
        found = self._next.get(mark, 0)
        if mark not in self._next or 0 <= found < at:
            found = self._next[mark] = self._text.find(mark, at)
        return found


def _users(text: str) -> str:
    """A user's text without envelopes; the same text if it has none."""
    front = _without_front(text)
    if front is not text and _QUEUED.search(front):
        parts = [_without_front(part.strip(_SPACE)) for part in _QUEUED.split(front)]
        front = "\n".join(part for part in parts if part)
    rest = _without_pairs(front, _USER_TAGS)
    last = _LAST_LINE.search(rest)
    return rest if last is None else rest[: last.start()].rstrip(_SPACE)


def _without_front(text: str) -> str:
    """A text without the envelopes in front of it, stacked in any order."""
    marks, kept, at = _Marks(text), [], _skip(text, 0)
    start = at
    while at < len(text):
        if text.startswith(_WHOLE, at):
            at = len(text)
            break
        end, inner = _front_at(text, at, marks)
        if end < 0:
            break
        if inner:
            kept.append(inner)
        at = _skip(text, end)
    return text if at == start else "\n".join([*kept, text[at:].rstrip(_SPACE)] if at < len(text) else kept)


def _front_at(text: str, at: int, marks: _Marks) -> tuple[int, str]:
    """The end of the envelope that begins at ``at`` (-1: none does), and what a person wrote inside it."""
    for begin, goal in _JUMPS.items():
        if text.startswith(begin, at) and (found := marks.find(goal, at)) >= 0:
            return found + len(goal), ""
    if text[at] == "<":
        tag = _OPENING.match(text, at)
        if tag is None or not _USER_TAGS.fullmatch(tag[1]) or (close := marks.find(f"</{tag[1]}>", tag.end())) < 0:
            return -1, ""
        return close + len(tag[1]) + 3, text[tag.end() : close].strip(_SPACE) if tag[1] in _KEPT_INSIDE else ""
    if (fenced := _FENCED.match(text, at)) is not None:
        close = marks.find("\n```", fenced.end() - 1)
        return (-1 if close < 0 else close + 4), ""
    for pattern in _FRONT:
        if (match := pattern.match(text, at)) is not None:
            return match.end(), ""
    return -1, ""


def _without_pairs(text: str, tags: re.Pattern[str]) -> str:
    """A text without the tag pairs that have lines of their own, outside code fences."""
    marks, kept, position, at, fence = _Marks(text), [], 0, 0, ""
    while found := _LINE_START.search(text, at):
        at = found.end()
        if found["fence"]:
            fence = "" if fence == found["fence"] else fence or found["fence"]
            continue
        name = found["name"]
        if fence or not tags.fullmatch(name) or (close := marks.find(f"</{name}>", at)) < 0:
            continue
        end = close + len(name) + 3
        if not _LINE_END.match(text, end) and name not in _INLINE_END:
            continue
        kept.append(text[position : found.start()])
        if name in _KEPT_INSIDE:
            kept.append(text[at:close].strip(_SPACE))
        position = at = end
    return "".join([*kept, text[position:]]).strip(_SPACE) if position else text


def _assistants(text: str) -> str:
    """An assistant's text without thinking, calls written as text and control tokens; the same text if it has none."""
    if "<" not in text:
        return text
    said = _without_pairs(_without_pairs(text, _ASSISTANT_TAGS), _FINAL_TAG)
    if "```" in said:
        return said  # somebody's code is about such tokens more often than a model drops them there
    said = _without_thinking(said)
    bare = "\n".join(_without_tokens(line) for line in said.split("\n"))
    return said if bare == said else bare.strip(_SPACE)


def _without_thinking(text: str) -> str:
    """A text without the thinking in the middle of its lines; a tag that is quoted in backticks is what the text is about, and stays."""
    for opening, closing in _THINKING:
        kept: list[str] = []
        at = 0
        while (begin := text.find(opening, at)) >= 0 and (end := text.find(closing, begin)) >= 0:
            is_quoted = text[begin - 1 : begin] == "`"
            kept.append(text[at : end + len(closing) if is_quoted else begin])
            at = end + len(closing)
        text = "".join([*kept, text[at:]]) if kept else text
    return text


def _without_tokens(line: str) -> str:
    """A line without the control tokens at its two ends."""
    first, end = _TOKENS_FIRST.match(line), len(line)
    start = first.end() if first else 0
    while last := _TOKEN_LAST.search(line, max(start, end - _TOKEN_CHARS), end):
        end = last.start()
    return line[start:end]


_OPENING: Final = re.compile(r"<([A-Za-z][A-Za-z_:-]{1,40})(?:[ \t][^<>\n]{0,300})?>")
_LINE_START: Final = re.compile(
    r"^[ \t]*+(?:(?P<fence>```|~~~)|<(?P<name>[A-Za-z][A-Za-z_:-]{1,40})(?:[ \t][^<>\n]{0,300})?>)", re.MULTILINE
)
_LINE_END: Final = re.compile(r"[ \t]{0,9}(?:\n|\Z)")
_INLINE_END: Final = frozenset(("think", "thinking", "thought", "final"))  # an answer may follow on the same line


# ── small things ─────────────────────────────────────────────────────────────────────────────────────────────────
def _chosen(message: Mapping[str, Any], join: Callable[[Sequence[str]], str]) -> str:
    """The text that OpenClaw would index; empty if none."""
    content, text = message.get("content"), message.get("text")
    if isinstance(content, str):
        return content.strip(_SPACE)
    if isinstance(text, str):
        return text.strip(_SPACE)
    if not isinstance(content, list):
        return ""
    blocks = [block for block in content if isinstance(block, Mapping) and _name(block.get("type")) in _TEXT_BLOCKS]
    texts = [block.get("text") for block in blocks]
    return join([said for said in texts if isinstance(said, str) and said.strip(_SPACE)])


def _is_automation(text: str, role: Role) -> bool:
    """Whether no person was behind a message: heartbeats, cron prompts, silent replies, announcements."""
    if text.startswith(_AUTOMATION) or text in _SILENT:
        return True
    return role == "assistant" and (text.split("\n", 1)[0].strip() in _SILENT or text.rsplit("\n", 1)[-1].strip() in _SILENT)


def _name(value: object) -> str | None:
    """An id: a string that is not blank."""
    return value if isinstance(value, str) and value.strip(_SPACE) else None


def _moment(value: object) -> int | None:
    """Unix milliseconds of a number or an ISO 8601 string."""
    if isinstance(value, str):
        stripped = value.strip()
        if not _NUMBER.match(stripped):
            return _iso(stripped)
        value = int(stripped)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= _MS_MAX:
        return None
    made = int(value) if value >= _MS_FROM else round(value * 1000)  # s to ms
    return made or None  # a fraction of a millisecond is no time


def _iso(text: str) -> int | None:
    """Unix milliseconds of an ISO 8601 string; without an offset it is UTC, since a pure rule knows no machine's zone."""
    try:
        moment = datetime.fromisoformat(text)
        since = (moment.replace(tzinfo=moment.tzinfo or UTC) - _EPOCH) // timedelta(milliseconds=1)
    except (ValueError, OverflowError):
        return None
    return since if since > 0 else None


def _skip(text: str, at: int) -> int:
    """The next place that is no white space."""
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _joins(char: str) -> bool:
    """Whether a code point belongs to the one before it: marks, joiners, variation selectors, skin tones."""
    return unicodedata.category(char) in ("Mn", "Mc", "Me") or char == "\u200d" or "\U0001f3fb" <= char <= "\U0001f3ff"


__all__ = ["Searchable", "nav_of", "searchable", "timestamp_of", "title_of", "without_private"]

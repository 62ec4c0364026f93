"""What a line of a Codex rollout says, whatever its generation: its kind, who spoke, and their words without envelopes (formats.md §4).

Pure and without memory: it sees one record. Which of two lines that say the same is the message, and where a message hangs, is
``codex``'s to know. Invariants: text of tools, reasoning, developers, summaries and other agents never has the role ``user`` or ``assistant``;
an envelope is taken off only from the front of a block and only whole, so that a person's words about such a tag stay.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from wesaid.importers.known import POSITION, text_of

Content = list[dict[str, Any]]

RESPONSE: Final = "response"  # the model's own history
EVENT: Final = "event"  # what the interface showed; says again what the history says. In paginated threads it is called an item

_WRAPPERS: Final = frozenset({"session_meta", "turn_context", "compacted", "event_msg", "world_state"})
_ITEMS: Final = {"UserMessage": "user", "AgentMessage": "assistant", "Plan": "assistant"}
_EVENTS: Final = {"user_message": "user", "agent_message": "assistant"}
_CALLS: Final = frozenset(
    {"function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call", "image_generation_call", "tool_call"}
)
_OUTPUTS: Final = frozenset({"function_call_output", "custom_tool_call_output", "tool_search_output", "tool_result", "function_result"})

# Tags that the program puts in front of a person's words, or in place of them; in any order and number.
_TAGS: Final = (
    "user_instructions|INSTRUCTIONS|environment_context|permissions[ ]instructions|recommended_plugins|skill|turn_aborted|user_action"
    "|subagent_notification|user_shell_command|goal_context|codex_internal_context|hook_prompt|extension_context|additional_context"
    "|collaboration_mode|multi_agent_mode|personality_spec|model_switch|realtime_conversation|token_budget|send_user_message_question_reply"
    "|(?:skills|apps|plugins|environments)_instructions|agents_md"
)
_OPENING: Final = re.compile(rf"<({_TAGS})(?:\s[^<>\n]{{0,300}})?>", re.IGNORECASE)
_AGENTS: Final = re.compile(r"#[ ]?AGENTS\.md instructions(?P<of> for[^\n]*)?[ \t]*(?=\n|\Z)", re.IGNORECASE)
_LOWER: Final = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}  # 32: between a letter and its small one; places stay
# Blocks without a tag that are the program's as a whole.
_WHOLE: Final = (
    "Continue working toward the active thread goal.",
    "Another language model started to solve this problem and produced a summary",
    "Here is a list of plugins that are available but not installed.",
    "Warning: The maximum number of unified exec processes you can keep open is",
    "Warning: apply_patch was requested via",
    "Warning: Your account was flagged for potentially high-risk cyber activity",
)
_REQUEST: Final = re.compile(r"^#{1,3} My request for Codex:?[ \t]*$", re.MULTILINE)  # what an editor adds stands before it
_EDITOR: Final = re.compile(r"\s*#{1,3} [^\n]{1,200}\n")
_CITATION: Final = ("<oai-mem-citation>", "</oai-mem-citation>")  # where the model's memory had it from: the interface never shows it
_PLAN: Final = ("<proposed_plan>", "</proposed_plan>")  # the interface tells it apart from what is said around it
_IMAGE_TAG: Final = re.compile(r"\s*</?image(?:\s[^<>\n]{0,300})?>\s*")


@dataclass(frozen=True, slots=True)
class Line:
    """A record taken apart. ``outer`` is the wrapper's type, ``kind`` the payload's; both are ``unknown`` when nothing says them."""

    outer: str
    kind: str
    payload: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The kind of event, for whoever counts them."""
        return "compaction" if self.outer == "compacted" else self.outer if self.outer == self.kind else f"{self.outer}:{self.kind}"


def line(record: Mapping[str, Any]) -> Line:
    """A record of any generation: wrapped ``{timestamp, type, payload}``, a bare item of the first one, or its header."""
    outer, payload = text_of(record, "type"), record.get("payload")
    if outer and isinstance(payload, dict):
        if outer not in ("event_msg", "response_item"):
            return Line(outer, outer, payload)
        return Line(outer, text_of(payload, "type") or ("message" if "role" in payload else "unknown"), payload)
    if outer is None:
        header = text_of(record, "id") and "timestamp" in record
        kind = "state" if text_of(record, "record_type") else "message" if "role" in record else "session_meta" if header else "unknown"
        return Line("response_item" if kind == "message" else kind, kind, record)
    return Line(outer, outer, record) if outer in _WRAPPERS else Line("response_item", outer, record)


# ── who spoke ────────────────────────────────────────────────────────────────────────────────────────────────────
@dataclass(frozen=True, slots=True)
class Spoken:
    """A person's or the model's words. ``name`` is the source's own id, ``channel`` which of its tellings this is."""

    role: str
    channel: str
    content: Content
    name: str | None

    @property
    def text(self) -> str:
        """The words of all blocks."""
        return "\n".join(block["text"] for block in self.content if block["type"] == "text")

    @property
    def parts(self) -> list[str]:
        """The words as the interface tells them: what is said, then each plan that is proposed."""
        if self.role == "user" or self.channel == EVENT:
            return [self.text]
        around, plans = _apart(self.text, _PLAN)
        return [part for part in (around, *plans) if part.strip()] or [self.text]


def spoken(found: Line) -> Spoken | None:
    """What was said in a line; None when nobody spoke, or nothing is left of it without envelopes."""
    payload, made = found.payload, None
    if found.outer == "event_msg" and found.kind in _EVENTS:
        made = Spoken(_EVENTS[found.kind], EVENT, _content(payload.get("message")), None)
    elif found.outer == "event_msg" and found.kind == "item_completed":
        item = payload.get("item")
        if isinstance(item, dict) and (role := _ITEMS.get(text_of(item, "type") or "")):
            made = Spoken(role, EVENT, _content(item["text"] if "text" in item else item.get("content")), text_of(item, "id"))
    elif found.outer == "response_item" and found.kind == "message" and payload.get("role") in ("user", "assistant"):
        content = _content(payload["content"] if "content" in payload else payload.get("message"))
        made = Spoken(payload["role"], RESPONSE, content, text_of(payload, "id"))
    if made is None:
        return None
    clean = without_envelopes if made.role == "user" else _without_citations
    blocks = ({**block, "text": clean(block["text"])} if block["type"] == "text" else block for block in made.content)
    content = [block for block in blocks if block["type"] != "text" or block["text"].strip()]
    return Spoken(made.role, made.channel, content, made.name) if content else None  # a picture alone is a prompt too


def _content(value: Any) -> Content:
    """Blocks of text and images, by OpenClaw's names. What is neither, an encrypted block for one, is left out."""
    if isinstance(value, str):
        return [{"type": "text", "text": value}]
    found: Content = []
    for block in value if isinstance(value, list) else ():
        if not isinstance(block, dict):
            continue
        kind = text_of(block, "type") or ""
        if kind.lower() in ("input_text", "output_text", "text") and isinstance(block.get("text"), str):
            found.append({"type": "text", "text": block["text"]})
        elif kind in ("input_image", "image", "local_image"):
            found.append({"type": "image", **{name: block[name] for name in ("omitted", "bytes", "mimeType", "sha256") if name in block}})
    return found


def _without_citations(text: str) -> str:
    return _apart(text, _CITATION)[0]


def _apart(text: str, marks: tuple[str, str]) -> tuple[str, list[str]]:
    """A text without what stands between the two marks, and that; a mark without its partner is a word like any other."""
    kept, inside, at = [], [], 0
    while (begin := text.find(marks[0], at)) >= 0 and (end := text.find(marks[1], begin)) >= 0:
        kept.append(text[at:begin])
        inside.append(text[begin + len(marks[0]) : end])
        at = end + len(marks[1])
    return (text if not inside else "".join([*kept, text[at:]]).rstrip()), inside


def without_envelopes(text: str) -> str:
    """A block without the envelopes in front of it; the same text if it has none."""
    rest = _without_front(text)
    if _EDITOR.match(rest) and (request := _REQUEST.search(rest)) is not None:
        rest = _without_front(rest[request.end() :].strip())
    return "" if rest.lstrip().startswith(_WHOLE) or _IMAGE_TAG.fullmatch(rest) else rest


def _without_front(text: str) -> str:
    at = start = _skip(text, 0)
    lowered = ""
    while at < len(text):
        heading = _AGENTS.match(text, at)
        inner = _skip(text, heading.end()) if heading else at
        tag = _OPENING.match(text, inner)
        if tag is None:
            return "" if heading and heading["of"] else text[at:] if at > start else text  # without a tag it fills its block
        lowered = lowered or text.translate(_LOWER)
        mark = f"</{tag[1].translate(_LOWER)}>"
        # Instructions are a file's text, which may speak of the mark; whatever follows them is not theirs.
        close = (lowered.rfind if heading else lowered.find)(mark, tag.end())
        if close < 0:
            return "" if heading else text[at:] if at > start else text
        at = _skip(text, close + len(mark))
    return ""


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


# ── a line as an event ───────────────────────────────────────────────────────────────────────────────────────────
def view(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """A record as an OpenClaw-shaped event: messages, calls and results of tools, compactions; ``custom`` for all else."""
    if is_ours(record):
        return record
    found = line(record)
    payload = found.payload
    common = {"id": text_of(payload, "id") or POSITION, "timestamp": record.get("timestamp")}
    if (said := spoken(found)) is not None:
        return {**common, "type": "message", "message": {"role": said.role, "content": said.content}}
    if found.outer == "compacted":
        return {**common, "type": "compaction", "summary": payload.get("message")}
    if is_tool(found):
        return {**common, "type": "message", "message": _tool(found.kind, payload)}
    return {**common, "type": "custom", "customType": f"codex:{found.name}"}


def is_ours(record: Mapping[str, Any]) -> bool:
    """Whether a record was made by a later edit or an append here, and is OpenClaw-shaped already."""
    return record.get("type") in ("leaf", "reset") or (record.get("type") == "message" and isinstance(record.get("message"), dict))


def is_tool(found: Line) -> bool:
    """Whether a line is a call of a tool, or what one gave."""
    return found.outer == "response_item" and found.kind in _CALLS | _OUTPUTS


def _tool(kind: str, payload: Mapping[str, Any]) -> Mapping[str, Any]:
    call = text_of(payload, "call_id") or ""
    if kind in _CALLS:
        function = payload.get("function")
        name = text_of(payload, "name") or (text_of(function, "name") if isinstance(function, dict) else None) or kind
        given: Any = next((payload[key] for key in ("arguments", "input", "action") if key in payload), {})
        return {"role": "assistant", "content": [{"type": "toolCall", "id": call, "name": name, "arguments": given}]}
    gave = payload.get("output", payload.get("result"))
    if isinstance(gave, dict) and "type" not in gave:  # streams by name
        gave = list(gave.values())
    blocks = gave if isinstance(gave, list) else [gave]
    content = _content([{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks])
    return {"role": "toolResult", "toolCallId": call, "content": content}

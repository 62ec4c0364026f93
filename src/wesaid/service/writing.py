"""Writing: create, append, rewind, switch, fork, reset, patch, delete. Each is one transaction, and each may be refused.

Events written here are OpenClaw-shaped records without ``parentId``: the branch hangs them from the leaf that is current when the lock is held,
so that two writers of one session never abandon each other's words.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from wesaid import importers, keys, limits
from wesaid.engines.contract import View, Writer
from wesaid.errors import ConflictError, InputError, NotFoundError, quoted
from wesaid.rules import searchable
from wesaid.rules.redact import apply, joined
from wesaid.service import addressing, titling
from wesaid.service.opening import Home
from wesaid.service.preparing import again, prepare, readable
from wesaid.values import Caller, Event, Facts, Placed, Prepared, SessionRow, Tombstone

_DIALECT = "openclaw"
_ROLES = ("user", "assistant")
_HELPERS = ("subagent:", "acp:")  # names that sessions may give to what they spawn
_IDEMPOTENT = "k-"  # message ids that come from an idempotency key


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended:
    """A message that was written; ``timestamp`` in Unix milliseconds."""

    session_key: str
    session_id: str
    message_id: str
    timestamp: int
    duplicate: bool = False  # its idempotency key was used before; nothing was written


def create(home: Home, caller: Caller, key: str, *, spawned_by: str | None = None, label: str | None = None) -> SessionRow:
    """A new, empty session. ConflictError when it exists. A session caller may create what it spawns."""
    full = _writable(key)
    parent = str(keys.parse(spawned_by)) if spawned_by is not None else None
    _check_may_begin(home, caller, full, parent)
    with home.new_store(keys.parse(full).agent_id).writing() as writer:
        if writer.session(full) is not None:
            addressing.check_may_write(home, caller, full)  # that it exists is for those to know who may write to it
        return writer.create(_facts(home, full, parent, label))


def append(  # noqa: PLR0913 - who, where, what; the rest only when the session is made
    home: Home, caller: Caller, key: str, messages: Sequence[Mapping[str, Any]], *, spawned_by: str | None = None, create: bool = True
) -> list[Appended]:
    """Append messages in one transaction; the session is made when it is absent and ``create``.

    A message is ``{"role": "user"|"assistant", "text": str, "timestamp": ms?, "idempotencyKey": str?}``; anything else in it is an InputError.
    """
    full = _writable(key)
    if len(messages) > limits.APPEND_MANY_MAX:
        raise InputError(f"{len(messages)} messages in one append", hint=f"at most {limits.APPEND_MANY_MAX}", details={"field": "messages"})
    prepared = [_message(home, message, subagent=keys.kind(full) == "subagent") for message in messages]
    parent = str(keys.parse(spawned_by)) if spawned_by is not None else None
    store = home.engine.store(keys.parse(full).agent_id)
    if store is None:
        if not create:
            raise addressing.absent(key)
        _check_may_begin(home, caller, full, parent)  # who may not write leaves no empty database either
        store = home.new_store(keys.parse(full).agent_id)
    with store.reading() as view:
        is_new = view.session(full) is None
    if is_new:
        if not create:
            raise addressing.absent(key)
        _check_may_begin(home, caller, full, parent)
    with store.writing() as writer:
        row = writer.session(full)
        if row is None and not is_new:
            raise addressing.absent(key)  # deleted just now
        if row is None:
            row = writer.create(_facts(home, full, parent, None))
        else:
            addressing.check_may_write(home, caller, full)
            if parent is not None and row.facts.spawned_by != parent:
                addressing.check_operator(caller, "setting a parent later")  # lineage is set at creation, never by who reads
                _check_no_circle(writer, full, parent)
                row = writer.patch(full, replace(row.facts, spawned_by=parent)) if row.facts.spawned_by is None else _contradiction(full)
        placed = [_once(writer, row, each) for each in prepared]
        _entitle(writer, row, prepared)
    return [
        Appended(
            session_key=full, session_id=row.facts.session_id, message_id=str(one.id), timestamp=one.timestamp, duplicate=one.duplicate
        )
        for one in placed
    ]


def rewind(home: Home, caller: Caller, key: str, to: str) -> SessionRow:
    """Make a visible message the leaf: it stays, what came after it is abandoned. NotFoundError when it is not on the visible path."""
    return _move(home, caller, key, to, visible=True)


def switch(home: Home, caller: Caller, key: str, to: str) -> SessionRow:
    """Make any message of the current window the leaf, also one of an abandoned branch."""
    return _move(home, caller, key, to, visible=False)


def leaf_of(home: Home, caller: Caller, key: str) -> str | None:
    """The id of the event at the end of a session's visible path: what a rewind has to name to be undone."""
    row = addressing.visible_session(home, caller, key)
    with home.store(keys.parse(row.facts.key).agent_id).reading() as view:
        return view.windows(row.facts.key)[-1].leaf


def reset(home: Home, caller: Caller, key: str, *, reason: str = "reset") -> SessionRow:
    """Begin afresh in the same session: a reset event. What was said before stays findable and can be opened."""
    row = addressing.visible_session(home, caller, key)
    addressing.check_may_write(home, caller, row.facts.key)
    record = _ours({"type": "reset", "id": home.new_id(), "timestamp": iso(home.now()), "reason": reason})
    with home.store(keys.parse(row.facts.key).agent_id).writing() as writer:
        writer.append(row.facts.key, [_native(home, record)])
        return writer.session(row.facts.key) or row


def fork(home: Home, caller: Caller, key: str, at: str, *, new_key: str | None = None) -> SessionRow:
    """A new session that begins with the visible path of another up to a message, ids kept: its copies collapse in results."""
    row = addressing.visible_session(home, caller, key)
    addressing.check_may_write(home, caller, row.facts.key)
    agent = keys.parse(row.facts.key).agent_id
    full = _writable(new_key) if new_key is not None else f"agent:{agent}:dashboard:{home.new_id()}"
    parent = addressing.normal(caller).key
    if new_key is not None:
        _check_may_begin(home, caller, full, parent)
    source = home.store(agent)
    with source.reading() as view:
        found = view.locate(row.facts.key, at)
        if found is None or found.position is None:
            raise _no_message(at)
        events = view.path(found.window, start=0, count=found.position + 1)
        given = titling.derived(home.redactor, view, row, found.window)
    copies = [
        again(home.redactor, row.facts.dialect, event, subagent=keys.kind(full) == "subagent")
        for event in events
        if readable(event) is not None
    ]
    facts = replace(
        row.facts,
        key=full,
        session_id=home.new_id(),
        created_at=home.now(),
        updated_at=home.now(),
        kind=keys.kind(full),
        forked_from=row.facts.key,
        spawned_by=parent if parent != full else None,
        archived_at=None,
        extra={},
    )
    with home.new_store(keys.parse(full).agent_id).writing() as writer:
        if writer.session(full) is not None:
            addressing.check_may_write(home, caller, full)
        writer.create(facts)
        writer.append(
            full, [replace(copy, event=replace(copy.event, nav=replace(copy.event.nav, has_parent=False, parent=None))) for copy in copies]
        )
        return titling.renew(home.redactor, writer, writer.session(full) or row, given)


def patch(home: Home, caller: Caller, key: str, *, label: str | None = None, archived: bool | None = None) -> SessionRow:
    """Change a session's label (``""`` removes it) or whether it is archived."""
    row = addressing.visible_session(home, caller, key)
    addressing.check_may_write(home, caller, row.facts.key)
    if label is not None and len(label) > limits.LABEL_CODE_POINTS:
        raise InputError(f"a label of {len(label)} characters", hint=f"at most {limits.LABEL_CODE_POINTS}", details={"field": "label"})
    with home.store(keys.parse(row.facts.key).agent_id).writing() as writer:
        current = writer.session(row.facts.key)
        if current is None:
            raise addressing.absent(key)
        facts = current.facts
        if label is not None:
            facts = replace(facts, label=home.redactor.redact(clean(label)) or None)
        if archived is not None:
            facts = replace(facts, archived_at=(facts.archived_at or home.now()) if archived else None)
        return writer.patch(facts.key, facts)


def delete(home: Home, caller: Caller, key: str) -> Tombstone:
    """Remove a session: unfindable and unreadable when this returns; its tombstone keeps re-imports from bringing it back."""
    addressing.check_operator(caller, "deleting a session")
    row = addressing.visible_session(home, caller, key)
    with home.store(keys.parse(row.facts.key).agent_id).writing() as writer:
        return remove(writer, row.facts.key, home.now())


def remove(writer: Writer, key: str, now: int) -> Tombstone:
    """Delete a session in a transaction that is open, with what its sources' states say of it: where their readers stood, how it began."""
    for state in writer.sources(key):
        kept = {name: value for name, value in state.state.items() if name != "reader"}  # a file whose session is gone is read anew
        if "firsts" in kept:
            kept["firsts"] = {name: first for name, first in kept["firsts"].items() if name != key}
        writer.note_source(replace(state, state=kept))
    return writer.delete(key, now)


def iso(timestamp: int) -> str:
    """Unix milliseconds as OpenClaw writes them: ``2026-03-01T10:00:00.000Z``."""
    seconds, milliseconds = divmod(timestamp, limits.SECONDS_MS)  # whole numbers: a float has no room for the year 9999
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{milliseconds:03}Z"


def clean(text: str) -> str:
    """A text that every coding can hold: lone surrogates become U+FFFD, NUL a space."""
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8") if any("\ud800" <= c <= "\udfff" for c in text) else text
    return text.replace("\x00", " ")


# ── one message ──────────────────────────────────────────────────────────────────────────────────────────────────
def _check_may_begin(home: Home, caller: Caller, key: str, parent: str | None) -> None:
    """A session caller may begin itself, and helpers that it spawns in its own agent; everything else looks absent.

    Only helpers' keys (``subagent:``, ``acp:``): whoever began ``agent:main:main`` or a channel's key before its host does would own, read and
    forge that conversation from then on. The key of a deleted session is not for the taking either.
    """
    me = addressing.normal(caller).key
    if me is None or me == key:
        return
    parsed = keys.parse(key)
    is_helper = parsed.rest.startswith(_HELPERS) and parsed.agent_id == keys.parse(me).agent_id
    if me != parent or not is_helper or _is_deleted(home, key):
        addressing.check_may_write(home, caller, key)


def _is_deleted(home: Home, key: str) -> bool:
    store = home.engine.store(keys.parse(key).agent_id)
    if store is None:
        return False
    with store.reading() as view:
        return view.tombstone(key) is not None


def _check_no_circle(view: View, key: str, parent: str) -> None:
    """InputError when a session would descend from itself."""
    at: str | None = parent
    for _ in range(limits.LINEAGE_DEPTH_MAX):
        if at is None:
            return
        if at == key:
            raise InputError(f"session {key} cannot descend from itself", hint="give another parent", details={"field": "spawnedBy"})
        row = view.session(at)
        at = row.facts.spawned_by if row is not None else None
    raise InputError("the lineage is too deep", hint=f"at most {limits.LINEAGE_DEPTH_MAX} generations", details={"field": "spawnedBy"})


def _ours(record: dict[str, Any]) -> dict[str, Any]:
    """A record of our own, told from those of the session's tool by its mark."""
    return {**record, importers.NATIVE: {"version": 1}}


def _message(home: Home, message: Mapping[str, Any], *, subagent: bool) -> Prepared:
    unknown = set(message) - {"role", "text", "timestamp", "idempotencyKey"}
    if unknown:
        raise InputError(
            f"a message has no field {min(unknown)!r}", hint="role, text, timestamp, idempotencyKey", details={"field": "messages"}
        )
    role, text = message.get("role"), message.get("text")
    if role not in _ROLES:
        raise InputError(f"role is {role!r}", hint="user or assistant", details={"field": "role"})
    if not isinstance(text, str) or not text.strip():
        raise InputError("text is empty", hint="give what was said", details={"field": "text"})
    if len(text.encode("utf-8", "replace")) > limits.TEXT_BYTES:
        raise InputError(f"text is longer than {limits.TEXT_BYTES} bytes", hint="split it", details={"field": "text"})
    timestamp = message.get("timestamp")
    when = home.now() if timestamp is None else timestamp
    if not isinstance(when, int) or isinstance(when, bool) or not 0 <= when <= limits.TIMESTAMP_MS_MAX:
        raise InputError(
            f"timestamp is {timestamp!r}", hint=f"Unix milliseconds, 0 to {limits.TIMESTAMP_MS_MAX}", details={"field": "timestamp"}
        )
    repeat = message.get("idempotencyKey")
    name = (
        home.new_id()
        if repeat is None
        else _IDEMPOTENT + hashlib.sha256(str(repeat).encode("utf-8", "replace")).hexdigest()[: limits.ID_HEX_CHARS]
    )
    said = {"role": role, "content": [{"type": "text", "text": clean(text)}], "timestamp": when}
    record = _ours({"type": "message", "id": name, "timestamp": iso(when), "message": said})
    return prepare(
        home.redactor, _DIALECT, Event(nav=searchable.nav_of(record), type="message", timestamp=when, record=record), subagent=subagent
    )


def _once(writer: Writer, row: SessionRow, prepared: Prepared) -> Placed:
    """Write a message unless its idempotency key was used in this session before; then the first one is the answer."""
    name = str(prepared.event.nav.id)
    if name.startswith(_IDEMPOTENT) and writer.known_ids(row.facts.key, [name]):
        found = next((event for window in writer.windows(row.facts.key) if (event := writer.event(window.window, name)) is not None), None)
        if found is not None:
            return Placed(id=name, timestamp=found.timestamp, indexed=False, duplicate=True)
    return writer.append(row.facts.key, [prepared])[0]


def _entitle(writer: Writer, row: SessionRow, prepared: Sequence[Prepared]) -> None:
    """A session's title is the first line of the first thing that a person said; it is redacted like all that leaves."""
    if row.facts.title is not None:
        return
    for each in prepared:
        if each.said is not None and each.said.role == "user":
            found = searchable.searchable(each.event.record, joined)
            title = searchable.title_of(apply(found.text, each.said.spans)) if found else None
            if title:
                current = writer.session(row.facts.key)
                if current is not None:
                    writer.patch(row.facts.key, replace(current.facts, title=title))
                return


def _native(home: Home, record: dict[str, Any]) -> Prepared:
    event = Event(nav=searchable.nav_of(record), type=str(record["type"]), timestamp=home.now(), record=record)
    return prepare(home.redactor, _DIALECT, event)


def _move(home: Home, caller: Caller, key: str, to: str, *, visible: bool) -> SessionRow:
    row = addressing.visible_session(home, caller, key)
    full = row.facts.key
    addressing.check_may_write(home, caller, full)
    control = _ours({"type": "leaf", "id": home.new_id(), "timestamp": iso(home.now()), "targetId": to, "appendParentId": to})
    with home.store(keys.parse(full).agent_id).writing() as writer:
        window = writer.windows(full)[-1]
        target = writer.event(window.window, to)
        if target is None or (visible and target.position is None):
            raise _no_message(to)
        before = titling.derived(home.redactor, writer, row, window.window)
        writer.append(full, [_native(home, control)])
        if writer.windows(full)[-1].leaf != to:
            raise ConflictError(
                f"session {full} cannot go back to {to!r}", hint="nothing leads back across a reset", details={"field": "messageId"}
            )
        return titling.renew(home.redactor, writer, row, before)


def _facts(home: Home, key: str, spawned_by: str | None, label: str | None) -> Facts:
    if spawned_by == key:
        raise InputError("a session cannot spawn itself", details={"field": "spawnedBy"})
    now = home.now()
    return Facts(
        key=key,
        session_id=home.new_id(),
        dialect=_DIALECT,
        kind=keys.kind(key),
        label=home.redactor.redact(clean(label)) if label else None,
        created_at=now,
        updated_at=now,
        spawned_by=spawned_by,
    )


def _writable(key: str) -> str:
    full = str(keys.parse(key))
    if keys.is_incognito(full):
        raise InputError("incognito sessions are never stored", hint="take a key without `incognito-`", details={"field": "sessionKey"})
    return full


def _contradiction(key: str) -> SessionRow:
    raise ConflictError(
        f"session {key} was spawned by another session",
        hint="lineage is set once, when a session is created",
        details={"field": "spawnedBy"},
    )


def _no_message(message_id: str) -> NotFoundError:
    return NotFoundError(
        f"no message {quoted(message_id, limits.MESSAGE_ID_BYTES)} to go to in this session",
        hint="`wesaid history KEY` shows the messages and their ids",
        details={"field": "messageId"},
    )

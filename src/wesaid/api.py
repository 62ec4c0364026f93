"""The Python face: a store, its sessions, and questions with a caller.

.. code-block:: python

    import wesaid

    with wesaid.open() as store:
        chat = store.session("agent:main:main", create=True)
        chat.append("user", "we moved the ferry timetable to Postgres")
        page = store.search("ferry timetable", caller=wesaid.OPERATOR)
        around = store.history(page.hits[0].session_key, around=page.hits[0].message_id, caller=wesaid.OPERATOR)

Every read names its caller: there is no default, so that nobody reads as the operator by forgetting (contract.md §3). Writes through a store are
the host program's own, as the operator, unless a caller is given. Errors are those of ``wesaid.errors``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import FunctionType, TracebackType
from typing import Any, Literal, Self, TypedDict, TypeVar, Unpack

from wesaid import keys
from wesaid.errors import ConflictError, InputError, NotFoundError, WesaidError
from wesaid.service import (
    addressing,
    doctor,
    erasing,
    exporting,
    history,
    importing,
    listing,
    methods,
    opening,
    reconciling,
    searching,
    writing,
)
from wesaid.service.doctor import Report
from wesaid.service.erasing import Erased
from wesaid.service.exporting import Export
from wesaid.service.import_account import Account
from wesaid.service.listed import SessionsPage
from wesaid.service.opening import Home
from wesaid.service.preparing import safe
from wesaid.service.writing import Appended
from wesaid.values import OPERATOR, Caller, HistoryPage, Page, SessionRow, Tombstone

Face = TypeVar("Face")


def _clean(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method whose errors name nothing that its home hides."""

    @functools.wraps(method)
    def called(self: Any, *given: Any, **named: Any) -> Any:
        try:
            return method(self, *given, **named)
        except WesaidError as error:
            self._home.clean(error)
            raise

    return called


def _face(cls: type[Face]) -> type[Face]:
    """A class all of whose public methods are clean."""
    for name, found in list(vars(cls).items()):
        if not name.startswith("_") and isinstance(found, FunctionType):
            setattr(cls, name, _clean(found))
    return cls


class SearchOptions(TypedDict, total=False):
    """What ``Store.search`` takes besides the query; each is explained at the end of its line."""

    session_key: str  # a full key, a session id, "current" or "main": only this session
    agent_ids: tuple[str, ...]  # only these agents
    limit: int  # 1-25, 10 when absent
    role: Literal["user", "assistant"]
    after: str  # inclusive: an ISO date or time, "7d", "2w", "3mo", "yesterday", "last month"
    before: str  # exclusive, the same forms
    order: Literal["relevance", "newest", "oldest"]
    tool: str  # the tool that a session came from
    project: str  # its working folder, or a folder above that
    exclude_session_keys: tuple[str, ...]  # at most 200
    context: int  # 0-3 neighbours on each side
    detail: Literal["index", "snippet", "full"]
    wait_ms: int  # 0-2000: how long to wait for stale sessions to be rebuilt
    time_zone: str  # IANA name, for dates without a zone


class HistoryOptions(TypedDict, total=False):
    """What ``Store.history`` takes besides the session and the anchor."""

    limit: int  # 1-1000
    offset: int  # messages to pass over, counted from the newest
    session_id: str  # one generation of the session
    include_tools: bool  # tool calls and results too, redacted
    messages_before: int  # beside an anchor
    messages_after: int  # beside an anchor


class ListOptions(TypedDict, total=False):
    """What ``Store.sessions`` takes."""

    kinds: tuple[str, ...]  # main, group, cron, hook, subagent, import, other
    label: str
    agent_id: str
    search: str  # in key, title, label and project
    archived: bool | Literal["all"]
    active_minutes: int
    limit: int  # 1-200
    offset: int
    tool: str
    project: str
    include_derived_titles: bool
    include_last_message: bool


@_face
class Session:
    """One session of a store, as a thing to write to."""

    def __init__(self, home: Home, key: str, caller: Caller) -> None:
        self._home = home
        self._caller = caller
        self.key = key

    def append(
        self, role: Literal["user", "assistant"], text: str, *, timestamp: int | None = None, idempotency_key: str | None = None
    ) -> Appended:
        """Append one message; it is findable when this returns. ``timestamp`` in Unix milliseconds, now when absent."""
        message: dict[str, Any] = {"role": role, "text": text}
        if timestamp is not None:
            message["timestamp"] = timestamp
        if idempotency_key is not None:
            message["idempotencyKey"] = idempotency_key
        return writing.append(self._home, self._caller, self.key, [message])[0]

    def append_many(self, messages: Iterable[Mapping[str, Any]]) -> list[Appended]:
        """Append messages ``{"role", "text", "timestamp"?, "idempotencyKey"?}`` in one transaction: all of them or none."""
        return writing.append(self._home, self._caller, self.key, list(messages))

    def rewind(self, to: str) -> SessionRow:
        """Make a message of the visible path the leaf; what came after it can no longer be found."""
        return self._told(writing.rewind(self._home, self._caller, self.key, to))

    def switch(self, to: str) -> SessionRow:
        """Make any message of the session the leaf, also one of an abandoned branch."""
        return self._told(writing.switch(self._home, self._caller, self.key, to))

    def fork(self, at: str, *, new_key: str | None = None) -> Session:
        """A new session that begins with this one's visible path up to a message."""
        row = writing.fork(self._home, self._caller, self.key, at, new_key=new_key)
        return Session(self._home, row.facts.key, self._caller)

    def reset(self) -> SessionRow:
        """Begin afresh; what was said before stays findable."""
        return self._told(writing.reset(self._home, self._caller, self.key))

    def patch(self, *, label: str | None = None, archived: bool | None = None) -> SessionRow:
        """Change the label (``""`` removes it) or whether the session is archived."""
        return self._told(writing.patch(self._home, self._caller, self.key, label=label, archived=archived))

    def delete(self, *, wait: bool = False) -> Tombstone:
        """Remove the session; unfindable and unreadable when this returns.

        Its bytes go with later work (``Store.reconcile``), or before this returns with ``wait``: then that was proven, or it is a StoreError.
        """
        return erasing.delete(self._home, self._caller, self.key, wait=wait).tombstones[0]

    def info(self) -> SessionRow:
        """Its facts and counts; of other sessions it names only those that the caller may see."""
        return self._told(addressing.visible_session(self._home, self._caller, self.key))

    def _told(self, row: SessionRow) -> SessionRow:
        return safe(self._home.redactor, addressing.told_to(self._home, self._caller, row))


@_face
class Store:
    """All sessions of one home. Usable from several threads; a context manager that closes it."""

    def __init__(self, home: Home) -> None:
        self._home = home

    @property
    def path(self) -> Path:
        """The home's folder."""
        return self._home.path

    def session(self, key: str, *, create: bool = False, spawned_by: str | None = None, caller: Caller = OPERATOR) -> Session:
        """A session by its full key. NotFoundError when it is absent and not to be created.

        ``spawned_by`` sets the lineage at creation; one that contradicts what is stored is a ConflictError.
        """
        full = str(keys.parse(key))
        try:
            row = addressing.visible_session(self._home, caller, full)
        except NotFoundError:
            if not create:
                raise
            try:
                writing.create(self._home, caller, full, spawned_by=spawned_by)
            except ConflictError:  # another process was faster
                addressing.visible_session(self._home, caller, full)
            return Session(self._home, full, caller)
        if spawned_by is not None and row.facts.spawned_by != str(keys.parse(spawned_by)):
            writing.append(self._home, caller, full, [], spawned_by=spawned_by)
        return Session(self._home, full, caller)

    def search(self, query: str, *, caller: Caller, **options: Unpack[SearchOptions]) -> Page:
        """Search what was said: words, a ``"phrase"``, ``prefix*``, ``-word``, ``OR``, or a plain question.

        Raises:
            QueryError: the query is blank or too long.
            InputError: an option is unknown or out of range; it names the field and what is allowed.
            NotFoundError: a session or agent that is named is not there, or not visible to the caller.
        """
        return searching.search(self._home, caller, methods.convert(methods.SearchParams, {"query": query, **_public(options)}))

    def history(self, session_key: str, *, caller: Caller, around: str | None = None, **options: Unpack[HistoryOptions]) -> HistoryPage:
        """A stretch of a conversation: its newest messages, or those around the message with the id ``around``.

        Raises:
            InputError: an option is unknown or out of range.
            NotFoundError: a session or message that is not there, or that the caller may not see.
        """
        given = {"sessionKey": session_key, **_public(options)} | ({"messageId": around} if around is not None else {})
        return history.history(self._home, caller, methods.convert(methods.HistoryParams, given))

    def sessions(self, *, caller: Caller, **options: Unpack[ListOptions]) -> SessionsPage:
        """Sessions that the caller may see, latest first."""
        return listing.sessions(self._home, caller, methods.convert(methods.ListParams, _public(options)))

    def export(self, session_key: str, *, caller: Caller, format: Literal["jsonl", "md"] = "jsonl") -> Export:  # noqa: A002 - the contract's word
        """A session's lines, redacted, made as they are asked for; its ``unreadable`` then counts damaged rows that were passed over."""
        return exporting.export(self._home, caller, session_key, format=format)

    def import_paths(self, paths: Sequence[str | Path], *, tool: str | None = None, agent: str | None = None) -> Account:
        """Import transcripts; the account says what became of every message."""
        return importing.import_paths(self._home, [Path(path) for path in paths], tool=tool, agent=agent)

    def forget(
        self, session_key: str | None = None, *, source: str | Path | None = None, tool: str | None = None, before: str | int | None = None
    ) -> Erased:
        """Delete sessions and wait until their bytes are gone: one, those that came only from ``source``, or those of ``tool`` last added to ``before``.

        ``before`` is Unix milliseconds or a time as typed (``"2025-01-31"``, ``"3mo"``). The operator's. StoreError when bytes are left.
        """
        if [session_key, source, tool].count(None) != 2 or (tool is None) != (before is None):
            raise InputError("what is to be forgotten?", hint="give one of session_key, source, tool with before")
        if session_key is not None:
            return erasing.delete(self._home, OPERATOR, session_key, wait=True)
        if source is not None:
            return erasing.forget(self._home, OPERATOR, erasing.from_source(self._home, source))
        moment = before if isinstance(before, int) else erasing.moment(self._home, str(before))
        return erasing.forget(self._home, OPERATOR, erasing.of_tool(self._home, str(tool), before=moment))

    def reconcile(self, *, seconds: float) -> int:
        """Rebuild what is stale and erase what was deleted, for at most so long; how many windows are still stale."""
        return reconciling.reconcile(self._home, seconds=seconds)

    def doctor(self, *, fix: bool = False) -> Report:
        """Look whether everything is as it should be, changing nothing; with ``fix`` mend what can be mended without losing anything.

        ``Report.findings`` have ``code``, ``severity``, ``message``, ``command``. A database is exchanged only when no other process has it open.
        """
        return doctor.doctor(self._home, fix=fix)

    def close(self) -> None:
        """Close the databases; further use raises StoreError."""
        self._home.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def open(home: Path | str | None = None) -> Store:  # noqa: A001 - `wesaid.open()` is the contract's name
    """Open the store of a home folder (``WESAID_HOME`` or the platform's when absent). Nothing is written before something is appended."""
    return Store(opening.open_home(home))


def _public(params: Mapping[str, Any]) -> Mapping[str, Any]:
    """Parameters that Python's callers may give: raw text is for the command line alone."""
    if "reveal" in params:
        raise InputError("unknown parameter 'reveal'", hint="raw text is shown by the command line only", details={"field": "reveal"})
    return params

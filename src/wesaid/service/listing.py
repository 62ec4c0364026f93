"""``sessions_list``: sessions that a caller may see, latest first, filtered and paged. All text in a row is redacted when it is stored or read.

Rows are read as they are needed, a slice an agent: without filters a page costs what it shows, with them what has to be passed over, and memory
is bounded either way. The answer's bytes are kept by leaving whole rows out, which the page says.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import msgspec

from wesaid import folders, keys, limits
from wesaid.engines.contract import View
from wesaid.rules import bounds, searchable
from wesaid.service import addressing, lacking, resuming, showing, wire
from wesaid.service.listed import ListedSession, SessionsPage
from wesaid.service.methods import ListParams
from wesaid.service.opening import Home
from wesaid.service.preparing import lost, readable, safe, words_of
from wesaid.values import Caller, Filters, Message, Policy, Scope, SessionRow, StoredEvent


def sessions(home: Home, caller: Caller, params: ListParams) -> SessionsPage:
    """Sessions in the caller's scope that pass the filters. NotFoundError for an agent that is not there or not visible."""
    params = _asked(home, params)
    policy = addressing.policy_of(home, caller)
    scopes = addressing.scopes(home, policy, None if params.agent_id is None else (params.agent_id,))

    def answer(views: dict[str, View], failed: tuple[str, ...]) -> SessionsPage:
        begin = params.offset if len(views) == 1 and _takes_all(params) else 0  # passed over by the engine, without reading a row
        asked = Filters(tool=params.tool, project=params.project)
        streams = [_stream(agent, view, (scopes[agent], asked), begin) for agent, view in views.items()]
        passing = ((agent, row) for agent, row in heapq.merge(*streams, key=_latest) if _passes(home, row, params))
        chosen = list(islice(passing, params.offset - begin, params.offset - begin + params.limit + 1))
        more = len(chosen) > params.limit
        hint = None if chosen or params.offset or failed else lacking.reason(home.redactor, views, scopes, asked)
        reading = _Reading(home, caller, policy, params)
        rows = [reading.row(views[agent], row) for agent, row in chosen[: params.limit]]
        hint = lost(len(reading.lost)) if reading.lost else hint
        return replace(_bounded(params, rows, more=more, failed=failed), hint=hint)

    return home.answered(scopes, answer)


def _takes_all(params: ListParams) -> bool:
    """Whether no filter is set."""
    filters = (params.kinds, params.label, params.search, params.active_minutes, params.tool, params.project)
    return params.archived == "all" and not any(filters)


def _stream(agent: str, view: View, asked: tuple[Scope, Filters], offset: int) -> Iterator[tuple[str, SessionRow]]:
    """One agent's sessions in scope that tool and project leave, latest first, a slice at a time, ``offset`` of them passed over."""
    while rows := view.sessions(asked[0], offset=offset, limit=limits.LIST_SLICE_ROWS, filters=asked[1]):
        yield from ((agent, row) for row in rows)
        offset += len(rows)
        if len(rows) < limits.LIST_SLICE_ROWS:
            return


def _latest(pair: tuple[str, SessionRow]) -> tuple[int, str]:
    return -pair[1].facts.updated_at, pair[1].facts.key


def _bounded(params: ListParams, rows: Sequence[ListedSession], *, more: bool, failed: tuple[str, ...]) -> SessionsPage:
    """As many whole rows as fit into the answer's bytes; a first one that alone is too long loses its oldest messages."""
    room = limits.LIST_BYTES - limits.ENVELOPE_BYTES - limits.LIST_FLAGS_BYTES
    sizes = [wire.size(wire.session_json(row)) for row in rows]
    kept = bounds.fit(sizes, 0, room)
    shown = list(rows[:kept])
    if rows and not kept:
        shown = [_shortened(rows[0], room)]
    more = more or len(shown) < len(rows)
    return SessionsPage(
        rows=tuple(shown),
        count=len(shown),
        has_more=more,
        next_offset=params.offset + len(shown) if more else None,
        truncated="byte-limit" if kept < len(rows) else None,
        failed_agents=failed,
    )


def _shortened(row: ListedSession, room: int) -> ListedSession:
    while row.messages and wire.size(wire.session_json(row)) > room:
        row = replace(row, messages=row.messages[1:])
    return row


def _asked(home: Home, params: ListParams) -> ListParams:
    """What is asked for, redacted as what it is compared with: a list is no way to guess a secret."""
    label, tool, project, search = (
        home.redactor.redact(text) if text else None for text in (params.label, params.tool, params.project, params.search)
    )
    return msgspec.structs.replace(params, label=label, tool=tool, project=project, search=search)


def _passes(home: Home, row: SessionRow, params: ListParams) -> bool:
    facts = row.facts
    if (
        keys.is_incognito(facts.key)
        or (params.kinds and facts.kind not in params.kinds)
        or params.archived not in ("all", facts.archived_at is not None)
        or params.tool not in {None, facts.tool}
        or (params.active_minutes is not None and facts.updated_at < home.now() - params.active_minutes * limits.MINUTE_MS)
    ):
        return False
    if params.label is None and params.project is None and not params.search:
        return True
    facts = safe(home.redactor, row).facts  # what is compared is what is shown
    wanted = (params.search or "").casefold()
    return (
        params.label in {None, facts.label}
        and (params.project is None or folders.inside(facts.project, params.project))
        and wanted in " ".join(text for text in (facts.key, facts.title, facts.label, facts.project) if text).casefold()
    )


@dataclass(slots=True)
class _Reading:
    """Who reads what, and which rows were met that cannot be read."""

    home: Home
    caller: Caller
    policy: Policy
    params: ListParams
    lost: set[tuple[str, int, int]] = field(default_factory=set)  # session, window, seq

    def row(self, view: View, stored: SessionRow) -> ListedSession:
        """A session as the list shows it."""
        row, params = safe(self.home.redactor, stored), self.params
        facts = row.facts
        operator = self.caller.is_operator
        return ListedSession(
            key=facts.key,
            session_id=facts.session_id,
            agent_id=keys.parse(facts.key).agent_id,
            kind=facts.kind,
            title=facts.title,
            label=facts.label,
            tool=facts.tool,
            project=facts.project,
            message_count=row.message_count,
            created_at=facts.created_at,
            updated_at=facts.updated_at,
            archived=facts.archived_at is not None,
            spawned_by=facts.spawned_by if facts.spawned_by and addressing.allows(self.policy, facts.spawned_by) else None,
            stale=row.stale,
            source_path=row.source_path if operator else None,
            source_missing=row.source_missing and operator,
            derived_title=self._said(view, row, first=True) if params.include_derived_titles else None,
            last_message=self._said(view, row, first=False) if params.include_last_message else None,
            resume=resuming.resume(view, self.policy, row),
            messages=self._newest(view, row) if params.message_limit else (),
        )

    def _newest(self, view: View, row: SessionRow) -> tuple[Message, ...]:
        """The last messages of a session's current window, as history shows them."""
        count = self.params.message_limit
        window = next((window for window in reversed(view.windows(row.facts.key)) if window.findable), None)
        start = view.shown_at(window.window, max(view.shown(window.window) - count, 0)) if window is not None else None
        if window is None or start is None:
            return ()
        events = view.path(window.window, start=start, count=count, shown=True)
        how = showing.View(redactor=self.home.redactor)
        found = [(event, showing.shown(row, event, how)) for event in events]
        for event, one in found:
            if one is None:
                self._miss(row, event)
        return tuple(one.message for _, one in found if one is not None)

    def _said(self, view: View, row: SessionRow, *, first: bool) -> str | None:
        """The first human line or the last message of a session, redacted, then cut."""
        windows = [window for window in view.windows(row.facts.key) if window.findable]
        for window in windows if first else reversed(windows):
            total = view.shown(window.window)
            numbers = range(min(total, limits.ECHO_MESSAGES)) if first else range(total - 1, max(total - limits.ECHO_MESSAGES, 0) - 1, -1)
            for number in numbers:
                position = view.shown_at(window.window, number)
                events = view.path(window.window, start=position, count=1, shown=True) if position is not None else []
                words = words_of(self.home.redactor, row.facts.dialect, events[0]) if events else None
                if words is not None and (not first or words.role == "user"):
                    short = bounds.clip(" ".join(words.text.split()), limits.PREVIEW_CODE_POINTS)[0]
                    return searchable.title_of(words.text) if first else short
                if events and words is None:
                    self._miss(row, events[0])
        return None

    def _miss(self, row: SessionRow, event: StoredEvent) -> None:
        """Remember an event that nothing could be shown of, when the reason is that it cannot be read."""
        if readable(event) is None:
            self.lost.add((row.facts.key, event.window, event.seq))

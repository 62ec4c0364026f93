"""``sessions_list``: sessions that a caller may see, latest first, filtered and paged. All text in a row is redacted when it is stored or read."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from wesaid import keys, limits
from wesaid.engines.contract import View
from wesaid.rules import bounds, searchable
from wesaid.rules.redact import Redactor
from wesaid.service import addressing
from wesaid.service.methods import ListParams
from wesaid.service.opening import Home
from wesaid.service.preparing import safe, words_of
from wesaid.values import Caller, SessionRow


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSession:
    """A row (contract.md §2). ``source_path`` is for the operator only."""

    key: str
    session_id: str
    agent_id: str
    kind: str
    title: str | None
    label: str | None
    tool: str | None
    project: str | None
    message_count: int
    created_at: int
    updated_at: int
    archived: bool
    spawned_by: str | None
    stale: bool
    source_path: str | None = None
    source_missing: bool = False
    derived_title: str | None = None
    last_message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionsPage:
    """A page of sessions; ``count`` is how many it holds."""

    rows: tuple[ListedSession, ...]
    count: int
    has_more: bool
    next_offset: int | None = None


def sessions(home: Home, caller: Caller, params: ListParams) -> SessionsPage:
    """Sessions in the caller's scope that pass the filters. NotFoundError for an agent that is not there or not visible."""
    params = _asked(home, params)
    policy = addressing.policy_of(home, caller)
    agents = None if params.agent_id is None else (params.agent_id,)
    matching: list[tuple[str, SessionRow]] = []
    scopes = addressing.scopes(home, policy, agents)
    for agent, scope in scopes.items():
        with home.store(agent).reading() as view:
            known = (safe(home.redactor, row) for row in view.sessions(scope))
            matching += [(agent, row) for row in known if _passes(home, row, params)]
    matching.sort(key=lambda pair: (-pair[1].facts.updated_at, pair[1].facts.key))
    chosen = matching[params.offset : params.offset + params.limit]
    rows: list[ListedSession] = []
    for agent, row in chosen:
        if params.include_derived_titles or params.include_last_message:
            with home.store(agent).reading() as view:
                rows.append(_row(view, home.redactor, caller, row, params))
        else:
            rows.append(_row(None, home.redactor, caller, row, params))
    more = params.offset + len(chosen) < len(matching)
    return SessionsPage(rows=tuple(rows), count=len(rows), has_more=more, next_offset=params.offset + len(chosen) if more else None)


def _asked(home: Home, params: ListParams) -> ListParams:
    """What is asked for, redacted as what it is compared with: a list is no way to guess a secret."""
    label, project, search = (home.redactor.redact(text) if text else text for text in (params.label, params.project, params.search))
    return msgspec.structs.replace(params, label=label, project=project, search=search)


def _passes(home: Home, row: SessionRow, params: ListParams) -> bool:
    facts = row.facts
    wanted = (params.search or "").casefold()
    return (
        not keys.is_incognito(facts.key)
        and (not params.kinds or facts.kind in params.kinds)
        and params.archived in ("all", facts.archived_at is not None)
        and params.label in {None, facts.label}
        and params.tool in {None, facts.tool}
        and (params.project is None or _inside(facts.project, params.project))
        and (params.active_minutes is None or facts.updated_at >= home.now() - params.active_minutes * limits.MINUTE_MS)
        and wanted in " ".join(text for text in (facts.key, facts.title, facts.label, facts.project) if text).casefold()
    )


def _inside(project: str | None, folder: str) -> bool:
    root = folder.rstrip("/")
    return project is not None and (project == (root or "/") or project.startswith(root + "/"))


def _row(view: View | None, redactor: Redactor, caller: Caller, row: SessionRow, params: ListParams) -> ListedSession:
    facts = row.facts
    operator = caller.is_operator
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
        spawned_by=facts.spawned_by,
        stale=row.stale,
        source_path=row.source_path if operator else None,
        source_missing=row.source_missing and operator,
        derived_title=_said(view, redactor, row, first=True) if view is not None and params.include_derived_titles else None,
        last_message=_said(view, redactor, row, first=False) if view is not None and params.include_last_message else None,
    )


def _said(view: View, redactor: Redactor, row: SessionRow, *, first: bool) -> str | None:
    """The first human line or the last message of a session, redacted, then cut."""
    windows = [window for window in view.windows(row.facts.key) if window.findable]
    for window in windows if first else reversed(windows):
        total = view.shown(window.window)
        numbers = range(min(total, limits.ECHO_MESSAGES)) if first else range(total - 1, max(total - limits.ECHO_MESSAGES, 0) - 1, -1)
        for number in numbers:
            position = view.shown_at(window.window, number)
            events = view.path(window.window, start=position, count=1, shown=True) if position is not None else []
            words = words_of(redactor, row.facts.dialect, events[0]) if events else None
            if words is not None and (not first or words.role == "user"):
                return (
                    searchable.title_of(words.text) if first else bounds.clip(" ".join(words.text.split()), limits.PREVIEW_CODE_POINTS)[0]
                )
    return None

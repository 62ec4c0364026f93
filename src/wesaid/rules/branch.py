"""Which events of a window are on its visible path: OpenClaw's rules (openclaw.md §1.3), whole and one event at a time.

``resolve`` reads a whole transcript; ``advance`` places the next event from a small ``Cursor`` and a few look-ups, so that an engine
can append without reading back. Both decide by the one function ``_decide``; only the path itself is kept in two ways. This module
refuses to know texts, rows and storage: it sees ``Nav`` values and answers with numbers.

Words: a *node* is an event that others may hang from (it has an id, and is canonical or has a ``parentId``); a *control* is a ``leaf``
row with a ``targetId``. ``leaf`` is the tip of the visible path, ``append_parent`` the raw cursor of the writer, which side entries,
unknown types and controls move too.

Invariants:

* folding ``advance`` over a transcript gives, at every event, the path and the cursor that ``resolve`` gives for that prefix; where
  that would need more than the cursor and its look-ups, ``advance`` answers ``Diverges`` and never guesses;
* ``resolve`` takes linear time, ``advance`` at most ``_HOPS`` + 5 look-ups; a cursor has at most ``_DANGLING`` dangling ids.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from typing import Final

from wesaid.values import Nav, NavKind

_HOPS: Final = 8  # controls that aim at controls, followed so far; writers make one
_DANGLING: Final = 4  # first events with a parent that is not there; real files have at most one

_CANONICAL: Final = (NavKind.ENTRY, NavKind.RESET)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """Where a transcript stands after its first ``events`` events. The default is the start of an empty one.

    ``length`` is the number of positions of the visible path, right only while ``settled``; an unsettled cursor has to be replaced by
    that of ``resolve`` (``advance`` answers ``Diverges`` to it, whatever the event).
    """

    events: int = 0
    length: int = 0
    leaf: str | None = None
    append_parent: str | None = None
    reset_seq: int | None = None  # of the latest reset
    controlled: bool = False  # there was a valid control: an empty path then means nothing, not everything
    invalid_leaf: bool = False  # there was a control that names an unknown id
    dangling: tuple[str, ...] = ()  # parents of first events that were not there; should one come, ancestors change
    settled: bool = True

    def to_json(self) -> str:
        """A compact JSON object; ``from_json`` gives an equal cursor back."""
        return _ENCODE({name: getattr(self, name) for name in _FIELDS})  # flat: `asdict` would copy each field deeply

    @classmethod
    def from_json(cls, text: str) -> Cursor:
        """The cursor that ``to_json`` wrote. ValueError for anything else."""
        try:
            stored = json.loads(text)
            stored["dangling"] = tuple(stored["dangling"])
            return cls(**stored)
        except (KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError("no cursor") from error


_FIELDS: Final = tuple(field.name for field in fields(Cursor))
_ENCODE: Final = json.JSONEncoder(separators=(",", ":")).encode
START: Final = Cursor()


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """A transcript's visible path: ``path`` holds indexes into the events that were given, root first."""

    path: tuple[int, ...]
    cursor: Cursor

    @property
    def invalid_leaf(self) -> bool:
        """Whether a control named an unknown id, and was ignored."""
        return self.cursor.invalid_leaf


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What a look-up says of the newest event with an id. ``kind`` is its ``standing``, ``target`` that of a control.

    ``seq`` counts from the first event given to ``resolve`` or ``advance``; ``position`` is its place on the current path, or None.
    """

    kind: NavKind
    seq: int
    position: int | None = None
    target: str | None = None


Lookup = Callable[[str], Known | None]


@dataclass(frozen=True, slots=True)
class Extends:
    """The event goes on the path, after its last position."""

    cursor: Cursor


@dataclass(frozen=True, slots=True)
class Keeps:
    """The path stays as it is; the event is not on it."""

    cursor: Cursor


@dataclass(frozen=True, slots=True)
class Cuts:
    """The path is cut to its first ``keep`` positions; then the event goes on it if ``adds``."""

    cursor: Cursor
    keep: int
    adds: bool


@dataclass(frozen=True, slots=True)
class Diverges:
    """The path has to be resolved anew, this event included; ``cursor`` is unsettled."""

    cursor: Cursor


Step = Extends | Keeps | Cuts | Diverges


@dataclass(frozen=True, slots=True, kw_only=True)
class _Decision:
    """What one event does: ``cursor`` has everything but ``length``, ``parent`` is the logical one of a ``node``."""

    cursor: Cursor
    node: bool = False  # others may hang from it
    tip: bool = False  # and it is the new leaf
    control: bool = False  # a valid one
    parent: str | None = None
    missing: bool = False  # nothing has the parent's id (yet)
    sure: bool = True  # False: look-ups could not tell everything that the whole transcript can


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """An event in the table of ``resolve``: the newest with its id."""

    known: Known
    parent: str | None
    shown: bool  # False for an ignored control, which is transparent


def standing(nav: Nav) -> NavKind:
    """How an event stands in the tree: a node's kind, LEAF for a control, NONE for what nothing can hang from.

    A ``leaf`` row without ``targetId`` is no control but a row of unknown type (vector ``leaf_missing_targetId``).
    """
    kind = nav.kind
    if kind is NavKind.LEAF and not nav.has_target:
        kind = NavKind.OPAQUE
    if nav.id is None or (kind is NavKind.OPAQUE and not nav.has_parent):
        return NavKind.NONE
    return kind


def is_active(nav: Nav) -> bool:
    """Whether an event has a position when all rows count: canonical, in the tree, or with a ``message``; never a control."""
    if nav.kind is NavKind.LEAF:
        return standing(nav) is NavKind.OPAQUE
    return nav.kind in (NavKind.ENTRY, NavKind.RESET) or standing(nav) is not NavKind.NONE or nav.has_message


def resolve(navs: Iterable[Nav]) -> Resolution:
    """The visible path of a transcript and the cursor to continue from."""
    table: dict[str, _Row] = {}
    active: list[int] = []
    cursor = START

    def lookup(name: str) -> Known | None:
        row = table.get(name)
        return None if row is None else row.known

    for seq, nav in enumerate(navs):
        decision = _decide(cursor, nav, lookup)
        cursor = decision.cursor
        if is_active(nav):
            active.append(seq)
        if nav.id is not None and (decision.node or decision.control):
            kind = NavKind.LEAF if decision.control else nav.kind if nav.kind is not NavKind.LEAF else NavKind.OPAQUE
            known = Known(kind=kind, seq=seq, target=nav.target if decision.control else None)
            table[nav.id] = _Row(known=known, parent=decision.parent, shown=standing(nav) is not NavKind.LEAF)
    path, knotted = _walk(cursor.leaf, table)
    settled = not knotted and len(cursor.dangling) <= _DANGLING
    if not path and not cursor.controlled:
        path = active
        settled = settled and cursor.leaf is None  # else an ignored control took the leaf's id, and hides what is there
    return Resolution(path=tuple(path), cursor=replace(cursor, length=len(path), settled=settled))


def advance(cursor: Cursor, nav: Nav, lookup: Lookup) -> Step:
    """Where the event after ``cursor`` goes. Every event of a window has to be given, headers and unknown rows too.

    ``lookup`` answers for an id what is known of the newest *earlier* event that has it and stands in the tree (``standing`` is not
    NONE), or None. It is asked a few times only.
    """
    decision = _decide(cursor, nav, lookup)
    again = nav.id is not None and (decision.node or decision.control) and lookup(nav.id) is not None
    if again or not (cursor.settled and decision.sure and len(decision.cursor.dangling) <= _DANGLING):
        return Diverges(replace(decision.cursor, settled=False))
    everything = cursor.leaf is None and not cursor.controlled
    if not decision.tip and not decision.control:
        return _placed(cursor, decision, cursor.length, adds=everything and is_active(nav))
    anchor = decision.parent if decision.tip else decision.cursor.leaf
    if anchor is None or decision.missing:
        return _placed(cursor, decision, 0, adds=decision.tip)
    if anchor == cursor.leaf:
        return _placed(cursor, decision, cursor.length, adds=decision.tip)
    known = None if everything else lookup(anchor)  # positions say nothing of ancestors while all rows count
    if known is None or known.position is None:
        return Diverges(replace(decision.cursor, settled=False))
    return _placed(cursor, decision, known.position + 1, adds=decision.tip)


def _placed(before: Cursor, decision: _Decision, keep: int, *, adds: bool) -> Step:
    """The step that cuts to ``keep`` positions and adds the event or not, by its simplest name."""
    after = replace(decision.cursor, length=keep + adds)
    if keep != before.length:
        return Cuts(after, keep=keep, adds=adds)
    return Extends(after) if adds else Keeps(after)


def _walk(leaf: str | None, table: dict[str, _Row]) -> tuple[list[int], bool]:
    """From the leaf to the root, root first, as far as parents are there; and whether it ran in a circle (then it is empty)."""
    path: list[int] = []
    seen: set[str] = set()
    at = leaf
    while at is not None:
        if at in seen:
            return [], True
        seen.add(at)
        row = table.get(at)
        if row is None:
            break
        if row.shown:
            path.append(row.known.seq)
        at = row.parent
    path.reverse()
    return path, False


def _decide(cursor: Cursor, nav: Nav, lookup: Lookup) -> _Decision:
    """What an event does to the cursor, and which parent it has."""
    if nav.kind is NavKind.LEAF and nav.has_target:
        return _control(cursor, nav, lookup)
    if standing(nav) is NavKind.NONE:
        return _Decision(cursor=replace(cursor, events=cursor.events + 1))
    return _node(cursor, nav, lookup)


def _node(cursor: Cursor, nav: Nav, lookup: Lookup) -> _Decision:
    """An entry, a reset, a row of unknown type, or a control that is ignored."""
    parent, missing, sure = _parent(cursor, nav, lookup)
    dangling = cursor.dangling
    if missing and parent is not None and parent not in dangling:
        dangling = (*dangling, parent)[: _DANGLING + 1]
    if nav.id in dangling:
        sure = False  # what hung in the air has got an ancestor
        if len(dangling) <= _DANGLING:
            dangling = tuple(name for name in dangling if name != nav.id)
    tip = nav.kind in _CANONICAL and not nav.side
    after = Cursor(  # not replace(): this line is most of the time that resolving takes
        events=cursor.events + 1,
        length=cursor.length,
        leaf=nav.id if tip else cursor.leaf,
        append_parent=nav.id,
        reset_seq=cursor.events if tip and nav.kind is NavKind.RESET else cursor.reset_seq,
        controlled=cursor.controlled,
        invalid_leaf=cursor.invalid_leaf,
        dangling=dangling,
        settled=cursor.settled,
    )
    return _Decision(cursor=after, node=True, tip=tip, parent=parent, missing=missing, sure=sure)


def _parent(cursor: Cursor, nav: Nav, lookup: Lookup) -> tuple[str | None, bool, bool]:
    """The logical parent of a node, whether nothing has its id, and whether look-ups were enough to say so."""
    raw = nav.parent
    if not nav.has_parent or raw == cursor.leaf:
        return cursor.leaf, False, True
    if raw is None:
        return (None if cursor.reset_seq is None else cursor.leaf), False, True
    if nav.kind in _CANONICAL and not nav.side and raw == cursor.append_parent:
        return cursor.leaf, False, True  # it follows a side entry or an unknown row: that never enters the path
    at, known, ended = _follow(raw, lookup)
    sure = ended and not (cursor.invalid_leaf and at != raw)  # was it an ignored control on the way? A look-up cannot tell
    if cursor.reset_seq is not None and (known is None or known.seq < cursor.reset_seq):
        return cursor.leaf, False, sure  # nothing leads back across a reset; whatever came after it descends from it
    if at is not None and known is None and cursor.leaf is not None:
        return cursor.leaf, False, sure
    return at, at is not None and known is None, sure


def _control(cursor: Cursor, nav: Nav, lookup: Lookup) -> _Decision:
    """A ``leaf`` row with a ``targetId``: it moves the leaf, or is ignored when it names what is not there."""
    named = [name for name in (nav.target, nav.append_parent) if name is not None]
    if any(lookup(name) is None for name in named):
        flagged = replace(cursor, invalid_leaf=True)
        return _Decision(cursor=replace(flagged, events=cursor.events + 1)) if nav.id is None else _node(flagged, nav, lookup)
    leaf, known, sure = (None, None, True) if nav.target is None else _follow(nav.target, lookup)
    sure = sure and not (cursor.invalid_leaf and leaf != nav.target)
    if cursor.reset_seq is not None and (known is None or known.seq < cursor.reset_seq):
        leaf = cursor.leaf
    if nav.id in cursor.dangling:
        sure = False
    after = replace(cursor, events=cursor.events + 1, leaf=leaf, append_parent=nav.append_parent or leaf, controlled=True)
    return _Decision(cursor=after, control=True, parent=nav.target, sure=sure)


def _follow(start: str, lookup: Lookup) -> tuple[str | None, Known | None, bool]:
    """Through controls to a node: its id (None: a cleared path), what is known of it, and whether the way ended in ``_HOPS``."""
    at = start
    for _ in range(_HOPS + 1):
        known = lookup(at)
        if known is None or known.kind is not NavKind.LEAF:
            return at, known, True
        if known.target is None:
            return None, None, True
        at = known.target
    return None, None, False


__all__ = [
    "START",
    "Cursor",
    "Cuts",
    "Diverges",
    "Extends",
    "Keeps",
    "Known",
    "Lookup",
    "Resolution",
    "Step",
    "advance",
    "is_active",
    "resolve",
    "standing",
]

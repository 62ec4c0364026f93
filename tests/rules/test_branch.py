"""The visible path: OpenClaw's vectors, every sentence of its rules, and the promise that one event at a time gives the same."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wesaid.rules.branch import START, Cursor, Cuts, Diverges, Extends, Keeps, Known, advance, is_active, resolve, standing
from wesaid.rules.searchable import nav_of
from wesaid.values import Nav, NavKind

FIXTURES = Path(__file__).parents[1] / "fixtures"
VECTORS: dict[str, Any] = json.loads((FIXTURES / "branch_vectors.json").read_text(encoding="utf-8"))
NEVER = "absent"


def entry(name: str | None, parent: str | None = NEVER, *, side: bool = False, kind: NavKind = NavKind.ENTRY) -> Nav:
    has = parent != NEVER
    return Nav(kind=kind, id=name, parent=parent if has else None, has_parent=has, side=side, has_message=kind is NavKind.ENTRY)


def reset(name: str, parent: str | None = NEVER) -> Nav:
    return entry(name, parent, kind=NavKind.RESET)


def opaque(name: str | None, parent: str | None = NEVER) -> Nav:
    return entry(name, parent, kind=NavKind.OPAQUE)


def control(name: str | None, target: str | None, append: str | None = None, *, parent: str | None = None) -> Nav:
    return Nav(kind=NavKind.LEAF, id=name, parent=parent, has_parent=True, target=target, has_target=True, append_parent=append)


HEADER = Nav(kind=NavKind.NONE, id="S")


def seen(*navs: Nav) -> list[str | None]:
    return [navs[seq].id for seq in resolve(navs).path]


class Engine:
    """The smallest engine that obeys `advance`: a list for the path, and the newest event of each id."""

    def __init__(self) -> None:
        self.navs: list[Nav] = []
        self.path: list[int] = []
        self.cursor = START
        self.lookups = 0
        self.diverged = 0

    def lookup(self, name: str) -> Known | None:
        self.lookups += 1
        for seq in range(len(self.navs) - 1, -1, -1):
            nav = self.navs[seq]
            if nav.id == name and standing(nav) is not NavKind.NONE:
                position = self.path.index(seq) if seq in self.path else None
                return Known(kind=standing(nav), seq=seq, position=position, target=nav.target)
        return None

    def append(self, nav: Nav) -> None:
        step = advance(self.cursor, nav, self.lookup)
        seq = len(self.navs)
        self.navs.append(nav)
        match step:
            case Extends(cursor):
                self.path.append(seq)
            case Keeps(cursor):
                pass
            case Cuts(cursor, keep, adds):
                self.path = self.path[:keep] + ([seq] if adds else [])
            case Diverges():
                self.diverged += 1
                whole = resolve(self.navs)
                self.path, cursor = list(whole.path), whole.cursor
        self.cursor = cursor


def run(navs: Sequence[Nav]) -> Engine:
    engine = Engine()
    for nav in navs:
        engine.append(nav)
    assert tuple(engine.path) == resolve(navs).path
    return engine


IDS = st.sampled_from(["a", "b", "c", "d", "e"])
MAYBE = st.one_of(IDS, st.just("gone"), st.none())
PARENT = st.one_of(MAYBE, st.just(NEVER))
NAVS = st.one_of(
    st.builds(entry, st.one_of(IDS, st.none()), PARENT, side=st.booleans()),
    st.builds(entry, IDS, IDS),
    st.builds(reset, IDS, PARENT),
    st.builds(opaque, st.one_of(IDS, st.none()), PARENT),
    st.builds(control, st.one_of(st.sampled_from(["l", "m", "n"]), IDS, st.none()), st.one_of(MAYBE, st.just("l")), MAYBE, parent=MAYBE),
    st.builds(entry, IDS, st.sampled_from(["l", "m", "n"])),
    st.just(HEADER),
    st.just(Nav(kind=NavKind.LEAF, id="n", parent="a", has_parent=True)),
    st.just(Nav(kind=NavKind.OPAQUE, has_message=True)),
)


@st.composite
def fresh_ids(draw: st.DrawFn) -> list[Nav]:
    """Transcripts as writers make them: every id once, anything for a parent."""
    names = [f"n{number}" for number in range(draw(st.integers(1, 14)))]
    navs = []
    for number, name in enumerate(names):
        earlier = st.sampled_from([*names[:number], None, "gone", NEVER] if number else [None, "gone", NEVER])
        parent = draw(earlier)
        match draw(st.sampled_from(["entry", "entry", "entry", "side", "reset", "opaque", "control", "control"])):
            case "side":
                navs.append(entry(name, parent, side=True))
            case "reset":
                navs.append(reset(name, parent))
            case "opaque":
                navs.append(opaque(name, parent))
            case "control":
                aims = [draw(earlier) for _ in range(2)]
                navs.append(control(name, *[None if aim == NEVER else aim for aim in aims], parent=None if parent == NEVER else parent))
            case _:
                navs.append(entry(name, parent))
    return navs


@pytest.mark.parametrize("name", VECTORS)
def test_openclaws_own_answers_are_ours(name):
    """Each golden vector gives the same active rows, leaf and flag."""
    events, expected = VECTORS[name]["events"], VECTORS[name]["expected"]
    resolution = resolve([nav_of(event) for event in events])
    assert list(resolution.path) == expected["activeSeqs"]
    assert resolution.cursor.leaf == expected["leafEventId"]
    assert resolution.invalid_leaf is expected["invalidLeaf"]


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.lists(NAVS, max_size=14), fresh_ids()))
def test_one_event_at_a_time_gives_what_the_whole_gives(navs):
    """At every prefix, path and cursor of the steps equal those of `resolve`, whatever the events."""
    engine = Engine()
    for count, nav in enumerate(navs, start=1):
        engine.append(nav)
        whole = resolve(navs[:count])
        assert tuple(engine.path) == whole.path
        assert engine.cursor == whole.cursor


@settings(max_examples=100, deadline=None)
@given(st.lists(NAVS, max_size=14))
def test_a_cursor_survives_json(navs):
    """`from_json(to_json(c))` is `c`."""
    cursor = resolve(navs).cursor
    assert Cursor.from_json(cursor.to_json()) == cursor


@settings(max_examples=100, deadline=None)
@given(st.lists(NAVS, max_size=14))
def test_a_path_names_active_events_once(navs):
    """Every index of a path is an active event of the transcript, and none comes twice."""
    path = resolve(navs).path
    assert len(set(path)) == len(path)
    assert all(is_active(navs[seq]) for seq in path)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_ordinary_writing_never_diverges(data):
    """Appending to the leaf, side entries, rewinds and siblings on the path, and resets are all placed without a second reading."""
    engine = Engine()
    engine.append(HEADER)
    for number in range(data.draw(st.integers(1, 15))):
        name = f"n{number}"
        tip = engine.cursor.leaf
        place = data.draw(st.sampled_from([engine.navs[seq].id for seq in engine.path])) if engine.path else None
        after_reset = engine.cursor.reset_seq is not None
        choices = [
            "append",
            "append",
            "legacy",
            "side",
            "opaque",
            "reset",
            "sibling",
            "rewind",
            *([] if after_reset else ["root", "clear"]),
        ]
        match data.draw(st.sampled_from(choices)):
            case "append":
                engine.append(entry(name, engine.cursor.append_parent))
            case "legacy":
                engine.append(entry(name))
            case "side":
                engine.append(entry(name, engine.cursor.append_parent, side=True) if tip else entry(name, None))
            case "opaque":
                engine.append(opaque(name, tip) if tip else opaque(name))
            case "reset":
                engine.append(reset(name, tip))
            case "sibling":
                engine.append(entry(name, place))
            case "rewind":
                engine.append(control(name, place, parent=tip))
                engine.append(entry(f"{name}+", name))
            case "root":
                engine.append(entry(name, None))
            case "clear":
                engine.append(control(name, None, parent=tip))
    assert engine.diverged == 0
    assert tuple(engine.path) == resolve(engine.navs).path


def test_a_plain_append_asks_for_its_own_id_only():
    """Following the leaf costs one look-up an event: is the id new?"""
    engine = run([entry("a", None), *[entry(name, parent) for parent, name in zip("abcdefg", "bcdefgh", strict=True)]])
    assert engine.lookups == 8
    assert engine.diverged == 0


def test_a_rewind_cuts_the_path():
    """A control that names an id on the path is answered by a length, not by a new resolution."""
    engine = run([entry("a", None), entry("b", "a"), entry("c", "b")])
    step = advance(engine.cursor, control("l", "a", parent="c"), engine.lookup)
    assert isinstance(step, Cuts)
    assert (step.keep, step.adds) == (1, False)


def test_switching_to_an_abandoned_branch_diverges():
    """A target that is known but not on the path needs the whole transcript."""
    navs = [entry("a", None), entry("b", "a"), entry("c", "a"), control("l", "b", parent="c")]
    assert run(navs).diverged == 1
    assert seen(*navs) == ["a", "b"]


def test_a_cursor_that_diverged_stays_unsettled():
    """Whoever goes on with it is told again to resolve."""
    engine = run([entry("a", None), entry("b", "a"), entry("c", "a")])
    step = advance(engine.cursor, control("l", "b", parent="c"), engine.lookup)
    assert isinstance(step, Diverges)
    assert isinstance(advance(step.cursor, entry("d", "l"), engine.lookup), Diverges)


def test_a_label_on_an_older_node_drops_the_newer_sibling():
    """A label becomes the leaf like any entry."""
    assert seen(entry("a", None), entry("b", "a"), entry("c", "b"), entry("x", "a")) == ["a", "x"]


def test_an_entry_that_is_its_own_parent_follows_the_leaf():
    """The id is not there yet when its parent is looked for."""
    assert seen(entry("a", None), entry("b", "b")) == ["a", "b"]


def test_a_circle_shows_everything_without_a_control_and_nothing_with_one():
    """A true circle has no path; then all rows count, unless somebody moved the leaf."""
    circle = [HEADER, entry("a", "b"), entry("b", "a")]
    assert seen(*circle) == ["a", "b"]
    assert seen(*circle, control("l", "a", parent="b")) == []


def test_the_last_event_of_an_id_is_the_one():
    """A repeated id replaces the earlier row."""
    navs = [entry("a", None), entry("b", "a"), entry("b", "a")]
    assert resolve(navs).path == (0, 2)


def test_a_missing_ancestor_keeps_the_reachable_end():
    """A first entry whose parent was never written begins the path."""
    assert seen(HEADER, entry("b", "gone"), entry("c", "b")) == ["b", "c"]


def test_an_ancestor_that_comes_late_is_an_ancestor():
    """What hung in the air is joined when its parent appears."""
    navs = [entry("b", "a"), entry("a", None), entry("c", "b")]
    assert seen(*navs) == ["a", "b", "c"]
    assert run(navs).path == [1, 0, 2]


def test_a_control_may_aim_at_a_control():
    """Both as a target and as a parent, controls lead to where they point."""
    navs = [entry("a", None), entry("b", "a"), control("l", "a", parent="b"), entry("c", "l"), control("m", "l", parent="c")]
    assert seen(*navs) == ["a"]
    assert seen(*navs, entry("d", "m")) == ["a", "d"]
    assert run([*navs, entry("d", "m")]).diverged == 0


def test_a_control_with_an_unknown_append_parent_is_ignored():
    """Both ids of a control have to be there."""
    navs = [entry("a", None), entry("b", "a"), control("l", "a", "gone", parent="b")]
    assert seen(*navs) == ["a", "b"]
    assert resolve(navs).invalid_leaf


def test_an_ignored_control_is_transparent():
    """An entry that hangs from it goes on where it stood."""
    navs = [entry("a", None), control("l", "gone", parent="a"), entry("b", "l")]
    assert seen(*navs) == ["a", "b"]
    assert run(navs).diverged == 0
    later = [entry("a", None), control("l", "gone", parent="a"), entry("b", "a"), entry("c", "l")]
    assert seen(*later) == ["a", "c"]
    assert run(later).path == [0, 3]


def test_an_ignored_control_that_takes_the_leafs_id_hides_it():
    """The last event of an id is the one; nothing being visible then, all rows count, also for those that come."""
    navs = [entry(None), entry("c", "gone"), control("c", "gone", parent=None), entry(None)]
    assert run(navs).path == [0, 1, 3]


def test_side_entries_hang_from_each_other():
    """Only what is not a side entry is moved to the leaf."""
    navs = [entry("a", None), entry("s", "a", side=True), entry("t", "s", side=True), control("l", "t", parent="a")]
    assert seen(*navs) == ["a", "s", "t"]


def test_a_control_restores_the_side_cursor():
    """With `appendParentId`, the next entry that follows the side text still follows the leaf."""
    navs = [entry("a", None), entry("s", "a", side=True), control("l", "a", "s", parent="s"), entry("b", "s")]
    assert seen(*navs) == ["a", "b"]


def test_side_text_before_anything_else_shows_until_there_is_a_leaf():
    """Without a leaf and without a control all rows count; the first entry ends that."""
    first = entry("s", None, side=True)
    assert seen(first) == ["s"]
    assert seen(first, entry("a", "s")) == ["a"]


def test_nobody_goes_back_across_a_reset():
    """Entries, controls and new roots that do not descend from the latest reset stay on the current leaf."""
    start = [entry("a", None), entry("b", "a"), reset("r", "b"), entry("c", "r")]
    assert seen(*start, entry("d", "a")) == ["a", "b", "r", "c", "d"]
    assert seen(*start, entry("d", "r")) == ["a", "b", "r", "d"]
    assert seen(*start, entry("d", None)) == ["a", "b", "r", "c", "d"]
    assert seen(*start, control("l", "a", parent="c")) == ["a", "b", "r", "c"]
    assert seen(*start, control("l", "a", parent="c"), entry("d", "l")) == ["a", "b", "r", "c", "d"]
    assert seen(*start, control("l", "r", parent="c")) == ["a", "b", "r"]


def test_a_second_reset_is_the_boundary():
    """Only the latest reset counts."""
    navs = [entry("a", None), reset("r", "a"), entry("b", "r"), reset("q", "b"), entry("c", "b")]
    assert seen(*navs) == ["a", "r", "b", "q", "c"]


def test_an_unknown_row_moves_only_the_writers_cursor():
    """Its child follows the leaf; a later child of it shows it, since it is in the tree."""
    assert seen(entry("a", None), opaque("f", "a"), entry("b", "f")) == ["a", "b"]
    assert seen(entry("a", None), opaque("f", "a"), entry("b", "a"), entry("c", "f")) == ["a", "f", "c"]
    assert seen(entry("a", None), opaque("f"), entry("b", "f")) == ["a", "b"]


def test_a_file_without_ids_shows_every_row():
    """Nothing is linked, so all canonical rows count, the header and controls apart."""
    navs = [HEADER, entry(None), entry(None), Nav(kind=NavKind.OPAQUE), entry(None)]
    assert resolve(navs).path == (1, 2, 4)
    assert run(navs).diverged == 0


def test_many_dangling_parents_do_not_grow_a_cursor():
    """A hostile transcript can make `advance` useless, never large."""
    navs = [nav for n in range(50) for nav in (control(None, None), entry(f"n{n}", f"gone{n}"))]
    cursor = resolve(navs).cursor
    assert len(cursor.to_json()) < 400
    assert not cursor.settled


def test_long_transcripts_resolve_in_linear_work():
    """A chain, and a chain of controls, are each walked once."""
    chain = [entry("0", None), *[entry(str(n), str(n - 1)) for n in range(1, 20_000)]]
    controls = [control(f"l{n}", f"l{n - 1}" if n else "5", parent=None) for n in range(20_000)]
    asked = 0

    def lookup(name: str) -> Known | None:
        nonlocal asked
        asked += 1
        number = int(name[1:])
        return Known(kind=NavKind.LEAF, seq=number, target=f"l{number - 1}")

    assert len(resolve(chain).path) == 20_000
    assert resolve([*chain, *controls]).cursor.events == 40_000
    advance(
        replace(resolve(chain).cursor, append_parent=None), entry("new", "l19999"), lambda name: lookup(name) if name[0] == "l" else None
    )
    assert asked < 20

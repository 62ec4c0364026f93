"""For every transcript that we have: what the index holds is what the visible path says, no more and no less (openclaw.md §1.3, §1.8)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from wesaid.service import importing, opening, preparing
from wesaid.values import EVERYTHING, Clause, Filters, Flag, Match, Term

FIXTURES = Path(__file__).parent.parent / "fixtures"
FOLDERS = ("tree", "jsonl", "claude", "codex", "openclaw-state/file-era", "openclaw-state/sqlite-era")
MANY = 100_000


def said_on_paths(home, view):
    """``(window, seq) -> what was said there``, prepared from the stored record, of every visible event of a window that may be found."""
    said = {}
    for row in view.sessions(EVERYTHING):
        for window in view.windows(row.facts.key):
            for event in view.path(window.window, start=0, count=MANY) if window.findable else []:
                record = json.loads(event.body)
                found = preparing.said_by(home.redactor, row.facts.dialect, record, subagent=row.facts.kind == "subagent")
                if found is not None:
                    said[window.window, event.seq] = found
    return said


def places(view, word):
    """Where a word is found."""
    match = Match(all_of=(Clause(terms=(Term(text=word, tokens=(word,)),)),))
    return {(c.window, c.seq) for c in view.candidates(match, EVERYTHING, Filters(), limit=MANY).candidates}


@pytest.mark.parametrize("engine", ["memory", "sqlite"])
@pytest.mark.parametrize("folder", FOLDERS)
def test_the_index_of_every_fixture_is_what_its_visible_paths_say(tmp_path, folder, engine):
    """Each word of each visible message finds exactly the messages that say it, and nothing else is indexed; nothing is stale."""
    with opening.memory_home() if engine == "memory" else opening.open_home(tmp_path / "home", environ={}) as home:
        account = importing.import_paths(home, [FIXTURES / folder])
        assert account.totals.imported > 0
        for agent in home.engine.agents():
            with home.store(agent).reading() as view:
                assert view.stale(EVERYTHING, limit=9) == []
                said = said_on_paths(home, view)
                words = {word for one in said.values() for word in f"{one.index_text} {one.index_parts}".split()}
                for word in sorted(words):
                    assert places(view, word) == {
                        at for at, one in said.items() if word in f"{one.index_text} {one.index_parts}".split()
                    }, word
                assert view.indexed(EVERYTHING, bound=MANY) == len(said)
                for row in view.sessions(EVERYTHING):
                    shown = [
                        event
                        for window in view.windows(row.facts.key)
                        for event in view.path(window.window, start=0, count=MANY)
                        if (window.window, event.seq) in said and not event.flags & Flag.COPY
                    ]
                    assert row.message_count == len(shown)

"""Claims about ``stats``: what each agent holds, and an agent that cannot be read is said, not fatal."""

from __future__ import annotations

import json

from wesaid.service import counting, writing
from wesaid.values import OPERATOR


def test_an_empty_home_has_nothing(lab):
    """No agents, no totals."""
    assert counting.stats(lab.home) == {"home": str(lab.home.path), "agents": [], "totals": {}}


def test_every_agent_is_counted_and_summed(lab):
    """Sessions, events, messages, tombstones; the totals are the sums."""
    lab.say("one")
    first = lab.say("two", key="agent:work:main")
    lab.say("three", key="agent:work:main")
    writing.rewind(lab.home, OPERATOR, "agent:work:main", first)
    lab.say("gone", key="agent:work:gone")
    writing.delete(lab.home, OPERATOR, "agent:work:gone")
    found = counting.stats(lab.home)
    main, work = found["agents"]
    assert (main["agentId"], main["sessions"], main["events"], main["messages"], main["tombstones"]) == ("main", 1, 1, 1, 0)
    assert (work["agentId"], work["sessions"], work["events"], work["messages"], work["tombstones"]) == ("work", 1, 3, 1, 1)
    names = set(main) - {"agentId"}
    assert found["totals"] == {name: main[name] + work[name] for name in names}
    assert "two" not in json.dumps(found)


def test_an_agent_that_cannot_be_read_is_said(disk):
    """Its error stands in its row; the others are counted."""
    disk.say("one")
    folder = disk.home.path / "agents" / "broken"
    folder.mkdir()
    (folder / "agent.sqlite").write_bytes(b"garbage " * 2000)
    found = counting.stats(disk.home)
    assert [row["agentId"] for row in found["agents"]] == ["broken", "main"]
    assert found["agents"][0]["error"]["code"] == "store_damaged"
    assert found["totals"]["messages"] == 1

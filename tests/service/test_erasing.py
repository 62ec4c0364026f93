"""Claims about deleting for good: it waits for the bytes, proves that they are gone, and takes nothing else with it."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path

import pytest

from wesaid import limits
from wesaid.errors import InputError, NotFoundError, StoreReadOnlyError
from wesaid.service import erasing, importing, opening, reconciling, writing
from wesaid.values import OPERATOR, Caller

MAIN = "agent:main:main"
OTHER = "agent:main:other"
CJK = "龘靐齉爩鱻麤龗灪龖厵滟爨癵驫麣纞虋讟钃鸜"


def unique(number: int) -> str:
    """A word of sixteen letters that shares no 8 letters with the word of another number."""
    return base64.b32encode(hashlib.sha256(str(number).encode()).digest()).decode().lower()[:16]


def pieces(*texts: str) -> list[bytes]:
    """Every 8 bytes of texts."""
    return [raw[at : at + 8] for text in texts if (raw := text.encode()) for at in range(len(raw) - 7)]


def left(home: Path, *texts: str) -> list[bytes]:
    """Which pieces of texts are in any file of a home."""
    data = [path.read_bytes() for path in home.rglob("*") if path.is_file()]
    assert data
    return [piece for piece in pieces(*texts) if any(piece in one for one in data)]


def transcript(path: Path, session: str, *texts: str) -> Path:
    """A Claude Code transcript."""
    rows = []
    for n, text in enumerate(texts):
        rows.append(
            {
                "type": "user",
                "uuid": f"{session}-{n}",
                "parentUuid": f"{session}-{n - 1}" if n else None,
                "sessionId": session,
                "timestamp": f"2025-0{1 + n % 9}-01T00:00:00.000Z",
                "cwd": f"/home/{session}",
                "message": {"role": "user", "content": text},
            }
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_after_a_delete_that_waits_no_piece_is_in_any_file(disk):
    """Latin and CJK words, a title, a label, short and compressed messages: none of their 8-byte pieces is in any file; the neighbour stays."""
    for n in range(30):
        disk.say(f"{unique(n)} {CJK} ferry " + "and more of it " * (n % 3 * 40))
        disk.say(f"{unique(1000 + n)} ferry {CJK[:2]}", key=OTHER)
    writing.patch(disk.home, OPERATOR, MAIN, label=unique(99))
    secret = [unique(n) for n in range(30)] + [CJK, unique(99)]
    assert left(disk.home.path, *secret)
    erased = erasing.delete(disk.home, OPERATOR, MAIN, wait=True)
    assert erased.tombstones[0].erased_at is not None
    assert left(disk.home.path, *secret) == []
    assert erased.proof.left == 0
    assert erased.proof.pieces > 500
    assert erased.proof.bytes > 0
    assert disk.ids(unique(3)) == []
    assert len(disk.ids(unique(1003))) == 1
    assert len(disk.ids("ferry", sessionKey=OTHER, limit=25)) == 25
    assert disk.listed() == [OTHER]


def test_a_delete_that_does_not_wait_is_unfindable_at_once_and_erased_by_later_work(disk):
    """The tombstone says not erased yet; reconciling erases; then it says when."""
    disk.say(f"{unique(1)} ferry")
    disk.say("harbour", key=OTHER)
    erased = erasing.delete(disk.home, OPERATOR, MAIN)
    assert erased.proof is None
    assert erased.tombstones[0].erased_at is None
    assert disk.ids("ferry") == []
    reconciling.reconcile(disk.home, seconds=30)
    assert left(disk.home.path, unique(1)) == []
    with disk.home.store("main").reading() as view:
        assert view.tombstone(MAIN).erased_at >= disk.home.now()


def test_every_engine_deletes_with_proof(lab):
    """Whatever the engine, a delete that waits ends with a proof and a time."""
    lab.say(f"{unique(1)} ferry")
    lab.say("harbour", key=OTHER)
    erased = erasing.delete(lab.home, OPERATOR, MAIN, wait=True)
    assert erased.proof.left == 0
    assert erased.tombstones[0].erased_at >= lab.home.now()
    assert lab.listed() == [OTHER]


def test_only_the_operator_may_erase(lab):
    """A session caller gets the error of an absent session, and nothing is deleted."""
    lab.say("ferry")
    for doing in (
        lambda: erasing.delete(lab.home, Caller(MAIN), MAIN, wait=True),
        lambda: erasing.delete(lab.home, Caller(MAIN), MAIN),
        lambda: erasing.forget(lab.home, Caller(MAIN), erasing.Doomed({"main": (MAIN,)})),
    ):
        with pytest.raises(NotFoundError):
            doing()
    assert lab.listed() == [MAIN]


def test_forgetting_a_source_takes_what_came_only_from_it(disk, tmp_path):
    """Two files, and a third with a copy: the source's own session goes with every byte, its row too; the session with two sources stays."""
    first = transcript(tmp_path / "logs/private/a.jsonl", "aaaa", f"{unique(1)} ferry", f"{unique(2)} ferry")
    transcript(tmp_path / "logs/work/b.jsonl", "bbbb", f"{unique(3)} ferry")
    transcript(tmp_path / "logs/private/b.jsonl", "bbbb", f"{unique(3)} ferry")
    importing.import_paths(disk.home, [tmp_path / "logs"])
    doomed = erasing.from_source(disk.home, tmp_path / "logs/private")
    assert doomed.sessions == {"claude-code": ("agent:claude-code:import:aaaa",)}
    erased = erasing.forget(disk.home, OPERATOR, doomed)
    assert len(erased.sources) == 2
    assert left(disk.home.path, unique(1), unique(2), "/home/aaaa") == []
    assert disk.listed() == ["agent:claude-code:import:bbbb"]
    with disk.home.store("claude-code").reading() as view:
        assert [Path(state.path).parent.name for state in view.sources()] == ["work"]
    account = importing.import_paths(disk.home, [first])
    assert account.as_json()["totals"]["skipped"] == {"deleted": 2}
    assert disk.ids(unique(1)) == []


def test_what_was_erased_comes_back_only_when_it_is_asked_for(disk, tmp_path):
    """A deleted and erased session is refused by the next import, and read again by `--again` with all its messages."""
    path = transcript(tmp_path / "logs/a.jsonl", "aaaa", f"{unique(1)} ferry", f"{unique(2)} ferry")
    importing.import_paths(disk.home, [path])
    key = "agent:claude-code:import:aaaa"
    erasing.delete(disk.home, OPERATOR, key, wait=True)
    importing.import_paths(disk.home, [path])
    assert disk.ids("ferry") == []
    importing.import_paths(disk.home, [path], again=key)
    assert len(disk.ids("ferry")) == 2


def test_forgetting_an_unknown_source_names_no_file_that_exists(disk, tmp_path):
    """A path that was never imported is not found; nothing is deleted."""
    disk.say("ferry")
    with pytest.raises(NotFoundError):
        erasing.from_source(disk.home, tmp_path)
    assert disk.listed() == [MAIN]


def test_forgetting_a_tool_takes_what_was_last_added_to_before_a_time(disk, tmp_path):
    """Of a tool's sessions those that ended before the time go; later ones and other tools' stay; an unknown tool is an input error."""
    transcript(tmp_path / "logs/a.jsonl", "aaaa", f"{unique(1)} ferry")
    transcript(tmp_path / "logs/b.jsonl", "bbbb", *[f"{unique(10 + n)} ferry" for n in range(6)])
    importing.import_paths(disk.home, [tmp_path / "logs"])
    disk.say("ferry")
    doomed = erasing.of_tool(disk.home, "claude-code", before=erasing.moment(disk.home, "2025-03-01"))
    assert doomed.sessions == {"claude-code": ("agent:claude-code:import:aaaa",)}
    assert len(erasing.forget(disk.home, OPERATOR, doomed).tombstones) == 1
    assert left(disk.home.path, unique(1)) == []
    assert disk.listed() == ["agent:claude-code:import:bbbb", MAIN]
    with pytest.raises(InputError):
        erasing.of_tool(disk.home, "nobody", before=0)


def test_two_agents_are_erased_in_one_go(disk, tmp_path):
    """A source that was imported for two agents is forgotten in both databases; the proof names both files."""
    path = transcript(tmp_path / "logs/a.jsonl", "aaaa", f"{unique(1)} ferry")
    for agent in ("one", "two"):
        importing.import_paths(disk.home, [path], agent=agent)
    disk.say("ferry")
    erased = erasing.forget(disk.home, OPERATOR, erasing.from_source(disk.home, path))
    assert len(erased.tombstones) == 2
    assert {name.partition("/")[0] for name in erased.proof.files} == {"one", "two"}
    assert left(disk.home.path, unique(1)) == []


def test_what_a_source_says_of_how_a_session_began_goes_with_it(disk, tmp_path):
    """Reader states hold titles and beginnings: after a delete the source's row has none of it, and importing again changes nothing."""
    path = transcript(tmp_path / "logs/a.jsonl", "aaaa", f"{unique(1)} ferry")
    importing.import_paths(disk.home, [path])
    writing.delete(disk.home, OPERATOR, "agent:claude-code:import:aaaa")
    with disk.home.store("claude-code").reading() as view:
        [state] = view.sources()
    assert "reader" not in state.state
    assert state.state["firsts"] == {}


def test_erasing_a_home_that_may_not_be_written_says_so_and_searches_go_on(disk, monkeypatch):
    """In a read-only home background erasing reports that something is left, without an error; a delete is refused."""
    disk.say(f"{unique(1)} ferry")
    disk.say("harbour", key=OTHER)
    writing.delete(disk.home, OPERATOR, MAIN)
    disk.home.close()
    monkeypatch.setattr("os.access", lambda *_args, **_more: False)
    with opening.open_home(disk.home.path) as home:
        assert not erasing.erase(home, ["main"], seconds=1)
        with pytest.raises(StoreReadOnlyError):
            erasing.delete(home, OPERATOR, OTHER, wait=True)


def test_a_proof_looks_for_a_bounded_number_of_pieces(disk, monkeypatch):
    """A session with more pieces than the bound is proven by that many, taken from all of it."""
    monkeypatch.setattr(limits, "PROOF_PIECES", 300)
    for n in range(60):
        disk.say(f"{unique(n)} ferry")
    erased = erasing.delete(disk.home, OPERATOR, MAIN, wait=True)
    assert 100 <= erased.proof.pieces <= 300

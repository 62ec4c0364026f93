"""Claims about export: with ``reveal`` the very records, without it the same lines redacted as strings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from wesaid import limits
from wesaid.errors import InputError, NotFoundError
from wesaid.rules.redact import BUILT_IN
from wesaid.service import exporting, importing, opening, writing
from wesaid.values import EVERYTHING, OPERATOR

MAIN = "agent:main:main"
SECRET = "sk-AbCd3fGh1jKlMn0pQrStUvWxYz"


def test_revealed_lines_are_the_stored_records(lab):
    """Byte by byte and in order, abandoned branches included: nothing that was said is lost."""
    first = lab.say(f'say "{SECRET}" \\ and\nnew 会议 🚀 lines\t\x01')
    lab.say("abandoned")
    writing.rewind(lab.home, OPERATOR, MAIN, first)
    writing.reset(lab.home, OPERATOR, MAIN)
    lines = lab.exported(reveal=True).splitlines()
    assert [line.encode() for line in lines] == [event.body for event in lab.stored()]
    assert len(lines) == 4


def test_a_revealed_export_imports_again_to_the_same_events(disk, tmp_path):
    """What was exported from one home is in another what it was."""
    first = disk.say(f"the ferry key is {SECRET}")
    disk.say("abandoned walrus")
    writing.rewind(disk.home, OPERATOR, MAIN, first)
    disk.say("kept harbour", role="assistant")
    file = tmp_path / "again.jsonl"
    file.write_text(disk.exported(reveal=True), encoding="utf-8")
    with opening.open_home(tmp_path / "second") as second:
        importing.import_paths(second, [Path(file)], tool="openclaw", agent=None)
        [agent] = second.engine.agents()
        with second.store(agent).reading() as view:
            [row] = view.sessions(EVERYTHING)
            events = [event for window in view.windows(row.facts.key) for event in view.events(window.window, limit=100)]
            path = [event.id for window in view.windows(row.facts.key) for event in view.path(window.window, start=0, count=100)]
    assert [json.loads(event.body) for event in events] == [json.loads(event.body) for event in disk.stored()]
    with disk.home.store("main").reading() as view:
        assert path == [event.id for event in view.path(view.windows(MAIN)[-1].window, start=0, count=100)]


def test_an_export_that_nobody_reads_on_holds_no_log(disk, monkeypatch):
    """No reading is open between two lines: the write-ahead log of a store that goes on being written can be emptied (field report B90)."""
    monkeypatch.setattr(limits, "BUSY_MS", 10)
    disk.say_all([f"the ferry {number}" for number in range(3)])
    lines = exporting.export(disk.home, OPERATOR, MAIN)
    first = next(lines)
    disk.say("and another")
    assert disk.home.store("main").checkpoint()
    assert len([first, *lines]) == 4


def test_lines_without_reveal_are_json_without_the_secret(lab):
    """Each line parses; strings are redacted as strings, so that no escape breaks."""
    lab.say(f'quote " then {SECRET}\\n and password="hunter2 hunter2"')
    text = lab.exported()
    [record] = [json.loads(line) for line in text.splitlines()]
    assert SECRET not in text
    assert "hunter2" not in text
    assert "[redacted:sk-key]" in record["message"]["content"][0]["text"]
    assert list(record) == ["type", "id", "timestamp", "message", "__wesaid"]


def test_a_value_whose_name_says_that_it_is_secret_is_hidden(lab):
    """In a record's structure the name stands beside the value, not in its string."""
    made = exporting.redacted(
        BUILT_IN, {"arguments": {"password": "tide-table-9", "path": "/etc"}, "list": [{"apiKey": "AbCd3fGh1jKlMn0p"}], "n": 5, "b": None}
    )
    assert made["arguments"]["password"].startswith("[redacted:")
    assert made["list"][0]["apiKey"].startswith("[redacted:")
    assert (made["arguments"]["path"], made["n"], made["b"]) == ("/etc", 5, None)


def test_markdown_is_what_is_visible_redacted(lab):
    """The title, then each message with its role and time."""
    first = lab.say(f"the ferry {SECRET}")
    lab.say("abandoned walrus")
    writing.rewind(lab.home, OPERATOR, MAIN, first)
    text = lab.exported(format="md")
    assert text.startswith("# the ferry [redacted:sk-key]\n")
    assert "**user** · 2026-03-01T10:01:00.000Z\n\nthe ferry [redacted:sk-key]\n" in text
    assert "walrus" not in text
    assert SECRET not in text
    assert SECRET in lab.exported(format="md", reveal=True)


@pytest.mark.parametrize("brackets", ["[]", ("""{"a":""", "}")], ids=["lists", "objects"])
def test_a_record_that_is_nested_without_end_breaks_no_export(disk, tmp_path, brackets):
    """As deep as a parser goes: what is too deep to be looked through is left out, what stands before and behind it is there."""
    opening_, closing = brackets
    deep = f'{{"type":"message","id":"b","parentId":"a","deep":{opening_ * 900}"{SECRET}"{closing * 900},"message":{{"role":"user","content":"walrus"}}}}'
    file = tmp_path / "deep.jsonl"
    file.write_text(
        f'{{"type":"message","id":"a","parentId":null,"message":{{"role":"user","content":"otter"}}}}\n{deep}\n', encoding="utf-8"
    )
    importing.import_paths(disk.home, [file], tool="openclaw")
    with disk.home.store("main").reading() as view:
        [row] = view.sessions(EVERYTHING)
    text = "".join(exporting.export(disk.home, OPERATOR, row.facts.key))
    assert [json.loads(one)["id"] for one in text.splitlines()] == ["a", "b"]
    assert "walrus" in text
    assert SECRET not in text
    assert '{"omitted":true}' in text


def test_a_long_session_is_exported_whole(lab):
    """Over several slices, in order."""
    lab.say_all([f"message {number}" for number in range(1100)])
    lines = [json.loads(line)["message"]["content"][0]["text"] for line in lab.exported().splitlines()]
    assert lines == [f"message {number}" for number in range(1100)]
    assert lab.exported(format="md").count("**user**") == 1100


def test_a_wrong_format_and_an_absent_session_are_errors(lab):
    """With what is allowed."""
    lab.say("hello")
    with pytest.raises(InputError) as caught:
        lab.exported(format="pdf")
    assert "jsonl" in caught.value.hint
    with pytest.raises(NotFoundError):
        lab.exported("agent:main:nobody")

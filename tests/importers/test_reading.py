"""Files as other programs leave them: whatever is damaged, the rest is read."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wesaid import limits
from wesaid.errors import SourceError
from wesaid.importers import reading


def record(name: str) -> str:
    return json.dumps(
        {"type": "message", "id": name, "parentId": None, "message": {"role": "user", "content": [{"type": "text", "text": name}]}}
    )


def read(path: Path, data: bytes, offset: int = 0) -> list[reading.Line]:
    path.write_bytes(data)
    return list(reading.lines(str(path), offset))


def ids(lines: list[reading.Line]) -> list[str]:
    return [found["id"] for line in lines for found in line.records]


def test_a_bad_line_does_not_stop_the_reading(tmp_path: Path) -> None:
    """What comes after a cut line is read, and one line is counted as damaged (field report B41)."""
    lines = read(tmp_path / "f", f'{record("a")}\n{{"type":"mess\n{record("c")}\n'.encode())
    assert (ids(lines), sum(line.damaged for line in lines)) == (["a", "c"], 1)


@pytest.mark.parametrize(
    ("text", "found", "damaged"),
    [
        (record("a") + record("b"), ["a", "b"], 0),
        (record("a") + "  " + record("b"), ["a", "b"], 0),
        (record("a")[:40] + record("b"), ["b"], 1),
        (record("a")[:40] + record("b") + record("c"), ["b", "c"], 1),
        (record("a") + '{"type":"mess', ["a"], 1),
        (record("a") + '{"type":"mess' + record("c"), ["a", "c"], 1),
        ("\x00" * 50 + record("a"), ["a"], 0),
        ("\x00" * 50, [], 1),
        (record("a")[:-1], [], 1),
        ("not json at all", [], 1),
        ('{"a":' * 40_000, [], 1),
        ("[" * 100_000, [], 1),
        (json.dumps(record("a"))[:-3], [], 1),
    ],
    ids=["junction", "junction with spaces", "spliced", "spliced before two", "cut at the end", "cut in the middle", "NUL before", "NUL only",
         "inner object is no record", "no JSON", "open nesting", "open lists", "cut string"],
)  # fmt: skip
def test_a_damaged_line_gives_what_is_whole_of_it(tmp_path: Path, text: str, found: list[str], damaged: int) -> None:
    """Two whole records on a line lose nothing; a cut one costs itself and nothing else; an inner object is no record (field report B40)."""
    lines = read(tmp_path / "f", f"{text}\n".encode())
    assert (ids(lines), sum(line.damaged for line in lines)) == (found, damaged)


def test_a_last_line_that_is_still_being_written_is_pending(tmp_path: Path) -> None:
    """It is neither a record nor damage, and the offset stays before it, so that it is read when it is whole."""
    whole = record("a") + "\n"
    lines = read(tmp_path / "f", (whole + record("b")[:-5]).encode())
    assert (ids(lines), lines[-1].pending, lines[-1].damaged, lines[-1].end) == (["a"], True, 0, len(whole))
    assert ids(read(tmp_path / "f", (whole + record("b") + "\n").encode(), lines[-1].end)) == ["b"]


def test_a_last_line_without_newline_that_is_whole_is_a_record(tmp_path: Path) -> None:
    """Only a line that does not parse waits for its end."""
    lines = read(tmp_path / "f", record("a").encode())
    assert (ids(lines), lines[-1].pending) == (["a"], False)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_byte_order_mark_tells_the_encoding(tmp_path: Path, encoding: str) -> None:
    """UTF-8 with and without its mark and UTF-16 give the same records; a newline's byte inside a UTF-16 unit splits nothing."""
    text = "\r\n".join(json.dumps({"type": "message", "id": name, "timestamp": 1}, ensure_ascii=False) for name in ("ਊ਀a", "中b")) + "\r\n"
    assert ids(read(tmp_path / "f", text.encode(encoding))) == ["ਊ਀a", "中b"]


def test_only_a_newline_ends_a_line(tmp_path: Path) -> None:
    """U+2028, U+0085 and the old separators occur inside JSON strings."""
    name = "a\u2028b\u0085c\x1cd"
    assert ids(read(tmp_path / "f", (json.dumps({"id": name}, ensure_ascii=False).replace("\\u001c", "\x1c") + "\n").encode())) == [name]


def test_nothing_that_utf8_cannot_hold_comes_out(tmp_path: Path) -> None:
    """Lone surrogates, in values and in names, and bad bytes become U+FFFD, and the record is kept (field report B44)."""
    lines = read(tmp_path / "f", b'{"id":"a","k\\ud83d":["x\\ud83d y",{"z":"\\udc00"}]}\n{"id":"caf\xff"}\n')
    assert [found for line in lines for found in line.records] == [
        {"id": "a", "k\ufffd": ["x\ufffd y", {"z": "\ufffd"}]},
        {"id": "caf\ufffd"},
    ]


def test_a_value_that_is_no_object_is_neither_record_nor_damage(tmp_path: Path) -> None:
    """``[]``, a number, null and a string are passed by."""
    lines = read(tmp_path / "f", b'[]\n12\nnull\n"x"\n\n')
    assert (ids(lines), sum(line.damaged for line in lines)) == ([], 0)


def test_a_line_that_is_too_long_is_damage_and_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is passed over in pieces, and the lines around it are read."""
    monkeypatch.setattr(limits, "LINE_BYTES", 1000)
    monkeypatch.setattr(limits, "READ_CHUNK_BYTES", 300)
    lines = read(tmp_path / "f", f"{record('a')}\n{'x' * 5000}\n{record('b')}\n".encode())
    assert (ids(lines), sum(line.damaged for line in lines), lines[-1].end) == (["a", "b"], 1, (tmp_path / "f").stat().st_size)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_inside_a_line_that_is_too_long_one_may_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
    """It comes in pieces, which name where it begins, so that a reading that stopped can go on from there."""
    monkeypatch.setattr(limits, "LINE_BYTES", 1000)
    monkeypatch.setattr(limits, "READ_CHUNK_BYTES", 301)
    lines = read(tmp_path / "f", f"{record('a')}\n{'x' * 5000}\n{record('b')}\n".encode(encoding))
    pieces = [line for line in lines if line.piece]
    assert len(pieces) > 10
    assert {line.end for line in pieces} == {lines[0].end}
    rest = list(reading.lines(str(tmp_path / "f"), pieces[-1].end))
    assert (ids(rest), sum(line.damaged for line in rest), rest[-1].end) == (["b"], 1, lines[-1].end)


def test_a_file_that_is_one_endless_line_is_not_read_to_be_guessed(tmp_path: Path) -> None:
    """Nor what stands behind such a line: eight gigabytes of nothing are looked at as far as a line may go."""
    path = tmp_path / "f"
    path.write_text(record("a") + "\n")
    os.truncate(path, 8 * 1024**3)
    with path.open("ab") as stream:
        stream.write(f"\n{record('b')}\n".encode())
    assert [found["id"] for found in reading.head(str(path))] == ["a"]


@given(
    parts=st.lists(st.sampled_from(["one", "bad", "blank", "two", "list"]), max_size=12), chunk=st.integers(1, 200), at=st.integers(0, 12)
)
def test_reading_on_from_an_offset_is_reading_at_once(
    tmp_path_factory: pytest.TempPathFactory, parts: list[str], chunk: int, at: int
) -> None:
    """For every file, every size of chunk and every line to stop at: the two halves have the records and the damage of the whole."""
    texts = {"one": record("a"), "bad": '{"type"', "blank": "  ", "two": record("b") + record("c"), "list": "[1]"}
    path = tmp_path_factory.mktemp("f") / "f"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "READ_CHUNK_BYTES", chunk)
        whole = read(path, "".join(texts[part] + "\n" for part in parts).encode())
        first = whole[:at]
        rest = list(reading.lines(str(path), first[-1].end if first else 0))
    assert first + rest == whole
    assert len(whole) == len(parts)


def test_an_image_becomes_its_size_and_digest(tmp_path: Path) -> None:
    """Long base64 goes, whichever tool's field it is in; what it was can still be told; short and spoken text stays."""
    import base64  # only this test makes a payload

    data = bytes(range(256)) * 20
    payload = base64.b64encode(data).decode()
    digest = {"omitted": True, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    blocks = [
        {"type": "image", "data": payload, "mimeType": "image/png"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": payload}},
        {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{payload}"}},
        {"type": "text", "text": payload},
        {"type": "image", "data": "aGVsbG8="},
        {"images": [f"data:image/png;base64,{payload}", payload, "short"], "encrypted_content": payload},
    ]
    (line,) = read(tmp_path / "f", (json.dumps({"content": blocks}) + "\n").encode())
    assert line.records[0]["content"] == [
        {"type": "image", "mimeType": "image/png", **digest},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", **digest}},
        {"type": "image_url", "image_url": {"mimeType": "image/jpeg", **digest}},
        {"type": "text", "text": payload},
        {"type": "image", "data": "aGVsbG8="},
        {"images": [{"mimeType": "image/png", **digest}, payload, "short"], **digest},
    ]


def test_a_grown_file_is_the_same_file_and_a_rewritten_one_is_not(tmp_path: Path) -> None:
    """The head digest covers what was there at first, and the digest before the offset shows a change in the middle."""
    path = tmp_path / "f"
    path.write_bytes(b"first line\n")
    first, tail = reading.identify(str(path)), reading.digest_before(str(path), 11)
    path.write_bytes(b"first line\nsecond\n")
    assert reading.identify(str(path), like=first.head_digest).head_digest == first.head_digest
    assert reading.digest_before(str(path), 11) == tail
    path.write_bytes(b"First line\nsecond\n")
    assert reading.identify(str(path), like=first.head_digest).head_digest != first.head_digest
    assert reading.digest_before(str(path), 11) != tail


def test_words_are_found_across_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A needle that lies on the border of two chunks is found, and one before the start is not."""
    monkeypatch.setattr(limits, "READ_CHUNK_BYTES", 8)
    path = tmp_path / "f"
    path.write_bytes(b"......needle" + b"." * 80)
    assert reading.contains(str(path), "needle")
    assert reading.contains(str(path), "needle", start=12)  # the border may have been in the middle of it
    assert not reading.contains(str(path), "needle", start=12 + 6 * 6)
    assert not reading.contains(str(path), "noodle")


@given(
    escaped=st.sets(st.integers(0, 7)),
    upper=st.booleans(),
    coding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16-le", "utf-16-be"]),
    before=st.integers(0, 40),
    start=st.integers(0, 300),
)
def test_words_are_found_however_json_writes_them(tmp_path_factory, escaped, upper, coding, before, start) -> None:
    """For every coding, whichever characters are escaped, wherever a chunk ends or an earlier look did within them; control codes are none."""
    words = "a needle"
    escape = "\\u{:04X}" if upper else "\\u{:04x}"
    written = "".join(escape.format(ord(char)) if at in escaped else char for at, char in enumerate(words))
    mark = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}.get(coding, b"")
    path = tmp_path_factory.mktemp("said") / "f"
    lead = "\\u001b" * before
    path.write_bytes(mark + (lead + written + " and more" * 9).encode(coding))
    ends = len(mark + (lead + written).encode(coding)) - 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "READ_CHUNK_BYTES", 16)
        assert reading.contains(str(path), words, start=min(start, ends))
        assert not reading.contains(str(path), "b noodlz" if not escaped else "QQQ")


def test_a_walk_goes_in_no_circle(tmp_path: Path) -> None:
    """A link back to the top is not followed; names come sorted."""
    (tmp_path / "b").mkdir()
    (tmp_path / "a").mkdir()
    (tmp_path / "b" / "x.jsonl").write_text("")
    (tmp_path / "b" / "loop").symlink_to(tmp_path)
    folders = [found for found in reading.walk(str(tmp_path)) if isinstance(found, reading.Folder)]
    assert [Path(found.path).name for found in folders] == [tmp_path.name, "a", "b"]
    assert list(folders[-1].files) == ["x.jsonl"]


def test_what_is_no_file_is_refused_by_name(tmp_path: Path) -> None:
    """A folder, a pipe that would never open and a path that is not there each give an error with the path and what to do."""
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", tmp_path / "gone"):
        with pytest.raises(SourceError) as caught:
            list(reading.lines(str(path)))
        assert str(path) in caught.value.message
        assert caught.value.hint


def test_a_list_of_sessions_that_is_no_object_is_an_error(tmp_path: Path) -> None:
    """It names the file; a good one is read, its mark and its lone surrogates notwithstanding."""
    path = tmp_path / "sessions.json"
    for bad in (b"{", b"[]", b"\xff"):
        path.write_bytes(bad)
        with pytest.raises(SourceError, match=r"sessions\.json"):
            reading.document(str(path))
    path.write_bytes(b'\xef\xbb\xbf{"main":{"label":"\\ud83d"}}')
    assert reading.document(str(path)) == {"main": {"label": "\ufffd"}}

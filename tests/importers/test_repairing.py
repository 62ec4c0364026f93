"""A damaged line: what is whole of it is kept, and no line takes more than its length in work."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wesaid import limits
from wesaid.importers.repairing import parse

RECORD = '{"type":"message","id":"a","parentId":null,"list":[1,[2.5e3,-7],"\\u00e4\\n",true,null]}'
PARTS = (RECORD, RECORD[:40], RECORD[30:], '{"', '{"a":1}', "[", "]", '"', "\\", "12", "-", "tru", " ", "x", "{}")


def plainly(text: str) -> tuple[list[object], int]:
    """The same, tried from every place and without a bound."""

    def run(at: int) -> tuple[list[object], int]:
        found: list[object] = []
        while at < len(text):
            try:
                value, at = json.JSONDecoder(strict=False).raw_decode(text, at)
            except ValueError:
                break
            found.append(value)
            at += len(text[at:]) - len(text[at:].lstrip())
        return found, at

    values, at = run(0)
    if values and at == len(text):
        return values, 0
    at = at if values else 1
    while (at := text.find('{"', at)) >= 0:
        rest, end = run(at)
        if rest and end == len(text) and all(isinstance(one, dict) and "type" in one and "parentId" in one for one in rest):
            return values + rest, 1
        at += 1
    return values, 1


@given(text=st.lists(st.sampled_from(PARTS), min_size=1, max_size=12).map("".join).map(str.strip).filter(bool), size=st.integers(1, 40))
def test_slices_decide_nothing(text: str, size: int) -> None:
    """For every line and every length of a slice: what is kept is what trying each place on the whole line keeps."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "REPAIR_SLICE_CHARS", size)
        assert parse(text) == plainly(text)


@pytest.mark.parametrize(
    "piece", ['{"', '{"a":1}x', '{"a":', "[", '{"a":1}[1,', '{"a":["', '{"a":"x",', '[{"a":', '{"a":"\\u', '{"a":"y" '], ids=range(10)
)
@pytest.mark.parametrize("before", ["", '{"cut', '"'], ids=["", "cut", "string"])
def test_no_line_takes_more_work_than_its_length(piece: str, before: str) -> None:
    """Megabytes of what breaks at once come to an end: work that grew with the square of the length would take hours."""
    found, damaged = parse(before + piece * (limits.LINE_BYTES // 16 // len(piece)))
    assert (len(found) <= 1, damaged) == (True, 1)

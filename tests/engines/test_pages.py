"""Claims about bytes of a page that are nobody's: exactly those, and none of a page that is not understood."""

from __future__ import annotations

import random

import apsw
import pytest

from wesaid.engines.sqlite import pages

SIZE = 4096


@pytest.fixture
def database(tmp_path):
    """A database with a table whose rows were inserted in disorder, and some deleted; its path."""
    path = tmp_path / "some.sqlite"
    db = apsw.Connection(str(path))
    db.execute("CREATE TABLE word (word TEXT PRIMARY KEY, seen INTEGER) WITHOUT ROWID")
    words = [f"word{random.Random(n).random()}" for n in range(3000)]
    db.executemany("INSERT INTO word VALUES (?, 1)", [(word,) for word in words])
    db.executemany("DELETE FROM word WHERE word = ?", [(word,) for word in words[::3]])
    db.close()
    return path


def test_zeroing_what_is_nobodys_changes_no_row(database):
    """After every such range of every page is zeroed the database is whole and says the same, and no range is found again."""
    db = apsw.Connection(str(database))
    before = db.execute("SELECT * FROM word ORDER BY word").fetchall()
    db.close()
    data = bytearray(database.read_bytes())
    ranges = 0
    for number in range(1, len(data) // SIZE + 1):
        base = (number - 1) * SIZE
        for start, end in pages.nobodys(bytes(data[base : base + SIZE]), number):
            data[base + start : base + end] = bytes(end - start)
            ranges += 1
        assert not pages.nobodys(bytes(data[base : base + SIZE]), number)
    assert ranges > 10
    database.write_bytes(data)
    db = apsw.Connection(str(database))
    assert db.execute("PRAGMA integrity_check").get == "ok"
    assert db.execute("SELECT * FROM word ORDER BY word").fetchall() == before
    db.close()


@pytest.mark.parametrize(
    "page",
    [
        bytes(SIZE),
        b"\x00" + b"x" * (SIZE - 1),
        b"\x0d\x00\x00\xff\xff\x0f\x00" + b"x" * (SIZE - 7),
        b"\x0d\xff\xf0\x00\x01\x0f\x00" + b"x" * (SIZE - 7),
        b"\x0d\x0f\x10\x00\x01\x0f\x00" + b"\xff" * (SIZE - 7),
    ],
    ids=["zero", "overflow", "too-many-cells", "block-outside", "blocks-in-a-ring"],
)
def test_a_page_that_is_not_understood_is_left_alone(page):
    """Overflow pages, and headers that contradict themselves, have no range that is nobody's."""
    assert pages.nobodys(page, 2) == []


@pytest.mark.parametrize("seed", range(20))
def test_any_bytes_are_survived(seed):
    """Random pages give ranges inside the page or none, and never an error or an endless walk."""
    chance = random.Random(seed)
    for kind in (2, 5, 10, 13):
        page = bytes([kind]) + chance.randbytes(SIZE - 1)
        assert all(0 <= start <= end <= SIZE for start, end in pages.nobodys(page, 2))

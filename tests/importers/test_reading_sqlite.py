"""Other programs' databases: read whole, whatever their writer is doing, and left as they are."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wesaid import limits
from wesaid.errors import SourceError
from wesaid.importers import reading, reading_sqlite
from wesaid.importers.reading_sqlite import snapshot, unpacked, zstd

ROOT = Path(__file__).parents[2]


def writer(path: Path, mode: str = "wal") -> apsw.Connection:
    db = apsw.Connection(str(path))
    db.pragma("journal_mode", mode)
    db.wal_autocheckpoint(0)
    return db


def around(path: Path) -> dict[str, tuple[bytes, int]]:
    return {each.name: (each.read_bytes(), each.stat().st_mtime_ns) for each in path.parent.iterdir()}


def pairs(path: Path, scratch: Path | None = None) -> list[tuple[int, int]]:
    with snapshot(str(path), scratch) as taken:
        assert list(taken.rows("SELECT * FROM pragma_integrity_check")) == [("ok",)]
        return [(a, b) for a, b in taken.rows("SELECT a, b FROM pair ORDER BY a")]


def test_a_database_whose_tables_are_all_in_the_log_is_whole(tmp_path: Path) -> None:
    """One page on the disk and everything else in the log; nothing beside it changes, appears or goes (field report B55)."""
    path = tmp_path / "x.sqlite"
    db = writer(path)
    db.execute("CREATE TABLE pair (a, b); INSERT INTO pair VALUES (1, 1)")
    assert path.stat().st_size <= 4096
    before = around(path)
    assert pairs(path) == [(1, 1)]
    assert around(path) == before
    db.close()


def test_the_log_counts_as_part_of_the_database(tmp_path: Path) -> None:
    """A row that is only in the log makes another identity, also when the database is reached by a link."""
    path = tmp_path / "x.sqlite"
    (tmp_path / "link").symlink_to(path)
    db = writer(path)
    db.execute("CREATE TABLE pair (a, b)")
    before = reading.identify(str(path))
    db.execute("INSERT INTO pair VALUES (1, 1)")
    assert reading.identify(str(path)) != before
    assert reading.identify(str(tmp_path / "link")) == reading.identify(str(path))
    assert pairs(tmp_path / "link") == [(1, 1)]
    db.close()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(steps=st.lists(st.lists(st.sampled_from(["write", "passive", "restart", "truncate", "reopen"]), max_size=3), min_size=1, max_size=6))
def test_a_copy_is_one_moment_whatever_happens_between_its_files(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, steps: list[list[str]]
) -> None:
    """Commits and checkpoints between copying database and log: every transaction is in the copy whole or not at all, and none is lost."""
    path = tmp_path_factory.mktemp("moment") / "x.sqlite"
    box = [writer(path)]
    box[0].execute("CREATE TABLE pair (a INTEGER PRIMARY KEY, b); CREATE TABLE bulk (x)")
    count = 0

    def write() -> None:
        nonlocal count
        count += 1
        with box[0]:
            box[0].execute("INSERT INTO pair VALUES (?, 0)", (count,))
            box[0].execute("INSERT INTO bulk VALUES (zeroblob(9000))")
            box[0].execute("UPDATE pair SET b = ?", (count,))

    def reopen() -> None:
        box[0].close()
        box[0] = writer(path)

    modes = {
        "passive": apsw.SQLITE_CHECKPOINT_PASSIVE,
        "restart": apsw.SQLITE_CHECKPOINT_RESTART,
        "truncate": apsw.SQLITE_CHECKPOINT_TRUNCATE,
    }
    doings: dict[str, Callable[[], object]] = {"write": write, "reopen": reopen}
    doings |= {name: (lambda mode=mode: box[0].wal_checkpoint(mode=mode)) for name, mode in modes.items()}
    write()
    committed = count
    waiting, real = iter(steps), shutil.copyfile

    def copy(source: object, target: object) -> object:
        for step in next(waiting, ()):
            doings[step]()
        return real(str(source), str(target))

    with monkeypatch.context() as patched:
        patched.setattr(shutil, "copyfile", copy)
        patched.setattr(limits, "SNAPSHOT_PAUSE_SECONDS", 0)
        found = pairs(path)
    assert committed <= len(found) <= count
    assert {b for _, b in found} == {len(found)}
    box[0].close()


def test_a_database_that_never_rests_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log is begun anew during every copy: it says so, and what to do, and leaves no copy."""
    path, scratch = tmp_path / "x.sqlite", tmp_path / "scratch"
    scratch.mkdir()
    db = writer(path)
    db.execute("CREATE TABLE pair (a, b)")
    real = shutil.copyfile

    def copy(source: object, target: object) -> object:
        db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        db.execute("INSERT INTO pair VALUES (1, 1)")
        return real(str(source), str(target))

    monkeypatch.setattr(shutil, "copyfile", copy)
    monkeypatch.setattr(limits, "SNAPSHOT_PAUSE_SECONDS", 0)
    with pytest.raises(SourceError, match="changed all the time"):
        pairs(path, scratch)
    assert list(scratch.iterdir()) == []
    db.close()


def test_an_unfinished_transaction_of_the_older_kind_is_not_read(tmp_path: Path) -> None:
    """A journal that a crash left is rolled back in the copy; the source keeps it."""
    path = tmp_path / "x.sqlite"
    db = writer(path, "delete")
    db.execute("CREATE TABLE pair (a, b); INSERT INTO pair VALUES (1, 1)")
    db.pragma("cache_size", 1)
    db.pragma("cache_spill", 1)
    db.execute("BEGIN; CREATE TABLE bulk (x); UPDATE pair SET b = 2")
    for _ in range(50):
        db.execute("INSERT INTO bulk VALUES (zeroblob(9000))")
    before = around(path)
    assert "x.sqlite-journal" in before
    assert pairs(path) == [(1, 1)]
    assert around(path) == before
    db.execute("ROLLBACK")
    db.close()


def test_a_copy_is_private_and_has_no_name_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only its owner can look in while it is made; nothing is left when it is open, when reading fails, and from an earlier kill."""
    path, scratch = tmp_path / "x.sqlite", tmp_path / "scratch"
    scratch.mkdir()
    left = scratch / "wesaid-reading-of-yesterday"
    left.mkdir()
    os.utime(left, (time.time() - 90_000,) * 2)
    (scratch / "wesaid-reading-of-now").mkdir()
    (scratch / "wesaid-reading-by-another").mkdir()
    os.utime(scratch / "wesaid-reading-by-another", (time.time() - 90_000,) * 2)
    lock = os.open(scratch / "wesaid-reading-by-another", os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    others = {"wesaid-reading-of-now", "wesaid-reading-by-another"}
    db = writer(path)
    db.execute("CREATE TABLE pair (a, b); INSERT INTO pair VALUES (1, 1)")
    modes, real = [], shutil.copyfile

    def copy(source: object, target: object) -> object:
        modes.append(Path(str(target)).parent.stat().st_mode & 0o777)
        return real(str(source), str(target))

    monkeypatch.setattr(shutil, "copyfile", copy)

    def read() -> None:
        with snapshot(str(path), scratch) as taken:
            assert {each.name for each in scratch.iterdir()} == others
            assert list(taken.rows("SELECT a FROM pair")) == [(1,)]
            raise KeyError

    with pytest.raises(KeyError):
        read()
    assert (set(modes), {each.name for each in scratch.iterdir()}) == ({0o700}, others)
    os.close(lock)
    db.close()


def test_a_kill_leaves_no_copy(tmp_path: Path) -> None:
    """A process that ends without a word while it reads leaves nothing behind."""
    path, scratch = tmp_path / "x.sqlite", tmp_path / "scratch"
    scratch.mkdir()
    writer(path).execute("CREATE TABLE pair (a, b)")
    code = (
        "import os, pathlib, sys; from wesaid.importers.reading_sqlite import snapshot\n"
        "with snapshot(sys.argv[1], pathlib.Path(sys.argv[2])) as taken: os._exit(9)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path), str(scratch)], env={**os.environ, "PYTHONPATH": str(ROOT / "src")}, check=False
    )
    assert (done.returncode, list(scratch.iterdir())) == (9, [])


@pytest.mark.parametrize("kind", ["absent", "folder", "pipe", "empty", "text", "short", "header only", "NUL in its name"])
def test_what_is_no_database_is_an_error(tmp_path: Path, kind: str) -> None:
    """It names the path and a way out, and nothing hangs."""
    path = tmp_path / "x.sqlite"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "NUL in its name":
        path = tmp_path / "x\x00y"
    elif kind != "absent":
        path.write_bytes(
            {"empty": b"", "text": b"words " * 900, "short": b"SQLite f", "header only": reading_sqlite.MAGIC + b"\xff" * 84}[kind]
        )
    with pytest.raises(SourceError) as caught, snapshot(str(path)):
        pass
    assert caught.value.hint
    assert "x" in caught.value.message


def test_only_ordinary_tables_are_seen(tmp_path: Path) -> None:
    """A view or a virtual table may run whatever its author likes: neither is a table here."""
    path = tmp_path / "x.sqlite"
    db = writer(path)
    db.execute(
        "CREATE TABLE real (a); CREATE VIEW loop AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) SELECT x FROM n;"
        " CREATE VIRTUAL TABLE words USING fts5 (text)"
    )
    with snapshot(str(path)) as taken:
        assert (taken.has("real", "a"), taken.has("loop"), taken.has("words"), taken.has("real", "b")) == (True, False, False, False)
        with pytest.raises(SourceError):
            list(taken.rows("SELECT * FROM loop"))
        with pytest.raises(SourceError):
            list(taken.rows("DELETE FROM real"))
    db.close()


def test_a_frame_is_unpacked_as_far_as_a_line_may_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole frames come back; damaged, cut and overlong ones give nothing, and no more than a line is ever unpacked."""
    text = b'{"type": "message"}' * 100
    assert unpacked(zstd.compress(text)) == text
    assert unpacked(zstd.compress(text)[:-3]) is None
    assert unpacked(b"no frame") is None
    monkeypatch.setattr(limits, "LINE_BYTES", 1000)
    assert unpacked(zstd.compress(b"x" * 10_000_000)) is None


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    damage=st.lists(st.tuples(st.integers(0, 20_000), st.binary(min_size=1, max_size=60)), min_size=1, max_size=12),
    end=st.integers(1, 40_000),
)
def test_whatever_is_damaged_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, damage: list[tuple[int, bytes]], end: int
) -> None:
    """Bytes changed anywhere and a file cut anywhere: rows or a ``SourceError``, and nothing else."""
    path = tmp_path_factory.mktemp("damage") / "x.sqlite"
    db = writer(path, "delete")
    db.execute("CREATE TABLE pair (a INTEGER PRIMARY KEY, b TEXT); CREATE INDEX pairs ON pair (b)")
    with db:
        db.executemany("INSERT INTO pair VALUES (?, ?)", [(at, f"text {at} " * 9) for at in range(150)])
    db.close()
    data = bytearray(path.read_bytes())
    for at, piece in damage:
        data[at : at + len(piece)] = piece
    path.write_bytes(data[:end])
    with suppress(SourceError), snapshot(str(path)) as taken:
        if taken.has("pair", "a", "b"):
            list(taken.rows("SELECT a, b FROM pair ORDER BY b"))

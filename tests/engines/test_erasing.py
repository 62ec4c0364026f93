"""Claims about erasing: what was deleted is in no byte, what was not is all there, whoever writes, reads or is killed meanwhile."""

from __future__ import annotations

import base64
import hashlib
import os
import random
import select
import signal
import threading
import warnings
from pathlib import Path

import apsw

from engine_tools import KEY, OTHER, add, begin, found, ids, open_engine, say, snapshot
from wesaid import limits
from wesaid.values import EVERYTHING, Traces

FOREVER = 60.0
NOW = 1_800_000_000_000


def word(number: int) -> str:
    """A word of sixteen letters that shares no 8 letters with the word of another number."""
    return base64.b32encode(hashlib.sha256(str(number).encode()).digest()).decode().lower()[:16]


def private(number: int) -> str:
    """A word that only one session has."""
    return word(1_000_000 + number)


def fill(store, *, sessions: int = 12, messages: int = 40):
    """Sessions s0, s1, …; every third word of a message is its session's own. Appended in turns, so that their rows lie mixed."""
    for n in range(sessions):
        begin(store, key=f"agent:main:s{n}", title=f"t{private(n * 7919)}", project=f"/home/p{private(n * 104729)}")
    for m in range(messages):
        for n in range(sessions):
            text = " ".join([word(m % 50), private(n * 100_000 + m), "common words here"] * (1 + m % 12))
            add(store, say(f"m{n}-{m}", text, step=m * sessions + n), key=f"agent:main:s{n}")


def privates(n: int, messages: int = 40) -> list[bytes]:
    """Every 8-byte piece of the unique words of session n."""
    words = [private(n * 100_000 + m) for m in range(messages)] + [private(n * 7919), private(n * 104729)]
    return [w.encode()[at : at + 8] for w in words for at in range(len(w) - 7)]


def left(home: Path, pieces) -> list[bytes]:
    """Which pieces are in any file of a home."""
    data = [path.read_bytes() for path in home.rglob("*") if path.is_file()]
    return [piece for piece in pieces if any(piece in one for one in data)]


def delete(store, n: int) -> None:
    """Delete session n."""
    with store.writing() as writer:
        writer.delete(f"agent:main:s{n}", NOW)


def sound(store) -> None:
    """Both indexes and the file pass SQLite's own checks."""
    db = apsw.Connection(str(store.path))  # a new one: integrity_check of FTS5 looks at the structure that a connection remembers
    assert db.execute("PRAGMA integrity_check").get == "ok"
    db.execute("INSERT INTO words (words) VALUES ('integrity-check')")
    db.execute("INSERT INTO titles (titles) VALUES ('integrity-check')")
    db.close()


def test_a_delete_is_pending_until_it_is_erased_and_then_its_tombstone_says_when(store):
    """Before any delete nothing is pending; after it something is; after erasing nothing, and erased_at is the time given."""
    begin(store, say("a", "private words"))
    with store.reading() as view:
        assert not view.unerased()
    with store.writing() as writer:
        writer.delete(KEY, NOW)
    with store.reading() as view:
        assert view.unerased()
        assert view.tombstone(KEY).erased_at is None
    assert store.erase(seconds=FOREVER, now=NOW + 1)
    with store.reading() as view:
        assert not view.unerased()
        assert view.tombstone(KEY).erased_at >= NOW + 1
    assert store.erase(seconds=FOREVER, now=NOW + 2)
    with store.reading() as view:
        assert view.tombstone(KEY).erased_at >= NOW + 1


def test_erasing_changes_nothing_that_is_not_deleted(store):
    """Sessions, events, paths, matches and counts of what stays are the same before and after."""
    fill(store, sessions=4, messages=8)
    delete(store, 1)
    words = ["common", "words", word(3), private(200_003)]
    before = snapshot(store, words)
    assert store.erase(seconds=FOREVER, now=NOW + 1)
    assert snapshot(store, words) == before


def test_no_piece_of_a_unique_word_is_in_any_file(tmp_path):
    """Words, title and project of three deleted sessions, also in compressed records: no 8 bytes of them are in any file of the home."""
    engine = open_engine("sqlite", tmp_path)
    store = engine.store("main", create=True)
    fill(store)
    for n in (0, 5, 11):
        assert left(tmp_path, privates(n))
        delete(store, n)
    assert store.erase(seconds=FOREVER, now=NOW)
    assert [left(tmp_path, privates(n)) for n in (0, 5, 11)] == [[], [], []]
    assert all(left(tmp_path, privates(n)) for n in (1, 6, 10))
    sound(store)
    engine.close()
    assert [left(tmp_path, privates(n)) for n in (0, 5, 11)] == [[], [], []]


def test_the_stored_bytes_of_compressed_records_are_gone(tmp_path):
    """The compressed bodies as they lay in the file are no longer there, not even 8 bytes side by side."""
    engine = open_engine("sqlite", tmp_path)
    store = engine.store("main", create=True)
    noise = random.Random(9)
    for n in range(3):
        texts = [" ".join(f"{noise.getrandbits(48):x}" for _ in range(120)) for _ in range(30)]
        begin(store, *[say(f"m{n}-{m}", text, step=m) for m, text in enumerate(texts)], key=f"agent:main:s{n}")
    with store.reading() as view:
        bodies = [body for body in view.stored("agent:main:s1") if len(body) > limits.COMPRESS_FROM_BYTES]
    assert len(bodies) == 30
    pieces = [body[at : at + 8] for body in bodies for at in range(200, len(body) - 100, 8)]  # ends of records say the same in all
    assert len(left(tmp_path, pieces)) > len(pieces) / 2  # some are cut in two by overflow pages
    delete(store, 1)
    assert store.erase(seconds=FOREVER, now=NOW)
    assert left(tmp_path, pieces) == []
    engine.close()


def test_words_that_somebody_else_has_stay_in_the_vocabulary_and_others_go(tmp_path):
    """The word table holds exactly the words that some indexed message has."""
    engine = open_engine("sqlite", tmp_path)
    store = engine.store("main", create=True)
    begin(store, say("a", "shared alone"), say("b", "getUserName"))
    begin(store, say("c", "shared company user"), key=OTHER)
    with store.writing() as writer:
        writer.delete(KEY, NOW)
    assert store.erase(seconds=FOREVER, now=NOW)
    assert [row[0] for row in store.connection.execute("SELECT word FROM word ORDER BY word")] == ["company", "shared", "user"]
    engine.close()


def test_a_word_that_was_taken_out_comes_back_with_the_next_message_that_has_it(tmp_path):
    """A process that had learnt a word before another one's erasure took it out learns it anew: a prefix finds it."""
    ours, theirs = open_engine("sqlite", tmp_path), open_engine("sqlite", tmp_path)
    store = ours.store("main", create=True)
    begin(store, say("a", "zeppelin"))
    begin(store, say("b", "ferry"), key=OTHER)
    other = theirs.store("main")
    with other.writing() as writer:
        writer.delete(KEY, NOW)
    assert other.erase(seconds=FOREVER, now=NOW)
    add(store, say("c", "zeppelin", step=5), key=OTHER)
    assert [row[0] for row in store.connection.execute("SELECT word FROM word WHERE word = 'zeppelin'")] == ["zeppelin"]
    ours.close()
    theirs.close()


def test_a_scan_finds_what_is_there_and_tells_shared_from_left(tmp_path):
    """Pieces of a live row are shared; pieces that lie where no row is are left; pieces that are nowhere are neither."""
    engine = open_engine("sqlite", tmp_path)
    store = engine.store("main", create=True)
    begin(store, say("a", "quarantine procedure"), say("b", "zanzibar"))
    begin(store, say("c", "quarantine"), key=OTHER)
    shared = store.traces(frozenset([b"quaranti", b"nowhere!"]))
    assert (shared.shared, shared.left) == (1, 0)
    assert shared.bytes + 32 == sum(
        path.stat().st_size for path in tmp_path.rglob("agent.sqlite*") if not path.name.endswith("-shm")
    )  # the log's header
    with store.writing() as writer:
        writer.delete(KEY, NOW)
    assert store.erase(seconds=FOREVER, now=NOW)
    after = store.traces(frozenset([b"zanzibar", b"quaranti"]))
    assert (after.shared, after.left) == (1, 0)
    engine.close()


def test_what_lies_where_no_row_is_counts_as_left_and_another_round_takes_it_out(tmp_path):
    """A copy in the gap of a page, as SQLite leaves them behind, is found; a round begun anew zeroes it; the row beside it stays."""
    engine = open_engine("sqlite", tmp_path)
    store = engine.store("main", create=True)
    begin(store, say("a", "zeppelin"))
    store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    root = store.connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'tombstone'").get
    engine.close()
    with store.path.open("r+b") as file:
        file.seek((root - 1) * 4096 + 2000)
        file.write(b"zanzibar")
    engine = open_engine("sqlite", tmp_path)
    store = engine.store("main")
    assert store.traces(frozenset([b"zanzibar", b"zeppelin"])) == Traces(
        files=("agent.sqlite", "agent.sqlite-wal"), bytes=store.path.stat().st_size, pieces=2, shared=1, left=1
    )
    assert store.erase(seconds=FOREVER, now=NOW)
    assert store.traces(frozenset([b"zanzibar"])).left == 1
    assert store.erase(seconds=FOREVER, now=NOW, anew=True)
    assert store.traces(frozenset([b"zanzibar"])).left == 0
    assert ids(store, "zeppelin") == ["a"]
    sound(store)
    engine.close()


def test_a_little_time_at_a_time_gets_there(tmp_path, monkeypatch):
    """Calls with no time at all do a slice each, keep their progress, and end; deletes that come in between are erased too."""
    monkeypatch.setattr(limits, "ERASE_MERGE_PAGES", 1)
    monkeypatch.setattr(limits, "ERASE_WORDS", 100)
    monkeypatch.setattr(limits, "ERASE_PAGES", 10)
    engine = open_engine("sqlite", tmp_path)
    store = engine.store("main", create=True)
    fill(store)
    delete(store, 3)
    calls = 0
    while not store.erase(seconds=0, now=NOW):
        calls += 1
        if calls == 2:
            delete(store, 4)
        assert calls < 1000
    assert calls > 5
    assert left(tmp_path, privates(3) + privates(4)) == []
    engine.close()


def test_a_reader_that_holds_an_old_state_only_delays_it(tmp_path):
    """While somebody reads an old state erasing returns False soon; when he is done it goes on, and the reader saw what he saw."""
    engine = open_engine("sqlite", tmp_path)
    store = engine.store("main", create=True)
    fill(store, sessions=3, messages=5)
    with store.reading() as view:
        assert view.session("agent:main:s1") is not None
        delete(store, 1)
        assert not store.erase(seconds=0.5, now=NOW)
        assert view.session("agent:main:s1") is not None
    assert store.erase(seconds=FOREVER, now=NOW)
    assert left(tmp_path, privates(1, 5)) == []
    engine.close()


def test_others_write_and_search_while_it_erases(tmp_path):
    """Two writers and two readers meanwhile: no error, no lost message, the right words found, and at the end no piece is left."""
    engine = open_engine("sqlite", tmp_path)
    store = engine.store("main", create=True)
    fill(store)
    for name in ("w0", "w1"):
        begin(store, key=f"agent:main:{name}")
    delete(store, 2)
    stop, errors, written = threading.Event(), [], {"w0": 0, "w1": 0}

    def write(name: str) -> None:
        mine = open_engine("sqlite", tmp_path)
        try:
            while not stop.is_set():
                number = written[name]
                add(mine.store("main"), say(f"{name}-{number}", f"needle {word(number)}", step=number), key=f"agent:main:{name}")
                written[name] += 1
        except BaseException as error:  # noqa: BLE001 - told to the test
            errors.append(error)
        mine.close()

    def read() -> None:
        try:
            while not stop.is_set():
                assert not found(store, private(200_001))
                assert len(found(store, private(300_001))) == 1
        except BaseException as error:  # noqa: BLE001 - told to the test
            errors.append(error)

    threads = [threading.Thread(target=write, args=(name,)) for name in written] + [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        store.erase(seconds=0.1, now=NOW)
    stop.set()
    for thread in threads:
        thread.join()
    assert errors == []
    assert store.erase(seconds=FOREVER, now=NOW)
    assert left(tmp_path, privates(2)) == []
    assert len(found(store, "needle")) == sum(written.values()) > 0
    sound(store)
    engine.close()


def forked(work) -> int:
    """Another process that does this until it is killed; its number. Nothing of SQLite is open here meanwhile."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads that a test runner has: the child uses none of them
        child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(1)
    return child


def erase_until_killed(home: Path, deaths: int, say_so) -> None:
    """Delete a session and erase in tiny steps, for ever."""
    store = open_engine("sqlite", home).store("main")
    delete(store, deaths)
    say_so()
    while True:
        store.erase(seconds=0, now=NOW)


def test_kill_9_while_erasing_loses_nothing_and_the_next_one_goes_on(tmp_path):
    """Killed eight times at random moments of erasing; what stays is sound, nothing else is lost, and the end is reached."""
    engine = open_engine("sqlite", tmp_path)
    fill(engine.store("main", create=True))
    engine.close()
    moments = random.Random(5)
    for n in range(8):
        ours, its = os.pipe()
        child = forked(lambda: erase_until_killed(tmp_path, n, lambda: os.write(its, b"x")))  # noqa: B023 (used at once)
        os.close(its)
        with os.fdopen(ours, "rb") as pipe:
            assert pipe.read(1) == b"x"
            select.select([], [], [], moments.uniform(0, 0.04))
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    engine = open_engine("sqlite", tmp_path)
    store = engine.store("main")
    sound(store)
    assert store.erase(seconds=FOREVER, now=NOW)
    assert left(tmp_path, [piece for n in range(8) for piece in privates(n)]) == []
    assert [len(ids(store, private(n * 100_000 + 7))) for n in range(8, 12)] == [1, 1, 1, 1]
    with store.reading() as view:
        assert view.totals()["messages"] == 4 * 40
        assert view.count_sessions(EVERYTHING) == 4
    sound(store)
    engine.close()

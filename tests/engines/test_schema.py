"""Claims about files of other times and other people: old ones are opened, newer and foreign ones refused, and nothing is changed."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

import wesaid
from wesaid.engines.sqlite import open_engine, schema
from wesaid.errors import StoreDamagedError, StoreError, StoreForeignError, StoreNewerError
from wesaid.service import history, methods, opening, searching, writing
from wesaid.values import OPERATOR

KEPT = Path(__file__).parent / "kept"
MAIN = "agent:main:main"
SOURCE_ROOT = str(Path(wesaid.__file__).parents[1])


def home_with(tmp_path, content):
    """A home whose agent ``main`` has this database."""
    home = tmp_path / "home"
    path = home / "agents" / "main" / "agent.sqlite"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    return home


def everything(home):
    """Every file of a home with its bytes."""
    return {str(path.relative_to(home)): path.read_bytes() for path in sorted(home.rglob("*")) if path.is_file()}


def sql_file(tmp_path, *statements):
    """The bytes of a database that some program made."""
    path = tmp_path / "made.sqlite"
    with closing(sqlite3.connect(path)) as db:
        for statement in statements:
            db.execute(statement)
        db.commit()
    return path.read_bytes()


def attempts(home):
    """What a person does first with a home: look, ask, write."""

    def ask(opened):
        searching.search(opened, OPERATOR, methods.SearchParams(query="ferry"))

    def read(opened):
        history.history(opened, OPERATOR, methods.HistoryParams(session_key=MAIN))

    def write(opened):
        writing.append(opened, OPERATOR, MAIN, [{"role": "user", "text": "more"}])

    for act in (ask, read, write):
        with opening.open_home(home, environ={}) as opened:
            yield lambda act=act, opened=opened: act(opened)


def check_refused(home, error, *words):
    """The same clear error whatever is tried, and not one byte or file is different afterwards."""
    before = everything(home)
    for attempt in attempts(home):
        with pytest.raises(error) as caught:
            attempt()
        assert all(word in f"{caught.value.message} {caught.value.hint}" for word in words)
        assert str(home) in caught.value.message
    assert everything(home) == before


# ── our own files, of every time ─────────────────────────────────────────────────────────────────────────────────
def test_a_database_of_every_version_is_kept():
    """From the first on; kept/make.py makes the newest."""
    assert [path.name for path in sorted(KEPT.glob("v*.sqlite"))] == [f"v{number}.sqlite" for number in range(1, schema.VERSION + 1)]


@pytest.mark.parametrize("version", range(1, schema.VERSION + 1))
def test_a_kept_database_opens_and_has_what_was_said(tmp_path, version):
    """Its messages are found and read, what was abandoned or deleted is not, and it can be written to."""
    home = home_with(tmp_path, (KEPT / f"v{version}.sqlite").read_bytes())
    with opening.open_home(home, environ={}) as opened:

        def keys(query):
            page = searching.search(opened, OPERATOR, methods.SearchParams(query=query))
            return {hit.session_key for hit in page.hits}

        both = {MAIN, "agent:main:fork"}  # of two copies one is given
        assert len(keys("ferry nine") & both) == len(keys("评审") & both) == 1
        assert keys("harbour") == keys("reset") == {MAIN}
        assert MAIN in keys("lighthouse")
        assert keys("seal") == {"agent:main:subagent:one"}
        assert keys("walrus") == keys("otter") == set()
        texts = [message.text for message in history.history(opened, OPERATOR, methods.HistoryParams(session_key=MAIN)).messages]
        assert texts[0] == "the ferry leaves at nine, password=[redacted:password]"
        assert texts[1] == "明天下午三点开项目评审会议"
        assert texts[-1] == "after the reset"
        with opened.store("main").reading() as view:
            assert view.tombstone("agent:main:gone") is not None
            assert view.session("agent:main:fork").facts.forked_from == MAIN
            assert view.session("agent:main:subagent:one").facts.spawned_by == MAIN
        writing.append(opened, OPERATOR, MAIN, [{"role": "user", "text": "a pelican today"}])
        assert keys("pelican") == {MAIN}


def test_reading_a_database_of_the_present_version_changes_nothing(tmp_path):
    """Opening is no write."""
    home = home_with(tmp_path, (KEPT / f"v{schema.VERSION}.sqlite").read_bytes())
    before = everything(home)
    with opening.open_home(home, environ={}) as opened:
        assert searching.search(opened, OPERATOR, methods.SearchParams(query="ferry")).hits
    assert everything(home) == before


def test_the_kept_database_is_what_the_schema_makes_now(tmp_path):
    """A released version is frozen: the newest kept file has the very tables that a new home gets."""

    def tables(path):
        with closing(sqlite3.connect(path)) as db:
            return db.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY name").fetchall(), db.execute(
                "PRAGMA user_version"
            ).fetchone()

    engine = open_engine(tmp_path)
    engine.store("main", create=True)
    engine.close()
    kept = tmp_path / "kept.sqlite"
    shutil.copyfile(KEPT / f"v{schema.VERSION}.sqlite", kept)
    assert tables(tmp_path / "agents" / "main" / "agent.sqlite") == tables(kept)


def test_the_kept_file_is_tiny():
    """It is in every clone."""
    assert sum(path.stat().st_size for path in KEPT.glob("*.sqlite")) < 300_000 * schema.VERSION


def test_an_empty_file_becomes_a_database(tmp_path):
    """What a crash between making the file and its tables leaves is no obstacle."""
    home = home_with(tmp_path, b"")
    with opening.open_home(home, environ={}) as opened:
        writing.append(opened, OPERATOR, MAIN, [{"role": "user", "text": "the ferry"}])
        assert len(searching.search(opened, OPERATOR, methods.SearchParams(query="ferry")).hits) == 1


# ── files of others ──────────────────────────────────────────────────────────────────────────────────────────────
def test_a_database_of_a_newer_wesaid_is_refused_politely(tmp_path):
    """With both versions and what to do."""
    path = tmp_path / "newer.sqlite"
    shutil.copyfile(KEPT / f"v{schema.VERSION}.sqlite", path)
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {schema.VERSION + 7}")
    home = home_with(tmp_path, path.read_bytes())
    check_refused(home, StoreNewerError, str(schema.VERSION + 7), str(schema.VERSION), "upgrade")


@pytest.mark.parametrize(
    "statements",
    [
        ("CREATE TABLE bookmarks (url TEXT)", "INSERT INTO bookmarks VALUES ('x')"),
        ("PRAGMA user_version = 1",),
        ("PRAGMA application_id = 5", "CREATE TABLE session (token INTEGER)", "PRAGMA user_version = 1"),
        ("PRAGMA journal_mode = wal", "CREATE TABLE session (token INTEGER)"),
    ],
    ids=["tables", "version", "application", "wal"],
)
def test_a_database_of_another_program_is_refused(tmp_path, statements):
    """Whatever it calls its tables; its journal mode stays too."""
    check_refused(home_with(tmp_path, sql_file(tmp_path, *statements)), StoreForeignError, "another program")


@pytest.mark.parametrize(
    "content",
    [b"this is no database at all " * 500, b"moved to elsewhere\n", b"\x00" * 4096, b"SQLite format 3\x00" + b"\xff" * 5000],
    ids=["text", "note", "zeros", "header"],
)
def test_a_file_that_is_no_database_is_damaged(tmp_path, content):
    """With the advice to copy it aside first."""
    check_refused(home_with(tmp_path, content), StoreDamagedError, "damaged", "copy")


@pytest.mark.parametrize("keep", [0.5, 0.1])
def test_a_database_that_was_cut_off_is_damaged_and_kept_as_it_is(tmp_path, keep):
    """Half of a file, as a full disk or a broken copy leaves it: an error of ours, never an empty answer, and the bytes stay."""
    whole = (KEPT / f"v{schema.VERSION}.sqlite").read_bytes()
    home = home_with(tmp_path, whole[: int(len(whole) * keep) // 4096 * 4096])
    before = everything(home)
    with opening.open_home(home, environ={}) as opened, pytest.raises(StoreError):
        searching.search(opened, OPERATOR, methods.SearchParams(query="ferry harbour reset"))
    assert everything(home) == before


@pytest.mark.parametrize("page", range(1, 30, 4))
def test_a_damaged_page_is_an_error_or_is_not_met(tmp_path, page):
    """Never another program's exception, whatever page is overwritten with noise."""
    content = bytearray((KEPT / f"v{schema.VERSION}.sqlite").read_bytes())
    content[page * 4096 : (page + 1) * 4096] = bytes((number * 37 + 11) % 256 for number in range(4096))
    home = home_with(tmp_path, bytes(content))
    codes = []
    for attempt in attempts(home):
        try:
            attempt()
        except wesaid.WesaidError as error:
            codes.append(error.exit_code)
    assert set(codes) <= {3, 4}


# ── a home that may only be read ─────────────────────────────────────────────────────────────────────────────────
CHILD = """
import json, os, sys
home, user = sys.argv[1], int(sys.argv[2])
from wesaid.service import history, importing, listing, exporting, methods, opening, searching, writing
from wesaid.values import OPERATOR
from wesaid.errors import WesaidError
import wesaid.engines.sqlite, wesaid.engines.sqlite.agents
if os.geteuid() == 0:
    os.setgid(user)
    os.setuid(user)
said = {}
for name, act in (
    ("search", lambda opened: [hit.session_key for hit in searching.search(opened, OPERATOR, methods.SearchParams(query="harbour")).hits]),
    ("history", lambda opened: len(history.history(opened, OPERATOR, methods.HistoryParams(session_key="agent:main:main")).messages)),
    ("append", lambda opened: str(writing.append(opened, OPERATOR, "agent:main:main", [{"role": "user", "text": "more"}]))),
    ("new agent", lambda opened: str(writing.append(opened, OPERATOR, "agent:fresh:main", [{"role": "user", "text": "more"}]))),
):
    try:
        with opening.open_home(home, environ={}) as opened:
            said[name] = ["done", act(opened)]
    except WesaidError as error:
        said[name] = ["error", error.code, error.exit_code, bool(error.hint)]
print(json.dumps(said))
"""


@pytest.fixture
def reachable():
    """A folder that an unprivileged user can reach, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="wesaid-read-only-"))
    folder.chmod(0o755)
    yield folder
    open_again(folder)
    shutil.rmtree(folder)


def open_again(path):
    """Modes as they were, from the outside in."""
    path.chmod(0o755 if path.is_dir() else 0o644)
    for inner in path.iterdir() if path.is_dir() else ():
        open_again(inner)


def as_nobody(home):
    """What an unprivileged user gets; root ignores file modes, so a child gives its rights up."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(home), "65534"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={"PYTHONPATH": SOURCE_ROOT},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def close_to_writing(home):
    for path in [home, *home.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)


def test_a_read_only_home_is_searched_or_says_why_not_and_is_left_as_it_is(reachable):
    """Reading works or is refused by a clear error of ours; writing is refused; nothing is changed."""
    home = home_with(reachable, (KEPT / f"v{schema.VERSION}.sqlite").read_bytes())
    close_to_writing(home)
    before = everything(home)
    said = as_nobody(home)
    assert said["search"] in (["done", [MAIN]], ["error", "store_read_only", 4, True])
    assert said["history"][0] == said["search"][0]
    assert said["append"] == said["new agent"] == ["error", "store_read_only", 4, True]
    assert everything(home) == before


def test_a_home_that_may_not_be_read_says_so(reachable):
    """Never an empty answer, as if there were no messages."""
    home = home_with(reachable, (KEPT / f"v{schema.VERSION}.sqlite").read_bytes())
    path = home / "agents" / "main" / "agent.sqlite"
    before = everything(home)
    for closed in (path, path.parent, home):
        close_to_writing(home)
        closed.chmod(0)
        said = as_nobody(home)
        for name in ("search", "history", "append"):
            assert said[name][0] == "error", (closed, name, said)
            assert said[name][2] in {2, 4}, (closed, name, said)  # 2: its config.toml cannot be read either
    open_again(home)
    assert everything(home) == before

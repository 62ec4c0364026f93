"""The house stands: arrows run down, nothing hides, no walls, every number has its place. And the checker itself can see."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import house
import wesaid
from wesaid import face

SRC = Path(__file__).parents[1] / "src"
OURS = house.sources(SRC)
INITS = house.packages(SRC)


def test_every_import_points_down() -> None:
    """No module imports what its row of the table does not allow, and every module has a row."""
    assert list(house.arrows(OURS, INITS)) == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    """There is no ring of imports, type-only and lazy ones included."""
    assert list(house.circles(OURS, INITS)) == []


def test_no_import_hides() -> None:
    """There is no TYPE_CHECKING, and each import inside a function says why on its line."""
    assert list(house.hidden_imports(OURS)) == []


def test_there_are_no_walls() -> None:
    """No file is over 400 lines and no function over 60."""
    assert list(house.walls(OURS)) == []


def test_every_number_has_its_place_or_its_reason() -> None:
    """Integers above nine live in limits.py or a table definition, or carry a reason on their line."""
    assert list(house.numbers(OURS)) == []


def test_the_face_is_small_and_defines_nothing() -> None:
    """``wesaid/__init__.py`` has fewer than 40 lines: imports and ``__all__``."""
    assert list(house.face(OURS["wesaid"])) == []


def test_the_face_says_the_same_to_people_and_type_checkers() -> None:
    """``__all__``, the table in face.py, the stub and what is really there are the same names."""
    stub = (SRC / "wesaid" / "__init__.pyi").read_text(encoding="utf-8")
    assert set(re.findall(r"^from ([\w.]+) import (\w+) as \2$", stub, re.MULTILINE)) == {(home, name) for name, home in face.HOMES.items()}
    assert sorted(wesaid.__all__) == sorted(face.HOMES) == dir(wesaid)
    assert all(getattr(wesaid, name) is not None for name in wesaid.__all__)
    with pytest.raises(AttributeError):
        _ = wesaid.nothing_of_the_kind


def test_one_importer_opens_files() -> None:
    """importers/reading.py is the only importer that opens files."""
    assert list(house.openers(OURS)) == []


def test_every_module_says_what_it_is() -> None:
    """Every module opens with a docstring."""
    assert list(house.docless(OURS)) == []


# ── the checker can see: each rule, broken on purpose in a house that was never built ────────────────────────────
DOWN = {"wesaid": "", "wesaid.limits": "A = 1", "wesaid.rules.fold": "", "wesaid.rules.plan": "", "wesaid.engines.sqlite.store": ""}


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("wesaid.limits", "import wesaid.rules.fold"),
        ("wesaid.values", "from wesaid.service import searching"),
        ("wesaid.rules.rank", "from wesaid.rules import plan"),
        ("wesaid.rules.rank", "from . import plan"),
        ("wesaid.rules.rank", "import time"),
        ("wesaid.rules.rank", "from os import path"),
        ("wesaid.importers.codex", "from wesaid.importers.claude_code import view"),
        ("wesaid.engines.memory.store", "from wesaid.engines.sqlite import store"),
        ("wesaid.engines.sqlite.index", "from wesaid.rules.rank import order"),
        ("wesaid.service.searching", "from wesaid.engines.sqlite.store import SqliteStore"),
        ("wesaid.service.searching", "import asyncio"),
        ("wesaid.service.searching", "import apsw"),
        ("wesaid.importers.codex", "import sqlite3"),
        ("wesaid.api", "from wesaid.rules.query import parse"),
        ("wesaid.cli.show", "from wesaid.engines import contract"),
        ("wesaid.cli.show", "def f():\n    from wesaid.rules import query  # a reason does not turn an arrow"),
        ("wesaid.cli.show", "import wesaid"),
        ("wesaid.cli.show", "import importlib\ndef f(x):\n    return importlib.import_module('wesaid.engines.sqlite')"),
        ("wesaid.cli.show", "import importlib\ndef f(x):\n    return importlib.import_module(f'wesaid.rules.{x}')"),
        ("wesaid.cellar", ""),
    ],
)
def test_an_upward_arrow_is_caught(module: str, source: str) -> None:
    """A forbidden import, in any spelling, and a room that is not in the table are found."""
    assert list(house.arrows({**DOWN, module: source}, frozenset({"wesaid", "wesaid.rules"})))


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("wesaid.rules.rank", "from wesaid import limits\nfrom wesaid.rules.fold import fold\nimport re, math, unicodedata"),
        ("wesaid.rules.rank", "from . import fold"),
        ("wesaid.service.opening", "def f():\n    from wesaid.engines.sqlite import store  # lazily, by url"),
        ("wesaid.service.searching", "from wesaid.engines.contract import Engine\nfrom wesaid.rules import plan"),
        ("wesaid.engines.sqlite.index", "import apsw\nfrom wesaid.engines.sqlite.store import x\nfrom wesaid.rules.branch import advance"),
        ("wesaid.importers.reading_sqlite", "import apsw"),
    ],
)
def test_a_downward_arrow_is_allowed(module: str, source: str) -> None:
    """What the table allows raises no finding."""
    assert list(house.arrows({**DOWN, module: source}, frozenset({"wesaid", "wesaid.rules"}))) == []


def test_a_circle_is_caught() -> None:
    """Three modules in a ring are one finding that names them."""
    ring = {"wesaid.service.a": "from wesaid.service import b", "wesaid.service.b": "import wesaid.service.c", "wesaid.service.c": ""}
    assert list(house.circles(ring)) == []

    ring["wesaid.service.c"] = "def f():\n    from wesaid.service.a import x  # late"

    assert len(list(house.circles(ring))) == 1


@pytest.mark.parametrize(
    "source",
    [
        "def f():\n    import json",
        "def f():\n    import json  # noqa: PLC0415",
        "class A:\n    def f(self):\n        from json import loads",
        "from typing import TYPE_CHECKING\n",
        "import typing\nif typing.TYPE_CHECKING:\n    import json",
    ],
)
def test_a_hidden_import_is_caught(source: str) -> None:
    """A function-level import without a reason, or a type-only block, is found."""
    assert list(house.hidden_imports({"wesaid.api": source}))


def test_a_function_level_import_with_a_reason_is_allowed() -> None:
    """The reason stands on the line, alone or behind a lint directive."""
    source = "def f():\n    import rich  # 90 ms, for a terminal only\n    import json  # noqa: X1 # rarely needed"
    assert list(house.hidden_imports({"wesaid.api": source})) == []


def test_a_wall_is_caught() -> None:
    """A file of 401 lines and a function of 61 are found; 400 and 60 are not."""
    longest = "def f():\n" + "    x = 1\n" * 59
    assert list(house.walls({"wesaid.api": longest, "wesaid.aio": "x = 1\n" * 400})) == []
    assert len(list(house.walls({"wesaid.api": longest + "    x = 1\n", "wesaid.aio": "x = 1\n" * 401}))) == 2


def test_a_number_without_a_reason_is_caught() -> None:
    """Ten needs a reason outside limits and table definitions; nine, True and strings do not."""
    assert list(house.numbers({"wesaid.api": "x = 9\ny = True\nz = '4096'\nw = 4096  # a page of SQLite"})) == []
    assert list(house.numbers({"wesaid.limits": "A = 4096", "wesaid.engines.sqlite.schema": "x = 4096"})) == []
    assert len(list(house.numbers({"wesaid.api": "x = [\n    10,\n    0xFF,\n]", "wesaid.service.schema": "x = 12"}))) == 3


def test_a_face_that_defines_something_is_caught() -> None:
    """A function, a class, a constant or the fortieth line in the face is found."""
    assert list(house.face('"""Doc."""\nfrom wesaid.api import open\n__all__ = ["open"]\n')) == []
    for source in ("def f(): ...", "class A: ...", "LIMIT = 3", "\n" * 40):
        assert list(house.face(source)), source


def test_an_importer_that_opens_a_file_is_caught() -> None:
    """``open`` in a dialect is found, in reading.py it is right."""
    assert list(house.openers({"wesaid.importers.codex": "f = open('x')"}))
    assert list(house.openers({"wesaid.importers.codex": "t = path.read_text()"}))
    assert list(house.openers({"wesaid.importers.reading": "f = open('x')"})) == []

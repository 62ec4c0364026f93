"""Claims about ``import wesaid``: the table, the stub and the package say the same names, and they are imported when asked for."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import wesaid
from wesaid import face

PACKAGE = Path(wesaid.__file__).parent


def stub():
    return ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8"))


def test_the_table_the_stub_and_the_package_name_the_same():
    """``face.HOMES``, ``__init__.pyi`` and ``__init__.__all__``, and each from the same home."""
    imported = {alias.name: node.module for node in stub().body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert imported == face.HOMES
    [named] = [ast.literal_eval(node.value) for node in stub().body if isinstance(node, ast.Assign)]
    assert named == wesaid.__all__
    assert sorted(wesaid.__all__) == sorted(face.HOMES) == dir(wesaid)


@pytest.mark.parametrize("name", sorted(face.HOMES))
def test_every_public_name_is_what_its_home_has(name):
    """Looked up on the package it is the very object."""
    assert getattr(wesaid, name) is getattr(importlib.import_module(face.HOMES[name]), name)


def test_a_name_that_is_not_public_is_an_attribute_error():
    """As of any module."""
    with pytest.raises(AttributeError, match="nonsense"):
        wesaid.nonsense  # noqa: B018 - the access is what is tried


def test_importing_the_package_loads_nothing_that_is_heavy():
    """Who only wants the version or --help does not wait for SQLite and msgspec."""
    code = "import sys, wesaid; print([name for name in sys.modules if name.split('.')[0] in ('apsw', 'msgspec', 'rich') or name == 'wesaid.api'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": str(PACKAGE.parent)})
    assert done.stdout.strip() == "[]"


def test_the_package_is_typed():
    """``py.typed`` is there."""
    assert (PACKAGE / "py.typed").is_file()

"""Claims about the error tree: every class can be told apart, says what it is, and ends a program as contract.md §6 and §8 say."""

from __future__ import annotations

import json

import pytest

from wesaid import errors
from wesaid.errors import WesaidError

EXIT_CODES = {
    "invalid_input": 2,
    "invalid_query": 2,
    "usage": 2,
    "invalid_setting": 2,
    "not_found": 3,
    "conflict": 2,
    "error": 4,
    "source_failed": 4,
    "store_failed": 4,
    "store_busy": 4,
    "store_read_only": 4,
    "store_full": 4,
    "store_damaged": 4,
    "index_damaged": 4,
    "store_foreign": 4,
    "store_newer": 4,
}


def tree(cls=WesaidError):
    return [cls, *(inner for child in cls.__subclasses__() for inner in tree(child))]


def test_every_error_class_of_the_module_is_in_the_tree():
    """One root, so that a caller can catch this library; and the docstring draws every one of them."""
    assert all(name in errors.__doc__ for name in (cls.__name__ for cls in tree()))
    assert {cls for cls in vars(errors).values() if isinstance(cls, type) and issubclass(cls, BaseException)} == set(tree())


def test_codes_are_unique_but_for_what_must_look_the_same():
    """Absent and hidden share one code on purpose; nothing else does."""
    classes = [cls for cls in tree() if cls is not errors.NotVisibleError]
    assert len({cls.code for cls in classes}) == len(classes)
    assert errors.NotVisibleError.code == errors.NotFoundError.code
    assert errors.NotVisibleError.http_status == errors.NotFoundError.http_status


@pytest.mark.parametrize("cls", tree(), ids=lambda cls: cls.__name__)
def test_every_class_says_what_it_is_and_how_a_program_ends(cls):
    """A docstring of its own, the exit code of the contract, a status of HTTP that fits, the one JSON shape."""
    assert "__doc__" in vars(cls)
    assert cls.__doc__.strip()
    assert cls.exit_code == EXIT_CODES[cls.code]
    assert (400 <= cls.http_status < 500) == (cls.exit_code in {2, 3})
    assert cls.__name__.endswith("Error")
    raised = cls("what", hint="do", details={"field": "x", "n": 1})
    assert str(raised) == "what"
    assert json.loads(json.dumps(raised.as_json())) == {
        "error": {"code": cls.code, "message": "what", "hint": "do", "details": {"field": "x", "n": 1}}
    }


def test_the_callers_fault_and_ours_are_told_apart():
    """The first split: input errors are no store errors."""
    assert not set(tree(errors.InputError)) & set(tree(errors.StoreError))
    assert issubclass(errors.QueryError, errors.InputError)
    assert issubclass(errors.NotVisibleError, errors.NotFoundError)


def test_details_are_the_errors_own():
    """A dict that is given is copied, and none given is an empty one."""
    given = {"field": "x"}
    raised = WesaidError("what", details=given)
    given["field"] = "y"
    assert raised.details == {"field": "x"}
    assert WesaidError("what").as_json()["error"]["details"] == {}

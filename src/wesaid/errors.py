"""One root, so that a caller can catch "this library"; the caller's fault and ours are the first split.

::

    WesaidError
    ├── InputError                 the caller's fault: what was given, what is allowed
    │   ├── QueryError             a query that cannot be asked (blank, too long, a bad filter value)
    │   ├── UsageError             the command line was used wrongly
    │   └── SettingError           a setting is invalid; the program stops rather than widen anything
    ├── NotFoundError              absent and hidden look the same: there is one class for both
    │   └── NotVisibleError        a write, or a read without a caller, that no rule allows
    ├── ConflictError              the state forbids it (a tombstone, a parent that is already set)
    ├── SourceError                a transcript file cannot be read, or is none
    └── StoreError                 our own storage failed
        ├── StoreBusyError         another process held the lock longer than we wait
        ├── StoreReadOnlyError     the folder or the file cannot be written
        ├── StoreFullError         the disk is full; what was committed is readable
        ├── StoreDamagedError      the file is not a database, or its pages are damaged
        │   └── StoreIndexError    only its search index is: what was said is all there
        ├── StoreForeignError      a database that is not ours
        └── StoreNewerError        written by a newer wesaid than this one

Each class carries ``code`` (stable, for programs), ``exit_code`` (contract.md §6), ``http_status`` and a ``hint``: what to do.
Messages name what was given and what is allowed; they never quote transcript text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, Self


def quoted(value: object, most: int) -> str:
    """What was given, for an error's words: in quotes, without the characters that do not print.

    A text longer than ``most`` code points is told by its length alone: cutting it would take from the redactor, which every error passes on
    its way out, what it needs to know a secret.
    """
    text = value if isinstance(value, str) else repr(value)
    plain = "".join(char for char in text[: 2 * most] if char.isprintable())
    if len(text) > 2 * most or len(plain) > most:
        return f"a text of {len(text)} characters"
    return f"'{plain}'" if isinstance(value, str) else plain


class WesaidError(Exception):
    """The root. ``details`` is JSON-safe; ``hint`` is one sentence that says what to do."""

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 4
    http_status: ClassVar[int] = 500  # HTTP: our failure

    def __init__(self, message: str, *, hint: str = "", details: Mapping[str, object] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details: dict[str, object] = dict(details or {})

    def cleaned(self, clean: Callable[[str], str]) -> Self:
        """Itself, with ``clean`` applied to every text in it, in place: whoever raised it does not know what a home hides."""
        self.message, self.hint = clean(self.message), clean(self.hint)
        self.args = (self.message,)
        self.details = {name: _cleaned(value, clean) for name, value in self.details.items()}
        return self

    def as_json(self) -> dict[str, object]:
        """``{"error": {"code", "message", "hint", "details"}}``: the one shape of contract.md §8."""
        return {"error": {"code": self.code, "message": self.message, "hint": self.hint, "details": self.details}}


def _cleaned(value: object, clean: Callable[[str], str]) -> object:
    if isinstance(value, str):
        return clean(value)
    return [_cleaned(inner, clean) for inner in value] if isinstance(value, list | tuple) else value


class InputError(WesaidError):
    """A parameter is missing, unknown or out of range."""

    code = "invalid_input"
    exit_code = 2
    http_status = 400  # HTTP: bad request


class QueryError(InputError):
    """The query itself cannot be asked; ``details.position`` is a code point offset where one is known."""

    code = "invalid_query"


class UsageError(InputError):
    """Wrong use of the command line."""

    code = "usage"


class SettingError(InputError):
    """A setting has a value that is not allowed."""

    code = "invalid_setting"


class NotFoundError(WesaidError):
    """No such session or message, as far as this caller may know."""

    code = "not_found"
    exit_code = 3
    http_status = 404  # HTTP: not found


class NotVisibleError(NotFoundError):
    """The caller may not do this; same code and words as an absent session."""


class ConflictError(WesaidError):
    """The present state forbids it."""

    code = "conflict"
    exit_code = 2
    http_status = 409  # HTTP: conflict


class SourceError(WesaidError):
    """A transcript source cannot be read or holds none."""

    code = "source_failed"


class StoreError(WesaidError):
    """Our own storage failed."""

    code = "store_failed"


class StoreBusyError(StoreError):
    """The lock was held for longer than ``limits.BUSY_MS``."""

    code = "store_busy"
    http_status = 503  # HTTP: try again later


class StoreReadOnlyError(StoreError):
    """The store cannot be written."""

    code = "store_read_only"


class StoreFullError(StoreError):
    """No space left."""

    code = "store_full"


class StoreDamagedError(StoreError):
    """Not a database, or a damaged one."""

    code = "store_damaged"


class StoreIndexError(StoreDamagedError):
    """The search index is damaged or not there; the transcripts beside it are read without it."""

    code = "index_damaged"


class StoreForeignError(StoreError):
    """A database of another program."""

    code = "store_foreign"


class StoreNewerError(StoreError):
    """Written by a newer version than this program."""

    code = "store_newer"

"""Is this folder inside that one? Paths of whatever machine wrote them, compared as text.

It refuses to look at any disk. A folder is inside itself; ``/a/bc`` is not inside ``/a/b``. Windows paths (a drive letter, or two
backslashes) may have either slash, and their ASCII letters either case, as that system takes them.
"""

from __future__ import annotations

import re
import string
from typing import Final

_WINDOWS: Final = re.compile(r"[A-Za-z]:(?:[\\/]|$)|\\\\")
_LOWER: Final = str.maketrans(string.ascii_uppercase + "\\", string.ascii_lowercase + "/")


def is_windows(path: str) -> bool:
    """Whether a path is one of Windows."""
    return _WINDOWS.match(path) is not None


def normal(path: str) -> str:
    """A folder to look in, in one spelling: without a slash at the end; of Windows with ``/`` and in lower case. The root is ``""``."""
    return (path.translate(_LOWER) if is_windows(path) else path).rstrip("/")


def inside(path: str | None, folder: str) -> bool:
    """Whether ``path`` is ``folder`` or lies in it."""
    if path is None:
        return False
    wanted = normal(folder)
    found = (path.translate(_LOWER) if is_windows(folder) else path).rstrip("/")
    return found == wanted or found.startswith(wanted + "/")

"""Which paths an import leaves out: ``.wesaidignore`` in a folder or above it, and the setting ``import.ignore``. Rules as ``.gitignore`` has them.

It refuses to know what is in a transcript. Invariants: what lies in a folder that is left out cannot be brought back by a ``!`` rule; a
``.wesaidignore`` that cannot be read whole leaves out its folder, since nobody can tell what it says; matching takes time in
proportion to the lengths of rule and path.
"""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from wesaid import limits
from wesaid.errors import SourceError
from wesaid.importers import reading

IGNORE_FILE: Final = ".wesaidignore"
_ANY: Final = "**"


@dataclass(frozen=True, slots=True)
class _Rule:
    parts: tuple[str, ...]
    brings_back: bool
    folders_only: bool

    def fits(self, path: tuple[str, ...], *, is_folder: bool) -> bool:
        """Whether it names this very path (not what is below it)."""
        if self.folders_only and not is_folder:
            return False
        reached = {0}
        for number, part in enumerate(self.parts, 1):
            if part == _ANY:
                first = min(reached) + (number == len(self.parts))  # at the end it is what is inside, not the folder itself
                reached = set(range(first, len(path) + 1))
            else:
                reached = {at + 1 for at in reached if at < len(path) and fnmatch.fnmatchcase(path[at], part)}
            if not reached:
                return False
        return len(path) in reached


class Ignoring:
    """The rules that were met so far, outermost first; later ones win."""

    def __init__(self, globs: Iterable[str]) -> None:
        expanded = (os.path.expanduser(glob) for glob in globs)  # noqa: PTH111 - a glob is no path
        rules = [rule for glob in expanded if (rule := _rule(glob, anywhere=not glob.startswith("/")))]
        self._rules: dict[str, list[_Rule]] = {"/": rules}

    def above(self, path: str) -> None:
        """Take in the rules of every folder that a path lies in."""
        for folder in reversed(PurePath(path).parents):
            if os.path.lexists(folder / IGNORE_FILE):
                self.enter(str(folder))

    def enter(self, folder: str) -> None:
        """Take in the rules of a folder that has an ignore file."""
        try:
            data = reading.peek(f"{folder.rstrip('/')}/{IGNORE_FILE}", limits.IGNORE_BYTES + 1)
            lines = data.decode("utf-8", "replace").split("\n") if len(data) <= limits.IGNORE_BYTES else [_ANY]
        except SourceError:
            lines = [_ANY]
        known = self._rules.setdefault(f"{folder.rstrip('/')}/", [])
        known[:] = [*(known if folder == "/" else ()), *(rule for line in lines if (rule := _rule(line)))]

    def leaves_out(self, path: str) -> bool:
        """Whether a file is left out, or a folder that it lies in."""
        parts = PurePath(path).parts[1:]
        return any(self._decides(parts[:count], is_folder=count < len(parts)) for count in range(1, len(parts) + 1))

    def _decides(self, parts: tuple[str, ...], *, is_folder: bool) -> bool:
        out = False
        for depth, rules in self._over(parts):
            for rule in rules:
                if rule.brings_back == out and rule.fits(parts[depth:], is_folder=is_folder):
                    out = not out
        return out

    def _over(self, parts: tuple[str, ...]) -> Iterator[tuple[int, list[_Rule]]]:
        """The rules of each folder that a path lies in, with how deep that folder is."""
        folder = "/"
        for depth in range(len(parts)):
            if rules := self._rules.get(folder):
                yield depth, rules
            folder += f"{parts[depth]}/"


def _rule(line: str, *, anywhere: bool = False) -> _Rule | None:
    """A line as a rule; None for blank lines and comments. ``anywhere``: a glob with a slash in it holds at any depth."""
    glob = line.strip()
    if not glob or glob.startswith("#"):
        return None
    brings_back = glob.startswith("!")
    glob = glob[1:] if brings_back else glob[1:] if glob.startswith(("\\#", "\\!")) else glob
    bare = glob.rstrip("/")
    parts = tuple(part for part in bare.split("/") if part)
    if not parts:
        return None
    if anywhere or "/" not in bare:
        parts = (_ANY, *parts)
    return _Rule(parts, brings_back, glob.endswith("/"))


__all__ = ["IGNORE_FILE", "Ignoring"]

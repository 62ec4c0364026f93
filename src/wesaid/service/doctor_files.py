"""What lies in a home: modes, owners, links, files that are not ours, copies, free space. Reads names and modes, never contents.

It looks at the home and its agents' folders and at nothing below, so that a home that is set to a wrong place is not walked through.
"""

from __future__ import annotations

import os
import shutil
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from wesaid import keys, limits
from wesaid.errors import StoreError
from wesaid.settings import CONFIG_NAME
from wesaid.values import Flaw, counted

DATABASE: Final = "agent.sqlite"
COPY: Final = f"{DATABASE}.damaged-"
_UNFINISHED: Final = f"{DATABASE}.salvaging"
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO if os.name == "posix" else 0  # elsewhere modes say nothing of others


class _Entry(NamedTuple):
    path: Path
    state: os.stat_result
    is_ours: bool

    @property
    def is_link(self) -> bool:
        return stat.S_ISLNK(self.state.st_mode)

    @property
    def is_mine(self) -> bool:
        return not hasattr(os, "geteuid") or self.state.st_uid == os.geteuid() or os.geteuid() == 0


def flaws(home: Path) -> Iterator[Flaw]:
    """What is wrong with the home's files, each kind once."""
    found = list(_entries(home))
    mine = [entry for entry in found if entry.is_ours and not entry.is_link]
    for code, chosen, what in (
        ("files.permissions", [e for e in mine if stat.S_IMODE(e.state.st_mode) & _OTHERS], "can be read or written by other users"),
        ("files.owner", [e for e in mine if e.state.st_uid != (found[0].state.st_uid if found else 0)], "of another owner than the home"),
        ("files.link", [e for e in found if e.is_link], "leading to other places"),
        ("files.foreign", [e for e in found if not e.is_ours and not e.is_link], "of another program or person"),
    ):
        if chosen:
            yield Flaw(code=code, message=f"{_count(chosen)} {what}: {_names(home, chosen)}", path=str(chosen[0].path))
    copies = [e for e in mine if e.path.name.startswith(COPY)]
    if copies:
        size = sum(e.state.st_size for e in copies)
        yield Flaw(
            code="files.copies",
            message=f"{counted(len(copies), 'file of a damaged database', 'files of damaged databases')}, put aside, {'takes' if len(copies) == 1 else 'take'} {_mib(size)}",
            path=str(copies[0].path),
        )
    unfinished = [e for e in mine if _is_left_over(e)]
    if unfinished:
        yield Flaw(
            code="files.unfinished",
            message=f"{counted(len(unfinished), 'file')} of a repair that was interrupted",
            path=str(unfinished[0].path),
        )
    closed = [e for e in mine if not os.access(e.path, os.W_OK)]
    if closed:
        yield Flaw(
            code="files.read-only",
            message=f"{_count(closed)} cannot be written by this user: {_names(home, closed)}",
            path=str(closed[0].path),
            advice="give this user the right to write (chmod u+w), or mount the disk writable",
        )
    yield from _space(home, found)


def _space(home: Path, found: list[_Entry]) -> Iterator[Flaw]:
    if not found:
        return
    free = shutil.disk_usage(home).free
    if free < limits.SPACE_LOW_BYTES:
        yield Flaw(code="disk.space", message=f"only {_mib(free)} are free on the disk of the home", path=str(home))


def marks(database: Path) -> tuple[tuple[int, int] | None, ...]:
    """Size and time of a database and its log: whether somebody wrote to it meanwhile."""
    found: list[tuple[int, int] | None] = []
    for path in (database, database.with_name(database.name + "-wal")):
        try:
            state = path.stat()
            found.append((state.st_size, state.st_mtime_ns))
        except OSError:
            found.append(None)
    return tuple(found)


def mend(home: Path) -> tuple[int, int]:
    """Close what others can read, and remove what an interrupted repair left; how many files each. What is not ours is left alone."""
    closed = removed = 0
    for entry in _entries(home):
        if not entry.is_ours or entry.is_link or not entry.is_mine:
            continue
        try:
            if _is_left_over(entry):
                entry.path.unlink(missing_ok=True)
                removed += 1
            elif stat.S_IMODE(entry.state.st_mode) & _OTHERS:
                entry.path.chmod(stat.S_IMODE(entry.state.st_mode) & ~_OTHERS)
                closed += 1
        except OSError:
            continue  # it is looked at again, and named
    return closed, removed


def _is_left_over(entry: _Entry) -> bool:
    """Whether a file is of a repair that ended without finishing it: one that is at work writes to its file all the time."""
    return entry.path.name.startswith(_UNFINISHED) and time.time() - entry.state.st_mtime > limits.UNFINISHED_SECONDS


def _entries(home: Path) -> Iterator[_Entry]:
    """The home, what lies in it, the agents' folders and what lies in those; the home comes first. StoreError when it cannot be listed."""
    if not home.exists():
        return
    yield _Entry(home, home.stat(), is_ours=True)
    for path in _listed(home):
        yield _entry(path, path.name in (CONFIG_NAME, "agents"))
        if path.name != "agents" or path.is_symlink() or not path.is_dir():
            continue
        for folder in _listed(path):
            ours = keys.AGENT_ID.fullmatch(folder.name) is not None
            yield _entry(folder, ours)
            if ours and folder.is_dir() and not folder.is_symlink():
                yield from (_entry(file, file.name.startswith(DATABASE)) for file in _listed(folder))


def _entry(path: Path, is_ours: bool) -> _Entry:  # noqa: FBT001 - a field
    return _Entry(path, path.lstat(), is_ours)


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())[: limits.WALK_FILES]
    except PermissionError:
        return []  # its databases are named as unreadable
    except OSError as error:
        raise StoreError(f"cannot list {folder}: {error.strerror}", hint="check the disk") from error


def _count(entries: list[_Entry]) -> str:
    return f"{len(entries)} files and folders" if len(entries) > 1 else "one file or folder"


def _names(home: Path, entries: list[_Entry]) -> str:
    shown = [str(entry.path.relative_to(home)) if entry.path != home else "the home itself" for entry in entries[: limits.DOCTOR_NAMES]]
    return ", ".join(shown) + (f" and {len(entries) - len(shown)} more" if len(entries) > len(shown) else "")


def _mib(size: int) -> str:
    return f"{size / (1 << 20):.1f} MiB"  # 1 << 20: bytes of a mebibyte

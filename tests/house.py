"""The checker behind test_house.py: reads Python sources, knows the floors of docs, says what breaks them.

It works on a mapping of module name to source text, so that it can be tried on houses that were never built.
It refuses to import anything it judges. Each finding is one line: where, what, and the rule.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

FILE_LINES = 400
FUNCTION_LINES = 60
FACE_LINES = 40
BIGGEST_PLAIN_NUMBER = 9

GROUND = ("wesaid.limits", "wesaid.errors", "wesaid.settings", "wesaid.keys", "wesaid.graphemes", "wesaid.folders")
VALUES = (*GROUND, "wesaid.values")
RULES_NEVER = frozenset({"apsw", "os", "time", "random", "asyncio", "logging", "sqlite3"})
DRIVERS = frozenset({"apsw", "sqlite3", "psycopg"})
DRIVER_ROOMS = ("wesaid.engines", "wesaid.importers.reading_sqlite")


@dataclass(frozen=True)
class Room:
    """A prefix of module names, the prefixes it may import from our own house, and outside modules it never imports."""

    prefix: str
    may: tuple[str, ...]
    never: frozenset[str] = frozenset()


# The table of ARCHITECTURE.md, a row a room; the longest prefix that fits a module decides.
ROOMS = (
    Room("wesaid.limits", ()),
    Room("wesaid.errors", ("wesaid.limits",)),
    Room("wesaid.keys", ("wesaid.limits", "wesaid.errors")),
    Room("wesaid.settings", ("wesaid.limits", "wesaid.errors", "wesaid.keys")),
    Room("wesaid.graphemes", ("wesaid.limits",)),
    Room("wesaid.folders", ()),
    Room("wesaid.values", VALUES),
    Room("wesaid.rules", (*VALUES, "wesaid.rules.fold", "wesaid.rules.private"), RULES_NEVER),
    Room("wesaid.rules.redact", (*VALUES, "wesaid.rules.redact"), RULES_NEVER),
    Room(
        "wesaid.importers",
        (
            *VALUES,
            "wesaid.rules.fold",
            "wesaid.importers.reading",
            "wesaid.importers.known",
            "wesaid.importers.payloads",
            "wesaid.importers.coding",
            "wesaid.importers.repairing",
        ),
    ),
    Room(
        "wesaid.importers.claude_code",
        (*VALUES, "wesaid.importers.reading", "wesaid.importers.known", "wesaid.importers.claude_code"),
    ),
    Room("wesaid.importers.reading_sqlite", (*VALUES, "wesaid.importers.reading")),
    Room(
        "wesaid.importers.openclaw_sqlite",
        (*VALUES, "wesaid.importers.reading", "wesaid.importers.reading_sqlite", "wesaid.importers.known", "wesaid.importers.openclaw"),
    ),
    Room("wesaid.importers.codex", (*VALUES, "wesaid.importers.reading", "wesaid.importers.known", "wesaid.importers.codex")),
    Room("wesaid.embed", (*VALUES, "wesaid.rules.fold", "wesaid.embed")),
    Room("wesaid.engines.contract", VALUES),
    Room(
        "wesaid.engines.memory",
        (*VALUES, "wesaid.rules.branch", "wesaid.rules.fold", "wesaid.engines.contract", "wesaid.engines.memory"),
        frozenset({"asyncio", "apsw", "sqlite3"}),
    ),
    Room(
        "wesaid.engines.sqlite",
        (*VALUES, "wesaid.rules.branch", "wesaid.rules.fold", "wesaid.engines.contract", "wesaid.engines.sqlite"),
        frozenset({"asyncio"}),
    ),
    Room(
        "wesaid.engines.postgres",
        (*VALUES, "wesaid.rules.branch", "wesaid.rules.fold", "wesaid.engines.contract", "wesaid.engines.postgres"),
        frozenset({"asyncio"}),
    ),
    Room("wesaid.engines", VALUES),
    Room(
        "wesaid.service",
        (*VALUES, "wesaid.rules", "wesaid.importers", "wesaid.embed", "wesaid.engines.contract", "wesaid.service"),
        frozenset({"asyncio"}),
    ),
    Room(
        "wesaid.service.opening",
        (*VALUES, "wesaid.rules", "wesaid.importers", "wesaid.embed", "wesaid.engines", "wesaid.service"),
        frozenset({"asyncio"}),
    ),
    Room("wesaid.doors", (*VALUES, "wesaid.service", "wesaid.doors")),
    Room("wesaid.api", (*VALUES, "wesaid.service")),
    Room("wesaid.face", (*VALUES, "wesaid.api", "wesaid.aio", "wesaid.remote")),
    Room("wesaid.aio", (*VALUES, "wesaid.service", "wesaid.api")),
    Room("wesaid.remote", (*VALUES, "wesaid.service", "wesaid.api")),
    Room("wesaid.adapters", (*VALUES, "wesaid.service", "wesaid.api", "wesaid.aio", "wesaid.adapters")),
    Room("wesaid.cli", (*VALUES, "wesaid.service", "wesaid.doors", "wesaid.api", "wesaid.cli")),
    Room("wesaid.__main__", ("wesaid.cli",)),
)
# Package files that name what is inside: these rows are for exactly one module.
FACES = {
    "wesaid": Room("wesaid", (*VALUES, "wesaid.face", "wesaid.api", "wesaid.aio", "wesaid.remote")),
    "wesaid.importers": Room("wesaid.importers", (*VALUES, "wesaid.importers")),
}


def sources(root: Path) -> dict[str, str]:
    """Module name → source text of every file under ``root`` (the folder that holds ``wesaid/``)."""
    found = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = path.read_text(encoding="utf-8")
    return found


def packages(root: Path) -> frozenset[str]:
    """Names of the packages: modules that are an ``__init__.py``."""
    return frozenset(".".join(path.parent.relative_to(root).parts) for path in root.rglob("__init__.py"))


def within(name: str, prefixes: tuple[str, ...]) -> bool:
    """Whether a module is one of the prefixes or inside it."""
    return any(name == prefix or name.startswith(prefix + ".") for prefix in prefixes)


def room_of(module: str) -> Room | None:
    """The row of the table for a module: the longest prefix; None when the house has no such room."""
    if module in FACES:
        return FACES[module]
    fitting = [room for room in ROOMS if within(module, (room.prefix,))]
    return max(fitting, key=lambda room: len(room.prefix), default=None)


def imported(module: str, node: ast.Import | ast.ImportFrom, house: Mapping[str, str], inits: frozenset[str]) -> list[str]:
    """Full names of the modules that an import statement reaches; ``from package import module`` reaches the module."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    base = node.module or ""
    if node.level:
        here = module.split(".")
        up = node.level - (1 if module in inits else 0)
        base = ".".join([*(here[: len(here) - up] if up else here), *([base] if base else [])])
    reached = [f"{base}.{alias.name}" for alias in node.names]
    return [full if full in house else base for full in reached]


def called(node: ast.AST) -> str | None:
    """The name that ``import_module`` or ``__import__`` is called with, as far as it is written out; None for any other node."""
    if not isinstance(node, ast.Call) or not node.args:
        return None
    if (getattr(node.func, "id", None) or getattr(node.func, "attr", None)) not in {"import_module", "__import__"}:
        return None
    name = node.args[0].values[0] if isinstance(node.args[0], ast.JoinedStr) else node.args[0]
    return name.value.rstrip(".") if isinstance(name, ast.Constant) and isinstance(name.value, str) else None


def imports(module: str, house: Mapping[str, str], inits: frozenset[str]) -> Iterator[tuple[int, str]]:
    """Line and target of every import of a module, type-only, function-level and ``import_module`` ones included."""
    for node in ast.walk(ast.parse(house[module])):
        by_name = called(node)
        if by_name is not None:
            yield getattr(node, "lineno", 0), by_name
        if isinstance(node, ast.Import | ast.ImportFrom):
            for target in imported(module, node, house, inits):
                yield node.lineno, target


def arrows(house: Mapping[str, str], inits: frozenset[str] = frozenset()) -> Iterator[str]:
    """Imports that the table of floors does not allow, and modules that have no row in it."""
    for module in house:
        room = room_of(module)
        if room is None:
            yield f"{module}: no row in the table of floors (tests/house.py, ARCHITECTURE.md)"
            continue
        for line, target in imports(module, house, inits):
            ours = target.split(".")[0] == "wesaid"
            if ours and target != module and not within(target, room.may):
                yield f"{module}:{line}: imports {target}, which {room.prefix} may not"
            if target.split(".")[0] in room.never:
                yield f"{module}:{line}: imports {target}, which {room.prefix} never may"
            if target.split(".")[0] in DRIVERS and not within(module, DRIVER_ROOMS):
                yield f"{module}:{line}: imports the driver {target} outside {' and '.join(DRIVER_ROOMS)}"


def circles(house: Mapping[str, str], inits: frozenset[str] = frozenset()) -> Iterator[str]:
    """Modules that import each other in a ring, each ring once."""
    graph = {module: sorted({target for _, target in imports(module, house, inits) if target in house}) for module in house}
    done: set[str] = set()

    def walk(module: str, trail: tuple[str, ...]) -> Iterator[str]:
        if module in trail:
            yield " → ".join((*trail[trail.index(module) :], module)) + ": a circle"
            return
        if module in done:
            return
        for target in graph[module]:
            yield from walk(target, (*trail, module))
        done.add(module)

    for module in sorted(graph):
        yield from walk(module, ())


def comments(source: str) -> dict[int, str]:
    """Line → the comment on it, lint directives without a reason apart."""
    found = {}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            reason = token.string.lstrip("# ")
            if reason.startswith(("noqa", "type: ignore")):
                reason = reason.partition(" # ")[2] or reason.partition("—")[2]
            if reason.strip():
                found[token.start[0]] = reason
    return found


def hidden_imports(house: Mapping[str, str]) -> Iterator[str]:
    """Imports inside functions without a reason on their line, and anything to do with TYPE_CHECKING."""
    for module, source in house.items():
        reasons = comments(source)
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for inner in ast.walk(node):
                    if isinstance(inner, ast.Import | ast.ImportFrom):
                        lines = range(inner.lineno, (inner.end_lineno or inner.lineno) + 1)
                        if not any(line in reasons for line in lines):
                            yield f"{module}:{inner.lineno}: an import inside a function needs its reason on that line"
            name = getattr(node, "id", None) or getattr(node, "attr", None) or getattr(node, "name", None)
            if name == "TYPE_CHECKING":
                where = getattr(node, "lineno", 0)
                yield f"{module}:{where}: TYPE_CHECKING hides an arrow; type-only imports obey the floors"


def walls(house: Mapping[str, str]) -> Iterator[str]:
    """Files and functions that are too long to be read in one go."""
    for module, source in house.items():
        lines = len(source.splitlines())
        if lines > FILE_LINES:
            yield f"{module}: {lines} lines, at most {FILE_LINES}"
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > FUNCTION_LINES:
                    yield f"{module}:{node.lineno}: {node.name} has {length} lines, at most {FUNCTION_LINES}"


def may_hold_numbers(module: str) -> bool:
    """Whether a module is the ground file of numbers, or a table definition."""
    last = module.rsplit(".", 1)[-1]
    ddl = within(module, ("wesaid.engines",)) and last.startswith(("schema", "migration"))
    return module == "wesaid.limits" or ddl or ".migrations." in module


def numbers(house: Mapping[str, str]) -> Iterator[str]:
    """Integers above nine that are neither in limits nor in a table definition nor explained on their line."""
    for module, source in house.items():
        if may_hold_numbers(module):
            continue
        reasons = comments(source)
        for node in ast.walk(ast.parse(source)):
            if (
                isinstance(node, ast.Constant)
                and type(node.value) is int
                and node.value > BIGGEST_PLAIN_NUMBER
                and node.lineno not in reasons
            ):
                yield f"{module}:{node.lineno}: the number {node.value} belongs in limits.py, or needs its reason on the line"


def face(source: str) -> Iterator[str]:
    """What is wrong with ``wesaid/__init__.py``: too long, or it defines something."""
    if len(source.splitlines()) >= FACE_LINES:
        yield f"wesaid: the face has {len(source.splitlines())} lines, fewer than {FACE_LINES} allowed"
    for node in ast.parse(source).body:
        docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        names = isinstance(node, ast.Assign) and all(isinstance(t, ast.Name) and t.id in {"__all__", "__version__"} for t in node.targets)
        if not (docstring or names or isinstance(node, ast.Import | ast.ImportFrom)):
            yield f"wesaid:{node.lineno}: the face defines nothing; it imports and names"


def openers(house: Mapping[str, str]) -> Iterator[str]:
    """Importers that open files themselves: reading.py is the only one that does, and reading_sqlite.py for the lock of its own copy."""
    opening = {"open", "fdopen", "read_text", "read_bytes", "mmap"}
    for module, source in house.items():
        if not within(module, ("wesaid.importers",)) or module in {"wesaid.importers.reading", "wesaid.importers.reading_sqlite"}:
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", None) or getattr(node.func, "attr", None)
                if name in opening:
                    yield f"{module}:{node.lineno}: {name}() outside importers/reading.py"


def docless(house: Mapping[str, str]) -> Iterator[str]:
    """Modules that do not open with what they are; an empty package file has nothing to say."""
    for module, source in house.items():
        if source.strip() and not ast.get_docstring(ast.parse(source)):
            yield f"{module}: no module docstring"

"""What a person may set: one table, read once at start from the environment, then ``config.toml``, then defaults.

Refuses to guess. An unknown name or a value that is not allowed stops the program and says what is allowed: a fallback could be wider than
what was meant (contract.md §1). Knows nothing of what the settings do; ``SETTINGS`` says it for people, the rules do it.

Invariants: a variable of the environment wins over the file, the file over the default; a variable that is set but empty is an error, since
"unset" may be wider than what was meant; every value has a known source.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from wesaid import limits
from wesaid.errors import SettingError, quoted

CONFIG_NAME: Final = "config.toml"
HOME_VARIABLE: Final = "WESAID_HOME"
_PREFIX: Final = "WESAID_"
_SHOWN: Final = 80  # characters of a refused value that an error repeats
_ALIKE: Final = 0.9  # how like a setting's variable another one is, to be a slip of the pen rather than somebody else's

Value = str | bool | tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One row of the table. ``field`` is its attribute of ``Settings``; ``allowed`` is in words, for errors and ``wesaid config``."""

    name: str
    field: str
    kind: Literal["choice", "flag", "list", "lines", "zone"]
    choices: tuple[str, ...] = ()
    why: str

    @property
    def variable(self) -> str:
        """``sessions.agentToAgent.enabled`` -> ``WESAID_SESSIONS_AGENT_TO_AGENT_ENABLED``."""
        return _PREFIX + re.sub(r"(?<=[a-z])(?=[A-Z])|\.", "_", self.name).upper()

    @property
    def allowed(self) -> str:
        """What may be given, in words."""
        return {
            "choice": " | ".join(self.choices),
            "flag": "true | false",
            "list": "a list of texts (in the environment: separated by commas)",
            "lines": "a list of texts (in the environment: one a line)",
            "zone": "the name of a time zone, such as Europe/Berlin, or empty for this machine's",
        }[self.kind]

    @property
    def default(self) -> Value:
        """As in ``Settings()``."""
        value: Value = getattr(_DEFAULTS, self.field)
        return value


SETTINGS: Final[tuple[Setting, ...]] = (
    Setting(
        name="sessions.visibility",
        field="sessions_visibility",
        kind="choice",
        choices=("self", "tree", "agent", "all"),
        why="what a session may read: itself, what it spawned too, its agent, every agent",
    ),
    Setting(
        name="sessions.agentToAgent.enabled",
        field="agent_to_agent_enabled",
        kind="flag",
        why="whether visibility `all` crosses from one agent to another at all",
    ),
    Setting(
        name="sessions.agentToAgent.allow",
        field="agent_to_agent_allow",
        kind="list",
        why="between which agents it does: both must match an entry (`*` stands for any run of characters); an empty list means all",
    ),
    Setting(
        name="sandbox.sessionToolsVisibility",
        field="sandbox_session_tools_visibility",
        kind="choice",
        choices=("spawned", "all"),
        why="`spawned` keeps a sandboxed session to its tree whatever sessions.visibility says; `all` does not",
    ),
    Setting(name="import.ignore", field="import_ignore", kind="list", why="patterns of files and folders that no import reads"),
    Setting(name="timeZone", field="time_zone", kind="zone", why="where `yesterday` and dates without a zone are"),
    Setting(
        name="redaction.patterns",
        field="redaction_patterns",
        kind="lines",
        why="regular expressions of what is hidden besides the built-in kinds, as `[redacted:custom]`; docs/redaction.md says which are refused",
    ),
    Setting(
        name="store.synchronous",
        field="store_synchronous",
        kind="choice",
        choices=("NORMAL", "FULL"),
        why="FULL waits for the disk at each commit; with NORMAL a power cut may cost the last moments, never the store",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What is in force. ``sources`` says where each value came from, by name; a value that is not in it is a default."""

    sessions_visibility: Literal["self", "tree", "agent", "all"] = "tree"
    agent_to_agent_enabled: bool = True
    agent_to_agent_allow: tuple[str, ...] = ()
    sandbox_session_tools_visibility: Literal["spawned", "all"] = "spawned"
    import_ignore: tuple[str, ...] = ()
    time_zone: str = ""
    redaction_patterns: tuple[str, ...] = field(default=(), repr=False)  # may be secrets themselves
    store_synchronous: Literal["NORMAL", "FULL"] = "NORMAL"
    sources: Mapping[str, str] = field(default_factory=dict, compare=False)

    def explain(self) -> list[tuple[str, Value, str]]:
        """``(name, value, source)`` of every setting; source is ``default``, ``config.toml`` or ``environment WESAID_…``."""
        return [(row.name, getattr(self, row.field), self.sources.get(row.name, "default")) for row in SETTINGS]


_DEFAULTS: Final = Settings()


def load(home: Path, environ: Mapping[str, str]) -> Settings:
    """The settings of a home. A home or file that does not exist means defaults. Raises SettingError for anything that is not allowed."""
    values: dict[str, Value] = {}
    sources: dict[str, str] = {}
    given = _flatten(_read(home / CONFIG_NAME))
    _refuse_unknown(given, environ)
    for row in SETTINGS:
        if row.variable in environ:
            source, value = f"environment {row.variable}", _from_text(row, environ[row.variable])
        elif row.name in given:
            source, value = CONFIG_NAME, _checked(row, given[row.name], CONFIG_NAME)
        else:
            continue
        values[row.field] = value
        sources[row.name] = source
    make: Callable[..., Settings] = Settings  # the table, not the type checker, knows which value belongs to which field
    return make(**values, sources=sources)


def home_path(environ: Mapping[str, str]) -> Path:
    """The folder of the store: ``WESAID_HOME``, else the platform's user data folder. Makes nothing."""
    given = environ.get(HOME_VARIABLE)
    if given is None:
        import platformdirs  # not needed when WESAID_HOME is set, and it costs start time

        return Path(platformdirs.user_data_dir("wesaid", appauthor=False))
    if not given.strip():
        raise SettingError(f"{HOME_VARIABLE} is empty", hint="unset it, or set it to a folder", details={"field": HOME_VARIABLE})
    try:
        return Path(given).expanduser().absolute()
    except RuntimeError:
        raise SettingError(
            f"{HOME_VARIABLE} is {given[:_SHOWN]!r}, which names no user's folder",
            hint="set it to a folder",
            details={"field": HOME_VARIABLE},
        ) from None


def _read(path: Path) -> dict[str, Any]:
    """The file as TOML; empty when there is none."""
    try:
        with path.open("rb") as file:
            data = file.read(limits.CONFIG_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise SettingError(f"{path} cannot be read: {error.strerror}", hint="let this user read it, or move it away") from error
    if len(data) > limits.CONFIG_BYTES:
        raise SettingError(f"{path} is longer than {limits.CONFIG_BYTES} bytes", hint="it holds settings only: see `wesaid config`")
    import tomllib  # most homes have no file, and it costs start time

    try:
        return tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SettingError(f"{path} is not UTF-8 (line {line})", hint="save it as UTF-8", details={"line": line}) from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        found = re.search(r"line (\d+)", str(error))
        details: dict[str, object] = {"line": int(found[1])} if found else {}
        raise SettingError(f"{path} is not TOML: {error}", hint="mend that line; texts need quotes", details=details) from error


def _flatten(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """``{"sessions": {"visibility": …}}`` -> ``{"sessions.visibility": …}``, as deep as names of settings go."""
    flat: dict[str, Any] = {}
    for key, value in table.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict) and any(row.name.startswith(f"{name}.") for row in SETTINGS):
            flat |= _flatten(value, f"{name}.")
        else:
            flat[name] = value
    return flat


def _refuse_unknown(given: Mapping[str, Any], environ: Mapping[str, str]) -> None:
    """A misspelt name would leave a default in force that may be wider than what was meant."""
    names = {row.name for row in SETTINGS}
    for name in given:
        if name not in names:
            raise SettingError(
                f"{CONFIG_NAME} sets {name[:_SHOWN]!r}, which is no setting",
                hint="settings are: " + ", ".join(sorted(names)),
                details={"field": name[:_SHOWN], "allowed": sorted(names)},
            )
    variables = {row.variable for row in SETTINGS}
    strange = [name for name in environ if name.startswith(_PREFIX) and name not in variables]
    if strange:
        import difflib  # only for variables that are not ours, and it costs start time

        for name in strange:
            meant = difflib.get_close_matches(name, sorted(variables), n=1, cutoff=_ALIKE)
            if meant:
                raise SettingError(
                    f"the environment sets {name}, which is no setting", hint=f"did you mean {meant[0]}?", details={"field": name}
                )


def _from_text(row: Setting, text: str) -> Value:
    """A variable's text as a value."""
    where = f"environment {row.variable}"
    text = text.strip()
    if not text and row.kind != "zone":
        raise _refused(row, text, where)
    if row.kind == "flag":
        return _checked(row, {"true": True, "1": True, "false": False, "0": False}.get(text.lower(), text), where)
    if row.kind == "list":
        return _checked(row, [entry.strip() for entry in text.split(",")], where)
    if row.kind == "lines":
        return _checked(row, [line.strip() for line in text.splitlines() if line.strip()], where)
    return _checked(row, text, where)


def _checked(row: Setting, value: Any, where: str) -> Value:
    """The value if it is allowed, else SettingError."""
    if row.kind == "flag" and isinstance(value, bool):
        return value
    if row.kind in {"list", "lines"} and isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        return tuple(value)
    if row.kind == "choice" and isinstance(value, str) and value in row.choices:
        return value
    if row.kind == "zone" and isinstance(value, str) and (not value or _is_zone(value)):
        return value
    raise _refused(row, value, where)


def _is_zone(name: str) -> bool:
    import zoneinfo  # most homes set no zone, and it costs start time

    try:
        zoneinfo.ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # absent; a path; a folder of zones
        return False
    return True


def _refused(row: Setting, value: Any, where: str) -> SettingError:
    return SettingError(
        f"{row.name} is {quoted(value, _SHOWN)} ({where}); allowed: {row.allowed}",
        hint=f"{row.why}; leave it out for {row.default!r}",
        details={"field": row.name, "source": where, "allowed": list(row.choices) or row.allowed},
    )

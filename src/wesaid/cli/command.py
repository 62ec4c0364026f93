"""What every command has in common: ``--json``, ``--home``, examples in its help, and words that begin with one dash.

Refuses to know any command. A command's work gets a `Run` and returns its exit code (`FOUND`, `NOTHING`, …).
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import click

from wesaid.cli.complete import SESSION_KEY
from wesaid.cli.output import Out, quoted, say
from wesaid.errors import NotFoundError, WesaidError

FOUND: Final = 0
NOTHING: Final = 1
USAGE: Final = 2
FAILED: Final = 4
INTERRUPTED: Final = 130  # 128 + SIGINT, as shells report it

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


class Run(NamedTuple):  # no dataclass: importing those is a tenth of what `--help` takes
    """One run of one command: where its output goes and which home it works on (None: ``WESAID_HOME`` or the platform's)."""

    out: Out
    home: Path | None

    @property
    def place(self) -> str:
        """What a command that is offered to be typed needs to work on the same store: `` --home PATH``, or nothing."""
        return "".join(f" {quoted(word)}" for word in self.place_words)

    @property
    def place_words(self) -> list[str]:
        """The same as words."""
        return [] if self.home is None else ["--home", str(self.home)]


class Words(click.Command):
    """A command whose arguments are text: a word that begins with one dash and is no option is text (contract.md §6).

    A word of two dashes that is no option stays an error, so that a mistyped option never becomes a search for it; after ``--``
    everything is text.
    """

    ignore_unknown_options = True

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse unknown long options, which ``ignore_unknown_options`` would let through."""
        options = {name: param for param in self.get_params(ctx) if isinstance(param, click.Option) for name in param.opts}
        words = iter(args)
        for word in words:
            if word == "--":
                break
            name, equals, _ = word.partition("=")
            option = options.get(name)
            if option is not None:
                if not (equals or option.is_flag or option.count):
                    next(words, None)
            elif word.startswith("--"):
                raise click.NoSuchOption(name, possibilities=_alike(name, options), ctx=ctx)
        return super().parse_args(ctx, args)


def _alike(name: str, options: dict[str, click.Option]) -> list[str]:
    """Options that the person may have meant."""
    return sorted(option for option in options if option.startswith(name[:4]))  # two dashes and two letters


def command(
    name: str, *, examples: Sequence[str], cls: type[click.Command] = click.Command
) -> Callable[[Callable[[], None]], click.Command]:
    """Make a command of a declaration: a function that has decorators and a docstring, and no body.

    ``examples`` are whole command lines. The work is ``execute(run, **options) -> exit code`` of the module of ``wesaid.cli.commands``
    that has the declaration's name; it is imported when the command runs, and only then.
    """
    epilog = "\b\nExamples:\n" + "\n".join(f"  {example}" for example in examples)

    def decorate(declared: Callable[[], None]) -> click.Command:
        @functools.wraps(declared)
        def callback(*, as_json: bool, home: Path | None, **given: Any) -> int:
            work = importlib.import_module(f"wesaid.cli.commands.{declared.__name__}")
            try:
                code = work.execute(Run(Out(as_json=as_json), home), **given)
            except NotFoundError as error:
                raise _with_alike(error, home, given) from error
            assert isinstance(code, int)
            return code

        short = (declared.__doc__ or "").partition("\n")[0]
        return click.command(name, cls=cls, epilog=epilog, short_help=short)(_common(callback))

    return decorate


def _with_alike(error: NotFoundError, home: Path | None, given: Mapping[str, Any]) -> NotFoundError:
    """The error, naming a session that may have been meant; only the operator's, who sees every key."""
    wanted = given.get("session_key") or given.get("session") or next(iter(given.get("names", ())), None)
    if error.details.get("field") != "sessionKey" or not wanted or given.get("as_key"):
        return error
    try:
        found: str | None = importlib.import_module("wesaid.cli.session_keys").alike(home, wanted)
    except WesaidError:  # the store of which a name was wanted
        return error
    return NotFoundError(error.message, hint=f"did you mean {found}? {error.hint}", details=error.details) if found else error


def _common(callback: Callable[..., int]) -> Callable[..., int]:
    """The options of every command, last in its help."""
    home = click.option("--home", type=click.Path(path_type=Path), metavar="PATH", help="The store to use (default: WESAID_HOME).")
    as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
    wrapped = home(as_json(callback))
    params: list[click.Parameter] = wrapped.__click_params__  # type: ignore[attr-defined]
    params.insert(0, params.pop())  # click lists what was decorated last first; these two belong at the end
    params.insert(0, params.pop())
    return wrapped


def reveal_option(text: str = "Show secrets as they were said.") -> Callable[[Decorated], Decorated]:
    """``--reveal``, wherever output is redacted by default."""
    return click.option("--reveal", is_flag=True, help=text)


def as_option(sandbox: bool = True) -> Callable[[Decorated], Decorated]:  # noqa: FBT001, FBT002 - one option or two
    """``--as CALLER_KEY [--sandboxed]``, wherever a session may do what the operator does (contract.md §3)."""
    as_key = click.option("--as", "as_key", type=SESSION_KEY, metavar="CALLER_KEY", help="Ask as this session: it sees what it may.")
    sandboxed = click.option("--sandboxed", is_flag=True, help="With --as: as that session in a sandbox.")
    return lambda declared: as_key(sandboxed(declared) if sandbox else declared)


def warn_revealed(reveal: bool) -> None:  # noqa: FBT001 - the option's value, passed on
    """Say that what follows is not redacted; on stderr, with ``--json`` too."""
    if reveal:
        say("--reveal: secrets are shown as they were said; mind where this output goes", "warning")


def given(**options: Any) -> dict[str, Any]:
    """The options that were given, for a method's parameters: neither None, nor an empty list, nor an unset flag."""
    return {name: value for name, value in options.items() if value is not None and value is not False and value != ()}

"""The program: which commands there are, and what an outcome means for the shell.

Refuses to know what a command does. Invariants: exit codes are contract.md §6's; a `WesaidError` is a message, never a traceback; a reader that goes away
(``| head``) is no error; every way out flushes stdout first.
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any, Final

import click

from wesaid.cli import output
from wesaid.cli.command import FOUND, INTERRUPTED, USAGE
from wesaid.cli.shells import COMPLETE_VARIABLE
from wesaid.cli.syntax import COMMANDS
from wesaid.errors import UsageError, WesaidError


class Program(click.Group):
    """``wesaid``: the group of `COMMANDS`, which turns every outcome into an exit code."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """In the order of use, not of the alphabet."""
        return list(COMMANDS)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """An unknown command names those there are."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            alike: list[str] = importlib.import_module("difflib").get_close_matches(args[0], COMMANDS, n=1)  # 5 ms that only a slip needs
            meant = f"did you mean {alike[0]}? " if alike else ""
            wrong = args[0][:40]  # characters, enough to recognise it
            raise UsageError(f"there is no command {wrong!r}", hint=f"{meant}commands: {', '.join(COMMANDS)}")
        return super().resolve_command(ctx, args)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,  # noqa: FBT001, FBT002 - click's signature
        **extra: Any,
    ) -> Any:
        """Run, and exit with the outcome's code (``standalone_mode=False`` returns it)."""
        words = list(sys.argv[1:] if args is None else args)
        as_json = "--json" in words[: words.index("--") if "--" in words else None]
        try:
            result = super().main(words, prog_name or "wesaid", complete_var or COMPLETE_VARIABLE, standalone_mode=False, **extra)
            code = result if isinstance(result, int) else FOUND
        except Exception as error:  # noqa: BLE001 - the last line of defence: an outcome for every error, a traceback for none
            code = _report(error, as_json=as_json)
        if standalone_mode:
            sys.exit(code)
        return code

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. A reader that goes away has read what it wanted: done (click itself would exit with 1, nothing found)."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            _forget_stdout()
            raise click.exceptions.Exit(FOUND) from None
        return result


def _forget_stdout() -> None:
    """Point stdout at nothing, so that the interpreter's last flush has no reader to miss."""
    with open(os.devnull, "wb") as nothing:  # noqa: PTH123 - a descriptor is wanted, not a path
        os.dup2(nothing.fileno(), sys.stdout.fileno())


def _report(error: Exception, *, as_json: bool) -> int:
    """Say what went wrong; the exit code that it means."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message(), err=True)
        return USAGE
    if isinstance(error, click.Abort):
        click.echo("interrupted", err=True)
        return INTERRUPTED
    known = _clean(_as_ours(error))
    body = known.as_json()["error"]
    assert isinstance(body, dict)
    output.fail(body, as_json=as_json)
    sys.stdout.flush()
    return known.exit_code


def _clean(error: WesaidError) -> WesaidError:
    """The error without the secrets of the built-in kinds; a home has cleaned its own by its own rules before."""
    redact = importlib.import_module("wesaid.service.opening").BUILT_IN.redact  # only a run that fails needs it
    return error.cleaned(redact)


def _as_ours(error: Exception) -> WesaidError:
    """Any error as one of ours. A defect names its place, not its text, which might quote a transcript."""
    if isinstance(error, WesaidError):
        return error
    if isinstance(error, click.ClickException):
        where = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "wesaid"
        return UsageError(error.format_message(), hint=f"`{where} --help` shows what is allowed")
    if isinstance(error, OSError) and error.strerror:
        return WesaidError(f"{error.filename or 'the system'}: {error.strerror}", hint="nothing that was committed is lost")
    if os.environ.get("WESAID_DEBUG"):
        traceback.print_exception(error)
    last = traceback.extract_tb(error.__traceback__)[-1]
    return WesaidError(
        f"a defect of wesaid: {type(error).__name__} at {os.path.basename(last.filename)}:{last.lineno}",  # noqa: PTH119 - a name to print
        hint="please report it; WESAID_DEBUG=1 prints the traceback, which may quote what you searched",
    )


def _print_version(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:  # noqa: FBT001 - click's signature
    if not wanted or ctx.resilient_parsing:
        return
    metadata = importlib.import_module("importlib.metadata")  # 30 ms that only --version needs
    try:
        click.echo(f"wesaid {metadata.version('wesaid')}")
    except metadata.PackageNotFoundError:
        click.echo("wesaid (not installed)")
    ctx.exit()


_EPILOG: Final = """\b
Examples:
  wesaid import                        read what the agents on this machine said
  wesaid search "ferry timetable"      find it
  wesaid history SESSION_KEY           read on

Every command explains itself: wesaid COMMAND --help. Exit codes: 0 found or done, 1 nothing found, 2 wrong usage, 3 not found or not
visible, 4 the store or a source failed, 130 interrupted.
"""


@click.group(cls=Program, commands=COMMANDS, epilog=_EPILOG, context_settings={"max_content_width": 100})  # columns; help is prose
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Print the version and stop.")
def program() -> None:
    """Search what people and AI agents said in past sessions."""


def main() -> None:
    """The entry point of the ``wesaid`` script; never returns."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")  # a terminal without a character shows a question mark, not a traceback
    program.main()

"""``wesaid import``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from wesaid import limits
from wesaid.cli.command import FAILED, FOUND, NOTHING, Run, command
from wesaid.cli.complete import SESSION_KEY, Values
from wesaid.cli.progress import progress
from wesaid.cli.render_import import account_lines
from wesaid.service import importing, opening, reconciling

_TOOLS = ("openclaw", "claude-code")


@command(
    "import",
    examples=(
        "wesaid import                                           every known place on this machine",
        "wesaid import ~/.claude/projects                        a folder, whatever is in it",
        "wesaid import backup/ --from openclaw --agent old       say what it is, and whose",
        "wesaid import --dry-run --json                          what would be read",
    ),
)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATH]...")
@click.option("--from", "tool", type=Values(*_TOOLS), metavar="TOOL", help="openclaw, claude-code; else guessed by content.")
@click.option("--agent", metavar="ID", help="The agent that the sessions are given to.")
@click.option("--dry-run", is_flag=True, help="Read and count, write nothing.")
@click.option("--again", type=SESSION_KEY, metavar="KEY", help="Bring this deleted session back.")
def cli(run: Run, paths: tuple[Path, ...], tool: str | None, agent: str | None, *, dry_run: bool, again: str | None) -> int:  # noqa: PLR0913 - an option each
    """Read transcripts of agents into the store.

    Without PATH every known place on this machine is read. What was read before is not read again; what has grown is read from where
    it ended. Damaged lines are counted, never fatal; it can be interrupted at any time and goes on where it was.
    """
    with opening.open_home(run.home) as home:
        with progress() as report:
            account = importing.import_paths(home, list(paths), tool=tool, agent=agent, dry_run=dry_run, again=again, progress=report)
        if run.out.as_json:
            run.out.object(account.as_json())
        else:
            run.out.lines(account_lines(account.as_json(), room=run.out.width))
        if dry_run and not run.out.as_json:
            run.out.note("--dry-run: nothing was written")
        if not dry_run:
            sys.stdout.flush()  # the account first; then the work that it left
            reconciling.reconcile(home, seconds=limits.CLI_REBUILD_SECONDS)
    if account.failed:
        return FAILED
    return FOUND if account.sources else NOTHING

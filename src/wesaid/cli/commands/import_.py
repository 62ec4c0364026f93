"""``wesaid import``."""

from __future__ import annotations

import sys
from pathlib import Path

from wesaid import limits
from wesaid.cli.command import FAILED, FOUND, NOTHING, Run
from wesaid.cli.progress import progress
from wesaid.cli.render_import import account_lines
from wesaid.service import importing, opening, reconciling

_TOOLS = ("openclaw", "claude-code")


def execute(run: Run, paths: tuple[Path, ...], tool: str | None, agent: str | None, *, dry_run: bool, again: str | None) -> int:  # noqa: PLR0913 - an option each
    """`wesaid import`; its exit code."""
    with opening.open_home(run.home) as home:
        with progress() as report:
            account = importing.import_paths(home, list(paths), tool=tool, agent=agent, dry_run=dry_run, again=again, progress=report)
        if run.out.as_json:
            run.out.object(account.as_json())
        elif account.sources:
            run.out.lines(account_lines(account.as_json(), room=run.out.width))
        else:
            run.out.note("no transcript found" + ("" if paths else " in any place where a known tool keeps them"))
        if dry_run and not run.out.as_json:
            run.out.note("--dry-run: nothing was written")
        if not dry_run:
            sys.stdout.flush()  # the account first; then the work that it left
            reconciling.reconcile(home, seconds=limits.CLI_REBUILD_SECONDS)
    if account.failed:
        return FAILED
    return FOUND if account.sources else NOTHING

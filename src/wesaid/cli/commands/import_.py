"""``wesaid import``."""

from __future__ import annotations

import sys
from difflib import get_close_matches
from pathlib import Path

from wesaid import limits
from wesaid.cli.command import FAILED, FOUND, NOTHING, Run
from wesaid.cli.progress import progress
from wesaid.cli.render_import import account_lines, has_reasons, kept_command
from wesaid.errors import InputError
from wesaid.service import importing, opening, reconciling


def execute(run: Run, paths: tuple[Path, ...], tool: str | None, agent: str | None, *, dry_run: bool, again: str | None) -> int:  # noqa: PLR0913 - an option each
    """`wesaid import`; its exit code."""
    with opening.open_home(run.home) as home:
        with progress() as report:
            try:
                account = importing.import_paths(home, list(paths), tool=tool, agent=agent, dry_run=dry_run, again=again, progress=report)
            except InputError as error:
                raise _with_alike(error, tool) from error
        if run.out.as_json:
            run.out.object(account.as_json())
        elif account.sources:
            run.out.lines(account_lines(account.as_json(), room=run.out.width))
            if has_reasons(account.as_json()):
                if kept := kept_command(account.as_json()):
                    run.out.note(kept + run.place)
                run.out.note("what skipped and pending mean: wesaid import --help, or docs/cli.md#import")
        else:
            run.out.note("no transcript found" + ("" if paths else " in any place where a known tool keeps them"))
        if dry_run and not run.out.as_json:
            run.out.note("--dry-run: nothing was written")
        if not dry_run:
            sys.stdout.flush()  # the account first; then the work that it left
            reconciling.reconcile(home, seconds=limits.CLI_REBUILD_SECONDS)
    if account.failed:
        return FAILED
    return FOUND if account.holds_transcripts else NOTHING


def _with_alike(error: InputError, tool: str | None) -> InputError:
    """The error, naming the tool that may have been meant."""
    allowed = error.details.get("allowed")
    alike = get_close_matches(tool or "", allowed, n=1) if isinstance(allowed, list) else []
    return InputError(error.message, hint=f"did you mean {alike[0]}? {error.hint}", details=error.details) if alike else error

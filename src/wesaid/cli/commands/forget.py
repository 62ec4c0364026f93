"""``wesaid forget``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from wesaid import keys, limits
from wesaid.cli.command import FOUND, Run
from wesaid.cli.facts import facts_lines
from wesaid.cli.output import safe
from wesaid.cli.render_erase import proof_line, spawned_lines
from wesaid.errors import UsageError
from wesaid.service import addressing, erasing, opening, wire
from wesaid.service.erasing import Doomed
from wesaid.values import OPERATOR


def execute(run: Run, session_key: str | None, source: Path | None, tool: str | None, before: str | None, *, yes: bool) -> int:  # noqa: PLR0913 - an option each
    """`wesaid forget`; its exit code."""
    if (tool is None) != (before is None):
        raise UsageError("--tool and --before belong together", hint="wesaid forget --tool claude-code --before 1y")
    if [session_key, source, tool].count(None) != 2:
        raise UsageError("what is to be forgotten?", hint="give one of SESSION_KEY, --source PATH, --tool T --before T")
    with opening.open_home(run.home) as home:
        if session_key is not None:
            key = addressing.visible_session(home, OPERATOR, session_key).facts.key
            doomed = Doomed({keys.parse(key).agent_id: (key,)})
        elif source is not None:
            doomed = erasing.from_source(home, source)
        else:
            doomed = erasing.of_tool(home, str(tool), before=erasing.moment(home, str(before)))
        if session_key is None:
            _confirm(run, doomed, yes=yes)
        erased = erasing.forget(home, OPERATOR, doomed)
    if run.out.as_json:
        run.out.object(wire.erased_json(erased))
    else:
        run.out.lines(facts_lines({"sessions": len(erased.tombstones), "sources": len(erased.sources)}))
        if erased.proof is not None:
            run.out.note(proof_line(erased.proof))
        for line in spawned_lines(erased.spawned, run.place):
            run.out.note(line)
    return FOUND


def _confirm(run: Run, doomed: Doomed, *, yes: bool) -> None:
    """Say what goes, and ask whoever sits at the terminal; a script has to say --yes."""
    names = [key for found in doomed.sessions.values() for key in found]
    for key in names[: limits.CLI_SOURCES_SHOWN]:
        run.out.note(f"  {safe(key)}")
    if len(names) > limits.CLI_SOURCES_SHOWN:
        run.out.note(f"  and {len(names) - limits.CLI_SOURCES_SHOWN} more")
    for path in (path for found in doomed.sources.values() for path in found):
        run.out.note(f"  {safe(path)} (the file itself stays)")
    run.out.note(f"{len(names)} {'session' if len(names) == 1 else 'sessions'} will be deleted for good")
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError("nobody is at the terminal to confirm this", hint="give --yes to delete what was listed")
    click.confirm("delete it?" if len(names) == 1 else "delete them?", abort=True, err=True)

"""``wesaid completion``."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from wesaid.cli.command import FOUND, Run
from wesaid.cli.shells import COMPLETE_VARIABLE


def execute(run: Run, shell: str) -> int:
    """`wesaid completion`; its exit code."""
    kind = get_completion_class(shell)
    assert kind is not None, "click knows the shells that we offer"
    root = click.get_current_context().find_root().command
    script = kind(root, {}, "wesaid", COMPLETE_VARIABLE).source()
    if run.out.as_json:
        run.out.object({"shell": shell, "script": script})
    else:
        run.out.write(script)
    return FOUND

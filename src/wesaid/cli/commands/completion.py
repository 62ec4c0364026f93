"""``wesaid completion``."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from wesaid.cli.command import FOUND, Run, command
from wesaid.cli.shells import COMPLETE_VARIABLE, SHELLS


@command(
    "completion",
    examples=(
        'eval "$(wesaid completion bash)"                            in ~/.bashrc',
        'eval "$(wesaid completion zsh)"                             in ~/.zshrc, after compinit',
        "wesaid completion fish > ~/.config/fish/completions/wesaid.fish",
    ),
)
@click.argument("shell", type=click.Choice(SHELLS))
def cli(run: Run, shell: str) -> int:
    """Print the completion script of a shell.

    It completes commands, options, their values, and the session keys of the store.
    """
    kind = get_completion_class(shell)
    assert kind is not None, "click knows the shells that we offer"
    root = click.get_current_context().find_root().command
    script = kind(root, {}, "wesaid", COMPLETE_VARIABLE).source()
    if run.out.as_json:
        run.out.object({"shell": shell, "script": script})
    else:
        run.out.write(script)
    return FOUND

"""The completion scripts: click's for zsh and fish, our own for bash.

Bash splits words at colons, and every session key has two; so its script hands the line over as it was typed. Refuses to know what is
completed. Importing this module registers the script.
"""

from __future__ import annotations

import os
from typing import ClassVar, Final

from click.shell_completion import BashComplete, add_completion_class, split_arg_string

SHELLS: Final = ("bash", "zsh", "fish")
COMPLETE_VARIABLE: Final = "_WESAID_COMPLETE"
_LINE_VARIABLE: Final = "_WESAID_LINE"


class ColonBash(BashComplete):
    """Asks with the whole line up to the cursor; what bash holds for done (up to the word's last colon) is cut off each answer."""

    source_template: ClassVar[str] = """\
%(complete_func)s() {
    local IFS=$'\\n' line="${COMP_LINE:0:COMP_POINT}" answer kind value before=""
    local word="${line##* }"
    if [[ "$COMP_WORDBREAKS" == *:* && "$word" == *:* ]]; then
        before="${word%%:*}:"
    fi
    COMPREPLY=()
    for answer in $(env _WESAID_LINE="$line" %(complete_var)s=bash_complete "$1" 2>/dev/null); do
        IFS=',' read -r kind value <<< "$answer"
        case "$kind" in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain) COMPREPLY+=("${value#"$before"}") ;;
        esac
    done
}

complete -o nosort -F %(complete_func)s %(prog_name)s 2>/dev/null || complete -F %(complete_func)s %(prog_name)s
"""

    def source(self) -> str:
        """The script; it runs on every bash, so that none needs to be asked for its version."""
        return self.source_template % self.source_vars()

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the one that is being typed, and that one."""
        line = os.environ.get(_LINE_VARIABLE, "")
        words = split_arg_string(line)
        unfinished = words.pop() if len(words) > 1 and not line.endswith((" ", "\t")) else ""
        return words[1:], unfinished


add_completion_class(ColonBash, "bash")

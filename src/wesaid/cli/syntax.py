"""What may be typed: every command with its options, its help and examples, and nothing of what it does.

Refuses to import the service, so that help and completion answer at once; `command` finds the work behind a declaration in
`wesaid.cli.commands`. Shells, people and tests read the program's grammar here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from wesaid import limits
from wesaid.cli.command import Words, as_option, command, reveal_option
from wesaid.cli.complete import SESSION_KEY, Values
from wesaid.cli.shells import SHELLS

_TOOLS: Final = ("openclaw", "claude-code", "codex")  # a test holds it to the registry of importers
_KINDS: Final = ("main", "group", "cron", "hook", "subagent", "import", "other")


@command(
    "import",
    examples=(
        "wesaid import                                           every known place on this machine",
        "wesaid import ~/.claude/projects                        a folder, whatever is in it",
        "wesaid import backup/ --from openclaw --agent old       say what it is, and whose",
        "wesaid import --dry-run --json                          what would be read",
    ),
)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, readable=False), metavar="[PATH]...")
@click.option("--from", "tool", type=Values(*_TOOLS), metavar="TOOL", help=f"{', '.join(_TOOLS)}; else guessed by content.")
@click.option("--agent", metavar="ID", help="The agent that the sessions are given to.")
@click.option("--dry-run", is_flag=True, help="Read and count, write nothing.")
@click.option("--again", type=SESSION_KEY, metavar="KEY", help="Bring this deleted session back.")
def import_() -> None:
    """Read transcripts of agents into the store.

    Without PATH every known place on this machine is read. What was read before is not read again; what has grown is read from where
    it ended. Damaged lines are counted, never fatal; it can be interrupted at any time and goes on where it was.

    \b
    Why messages or whole files are skipped:
      copy, duplicate                   another file, or this one, said it already
      deleted                           `wesaid delete` removed it; --again brings it back
      do-not-index                      somebody said in it that it is not to be indexed
      ignored                           a .wesaidignore or import.ignore names it
      warm-up, compaction               a subagent of Claude Code that nobody talked to
      incognito                         such sessions are never stored
      other-agent                       a session of another agent than the database's
      missing-file                      it is listed, but its transcript is gone
      prompt-log, session-list, trajectory, checkpoint, backup, deleted-file
                                        files beside transcripts that say nothing more
      archived                          OpenClaw put it away; its database has it no more
      compressed                        unpack it (.zst, .gz) and import that
      not-a-transcript, unsupported-format, other-format, empty
                                        nothing that this importer reads
    Pending is a last line that is still being written: the next import reads it.
    """  # noqa: D301 - click's mark of what is not to be wrapped


@command(
    "append",
    cls=Words,
    examples=(
        'wesaid append agent:main:notes --role user "we moved the ferry timetable to Postgres"',
        "make 2>&1 | wesaid append agent:ci:main --role assistant -",
    ),
)
@click.argument("session_key", type=SESSION_KEY)
@click.option("--role", type=click.Choice(["user", "assistant"]), required=True, help="Who said it.")
@click.option("--spawned-by", type=SESSION_KEY, metavar="KEY", help="The session that started this one; set once, when it is created.")
@click.option("--idempotency-key", metavar="K", help="The same key again appends nothing and answers the same.")
@click.argument("text", metavar="TEXT|-")
@as_option(sandbox=False)
def append() -> None:
    """Add one message to a session.

    A session that is new is created. The text is read from stdin when it is a single dash. What was said can be found as soon as this
    returns.
    """


@command(
    "search",
    cls=Words,
    examples=(
        'wesaid search "ferry timetable"                    the words; next to each other ranks first',
        "wesaid search why did we move the timetable        a plain question",
        "wesaid search deploy -banana                       without messages that have banana",
        "wesaid search 'deploy*' --after 2w --role user     beginnings of words, of the last two weeks",
        "wesaid search DEC-0054 --json                      for programs",
        "wesaid search ferry --as agent:main:main           what that session would find",
    ),
)
@click.argument("query", nargs=-1, required=True, metavar="QUERY...")
@click.option("--agent", "agents", multiple=True, metavar="ID", help="Only this agent; may be given several times.")
@click.option("--session", type=SESSION_KEY, metavar="KEY", help="Only this session; then nothing is folded away.")
@click.option("--role", type=click.Choice(["user", "assistant"]), help="Only what people, or what assistants said.")
@click.option("--after", metavar="TIME", help="Not before: 2026-01-31, 7d, 2w, 3mo, yesterday, last month.")
@click.option("--before", metavar="TIME", help="Only before this time.")
@click.option("--tool", metavar="TOOL", help="Only sessions of this tool, such as claude-code.")
@click.option("--project", metavar="PATH", help="Only sessions that worked in this folder, or in one below it.")
@click.option("--order", type=click.Choice(["relevance", "newest", "oldest"]), help="Default: relevance.")
@click.option("--limit", type=int, metavar="N", help=f"At most N hits, 1 to {limits.RESULTS_MAX} (default {limits.RESULTS_DEFAULT}).")
@click.option("--context", type=int, metavar="N", help=f"N messages around each hit, 0 to {limits.CONTEXT_MESSAGES_MAX}.")
@click.option("--detail", type=click.Choice(["index", "snippet", "full"]), help="How much of each message (default: snippet).")
@click.option("--explain", is_flag=True, help="Show what each score is made of.")
@as_option()
@reveal_option()
def search() -> None:
    """Find what was said.

    Several words are one query. "a phrase" in quotes, prefix*, -word (not that word), OR, and fields such as role:user or after:7d work
    inside it; everything else is plain text. Quote for your shell what your shell would take for itself.
    """


@command(
    "history",
    examples=(
        "wesaid history agent:main:main                          the newest messages",
        "wesaid history agent:main:main --around m42             what surrounds a message",
        "wesaid history agent:main:main --around m42 --before 2 --after 10",
        "wesaid history agent:main:main --limit 50 --offset 50   the page before",
    ),
)
@click.argument("session_key", type=SESSION_KEY)
@click.option("--around", metavar="MESSAGE_ID", help="The messages around this one.")
@click.option("--before", type=int, metavar="N", help="With --around: N messages before it.")
@click.option("--after", type=int, metavar="N", help="With --around: N messages after it.")
@click.option("--limit", type=int, metavar="N", help=f"At most N messages, 1 to {limits.HISTORY_MAX} (default {limits.HISTORY_DEFAULT}).")
@click.option("--offset", type=int, metavar="N", help="Leave out the N newest.")
@click.option("--include-tools", is_flag=True, help="Show calls and results of tools too.")
@as_option()
@reveal_option()
def history() -> None:
    """Read a session, or what surrounds a message.

    SESSION_KEY is a result's key, or a session id. What a search finds, this opens.
    """


@command("show", examples=("wesaid show m42                     wherever it is", "wesaid show agent:main:main m42     in this session"))
@click.argument("names", nargs=-1, required=True, type=SESSION_KEY, metavar="[SESSION_KEY] MESSAGE_ID")
@as_option()
@reveal_option()
def show() -> None:
    """Print one message.

    With --json it is one message of `wesaid history`.
    """


@command(
    "sessions",
    examples=(
        "wesaid sessions                                   the newest",
        "wesaid sessions --tool claude-code --limit 20",
        "wesaid sessions --search ferry --json             title, label or key",
    ),
)
@click.option("--agent", metavar="ID", help="Only this agent's.")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(_KINDS), help="Only this kind; may be given several times.")
@click.option("--label", metavar="TEXT", help="Only with this label.")
@click.option("--search", metavar="TEXT", help="Only with this in title, label or key.")
@click.option("--tool", metavar="TOOL", help="Only of this tool, such as claude-code.")
@click.option("--project", metavar="PATH", help="Only those that worked in this folder.")
@click.option("--archived", is_flag=True, help="Archived sessions instead.")
@click.option("--active-minutes", type=int, metavar="N", help="Only those with a message in the last N minutes.")
@click.option("--limit", type=int, metavar="N", help=f"At most N, 1 to {limits.LIST_MAX} (default {limits.LIST_DEFAULT}).")
@click.option("--offset", type=int, metavar="N", help="Leave out the first N.")
@as_option()
def sessions() -> None:
    """List sessions, newest first."""


@command("rewind", examples=("wesaid rewind agent:main:notes --to m42",))
@click.argument("session_key", type=SESSION_KEY)
@click.option("--to", required=True, metavar="MESSAGE_ID", help="This message stays and becomes the last one.")
@as_option(sandbox=False)
def rewind() -> None:
    """Make another message the last one of a session.

    What was said after it is no longer found or read; the transcript keeps it. To a message that an earlier rewind left out it goes
    forward again: the command that undoes a rewind is printed with it.
    """


@command("reset", examples=("wesaid reset agent:main:notes",))
@click.argument("session_key", type=SESSION_KEY)
@as_option(sandbox=False)
def reset() -> None:
    """Start a session anew; what was said stays readable.

    For a program that keeps one key for a conversation that begins again, such as a daily chat: what is appended from now on is a new
    conversation, the old one is still found and opened, and no rewind leads back across the reset.
    """


@command(
    "delete",
    examples=(
        "wesaid delete agent:claude-code:import:3f2a",
        "wesaid delete agent:claude-code:import:3f2a --wait     until its bytes are gone from the files",
    ),
)
@click.argument("session_key", type=SESSION_KEY)
@click.option("--wait", is_flag=True, help="Return when its bytes are gone, and prove it.")
def delete() -> None:
    """Delete a session for good.

    Nobody finds or reads it any more, and importing its transcript again does not bring it back (`wesaid import --again KEY` does). Its
    bytes are erased from the store's files in the background, by this and the next commands; --wait goes on until they are.
    """


@command(
    "forget",
    examples=(
        "wesaid forget agent:claude-code:import:3f2a            as delete --wait",
        "wesaid forget --source ~/.claude/projects/private      what came from there and from nowhere else",
        "wesaid forget --tool claude-code --before 2025-01-01   what was last added to before then",
        "wesaid forget --tool claude-code --before 3mo --yes    without asking, for scripts",
    ),
)
@click.argument("session_key", type=SESSION_KEY, required=False)
@click.option("--source", type=click.Path(path_type=Path), metavar="PATH", help="Sessions that came only from this file or folder.")
@click.option("--tool", metavar="T", help="With --before: sessions of this tool.")
@click.option("--before", metavar="TIME", help="With --tool: last added to before this time (2025-01-31, 3mo, last month).")
@click.option("--yes", is_flag=True, help="Do not ask.")
def forget() -> None:
    """Delete sessions and wait until their bytes are gone from every file of the store.

    What will be deleted is listed first, and a person is asked. Transcript files of other programs are left as they are; importing them
    again does not bring the sessions back.
    """


@command(
    "export",
    examples=(
        "wesaid export agent:main:main > main.jsonl",
        "wesaid export agent:main:main --format md | less",
        "wesaid export agent:main:main --reveal > main.jsonl     imports again to the same thing",
    ),
)
@click.argument("session_key", type=SESSION_KEY)
@click.option(
    "--format", "form", type=click.Choice(["jsonl", "md"]), default="jsonl", show_default=True, help="JSON lines, or Markdown to read."
)
@as_option()
@reveal_option("Write secrets as they were said.")
def export() -> None:
    """Write a session out as JSON lines or Markdown.

    JSON lines are the whole transcript, with the branches that were rewound or abandoned; Markdown is the visible path, what
    `wesaid history` shows. With --json the text is the `content` of one JSON object.
    """


@command("stats", examples=("wesaid stats", "wesaid stats --json"))
def stats() -> None:
    """Count what the store holds."""


@command(
    "doctor",
    examples=(
        "wesaid doctor               look, and change nothing",
        "wesaid doctor --fix         mend what can be mended without losing anything",
        "wesaid doctor --json        for programs",
    ),
)
@click.option("--fix", is_flag=True, help="Mend what was found; where something could be lost, on a copy.")
def doctor() -> None:
    """Look whether everything is as it should be.

    Files, databases, every stored message, and the index against them. What is found is named with a code, a sentence and the command
    that mends it; docs/doctor.md explains each. Without --fix nothing is changed.

    --fix also imports transcripts in the usual places that were never imported: of tools that this home has imported from before, or of all
    tools while nothing was imported yet.

    Exit codes: 0 when nothing is worse than a note, 1 when warnings, 4 when errors are left.
    """


@command("config", examples=("wesaid config", "WESAID_SESSIONS_VISIBILITY=self wesaid config"))
def config() -> None:
    """Show the settings in force and where each came from.

    They are read from config.toml in the home and from the environment. An invalid value stops the program.
    """


@command(
    "completion",
    examples=(
        'eval "$(wesaid completion bash)"                            in ~/.bashrc',
        'eval "$(wesaid completion zsh)"                             in ~/.zshrc, after compinit',
        "wesaid completion fish > ~/.config/fish/completions/wesaid.fish",
    ),
)
@click.argument("shell", type=click.Choice(SHELLS))
def completion() -> None:
    """Print the completion script of a shell.

    It completes commands, options, their values, and the session keys of the store.
    """


# In the order of use, not of the alphabet.
COMMANDS: Final = {
    each.name or "": each
    for each in (
        import_,
        append,
        search,
        history,
        show,
        sessions,
        rewind,
        reset,
        delete,
        forget,
        export,
        stats,
        doctor,
        config,
        completion,
    )
}

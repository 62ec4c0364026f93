"""``wesaid export``."""

from __future__ import annotations

import itertools
from typing import Any

from wesaid.cli.asking import caller_of
from wesaid.cli.command import FOUND, Run, warn_revealed
from wesaid.cli.output import SCHEMA_VERSION, Out, dumps, safe
from wesaid.service import exporting, opening
from wesaid.service.exporting import Export
from wesaid.service.preparing import lost


def execute(run: Run, session_key: str, form: str, **options: Any) -> int:
    """`wesaid export`; its exit code."""
    reveal = options["reveal"]
    caller = caller_of(options["as_key"], sandboxed=options["sandboxed"], reveal=reveal)
    warn_revealed(reveal)
    with opening.open_home(run.home) as home:
        chunks = exporting.export(home, caller, session_key, format=form, reveal=reveal)
        first = list(itertools.islice(chunks, 1))  # what is wrong with the session is said before a byte is written
        _write(run.out, chunks, form, first)
        if chunks.unreadable:
            run.out.note(lost(chunks.unreadable))
    return FOUND


def _write(out: Out, export: Export, form: str, first: list[str]) -> None:
    """Chunk by chunk, so that a session of any length needs the memory of one."""
    chunks = itertools.chain(first, export)
    if not out.as_json:
        for chunk in chunks:
            out.write(safe(chunk, lines=True) if out.is_terminal or form == "md" else chunk)
        return
    head = dumps({"schemaVersion": SCHEMA_VERSION, "sessionKey": export.key, "format": form}, ascii_only=out.ascii_only)
    out.write(head[:-1] + ', "content": "')
    for chunk in chunks:
        out.write(dumps(chunk, ascii_only=out.ascii_only)[1:-1])
    out.write('"' + (f', "unreadableMessages": {export.unreadable}' if export.unreadable else "") + "}\n")

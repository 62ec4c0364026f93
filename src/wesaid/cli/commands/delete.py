"""``wesaid delete``."""

from __future__ import annotations

import sys

from wesaid import limits
from wesaid.cli.ages import instant
from wesaid.cli.command import FOUND, Run
from wesaid.cli.facts import facts_lines
from wesaid.cli.output import quoted
from wesaid.cli.render_erase import proof_line, spawned_lines
from wesaid.cli.render_import import again_words
from wesaid.service import addressing, erasing, opening, reconciling, wire
from wesaid.values import OPERATOR


def execute(run: Run, session_key: str, *, wait: bool) -> int:
    """`wesaid delete`; its exit code."""
    with opening.open_home(run.home) as home:
        row = addressing.visible_session(home, OPERATOR, session_key)
        erased = erasing.delete(home, OPERATOR, session_key, wait=wait)
        [stone] = erased.tombstones
        if run.out.as_json:
            facts = wire.tombstone_json(stone, erased.proof) | {"messages": row.message_count} | wire.spawned_json(erased)
            if again := again_words(row):
                facts["again"] = [*again, *run.place_words]
            run.out.object({name: value for name, value in facts.items() if value is not None})
        else:
            times = {"deletedAt": stone.deleted_at, "erasedAt": stone.erased_at}
            told = {name: instant(time, home.now()) for name, time in times.items() if time is not None}
            run.out.lines(
                facts_lines({"sessionKey": stone.key, "sessionIds": list(stone.session_ids), **told, "messages": row.message_count})
            )
            if erased.proof is not None:
                run.out.note(proof_line(erased.proof))
            for line in spawned_lines(erased.spawned, run.place):
                run.out.note(line)
            if again := again_words(row):
                run.out.note(f"to bring it back: {' '.join(map(quoted, again))}{run.place}")
        sys.stdout.flush()  # the answer first; then the bytes
        if not wait:
            reconciling.reconcile(home, seconds=limits.CLI_REBUILD_SECONDS)
    return FOUND

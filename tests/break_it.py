"""Break it on purpose: each mutation of the house below is caught by the test beside it. Not part of the suite: ``python tests/break_it.py``.

Each mutation replaces one piece of text in a copy of the sources and runs the tests that are named; a mutation that no test notices, or whose
text is no longer there, is printed and makes the exit code 1.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HIDDEN = "tests/service/test_hidden.py"
TABLE = "tests/contract/test_visibility.py"


@dataclass(frozen=True)
class Mutation:
    """What is broken, where, how, and who notices."""

    what: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


MUTATIONS = (
    Mutation(
        "policy after limit (memory engine)", "engines/memory/view.py",
        "            for session, window, entry in self._index(scope)\n            if _passes",
        "            for session, window, entry in sorted(self._index(EVERYTHING), key=lambda one: -one[2].row.rowid)[:limit]\n            if scope.allows(session.facts.key) and _passes",
        (HIDDEN,),
    ),
    Mutation(
        "policy not in the query (sqlite)", "engines/sqlite/lookup.py",
        "        tokens = self._tokens(scope, filters)\n        if tokens == [] or limit <= 0:",
        "        tokens = self._tokens(Scope(), filters)\n        if tokens == [] or limit <= 0:",
        (TABLE, HIDDEN),
    ),
    Mutation(
        "join dropped for history", "service/addressing.py",
        "keys.is_incognito(key) or not policy_of(home, caller).scope(agent).allows(key)", "keys.is_incognito(key)", (TABLE, HIDDEN),
    ),
    Mutation("join dropped for list", "service/listing.py", "(scopes[agent], asked), begin)", "(Scope(), asked), begin)", (TABLE, HIDDEN)),
    Mutation("join dropped for show", "service/history.py", "view.sessions_with(message_id, scope)", "view.sessions_with(message_id, type(scope)())", (HIDDEN,)),
    Mutation("join dropped for titles", "engines/sqlite/lookup.py", "[key for key in keys if scope.allows(key)][:limit]", "keys[:limit]", (HIDDEN,)),
    Mutation(
        "titles of hidden sessions (few in scope)", "engines/sqlite/lookup.py",
        "key IN (SELECT value FROM json_each(?)) AND (title", "(1 OR key IN (SELECT value FROM json_each(?))) AND (title", (HIDDEN,),
    ),
    Mutation(
        "session ids resolved over hidden sessions", "service/addressing.py", "view.session_by_id(text, scope)", "view.session_by_id(text, Scope())", (HIDDEN,),
    ),
    Mutation(
        "frequencies of hidden rows (memory)", "engines/memory/view.py",
        "sum(1 for _, _, e in self._index(scope) if matching.count", "sum(1 for _, _, e in self._index(EVERYTHING) if matching.count", (HIDDEN,),
    ),
    Mutation(
        "frequencies of hidden rows (sqlite)", "engines/sqlite/lookup.py",
        "        tokens = self._tokens(scope, Filters())\n        if tokens == []:\n            return 0\n        narrow",
        "        tokens = None\n        if tokens == []:\n            return 0\n        narrow", (HIDDEN,),
    ),
    Mutation("messages of hidden sessions counted", "service/searching.py", "view.count_sessions(walk.scopes[agent], walk.filters)", "view.count_sessions(Scope(), walk.filters)", (HIDDEN,)),
    Mutation("own lineage first", "rules/rank.py", "return 2 if candidate.key in corpus.own", "return -2 if candidate.key in corpus.own", ("tests/rules/test_rank.py", "tests/contract/test_visibility.py")),
    Mutation(
        "the sandbox widens self", "rules/visibility.py", ' and rules.visibility != "self"', "", ("tests/rules/test_visibility.py", TABLE),
    ),
    Mutation(
        "the sandbox keeps main's exception", "rules/visibility.py", ' and me.rest == "main" and not caller.sandboxed', ' and me.rest == "main"', (TABLE,),
    ),
    Mutation("incognito stored", "service/writing.py", "    if keys.is_incognito(full):", "    if False:", ("tests/service", TABLE)),
    Mutation("only one level of the tree", "service/addressing.py", "        found.update(waiting)\n", "        found.update(waiting)\n        waiting = []\n", (TABLE,)),
    Mutation("rowids decide ties", "rules/rank.py", "candidate.key, -candidate.window, -candidate.seq", "candidate.key, -candidate.rowid, 0", (HIDDEN,)),
    Mutation(
        "cut before redact", "service/showing.py",
        "        safe = raw if self.how.reveal else self.how.redactor.redact(meant)\n        self.redacted |= safe != meant\n        return self.clip(safe)",
        "        safe = raw if self.how.reveal else self.how.redactor.redact(self.clip(meant))\n        self.redacted |= safe != meant\n        return safe",
        ("tests/service/test_attacks.py",),
    ),
    Mutation(
        "index of raw text", "service/preparing.py", "folded = fold.fold(safe)", "folded = fold.fold(found.text)",
        ("tests/service/test_attacks.py", "tests/service/test_preparing.py", "tests/service/test_redaction.py"),
    ),
    Mutation(
        "tombstone skipped by imports", "service/import_file.py", '                    target.refused = "deleted"\n', "                    pass\n",
        ("tests/service/test_attacks.py", "tests/service/test_importing.py"),
    ),
    Mutation(
        "tombstone not left", "engines/sqlite/writer.py",
        '        self._db.execute("INSERT OR REPLACE INTO tombstone (key, deleted_at) VALUES (?, ?)", (key, now))\n', "",
        ("tests/engines/test_contract_sessions.py",),
    ),
    Mutation(
        "any key for the taking", "service/writing.py", "parsed.rest.startswith(_HELPERS) and", "", ("tests/service/test_attacks.py",),
    ),
    Mutation("hidden sessions lead to visible ones", "service/addressing.py", " if visibility.owned(me, child)}", "}", (HIDDEN,)),
    Mutation("parents that may not be seen are named", "service/listing.py", "facts.spawned_by if facts.spawned_by and addressing.allows(self.policy, facts.spawned_by) else None", "facts.spawned_by", (TABLE,)),
)  # fmt: skip


def caught(mutation: Mutation, folder: Path) -> bool | None:
    """Whether a test fails under the mutation; None when its text is not there."""
    path = folder / "wesaid" / mutation.file
    before = path.read_text(encoding="utf-8")
    if before.count(mutation.old) != 1:
        return None
    path.write_text(before.replace(mutation.old, mutation.new), encoding="utf-8")
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:randomly", "-k", "not ten_thousand", *mutation.tests],
            cwd=ROOT, env={**os.environ, "PYTHONPATH": str(folder), "WESAID_EXAMPLES": "100"}, capture_output=True, check=False,
        )  # fmt: skip
    finally:
        path.write_text(before, encoding="utf-8")
    return done.returncode == 1


def main(words: list[str]) -> int:
    """Try every mutation, or those whose name has one of the words."""
    missed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(ROOT / "src" / "wesaid", folder / "wesaid")
        for mutation in MUTATIONS:
            if words and not any(word in mutation.what for word in words):
                continue
            outcome = {True: "caught", False: "NOT CAUGHT", None: "TEXT NOT FOUND"}[caught(mutation, folder)]
            missed += outcome != "caught"
            sys.stdout.write(f"{outcome:15}{mutation.what}  ({mutation.file}; {', '.join(mutation.tests)})\n")
            sys.stdout.flush()
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

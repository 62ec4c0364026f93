"""What the product promises, as data: an id, where the promise comes from, one sentence; and what it still waits for.

A row with ``waits`` belongs to a later issue: it has no test yet, and test_coverage.py fails as soon as that issue's changelog fragment
exists while the row still waits. A row without ``waits`` has at least one test that carries its id.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Requirement:
    """One promise. ``waits`` is the number of the issue that will keep it."""

    id: str
    source: str
    text: str
    waits: int | None = None


MISSION = "the mission of wesaid: session search as OpenClaw announced it"
FUTURE = "announced by OpenClaw as a future improvement"

ROWS = (
    Requirement("search.text", MISSION, "A search covers what users and assistants said in the agent's own past sessions."),
    Requirement("search.hit", MISSION, "Each result has session key, timestamp, role, and a short excerpt that matches."),
    Requirement("search.reopen", MISSION, "The returned key, given to history, opens the surrounding conversation."),
    Requirement("search.exact", MISSION, "Exact words and exact phrases of raw transcripts are found."),
    Requirement(
        "search.fresh",
        "contract.md §6",
        "A search first reads what known transcripts have gained since they were imported, or says how many it has not read.",
    ),
    Requirement("search.resume", "contract.md §2", "A result of another tool says how its session is opened again there."),
    Requirement(
        "search.filters", "contract.md §2", "Tool and project narrow a search and a list alike; an answer that this leaves empty says so."
    ),
    Requirement(
        "import.places",
        "contract.md §4",
        "Each conversation lands under the agent and key that its tool and its own id say, subagents with the session that spawned them.",
    ),
    Requirement(
        "import.account",
        "contract.md §6",
        "An import ends with an account in which every message is counted once; a second one finds all unchanged; a line without its end is "
        "pending, not damage.",
    ),
    Requirement(
        "import.left-out",
        "contract.md §6",
        "What `.wesaidignore`, the do-not-index mark or `<private>` names is not brought in, found or shown; the account says so.",
    ),
    Requirement("import.stays", "contract.md §2", "What was imported stays found when its file is gone, and the list says so."),
    Requirement("vis.same", MISSION, "Search obeys the same visibility rules as history, by the same code."),
    Requirement("vis.before-limits", MISSION, "Results outside what the caller may see are removed before any limit is applied."),
    Requirement(
        "vis.sandbox",
        MISSION,
        "A sandboxed agent sees only itself and sessions that it spawned, when spawned-session visibility is on.",
    ),
    Requirement("vis.matrix", "contract.md §3", "Who may see whom is OpenClaw's table, with the differences that the contract names."),
    Requirement("vis.absent", "contract.md §3", "An absent session and a hidden one look the same."),
    Requirement("vis.incognito", "contract.md §3", "Incognito sessions are never stored, listed or returned, and see nothing."),
    Requirement("vis.write", "contract.md §3", "A session writes to itself and to what it spawned; the operator's work is the operator's."),
    Requirement("rank.own", "contract.md §2", "The caller's own lineage and echoes of the query come after all other hits."),
    Requirement("rank.copies", "contract.md §2", "Copies are one result, and a session gives at most three."),
    Requirement("history.anchor", "contract.md §2", "What search returns, history opens; pages lead both ways; what is not there says so."),
    Requirement("list.bounded", "contract.md §2", "A list keeps to its bytes by leaving whole rows out, and says so."),
    Requirement("out.redacted", MISSION, "Excerpts are redacted before a model gets them, as history's are."),
    Requirement("out.bounded", MISSION, "Results are bounded by count, by excerpt length and by total response size."),
    Requirement("index.beside", MISSION, "A full-text index (SQLite FTS5) lies beside the transcript rows in each agent's own database."),
    Requirement("index.same-tx", MISSION, "A new message is indexed in the transaction that persists it: the index never lags."),
    Requirement("index.delete-tx", MISSION, "Deleting a session removes its index entries in the same transaction."),
    Requirement("index.excluded", MISSION, "Tool results, reasoning and images are not indexed."),
    Requirement("index.active-branch", MISSION, "Only the active branch of a transcript can be found."),
    Requirement(
        "index.rewind",
        MISSION,
        "Rewinding a branch marks the session stale, and the next search starts its rebuild from the visible path that history uses; "
        "a rewind that only shortens the path may be complete in its own transaction.",
    ),
    Requirement(
        "index.backfill",
        MISSION,
        "Transcripts that predate the index are indexed by the same background reconciliation, beginning with the next search.",
    ),
    Requirement(
        "index.indexing-flag",
        MISSION,
        "An answer given meanwhile says `indexing: true`, may be incomplete, and is complete when asked again afterwards.",
    ),
    Requirement(
        "index.exact",
        "contract.md §2",
        "`indexing` is said exactly when what the caller may see is incomplete, not when something hidden is.",
    ),
    Requirement(
        "index.windows",
        "contract.md §4",
        "After a rewind that opened a new window, no older window of that chain is found or opened; text before a reset is.",
    ),
    Requirement("index.words", MISSION, "Words are Unicode words; accents do not matter, marks that are letters stay."),
    Requirement("index.cjk", FUTURE, "Chinese, Japanese and Korean substrings are found."),
    Requirement(
        "gateway.method", MISSION, "The gateway has an additive method `sessions.search` with a bounded allowlist of session keys.", waits=8
    ),
    Requirement(
        "tool.core", MISSION, "`sessions_search` is a core tool: a default install has it, with no provider and no plugin.", waits=6
    ),
    Requirement("memory.search", MISSION, "`memory_search` covers durable memory files and semantic recall.", waits=9),
    Requirement("memory.sessions", MISSION, "The session-memory corpus is the semantic complement to exact transcript search.", waits=9),
    Requirement("doctor.import", MISSION, "`doctor` imports older transcripts."),
    Requirement(
        "doctor.mend",
        "contract.md §8",
        "`doctor` names what is damaged and changes nothing; `--fix` mends it without losing a message, on a copy where it could.",
    ),
)

REQUIREMENTS = {row.id: row for row in ROWS}

"""Every number in the house, its unit in its name and its reason beside it.

A number that is not here is either a digit below ten, part of a table definition, or in a test.
What a user may rely on (contract.md §2) is marked *contract*; the rest is ours to change by measurement.
"""

from __future__ import annotations

from typing import Final

# ── what a question may be (contract) ────────────────────────────────────────────────────────────────────────────
QUERY_CODE_POINTS: Final = 4096  # OpenClaw's bound too, there in UTF-16 units
QUERY_TERMS: Final = 64  # words beyond this add cost, never meaning; the rest is ignored and said so
RESULTS_DEFAULT: Final = 10
RESULTS_MAX: Final = 25
WAIT_MS_DEFAULT: Final = 250  # a search may wait this long for stale sessions to be rebuilt
WAIT_MS_MAX: Final = 2000
CONTEXT_MESSAGES_MAX: Final = 3
EXCLUDED_KEYS_MAX: Final = 200

# ── what an answer may be (contract) ─────────────────────────────────────────────────────────────────────────────
SNIPPET_CODE_POINTS: Final = 300
RESPONSE_BYTES: Final = 32 * 1024  # of UTF-8, the whole JSON object
IGNORED_WORDS: Final = 32  # that a response names; each cut to TOKEN_CODE_POINTS
RESULTS_PER_SESSION: Final = 3  # by relevance, unless a session is named
MESSAGE_FULL_BYTES: Final = 16 * 1024  # one message of `detail: full`; half the response, so that another still fits
HISTORY_DEFAULT: Final = 200  # OpenClaw's chat.history default
HISTORY_MAX: Final = 1000
HISTORY_BYTES: Final = 80 * 1024
HISTORY_FLAGS_BYTES: Final = 256  # of a page: flags, offsets and counts that it may or may not carry
HISTORY_MESSAGE_BYTES: Final = 72 * 1024  # one message, so that a page always has room for one; OpenClaw drops a larger one too
HISTORY_TEXT_CODE_POINTS: Final = 4000
MIME_CODE_POINTS: Final = 100  # of an omitted image; real ones are a dozen
ENVELOPE_BYTES: Final = 64  # what a door may put around an answer: `"schemaVersion": 1, ` and a line end
ESCAPED_BYTES: Final = 5  # more that a door spends on a character which it may not print raw: six for one of at least one
LIST_MESSAGES_MAX: Final = 20  # messages inline in a list's row, as OpenClaw
LIST_DEFAULT: Final = 100
LIST_MAX: Final = 200
LIST_SLICE_ROWS: Final = 200  # read of one agent at a time; the largest page
HINT_NAMES: Final = 5  # of projects that a hint lists: enough to see how they are written
LIST_FLAGS_BYTES: Final = 1024  # of a page: counts, offset, and the names of agents that failed
LIST_BYTES: Final = 64 * 1024  # OpenClaw's 65 536
PREVIEW_CODE_POINTS: Final = 120  # a derived title or a preview is a line, not a paragraph
CLUSTER_CODE_POINTS: Final = 64  # one visible character with its marks (a family emoji has 11); more is piled up and may be cut

# ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────
SESSION_KEY_BYTES: Final = 256  # contract
AGENT_ID_CHARS: Final = 64  # contract
LABEL_CODE_POINTS: Final = 200
MESSAGE_ID_BYTES: Final = 256  # longest seen in real files is 64; a longer one is hashed

# ── what is indexed ──────────────────────────────────────────────────────────────────────────────────────────────
TOKEN_CODE_POINTS: Final = 64  # hashes (64 hex) stay whole; a longer run is cut, in the query alike
EXCERPT_WHOLE_CODE_POINTS: Final = 16_000  # a message up to this length is searched whole for its best excerpt, in a few ms
INDEXED_CODE_POINTS: Final = 400_000  # of one message; a pasted log beyond that is findable by its beginning
MARKS_IN_A_ROW: Final = 30  # Unicode's stream-safe text format (UAX #15); more makes normalisation quadratic
FOLD_TABLE_ENTRIES: Final = 65_536  # code points whose folding is remembered, about 10 MB; texts of one language use a few thousand

# ── redaction (docs/decisions/0005-redaction.md) ─────────────────────────────────────────────────────────────────
REDACT_PATTERNS_MAX: Final = 64  # of a person's own; each is one more reading of every text
REDACT_PATTERN_CHARS: Final = 1000
REDACT_WINDOW_CODE_POINTS: Final = 2048  # what a person's pattern reads in one go: it may need squares of this, never of the text
REDACT_OVERLAP_CODE_POINTS: Final = 512  # of two windows; a longer match may be cut
REDACT_VALUES_MAX: Final = 512  # exact values of the environment, as in OpenClaw
REDACT_VALUE_CHARS_MIN: Final = 8  # shorter values are words
REDACT_VALUE_CHARS_MAX: Final = 8192

# ── the search core ──────────────────────────────────────────────────────────────────────────────────────────────
CANDIDATES: Final = 500  # features of 500 rows cost about 3 ms whatever the word (design.md, measured)
INDEXED_COUNT_ROWS: Final = 10_000_000  # of a narrow scope; a sum of counters, so the bound is for the type, not for time
SCORE_DECIMALS: Final = 4  # scores are for comparing within one answer; more digits would tell the corpus apart
FREQUENCY_COUNT_ROWS: Final = 20_000  # counting further changes no weight that matters; 2–3 ms, then cached
COMMON_WORD_ROWS: Final = 5_000  # a phrase without a word rarer than this is verified on candidates, not walked
COMMON_WORDS: Final = 10_000  # whose counts are remembered, a few MB at most; a vocabulary has a few hundred that common
COMMON_DRIFT_SHARE: Final = 100  # a remembered count serves until a hundredth of so many messages have come or gone, these words or not
SOME_GENERATORS: Final = 4  # how many of the rarest words may bring candidates in tier `some`
SESSION_ANSWER_SECONDS: Final = (
    0.005  # a caller of few sessions took .4 ms, or .6 when 50 000 hidden messages had the word: both are 5 ms now
)
SCOPE_TOKENS: Final = 300  # more keys than this are joined, not AND-ed into the MATCH (design.md, measured)
STALE_WINDOWS_A_SEARCH: Final = 100  # stale windows that one search looks at, .2 ms; it waits for none of more
LINEAGE_DEPTH_MAX: Final = 100  # generations from a session to its first ancestor
JSON_DEPTH: Final = 100  # levels of a record that are redacted; what is deeper is left out of what is shown, real ones have a dozen
SUBTREE_SESSIONS_MAX: Final = 10_000  # spawned sessions followed for one caller
ECHO_MESSAGES: Final = 20  # a session with more messages than this has surely said more than one question

# ── ranking (docs/decisions/0007-tiers-and-ranking.md; measured on LoCoMo, which ships nowhere) ──────────────────────
RANK_SATURATION: Final = 1.2  # BM25's k1: the second occurrence of a word says less than the first
RANK_LENGTH: Final = 0.5  # BM25's b, below the usual .75: a long answer is not a worse one
RANK_NEAR: Final = 0.3  # share of a message's score for words next to each other
RANK_SESSION: Final = 0.6  # share of the question's weight for all of it being said somewhere in the session
RANK_RECENT: Final = 0.03  # share for a message of this moment: decides between equals only
RANK_RECENT_HALF_LIFE_DAYS: Final = 90.0
RANK_AUTOMATION: Final = 0.15  # share taken from heartbeats and cron prompts: more than recency could give back
RANK_SUBAGENT: Final = 0.08  # share taken from subagents, for the same reason
RANK_MARKS_LOOKED_AT: Final = 50  # best messages whose text is read for the marks that were typed: two pages
DAY_MS: Final = 86_400_000

# ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────
TEXT_BYTES: Final = 8 * 1024 * 1024  # one appended message; real lines reach 5 MB with an image inside
APPEND_MANY_MAX: Final = 10_000
TIMESTAMP_MS_MAX: Final = 253_402_300_799_999  # the end of the year 9999, the last that ISO 8601 and datetime can say
ID_HEX_CHARS: Final = 32  # of a message id made from an idempotency key: 128 bits
PATH_CUT_ROWS: Final = 512  # a rewind that drops more index rows than this hides them and leaves the rest to rebuild
APPEND_RESOLUTIONS: Final = 8  # of a whole window in one append; a transcript that wants more has its path made once, behind its last event
BODIES_REMEMBERED: Final = 200_000  # digests of events that share their id with another, about 20 MB; honest files have a few
REBUILD_SLICE_ROWS: Final = 256  # messages prepared and written in one go: about 20 ms that a writer may have to wait
REBUILD_SLICE_BYTES: Final = 4 * 1024 * 1024  # the same bound for few, large messages
REBUILD_ROWS_A_SECOND: Final = 4000  # what a search may expect to be done while it waits; a quiet core does 6 000
REBUILD_LOOK_ROWS: Final = 2048  # positions of a path looked at in one go, most of which are indexed already or said nothing
APART_FROM_SLICES: Final = 3  # work of more slices than this gets a process of its own, which takes a fifth of a second to start
MAKE_ROOM_SECONDS: Final = 1.0  # after a search, background work pauses as long as it worked
BACKGROUND_WAIT_SECONDS: Final = 5.0  # for other writers; closing a store waits for the background's step
APART_POLL_SECONDS: Final = 0.05  # between two looks whether the process that reconciles has ended
APART_NICE: Final = 5  # the preparing process gives way to whoever searches
POLL_SECONDS: Final = 0.005  # between two looks at what another process is doing
TURN_MS: Final = 3000  # a turn at reconciling lasts this long unless it is renewed, with every slice: what a killed process holds up others
TURN_MS_MAX: Final = 60_000  # an end further away was written by a clock that was wrong
COMPRESS_FROM_BYTES: Final = 512  # shorter records gain nothing
BLOB_STRING_CHARS: Final = 2048  # a base64 payload at least this long is replaced by size and digest
MIRROR_LOOK_BACK: Final = 8  # path positions within which a delivery mirror repeats its reply (races reorder a few)

# ── importing ────────────────────────────────────────────────────────────────────────────────────────────────────
READ_CHUNK_BYTES: Final = 1024 * 1024
LINE_BYTES: Final = 32 * 1024 * 1024  # a longer line is damage; the longest seen is 5 MB
IMPORT_BATCH_MESSAGES: Final = 2000  # one transaction; a kill loses at most this much work, never a row
IMPORT_HELD_BYTES: Final = 64 * 1024 * 1024  # that wait until it is known where among the stored events they belong
IMPORT_BATCH_BYTES: Final = 16 * 1024 * 1024  # the same bound for few, large lines
GUESS_BYTES: Final = 256 * 1024  # how much of a file is read to guess its tool
GUESS_LINES: Final = 40
HEAD_DIGEST_BYTES: Final = 4096  # of a file's beginning, and before the resume offset: one page tells a rewritten file from a grown one
REPAIR_PASSES: Final = 8  # a damaged line is parsed over at most this many times its length, so that repair stays linear
REPAIR_CHARS: Final = 16 * 1024  # a damaged line counts as at least this long
REPAIR_SLICE_CHARS: Final = 512  # of a line parsed at first; a try costs at least as much: what an error of the parser takes
MS_FROM: Final = 10**11  # a larger timestamp is milliseconds, a smaller one seconds (formats.md, common rule 5)
LATEST_MS: Final = 253_402_300_800_000  # the year 10 000: beyond it is no date
NAV_LINKS: Final = 20_000  # rows off the chat chain whose parents are remembered while a file is read; later lines name recent ones
NAV_LINKS_KEPT: Final = 512  # how many of them go with the resume offset: about 40 KB
TURN_LINES: Final = 128  # of one reply with its tools' results, any of which the next line may name; a dozen calls at once are many
QUEUE_PROMPTS: Final = 64  # typed while the agent was busy, failed requests, prompts of subagents: remembered while a file is read
GONE_LINES: Final = 200_000  # of a deleted session's transcript, looked through for what a fork copied of it
TITLE_ROWS: Final = 64  # beginning of a conversation in which its title is looked for; people speak in the first rows
SNAPSHOT_TRIES: Final = 8  # copies of a database that is being written to, until one is consistent; under two seconds of pauses in all
SNAPSHOT_PAUSE_SECONDS: Final = 0.05
SNAPSHOT_LEFT_SECONDS: Final = 10.0  # a folder younger than this may not be locked yet by who has just made it
WAL_HEADER_BYTES: Final = 32  # of SQLite's write-ahead log: with its salts it tells one log from the next
DATABASE_WINDOWS: Final = 500_000  # of one database, planned in memory at about a kilobyte each; OpenClaw's list ends at thousands
WINDOW_ROWS_COMPARED: Final = 64  # first entries of a window that are looked for in the one before it
NEAR_TWINS: Final = 15  # messages of one speaker between two tellings of the same words in a Codex rollout; real files have three
IGNORE_BYTES: Final = 256 * 1024  # of a `.wesaidignore`, read whole or not at all; a larger one leaves out its folder
WALK_DEPTH: Final = 32  # folders below a given path; real trees have five levels
WALK_FILES: Final = 1_000_000  # files looked at in one import: a home folder given by mistake ends, and says so

# ── freshness: what a search does about transcripts that have grown ──────────────────────────────────────────────────
FRESH_SECONDS: Final = 0.25  # all of it, before the search proper: as long as a search may wait for stale sessions
FRESH_LOOK_SECONDS: Final = 0.15  # of it for looking at files: 10 000 take 35 ms, on a busy machine thrice as long
FRESH_FOLDERS_SECONDS: Final = 0.05  # and at folders that are followed; a line that was appended then takes 5 ms to import
FRESH_RECENT_FILES: Final = 1000  # of the sessions that were last updated, looked at first: a growing file is one of them
FRESH_FILES: Final = 20_000  # looked at for a session caller, whose sources are read in one go
FRESH_PAGE_FILES: Final = 2000  # known files read from the store at a time while looking
FRESH_NEW_FILES: Final = 100  # of a followed folder taken up together, the latest first: more than a search has time for
FRESH_LEAST_SECONDS: Final = 0.05  # for importing, however long looking took: every search gets further
FRESH_FILES_A_CLOCK: Final = 64  # files looked at between two glances at the clock: a fifth of a millisecond
FRESH_BATCH_SECONDS: Final = 0.03  # with less time left no further batch of a file is begun
FRESH_BUSY_SECONDS: Final = 0.025  # a search waits this long for another process's transaction, then leaves the file for the next one
FRESH_SETTLED_NS: Final = 2_000_000_000  # a folder that changed less long ago may change again within the tick of its clock
SCAN_BYTES_A_SECOND: Final = 1_000_000_000  # looking for the do-not-index marker; measured 5 GB/s of a file in memory
ANEW_BYTES_A_SECOND: Final = 8_000_000  # reading a file anew and comparing it with what is stored; measured 10 to 20 MB/s
IMPORT_TRIES: Final = 8  # of one file while other processes import it too; each time they have got further

# ── SQLite ───────────────────────────────────────────────────────────────────────────────────────────────────────
DATABASE_BYTES_MIN: Final = 512  # SQLite's smallest page; it takes a shorter file for an empty one and would write over it
BUSY_MS: Final = 60_000  # waiting for another process's write; a caller never sees "database is locked" before
READERS: Final = 4  # idle read connections kept for one database
CACHE_KIB: Final = 32 * 1024
MMAP_BYTES: Final = 256 * 1024 * 1024
WAL_PAGES: Final = 2000  # checkpoint about every 8 MB
WAL_LIMIT_BYTES: Final = 32 * 1024 * 1024  # the file is cut to this after a checkpoint
FTS_HASH_BYTES: Final = 16 * 1024 * 1024  # FTS5's pending rows in a bulk import (design.md, measured)
LEARN_BULK_WORDS: Final = 2000  # distinct words in one transaction from which counting their use is worth an upsert each
LEARN_BULK_EACH: Final = 4  # one such transaction in so many counts, for all of them: a fifth of a re-index's time otherwise
ROWID_HINTS: Final = 1000  # seconds for which a writer remembers where their last rowid went
KNOWN_WORDS: Final = 200_000  # words this process has already put into the word table; a set of about 20 MB

ERASE_BUSY_MS: Final = 25  # erasing waits this long for others; writers wait as long when it wants the log emptied
ERASE_MERGE_PAGES: Final = 100  # pages of the index merged in one transaction: about 10 ms
ERASE_WORDS: Final = 1000  # words of the vocabulary looked up in one transaction: about 5 ms
ERASE_PAGES: Final = 4096  # pages of the file looked at in one go: 16 MB; the few that need it are cleaned in one transaction
HEADER_BYTES: Final = 100  # of an SQLite file

# ── erasing ──────────────────────────────────────────────────────────────────────────────────────────────────────
PIECE_BYTES: Final = 8  # contract: no piece of this length of a deleted session may stay
PROOF_PIECES: Final = 50_000  # pieces of deleted text that a proof looks for; more are taken evenly
PROOF_BLOCK_PAGES: Final = 32  # pages looked at together; a block without a piece costs nothing more
THINNING_PRIME: Final = 2_147_483_647  # a prime larger than any number of pieces, so that halves are even
PROOF_ROUNDS: Final = 3  # rounds of erasing that `--wait` makes before it says that something is left
UNFINISHED_SECONDS: Final = 60.0  # a repair's new file that nobody wrote to for so long was left by a kill
BY_THE_WAY_SECONDS: Final = 0.25  # what the next commands give to an erasure or a renewal that is not done: hardly felt at a prompt
WAIT_ERASE_SECONDS: Final = 600.0  # `--wait` gives up after this long, which is ten times what a million messages need

# ── doctor ───────────────────────────────────────────────────────────────────────────────────────────────────────
PAGE_BYTES: Final = 4096  # SQLite's default page, for a file whose header does not say
DOCTOR_PROGRESS_STEPS: Final = 100_000  # of SQLite's machine between two looks at the clock: about a millisecond
DOCTOR_SECONDS: Final = 600.0  # for the pages and rows of one agent; a million messages take about a minute
DOCTOR_SAMPLE: Final = 20  # messages of an agent that a real question has to find
DOCTOR_FIX_SECONDS: Final = 3600.0  # a refill of a million messages takes about ten minutes
DOCTOR_LOOKS: Final = 3  # at a database that others write to while it is looked at
RESCUE_PROBES: Final = 20_000  # questions to a damaged table; each page that cannot be read takes about twice its rows
DAMAGED_COPIES: Final = 10  # of one database in one second; more is a loop
LOG_LARGE_BYTES: Final = 64 * 1024 * 1024  # twice what a checkpoint leaves: somebody pins it
SPACE_LOW_BYTES: Final = 256 * 1024 * 1024  # a rewind or an import of a large session needs about as much
FREE_SHARE: Final = 0.25  # of a file's pages; below that nothing is gained by making it smaller
DOCTOR_NAMES: Final = 5  # names that one finding lists; the rest is counted

# ── files ────────────────────────────────────────────────────────────────────────────────────────────────────────
FILE_MODE: Final = 0o600
FOLDER_MODE: Final = 0o700
CONFIG_BYTES: Final = 256 * 1024  # of config.toml; a larger file is not one that a person wrote

# ── the command line ─────────────────────────────────────────────────────────────────────────────────────────────
CLI_REBUILD_SECONDS: Final = 2.0  # contract: a command that leaves stale sessions goes on at most this long
CLI_WIDTH_MAX: Final = 110  # cells; prose in longer lines is hard to read, however wide the terminal
CLI_PATH_CELLS_MIN: Final = 16  # of a path beside other facts; with less room it goes to a line of its own
CLI_SOURCE_CELLS_MIN: Final = 44  # of an import's source: `…/`, a UUID and `.jsonl`; columns of figures give way to it
CLI_CALL_CELLS: Final = 400  # of a tool's arguments in a page of history: what was called is recognised; `show` has all of it
CLI_SOURCES_SHOWN: Final = 20  # an import of more sources shows its totals and what went wrong, not a line for each
CLI_SLOW_SECONDS: Final = 2.0  # a write that takes longer waits for another program's; a person is told
CLI_COMPLETION_KEYS: Final = 200  # session keys offered to a shell; a longer list helps nobody and must not be waited for
SECONDS_MS: Final = 1000
MINUTE_MS: Final = 60_000
MILLISECOND_NS: Final = 1_000_000

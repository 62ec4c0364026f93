"""What ``break_it.py`` breaks: each piece of text that is replaced, what for, and the tests that notice."""

from __future__ import annotations

from dataclasses import dataclass

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


WHO_SEES_WHAT = (
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

RECONCILING = "tests/service/test_reconciling.py"
MARKING = "tests/engines/test_marking.py"
BRANCHES = "tests/engines/test_contract_branch.py"
FRESHENING = "tests/service/test_freshening.py"
DATABASES = "tests/service/test_import_database.py"
CLAUDE = "tests/service/test_import_claude.py"
CODEX = "tests/importers/test_codex.py"
DOCTOR = "tests/service/test_doctor.py"
HOMES = "tests/service/test_doctor_homes.py"

NEVER_LAGGING = (
    # what is stale, who is told so, and who mends it
    Mutation("no mark after a switch", "engines/sqlite/placing.py", "        self._mark(state, common, None)\n", "", (BRANCHES, "tests/contract/test_index.py")),
    Mutation("no mark after a long cut", "engines/sqlite/placing.py", "            self._mark(state, keep, int(first) & LOW)\n", "", (BRANCHES, "tests/engines/test_work.py")),
    Mutation("a cut leaves its index rows", "engines/sqlite/placing.py", "            self._drop(state, rids_of(self._db, places, (low, high)))\n", "", (BRANCHES, "tests/contract/test_index.py")),
    Mutation("hidden rows stay for ever", "engines/sqlite/placing.py", "        self._index.drop([rid for rid, _, spot in rows if spot is None])\n", "", (BRANCHES, "tests/engines")),
    Mutation("an old row is not replaced", "engines/sqlite/placing.py", "                if row[0] is not None:\n                    self._drop(state, [(row[0], row[1])])\n                self._enter(", "                if row[0] is None:\n                    self._enter(", (MARKING, RECONCILING)),
    Mutation("`indexing` of what others may see", "service/reconciling.py", "for window in view.stale(scope, limit=limits.STALE_WINDOWS_A_SEARCH, lacking=True)})", "for window in view.stale(EVERYTHING, limit=limits.STALE_WINDOWS_A_SEARCH, lacking=True)})", (RECONCILING, HIDDEN)),
    Mutation("`indexing` of what is only old", "service/reconciling.py", "for window in view.stale(scope, limit=limits.STALE_WINDOWS_A_SEARCH, lacking=True)})", "for window in view.stale(scope, limit=limits.STALE_WINDOWS_A_SEARCH)})", (RECONCILING,)),
    Mutation("`indexing` never said", "service/searching.py", "indexing=stale > 0", "indexing=False", ("tests/contract/test_index.py",)),
    Mutation("`indexing` not said before the mark", "service/reconciling.py", "    if view.unmarked() or (made is not None and UNKNOWN.fold < made.fold < fold.VERSION):\n", "    if False:\n", (RECONCILING, MARKING)),
    Mutation("older redaction is not due", "service/reconciling.py", "made.fold < fold.VERSION or (made.fold == fold.VERSION and home.redactor.supersedes(made.redact))", "made.fold < fold.VERSION", (RECONCILING,)),
    Mutation("older folding is not due", "service/reconciling.py", "made.fold < fold.VERSION or (made", "(made", (RECONCILING,)),
    Mutation("newer rules are taken back", "service/reconciling.py", "made.fold < fold.VERSION or (made", "made.fold != fold.VERSION or (made", (RECONCILING,)),
    Mutation("a lost index is not seen", "engines/sqlite/marking.py", "return _is_lost(db) or _has_strange_windows(db)", "return _has_strange_windows(db)", (MARKING, "tests/contract/test_index.py")),
    Mutation("windows of another program are not seen", "engines/sqlite/marking.py", "return _is_lost(db) or _has_strange_windows(db)", "return _is_lost(db)", (MARKING, "tests/engines")),
    Mutation("a mark leaves what is half done", "engines/sqlite/marking.py", 'DO UPDATE SET old = 0"', 'DO NOTHING"', (MARKING, RECONCILING)),
    Mutation("rows of another folding are only old", "engines/sqlite/marking.py", '    if what == "keep":\n', "    if False:\n", (MARKING, RECONCILING)),
    Mutation("everybody has the turn", "engines/sqlite/marking.py", "if holder not in {owner, instead_of} and now", "if False and now", (MARKING, RECONCILING)),
    Mutation("a turn is kept", "service/reconciling.py", "            writer.turn(self.home.owner, now=self.home.now(), until=0)\n", "            pass\n", (RECONCILING,)),
    Mutation("a dead process has the turn", "service/reconciling.py", "and alive.is_gone(holder)", "and False", (RECONCILING,)),
    Mutation("a search wakes nobody", "service/searching.py", "        reconciling.wake(home, views)\n", "", (RECONCILING,)),
    Mutation("a busy store stops a search", "service/reconciling.py", "    for agent, scope in scopes.items():\n        with suppress(StoreError):\n            store = home.engine.store(agent)\n            if store is not None:\n                _mark", "    for agent, scope in scopes.items():\n        with suppress(KeyError):\n            store = home.engine.store(agent)\n            if store is not None:\n                _mark", (RECONCILING,)),
    Mutation("an abandoned window is found", "engines/sqlite/placing.py", "        self._drop(state, rids_of(self._db, on_path, whole))\n", "", (DATABASES, "tests/engines")),
    Mutation("a window that comes back is not indexed", "engines/sqlite/placing.py", "        if findable:\n            self._mark(state, 0, None)\n            return\n", "        if findable:\n            return\n", (DATABASES, "tests/engines")),
    Mutation("delivery mirrors count twice", "engines/sqlite/placing.py", "        if mirror and near:\n", "        if False:\n", (BRANCHES, "tests/engines/test_contract_append.py")),
    # what tools write
    Mutation("a rewind's older window is found", "importers/openclaw_sqlite.py", "window.findable = window.session_id == current or window.session_id not in hidden", "window.findable = True", ("tests/importers/test_openclaw_sqlite.py",)),
    Mutation("an older file brings an abandoned window back", "service/import_writing.py", "            window = replace(window, findable=False)  #", "            window = replace(window, findable=True)  #", (DATABASES,)),
    Mutation("packed rows are lost", "importers/openclaw_sqlite.py", "            body = unpacked(body)\n", "            body = None\n", ("tests/importers/test_openclaw_sqlite.py", DATABASES)),
    Mutation("a database without its log", "importers/reading_sqlite.py", '                    shutil.copyfile(f"{path}{log}", folder / f"copy{log}")\n', "                    pass\n", ("tests/importers/test_reading_sqlite.py",)),
    Mutation("Codex's rollbacks are ignored", "importers/codex/reader.py", 'if found.kind == "thread_rolled_back":', "if False:", (CODEX,)),
    Mutation("Codex's second tellings are messages", "importers/codex/reader.py", "        if twin is not None:\n", "        if False:\n", (CODEX,)),
    Mutation("Codex's envelopes are words", "importers/codex/said.py", 'without_envelopes if made.role == "user" else', 'str if made.role == "user" else', (CODEX,)),
    Mutation("nobody spawned Codex's subagents", "importers/codex/__init__.py", "            spawned_by=spawner,\n", "", (CODEX,)),
    Mutation("nobody spawned Claude Code's subagents", "importers/claude_code/__init__.py", 'session_id=f"agent-{name}", spawned_by=spawner)', 'session_id=f"agent-{name}")', ("tests/importers/test_claude_code.py", CLAUDE)),
    Mutation("queued prompts are lost", "importers/claude_code/chain.py", 'return self._queue.attachment(record) if kind == "attachment" else None', "return None", ("tests/importers/test_claude_queue.py",)),
    Mutation("waiting prompts are lost", "importers/claude_code/chain.py", "        return out\n", "        return []\n", ("tests/importers/test_claude_queue.py",)),
    Mutation("a parent that was never written is a root", "importers/claude_code/chain.py", "            name = self._links[name]\n        return name\n", '            name = self._links[name]\n        return name if name in self._links or (turn and name in turn[3]) else ""\n', ("tests/importers/test_claude_code.py",)),
    Mutation("what follows a cut record is lost", "importers/reading.py", "            return [_clean(value) for value in [*found, *rest]], 1\n", "            return [_clean(value) for value in found], 1\n", ("tests/importers/test_reading.py",)),
    Mutation("lone surrogates stay", "importers/reading.py", '                    node[key] = _SURROGATE.sub("\\ufffd", item)\n', "                    pass\n", ("tests/importers/test_reading.py",)),
    Mutation("reset generations are not read", "importers/openclaw.py", "_generations(folder, stem, resets.get(stem, []), common)", "_generations(folder, stem, [], common)", ("tests/service/test_importing.py",)),
    Mutation("a file beside its database is all news", "service/import_writing.py", "(target.beside and self._is_there(target, prepared))", "False", (DATABASES,)),
    Mutation("an anchor in another window is not opened", "service/history.py", "        if params.message_id is not None:\n            return _around(", "        if params.message_id is not None and params.session_id is None:\n            return _around(", ("tests/service/test_history.py",)),
    Mutation("an export pins the log", "service/exporting.py", "        if not events:\n            return\n        yield from events\n", "            if not events:\n                return\n            yield from events\n", ("tests/service/test_exporting.py",)),
    Mutation("the log is never written back", "engines/sqlite/connection.py", "    db.wal_autocheckpoint(limits.WAL_PAGES)\n", "    db.wal_autocheckpoint(0)\n", ("tests/engines/test_log.py",)),
    Mutation("the log is never cut", "engines/sqlite/connection.py", '    db.pragma("journal_size_limit", limits.WAL_LIMIT_BYTES)\n', "", ("tests/engines/test_log.py",)),
    # what stays out
    Mutation("private spans are exported", "service/exporting.py", "fields.redacted(redactor, private.removed(value))", "fields.redacted(redactor, value)", (CLAUDE,)),
    Mutation("the mark counts at a file's beginning only", "service/import_file.py", "        return import_refusing.is_marked(self._file, max(start, offset))\n", "        return not offset and import_refusing.is_marked(self._file, max(start, offset))\n", (CLAUDE, FRESHENING)),
    Mutation("a session that says no later stays", "service/import_file.py", "            self.forget_refused(self._state.keys)\n", "            pass\n", (CLAUDE, FRESHENING)),
    Mutation("ignore rules bring nothing back", "service/import_ignore.py", 'brings_back = glob.startswith("!")', "brings_back = False", ("tests/service/test_import_ignore.py",)),
    Mutation("an ignored folder's files are brought back", "service/import_ignore.py", "for count in range(1, len(parts) + 1))", "for count in range(len(parts), len(parts) + 1))", ("tests/service/test_import_ignore.py",)),
    Mutation("import.ignore does not hold for a search", "service/freshening.py", "ignore=self.home.settings.import_ignore", "ignore=()", (FRESHENING,)),
    # what has grown
    Mutation("a search imports nothing", "service/freshening.py", "            account = self.run.one(source, lambda: None)\n", "            return False\n", ("tests/contract/test_fresh.py",)),
    Mutation("sources of hidden sessions are counted", "service/freshening.py", "look.recent(agent, policy.scope(agent), whole=operator)", "look.recent(agent, type(policy.scope(agent))(), whole=operator)", (FRESHENING,)),
    Mutation("shared sources are counted", "engines/sqlite/following.py", '            " WHERE NOT EXISTS (SELECT 1 FROM json_each(f.keys) k WHERE k.value NOT IN (SELECT value FROM json_each(?1)))"\n', "", (FRESHENING, "tests/engines/test_following.py")),
    Mutation("a session's search looks for new files", "service/freshening.py", "    if operator:\n        look.rest()", "    if True:\n        look.rest()", (FRESHENING,)),
    Mutation("a failure is remembered", "service/freshening.py", "            is_read = account.error is None and self._is_read(", "            is_read = account.error is not None or self._is_read(", (FRESHENING, DATABASES)),
    Mutation("half a file counts as read", "service/import_file.py", "size=identity.size if complete else min(offset, identity.size - 1),", "size=identity.size,", (FRESHENING, "tests/service/test_kills.py")),
    Mutation("a vanished file's words go", "service/freshening.py", "                    writer.note_source(replace(state, missing=True))\n", "                    [writer.delete(key, 0) for key in state.keys if writer.session(key)]\n", (FRESHENING,)),
    Mutation("any id is typed into a shell", "importers/resuming.py", '_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")', '_ID: Final = re.compile(r"(?s:.+)")', ("tests/importers/test_resuming.py",)),
    Mutation("what is gone is resumed", "service/resuming.py", "if row.source_path is None or row.source_missing:", "if row.source_path is None:", ("tests/service/test_resuming.py",)),
    Mutation("a hidden parent is named to be resumed", "service/resuming.py", "if parent and addressing.allows(policy, parent) else None", "if parent else None", ("tests/service/test_resuming.py",)),
    # what a doctor says and does
    Mutation("a doctor says nothing of open files", "service/doctor_files.py", "        if chosen:\n", '        if chosen and code != "files.permissions":\n', (HOMES,)),
    Mutation("a doctor says nothing of damaged transcripts", "engines/sqlite/checking.py", "    if kept:\n        yield Flaw(", "    if kept:\n        return\n        yield Flaw(", (DOCTOR,)),
    Mutation("a doctor says nothing of wrong paths", "engines/sqlite/checking.py", '    if wrong:\n        yield Flaw(code="path.differs"', '    if False:\n        yield Flaw(code="path.differs"', (DOCTOR,)),
    Mutation("a doctor says nothing of words without a message", "engines/sqlite/checking.py", "    if unlike:\n", "    if False:\n", (DOCTOR,)),
    Mutation("a doctor says nothing of messages without an index", "service/doctor_rows.py", "    if read.missing:\n", "    if False:\n", (DOCTOR,)),
    Mutation("a doctor asks no question", "service/doctor_rows.py", "    if unfound:\n", "    if False:\n", (DOCTOR,)),
    Mutation("a doctor says nothing of half read files", "service/doctor_sources.py", "        if half:\n", "        if False:\n", (HOMES,)),
    Mutation("a doctor says nothing of a large log", "service/doctor.py", "    if log > limits.LOG_LARGE_BYTES:\n", "    if False:\n", (HOMES,)),
    Mutation("damaged files do not stay", "engines/sqlite/salvaging.py", "            _swap(path, new, file)\n", "            _swap(path, new, file)\n            _remove(aside)\n", (DOCTOR, HOMES)),
    Mutation("the log is not copied aside", "engines/sqlite/salvaging.py", '            _copy(read, log.stat().st_size, Path(f"{aside}-wal"))\n', "            pass\n", (DOCTOR, HOMES)),
    Mutation("a salvage is not checked", "engines/sqlite/salvaging.py", "    if not sound or there != read.events or sessions < read.sessions:", "    if False:", (DOCTOR, HOMES)),
    Mutation("a salvage waits for nobody", "engines/sqlite/salvaging.py", "            file.xLock(apsw.SQLITE_LOCK_RESERVED)\n            file.xLock(apsw.SQLITE_LOCK_EXCLUSIVE)\n", "", (HOMES,)),
    Mutation("strays are not read", "engines/sqlite/rescuing.py", "            self._stray(table)\n", "", (DOCTOR,)),
    Mutation("a look mends", "service/doctor.py", "    if fix:\n        mended = [", "    if True:\n        mended = [", (DOCTOR,)),
)  # fmt: skip

MUTATIONS = (*WHO_SEES_WHAT, *NEVER_LAGGING)

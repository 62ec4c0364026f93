"""Erasing: what deletes left in the files is taken out in the background, and on demand waited for and proven.

A delete makes a session unfindable in its transaction; its bytes go later, in slices that any command continues. Who waits gets a proof: pieces of
what was deleted are remembered (in memory alone) before the delete, and looked for in every byte of the files afterwards. The operator's only.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePath
from time import monotonic

from wesaid import keys, limits
from wesaid.engines.contract import Store, View
from wesaid.errors import InputError, NotFoundError, StoreBusyError, StoreError, quoted
from wesaid.rules import when
from wesaid.rules.redact import Redactor
from wesaid.service import addressing, writing
from wesaid.service.opening import Home
from wesaid.service.preparing import again
from wesaid.values import EVERYTHING, Caller, Tombstone, Traces

_PIECE = limits.PIECE_BYTES
_CODING_BYTES = 16  # at the beginning of a stored body: its coding, and what most records begin with


@dataclass(frozen=True, slots=True)
class Doomed:
    """What a `forget` will delete: session keys and sources, by agent."""

    sessions: Mapping[str, tuple[str, ...]]
    sources: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def count(self) -> int:
        """How many sessions."""
        return sum(map(len, self.sessions.values()))


@dataclass(frozen=True, slots=True)
class Erased:
    """What was deleted and is gone from the bytes, or (without ``proof``) will be."""

    tombstones: tuple[Tombstone, ...]
    sources: tuple[str, ...] = ()
    proof: Traces | None = None
    spawned: tuple[str, ...] = ()  # sessions that the deleted ones had spawned, however deep; they stay


def erase(home: Home, agents: Iterable[str], *, seconds: float) -> bool:
    """Go on with what is not erased yet, for at most about so long; whether nothing is left. Stores that cannot be worked on are left as they are."""
    until = monotonic() + seconds
    done = True
    for agent in agents:
        try:
            store = home.engine.store(agent)
            if store is None:
                continue
            if monotonic() < until:
                done = store.erase(seconds=until - monotonic(), now=home.now()) and done
            else:
                with store.reading() as view:
                    done = not view.unerased() and done
        except StoreError:
            done = False  # read-only, busy or damaged: whoever asks for its content is told
    return done


def delete(home: Home, caller: Caller, reference: str, *, wait: bool = False) -> Erased:
    """Delete a session; with ``wait`` return when its bytes are gone and that is proven. NotFoundError, StoreError (contract.md §8)."""
    addressing.check_operator(caller, "deleting a session")
    key = addressing.visible_session(home, caller, reference).facts.key
    if not wait:
        return Erased((writing.delete(home, caller, key),), spawned=_spawned(home, (key,)))
    return forget(home, caller, Doomed({keys.parse(key).agent_id: (key,)}))


def _spawned(home: Home, doomed: Collection[str]) -> tuple[str, ...]:
    """What sessions spawned, however deep, and is not doomed itself; those of ``doomed`` need not be there any more."""
    found, waiting = set(doomed), list(doomed)
    while waiting and len(found) < len(doomed) + limits.SUBTREE_SESSIONS_MAX:
        parents, waiting = waiting, []
        for agent in home.engine.agents():
            with suppress(StoreError):  # what cannot be read is for `doctor` to say
                store = home.engine.store(agent)
                if store is not None:
                    with store.reading() as view:
                        waiting += sorted({child for parent in parents for child in view.children(parent)} - found)
        found.update(waiting)
    return tuple(sorted(found.difference(doomed)))


def from_source(home: Home, path: str | Path) -> Doomed:
    """Sessions that came from a file, or from files below a folder, and from nowhere else. NotFoundError when no such source is known."""
    tops = {str(path), os.path.realpath(Path(path).expanduser())}
    sessions, sources = dict[str, tuple[str, ...]](), dict[str, tuple[str, ...]]()
    for agent, view in _views(home):
        known = {state.path: state for state in view.sources() if any(PurePath(state.path).is_relative_to(top) for top in tops)}
        if known:
            came = sorted({key for state in known.values() for key in state.keys})
            sources[agent] = tuple(known)
            sessions[agent] = tuple(
                key for key in came if view.session(key) is not None and all(state.path in known for state in view.sources(key))
            )
    if not sources:
        raise NotFoundError(
            f"no source {quoted(str(path), limits.SESSION_KEY_BYTES)} was ever imported",
            hint="`wesaid sessions --json` names each session's source",
            details={"field": "source"},
        )
    return Doomed(sessions, sources)


def of_tool(home: Home, tool: str, *, before: int) -> Doomed:
    """Sessions of a tool that were last added to before a time (Unix milliseconds). InputError when no session is of this tool."""
    sessions, tools = dict[str, tuple[str, ...]](), set[str]()
    for agent, view in _views(home):
        rows = view.sessions(EVERYTHING)
        tools |= {row.facts.tool for row in rows if row.facts.tool}
        found = tuple(sorted(row.facts.key for row in rows if row.facts.tool == tool and row.facts.updated_at < before))
        if found:
            sessions[agent] = found
    if tool not in tools:
        raise InputError(
            f"no session is of tool {quoted(tool, limits.AGENT_ID_CHARS)}",
            hint=f"tools here: {', '.join(sorted(tools)) or 'none'}",
            details={"field": "tool", "allowed": sorted(tools)},
        )
    return Doomed(sessions)


def moment(home: Home, text: str) -> int:
    """A time as it is typed (``2025-01-31``, ``3mo``), in this machine's zone, as Unix milliseconds. InputError when it is none."""
    return when.moment(text, now=home.now(), zone=datetime.now(UTC).astimezone().tzinfo or UTC)


def forget(home: Home, caller: Caller, doomed: Doomed, *, seconds: float = limits.WAIT_ERASE_SECONDS) -> Erased:
    """Delete, wait until the bytes are gone, and prove it.

    Raises:
        StoreBusyError: others kept the files busy for ``seconds``; everything is deleted, the next commands go on erasing.
        StoreError: pieces are left although all work is done; that is a defect, or a file that another program wrote.
    """
    addressing.check_operator(caller, "forgetting")
    until = monotonic() + seconds
    spawned = _spawned(home, [key for found in doomed.sessions.values() for key in found])
    stones: list[Tombstone] = []
    proofs: list[Traces] = []
    for agent in sorted({*doomed.sessions, *doomed.sources}):
        store = home.store(agent)
        pieces = _delete(home, store, doomed.sessions.get(agent, ()), doomed.sources.get(agent, ()))
        proofs.append(_prove(home, store, pieces, until))
        with store.reading() as view:
            stones += [stone for key in doomed.sessions.get(agent, ()) if (stone := view.tombstone(key)) is not None]
    whole = Traces(
        files=tuple(
            f"{agent}/{name}"
            for agent, proof in zip(sorted({*doomed.sessions, *doomed.sources}), proofs, strict=True)
            for name in proof.files
        ),
        bytes=sum(proof.bytes for proof in proofs),
        pieces=sum(proof.pieces for proof in proofs),
        shared=sum(proof.shared for proof in proofs),
    )
    return Erased(tuple(stones), tuple(path for paths in doomed.sources.values() for path in paths), whole, spawned)


def _delete(home: Home, store: Store, doomed: Iterable[str], sources: Iterable[str]) -> frozenset[bytes]:
    """Remove sessions and sources; pieces of what the sessions held."""
    pieces: set[bytes] = set()
    for key in doomed:
        with store.reading() as view:
            pieces |= _thinned(_pieces(home.redactor, view, key), limits.PROOF_PIECES)
        with store.writing() as writer:
            if writer.session(key) is not None:
                writing.remove(writer, key, home.now())
    with store.writing() as writer:
        for path in sources:
            writer.forget_source(path)
    return frozenset(_thinned(pieces, limits.PROOF_PIECES))


def _prove(home: Home, store: Store, pieces: frozenset[bytes], until: float) -> Traces:
    """Erase until a scan of all bytes finds no piece that no live row has."""
    for attempt in range(limits.PROOF_ROUNDS):
        done = store.erase(seconds=max(until - monotonic(), 0), now=home.now(), anew=attempt > 0)
        while not done:
            if monotonic() >= until:
                raise StoreBusyError(
                    f"the bytes of what was deleted from agent {store.agent_id!r} are not all gone: other programs kept its database busy",
                    hint="it is deleted and cannot be found; the next commands go on erasing",
                )
            done = store.erase(seconds=max(until - monotonic(), 0), now=home.now())
        proof = store.traces(pieces)
        if not proof.left:
            return proof
    raise StoreError(
        f"{proof.left} of {proof.pieces} pieces of what was deleted are still in the files of agent {store.agent_id!r}",
        hint="it is deleted and cannot be found; please report this with `wesaid stats --json`",
        details={"bytes": proof.bytes, "pieces": proof.pieces, "left": proof.left},
    )


def _pieces(redactor: Redactor, view: View, key: str) -> Iterator[bytes]:
    """Pieces of everything that is stored of a session: as it lies in the files, as it was said, and as it is indexed."""
    row = view.session(key)
    if row is None:
        return
    for stored in view.stored(key):
        yield from _cut(stored[_CODING_BYTES:] if len(stored) > 2 * _CODING_BYTES else stored)
    for window in view.windows(key):
        after = -1
        while events := view.events(window.window, after_seq=after, limit=limits.REBUILD_SLICE_ROWS):
            after = events[-1].seq
            for event in events:
                said = again(redactor, row.facts.dialect, event).said
                for word in f"{said.index_text} {said.index_parts}".split() if said else ():
                    yield from _cut(word.encode("utf-8", "replace"))


def _cut(stored: bytes) -> Iterator[bytes]:
    """Every piece of a short text; of a long one, pieces side by side, which a copy that was left behind would have too."""
    step = 1 if len(stored) <= limits.TOKEN_CODE_POINTS else _PIECE
    for at in range(0, len(stored) - _PIECE + 1, step):
        yield stored[at : at + _PIECE]


def _thinned(pieces: Iterable[bytes], most: int) -> set[bytes]:
    """At most so many pieces, taken evenly: whenever there are too many, those of one half of all hashes go."""
    kept: set[bytes] = set()
    mask = 0
    for piece in pieces:
        if not int.from_bytes(piece, "little") % limits.THINNING_PRIME & mask:
            kept.add(piece)
            while len(kept) > most:
                mask = mask << 1 | 1
                kept = {one for one in kept if not int.from_bytes(one, "little") % limits.THINNING_PRIME & mask}
    return kept


def _views(home: Home) -> Iterator[tuple[str, View]]:
    for agent in home.engine.agents():
        with home.store(agent).reading() as view:
            yield agent, view


__all__ = ["Doomed", "Erased", "delete", "erase", "forget", "from_source", "moment", "of_tool"]

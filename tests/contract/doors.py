"""The doors through which the contract is tried: one interface, so that a test body does not know which one it speaks through.

A door takes and gives what contract users see: keys, words, and JSON objects in camelCase. ``Refused`` is any door's error.
Whatever a door has no words for (importing, switching branches in Python) the tests bring about through the service.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner

import wesaid
from wesaid.cli.program import program
from wesaid.errors import WesaidError
from wesaid.service import exporting, history, importing, listing, methods, opening, searching, wire, writing
from wesaid.values import OPERATOR, Caller

Json = Mapping[str, Any]


class Refused(Exception):  # noqa: N818 - it names an outcome, not a defect
    """The door said no. ``exit_code`` is that of contract.md §6."""

    def __init__(self, exit_code: int, said: str) -> None:
        super().__init__(said)
        self.exit_code = exit_code


def refused(error: WesaidError) -> Refused:
    """Our own error as a door's no."""
    return Refused(error.exit_code, f"{error.message}: {error.hint}")


@dataclass
class ServiceDoor:
    """The use cases themselves, each call on a home of its own opening, as the command line does it."""

    home: Path

    def append(self, key: str, role: str, text: str, *, spawned_by: str | None = None) -> str:
        """Add a message, make the session when it is new. Returns the message id."""
        with opening.open_home(self.home) as home:
            [done] = writing.append(home, OPERATOR, key, [{"role": role, "text": text}], spawned_by=spawned_by)
            return done.message_id

    def search(self, query: str, *, caller: Caller = OPERATOR, **params: Any) -> Json:
        """A search with parameters by their names on the wire."""
        try:
            with opening.open_home(self.home) as home:
                return wire.page_json(searching.search(home, caller, methods.convert(methods.SearchParams, {"query": query, **params})))
        except WesaidError as error:
            raise refused(error) from error

    def history(self, key: str, *, caller: Caller = OPERATOR, **params: Any) -> Json:
        """A stretch of a conversation."""
        try:
            with opening.open_home(self.home) as home:
                return wire.history_json(
                    history.history(home, caller, methods.convert(methods.HistoryParams, {"sessionKey": key, **params}))
                )
        except WesaidError as error:
            raise refused(error) from error

    def listed(self, *, caller: Caller = OPERATOR, **params: Any) -> Json:
        """The list of sessions."""
        try:
            with opening.open_home(self.home) as home:
                return wire.sessions_json(listing.sessions(home, caller, methods.convert(methods.ListParams, params)))
        except WesaidError as error:
            raise refused(error) from error

    def exported(self, key: str, *, caller: Caller = OPERATOR) -> str:
        """A session as JSON lines."""
        try:
            with opening.open_home(self.home) as home:
                return "".join(exporting.export(home, caller, key))
        except WesaidError as error:
            raise refused(error) from error

    def rewind(self, key: str, to: str) -> None:
        """``to`` stays and becomes the leaf."""
        with opening.open_home(self.home) as home:
            writing.rewind(home, OPERATOR, key, to)

    def delete(self, key: str) -> None:
        """Delete a session."""
        with opening.open_home(self.home) as home:
            writing.delete(home, OPERATOR, key)

    def close(self) -> None:
        """Nothing is held."""


class CommandLineDoor:
    """The program, in process, with ``--json``; a caller that is not the operator goes by ``--as``."""

    OPTIONS: Mapping[str, str] = {
        "limit": "--limit",
        "sessionKey": "--session",
        "role": "--role",
        "messageId": "--around",
        "messagesBefore": "--before",
        "messagesAfter": "--after",
        "order": "--order",
        "agentId": "--agent",
        "offset": "--offset",
    }

    def __init__(self, home: Path) -> None:
        self.home = home

    def run(self, *words: str) -> Json:
        """Run a command; its object, or Refused with its exit code."""
        done = CliRunner().invoke(program, [*words, "--json", "--home", str(self.home)])
        if done.exit_code not in {0, 1}:
            raise Refused(done.exit_code, done.output)
        answer = json.loads(done.stdout)
        assert answer["schemaVersion"] == 1
        return dict(answer)

    def options(self, params: Json) -> list[str]:
        """Parameters as options."""
        return [word for name, value in params.items() for word in (self.OPTIONS[name], str(value))]

    def asking(self, caller: Caller) -> list[str]:
        """Who asks, as options."""
        return [] if caller.key is None else ["--as", caller.key, *(["--sandboxed"] if caller.sandboxed else [])]

    def append(self, key: str, role: str, text: str, *, spawned_by: str | None = None) -> str:
        """Add a message, make the session when it is new. Returns the message id."""
        parent = ["--spawned-by", spawned_by] if spawned_by else []
        return str(self.run("append", key, "--role", role, *parent, text)["messageId"])

    def search(self, query: str, *, caller: Caller = OPERATOR, **params: Any) -> Json:
        """A search with parameters by their names on the wire."""
        return self.run("search", query, *self.options(params), *self.asking(caller))

    def history(self, key: str, *, caller: Caller = OPERATOR, **params: Any) -> Json:
        """A stretch of a conversation."""
        key = params.pop("sessionId", key)  # a window's id stands in the place of the session's key
        return self.run("history", key, *self.options(params), *self.asking(caller))

    def listed(self, *, caller: Caller = OPERATOR, **params: Any) -> Json:
        """The list of sessions."""
        return self.run("sessions", *self.options(params), *self.asking(caller))

    def exported(self, key: str, *, caller: Caller = OPERATOR) -> str:
        """A session as JSON lines."""
        return str(self.run("export", key, *self.asking(caller))["content"])

    def rewind(self, key: str, to: str) -> None:
        """``to`` stays and becomes the leaf."""
        self.run("rewind", key, "--to", to)

    def delete(self, key: str) -> None:
        """Delete a session."""
        self.run("delete", key)

    def close(self) -> None:
        """Nothing is held."""


class PythonDoor:
    """``wesaid.open``: one store, held open for the whole test."""

    NAMES: Mapping[str, str] = {
        "sessionKey": "session_key",
        "sessionId": "session_id",
        "waitMs": "wait_ms",
        "messageId": "around",
        "messagesBefore": "messages_before",
        "messagesAfter": "messages_after",
        "agentId": "agent_id",
    }

    def __init__(self, home: Path) -> None:
        self.store = wesaid.open(home=home)

    def named(self, params: Json) -> dict[str, Any]:
        """Parameters by their Python names."""
        return {self.NAMES.get(name, name): value for name, value in params.items()}

    def append(self, key: str, role: str, text: str, *, spawned_by: str | None = None) -> str:
        """Add a message, make the session when it is new. Returns the message id."""
        return str(self.store.session(key, create=True, spawned_by=spawned_by).append(role, text).message_id)

    def search(self, query: str, *, caller: Caller = OPERATOR, **params: Any) -> Json:
        """A search with parameters by their names on the wire."""
        try:
            return wire.page_json(self.store.search(query, caller=caller, **self.named(params)))
        except WesaidError as error:
            raise refused(error) from error

    def history(self, key: str, *, caller: Caller = OPERATOR, **params: Any) -> Json:
        """A stretch of a conversation."""
        try:
            return wire.history_json(self.store.history(key, caller=caller, **self.named(params)))
        except WesaidError as error:
            raise refused(error) from error

    def listed(self, *, caller: Caller = OPERATOR, **params: Any) -> Json:
        """The list of sessions."""
        try:
            return wire.sessions_json(self.store.sessions(caller=caller, **self.named(params)))
        except WesaidError as error:
            raise refused(error) from error

    def exported(self, key: str, *, caller: Caller = OPERATOR) -> str:
        """A session as JSON lines."""
        try:
            return "".join(self.store.export(key, caller=caller))
        except WesaidError as error:
            raise refused(error) from error

    def rewind(self, key: str, to: str) -> None:
        """``to`` stays and becomes the leaf."""
        self.store.session(key).rewind(to)

    def delete(self, key: str) -> None:
        """Delete a session."""
        self.store.session(key).delete()

    def close(self) -> None:
        """Release the store."""
        self.store.close()


Door = ServiceDoor | CommandLineDoor | PythonDoor
DOORS = {"service": ServiceDoor, "python": PythonDoor, "command line": CommandLineDoor}
THAT_WAIT = ("service", "python")  # on the command line nobody says how long a search may wait


def bring_in(home: Path, path: Path, tool: str) -> None:
    """Import transcripts into a home."""
    with opening.open_home(home) as opened:
        importing.import_paths(opened, [path], tool=tool)

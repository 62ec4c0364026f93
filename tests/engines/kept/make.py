"""Makes the tiny database that is kept for the present schema version: ``python tests/engines/kept/make.py``.

Run it once, when a schema version is frozen, and never again for that version: what is kept is what real homes of that time hold.
It refuses to overwrite a kept file unless ``--again`` says that the version is not released yet.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from itertools import count
from pathlib import Path

from wesaid.engines.sqlite import schema
from wesaid.service import opening, writing
from wesaid.values import OPERATOR

HERE = Path(__file__).parent
KEY = "agent:main:main"
NOW = 1_772_359_200_000  # 2026-03-01T10:00:00Z


def make(home: Path) -> Path:
    """A home with a session that was reset, rewound and labelled, a fork, a spawned session and a tombstone; its database's path."""
    numbers = count(1)
    with opening.open_home(home, environ={}) as opened:
        opened.now = lambda: NOW
        opened.new_id = lambda: f"id-{next(numbers)}"

        def say(text: str, key: str = KEY, role: str = "user", parent: str | None = None) -> str:
            [done] = writing.append(opened, OPERATOR, key, [{"role": role, "text": text}], spawned_by=parent)
            return done.message_id

        say("the ferry leaves at nine, password=hunter2hunter2")
        kept = say("明天下午三点开项目评审会议", role="assistant")
        say("abandoned walrus words")
        writing.rewind(opened, OPERATOR, KEY, kept)
        say("kept harbour words " + "and more " * 100)  # long enough to be compressed
        writing.reset(opened, OPERATOR, KEY)
        say("after the reset")
        writing.patch(opened, OPERATOR, KEY, label="lighthouse")
        writing.fork(opened, OPERATOR, KEY, kept, new_key="agent:main:fork")
        say("spawned seal", key="agent:main:subagent:one", parent=KEY)
        say("deleted otter", key="agent:main:gone")
        writing.delete(opened, OPERATOR, "agent:main:gone")
    return home / "agents" / "main" / "agent.sqlite"


def main() -> None:
    """Write ``v<N>.sqlite`` beside this file."""
    target = HERE / f"v{schema.VERSION}.sqlite"
    if target.exists() and "--again" not in sys.argv:
        sys.exit(f"{target} is there; --again replaces it, for a schema version that was never released")
    with tempfile.TemporaryDirectory() as folder:
        shutil.copyfile(make(Path(folder) / "home"), target)
    sys.stdout.write(f"{target}: {target.stat().st_size} bytes\n")


if __name__ == "__main__":
    main()

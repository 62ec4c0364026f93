"""The memory engine: naive lists and scans, so plain that it is obviously right.

It is the oracle of every other engine, and the proof that SQLite did not leak into the contract. It shares nothing with SQLite but
``rules.branch`` and ``rules.fold``. It refuses to know speed, files and how an index is made: every answer is worked out anew from
the events. It is therefore never stale.
"""

from __future__ import annotations

from wesaid.engines.memory.engine import MemoryEngine, open_engine

__all__ = ["MemoryEngine", "open_engine"]

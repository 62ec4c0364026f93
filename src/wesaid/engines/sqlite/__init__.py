"""SQLite: one database per agent, FTS5 beside the rows."""

from wesaid.engines.sqlite.agents import SqliteEngine as open_engine  # noqa: N813 - every engine's package has `open_engine`

__all__ = ["open_engine"]

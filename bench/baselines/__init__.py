"""What we are measured against, rebuilt in our own code: ``plain`` (OpenClaw's layout and query) and ``floor`` (bare FTS5)."""

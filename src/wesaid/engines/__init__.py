"""Engines: where rows live. `contract` is the promise, the rest keep it."""

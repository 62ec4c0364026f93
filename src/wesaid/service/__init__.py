"""The use cases; each file is one walk that you can read top to bottom."""

"""Rules: pure functions that say what is true, no matter where it is kept or who asks."""

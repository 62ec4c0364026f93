"""Measurements: corpora, baselines and one command a subject. ``bench/README.md`` says how to read a figure."""

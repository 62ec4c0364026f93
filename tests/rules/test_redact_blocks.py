"""Claims about secrets that begin in one block of a message and end in another."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from wesaid.rules import redact, searchable
from wesaid.rules.redact import blocks
from wesaid.rules.redact.fields import redacted

EXAMPLES = [(rule.kind, text, secret) for rule in redact.RULES for text, secret in rule.examples]


def runs(out: str, secret: str) -> set[str]:
    """Runs of six characters of a secret that can still be read."""
    shown = redact.PLACEHOLDER.sub("\n", out)
    return {run for line in secret.split("\n") for run in (line[at : at + 6] for at in range(len(line) - 5)) if run in shown}


@pytest.mark.parametrize(("kind", "text", "secret"), EXAMPLES)
def test_each_kind_is_hidden_when_two_blocks_part_it_anywhere(kind, text, secret):
    """At every place of the example, in the text that is indexed and shown, and in the blocks of an exported record."""
    text = f"see {text} ok"
    for at in range(4, len(text)):
        parts = [text[:at], text[at:]]
        out = redact.redact(blocks.joined(parts))
        assert not runs(out, secret), at
        assert redact.redact(out) == out
        content = redacted(redact.BUILT_IN, [{"type": "text", "text": part} for part in parts])
        assert not runs("".join(block["text"] for block in content), secret), at


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(max_size=20), max_size=6))
@example(["plain", "words"])
def test_blocks_without_a_secret_are_a_line_each(parts):
    """What OpenClaw indexes for several blocks; the seams never change what the blocks say."""
    seams = blocks.seams(parts)
    assert len(seams) == max(len(parts) - 1, 0)
    assert set(seams) <= {"\n", ""}
    if not redact.BUILT_IN.spans("".join(parts)):
        assert blocks.joined(parts) == "\n".join(parts)


def test_a_message_of_ordinary_blocks_keeps_its_lines():
    """Through the rule that chooses what is indexed."""
    blocks_of = [{"type": "text", "text": "the tide"}, {"type": "text", "text": "table"}]
    found = searchable.searchable({"type": "message", "id": "a", "message": {"role": "user", "content": blocks_of}}, redact.joined)
    assert found is not None
    assert found.text == "the tide\ntable"

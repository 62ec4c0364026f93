"""Claims about what the command line says of secrets that were typed: nothing of them comes back, on either stream."""

from __future__ import annotations

import pytest

SK = "sk-test-Zq8Wv7Xu6Yt5Sr4Pn3Mk2"


@pytest.mark.parametrize("as_json", [(), ("--json",)])
@pytest.mark.parametrize(
    "words",
    [
        ("search", SK),
        ("search", f"nothing about {SK} here"),
        ("search", "x", "--session", SK),
        ("search", "x", "--after", SK),
        ("search", "x", "--project", f"/home/{SK}"),
        ("search", "x", "--agent", SK),
        ("history", f"agent:main:{SK}"),
        ("show", SK),
        ("export", f"agent:main:{SK}"),
        ("rewind", "agent:main:main", SK),
        ("import", f"/nowhere/{SK}"),
        ("import", "--tool", SK),
        (SK,),
        ("search", f"--{SK}"),
        ("search", "x", "--order", SK),
    ],
)
def test_no_answer_and_no_refusal_repeats_a_secret(wesaid, ferry, words, as_json):
    """Whether something is found, refused, absent or mistyped."""
    done = wesaid(*words, *as_json)
    assert SK[3:] not in done.out
    assert SK[3:] not in done.err


def test_a_pattern_that_is_refused_is_not_repeated(wesaid):
    """The reason and its number are enough."""
    done = wesaid("search", "x", WESAID_REDACTION_PATTERNS="(tide-table+)+")
    assert done.code == 2
    assert "a repetition inside a repetition" in done.err
    assert "tide-table" not in done.err

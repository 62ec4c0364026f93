"""Claims about ``wesaid.rules.redact``: what is hidden, what is left alone, and that once is enough. All keys here are invented."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wesaid.rules import redact
from wesaid.values import Span

EXAMPLES = [(rule.kind, text, secret) for rule in redact.RULES for text, secret in rule.examples]
NOT_EXAMPLES = [(rule.kind, text) for rule in redact.RULES for text in rule.not_examples]
BENIGN = (
    "see blue-bird-lake-road near the task-force office",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b fixes it",
    "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "session 00000000-0000-4000-8000-000000001002 was rewound",
    "integrity sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
    "see the token bucket, and the secret of a good password: resetting flow docs",
    "risk-averse people skip-read; the disk-usage of kiosk-mode is 12345678901234567890",
    "mật khẩu đổi lúc 9 giờ; 密码已经改了。パスワードを変えた",
    "cursor: pointer; key: value; a token: one word; token = next_token(stream)",
    "https://example.com:8080/path?query=1#part and git@example.com:ferry/timetable.git",
    "password = os.environ['DB_PASSWORD']",
    "max_tokens: 4096, total_tokens=1500, tokenizer=unicode61",
    "an ellipsis ... a rule *** --- === and a mask ****",
)
PLACEHOLDER = re.compile(r"\[redacted:[a-z0-9-]+\]")
EDGES = st.sampled_from((" ", "\n", "(", "“", "→", "，", "钥", "ж"))


def pieces(secret: str) -> set[str]:
    """Every run of six characters, line ends apart."""
    return {run for line in secret.split("\n") for run in (line[at : at + 6] for at in range(len(line) - 5))}


@pytest.mark.parametrize(("kind", "text", "secret"), EXAMPLES)
def test_each_kind_hides_its_examples_under_its_name(kind, text, secret):
    """A rule's examples are found, named by that rule, and nothing of the secret is left."""
    assert [span.kind for span in redact.spans(text)] == [kind]
    assert redact.redact(text).count(f"[redacted:{kind}]") == 1
    assert not {piece for piece in pieces(secret) if piece in PLACEHOLDER.sub("", redact.redact(text))}


@pytest.mark.parametrize(("kind", "text"), NOT_EXAMPLES)
def test_what_only_resembles_a_kind_is_left_alone(kind, text):
    """A rule's counter-examples come out as they went in."""
    assert redact.redact(text) == text


@pytest.mark.parametrize("text", BENIGN)
def test_ordinary_text_is_left_alone(text):
    """Hashes, ids, prose about passwords, code without values and other scripts are never masked (field report B82)."""
    assert redact.spans(text) == ()


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_secret_planted_anywhere_leaves_no_six_characters(data):
    """Whatever stands around a secret, no six characters of it survive."""
    _, text, secret = data.draw(st.sampled_from(EXAMPLES))
    benign = " ".join(data.draw(st.lists(st.sampled_from(BENIGN), min_size=1, max_size=3)))
    at = data.draw(st.integers(0, len(benign)))
    whole = benign[:at] + data.draw(EDGES) + text + data.draw(st.sampled_from((" ", "\n", ", ", '" '))) + benign[at:]
    out = redact.redact(whole)
    assert not {piece for piece in pieces(secret) - pieces(benign) if piece in PLACEHOLDER.sub("", out)}
    assert redact.redact(out) == out


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.sampled_from([text for _, text, _ in EXAMPLES]),
            st.sampled_from([anchor for rule in redact.RULES for anchor in rule.anchors]),
            st.sampled_from(("[redacted:token]", "[redacted:", "]", '"', "\\", "=", ": ", "://", "@", "-", "abcDEF123456", "İ", " ", "\n")),
            st.text(max_size=5),
        ),
        max_size=12,
    )
)
def test_redacting_twice_is_redacting_once(parts):
    """For every text: a second pass finds nothing, also where a placeholder cut the context; spans are sorted and apart."""
    text = "".join(parts)
    hidden = redact.spans(text)
    assert all(one.end <= two.start for one, two in pairwise(hidden))
    assert all(0 <= span.start < span.end <= len(text) for span in hidden)
    once = redact.apply(text, hidden)
    assert redact.spans(once) == ()
    assert redact.redact(once) == once


def test_offsets_are_code_points_whatever_stands_before():
    """Letters whose lower case is longer, and astral characters, do not move a span."""
    before = "İİ𠮷🚢 "
    text = before + "FOO_TOKEN=abcdefgh1"
    assert redact.spans(text) == (Span(len(before) + len("FOO_TOKEN="), len(text), "token"),)


def test_a_key_at_an_escaped_line_start_is_found():
    """JSON pasted as text ends its lines with a backslash and an n, which is no part of a word (field report B89)."""
    assert redact.redact(r'{"text":"keys:\nsk-test-000000000000000000000000\n"}') == r'{"text":"keys:\n[redacted:sk-key]\n"}'


def test_a_spaced_assignment_is_a_value_at_the_end_of_its_line_and_code_elsewhere():
    """`password = word` alone on its line is a configuration; followed by an operator it is a program."""
    assert redact.redact("[db]\npassword = harbourlight\nuser = ferry") == "[db]\npassword = [redacted:password]\nuser = ferry"
    assert redact.redact("let password = harbourlight || fallback") == "let password = harbourlight || fallback"


def test_overlapping_finds_are_one_span_of_the_more_telling_kind():
    """A JWT after `token=` is one placeholder, called jwt."""
    text = "token=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.AbCd3fGh1jKl"
    assert redact.redact(text) == "token=[redacted:jwt]"


def test_an_unended_private_key_stops_where_prose_begins():
    """A key cut off in the middle is hidden to the end of what looks like base64, and the sentence after it stays."""
    body = "MIIEpAIBAAKCAQEAr3y9Zw0dQmTtq2Jw1VxVb7c1mPqGZ8K4nB5sD6fH7jL8kQ1w"
    text = f"-----BEGIN PRIVATE KEY-----\n{body}\n{body}\n and then we stopped."
    assert redact.redact(text).endswith("[redacted:private-key]and then we stopped.")


@pytest.mark.parametrize(
    "unit",
    ["A", "a.", "sk-", "password=", "= ", "eyJ_", "://a:", "-----BEGIN RSA PRIVATE KEY-----\n", "password=abcdef ", '\\"', "[redacted:x]a"],
)
def test_uniform_runs_are_read_to_the_end(unit):
    """200 KB of one shape over and over comes back, and needs no second pass (how fast is the bench's business)."""
    text = unit * (200_000 // len(unit))
    once = redact.redact(text)
    assert redact.redact(once) == once


def test_kinds_are_short_names_of_a_table():
    """Kinds are what a placeholder can hold, and each rule's anchors are lower case and begin what it finds."""
    assert all(re.fullmatch(r"[a-z0-9-]{1,40}", rule.kind) for rule in redact.RULES)
    assert all(anchor == anchor.lower() and anchor for rule in redact.RULES for anchor in rule.anchors)
    assert len({rule.kind for rule in redact.RULES}) == len(redact.RULES)
    assert all(rule.examples for rule in redact.RULES)


def kinds_table() -> list[str]:
    """The rows of ``docs/redaction.md``: each kind and its signs."""
    signs = {rule.kind: ", ".join(f"`{anchor.strip()}`" for anchor in sorted({a.strip() for a in rule.anchors})) for rule in redact.RULES}
    return ["| kind | signs |", "| --- | --- |", *(f"| `{kind}` | {found or 'its shape'} |" for kind, found in sorted(signs.items()))]


def test_the_page_about_redaction_lists_every_kind():
    """No more and no less than the table has."""
    page = (Path(__file__).parents[2] / "docs" / "redaction.md").read_text(encoding="utf-8")
    listed = page.partition("says what stands here -->\n")[2].partition("\n<!-- end")[0]
    assert listed.split("\n") == kinds_table()


def test_a_text_that_never_comes_to_rest_loses_whole_pieces():
    """Whatever the number of rounds, the result holds nothing that a second pass would find, and time is linear in the pieces."""
    unit = 'password="' * 9 + "secret=" * 9 + "token: " * 3
    once = redact.redact(unit * 400)
    assert redact.redact(once) == once

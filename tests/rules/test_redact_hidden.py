"""Claims about secrets that are hidden from a naive search: invisible characters, escapes, percent-encoding and wrapped lines."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from wesaid.rules import redact
from wesaid.rules.redact.normal import BEGINNINGS, normal

EXAMPLES = [(rule.kind, text, secret) for rule in redact.RULES for text, secret in rule.examples]
KEYS = [(kind, text, secret) for kind, text, secret in EXAMPLES if re.fullmatch(r"[A-Za-z0-9_.+/-]{24,}=*", secret)]
PLACEHOLDER = redact.PLACEHOLDER
NOTHING = ("\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\ufe0f", "\U000e0101", "\x00", "\x1b[31m", "\x1b]8;;\x07", "\x08",
           "%E2%80%8B", "%00", "\\u200b", "\\u0000")  # fmt: skip


def left(out: str, secret: str) -> set[str]:
    """Runs of six characters of a secret that can still be read in an output, however they are hidden."""
    shown = PLACEHOLDER.sub("\n", out)
    made = normal(shown)
    shown += "\n" + (made.text if made else "")
    return {run for line in secret.split("\n") for run in (line[at : at + 6] for at in range(len(line) - 5)) if run in shown}


def encoded(text: str) -> str:
    return "".join(f"%{ord(c):02X}" if c < "\x80" else c for c in text)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(EXAMPLES), st.data())
def test_invisible_characters_anywhere_hide_nothing(one, data):
    """Zero-width characters, selectors, NUL, terminal sequences and their escapes at any places, in the name or the secret."""
    _, text, secret = one
    at = data.draw(st.lists(st.integers(0, len(text)), min_size=1, max_size=4))
    for place in sorted(at, reverse=True):
        text = text[:place] + data.draw(st.sampled_from(NOTHING)) + text[place:]
    out = redact.redact(text)
    assert not left(out, secret)
    assert redact.redact(out) == out


@pytest.mark.parametrize(("kind", "text", "secret"), EXAMPLES)
def test_each_kind_is_found_with_a_zero_width_space_at_every_offset(kind, text, secret):
    """One U+200B at each place in turn."""
    for at in range(len(text) + 1):
        assert not left(redact.redact(f"see {text[:at]}\u200b{text[at:]} ok"), secret), at


@pytest.mark.parametrize(("kind", "text", "secret"), EXAMPLES)
def test_each_kind_is_found_percent_encoded(kind, text, secret):
    """Whole, or one character at a time, once or twice encoded."""
    assert not left(redact.redact(encoded(text)), secret)
    assert not left(redact.redact(encoded(text).replace("%", "%25")), secret)
    for at in range(len(text)):
        assert not left(redact.redact(text[:at] + encoded(text[at]) + text[at + 1 :]), secret), at


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(KEYS), st.integers(8, 100), st.sampled_from(("\n", "\r\n", "\\\n", "\n  ", "\n> ")))
@example(("sk-key", KEYS[1][1], KEYS[1][2]), 30, "\n")
def test_a_key_that_was_wrapped_is_one_key(one, into, end):
    """A line end inside a key, as terminals and mail programs put it, with an indent or a quoting mark."""
    _, text, secret = one
    place = text.index(secret) + min(into, len(secret) - 8)
    out = redact.redact(text[:place] + end + text[place:])
    assert not left(out, secret)


def test_what_stands_on_the_next_line_is_no_part_of_a_key():
    """Prose and the next assignment stay."""
    key = "sk-proj-AbCd3fGh1jKlMn0pQrStUvWxYz"
    assert redact.redact(f"{key}\nand then we went") == "[redacted:sk-key]\nand then we went"
    assert redact.redact(f"A_TOKEN={key}\nHOST2=db.example") == "A_TOKEN=[redacted:sk-key]\nHOST2=db.example"
    assert redact.redact(f"token={key}\nuser: ferry") == "token=[redacted:sk-key]\nuser: ferry"


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.sampled_from([*NOTHING, "%41", "%2541", "&quot;", "\\u0041", "AbCd3fGh1jKl\n2x", "%", "\n", "&"]), st.text(max_size=6)
        ),
        max_size=12,
    )
)
def test_every_place_of_a_normalised_text_leads_back(parts):
    """What is kept as it stands is the same character there; places rise and lie in the text."""
    text = "".join(parts)
    made = normal(text)
    if made is None:
        return
    last = 0
    for at, char in enumerate(made.text):
        start, end = made.original(at, at + 1)
        assert last <= start < end <= len(text)
        assert end - start > 1 or text[start] == char
        last = end


@pytest.mark.parametrize(
    "text",
    [
        "family 👨‍👩‍👧‍👦 and ❤️ with 100% of 50%25 pages; a%20b &amp; c",
        "می‌خواهم و نمی‌دانم",
        "क्‍ष और श्रीमान्‌",
        "\x1b[32mok\x1b[0m 12 passed",
        "https://x.example/a%20b?q=%E4%BD%A0%E5%A5%BD",
        "3f786850e387550fdab836ed7e6dc881\nde23001b is a wrapped hash",
    ],
)
def test_ordinary_text_with_such_characters_is_left_alone(text):
    """Emoji, joiners of scripts that need them, colours and links."""
    assert redact.redact(text) == text


@pytest.mark.parametrize(("kind", "text", "secret"), [one for one in KEYS if one[2].lower().startswith(BEGINNINGS)])
def test_a_vendors_key_split_after_its_beginning_is_hidden(kind, text, secret):
    """Text blocks are joined by line ends: `ghp_` at the end of one and the rest at the start of the next are one key."""
    beginning = max((one for one in BEGINNINGS if secret.lower().startswith(one)), key=len)
    for at in range(len(beginning), 12):
        broken = text.replace(secret, f"{secret[:at]}\n{secret[at:]}", 1)
        out = redact.redact(f"see {broken} ok")
        assert not left(out, secret), at
        assert redact.redact(out) == out


def test_lines_that_end_like_the_beginning_of_a_key_are_left_alone():
    """Words before a hyphen, a namespace, a commit."""
    for text in ("the task-\nforce met, SG.\nhello world", "a public key-\nvalue store: Redis7", "we use re_\nMatch2 and sk_\nLearn3"):
        assert redact.redact(text) == text

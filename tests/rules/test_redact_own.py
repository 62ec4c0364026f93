"""Claims about what a person adds: patterns of the settings and exact values of the environment."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wesaid import limits
from wesaid.errors import SettingError
from wesaid.rules import redact
from wesaid.rules.redact import Redactor
from wesaid.values import Span

MAIL = r"[\w.]+@[\w.]+\.[a-z]{2,}"
TICKET = r"FERRY-\d{4}"
OWN = Redactor.of((MAIL, TICKET), {})


def test_a_persons_patterns_are_hidden_as_custom():
    """Beside the table, on the text as it stands and normalised."""
    assert OWN.redact("write to tide@x.example about FERRY-0042") == "write to [redacted:custom] about [redacted:custom]"
    assert OWN.redact("FER\u200bRY-0042") == "[redacted:custom]"
    assert OWN.redact("password=tidetable and FERRY-0042") == "password=[redacted:password] and [redacted:custom]"
    assert OWN.redact(r"\n" + "\np@x.example") == r"\n" + "\n[redacted:custom]"


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["FERRY-0042", "a@b.cd", "password=", "tidetable", "[redacted:custom]", " ", "\n", "\n\n", '"', "@", ".", "x1", "\u200b"]
        ),
        max_size=14,
    )
)
def test_redacting_twice_is_redacting_once_with_them_too(parts):
    """For every text and these patterns."""
    once = OWN.redact("".join(parts))
    assert OWN.redact(once) == once


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(", "no regular expression"),
        ("[[:alpha:]]+x", "no regular expression"),
        ("a*", "can match nothing"),
        (r"\b", "can match nothing"),
        ("(?=x)", "can match nothing"),
        ("x", "a single character"),
        ("(a+)+b", "a repetition inside a repetition"),
        (r"(?:\w+\s?)*xx", "a repetition inside a repetition"),
        ("(?:a|ab|abc)*xx", "begin alike"),
        (r"\w+\d+x", "side by side"),
        (".*.*xy", "side by side"),
        (r"(\w{1,99}){2,99}", "a repetition inside a repetition"),
        ("ab" * 600, "characters"),
    ],
)
def test_a_pattern_that_cannot_be_used_is_refused_with_its_number_and_reason(pattern, reason):
    """At start, without quoting it: it may be the secret itself (field report B83)."""
    with pytest.raises(SettingError, match=reason) as caught:
        Redactor.of(("fine", pattern), {})
    assert "pattern 2" in caught.value.message
    assert caught.value.details == {"field": "redaction.patterns"}
    assert pattern not in caught.value.message.replace("pattern 2", "") or len(pattern) < 3


@pytest.mark.parametrize(
    "pattern", [MAIL, TICKET, r"key\s*[:=]\s*\S+", "(?:foo|bar)+", "(?i)acme-[0-9a-f]{8,}", r"\bemp\d{5}\b", "a{2,5}b", r"(?>\w+)-x"]
)
def test_ordinary_patterns_are_taken(pattern):
    """What people write is not refused."""
    assert Redactor.of((pattern,), {}).version != redact.VERSION


def test_too_many_patterns_are_refused():
    """Each is one more reading of every text."""
    with pytest.raises(SettingError, match="65 patterns"):
        Redactor.of(tuple(f"ferry{n:03}" for n in range(limits.REDACT_PATTERNS_MAX + 1)), {})


def test_the_version_changes_with_the_patterns_and_not_with_the_environment():
    """Stored spans are renewed when the rules change; the environment's values are looked for anew each time."""
    assert Redactor.of((), {}).version == Redactor.of((), {"A_TOKEN": "tide-table-42"}).version == redact.VERSION
    assert OWN.version != redact.VERSION
    assert OWN.version == Redactor.of((MAIL, TICKET), {}).version != Redactor.of((TICKET,), {}).version
    assert 0 < OWN.version < 2**63


def test_stored_spans_are_used_only_when_the_same_rules_made_them():
    """And when no value of today's environment is in the text."""
    text = "see FERRY-0042 and tide-table-42"
    told = (Span(0, 3, "token"),)
    assert OWN.outgoing(text, told, OWN.version) == told
    assert OWN.outgoing(text, told, redact.VERSION) == OWN.spans(text) == (Span(4, 14, "custom"),)
    watching = Redactor.of((MAIL, TICKET), {"A_TOKEN": "tide-table-42"})
    assert [span.kind for span in watching.outgoing(text, told, watching.version)] == ["custom", "environment"]


def test_values_of_secret_variables_are_hidden_however_they_are_written():
    """As they are, as a link writes them, as JSON does."""
    made = Redactor.of((), {"FERRY_API_KEY": 'tide table/"nine"', "HOME": "/home/tide table"})
    for text in ('x tide table/"nine" y', "x tide%20table%2F%22nine%22 y", "x tide+table%2F%22nine%22 y", r"x tide table/\"nine\" y"):
        assert made.redact(text) == "x [redacted:environment] y"
    assert made.redact("see /home/tide table") == "see /home/tide table"


@pytest.mark.parametrize(
    ("name", "value"),
    [("A_TOKEN", "short"), ("A_TOKEN", "123456789012"), ("A_SECRET", "/run/secrets/ferry"), ("A_PASSWORD", "disabled"), ("TOKENIZER", "unicode61x"),
     ("CACHE_KEY", "production"), ("A_SECRET", "xxxxxxxxxx"), ("A_TOKEN", "https://x.example/token")],
)  # fmt: skip
def test_values_that_are_no_secrets_are_not_taken(name, value):
    """Paths, numbers, switches, masks and words would be hidden everywhere."""
    assert Redactor.of((), {name: value}).extra.values == ()


def test_at_most_so_many_values_are_watched():
    """A strange environment costs no more than a strange environment may."""
    made = Redactor.of((), {f"A{n:04}_TOKEN": f"tidetable{n:04}x" for n in range(2000)})
    assert len(made.extra.values) == limits.REDACT_VALUES_MAX


def test_a_redactor_does_not_show_its_values():
    """Its representation may end in a log."""
    assert "tide" not in repr(Redactor.of(("tide-[0-9]{4}",), {"A_TOKEN": "tide-table-42"}))

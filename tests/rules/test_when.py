"""Times as they are typed: ISO, ages and names, in the caller's zone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wesaid.errors import InputError
from wesaid.rules.when import moment

HANOI = timezone(timedelta(hours=7))
NOW = int(datetime(2026, 3, 31, 18, 30, tzinfo=UTC).timestamp() * 1000)  # 1 April, 01:30, in Hanoi


def at(*parts: int, zone=HANOI) -> int:
    return int(datetime(*parts, tzinfo=zone).timestamp() * 1000)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-01-31", at(2026, 1, 31)),
        ("2026-01-31T09:30", at(2026, 1, 31, 9, 30)),
        ("2026-01-31 09:30:15.250", at(2026, 1, 31, 9, 30, 15) + 250),
        ("2026-01-31T09:30Z", at(2026, 1, 31, 9, 30, zone=UTC)),
        ("2026-01-31T09:30-02:00", at(2026, 1, 31, 11, 30, zone=UTC)),
        ("1969-12-31", at(1969, 12, 31)),
    ],
)
def test_an_iso_time_without_a_zone_is_the_callers(text, expected):
    """A date without zone is in the caller's zone; one with a zone says its own."""
    assert moment(text, now=NOW, zone=HANOI) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("30min", NOW - 30 * 60_000),
        ("12h", NOW - 12 * 3_600_000),
        ("7d", NOW - 7 * 86_400_000),
        (" 7D ", NOW - 7 * 86_400_000),
        ("7 d ago", NOW - 7 * 86_400_000),
        ("2w", NOW - 14 * 86_400_000),
        ("3mo", at(2026, 1, 1, 1, 30)),
        ("1y", at(2025, 4, 1, 1, 30)),
        ("0d", NOW),
        ("now", NOW),
    ],
)
def test_an_age_is_counted_back_from_now(text, expected):
    """Hours, days and weeks are lengths; months and years go by the calendar."""
    assert moment(text, now=NOW, zone=HANOI) == expected


def test_a_month_back_from_a_day_that_does_not_exist_is_the_last_day():
    """31 March less one month is 28 February, and 29 February less one year the 28th."""
    assert moment("1mo", now=at(2026, 3, 31, 12), zone=HANOI) == at(2026, 2, 28, 12)
    assert moment("1y", now=at(2024, 2, 29, 12), zone=HANOI) == at(2023, 2, 28, 12)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("today", at(2026, 4, 1)),
        ("Yesterday", at(2026, 3, 31)),
        ("this week", at(2026, 3, 30)),
        ("last week", at(2026, 3, 23)),
        ("last  month", at(2026, 3, 1)),
        ("this month", at(2026, 4, 1)),
        ("last year", at(2025, 1, 1)),
        ("this year", at(2026, 1, 1)),
    ],
)
def test_a_name_means_the_first_moment_of_its_range_in_the_callers_zone(text, expected):
    """It is already April in Hanoi while it is March in UTC."""
    assert moment(text, now=NOW, zone=HANOI) == expected


@pytest.mark.parametrize(
    "text", ["", " ", "soon", "7", "d", "-7d", "2026-13-01", "2026-02-30", "99999y", "999999999w", "30000mo", "last", "٧d", "\x00"]
)
def test_anything_else_names_what_is_allowed(text):
    """The error quotes what was given and lists the forms."""
    with pytest.raises(InputError) as caught:
        moment(text, now=NOW, zone=HANOI)
    assert repr(text.strip()) in caught.value.message
    assert "2026-01-31" in caught.value.hint
    assert "last week" in caught.value.hint


@given(st.one_of(st.text(), st.from_regex(r"[0-9]{1,12}(h|d|w|mo|y)", fullmatch=True), st.datetimes().map(str)))
@settings(max_examples=200, deadline=None)
def test_any_text_is_a_moment_or_an_input_error(text):
    """For every text."""
    try:
        found = moment(text, now=NOW, zone=HANOI)
    except InputError:
        found = 0
    assert isinstance(found, int)

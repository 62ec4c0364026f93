"""Ages in words."""

from __future__ import annotations

from datetime import datetime

import pytest

from wesaid.cli.ages import age, dated, instant, moment

NOW = 1_800_000_000_000
DAY = 86_400_000


@pytest.mark.parametrize(
    ("ago", "words"),
    [
        (0, "just now"),
        (59_999, "just now"),
        (60_000, "1 minute ago"),
        (2 * 3_600_000, "2 hours ago"),
        (DAY, "1 day ago"),
        (22 * DAY, "3 weeks ago"),
        (61 * DAY, "2 months ago"),
        (800 * DAY, "2 years ago"),
        (-3 * DAY, "in 3 days"),
    ],
)
def test_an_age_is_its_largest_unit(ago: int, words: str) -> None:
    """Rounded down, singular and plural, and the future is not the past."""
    assert age(NOW - ago, NOW) == words


def test_a_time_that_nobody_wrote_down_is_no_age() -> None:
    """Imported messages may have none; 1970 would be a lie."""
    assert age(0, NOW) == "undated"
    assert moment(0) == ""


def test_a_time_beyond_the_calendar_is_harmless() -> None:
    """A damaged timestamp costs its date, not the answer."""
    assert moment(10**18) == ""
    assert age(10**18, NOW).startswith("in ")
    assert dated(10**18, NOW) == age(10**18, NOW)


def test_an_age_of_a_day_or_more_has_its_date() -> None:
    """Three weeks are any of seven days; today needs no date."""
    day = datetime.fromtimestamp((NOW - 22 * DAY) / 1000).astimezone()
    assert dated(NOW - 22 * DAY, NOW) == f"3 weeks ago, {day:%Y-%m-%d}"
    assert dated(NOW - DAY + 1, NOW) == "23 hours ago"
    assert dated(0, NOW) == "undated"


def test_an_instant_is_iso_with_its_zone() -> None:
    """It can be given back to a program, and says how long ago it was."""
    exact, age_of_it = instant(NOW - 3_600_000, NOW).split(", ")
    told = datetime.fromisoformat(exact)
    assert told.tzinfo is not None
    assert int(told.timestamp() * 1000) == NOW - 3_600_000
    assert age_of_it == "1 hour ago"
    assert instant(0, NOW) == "undated"

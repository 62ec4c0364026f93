"""Ages in words."""

from __future__ import annotations

import pytest

from wesaid.cli.ages import age, moment

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

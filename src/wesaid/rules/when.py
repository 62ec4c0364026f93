"""What was typed for a time -> Unix milliseconds.

It knows ISO 8601, ages ("7d") and a few names ("last month"). It refuses to know what time it is and where the caller lives: ``now`` and
``zone`` are arguments. Invariant: the same text, ``now`` and ``zone`` give the same moment, and any text gives a moment or InputError.

A name of a range (``yesterday``, ``last week``) means its first moment, for ``after`` and ``before`` alike, so that
``after:last month before:this month`` is exactly the month. Weeks begin on Monday (ISO 8601).
"""

from __future__ import annotations

import calendar
import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from wesaid import limits
from wesaid.errors import InputError

ALLOWED: Final = (
    "an ISO date or time (2026-01-31, 2026-01-31T09:30, 2026-01-31T09:30+07:00), an age (30min, 12h, 7d, 2w, 3mo, 1y), "
    "now, today, yesterday, or this/last week, month or year"
)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)  # 1970: where Unix time begins
_AGE: Final = re.compile(r"([0-9]{1,9}) ?(min|h|d|w|mo|y)(?: ago)?")
_UNITS: Final = {"min": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_MONTHS_A_YEAR: Final = 12  # the calendar's


def moment(text: str, *, now: int, zone: tzinfo) -> int:
    """The moment that ``text`` names, in Unix milliseconds.

    Args:
        text: a date or time, an age, or a name; see ``ALLOWED``. Case and outer space do not matter.
        now: the present, in Unix milliseconds.
        zone: where a date or time without a zone is meant, and where days, weeks and months begin.

    Raises:
        InputError: anything else; it names what was given and what is allowed.
    """
    typed = text.strip()
    try:
        found = _moment(typed, _EPOCH + timedelta(milliseconds=now), zone)
        return (found - _EPOCH) // timedelta(milliseconds=1)
    except (ValueError, OverflowError):
        shown = typed[: limits.AGENT_ID_CHARS]
        raise InputError(
            f"{shown!r} is not a time that can be searched by",
            hint=f"give {ALLOWED}",
            details={"given": shown, "allowed": ALLOWED},
        ) from None


def _moment(typed: str, now: datetime, zone: tzinfo) -> datetime:
    """A time with a zone; ValueError or OverflowError when ``typed`` is none."""
    name = " ".join(typed.lower().split())
    age = _AGE.fullmatch(name)
    if age is not None:
        return _ago(now, int(age.group(1)), age.group(2), zone)
    if name == "now":
        return now
    start = _named(name, now.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None))
    found = datetime.fromisoformat(typed) if start is None else start
    return found if found.tzinfo is not None else found.replace(tzinfo=zone)


def _ago(now: datetime, count: int, unit: str, zone: tzinfo) -> datetime:
    """``count`` units before now; months and years by the calendar of ``zone``, to the last day when the day does not exist."""
    if unit in _UNITS:
        return now - count * _UNITS[unit]
    months = count * (_MONTHS_A_YEAR if unit == "y" else 1)
    local = now.astimezone(zone)
    year, month = divmod(local.year * _MONTHS_A_YEAR + local.month - 1 - months, _MONTHS_A_YEAR)
    days = calendar.monthrange(year, month + 1)[1]
    return local.replace(year=year, month=month + 1, day=min(local.day, days))


def _named(name: str, today: datetime) -> datetime | None:
    """The first moment of a named range, as local time; None when it is no name."""
    week = today - timedelta(days=today.weekday())
    month = today.replace(day=1)
    year = month.replace(month=1)
    names = {
        "today": today,
        "yesterday": today - timedelta(days=1),
        "this week": week,
        "last week": week - timedelta(weeks=1),
        "this month": month,
        "last month": (month - timedelta(days=1)).replace(day=1),
        "this year": year,
        "last year": (year - timedelta(days=1)).replace(month=1, day=1),
    }
    return names.get(name)

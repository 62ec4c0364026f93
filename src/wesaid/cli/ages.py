"""How long ago something was, in words; and when, on this machine's clock. Pure but for the local time zone."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from wesaid import limits

_UNITS: Final = (
    ("year", 365 * 86_400),  # seconds
    ("month", 30 * 86_400),  # seconds; an age is a feeling, not a date
    ("week", 7 * 86_400),  # seconds
    ("day", 86_400),  # seconds
    ("hour", 3_600),  # seconds
    ("minute", 60),  # seconds
)


def age(timestamp: int, now: int) -> str:
    """``3 weeks ago``: the largest unit that fits, rounded down. Both in Unix milliseconds; 0 or less is a time nobody wrote down."""
    if timestamp <= 0:
        return "undated"
    seconds = (now - timestamp) // limits.SECONDS_MS
    for unit, size in _UNITS:
        count = abs(seconds) // size
        if count:
            words = f"{count} {unit}{'' if count == 1 else 's'}"
            return f"{words} ago" if seconds > 0 else f"in {words}"
    return "just now"


def dated(timestamp: int, now: int) -> str:
    """``3 weeks ago, 2026-11-09``: the age, and beside one of a day or more its date, which an age only rounds."""
    local = _local(timestamp) if abs(now - timestamp) >= limits.DAY_MS else None
    return age(timestamp, now) + (f", {local:%Y-%m-%d}" if local else "")


def moment(timestamp: int) -> str:
    """``2026-01-31 14:05`` in local time; empty for a time that is not known or outside the calendar."""
    local = _local(timestamp)
    return f"{local:%Y-%m-%d %H:%M}" if local else ""


def instant(timestamp: int, now: int) -> str:
    """``2026-01-31T14:05:09+01:00, just now``: ISO 8601 with its zone, for what was done and is to be noted down."""
    local = _local(timestamp)
    return ", ".join([*([local.isoformat(timespec="seconds")] if local else []), age(timestamp, now)])


def _local(timestamp: int) -> datetime | None:
    if timestamp <= 0:
        return None
    try:
        return datetime.fromtimestamp(timestamp / limits.SECONDS_MS).astimezone()
    except (OverflowError, OSError, ValueError):
        return None

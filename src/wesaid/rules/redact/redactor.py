"""``Redactor``: the table, a person's patterns and the environment's values as one thing that is made once and asked often."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Self

from wesaid.rules.redact.loop import Extra, spans
from wesaid.rules.redact.own import checked, environment_values
from wesaid.rules.redact.table import VERSION
from wesaid.values import Span

_VERSION_BITS: Final = 32  # of a digest of a person's patterns, below the table's version


@dataclass(frozen=True, slots=True)
class Redactor:
    """What is hidden in this home. ``version`` goes with every stored row and changes with the table and the person's patterns.

    It does not change with the environment's values, which come and go: they are looked for again whenever a text leaves.
    """

    extra: Extra = field(default=Extra(), repr=False)  # holds secrets
    version: int = VERSION

    @classmethod
    def of(cls, patterns: Sequence[str], environ: Mapping[str, str]) -> Self:
        """A redactor with these patterns and the values of these variables. SettingError for a pattern that is not allowed."""
        digest = int.from_bytes(
            hashlib.blake2b("\0".join(patterns).encode("utf-8", "replace"), digest_size=_VERSION_BITS // 8).digest(), "big"
        )
        version = (VERSION << _VERSION_BITS) + digest if patterns else VERSION
        return cls(Extra(checked(patterns), environment_values(environ)), version)

    def supersedes(self, version: int) -> bool:
        """Whether rows of that version are to be made anew: other rules made them, and not those of a newer program."""
        return version != self.version and _table_of(version) <= _table_of(self.version)

    def spans(self, text: str) -> tuple[Span, ...]:
        """Where the secrets of a whole text are."""
        return spans(text, self.extra)

    def redact(self, text: str) -> str:
        """The text without its secrets; for every text, redacting the result again gives the result."""
        return apply(text, self.spans(text))

    def outgoing(self, text: str, stored: tuple[Span, ...], version: int | None) -> tuple[Span, ...]:
        """Spans for a text whose row was redacted before: sliced when the same rules made them, and no value of today's environment is in it."""
        known = version == self.version and not any(value in text for value in self.extra.values)
        return stored if known else self.spans(text)


BUILT_IN: Final = Redactor()


def _table_of(version: int) -> int:
    """The table's version in a redactor's."""
    return version >> _VERSION_BITS or version


def apply(text: str, hidden: tuple[Span, ...]) -> str:
    """``text`` with each span (as ``spans`` gave them for this text) replaced by ``[redacted:<kind>]``."""
    if not hidden:
        return text
    parts: list[str] = []
    last = 0
    for span in hidden:
        parts += (text[last : span.start], f"[redacted:{span.kind}]")
        last = span.end
    parts.append(text[last:])
    return "".join(parts)

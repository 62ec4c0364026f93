"""How long one file's import may take, and whether it is alone: what imports of people and imports of searches differ in. No format is known here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf
from time import monotonic

from wesaid import limits
from wesaid.engines.contract import Store, Writer
from wesaid.values import SourceState


class OvertakenError(Exception):
    """Another process has read on in the file since this import looked: what it would write may be there already."""


@dataclass(slots=True)
class Pace:
    """An import's pace. With ``until`` (of ``time.monotonic``) it begins nothing that will not be done by then, and waits for nobody's transaction."""

    until: float = inf
    due: float = field(init=False, default=inf)  # when to write what was read so far: writing takes about as long as reading did
    stored: SourceState | None = None  # what the store knows of the file, as far as this import has seen and written it

    def __post_init__(self) -> None:
        self.goes_on()

    def is_quick(self, size: int, offset: int, *, anew: bool) -> bool:
        """Whether what comes before the first batch will be done in time: looking for the marker, and comparing a file that is read ``anew``."""
        rate = limits.ANEW_BYTES_A_SECOND if anew else limits.SCAN_BYTES_A_SECOND
        return self.until == inf or size - offset <= rate * (self.until - monotonic())

    def is_due(self, *, anew: bool) -> bool:
        """Whether to end a batch here. A file that is compared as a whole (``anew``) is not read in parts."""
        return not anew and monotonic() >= self.due

    def is_over(self) -> bool:
        """Whether the time is up, where nothing can be counted that was read: in damage, and inside one line."""
        return monotonic() >= self.until

    def goes_on(self) -> bool:
        """After a batch: whether there is time for another."""
        now = monotonic()
        self.due = (now + self.until) / 2
        return self.until - now > limits.FRESH_BATCH_SECONDS

    @contextmanager
    def writing(self, store: Store, name: str) -> Iterator[Writer]:
        """A transaction, if nobody else has read on in the file. OvertakenError otherwise."""
        with store.writing(seconds=None if self.until == inf else limits.FRESH_BUSY_SECONDS) as writer:
            if writer.source(name) != self.stored:
                raise OvertakenError
            yield writer
            self.stored = writer.source(name)

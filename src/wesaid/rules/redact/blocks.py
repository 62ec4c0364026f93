"""Several blocks of one message read as one text, so that a secret which begins in one and ends in the next is seen whole.

Blocks are a line each (openclaw.md §1.4). A shape that knows no line end would be parted by it; there the blocks follow each other directly.

Invariant: two readings of the text, whatever the number of blocks.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate

from wesaid.rules.redact.redactor import BUILT_IN, Redactor, apply
from wesaid.values import Span


def seams(texts: Sequence[str], redactor: Redactor = BUILT_IN) -> list[str]:
    """What stands between each block and the next: a line end, or nothing where a line end would part a secret from itself or its name."""
    out = ["\n"] * (len(texts) - 1)
    direct = redactor.spans("".join(texts)) if out else ()
    if not direct:
        return out
    borders = list(accumulate(len(text) for text in texts))[:-1]  # places in the blocks that follow each other directly
    lines = [border + number for number, border in enumerate(borders)]  # of the line ends, when there are some
    seen = [
        (span.start - bisect_left(lines, span.start), span.end - bisect_left(lines, span.end)) for span in redactor.spans("\n".join(texts))
    ]
    starts = [start for start, _ in seen]
    for span in direct:
        around = bisect_right(starts, span.start) - 1
        if around >= 0 and seen[around][1] >= span.end:
            continue
        first = max(bisect_right(borders, span.start) - 1, 0)  # one border before it and one behind: its name or its end may stand there
        for number in range(first, min(bisect_left(borders, span.end) + 1, len(out))):
            out[number] = ""
    return out


def joined(texts: Sequence[str]) -> str:
    """The blocks as one text, the same for every home: places in it are stored, so a person's patterns and the environment have no say in it."""
    return "".join(text + seam for text, seam in zip(texts, [*seams(texts), ""], strict=True)) if texts else ""


def redacted(texts: Sequence[str], redactor: Redactor) -> list[str]:
    """Each block without the secrets of all of them as one text; a secret across blocks leaves its placeholder in each."""
    between = [*seams(texts, redactor), ""]
    return clipped(
        texts, [len(seam) for seam in between], redactor.spans("".join(text + seam for text, seam in zip(texts, between, strict=True)))
    )


def clipped(texts: Sequence[str], gaps: Sequence[int], hidden: tuple[Span, ...]) -> list[str]:
    """Each text with its part of the spans, which are places in all of them with so many code points after each."""
    starts, ends = [span.start for span in hidden], [span.end for span in hidden]
    out: list[str] = []
    at = 0
    for text, gap in zip(texts, gaps, strict=True):
        end = at + len(text)
        inside = hidden[bisect_right(ends, at) : bisect_left(starts, end)]
        out.append(apply(text, tuple(Span(max(span.start - at, 0), min(span.end, end) - at, span.kind) for span in inside)))
        at = end + gap
    return out

"""SQLite's file format, as far as it says which bytes of a page are nobody's (sqlite.org/fileformat2.html §1.6).

``PRAGMA secure_delete`` zeroes what is deleted, but when a B-tree page is split or merged SQLite copies cells and leaves the old copies lying in
the gap between the cell pointers and the cells. Those copies outlive the row. This file finds such bytes; it refuses to open a file, and to touch
a page that it does not understand.
"""

from __future__ import annotations

from typing import Final

_TREE: Final = {2: 12, 5: 12, 10: 8, 13: 8}  # first byte of a B-tree page (format): bytes of its header
_FIRST_HEADER: Final = 100  # bytes of the file header, before the page header of page 1 (format)
_POINTER: Final = 2  # bytes of a cell pointer
_BLOCK: Final = 4  # bytes of a free block's own header: next, size


def is_tree(page: bytes, number: int) -> bool:
    """Whether a page is a B-tree page; else it is an overflow page or free."""
    return page[_FIRST_HEADER if number == 1 else 0] in _TREE


def nobodys(page: bytes, number: int) -> list[tuple[int, int]]:
    """Ranges ``(from, to)`` of a B-tree page that belong to nothing and are not all zero; none when the page is not quite as it should be."""
    at = _FIRST_HEADER if number == 1 else 0
    if page[at] not in _TREE:
        return []
    cells = int.from_bytes(page[at + 3 : at + 5], "big")
    low = at + _TREE[page[at]] + cells * _POINTER
    high = int.from_bytes(page[at + 5 : at + 7], "big") or len(page)
    block = int.from_bytes(page[at + 1 : at + 3], "big")
    if not low <= high <= len(page):
        return []
    ranges = [(low, high)]
    while block:
        if not high <= block <= len(page) - _BLOCK:
            return []
        following, size = int.from_bytes(page[block : block + 2], "big"), int.from_bytes(page[block + 2 : block + 4], "big")
        if block + size > len(page) or (following and following <= block):
            return []
        ranges.append((block + _BLOCK, block + size))
        block = following
    return [(start, end) for start, end in ranges if page.count(0, start, end) != end - start]


def leaves_of(trunk: bytes) -> tuple[int, list[int]]:
    """A trunk page of the free list: the next trunk, and the free pages that this one names."""
    count = min(int.from_bytes(trunk[4:8], "big"), len(trunk) // _BLOCK - 2)
    return int.from_bytes(trunk[:4], "big"), [
        int.from_bytes(trunk[start : start + _BLOCK], "big") for start in range(2 * _BLOCK, (2 + count) * _BLOCK, _BLOCK)
    ]

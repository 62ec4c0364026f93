"""Images and other blobs in a record, replaced by their size and digest: what of a transcript is not kept (contract.md §4).

Pure; it knows JSON values and no tool's format.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from typing import Any, Final

from wesaid import limits

Record = dict[str, Any]

_PAYLOAD_KEYS: Final = frozenset({"data", "base64", "image", "image_url", "url", "blob", "bytes", "result", "encrypted_content"})
_DATA_URI: Final = re.compile(r"data:([A-Za-z0-9.+/-]*)[^,]{0,64};base64,")
_BASE64: Final = re.compile(r"[A-Za-z0-9+/_\-]+={0,2}")


def omit_payloads(record: Record) -> None:
    """Replace long base64 payloads in place: the field goes, ``omitted``, ``bytes`` and ``sha256`` of what it held come beside it.

    ``{"type": "image", "mimeType": "image/png", "data": "…"}`` becomes
    ``{"type": "image", "mimeType": "image/png", "omitted": true, "bytes": 2250000, "sha256": "…"}``.
    """
    queue: list[Any] = [record]
    while queue:
        node = queue.pop()
        if isinstance(node, dict):
            for key in _PAYLOAD_KEYS & node.keys():
                if (summary := _summary(node[key])) is not None:
                    del node[key]
                    node.update(summary)
        elif isinstance(node, list):
            for at, item in enumerate(node):
                if isinstance(item, str) and _DATA_URI.match(item) and (summary := _summary(item)) is not None:
                    node[at] = summary
        queue.extend(item for item in (node.values() if isinstance(node, dict) else node) if isinstance(item, (dict, list)))


def _summary(value: Any) -> Record | None:
    """Size and digest of a string that is a payload, None for any other value."""
    if not isinstance(value, str) or len(value) < limits.BLOB_STRING_CHARS:
        return None
    summary: Record = {"omitted": True}
    if (uri := _DATA_URI.match(value)) is not None:
        summary["mimeType"] = uri.group(1)
        value = value[uri.end() :]
    if not _BASE64.fullmatch(value):
        return None
    try:
        data = base64.b64decode(value.translate({ord("-"): "+", ord("_"): "/"}) + "==")  # a spare `=` is allowed, a missing one is not
    except (binascii.Error, ValueError):
        data = value.encode()
    return {**summary, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}

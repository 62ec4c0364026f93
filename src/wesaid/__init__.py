"""wesaid: search what people and AI agents said in past sessions. The public names are in ``face`` and ``__init__.pyi``."""

from wesaid.face import __dir__ as __dir__  # noqa: PLC0414 - PEP 562: looked up here
from wesaid.face import __getattr__ as __getattr__  # noqa: PLC0414 - the same

__all__ = ["OPERATOR", "Caller", "HistoryPage", "Hit", "Message", "Page", "Session", "Store", "WesaidError", "open"]

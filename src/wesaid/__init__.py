"""wesaid: search what people and AI agents said in past sessions. The public names are in ``face`` and ``__init__.pyi``."""

from wesaid.face import __dir__ as __dir__
from wesaid.face import __getattr__ as __getattr__

__all__ = ["OPERATOR", "Caller", "HistoryPage", "Hit", "Message", "Page", "Session", "Store", "WesaidError", "open"]

"""wesaid: search what people and AI agents said in past sessions."""

from wesaid.api import Session, Store, open  # noqa: A004 - `wesaid.open()` is the contract's name
from wesaid.errors import WesaidError
from wesaid.values import OPERATOR, Caller, HistoryPage, Hit, Message, Page

__all__ = ["OPERATOR", "Caller", "HistoryPage", "Hit", "Message", "Page", "Session", "Store", "WesaidError", "open"]

"""The public names of wesaid, for type checkers; at run time `face` gives them when they are asked for."""

from wesaid.api import Session as Session
from wesaid.api import Store as Store
from wesaid.api import open as open
from wesaid.errors import WesaidError as WesaidError
from wesaid.values import OPERATOR as OPERATOR
from wesaid.values import Caller as Caller
from wesaid.values import HistoryPage as HistoryPage
from wesaid.values import Hit as Hit
from wesaid.values import Message as Message
from wesaid.values import Page as Page

__all__ = ["OPERATOR", "Caller", "HistoryPage", "Hit", "Message", "Page", "Session", "Store", "WesaidError", "open"]

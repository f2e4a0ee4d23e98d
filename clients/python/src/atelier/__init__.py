"""The client of an Atelier server: everything that a program may name.

Models, inputs and enums of the API are made from the server's schema; `Atelier` has a method for each operation.
"""

from .client import Atelier, pages
from .errors import AtelierError, ErrorCode
from .generated import *  # noqa: F403
from .live import Live, LiveState

__all__ = ["Atelier", "AtelierError", "ErrorCode", "Live", "LiveState", "pages"]

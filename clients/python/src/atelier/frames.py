"""The protocol of live documents as bytes: an address before each message, then its type.

Invariants
- Strings are counted in bytes.
- What this side does not know is told apart and left alone, so that a newer server can say more.
"""

from __future__ import annotations

from dataclasses import dataclass

from pycrdt import write_message, write_var_uint

SYNC = 0
AWARENESS = 1
AUTH = 2
QUERY_AWARENESS = 3
SYNC_STATUS = 8
PING = b"\x09"
PONG = b"\x0a"

STEP_1 = 0
STEP_2 = 1
UPDATE = 2

TOKEN = 0
DENIED = 1
AUTHENTICATED = 2


@dataclass(frozen=True)
class Frame:
    """A message of the server: its type, the number behind it, and the bytes behind that."""

    type: int
    kind: int
    payload: bytes


def sync(address: str, kind: int, payload: bytes) -> bytes:
    """A step of synchronising, or an update."""
    return start(address, SYNC, kind) + write_message(payload)


def awareness(address: str, update: bytes) -> bytes:
    """Who is here, and where."""
    return start(address, AWARENESS) + write_message(update)


def token(address: str, secret: str) -> bytes:
    """Who asks."""
    return start(address, AUTH, TOKEN) + write_message(secret.encode())


def start(address: str, *numbers: int) -> bytes:
    """An address and what kind of message follows."""
    return write_message(address.encode()) + b"".join(write_var_uint(number) for number in numbers)


def read(data: bytes) -> Frame:
    """Reads a message of the server."""
    reader = Reader(data)
    reader.message()
    kind = reader.number()
    if kind in (AWARENESS, QUERY_AWARENESS):
        return Frame(kind, 0, reader.message() if kind == AWARENESS else b"")
    if kind == SYNC_STATUS:
        return Frame(kind, reader.number(), b"")
    if kind in (SYNC, AUTH):
        return Frame(kind, reader.number(), reader.message() if reader.has_more else b"")
    return Frame(kind, 0, b"")


class Reader:
    """Reads numbers and messages one after the other."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    @property
    def has_more(self) -> bool:
        """Whether anything is left."""
        return self.at < len(self.data)

    def number(self) -> int:
        """Seven bits a byte, the lowest first."""
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def message(self) -> bytes:
        """Bytes behind their number."""
        length = self.number()
        found = self.data[self.at : self.at + length]
        if len(found) < length:
            raise IndexError("a message was cut short")
        self.at += length
        return found

"""What can go wrong between a program and the server, by code.

Invariants
- Every refusal and every fault reaches the caller as an `AtelierError` with the server's own code and words.
- A server that can not be reached has the code of one that can not answer now: the caller's choice is the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any


class ErrorCode(StrEnum):
    """Every code that the server gives."""

    GRAPHQL_PARSE_FAILED = "GRAPHQL_PARSE_FAILED"
    GRAPHQL_VALIDATION_FAILED = "GRAPHQL_VALIDATION_FAILED"
    OPERATION_RESOLUTION_FAILURE = "OPERATION_RESOLUTION_FAILURE"
    BAD_REQUEST = "BAD_REQUEST"
    BAD_USER_INPUT = "BAD_USER_INPUT"
    PERSISTED_QUERY_NOT_SUPPORTED = "PERSISTED_QUERY_NOT_SUPPORTED"
    PERSISTED_DOCUMENT_NOT_FOUND = "PERSISTED_DOCUMENT_NOT_FOUND"
    PERSISTED_DOCUMENT_REQUIRED = "PERSISTED_DOCUMENT_REQUIRED"
    UNAUTHENTICATED = "UNAUTHENTICATED"
    FORBIDDEN = "FORBIDDEN"
    NOT_FOUND = "NOT_FOUND"
    CONFLICT = "CONFLICT"
    IDEMPOTENCY_KEY_REUSED = "IDEMPOTENCY_KEY_REUSED"
    CURSOR_INVALID = "CURSOR_INVALID"
    CURSOR_EXPIRED = "CURSOR_EXPIRED"
    QUERY_TOO_COMPLEX = "QUERY_TOO_COMPLEX"
    PAYLOAD_TOO_LARGE = "PAYLOAD_TOO_LARGE"
    UNSUPPORTED_MEDIA_TYPE = "UNSUPPORTED_MEDIA_TYPE"
    NOT_ACCEPTABLE = "NOT_ACCEPTABLE"
    METHOD_NOT_ALLOWED = "METHOD_NOT_ALLOWED"
    RATE_LIMITED = "RATE_LIMITED"
    TOO_MANY_OPERATIONS = "TOO_MANY_OPERATIONS"
    TIMEOUT = "TIMEOUT"
    UNAVAILABLE = "UNAVAILABLE"
    INTERNAL_SERVER_ERROR = "INTERNAL_SERVER_ERROR"


PASSING = frozenset({ErrorCode.UNAVAILABLE, ErrorCode.TIMEOUT, ErrorCode.RATE_LIMITED, ErrorCode.TOO_MANY_OPERATIONS})

KNOWN = {str(code): code for code in ErrorCode}

Fault = Mapping[str, Any]
"""A member of `errors` in an answer of the server."""


class AtelierError(Exception):
    """A refusal or a fault, with the server's code."""

    def __init__(self, code: ErrorCode, message: str, faults: Sequence[Fault] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.faults = faults
        """All that the server said; empty where it was not reached."""

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"

    @property
    def is_passing(self) -> bool:
        """Whether the same request may succeed later without anybody doing something."""
        return self.code in PASSING

    @property
    def request_id(self) -> str | None:
        """Names the request in the server's log; only where a fault was masked."""
        return self._extensions.get("requestId")

    @property
    def retry_after(self) -> float:
        """After how many seconds the server wants to be asked again; 0 where it did not say."""
        return float(self._extensions.get("retryAfter", 0))

    @property
    def _extensions(self) -> Mapping[str, Any]:
        return self.faults[0].get("extensions", {}) if self.faults else {}


def refusal(faults: Sequence[Fault]) -> AtelierError:
    """The error that the server's `errors` tell of; the first one names the code."""
    first = faults[0] if faults else {}
    code = KNOWN.get(first.get("extensions", {}).get("code"), ErrorCode.INTERNAL_SERVER_ERROR)
    return AtelierError(code, first.get("message", "the server gave no reason"), faults)


def unreachable(cause: object) -> AtelierError:
    """The error of a server that was not reached, or whose answer was lost."""
    words = str(cause) or type(cause).__name__
    return AtelierError(ErrorCode.UNAVAILABLE, f"the server was not reached: {words}")


CLOSES = {
    1009: ErrorCode.PAYLOAD_TOO_LARGE,
    4400: ErrorCode.BAD_REQUEST,
    4401: ErrorCode.UNAUTHENTICATED,
    # The contract of subscriptions has no other code for a token that is not good.
    4403: ErrorCode.UNAUTHENTICATED,
    4406: ErrorCode.BAD_REQUEST,
}


def closed(code: int | None, reason: str) -> AtelierError:
    """What the code of a closed socket means; passing where connecting again is all that it takes."""
    known = CLOSES.get(code or 0)
    if known is None:
        return unreachable(f"the socket closed with {code}")
    return AtelierError(known, reason or f"the server closed the socket with {code}")

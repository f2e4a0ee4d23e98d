"""Files: sent as assets, and read again.

Invariants
- An upload returns when the server has all bytes; one that was refused leaves the asset without any.
- Bytes of which it is not known whether they arrived are sent again; the address takes them once.
"""

from __future__ import annotations

import asyncio
import mimetypes
import os
from collections.abc import AsyncIterator
from pathlib import Path

import httpx

from .errors import AtelierError, ErrorCode
from .transport import Transport

Content = bytes | os.PathLike[str]
"""Bytes, or the path of a file, which is read while it is sent."""

CHUNK = 256 * 1024
CONFLICT = 409
SERVER_ERRORS = 500
UNKNOWN_TYPE = "application/octet-stream"
STATUSES = {
    401: ErrorCode.UNAUTHENTICATED,
    403: ErrorCode.FORBIDDEN,
    404: ErrorCode.NOT_FOUND,
    409: ErrorCode.CONFLICT,
    413: ErrorCode.PAYLOAD_TOO_LARGE,
    415: ErrorCode.UNSUPPORTED_MEDIA_TYPE,
    429: ErrorCode.RATE_LIMITED,
}


async def size_of(content: Content) -> int:
    """How many bytes there are."""
    if isinstance(content, bytes):
        return len(content)
    return (await asyncio.to_thread(os.stat, content)).st_size


def type_of(content: Content) -> str:
    """The media type that a file's name tells."""
    name = "" if isinstance(content, bytes) else os.fspath(content)
    return mimetypes.guess_type(name)[0] or UNKNOWN_TYPE


async def put(transport: Transport, url: str, content: Content, media_type: str, size: int) -> None:
    """Sends the bytes to the address that an upload was given."""
    may_have_arrived = False

    async def attempt() -> None:
        nonlocal may_have_arrived
        body = content if isinstance(content, bytes) else pieces(Path(content))
        headers = {"content-type": media_type, "content-length": str(size)}
        try:
            response = await transport.send("PUT", url, content=body, headers=headers)
        except AtelierError:
            may_have_arrived = True
            raise
        if response.is_success or (may_have_arrived and response.status_code == CONFLICT):
            return
        raise refused(response)

    await transport.persist(attempt, is_repeatable=True)


async def get(transport: Transport, url: str) -> bytes:
    """Reads the bytes of an asset."""

    async def attempt() -> bytes:
        response = await transport.send("GET", url)
        if not response.is_success:
            raise refused(response)
        return response.content

    return await transport.persist(attempt, is_repeatable=True)


async def pieces(path: Path) -> AsyncIterator[bytes]:
    """A file, piece by piece."""
    file = await asyncio.to_thread(path.open, "rb")
    try:
        while piece := await asyncio.to_thread(file.read, CHUNK):
            yield piece
    finally:
        await asyncio.to_thread(file.close)


def refused(response: httpx.Response) -> AtelierError:
    """What the server said against it."""
    status = response.status_code
    fallback = ErrorCode.UNAVAILABLE if status >= SERVER_ERRORS else ErrorCode.BAD_USER_INPUT
    try:
        message = response.json()["error"]["message"]
    except (ValueError, KeyError, TypeError):
        message = response.text or f"the server answered {status}"
    return AtelierError(STATUSES.get(status, fallback), message)

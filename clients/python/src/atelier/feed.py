"""Subscriptions that outlive connections and servers.

Invariants
- After every interruption the server is asked for what follows the last item that was handed out, so that nothing is
  lost and nothing comes twice.
- A slow reader holds the server back: what was not asked for is not read from the socket, and what the server gives up
  on is asked for again.
- What the server refuses for good ends the feed with an `AtelierError`; everything else is tried again, forever.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Protocol

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
from websockets.typing import Subprotocol

from .errors import AtelierError, ErrorCode, closed, refusal, unreachable

PROTOCOL = Subprotocol("graphql-transport-ws")
LONGEST_PAUSE = 2.0
LONGEST_MESSAGE = 256 * 1024 * 1024
ACKNOWLEDGED_WITHIN = 10.0

# What can be resumed: the variable that says from where, and the field that says where an item is.
POSITIONS = {
    "workspaceEvents": ("after", "cursor"),
    "taskEvents": ("after", "cursor"),
    "workChanges": ("afterVersion", "version"),
}


class Server(Protocol):
    """What a feed must know of a server."""

    def socket_url(self, path: str) -> str:
        """The address of a socket at this path."""

    async def token(self) -> str:
        """The present secret."""


@dataclass
class Request:
    """A subscription, from where it is to go on."""

    query: str
    operation_name: str | None
    variables: dict[str, Any]

    def resume_after(self, data: dict[str, Any]) -> None:
        """Moves on behind an item."""
        for field, item in data.items():
            if field in POSITIONS and isinstance(item, dict):
                variable, position = POSITIONS[field]
                if position in item:
                    self.variables = {**self.variables, variable: item[position]}


async def follow(
    server: Server, request: Request, on_interruption: Callable[[AtelierError], None] | None
) -> AsyncGenerator[dict[str, Any], None]:
    """Hands out every item, over all interruptions."""
    from .transport import pause

    failures = 0
    while True:
        async with aclosing(one_line(server, request)) as line:
            try:
                while True:
                    data = await anext(line)
                    failures = 0
                    request.resume_after(data)
                    yield data
            except AtelierError as ending:
                if not ending.is_passing:
                    raise
                if on_interruption is not None:
                    on_interruption(ending)
        await asyncio.sleep(pause(failures, LONGEST_PAUSE))
        failures += 1


async def one_line(server: Server, request: Request) -> AsyncGenerator[dict[str, Any], None]:
    """The items that come over one connection; ends with an error always."""
    try:
        url = server.socket_url("/graphql")
        async with connect(url, subprotocols=[PROTOCOL], max_size=LONGEST_MESSAGE) as socket:
            await subscribe(socket, await server.token(), request)
            async for text in socket:
                data = await heard(socket, json.loads(text))
                if data is not None:
                    yield data
            raise closed(socket.close_code, socket.close_reason or "")
    except (ConnectionClosed, InvalidHandshake, OSError) as cause:
        raise meaning(cause) from cause


async def subscribe(socket: ClientConnection, token: str, request: Request) -> None:
    """Opens the protocol and asks."""
    await say(socket, "connection_init", payload={"authorization": f"Bearer {token}"})
    async with asyncio.timeout(ACKNOWLEDGED_WITHIN):
        while (message := json.loads(await socket.recv()))["type"] != "connection_ack":
            await heard(socket, message)
    payload = {"query": request.query, "operationName": request.operation_name, "variables": request.variables}
    await say(socket, "subscribe", id="1", payload=payload)


async def heard(socket: ClientConnection, message: dict[str, Any]) -> dict[str, Any] | None:
    """The data of a message that has some."""
    match message:
        case {"type": "next", "payload": {"errors": [_, *_] as errors}} | {"type": "error", "payload": errors}:
            raise refusal(errors)
        case {"type": "next", "payload": {"data": dict() as data}}:
            return data
        case {"type": "ping"}:
            await say(socket, "pong")
        case {"type": "complete"}:
            # These subscriptions have no end of their own.
            raise unreachable("the subscription was completed")
    return None


async def say(socket: ClientConnection, kind: str, **rest: object) -> None:
    """Sends one message."""
    await socket.send(json.dumps({"type": kind, **rest}))


def meaning(cause: Exception) -> AtelierError:
    """What a connection that broke, or never stood, means."""
    if isinstance(cause, ConnectionClosed) and cause.rcvd is not None:
        return closed(cause.rcvd.code, cause.rcvd.reason)
    if isinstance(cause, InvalidStatus) and cause.response.status_code in (401, 403):
        return AtelierError(ErrorCode.UNAUTHENTICATED, "the server refused the connection")
    return unreachable(cause)

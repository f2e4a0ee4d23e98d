"""Requests over HTTP, and the address and the token of everything else.

Invariants
- What was refused is never sent again. What was lost is, where sending it twice is the same as once: queries, and
  mutations that carry an idempotency key. A mutation that takes one is given one.

Not here: subscriptions (`feed`), live documents (`live`).
"""

from __future__ import annotations

import asyncio
import inspect
import re
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, aclosing
from random import uniform
from typing import Any, Self, TypeVar

import httpx
from pydantic import BaseModel

from .errors import AtelierError, ErrorCode, refusal, unreachable
from .feed import Request, follow

T = TypeVar("T")

Token = str | Callable[[], str | Awaitable[str]]
"""The secret of a token, or what gives the present one: it is asked for each request and connection."""

ACCEPT = "application/graphql-response+json, application/json;q=0.9"
MUTATION = re.compile(r"\s*mutation\b")
FIRST_PAUSE = 0.2
LONGEST_PAUSE = 5.0
UNAUTHORIZED = 401


class Transport:
    """A server, and how it is asked."""

    def __init__(
        self, url: str, token: Token, *, retries: int = 5, timeout: float = 60.0, http: httpx.AsyncClient | None = None
    ) -> None:
        self.url = url.rstrip("/")
        self._token = token
        self._retries = retries
        self._resources = AsyncExitStack()
        self._http = http or httpx.AsyncClient(timeout=timeout)
        if http is None:
            self._resources.push_async_callback(self._http.aclose)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes connections over HTTP; feeds and live documents have their own."""
        await self._resources.aclose()

    def socket_url(self, path: str) -> str:
        """The address of a socket at this path."""
        return re.sub("^http", "ws", self.url) + path

    async def token(self) -> str:
        """The present secret."""
        if isinstance(self._token, str):
            return self._token
        given = self._token()
        return await given if inspect.isawaitable(given) else given

    async def execute(
        self, query: str, operation_name: str | None = None, variables: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """Runs any GraphQL document and returns its data; operations of the API have typed methods."""
        given, is_keyed = with_key(query, variables or {})
        body = {"query": query, "operationName": operation_name, "variables": self._sent(given)}

        async def attempt() -> dict[str, Any]:
            return data_of(await self.send("POST", "/graphql", json=body, headers={"accept": ACCEPT}))

        return await self.persist(attempt, is_repeatable=is_keyed or not MUTATION.match(query))

    def get_data(self, data: dict[str, Any]) -> dict[str, Any]:
        """What the generated methods read their models from."""
        return data

    async def execute_ws(
        self,
        query: str,
        operation_name: str | None = None,
        variables: dict[str, Any] | None = None,
        on_interruption: Callable[[AtelierError], None] | None = None,
    ) -> AsyncGenerator[dict[str, Any], None]:
        """Follows any subscription over all interruptions; those of the API that have a position resume from it."""
        given = self._sent(variables or {})
        request = Request(query, operation_name, await self.beginning(operation_name, given))
        async with aclosing(follow(self, request, on_interruption)) as feed:
            async for data in feed:
                yield data

    async def beginning(self, operation_name: str | None, variables: dict[str, Any]) -> dict[str, Any]:
        """The variables with the place to begin from, where a subscription has one and none was given."""
        return variables

    async def send(self, method: str, path: str, **request: Any) -> httpx.Response:
        """Sends one request with the token; an absolute address is left as it is."""
        headers = {**request.pop("headers", {}), "authorization": f"Bearer {await self.token()}"}
        url = path if path.startswith("http") else self.url + path
        try:
            return await self._http.request(method, url, headers=headers, **request)
        except httpx.TransportError as cause:
            raise unreachable(cause) from cause

    async def persist(self, attempt: Callable[[], Awaitable[T]], *, is_repeatable: bool) -> T:
        """Tries until it succeeds, is refused, or was tried often enough."""
        failures = 0
        while True:
            try:
                return await attempt()
            except AtelierError as error:
                if not (is_repeatable and error.is_passing) or failures >= self._retries:
                    raise
                await asyncio.sleep(max(pause(failures, LONGEST_PAUSE), error.retry_after))
                failures += 1

    def plain(self, value: object) -> object:
        """The value as JSON has it."""
        return value

    def is_set(self, value: object) -> bool:
        """Whether the value was given."""
        return True

    def _sent(self, variables: dict[str, Any]) -> dict[str, Any]:
        return {name: self.plain(value) for name, value in variables.items() if self.is_set(value)}


def with_key(query: str, variables: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """The variables, with a key where the input takes one and has none; and whether there is one."""
    given = variables.get("input")
    if isinstance(given, dict):
        return variables, given.get("idempotencyKey") is not None
    if not isinstance(given, BaseModel) or "idempotency_key" not in type(given).model_fields:
        return variables, False
    if getattr(given, "idempotency_key", None) is None:
        given = given.model_copy(update={"idempotency_key": secrets.token_hex(16)})
    return {**variables, "input": given}, True


def data_of(response: httpx.Response) -> dict[str, Any]:
    """The data of an answer; what is no GraphQL comes from something between here and the server."""
    try:
        answer = response.json()
    except ValueError as cause:
        code = ErrorCode.UNAUTHENTICATED if response.status_code == UNAUTHORIZED else ErrorCode.UNAVAILABLE
        raise AtelierError(code, f"the server answered {response.status_code} without JSON") from cause
    if answer.get("errors"):
        raise refusal(answer["errors"])
    if not answer.get("data"):
        raise AtelierError(ErrorCode.UNAVAILABLE, f"the server answered {response.status_code} without data")
    return dict(answer["data"])


def pause(failures: int, longest: float) -> float:
    """A pause that doubles with each failure, of which up to half is chance: not everybody comes back at once."""
    return min(FIRST_PAUSE * 2.0 ** min(failures, 16), longest) * uniform(0.5, 1.0)

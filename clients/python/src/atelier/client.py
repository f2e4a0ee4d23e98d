"""Access to one Atelier server: the operations of its API, events, live documents, files.

Invariants
- Every operation is typed: what goes in and what comes out are models of the server's schema.

Not here: the operations themselves (`generated`), HTTP (`transport`), subscriptions (`feed`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, Protocol, TypeVar

from pycrdt import Doc

from .errors import AtelierError, ErrorCode
from .generated import CreateUploadInput, Operations, WorkNodeAsset
from .live import Live
from .upload import Content, get, put, size_of, type_of

T = TypeVar("T", covariant=True)
A = TypeVar("A")


class PageInfo(Protocol):
    """Whether more follows, and from where."""

    has_next_page: bool
    end_cursor: str | None


class Page(Protocol[T]):
    """A page of a list."""

    @property
    def nodes(self) -> Sequence[T]:
        """What stands on it."""

    @property
    def page_info(self) -> PageInfo:
        """Whether more follows."""


class Atelier(Operations):
    """A server, as one person: a method for each operation of the API, and what takes more than one request.

    The subscriptions (`workspace_events`, `task_events`, `work_changes`, `presence`) go on over lost connections and
    restarts of the server; without a place to begin from they begin where the log stands at the first reading.
    """

    def open(self, work_id: str, doc: Doc[Any] | None = None) -> Live:
        """Opens a work for live editing: `async with atelier.open(work_id) as live`."""
        return Live(work_id, self, self._why_refused, doc)

    async def upload(
        self,
        workspace_id: str,
        title: str,
        content: Content,
        *,
        media_type: str | None = None,
        work_id: str | None = None,
    ) -> WorkNodeAsset:
        """Sends bytes or a file; returns the asset when the server has all of it.

        With `work_id` they become the next version of that asset.
        """
        size = await size_of(content)
        media_type = media_type or type_of(content)
        given = CreateUploadInput(workspace_id=workspace_id, title=title, media_type=media_type, byte_size=size)
        if work_id is not None:
            given.work_id = work_id
        made = await self.create_upload(given)
        await put(self, made.upload_url, content, media_type, size)
        asset = await self.work(made.asset.id)
        if isinstance(asset, WorkNodeAsset):
            return asset
        raise AtelierError(ErrorCode.NOT_FOUND, f"asset {made.asset.id} was deleted while it was uploaded")

    async def download(self, url: str) -> bytes:
        """Reads the bytes of an asset, by its `url` or `preview_url`."""
        return await get(self, url)

    async def beginning(self, operation_name: str | None, variables: dict[str, Any]) -> dict[str, Any]:
        """The variables with the place to begin from, where a subscription has one and none was given."""
        if variables.get("after") is not None or variables.get("afterVersion") is not None:
            return variables
        match operation_name:
            case "WorkspaceEvents":
                return {**variables, "after": await self._cursor_of(variables["workspaceId"])}
            case "TaskEvents":
                return {**variables, "after": await self._cursor_of_task(variables["taskId"])}
            case "WorkChanges":
                return {**variables, "afterVersion": await self._version_of(variables["workId"])}
        return variables

    async def _cursor_of(self, workspace_id: str) -> str:
        return found(await self.event_cursor(workspace_id), workspace_id).event_cursor

    async def _cursor_of_task(self, task_id: str) -> str:
        node = await self.task_event_cursor(task_id)
        workspace = getattr(node, "workspace", None)
        return str(found(workspace, task_id).event_cursor)

    async def _version_of(self, work_id: str) -> int:
        return int(found(getattr(await self.work_version(work_id), "version", None), work_id))

    async def _why_refused(self, work_id: str, reason: str) -> AtelierError:
        """A refused connection tells only words; what the API says of the same work has a code."""
        try:
            code = ErrorCode.NOT_FOUND if await self.work_version(work_id) is None else ErrorCode.FORBIDDEN
        except AtelierError as error:
            is_token = error.code == ErrorCode.UNAUTHENTICATED
            code = ErrorCode.UNAUTHENTICATED if is_token else ErrorCode.FORBIDDEN
        return AtelierError(code, reason)


async def pages(ask: Callable[[str | None], Awaitable[A]], pick: Callable[[A], Page[T] | None]) -> AsyncIterator[T]:
    """Hands out a whole list: `ask` fetches what follows a cursor, `pick` finds the page in it, or none."""
    after: str | None = None
    while (page := pick(await ask(after))) is not None:
        for node in page.nodes:
            yield node
        if not page.page_info.has_next_page:
            return
        after = page.page_info.end_cursor


def found(what: A | None, name: str) -> A:
    """What was asked for, or an error that says that it is not there."""
    if what is None:
        raise AtelierError(ErrorCode.NOT_FOUND, f"{name} was not found")
    return what

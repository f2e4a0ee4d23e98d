"""A work as a Yjs document (pycrdt) that is edited together with everybody who has it open.

Invariants
- What is edited without a connection stays in the document, and is sent when the connection is back.
- `saved` says that edits are stored, never only that they were sent.
- A refusal of the server (no permission, no such work, a bad token) ends it for good, with the reason.
- Documents are edited in the thread of the event loop.

Not here: bytes (`frames`), how it is counted what is stored (`ledger`).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import Any, Self

from pycrdt import Awareness, Doc, TransactionEvent, merge_updates
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from . import frames
from .errors import AtelierError, ErrorCode, unreachable
from .feed import LONGEST_MESSAGE, LONGEST_PAUSE, Server, meaning
from .frames import Frame
from .ledger import Ledger
from .transport import pause

Judge = Callable[[str, str], Awaitable[AtelierError]]
"""Says in a code why a work was refused."""


class LiveState(StrEnum):
    """Where the connection stands."""

    CONNECTING = "connecting"
    CONNECTED = "connected"
    DISCONNECTED = "disconnected"
    CLOSED = "closed"


class Live:
    """A work that is open.

    Used as a context manager: entering waits for the content of the server, leaving waits until all edits are stored.
    Where the block fails it is left at once.
    """

    def __init__(self, work_id: str, server: Server, judge: Judge, doc: Doc[Any] | None = None) -> None:
        self.work_id = work_id
        self.doc: Doc[Any] = Doc() if doc is None else doc
        self.awareness = Awareness(self.doc)
        """Who is here, and where; the server sets name and id of each, and shows `nodeId` as presence."""
        self.state = LiveState.CONNECTING
        self.is_read_only = False
        """Whether the server takes no edits from here."""
        self._server = server
        self._judge = judge
        self._ledger = Ledger()
        self._line = Line()
        self._loaded = asyncio.Event()
        self._failure: BaseException | None = None
        self._is_applying = False
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        self.start()
        try:
            await self.loaded()
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, failure: type[BaseException] | None, *_: object) -> None:
        try:
            if failure is None:
                await self.saved()
        finally:
            await self.close()

    @property
    def has_unsaved(self) -> bool:
        """Whether the server does not have all edits yet."""
        return self._ledger.has_unsaved

    async def loaded(self) -> None:
        """Waits until the document holds what the server has; raises where the work is refused."""
        await self._loaded.wait()
        if self._failure is not None:
            raise self._failure

    async def saved(self) -> None:
        """Waits until all edits so far are stored; raises where the server does not take them."""
        await self._ledger.saved()

    def start(self) -> None:
        """Begins to connect, without waiting; entering the context does it too."""
        if self._tasks:
            return
        self._edits = self.doc.observe(self._note)
        self._states = self.awareness.observe(self._announce)
        self._tasks = [asyncio.create_task(self._run()), asyncio.create_task(self.awareness.start())]

    async def close(self) -> None:
        """Leaves at once. The document stays as it is."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._finish(AtelierError(ErrorCode.CONFLICT, "the work was closed before all edits were stored"))

    async def _run(self) -> None:
        try:
            await self._connect_for_ever()
        except AtelierError as reason:
            self._finish(reason)
        except Exception as fault:
            self._finish(unreachable(fault), fault)

    async def _connect_for_ever(self) -> None:
        failures = 0
        while True:
            self.state = LiveState.CONNECTING
            try:
                async with connect(self._server.socket_url("/collab"), max_size=LONGEST_MESSAGE) as socket:
                    await self._converse(socket)
            except (ConnectionClosed, InvalidHandshake, OSError) as cause:
                ending = meaning(cause)
                if not ending.is_passing:
                    raise ending from cause
            failures = 0 if self._line.is_whole else failures + 1
            self.state = LiveState.DISCONNECTED
            await asyncio.sleep(pause(failures, LONGEST_PAUSE))

    async def _converse(self, socket: ClientConnection) -> None:
        self._line = line = Line()
        self._ledger.connected()
        await self._introduce()
        sending = asyncio.create_task(self._send(socket, line))
        try:
            async for data in socket:
                if data == frames.PING:
                    line.say(frames.PONG)
                elif isinstance(data, bytes):
                    await self._hear(frames.read(data))
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)

    async def _introduce(self) -> None:
        """Who asks, what is here, and where one is."""
        line = self._line
        line.say(frames.token(self.work_id, await self._server.token()))
        line.say(frames.sync(self.work_id, frames.STEP_1, self.doc.get_state()))
        if self.awareness.get_local_state() is not None:
            self._show([self.awareness.client_id])

    async def _send(self, socket: ClientConnection, line: Line) -> None:
        while True:
            await line.has_work.wait()
            line.has_work.clear()
            while (frame := self._next_frame(line)) is not None:
                await socket.send(frame)

    def _next_frame(self, line: Line) -> bytes | None:
        """What is sent next. The ledger hears of it here, where the order of frames is decided."""
        if line.frames:
            return line.frames.popleft()
        if line.questions:
            # The answer holds all that the server lacks, so no update has to follow that was made before it.
            line.updates.clear()
            line.is_whole = True
            self._ledger.sent(is_whole=True)
            return frames.sync(self.work_id, frames.STEP_2, self.doc.get_update(line.questions.popleft()))
        if line.updates:
            update = line.updates[0] if len(line.updates) == 1 else merge_updates(*line.updates)
            line.updates.clear()
            self._ledger.sent(is_whole=False)
            return frames.sync(self.work_id, frames.UPDATE, update)
        return None

    async def _hear(self, frame: Frame) -> None:
        match frame:
            case Frame(frames.SYNC, frames.STEP_1, state):
                self._line.ask(state)
            case Frame(frames.SYNC, kind, update):
                self._apply(update)
                if kind == frames.STEP_2:
                    self.state = LiveState.CONNECTED
                    self._loaded.set()
            case Frame(frames.SYNC_STATUS, is_stored):
                self._ledger.answered(is_stored=is_stored == 1)
            case Frame(frames.AWARENESS, _, update):
                self.awareness.apply_awareness_update(update, self)
            case Frame(frames.QUERY_AWARENESS):
                self._show(list(self.awareness.states))
            case Frame(frames.AUTH, kind, payload):
                await self._authenticate(kind, payload.decode())

    async def _authenticate(self, kind: int, words: str) -> None:
        if kind == frames.DENIED:
            raise await self._judge(self.work_id, words)
        if kind == frames.TOKEN:
            self._line.say(frames.token(self.work_id, await self._server.token()))
        if kind == frames.AUTHENTICATED:
            self.is_read_only = words == "readonly"
            if not self.is_read_only and self._ledger.refusal is not None:
                # Rights have grown: the server asks in return for what it did not take before.
                self._line.say(frames.sync(self.work_id, frames.STEP_1, self.doc.get_state()))

    def _apply(self, update: bytes) -> None:
        self._is_applying = True
        try:
            self.doc.apply_update(update)
        finally:
            self._is_applying = False

    def _note(self, event: TransactionEvent) -> None:
        if self._is_applying:
            return
        self._ledger.edited()
        self._line.add(event.update)

    def _announce(self, topic: str, change: tuple[dict[str, Any], Any]) -> None:
        changes, origin = change
        if topic == "update" and origin is not self:
            self._show([*changes["added"], *changes["updated"], *changes["removed"]])

    def _show(self, clients: list[int]) -> None:
        self._line.say(frames.awareness(self.work_id, self.awareness.encode_awareness_update(clients)))

    def _finish(self, reason: AtelierError, fault: BaseException | None = None) -> None:
        if self.state == LiveState.CLOSED:
            return
        self.state = LiveState.CLOSED
        self._failure = fault or reason
        self._loaded.set()
        self._ledger.end(reason)
        if self._tasks:
            self.doc.unobserve(self._edits)
            self.awareness.unobserve(self._states)
            for task in self._tasks[1:]:
                task.cancel()


class Line:
    """One connection: what is to be sent on it."""

    def __init__(self) -> None:
        self.frames: deque[bytes] = deque()
        self.questions: deque[bytes] = deque()
        self.updates: list[bytes] = []
        self.is_whole = False
        """Whether the whole document was sent; before that an update need not be."""
        self.has_work = asyncio.Event()

    def say(self, frame: bytes) -> None:
        """Sends a frame that is not answered."""
        self.frames.append(frame)
        self.has_work.set()

    def ask(self, state: bytes) -> None:
        """The server asks for what it lacks."""
        self.questions.append(state)
        self.has_work.set()

    def add(self, update: bytes) -> None:
        """Sends an update; those that wait are sent as one."""
        if self.is_whole:
            self.updates.append(update)
            self.has_work.set()

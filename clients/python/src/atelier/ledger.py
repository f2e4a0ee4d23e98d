"""Which edits of a live document the server has stored.

Invariants
- An edit counts as saved only when the server has acknowledged a frame that holds it, on the present connection.
- On each connection the whole document is sent first; updates follow, one frame after the other, and are answered in
  that order.
- After a refusal nothing counts as saved until the whole document was taken.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from .errors import AtelierError, ErrorCode


class Ledger:
    """Edits, frames that hold them, and who waits for their answers."""

    def __init__(self) -> None:
        # What the document held at the beginning may be unknown to the server, so it counts as the first edit.
        self._edits = 1
        self._saved = 0
        self._in_flight: deque[tuple[int, bool]] = deque()
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []
        self.refusal: AtelierError | None = None

    @property
    def has_unsaved(self) -> bool:
        """Whether the server does not have all edits yet."""
        return self._saved < self._edits

    def edited(self) -> None:
        """Counts an edit of this side."""
        self._edits += 1

    async def saved(self) -> None:
        """Waits until all edits so far are stored; raises where the server does not take them."""
        if not self.has_unsaved:
            return
        if self.refusal is not None:
            raise self.refusal
        waiting = asyncio.get_running_loop().create_future()
        self._waiting.append((self._edits, waiting))
        await waiting

    def connected(self) -> None:
        """What an earlier connection did not answer it will not answer any more."""
        self._in_flight.clear()

    def sent(self, *, is_whole: bool) -> None:
        """Notes a frame that holds all edits so far, or those since the frame before."""
        self._in_flight.append((self._edits, is_whole))

    def answered(self, *, is_stored: bool) -> None:
        """Takes notice of an answer, which is about the oldest frame that waits for one."""
        if not self._in_flight:
            return
        edit, is_whole = self._in_flight.popleft()
        if not is_stored:
            message = "the server does not take edits of this document from here"
            self.end(AtelierError(ErrorCode.FORBIDDEN, message))
        elif is_whole or self.refusal is None:
            self.refusal = None
            self._saved = max(self._saved, edit)
            for waiting in self._take(lambda wanted: wanted <= self._saved):
                waiting.set_result(None)

    def end(self, reason: AtelierError) -> None:
        """Nothing more is taken, for this reason."""
        self.refusal = reason
        for waiting in self._take(lambda _: True):
            waiting.set_exception(reason)

    def _take(self, is_taken: Callable[[int], bool]) -> list[asyncio.Future[None]]:
        taken = [waiting for edit, waiting in self._waiting if is_taken(edit) and not waiting.done()]
        self._waiting = [each for each in self._waiting if not is_taken(each[0])]
        return taken

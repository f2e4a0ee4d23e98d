"""The real server, for tests: one installation that is killed and started again on the same data and port.

Invariants
- It is ready when `start` returns, gone when `kill` returns, and leaves nothing behind at the end.
"""

import asyncio
import os
import re
import shutil
import subprocess
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

import httpx

from atelier import (
    AddMemberInput,
    Atelier,
    CreateTokenInput,
    CreateWorkInput,
    CreateWorkspaceInput,
    Role,
    TokenKind,
    WorkKind,
    WorkNodeTextDocument,
)

BUILT = Path(__file__).parent / "../../../target/debug/atelier"
BINARY = Path(os.environ.get("ATELIER_BINARY", BUILT)).resolve()
SECRET = "proof-owner-0123456789abcdef"
PATIENCE = 30.0
POLL = 0.01

T = TypeVar("T")


@dataclass
class Person:
    """A member of a workspace with a client of their own."""

    atelier: Atelier
    workspace_id: str
    secret: str
    user_id: str = ""
    email: str = ""

    async def make_text(self, title: str = "Text") -> str:
        """Makes a text and returns its id."""
        given = CreateWorkInput(workspace_id=self.workspace_id, kind=WorkKind.TEXT, title=title)
        return (await self.atelier.create_work(given)).work.id

    async def stored(self, work_id: str) -> str:
        """What the server has of a text."""
        work = await self.atelier.work(work_id)
        assert isinstance(work, WorkNodeTextDocument)
        return work.text


class Installation:
    """A server and its data."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="atelier-client-"))
        self.address = "127.0.0.1:0"
        self.process: subprocess.Popen[bytes] | None = None
        self.clients: list[Atelier] = []

    def __enter__(self) -> Self:
        self.start_now()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill_now()
        shutil.rmtree(self.folder)

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://{self.address}"

    def start_now(self) -> None:
        """Starts it and waits until it is ready."""
        said = self.folder / "said"
        settings = {
            "ATELIER_LISTEN": self.address,
            "ATELIER_DATA_DIR": str(self.folder / "data"),
            "ATELIER_BOOTSTRAP_TOKEN": SECRET,
            "ATELIER_RATE_LIMIT": "off",
            "ATELIER_EMBEDDINGS_PROVIDER": "none",
        }
        with said.open("wb") as output, (self.folder / "log").open("ab") as log:
            command = [str(BINARY), "serve"]
            environment = {**os.environ, **settings}
            self.process = subprocess.Popen(command, cwd=self.folder, stdout=output, stderr=log, env=environment)
        deadline = time.monotonic() + PATIENCE
        while not self.is_ready(said.read_text()):
            assert self.process.poll() is None, (self.folder / "log").read_text()
            assert time.monotonic() < deadline, "the server does not become ready"
            time.sleep(POLL)

    def is_ready(self, words: str) -> bool:
        """Whether it says where it listens, and can serve there."""
        found = re.search(r"http://([\d.:]+)", words)
        if found is None:
            return False
        self.address = found[1]
        try:
            return httpx.get(f"{self.url}/readyz").is_success
        except httpx.TransportError:
            return False

    def kill_now(self) -> None:
        """Ends it as a power failure would."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    async def start(self) -> None:
        """Starts it, while clients go on with what they do."""
        await asyncio.to_thread(self.start_now)

    async def kill(self) -> None:
        """Kills it, while clients go on with what they do."""
        await asyncio.to_thread(self.kill_now)

    async def restart(self) -> None:
        """Kills it and starts it again."""
        await self.kill()
        await self.start()

    def client(self, secret: str = SECRET, **options: Any) -> Atelier:
        """A client with this token, closed at the end of the test."""
        client = Atelier(self.url, secret, **options)
        self.clients.append(client)
        return client

    async def close_clients(self) -> None:
        """Closes the clients of a test."""
        while self.clients:
            await self.clients.pop().aclose()

    async def owner(self) -> Person:
        """The first owner, in a new workspace."""
        atelier = self.client()
        made = await atelier.create_workspace(CreateWorkspaceInput(name="Proof"))
        return Person(atelier, made.workspace.id, SECRET)

    async def invite(self, owner: Person, role: Role) -> Person:
        """Somebody else, added by an owner."""
        email = f"{uuid.uuid4().hex}@example.com"
        member = AddMemberInput(workspace_id=owner.workspace_id, email=email, name=role.value, role=role)
        user = (await owner.atelier.add_member(member)).member.user
        token = CreateTokenInput(
            label="proof", kind=TokenKind.PERSONAL, user_id=user.id, workspace_id=owner.workspace_id
        )
        secret = (await owner.atelier.create_token(token)).secret
        return Person(self.client(secret), owner.workspace_id, secret, user.id, email)


async def until(what: str, is_so: Callable[[], bool | Awaitable[bool]]) -> None:
    """Waits until it is so."""
    deadline = time.monotonic() + PATIENCE
    while True:
        answer = is_so()
        if answer if isinstance(answer, bool) else await answer:
            return
        assert time.monotonic() < deadline, f"waited in vain until {what}"
        await asyncio.sleep(POLL)


async def take(feed: AsyncIterator[T], count: int) -> list[T]:
    """The next items of a feed, which stays open."""
    async with asyncio.timeout(PATIENCE):
        return [await anext(feed) for _ in range(count)]

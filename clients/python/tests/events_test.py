"""Events and changes over kills and restarts of the server: nothing is lost, nothing comes twice."""

import asyncio
from contextlib import aclosing
from typing import Any

import httpx
import pytest
from server import Installation, Person, take, until

from atelier import (
    AtelierError,
    CreateTaskInput,
    ErrorCode,
    EventKind,
    EventParts,
    ReplaceTextInput,
    RevokeTokenInput,
    Role,
    pages,
)


async def all_events(owner: Person) -> list[EventParts]:
    log = pages(
        lambda after: owner.atelier.events(owner.workspace_id, first=100, after=after),
        lambda workspace: workspace.events if workspace else None,
    )
    return [event async for event in log]


def subject_of(event: EventParts) -> Any:
    return getattr(event.subject, "id", None)


async def test_events_are_followed_over_kills_and_restarts_none_lost_and_none_twice(
    installation: Installation, owner: Person
) -> None:
    start = (await all_events(owner))[-1].cursor
    interruptions: list[AtelierError] = []
    heard: list[EventParts] = []

    async def read() -> None:
        feed = owner.atelier.workspace_events(owner.workspace_id, start, on_interruption=interruptions.append)
        async for event in feed:
            heard.append(event)

    reading = asyncio.create_task(read())
    made: list[str] = []
    for number in range(20):
        made.append(await owner.make_text(f"text {number}"))
        # The server dies while events are on their way, with some of each round heard and some perhaps not.
        if number % 5 == 3:
            await until("it listens", lambda: len(heard) > len(made) - 4)
            await installation.restart()
    await until("all works are heard of", lambda: len(heard) >= len(made))
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)
    assert [subject_of(event) for event in heard] == made
    assert [event.cursor for event in heard] == [event.cursor for event in await all_events(owner)][-len(made) :]
    assert len(interruptions) >= 4


async def test_a_reader_that_comes_back_another_day_goes_on_after_the_last_event_that_it_has_dealt_with(
    installation: Installation, owner: Person
) -> None:
    first = await owner.make_text()
    beginning = (await all_events(owner))[0].cursor
    async with aclosing(owner.atelier.workspace_events(owner.workspace_id, beginning)) as feed:
        [seen] = await take(feed, 1)
    await installation.restart()
    second = await owner.make_text()
    another = installation.client()
    async with aclosing(another.workspace_events(owner.workspace_id, seen.cursor)) as feed:
        [event] = await take(feed, 1)
    assert [subject_of(seen), subject_of(event)] == [first, second]


class Noting(httpx.AsyncHTTPTransport):
    """Tells when an answer has come."""

    def __init__(self) -> None:
        super().__init__()
        self.has_answered = asyncio.Event()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await super().handle_async_request(request)
        self.has_answered.set()
        return response


async def test_a_feed_without_a_cursor_misses_nothing_from_the_moment_on_that_it_has_asked_where_the_log_stands(
    installation: Installation, owner: Person
) -> None:
    await owner.make_text("before")
    noting = Noting()
    async with httpx.AsyncClient(transport=noting) as http:
        feed = installation.client(http=http).workspace_events(owner.workspace_id)
        first = asyncio.create_task(take(feed, 1))
        await noting.has_answered.wait()
        # It is still connecting when the event is made and the server dies.
        made = await owner.make_text("during")
        await installation.restart()
        [event] = await first
    assert (event.kind, subject_of(event)) == (EventKind.WORK_CREATED, made)
    await feed.aclose()


async def test_changes_of_a_work_come_in_order_and_without_a_gap_over_restarts(
    installation: Installation, owner: Person
) -> None:
    work_id = await owner.make_text()
    versions: list[int] = []
    async with aclosing(owner.atelier.work_changes(work_id, 0)) as feed:
        for version in range(12):
            await owner.atelier.replace_text(ReplaceTextInput(work_id=work_id, base_version=version, text=str(version)))
            if version % 4 == 2:
                await installation.restart()
            if version % 3 == 2:
                versions += [change.version for change in await take(feed, 3)]
    assert versions == list(range(1, 13))


async def test_what_a_task_does_is_followed_from_its_making_on(installation: Installation, owner: Person) -> None:
    given = CreateTaskInput(workspace_id=owner.workspace_id, goal="Write a short text about a lighthouse")
    task = (await owner.atelier.create_task(given)).task
    events = await all_events(owner)
    made = next(place for place, event in enumerate(events) if event.kind == EventKind.TASK_CREATED)
    async with aclosing(owner.atelier.task_events(task.id, events[made - 1].cursor)) as feed:
        [first] = await take(feed, 1)
        assert (first.kind, subject_of(first)) == (EventKind.TASK_CREATED, task.id)
        await installation.restart()
        while (await take(feed, 1))[0].kind != EventKind.STEP_DECIDED:
            pass


async def test_a_reader_that_reads_nothing_for_a_while_gets_everything(owner: Person) -> None:
    work_id = await owner.make_text()
    async with aclosing(owner.atelier.work_changes(work_id, 0)) as feed:
        text = "x" * 200_000
        for version in range(40):
            text = f"{version}{text[::-1]}"
            given = ReplaceTextInput(work_id=work_id, base_version=version, text=text)
            await owner.atelier.replace_text(given)
            if version == 0:
                assert [change.version for change in await take(feed, 1)] == [1]
        assert [change.version for change in await take(feed, 39)] == list(range(2, 41))


async def test_a_cursor_that_was_never_given_out_ends_the_feed_with_its_code(owner: Person) -> None:
    with pytest.raises(AtelierError) as caught:
        await take(owner.atelier.workspace_events(owner.workspace_id, "nonsense"), 1)
    assert caught.value.code == ErrorCode.CURSOR_INVALID


async def test_a_token_that_is_revoked_ends_the_feed_and_a_bad_one_never_begins_it(
    installation: Installation, owner: Person
) -> None:
    other = await installation.invite(owner, Role.EDITOR)
    feed = other.atelier.workspace_events(owner.workspace_id)
    hearing = asyncio.create_task(take(feed, 1))

    async def is_heard() -> bool:
        await owner.make_text("heard")
        return hearing.done()

    await until("it hears", is_heard)
    token = (await other.atelier.viewer()).tokens[0]
    await other.atelier.revoke_token(RevokeTokenInput(id=token.id))
    with pytest.raises(AtelierError) as caught:
        while True:
            await take(feed, 1)
    assert caught.value.code == ErrorCode.UNAUTHENTICATED
    with pytest.raises(AtelierError) as caught:
        await take(installation.client("nonsense").workspace_events(owner.workspace_id, "x"), 1)
    assert caught.value.code == ErrorCode.UNAUTHENTICATED

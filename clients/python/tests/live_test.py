"""Live documents over kills of the server: what counts as saved is stored, and nothing typed is lost or doubled."""

import asyncio
import base64
from contextlib import aclosing

import pytest
from pycrdt import Doc, Text
from server import Installation, Person, take, until

from atelier import AddMemberInput, AtelierError, ErrorCode, Live, LiveState, Role


def text_of(live: Live) -> Text:
    text: Text = live.doc.get("text", type=Text)
    return text


def append(live: Live, words: str) -> None:
    text_of(live).insert(len(text_of(live)), words)


async def test_two_programs_see_the_edits_of_each_other(installation: Installation, owner: Person) -> None:
    work_id = await owner.make_text()
    other = await installation.invite(owner, Role.EDITOR)
    async with owner.atelier.open(work_id) as ada, other.atelier.open(work_id) as ben:
        append(ada, "from Ada. ")
        await until("Ben has it", lambda: str(text_of(ben)) == "from Ada. ")
        append(ben, "from Ben. ")
        await until("Ada has it", lambda: str(text_of(ada)) == "from Ada. from Ben. ")
    assert await owner.stored(work_id) == "from Ada. from Ben. "


async def test_what_counts_as_saved_has_survived_a_kill_right_after(installation: Installation, owner: Person) -> None:
    work_id = await owner.make_text()
    for number in range(4):
        live = owner.atelier.open(work_id)
        live.start()
        await live.loaded()
        append(live, f"round {number}. ")
        assert live.has_unsaved
        await live.saved()
        assert not live.has_unsaved
        await installation.kill()
        await live.close()
        await installation.start()
        assert await owner.stored(work_id) == "".join(f"round {each}. " for each in range(number + 1))


async def test_leaving_the_block_waits_until_edits_are_stored(installation: Installation, owner: Person) -> None:
    work_id = await owner.make_text()

    async def write() -> None:
        async with owner.atelier.open(work_id) as live:
            await installation.kill()
            append(live, "typed while it was dead")

    writing = asyncio.create_task(write())
    await until(
        "the server is dead", lambda: installation.process is not None and installation.process.poll() is not None
    )
    await installation.start()
    await writing
    assert await owner.stored(work_id) == "typed while it was dead"


async def test_typing_over_kills_loses_nothing_and_doubles_nothing(installation: Installation, owner: Person) -> None:
    work_id = await owner.make_text()
    async with owner.atelier.open(work_id) as writer:
        for number in range(120):
            append(writer, f"{number} ")
            if number % 40 == 20:
                await installation.kill()
            if number % 40 == 30:
                await installation.start()
            # Lets frames leave between edits, so that kills meet all states of them.
            await asyncio.sleep(0.001)
    expected = "".join(f"{number} " for number in range(120))
    assert await owner.stored(work_id) == expected
    async with owner.atelier.open(work_id) as reader:
        assert str(text_of(reader)) == expected


async def test_what_is_typed_while_the_server_comes_back_is_saved_when_it_says_so(
    installation: Installation, owner: Person
) -> None:
    work_id = await owner.make_text()
    async with owner.atelier.open(work_id) as live:
        for number in range(3):
            await live.saved()
            await installation.kill()
            await until("the loss is seen", lambda: live.state == LiveState.DISCONNECTED)
            append(live, f"offline {number}. ")
            saved = asyncio.create_task(live.saved())
            starting = asyncio.create_task(installation.start())
            while not saved.done():
                append(live, ".")
                await asyncio.sleep(0.005)
            await saved
            await starting
            # What was typed until then is there after a death at this very moment.
            await installation.restart()
            assert f"offline {number}. " in await owner.stored(work_id)
    assert await owner.stored(work_id) == str(text_of(live))


async def test_a_document_that_was_kept_goes_on_where_it_was_with_what_nobody_has_seen_yet(owner: Person) -> None:
    work_id = await owner.make_text()
    async with owner.atelier.open(work_id) as before:
        append(before, "before. ")
    append(before, "unsent. ")
    kept: Doc[Text] = Doc()
    kept.apply_update(before.doc.get_update())
    async with owner.atelier.open(work_id, kept):
        pass
    assert await owner.stored(work_id) == "before. unsent. "


async def test_every_change_is_both_in_the_document_and_in_the_feed_once(
    installation: Installation, owner: Person
) -> None:
    work_id = await owner.make_text()
    followed: Doc[Text] = Doc()
    async with aclosing(owner.atelier.work_changes(work_id, 0)) as feed, owner.atelier.open(work_id) as live:
        for number in range(6):
            append(live, f"{number} ")
            await live.saved()
            if number == 3:
                await installation.restart()
            [change] = await take(feed, 1)
            assert change.version == number + 1
            followed.apply_update(base64.b64decode(change.update))
        assert str(followed.get("text", type=Text)) == str(text_of(live))


async def test_a_viewer_reads_is_told_that_nothing_is_taken_and_writes_when_the_role_allows_it(
    installation: Installation, owner: Person
) -> None:
    work_id = await owner.make_text()
    viewer = await installation.invite(owner, Role.VIEWER)
    async with viewer.atelier.open(work_id) as reader, owner.atelier.open(work_id) as writer:
        assert reader.is_read_only
        append(writer, "readable. ")
        await until("the viewer has it", lambda: str(text_of(reader)) == "readable. ")
        append(reader, "not yet. ")
        with pytest.raises(AtelierError) as caught:
            await reader.saved()
        assert caught.value.code == ErrorCode.FORBIDDEN
        assert await owner.stored(work_id) == "readable. "
        raised = AddMemberInput(workspace_id=owner.workspace_id, email=viewer.email, role=Role.EDITOR)
        await owner.atelier.add_member(raised)
        await until("what was refused is stored", lambda: not reader.has_unsaved)
        assert await owner.stored(work_id) == "readable. not yet. "


async def test_what_can_not_be_opened_says_why_in_a_code(installation: Installation, owner: Person) -> None:
    work_id = await owner.make_text()

    async def code_of(live: Live) -> ErrorCode:
        with pytest.raises(AtelierError) as caught:
            async with live:
                pass
        return caught.value.code

    assert await code_of(owner.atelier.open(f"work_{'0' * 32}")) == ErrorCode.NOT_FOUND
    async with installation.client("nonsense") as stranger:
        assert await code_of(stranger.open(work_id)) == ErrorCode.UNAUTHENTICATED


async def test_presence_shows_who_is_where(installation: Installation, owner: Person) -> None:
    work_id = await owner.make_text()
    other = await installation.invite(owner, Role.EDITOR)
    async with aclosing(owner.atelier.presence(work_id)) as feed:
        async with other.atelier.open(work_id) as live:
            live.awareness.set_local_state({"user": {"name": "somebody"}, "nodeId": "a"})
            while not any(each.node_id == "a" and each.actor.user for each in (await take(feed, 1))[0]):
                pass
        while (await take(feed, 1))[0]:
            pass

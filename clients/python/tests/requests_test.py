"""Queries and mutations against the real server: answers are typed, refusals have codes, and nothing happens twice."""

import asyncio
from typing import Any

import httpx
import pytest
from server import Installation, Person

from atelier import (
    Atelier,
    AtelierError,
    CreateWorkInput,
    CreateWorkspaceInput,
    EditNodesEditNodesEditApplied,
    EditNodesEditNodesNodeConflict,
    EditNodesInput,
    ErrorCode,
    NodeInput,
    NodeOperation,
    PostMessageInput,
    ReplaceTextInput,
    Role,
    SetFields,
    WorkKind,
    WorkNodeStoryboard,
    pages,
)


def board(owner: Person) -> CreateWorkInput:
    shot = NodeInput(id="a", type="shot", fields={"title": "Dusk"})
    return CreateWorkInput(workspace_id=owner.workspace_id, kind=WorkKind.STORYBOARD, title="Fox", nodes=[shot])


async def test_the_content_of_a_work_is_read_with_its_kind(owner: Person) -> None:
    made = await owner.atelier.create_work(board(owner))
    work = await owner.atelier.work(made.work.id)
    assert isinstance(work, WorkNodeStoryboard)
    assert [(node.id, node.fields["title"]) for node in work.nodes] == [("a", "Dusk")]


async def test_an_edit_over_the_change_of_somebody_else_is_a_conflict_that_carries_the_node_as_it_is(
    installation: Installation, owner: Person
) -> None:
    other = await installation.invite(owner, Role.EDITOR)
    work_id = (await owner.atelier.create_work(board(owner))).work.id

    def edit(title: str) -> EditNodesInput:
        operation = NodeOperation(set=SetFields(node_id="a", fields={"title": title}))
        return EditNodesInput(work_id=work_id, base_version=1, operations=[operation])

    assert isinstance(await other.atelier.edit_nodes(edit("Night")), EditNodesEditNodesEditApplied)
    conflict = await owner.atelier.edit_nodes(edit("Dawn"))
    assert isinstance(conflict, EditNodesEditNodesNodeConflict)
    assert conflict.current_version == 2
    current = conflict.conflicts[0].current
    assert current is not None and current.fields["title"] == "Night"


async def test_a_field_that_is_set_to_none_is_emptied_and_one_that_is_not_named_stays(owner: Person) -> None:
    work_id = (await owner.atelier.create_work(board(owner))).work.id
    fields = [{"mood": "calm", "weather": "rain"}, {"mood": None}]
    for version, each in enumerate(fields, 1):
        operation = NodeOperation(set=SetFields(node_id="a", fields=each))
        given = EditNodesInput(work_id=work_id, base_version=version, operations=[operation])
        assert isinstance(await owner.atelier.edit_nodes(given), EditNodesEditNodesEditApplied)
    work = await owner.atelier.work(work_id)
    assert isinstance(work, WorkNodeStoryboard)
    assert work.nodes[0].fields == {"title": "Dusk", "weather": "rain"}


async def test_lists_are_read_to_their_end_page_by_page(owner: Person) -> None:
    made = [await owner.make_text(f"text {number}") for number in range(7)]
    listed = pages(
        lambda after: owner.atelier.works(owner.workspace_id, first=3, after=after),
        lambda workspace: workspace.works if workspace else None,
    )
    assert sorted([work.id async for work in listed]) == sorted(made)


async def code_of(promise: Any) -> ErrorCode:
    with pytest.raises(AtelierError) as caught:
        await promise
    return caught.value.code


async def test_refusals_have_the_codes_of_the_server(installation: Installation, owner: Person) -> None:
    viewer = await installation.invite(owner, Role.VIEWER)
    atelier = owner.atelier
    assert await code_of(viewer.make_text()) == ErrorCode.FORBIDDEN
    assert await code_of(installation.client("nonsense").viewer()) == ErrorCode.UNAUTHENTICATED
    assert await code_of(atelier.execute("{ nothing }")) == ErrorCode.GRAPHQL_VALIDATION_FAILED
    assert await code_of(atelier.works(owner.workspace_id, after="nonsense")) == ErrorCode.CURSOR_INVALID
    stranger = await installation.owner()
    theirs = ReplaceTextInput(work_id=await stranger.make_text(), base_version=0, text="x")
    assert await code_of(viewer.atelier.replace_text(theirs)) == ErrorCode.NOT_FOUND


async def test_the_same_key_with_another_input_is_refused_as_reused(owner: Person) -> None:
    def post(text: str) -> Any:
        given = PostMessageInput(workspace_id=owner.workspace_id, text=text, idempotency_key="one")
        return owner.atelier.post_message(given)

    first = await post("hello")
    assert (await post("hello")).message.id == first.message.id
    assert await code_of(post("other")) == ErrorCode.IDEMPOTENCY_KEY_REUSED


class Losing(httpx.AsyncHTTPTransport):
    """Loses the answers of the first requests, which the server has carried out."""

    def __init__(self, answers: int) -> None:
        super().__init__()
        self.answers = answers

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await super().handle_async_request(request)
        if self.answers <= 0:
            return response
        self.answers -= 1
        await response.aread()
        raise httpx.ReadError("the connection broke")


async def test_a_mutation_whose_answer_was_lost_is_sent_again_and_done_once(
    installation: Installation, owner: Person
) -> None:
    async with httpx.AsyncClient(transport=Losing(2)) as http:
        lossy = Person(installation.client(http=http), owner.workspace_id, owner.secret)
        made = await lossy.make_text()
    listed = await owner.atelier.works(owner.workspace_id)
    assert listed is not None
    assert [work.id for work in listed.works.nodes] == [made]


async def test_a_mutation_that_takes_no_key_is_not_sent_again(installation: Installation, owner: Person) -> None:
    async with httpx.AsyncClient(transport=Losing(1)) as http:
        making = installation.client(http=http).create_workspace(CreateWorkspaceInput(name="Once"))
        assert await code_of(making) == ErrorCode.UNAVAILABLE


async def test_a_query_waits_for_a_server_that_is_started_again(installation: Installation, owner: Person) -> None:
    work_id = await owner.make_text()
    await installation.kill()
    async with installation.client() as atelier:
        found, _ = await asyncio.gather(atelier.work(work_id), installation.start())
    assert found is not None


async def test_a_server_that_is_not_there_is_unavailable() -> None:
    async with Atelier("http://127.0.0.1:9", "x", retries=0) as nowhere:
        assert await code_of(nowhere.viewer()) == ErrorCode.UNAVAILABLE


async def test_a_token_may_be_fetched_for_each_request(installation: Installation, owner: Person) -> None:
    asked = 0

    async def fresh() -> str:
        nonlocal asked
        asked += 1
        return owner.secret

    async with Atelier(installation.url, fresh) as atelier:
        await atelier.viewer()
        await atelier.viewer()
    assert asked == 2

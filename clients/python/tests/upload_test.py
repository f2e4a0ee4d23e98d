"""Files: whole or not at all, and once."""

from pathlib import Path

import httpx
import pytest
from server import Installation, Person

from atelier import AtelierError, ErrorCode


async def test_a_file_is_sent_described_and_read_again(
    installation: Installation, owner: Person, tmp_path: Path
) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("a fox\n" * 100_000)
    asset = await owner.atelier.upload(owner.workspace_id, "Notes", path)
    assert (asset.title, asset.media_type, asset.byte_size, asset.version) == ("Notes", "text/plain", 600_000, 1)
    assert await owner.atelier.download(asset.url) == path.read_bytes()
    await installation.restart()
    assert await owner.atelier.download(asset.url) == path.read_bytes()


async def test_further_bytes_are_the_next_version_of_the_same_asset(owner: Person) -> None:
    first = await owner.atelier.upload(owner.workspace_id, "x", b"one", media_type="text/plain")
    second = await owner.atelier.upload(owner.workspace_id, "x", b"second", media_type="text/plain", work_id=first.id)
    assert (second.id, second.version, second.byte_size) == (first.id, 2, 6)
    assert second.sha_256 != first.sha_256


class LosingPut(httpx.AsyncHTTPTransport):
    """Loses the answer of the first upload, which the server has taken."""

    puts = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await super().handle_async_request(request)
        self.puts += request.method == "PUT"
        if request.method == "PUT" and self.puts == 1:
            await response.aread()
            raise httpx.ReadError("the connection broke")
        return response


async def test_an_upload_whose_answer_was_lost_is_there_once(
    installation: Installation, owner: Person, tmp_path: Path
) -> None:
    path = tmp_path / "once.txt"
    path.write_text("once")
    losing = LosingPut()
    async with httpx.AsyncClient(transport=losing) as http:
        asset = await installation.client(http=http).upload(owner.workspace_id, "once", path)
    assert (asset.version, asset.byte_size, losing.puts) == (1, 4, 2)


async def test_bytes_that_are_not_what_they_are_said_to_be_are_refused_with_a_code(owner: Person) -> None:
    with pytest.raises(AtelierError) as caught:
        await owner.atelier.upload(owner.workspace_id, "x.png", b"no picture", media_type="image/png")
    assert caught.value.code == ErrorCode.UNSUPPORTED_MEDIA_TYPE


async def test_an_asset_that_is_not_there_can_not_be_read(owner: Person) -> None:
    with pytest.raises(AtelierError) as caught:
        await owner.atelier.download(f"/files/work_{'0' * 32}/{'0' * 64}")
    assert caught.value.code == ErrorCode.NOT_FOUND

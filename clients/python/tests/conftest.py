"""Before the tests: models and methods of the present schema, and for each file of tests a server of its own."""

import runpy
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

runpy.run_path(str(Path(__file__).parent.parent / "generate.py"))["generate"]()

from server import Installation, Person  # noqa: E402  (only now there is what it imports)


@pytest.fixture(scope="module")
def installation() -> Iterator[Installation]:
    """One server for a file of tests, which may kill it and start it again."""
    with Installation() as installation:
        yield installation


@pytest_asyncio.fixture
async def owner(installation: Installation) -> AsyncIterator[Person]:
    """The first owner, in a workspace of the test's own; closes all clients of the test behind it."""
    yield await installation.owner()
    await installation.close_clients()

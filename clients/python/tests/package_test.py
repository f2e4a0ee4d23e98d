"""The package as others get it: in step with the server, whole, and its first example runs as the README has it."""

import asyncio
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

from graphql import build_schema
from server import BINARY, Installation, Person

import atelier

FOLDER = Path(__file__).parent.parent
ROOT = FOLDER.parent.parent


def test_every_mutation_and_every_subscription_of_the_schema_has_its_method() -> None:
    schema = build_schema((ROOT / "schema.graphql").read_text())
    assert schema.mutation_type and schema.subscription_type
    fields = [*schema.mutation_type.fields, *schema.subscription_type.fields]
    names = [re.sub("([A-Z])", r"_\1", field).lower() for field in fields]
    assert [name for name in names if not hasattr(atelier.Atelier, name)] == []


def test_the_schema_that_it_is_made_from_is_the_one_of_the_server() -> None:
    printed = subprocess.run([BINARY, "schema"], check=True, capture_output=True, text=True).stdout
    assert (ROOT / "schema.graphql").read_text() == printed


def test_the_codes_of_errors_are_those_that_the_server_gives() -> None:
    table = re.search(r"^codes! \{(.*?)^\}", (ROOT / "api/src/graphql/error.rs").read_text(), re.DOTALL | re.MULTILINE)
    assert table
    codes = re.findall(r'= "(\w+)"', table[1])
    assert len(codes) > 10
    assert sorted(atelier.ErrorCode) == sorted(codes)


def test_what_is_built_has_the_models_and_says_that_it_is_typed(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(FOLDER)]
    subprocess.run(build, check=True, capture_output=True)
    [wheel] = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"atelier/py.typed", "atelier/generated/operations.py", "atelier/live.py"} <= names
    assert not [name for name in names if not name.startswith(("atelier/", "atelier-"))]


async def test_the_first_example_of_the_readme_runs_as_it_stands_there(
    installation: Installation, owner: Person
) -> None:
    example = re.search("```python\n(.*?)```", (FOLDER / "README.md").read_text(), re.DOTALL)
    assert example
    environment = {**os.environ, "ATELIER_URL": installation.url, "ATELIER_TOKEN": owner.secret}
    command = [sys.executable, "-W", "error", "-c", example[1]]
    done = await asyncio.to_thread(subprocess.run, command, env=environment, capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout == "WORK_CREATED\nWORK_CHANGED\nstored: A fox in a night city. It snows.\n"

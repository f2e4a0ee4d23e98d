"""Makes `src/atelier/generated`: models of the schema, and a typed method for each operation in `../operations`.

Invariants
- An operation that does not fit the schema ends this with what is wrong, so no build and no test can pass with one.
- What is made is not kept in the repository: it can not be older than the schema.
"""

import contextlib
import io
import re
import shutil
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SCHEMA = HERE / "../../schema.graphql"
OPERATIONS = HERE / "../operations"
PACKAGE = HERE / "src/atelier"

# How scalars travel in JSON.
SCALARS = {
    "Bytes": {"type": "str"},
    "Cursor": {"type": "str"},
    "DateTime": {"type": "datetime.datetime"},
    "Int64": {"type": "int"},
    "JSON": {"type": "typing.Any"},
}


def generate() -> None:
    """Makes the package anew; what was there stays until all of it is made."""
    # Only who builds the package has the generator.
    from ariadne_codegen.main import client

    with tempfile.TemporaryDirectory() as folder:
        settings = {
            "schema_path": str(SCHEMA.resolve()),
            "queries_path": str(OPERATIONS.resolve()),
            "target_package_name": "generated",
            "target_package_path": folder,
            "client_name": "Operations",
            "client_file_name": "operations",
            "base_client_name": "Base",
            "base_client_file_path": str(HERE / "base.py"),
            "include_comments": "none",
            "plugins": ["ariadne_codegen.contrib.shorter_results.ShorterResultsPlugin"],
            # Programs then read and write `work_id`; what travels is `workId`.
            "use_alias_generator": True,
            "scalars": SCALARS,
        }
        with contextlib.redirect_stdout(io.StringIO()):
            client({"tool": {"ariadne-codegen": settings}})
        close_feeds(Path(folder) / "generated/operations.py")
        target = PACKAGE / "generated"
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(Path(folder) / "generated", target)


FEED = re.compile(
    r"        async for data in (self\.execute_ws\(.*?\)):\n            (yield .*?\n)(?=\n|\Z)", re.DOTALL
)


def close_feeds(path: Path) -> None:
    """Makes a subscription that is left close what it reads from at once, and says that it can be closed.

    The generator leaves that to the garbage collector, which a program that ends does not wait for.
    """
    text = path.read_text()
    expected = text.count("self.execute_ws(")
    closing = r"        async with aclosing(\1) as feed:\n            async for data in feed:\n                \2"
    text, closed = FEED.subn(closing, text)
    text, told = re.subn(r"-> AsyncIterator\[(\w+|list\[\w+\])\]:", r"-> AsyncGenerator[\1, None]:", text)
    if not closed == told == expected:
        raise RuntimeError("the generator writes subscriptions in another way now")
    imports = "from collections.abc import AsyncGenerator\nfrom contextlib import aclosing"
    path.write_text(text.replace("from collections.abc import AsyncIterator", imports))


if __name__ == "__main__":
    generate()

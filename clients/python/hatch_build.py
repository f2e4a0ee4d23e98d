"""Part of the build: makes models and methods from the schema before the package is put together.

A source distribution carries what was made, and is built without the schema.
"""

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class MakeOperations(BuildHookInterface[Any]):
    """Runs the generator where the repository is around the package."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before each build, also of an editable one."""
        generator = runpy.run_path(str(Path(self.root) / "generate.py"))
        if generator["SCHEMA"].exists():
            generator["generate"]()

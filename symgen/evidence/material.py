"""What is examined, and the running of programs on it."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from symgen.languages.module import Module

TIMEOUT: Final = 600.0
"""Seconds after which a program is ended."""


@dataclass(frozen=True)
class Outcome:
    """What an examination has found: whether the claim holds (None where it was not examined), in
    one sentence, a table of details and the output of the programs."""

    holds: bool | None
    summary: str
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[object]] = ()
    output: str = ""


@dataclass(frozen=True)
class Ran:
    """The exit status and the output of a program, without the path of its folder."""

    status: int
    output: str


@dataclass(frozen=True)
class Material:
    """A copy of the files of a module."""

    module: Module
    folder: Path

    @cached_property
    def sources(self) -> list[str]:
        """The C files in alphabetical order."""
        return sorted(path.name for path in self.folder.glob(f"{self.module.name}*.c"))

    @cached_property
    def own(self) -> list[str]:
        """The C files that become part of firmware: all but the self-test."""
        return [name for name in self.sources if not name.endswith("_selftest.c")]

    def run(self, *command: str) -> Ran:
        """Run a program in the folder."""
        try:
            done = subprocess.run(
                command,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="backslashreplace",
                env={**os.environ, "PWD": str(self.folder), "LC_ALL": "C"},
                timeout=TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Ran(1, f"{command[0]} was ended after {TIMEOUT:g} s\n")
        output = done.stdout.replace(f"{self.folder}/", "").replace(str(self.folder), ".")
        return Ran(done.returncode, re.sub(r"/tmp/\S+?\.(o|s)\b", r"temporary.\1", output))


Examine = Callable[[Material], Outcome]


@dataclass(frozen=True)
class Examination:
    """A claim about the code, the programs that an examination of it needs, and what runs it."""

    name: str
    claim: str
    tools: tuple[str, ...]
    examine: Examine

    def verdict(self, material: Material) -> Outcome:
        """The verdict; that it was not examined where a program is not installed."""
        absent = [tool for tool in self.tools if shutil.which(tool) is None]
        if absent:
            return Outcome(None, f"not run: {' and '.join(absent)} not installed")
        return self.examine(material)

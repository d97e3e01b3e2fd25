"""C++ proven: the system's compiler takes the header under strict warnings; a program runs it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from symgen.languages.describe import descriptions
from symgen.languages.outside import Call, Outside, driven, ran
from symgen.languages.subject import Subject
from symgen.native.compiler import workspace
from symgen.native.platforms import platform
from symgen.render import render

FLAGS: Final = (
    "-std=c++17",
    "-O1",
    "-ffp-contract=off",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Wshadow",
    "-Werror",
)


def compiler() -> list[str]:
    """$CXX with its arguments, else c++."""
    return platform().split(os.environ.get("CXX", "")) or ["c++"]


@contextmanager
def started(subject: Subject) -> Iterator[Call]:
    """The header in a program of its own, ready to run. Raises Failed."""
    name = subject.module.name
    text = (subject.folder / f"{name}_robot.hpp").read_text(encoding="utf-8")
    with workspace() as folder:
        (folder / f"{name}_robot.hpp").write_text(text, encoding="utf-8")
        driver = render(
            "cpp/driver.cpp.jinja", module=subject.module, functions=descriptions(subject.module)
        )
        (folder / "driver.cpp").write_text(driver, encoding="utf-8")
        ran([*compiler(), *FLAGS, "driver.cpp", "-o", "driver"], folder)
        yield driven(folder)


CPP: Final = Outside("C++", (compiler()[0],), started)

checks: Final = CPP.checks
"""The checks of the C++ header of a folder."""

"""Advice in messages: packages to install and commands to run.

All advice that contains a command is made here, so that a test can run each command."""

from shlex import quote
from typing import Final

from symgen.text import shown

PACKAGES: Final = (
    "clarabel",
    "coal",
    "distributed",
    "drake",
    "fsspec",
    "matplotlib",
    "mujoco",
    "pin",
    "pyarrow",
    "pycollada",
    "rosbags",
    "scipy",
    "trimesh",
    "xacrodoc",
)
"""The optional packages, by their names on the Python Package Index."""

COMMANDS: Final = {
    "check": "symgen check {robot}",
    "excite": "symgen excite {robot} -o {motion}",
    "generate": "symgen generate {job}",
    "list": "symgen list",
    "regenerate": "symgen generate {robot} -o {folder}",
    "verify": "symgen verify {folder}",
}
"""The commands that messages advise, with the words that depend on the case."""


def install(*packages: str) -> str:
    """The command that installs optional packages."""
    assert set(packages) <= set(PACKAGES), packages
    return f"pip install {' '.join(packages)}"


def command(name: str, **words: str) -> str:
    """The command of `COMMANDS` called `name`, its words quoted for a shell."""
    return COMMANDS[name].format(**{key: shown(quote(word)) for key, word in words.items()})


def use_prior(full: bool) -> str:
    """The advice to let the prior determine parameters; empty if ``--full`` is given already."""
    return "" if full else "let the prior determine the remaining parameters with --full"

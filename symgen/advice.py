"""Advice in messages: packages to install and commands to run.

All advice that contains a command is made here, so that a test can run each command."""

from shlex import quote
from typing import Final

from symgen.text import shown

PACKAGES: Final = (
    "clarabel",
    "coal",
    "drake",
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


def stay_near_prior(entropic: float, full: bool) -> str:
    """The advice for bodies that the log leaves open, such as those with implausible masses: they
    approach the prior as the weight of ``--entropic`` grows. `entropic` and `full` are the options
    given; ``--entropic`` excludes ``--full``."""
    if entropic:
        return (
            f"keep the bodies nearer to the prior with a larger weight than --entropic {entropic:g}"
        )
    instead = " instead of --full" if full else ""
    return f"keep the bodies near the prior with --consistent --entropic 100{instead}"


def use_prior(full: bool) -> str:
    """The advice to let the prior determine parameters; empty if ``--full`` is given already."""
    return "" if full else "let the prior determine the remaining parameters with --full"

"""The example robots that symgen includes, by name."""

from pathlib import Path
from typing import Final

from symgen.errors import OptionError
from symgen.text import hint, shown

_PACKAGE: Final = Path(__file__).resolve().parents[1]

FOLDERS: Final = (_PACKAGE / "robots", _PACKAGE.parent / "robots")
"""The folder of the robots in an installed package, and in a checkout."""


def examples() -> dict[str, Path]:
    """The URDF files of the example robots by name, sorted."""
    folder = next((path for path in FOLDERS if path.is_dir()), _PACKAGE)
    return {path.stem: path for path in sorted(folder.glob("*.urdf"))}


def example(name: str) -> Path:
    """The URDF file of the example robot called `name`, such as ``"ur5"`` or ``"pendulum"``.

    Every function that takes a robot file takes it:

    >>> robot = symgen.Robot(symgen.example("ur5"))

    Raises OptionError if there is no such robot; ``symgen robots`` lists them."""
    known = examples()
    if name not in known:
        raise OptionError(f"no example robot is called '{shown(name)}'; {hint(name, known, 30)}")
    return known[name]

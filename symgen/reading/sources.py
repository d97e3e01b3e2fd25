"""Sources that a robot can be read from: a file, a text of XML, or an object in Python.

Objects are a `Description`, what has one (`symgen.reading.builder.Builder`), and models of other
libraries, known by the package that their class comes from; each has a converter."""

import hashlib
import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias, TypeGuard, runtime_checkable

from symgen.errors import OptionError
from symgen.reading import formats
from symgen.reading.description import Description
from symgen.reading.options import NO_SOURCE_OPTIONS, SourceOptions
from symgen.reading.xml_reader import parsed
from symgen.text import shown


@runtime_checkable
class Described(Protocol):
    """Whatever can say what robot it is."""

    def description(self) -> Description:
        """The robot as readers give it."""


RobotSource: TypeAlias = "str | os.PathLike[str] | Description | Described | Any"
"""A path, a text of XML that begins with ``<``, a description, a builder, or a model of another
library (`CONVERTERS`)."""

CONVERTERS: Final[dict[str, str]] = {
    "pinocchio": "symgen.reading.from_pinocchio",
    "yourdfpy": "symgen.reading.from_yourdfpy",
}
"""The modules whose ``description`` reads objects of other libraries, by the package of the
object's class."""

TEXT: Final = "XML text"


def described(source: RobotSource, options: SourceOptions = NO_SOURCE_OPTIONS) -> Description:
    """The robot in a source of any kind. Raises SymgenError where it is not one valid robot,
    TypeError for an object of a kind that is not known."""
    if is_path(source):
        return formats.read(source, options)
    if options.xacro_args:
        raise OptionError("--xacro-arg: only a file with xacro has arguments; remove the option")
    if isinstance(source, str):
        robot = _of_text(source, options)
    else:
        formats.check_single_model("a robot in Python", options)
        robot = _of_object(source)
    return formats.without_packages(robot, options.package_paths)


def is_path(source: RobotSource) -> "TypeGuard[str | os.PathLike[str]]":
    """Whether the source is the path of a file, not a text of XML or an object."""
    if isinstance(source, str):
        return not source.lstrip("\ufeff \t\r\n").startswith("<")
    return isinstance(source, os.PathLike)


def name_of(source: RobotSource) -> str:
    """The name of a source in messages and manifests: its path, or the robot's name."""
    if is_path(source):
        return os.fspath(source)
    return TEXT if isinstance(source, str) else f"{_of_object(source).name} (Python)"


def _of_text(text: str, options: SourceOptions) -> Description:
    data = text.lstrip("\ufeff \t\r\n").encode()
    root = parsed(data, TEXT)
    if any("xacro" in str(uri) for uri in root.element.nsmap.values()):
        raise OptionError(f"{TEXT}: has xacro in it; save it as a .xacro file and give its path")
    return formats.of_element(root, Path(TEXT), hashlib.sha256(data).hexdigest(), options)


def _of_object(source: Any) -> Description:
    if isinstance(source, Description):
        return source
    converter = _converter(type(source))
    if converter is not None:
        return converter(source)
    if isinstance(source, Described):
        return source.description()
    raise TypeError(
        f"a robot is the path of a file, a text of XML, a symgen.Builder, a symgen.Robot, or a "
        f"model of {' or '.join(CONVERTERS)}, not {shown(type(source).__qualname__)}"
    )


def _converter(kind: type) -> Callable[[Any], Description] | None:
    packages = (cls.__module__.partition(".")[0] for cls in kind.__mro__)
    module = next((CONVERTERS[name] for name in packages if name in CONVERTERS), None)
    return None if module is None else import_module(module).description

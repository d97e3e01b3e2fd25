"""Sources of robots: a file, its content in memory (text, bytes, an open file, an XML document of
another library), or an object in Python.

Objects are a `RobotDescription`, an object that has one (`symgen.reading.builder.Builder`), and
models of other libraries. These are recognised by the package of their class; each has a
converter."""

import hashlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias, TypeGuard, TypeVar, runtime_checkable

from symgen.errors import Notice, OptionError, RobotError, SourceLocation
from symgen.reading import denavit_hartenberg, urdf
from symgen.reading.description import RobotDescription, check_one_root
from symgen.reading.options import NO_SOURCE_OPTIONS, SourceOptions
from symgen.reading.plausibility import check_joint_elements
from symgen.reading.urdf import extended_urdf
from symgen.reading.xacro_expansion import (
    Expansion,
    check_folders_exist,
    check_is_robot,
    expand,
    is_named,
    needs_expansion,
    xacro_nodes,
)
from symgen.reading.xml_reader import XmlNode, parse_xml
from symgen.reading.xml_text import STANDARD_INPUT, file_bytes
from symgen.text import hint, quoted, reason, shown

TEXT: Final = "XML text"
"""The name, in messages and manifests, of content that comes from no file."""

_ENCODING: Final = re.compile(r"""(<\?xml\b[^>]*?)\s+encoding\s*=\s*(?:"[^"]*"|'[^']*')""")
"""The encoding in an XML declaration."""


@dataclass(frozen=True)
class RobotText:
    """The content of a robot's file: its bytes, its name in messages, and the folder where files
    that it includes are looked for."""

    data: bytes
    name: str = TEXT
    folder: Path = Path()


Document: TypeAlias = "str | bytes"


def text_in_memory(source: Any) -> RobotText | None:
    """The content of a source that is one, None for any other source. An open file is read to its
    end. Raises OSError where it cannot be read."""
    if isinstance(source, RobotText):
        return source
    if isinstance(source, (str, bytes, bytearray, memoryview)):
        return RobotText(_encoded(source if isinstance(source, str) else bytes(source)))
    if callable(getattr(source, "read", None)):
        path, data = getattr(source, "name", None), _encoded(source.read())
        return (
            RobotText(data, path, Path(path).parent) if isinstance(path, str) else RobotText(data)
        )
    write = _row_of_package(type(source), XML_WRITERS)
    return None if write is None else RobotText(_encoded(write(source)))


def _encoded(content: Document) -> bytes:
    """Bytes as they are; text in UTF-8, without a declaration of the encoding that it had."""
    if isinstance(content, bytes):
        return content
    return _ENCODING.sub(r"\1", content.lstrip("\ufeff \t\r\n"), count=1).encode()


def _root(source: Any) -> Any:
    """The root element of a document of lxml or ElementTree."""
    return source.getroot() if hasattr(source, "getroot") else source


def _xml_of_lxml(source: Any) -> Document:
    from lxml import etree

    return bytes(etree.tostring(_root(source), with_tail=False))


def _xml_of_element_tree(source: Any) -> Document:
    from xml.etree import ElementTree

    return str(ElementTree.tostring(_root(source), encoding="unicode"))


XML_WRITERS: Final[dict[str, Callable[[Any], Document]]] = {
    "lxml": _xml_of_lxml,
    "xml.etree": _xml_of_element_tree,
    "xml.dom": lambda source: str(source.toxml()),  # as ``xacro.process_file`` returns it
    "xacrodoc": lambda source: str(source.to_urdf_string()),
}
"""What writes the documents of other libraries as XML, by the package of their classes."""


Row = TypeVar("Row")


def _row_of_package(kind: type, rows: Mapping[str, Row]) -> Row | None:
    """The row for the package of a class or of one that it derives from, None if there is none."""
    modules = [f"{cls.__module__}." for cls in kind.__mro__]
    fitting = (
        row
        for package, row in rows.items()
        if any(module.startswith(f"{package}.") for module in modules)
    )
    return next(fitting, None)


def _lazy_function(module: str, function: str) -> Callable[..., RobotDescription]:
    """A function of a module that is imported when it is called."""
    return lambda *given: getattr(import_module(module), function)(*given)


@runtime_checkable
class HasDescription(Protocol):
    """Whatever can say what robot it is."""

    def description(self) -> RobotDescription:
        """The robot as readers give it."""


RobotSource: TypeAlias = "str | os.PathLike[str] | RobotDescription | HasDescription | Any"
"""A path; the content of a file (text or bytes of XML, an open file, an XML document of another
library, see `symgen.reading.sources`); a description, a builder, or a model of another library
(`CONVERTERS`)."""

CONVERTERS: Final[dict[str, Callable[..., RobotDescription]]] = {
    "pinocchio": _lazy_function("symgen.reading.from_pinocchio", "robot_of_pinocchio"),
    "yourdfpy": _lazy_function("symgen.reading.urdf", "robot_of_yourdfpy"),
    "mujoco": _lazy_function("symgen.reading.mjcf", "robot_of_mujoco"),
}
"""The functions that read objects of other libraries, by the package of the object's class."""
MODEL_AND_CONSTRAINTS: Final = ("model", "constraints")
"""A model with the constraints that close its loops."""
PAIR_CONVERTERS: Final = {"pinocchio": CONVERTERS["pinocchio"]}
"""Those of `CONVERTERS` that read a `MODEL_AND_CONSTRAINTS`."""


def describe(source: RobotSource, options: SourceOptions = NO_SOURCE_OPTIONS) -> RobotDescription:
    """The robot in a source of any kind. Raises SymgenError where it is not one valid robot,
    TypeError for an object of a kind that is not known."""
    if is_path(source):
        return read(source, options)
    if options.xacro_args:
        raise OptionError("--xacro-arg: only a file with xacro has arguments; remove the option")
    content = snapshot(source)
    if isinstance(content, RobotText):
        root = parse_xml(content.data, shown(content.name))
        check_joint_elements(root)
        path = content.folder / Path(content.name).name
        if needs_expansion(path, root):
            raise OptionError(
                f"{content.name}: contains xacro; save it as a .xacro file and give its path"
            )
        robot = read_element(root, path, hashlib.sha256(content.data).hexdigest(), options)
    else:
        check_single_model("a robot in Python", options)
        robot = _robot_of_object(content)
    return with_unused_folders_notice(robot, options.package_paths)


def is_path(source: RobotSource) -> "TypeGuard[str | os.PathLike[str]]":
    """Whether the source is the path of a file, not a text of XML or an object."""
    if isinstance(source, str):
        return not source.lstrip("\ufeff \t\r\n").startswith("<")
    return isinstance(source, os.PathLike)


def snapshot(source: RobotSource) -> RobotSource:
    """The content of a file in memory as a `RobotText`, which never changes; any other source as it
    is. Raises OptionError for an open file that cannot be read."""
    if is_path(source):
        return source
    try:
        content = text_in_memory(source)
    except (OSError, ValueError) as error:
        raise OptionError(f"the open file cannot be read: {reason(error)}") from None
    return source if content is None else content


def name_of(source: RobotSource) -> str:
    """The name of a source in messages and manifests: its path, or the robot's name."""
    if is_path(source):
        return os.fspath(source)
    content = snapshot(source)
    return (
        content.name
        if isinstance(content, RobotText)
        else f"{_robot_of_object(source).name} (Python)"
    )


def _robot_of_object(source: Any) -> RobotDescription:
    if isinstance(source, RobotDescription):
        return source
    given = (
        source
        if isinstance(source, tuple) and len(source) == len(MODEL_AND_CONSTRAINTS)
        else (source,)
    )
    converter = _row_of_package(type(given[0]), CONVERTERS if len(given) == 1 else PAIR_CONVERTERS)
    if converter is not None:
        return converter(*given)
    if isinstance(source, HasDescription):
        return source.description()
    kind = shown(type(source).__qualname__)
    raise TypeError(
        "a robot must be the path of a file, XML (text, bytes, an open file or a "
        "document), a symgen.Builder, a symgen.Robot, or a model of "
        f"{' or '.join(CONVERTERS)}, not {kind}"
    )


Reader = Callable[..., RobotDescription]
"""From the root element, the file's path (where other files are looked for beside it), and the
SHA-256 of its bytes; where a file may have several models, also from the name of one or None."""


@dataclass(frozen=True)
class FileFormat:
    """A format: its reader, and whether a file of it may have several models."""

    reader: Reader
    has_models: bool = False


FORMATS: Final[dict[str, FileFormat]] = {
    "mujoco": FileFormat(_lazy_function("symgen.reading.mjcf", "read_root")),
    "sdf": FileFormat(_lazy_function("symgen.reading.sdf", "read_root"), has_models=True),
}
"""The formats by root element; every other file is read as a URDF, whose reader says what is
missing."""
URDF: Final = FileFormat(urdf.read_root)


def read_element(
    root: XmlNode, path: Path, digest: str, options: SourceOptions
) -> RobotDescription:
    """The robot in the root element of a file. Raises RobotError, and OptionError for an option
    that the format does not have."""
    row = FORMATS.get(root.tag, URDF)
    if row.has_models:
        return row.reader(root, path, digest, options.model)
    check_single_model(f"'{root.source.file}'", options)
    return row.reader(root, path, digest)


def check_single_model(source: str, options: SourceOptions) -> None:
    """Raises OptionError for --model where there is only one."""
    if options.model is not None:
        raise OptionError(
            f"--model '{shown(options.model)}': {source} has one robot, because only SDF "
            "files can have several models; remove the option"
        )


def read(
    path: str | os.PathLike[str], options: SourceOptions = NO_SOURCE_OPTIONS
) -> RobotDescription:
    """The robot in a file (or pipe) of any format; one with xacro in it, whatever it is called, is
    expanded first.

    Raises RobotError, one line with file, line and element, for everything that is not one valid
    robot."""
    if denavit_hartenberg.is_table(path):
        check_single_model(f"'{shown(os.fspath(path))}'", options)
        check_not_expanded(path, options)
        return with_unused_folders_notice(denavit_hartenberg.read(path), options.package_paths)
    if extended_urdf.is_extended(path):
        return extended_urdf.extended(read(extended_urdf.urdf_beside(path), options), path)
    data = file_bytes(path)
    root = parse_xml(data, shown(os.fspath(path)))
    check_joint_elements(root)
    expansion = _expansion(path, root, options)
    if expansion is None:
        robot = read_element(root, Path(path), hashlib.sha256(data).hexdigest(), options)
        return with_unused_folders_notice(robot, options.package_paths)
    inside = parse_xml(expansion.text, f"{shown(os.fspath(path))} (expanded)")
    inside.source.notices.extend((*root.source.notices, *expansion.notices))
    check_is_robot(path, root, inside)
    try:
        robot = read_element(inside, Path(path), expansion.digest, options)
        if not is_named(path):
            check_one_root(robot)  # macros that are not defined leave links without joints
    except RobotError as error:
        if is_named(path):
            raise
        node = next(xacro_nodes(root), root)  # nobody sees the lines of the expansion
        text = f"the output of xacro is not a robot: {error.element}: {error.message}"
        raise node.with_label(f"<{shown(node.tag)}>").error(text) from None
    return with_unused_folders_notice(robot, expansion.idle)


def check_not_expanded(path: str | os.PathLike[str], options: SourceOptions) -> None:
    """Refuse what only an expansion takes. Raises OptionError."""
    if options.xacro_args:
        raise OptionError(
            f"--xacro-arg: '{shown(os.fspath(path))}' contains no xacro; remove the option"
        )
    check_folders_exist(options.package_paths)


def with_unused_folders_notice(robot: RobotDescription, unused: Sequence[str]) -> RobotDescription:
    """The robot, with a note of folders given by --package-path that nothing came from."""
    if not unused:
        return robot
    text = (
        f"no file was taken from {quoted(unused)}, because no $(find PACKAGE) refers to a "
        "package in it"
    )
    note = Notice(SourceLocation(robot.file, robot.line), "note", "--package-path", text)
    return replace(robot, notices=(*robot.notices, note))


def expanded_text(
    path: str | os.PathLike[str], options: SourceOptions = NO_SOURCE_OPTIONS
) -> bytes:
    """The bytes of a file, expanded where it has xacro in it. Raises RobotError."""
    if extended_urdf.is_extended(path):
        return expanded_text(extended_urdf.urdf_beside(path), options)
    data = file_bytes(path)
    expansion = _expansion(path, parse_xml(data, shown(os.fspath(path))), options)
    return data if expansion is None else expansion.text


def _expansion(
    path: str | os.PathLike[str], root: XmlNode, options: SourceOptions
) -> Expansion | None:
    """The expansion of a file by xacro, None where it has none in it."""
    if needs_expansion(path, root):
        if os.fspath(path) == STANDARD_INPUT:
            raise root.error("xacro on standard input is not supported; give the path of the file")
        return expand(path, root, options)
    check_not_expanded(path, options)
    return None


# -- example robots --------------------------------------------------------------------------------

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

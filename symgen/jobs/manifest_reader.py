"""A manifest read: every key and value by its type, then by what must hold of it, then against the
manifest that its own model has."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, get_type_hints

from symgen.compiler.aims import Aim
from symgen.errors import OptionError, SymgenError
from symgen.jobs.manifest import FORMAT, NAME, FunctionEntry, Manifest, text, written
from symgen.jobs.options import MODULE
from symgen.jobs.typed import Unfit, decoded, unfit
from symgen.languages.c.options import aim_of
from symgen.languages.module import Module
from symgen.mechanics.joint_forces import COMPENSATION, FRICTION
from symgen.mechanics.model import RigidBodyModel
from symgen.mechanics.model_validation import validate
from symgen.options import Choices, rows
from symgen.reading.options import RobotOptions
from symgen.text import quoted, reason, shown
from symgen.tracing.function import Function
from symgen.tracing.options import FunctionOptions
from symgen.tracing.robot import ParametricModel
from symgen.tracing.trace import trace
from symgen.tracing.wanted import Wanted

LARGEST: Final = 64 * 2**20
"""Bytes of a manifest; a robot of a thousand joints has a megabyte."""
ECHOES: Final = ("generator", "conventions", "files")
"""What does not follow from the rest of a manifest, or changes with symgen's version only."""

PREFIX: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")
FILE: Final = re.compile(r"[A-Za-z0-9_+-][A-Za-z0-9_.+-]{0,199}")
DIGEST: Final = re.compile(r"[0-9a-f]{64}")


def read(folder: Path) -> tuple[Module, dict[str, str]]:
    """The module that a folder's manifest describes, traced anew, and the hashes of its files.

    Raises OptionError, one line, where there is no manifest of this format, where one of its keys
    or values is not what it must be, and where it says something else of its files than follows
    from its own model.
    """
    path = folder / NAME
    try:
        data = _data(path)
        listed = decoded(Manifest, data)
        _check(listed)
        module = _module(listed)
        _check_derived(module, listed.files, data)
    except OSError as error:
        raise OptionError(
            f"cannot read {str(path)!r}: {reason(error)}; give a folder that symgen generate wrote"
        ) from error
    except Unfit as error:
        raise OptionError(
            f"{str(path)!r} is not a valid manifest ({error}); generate the folder again"
        ) from error
    except SymgenError as error:
        sentence = str(error).removeprefix("error: ")
        raise OptionError(f"{str(path)!r}: {sentence}; generate the folder again") from error
    return module, dict(listed.files)


def _data(path: Path) -> Any:
    """The JSON of a file. Raises Unfit, OSError, and OptionError for another format."""
    with path.open("rb") as stream:
        content = stream.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise unfit("", f"it is larger than {LARGEST >> 20} MiB")
    try:
        data = json.loads(content.decode("utf-8"), object_pairs_hook=_once)
    except Unfit:
        raise
    except (ValueError, RecursionError):  # no UTF-8, no JSON, numbers of thousands of digits
        raise unfit("", "it is not JSON") from None
    if isinstance(data, dict) and type(data.get("format")) is int and data["format"] != FORMAT:
        raise OptionError(
            f"the format is {shown(str(data['format']), 40)}, and this version reads {FORMAT}"
        )
    return data


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys occur once."""
    values = dict(pairs)
    if len(values) < len(pairs):
        raise unfit("", "a key occurs twice")
    return values


def _check(listed: Manifest) -> None:
    """Raises Unfit where values of the right type cannot be."""
    for place, holds in RULES.items():
        if not holds(listed):
            raise unfit(place, "the value is not valid")
    trouble = validate(listed.model.bodies, listed.model.base)
    if trouble is not None:
        raise unfit("model", trouble)


def _links_there(listed: Manifest) -> bool:
    links = {link.name for body in listed.model.bodies for link in body.links}
    return {*listed.runtime.parameters, *listed.runtime.wrenches} <= links


RULES: Final[dict[str, Callable[[Manifest], bool]]] = {
    "prefix": lambda m: bool(PREFIX.fullmatch(m.prefix)),
    "functions": lambda m: (
        any(row.quantities for row in m.functions.values())
        and all(map(PREFIX.fullmatch, m.functions))
    ),
    "files": lambda m: (
        bool(written(m.prefix, m.files))
        and all(FILE.fullmatch(part) for name in m.files for part in name.split("/"))
        and all(map(DIGEST.fullmatch, m.files.values()))
    ),
    "runtime.friction": lambda m: (
        set(m.runtime.friction) <= set(FRICTION)
        and len(set(m.runtime.friction)) == len(m.runtime.friction)
    ),
    "runtime.springs": lambda m: m.runtime.springs or not m.runtime.springs_input,
    "runtime.friction_width": lambda m: 0 <= m.runtime.friction_width <= 1e9,
    "runtime.friction_compensation": lambda m: m.runtime.friction_compensation in COMPENSATION,
    "runtime.parameters or runtime.wrenches": _links_there,
    "model.gravity": lambda m: max(map(abs, m.model.gravity)) <= 1e100,
}
"""What holds of every manifest beyond the types of its values, by the place that is at fault."""


def _check_derived(module: Module, files: Mapping[str, str], data: Mapping[str, Any]) -> None:
    """Raises Unfit where the manifest differs from the one that its own model has."""
    derived = json.loads(text(module, files))
    other = next((key for key in derived if key not in ECHOES and derived[key] != data[key]), None)
    if other is not None:
        raise unfit(other, "does not follow from the model")


def _module(listed: Manifest) -> Module:
    """The module, traced anew. Raises SymgenError where its functions cannot be."""
    tree, runtime, choices = listed.model, listed.runtime, _choices(listed.options)
    robot = ParametricModel(
        RigidBodyModel(tree.name, tree.bodies, tree.base, tree.gravity),
        tuple(runtime.parameters),
        runtime.gravity,
        runtime.wrenches,
        runtime.friction,
        runtime.friction_input,
        runtime.friction_width,
        runtime.springs,
        runtime.springs_input,
        runtime.friction_compensation,
        root_axes=choices[FunctionOptions].wrench_axes == "root",
        allow_unphysical=choices[RobotOptions].allow_unphysical,
    )
    computed = {name: row for name, row in listed.functions.items() if row.quantities}
    aim = aim_of(choices)
    return Module(
        listed.prefix,
        robot,
        tuple(_function(robot, name, row, aim) for name, row in computed.items()),
        listed.source,
        choices,
    )


def _choices(options: Mapping[str, object]) -> Choices:
    """The options of a module, each of its own type. Raises Unfit, and OptionError for a value that
    is none of the choices."""
    hints = {name: of for group in MODULE for name, of in get_type_hints(group).items()}
    names = [row.name for row in rows(*MODULE) if not row.local]
    if set(names) != set(options):
        other = sorted(set(names) ^ set(options))
        raise unfit("options", f"{quoted(other, 3)} missing or unknown")
    values = {name: decoded(hints[name], options[name], f"options.{name}") for name in names}
    return Choices.of(MODULE, values)


def _function(robot: ParametricModel, name: str, row: FunctionEntry, aim: Aim) -> Function:
    wanted = Wanted.parse(f"{name}={'+'.join(row.quantities)}")
    return trace(robot, wanted, row.formulations, aim)

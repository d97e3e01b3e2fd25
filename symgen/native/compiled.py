"""A compiled robot: its functions as attributes of one object."""

import importlib
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from symgen.native.store import CACHE_PACKAGE

CONSTANTS = ("JOINT_NAMES", "NQ", "NV", "PARAMETERS")
"""What an extension module has beside its functions; the last where parameters are inputs."""


class Compiled:
    """A compiled robot: each generated function is an attribute that takes and returns NumPy
    arrays; `functions` contains them by name.

    Arguments broadcast over leading axes: q has the shape (NQ,) for one state or (..., NQ) for
    many; lists of numbers are accepted. `out` are arrays that receive the results; `threads` is the
    number of threads that share the states. Functions raise ValueError for wrong shapes and
    TypeError for entries that are not real numbers. Functions that need the inverse of the mass
    matrix raise numpy.linalg.LinAlgError if it is not positive definite or a result is not finite.

    `JOINT_NAMES`, `NQ` and `NV` describe the coordinates. With runtime parameters, `PARAMETERS`
    contains the values of the robot's file, ten for each link."""

    functions: Mapping[str, Callable[..., Any]]
    JOINT_NAMES: tuple[str, ...]
    NQ: int
    NV: int

    def __init__(
        self,
        name: str,
        functions: Mapping[str, Callable[..., Any]],
        constants: Mapping[str, Any],
        module: ModuleType | None = None,
    ) -> None:
        self.__dict__.update(functions)
        self.__dict__.update(constants)
        self.__dict__.update(functions=dict(functions), _name=name, _module=module)

    @classmethod
    def of(cls, module: ModuleType) -> "Compiled":
        """The functions of an extension module."""
        constants = {k: getattr(module, k) for k in CONSTANTS if hasattr(module, k)}
        functions = {name: getattr(module, name) for name in module.FUNCTIONS}
        return cls(module.ROBOT, functions, constants, module)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        known = self.__dict__.get("functions", {})
        raise AttributeError(f"this module has no function {name!r}; it has {', '.join(known)}")

    def __repr__(self) -> str:
        return f"<compiled {self._name}: {', '.join(self.functions)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        if self.__dict__["_module"] is None:
            raise TypeError(
                "a robot that was compiled without the headers of Python cannot be pickled; "
                "install them and compile it again"
            )
        return _again, (self.__dict__["_module"].__name__.rpartition(".")[2],)


def _again(name: str) -> Compiled:
    """The compiled robot of a module that was kept."""
    return Compiled.of(importlib.import_module(f"{CACHE_PACKAGE}.{name}"))

"""A compiled robot: its functions as attributes of one object."""

import importlib
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from symgen.native.store import ROOM

CONSTANTS = ("JOINT_NAMES", "NQ", "NV", "PARAMETERS")
"""What an extension module has beside its functions; the last where parameters are inputs."""


class Compiled:
    """A compiled robot: each generated function is an attribute that takes and gives NumPy arrays,
    `functions` has them by name.

    Arguments broadcast over leading axes, as over none: q may be one state, of shape (NQ,), or
    many, of shape (..., NQ); lists of numbers do as well. Functions take `out`, arrays for the
    results, and `threads`, among which many states are shared. They raise ValueError for wrong
    shapes, TypeError for what is no real number, and, where they need the inverse of the mass
    matrix, numpy.linalg.LinAlgError where that is not positive definite or a result not finite.

    `JOINT_NAMES`, `NQ` and `NV` tell of coordinates; `PARAMETERS`, where parameters are inputs, has
    ten a link as the robot's file gives them."""

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
    return Compiled.of(importlib.import_module(f"{ROOM}.{name}"))

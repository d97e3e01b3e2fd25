"""A controller in generated C, compiled here and called through its step function.

The arrays of its structs are those that the generated header declares."""

import ctypes
import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

Array = Any
CAPACITY = 200_000
"""Numbers in a state, more than any work array has."""


class GeneratedController:
    """The step function of the controller `name` (``ur5_computed_torque``) in a generated folder,
    with its state and gains. Raises OSError and subprocess.CalledProcessError where it cannot be
    compiled."""

    def __init__(self, folder: Path, name: str) -> None:
        loaded = _compiled([x for x in folder.glob("*.c") if not x.name.endswith("_selftest.c")])
        text = (folder / f"{name}_controller.h").read_text()
        state, gains = re.findall(r"typedef struct \{(.*?)\} \w+;", text, re.DOTALL)
        prototype = re.search(rf"int {name}_step\((.*?)\);", text, re.DOTALL)
        assert prototype is not None
        is_float = any("typedef float" in x.read_text() for x in folder.glob("*.h"))
        self.real = np.float32 if is_float else np.float64
        self._scalar: Any = ctypes.c_float if is_float else ctypes.c_double
        self.state = np.zeros(CAPACITY, self.real)
        self.kept = {
            key: size for key, size in _fields(state).items() if not key.startswith("new_")
        }
        """The arrays that last from step to step, with their sizes; they come first."""
        self.gain_sizes = _fields(gains)
        self.gains = np.zeros(sum(self.gain_sizes.values()), self.real)
        arguments = prototype[1].split(",")[2:]
        self.input_sizes = dict[str, int]()
        self.results = dict[str, Array]()
        for argument in arguments:
            name_of = re.findall(r"\w+", argument.partition("[")[0])[-1]
            size = int(argument.partition("[")[2].partition("]")[0] or 1)
            if "[" in argument and "const" not in argument:
                self.results[name_of] = np.zeros(size, self.real)
            else:
                self.input_sizes[name_of] = size
        self._step = getattr(loaded, f"{name}_step")
        self._reset = getattr(loaded, f"{name}_reset")

    def set_gains(self, **given: Any) -> None:
        """New gains, one number or one for each entry."""
        arrays = (
            np.broadcast_to(np.array(given[key], self.real), (size,))
            for key, size in self.gain_sizes.items()
        )
        self.gains[:] = np.concatenate([*arrays]) if self.gain_sizes else 0

    def reset(self) -> None:
        """The state at the start."""
        self._reset(self._pointer(self.state), self._pointer(self.gains))

    @property
    def lasting(self) -> Array:
        """A copy of what lasts from step to step."""
        return self.state[: sum(self.kept.values())].copy()

    def status(self, **given: Any) -> int:
        """The status of a step; its `results` are arrays by name."""
        values: list[Any] = []
        for key in self.input_sizes:
            array = np.ascontiguousarray(given[key], dtype=self.real)
            values.append(self._scalar(array.ravel()[0]) if key == "h" else self._pointer(array))
        results = [self._pointer(x) for x in self.results.values()]
        gains, state = self._pointer(self.gains), self._pointer(self.state)
        return int(self._step(gains, state, *values, *results))

    def step(self, **given: Any) -> Array:
        """The first result of a step. Raises ArithmeticError where its status is not 0."""
        status = self.status(**given)
        if status:
            raise ArithmeticError(f"status {status}")
        return next(iter(self.results.values())).copy()

    def _pointer(self, array: Array) -> Any:
        """A pointer that keeps the array alive."""
        return array.ctypes.data_as(ctypes.POINTER(self._scalar))


def _fields(struct: str) -> dict[str, int]:
    """The arrays of a struct with sizes in numbers."""
    return {key: int(size) for key, size in re.findall(r"_real (\w+)\[(\d+)\]", struct)}


def _compiled(sources: Sequence[Path]) -> ctypes.CDLL:
    """The library of C sources. It is built outside their folder, which stays as it was
    generated."""
    with tempfile.TemporaryDirectory(prefix="symgen-controller-") as place:
        library = str(Path(place) / "controller.so")
        command = ["cc", "-std=c99", "-O1", "-fPIC", "-shared", *map(str, sources)]
        subprocess.run([*command, "-lm", "-o", library], check=True)
        return ctypes.CDLL(library)

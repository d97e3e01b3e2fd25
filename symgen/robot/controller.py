"""A controller with its state in Python, which corresponds to the struct and the `_step` function
of generated C. It runs compiled functions."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from symgen.algorithms.controllers import (
    CONTROLLERS,
    UNIT_TOLERANCE,
    VALID_RANGES,
    quaternions_in,
    unknown_controller,
)
from symgen.algorithms.registry import INPUTS
from symgen.errors import OptionError
from symgen.mechanics.coupling import coupling_of
from symgen.native.library import MASKED, is_masked
from symgen.numbers.scalar import AnyArray

if TYPE_CHECKING:
    from symgen.robot.robot import Robot

NEXT_STATE_SUFFIX: Final = "_next"
"""How outputs end that are of use only to the next step."""


def check_ranges(controller: str, arrays: Mapping[str, AnyArray]) -> None:
    """Raises OptionError for an input of a controller with a value outside its range."""
    for name, values in arrays.items():
        valid = VALID_RANGES.get(name)
        bad = next((x for x in values if valid and not valid.contains(x)), None)
        if valid and bad is not None:
            raise OptionError(f"{controller}: {name} has {bad:g}; give {valid.description}")


class Controller:
    """A controller or observer with its state.

    >>> observer = robot.controller("momentum_observer", gain=50.0)
    >>> tau_ext = observer.step(q=q, qd=qd, tau=tau, h=0.001)

    `gains` and `state` are arrays by name; ``symgen list`` and docs/controllers.md state their
    units. Gains can be changed between steps; `reset` restores the initial state. Raises the errors
    of `Robot.compile`."""

    def __init__(self, robot: "Robot", name: str, gains: Mapping[str, Any], **options: Any) -> None:
        if name.partition(":")[0] not in CONTROLLERS:
            raise unknown_controller(name)
        self.row = CONTROLLERS[name.partition(":")[0]]
        traced = robot.trace(name, **options)
        self._sizes = {name: math.prod(shape) for name, shape in traced.program.inputs}
        self._outputs = [out.name for out in traced.program.outputs]
        self._function = robot.compile(name, **options).functions[traced.name]
        self._coupling = coupling_of(robot.model)
        self.gains = {k: self._array(k, gains[k]) for k in self._checked_gains(name, gains)}
        self._check_valid(self.gains)
        self.state: dict[str, AnyArray] = {}
        self.reset()

    def _checked_gains(self, name: str, gains: Mapping[str, Any]) -> list[str]:
        """The names of the gains. Raises OptionError where one is missing or unknown."""
        known = [gain for gain in self.row.gains if gain in self._sizes]
        for gain in known:
            if gain not in gains:
                about = f"{INPUTS[gain].meaning}, in {INPUTS[gain].unit}"
                raise OptionError(f"{name} has a gain {gain} ({about}); give {gain}=...")
        for gain in gains:
            if gain not in known:
                raise OptionError(f"{name} has no gain {gain}; it has {', '.join(known)}")
        return known

    def _array(self, name: str, value: Any) -> AnyArray:
        """An input as an array of its size; one number is that of all entries."""
        if is_masked(value):
            raise OptionError(f"{name} {MASKED}")
        array = np.asarray(value, dtype=float)
        try:
            return np.array(np.broadcast_to(array.ravel(), (self._sizes[name],)))
        except ValueError:
            size = self._sizes[name]
            raise OptionError(f"{name}: give {size} numbers or one, not {array.size}") from None

    def _check_valid(self, arrays: Mapping[str, AnyArray]) -> None:
        """Raises OptionError for an input outside its range and for a quaternion that is not of
        unit length; NaN and infinities of other inputs show in the results."""
        check_ranges(self.row.name, arrays)
        for name, values in arrays.items():
            for four in quaternions_in(name, self._coupling):
                square = float(values[four] @ values[four])
                if abs(square - 1.0) > UNIT_TOLERANCE:
                    raise OptionError(
                        f"{self.row.name}: the quaternion in {name} has the length "
                        f"{math.sqrt(square):g}; give one of length 1"
                    )

    def reset(self) -> None:
        """Set the state to its initial value."""
        self.state = {name: self._initial_value(name) for name in self.row.state}

    def _initial_value(self, name: str) -> AnyArray:
        initial = self.row.start.get(name)
        if isinstance(initial, str):
            return self.gains[initial].copy()
        return np.array(self.row.initial_values(name, self._sizes[name]))

    def step(self, **measured: Any) -> AnyArray:
        """Compute one step; returns the joint forces to apply, or the estimate of an observer.

        `measured` contains the arrays of docs/controllers.md by name, and the sample time h (s) if
        the controller has one. Raises TypeError for missing or unknown names, OptionError for a
        gain, sample time or quaternion that is not valid, and ArithmeticError if a result is not
        finite; the state is then unchanged."""
        names = [name for name in self._sizes if name not in self.gains and name not in self.state]
        if set(names) != set(measured):
            raise TypeError(f"{self.row.name}: a step takes {', '.join(names)} by name")
        arrays = {**self.gains, **self.state}
        arrays |= {name: self._array(name, measured[name]) for name in names}
        self._check_valid({name: arrays[name] for name in (*self.gains, *names)})
        out = self._function(*(arrays[name] for name in self._sizes))
        results = dict(zip(self._outputs, out if isinstance(out, tuple) else (out,), strict=True))
        if not all(np.isfinite(x).all() for x in results.values()):
            raise ArithmeticError(f"{self.row.name}: the results of this step are not finite")
        self.state = {name: results[out] for name, out in self.row.state.items()}
        return next(x for name, x in results.items() if not name.endswith(NEXT_STATE_SUFFIX))

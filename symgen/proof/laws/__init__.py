"""The laws by quantity: what it must be, by an algorithm that it does not share. They are in the
files of this folder; to import them is to register them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Final

from symgen.algorithms.registry import Quantity
from symgen.numbers.caching import cached_method
from symgen.numbers.decimals import decimal_precision
from symgen.numbers.scalar import DecimalArray
from symgen.proof.states import DIGITS, States
from symgen.tracing.robot import ParametricModel

Compute = Callable[..., Any]
"""From a batch of states the outputs of a quantity, each an array with the states first; of a
link's quantity with its name as `link`."""


class LawError(ValueError):
    """A checked quantity cannot be what it is meant to be."""


@dataclass(frozen=True, slots=True)
class Law:
    """A reference implementation of one quantity; `reference` describes it in one phrase. `order`
    determines its cost: how many axes of steps, or of parameters with steps, are nested in it."""

    reference: str
    order: int
    compute: Compute


LAWS: Final[dict[str, Law]] = {}
"""The laws by name of the quantity; that of a link's without the link."""


def law(quantity: str, judge: str, order: int = 0) -> Callable[[Compute], Compute]:
    """Register the decorated function as the reference of a quantity. Raises ValueError if it has
    one."""
    if quantity in LAWS:
        raise ValueError(f"{quantity} has two laws")

    def register(compute: Compute) -> Compute:
        LAWS[quantity] = Law(judge, order, compute)
        return compute

    return register


def law_of(quantity: Quantity) -> Law | None:
    """The reference of a quantity, None if there is none."""
    law = LAWS.get(quantity.name.removesuffix(f":{quantity.link}"))
    if law is None or not quantity.link:
        return law
    return Law(law.reference, law.order, partial(law.compute, **{quantity.subject: quantity.link}))


@dataclass(frozen=True, eq=False)
class LawEvaluator:
    """The laws at some states of a robot, which share what several of them start from.

    `inputs` have a row for each state: those of the quantities, and of ``pi``, ``g``, ``wrench``,
    ``friction`` and ``springs`` those that the robot has."""

    robot: ParametricModel
    inputs: Mapping[str, Sequence[Sequence[float]]]

    @cached_method
    def _states(self, has_external_forces: bool, has_springs: bool) -> States:
        """The states, with or without friction and external wrenches, and springs."""
        return States.of(self.robot, self.inputs, has_external_forces, has_springs)

    def of(self, quantity: Quantity) -> dict[str, DecimalArray]:
        """The values that a quantity with a law must have: by output a row for each state, in many
        digits."""
        law = law_of(quantity)
        if law is None:
            raise KeyError(quantity.name)
        with decimal_precision(DIGITS):
            robot = self.robot
            acting = robot.friction or robot.wrenches or robot.thrusters
            loaded = quantity.depends_on_external_forces and bool(acting)
            x = self._states(loaded, quantity.depends_on_springs and robot.springs)
            result = law.compute(x)
            arrays = result if isinstance(result, tuple) else (result,)
            return {
                out.name: array.reshape(x.shape[0], -1)
                for out, array in zip(quantity.outputs, arrays, strict=False)
            }


def evaluate_law(
    robot: ParametricModel, quantity: Quantity, inputs: Mapping[str, Sequence[Sequence[float]]]
) -> dict[str, DecimalArray]:
    """The values that one quantity must have (see `LawEvaluator`)."""
    return LawEvaluator(robot, inputs).of(quantity)


for _module in sorted(module.name for module in iter_modules(__path__)):
    import_module(f"{__name__}.{_module}")

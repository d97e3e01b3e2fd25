"""A tape copied to another: the same values, structural zeros and signs of divisors."""

from symgen.compiler.evaluate import evaluate
from symgen.compiler.passes import pivots
from symgen.compiler.program import Program
from symgen.compiler.transforms import copy_outputs
from symgen.numbers.scalar import ZERO
from symgen.reading.assemble import load
from symgen.tracing.request import FunctionRequest
from symgen.tracing.robot import ParametricModel
from symgen.tracing.trace import trace
from tests.support.tools import ROOT


def made():
    """A tape whose divisor is held with the other sign."""
    program = Program()
    x, y = program.input("x", (2,))
    with program.section("step"):
        d = (x * y - 2.0).named("d")
        r = 1.0 / d
    program.output("z", (3,), [r * x, ZERO, -(y - x) / d])
    program.divisors = {
        k: ref._replace(negative=not ref.negative) for k, ref in program.divisors.items()
    }
    return program


def test_values_zeros_names_and_divisors_come_along():
    old, new = made(), Program()
    inputs = {"x": new.input("x", (2,))}
    found = copy_outputs(old, new, inputs)["z"]
    assert found[1] is ZERO
    new.output("z", (3,), found)
    at = {"x": [0.3, 0.7]}
    assert evaluate(new, at) == evaluate(old, at)
    assert [ref.negative for ref in pivots(new)] == [ref.negative for ref in pivots(old)]
    assert any(ref.negative for ref in pivots(new))
    assert "d" in {name for name, _ in new.names.values()} and "step" in new.sections


def test_what_must_be_positive_is_asked_for_again():
    """The first entry of a pivot of two coordinates, which no division watches."""
    wanted = FunctionRequest.parse("mass_matrix_inverse")
    way = {"mass_matrix_inverse": "forward_dynamics_by_pairs/minimal"}
    robot = ParametricModel(load(ROOT / "robots/panda_arm.urdf").model)
    old, new = trace(robot, wanted, way).program, Program()
    inputs = {name: new.input(name, shape) for name, shape in old.inputs}
    for out in old.outputs:
        new.output(out.name, out.shape, copy_outputs(old, new, inputs)[out.name])
    assert len(old.positive_signs) == 3 and len(pivots(new)) == len(pivots(old)) == 6


def test_what_is_there_already_is_shared():
    old, new = made(), Program()
    inputs = {"x": new.input("x", (2,))}
    copy_outputs(old, new, inputs)
    size = len(new.nodes)
    copy_outputs(old, new, inputs)
    assert len(new.nodes) == size

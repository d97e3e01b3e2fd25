"""Every quantity has a law that shares no algorithm with it, agrees with it, and is caught without
one."""

import ast
import re
from dataclasses import replace
from functools import cache
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest

from symgen.algorithms import INPUTS, LINK_QUANTITIES, QUANTITIES
from symgen.algorithms.newton_euler import inverse_dynamics
from symgen.algorithms.registry import Array, quantity
from symgen.compiler.evaluate import evaluate
from symgen.compiler.program import Program
from symgen.jobs.api import generate
from symgen.jobs.verify import verify
from symgen.languages.module import Module, RobotOrigin
from symgen.mechanics.parameters import WHOLE
from symgen.options import Choices
from symgen.proof.laws import LAWS, LawError, evaluate_law, law
from symgen.proof.laws import base_regressors as base
from symgen.proof.laws.frame_laws import orientation_error
from symgen.proof.reference_values import EvaluatorsByCount, reference_results
from symgen.proof.states import decimals
from symgen.reading.assemble import load
from symgen.tracing.function import Function, run_part
from symgen.tracing.request import FunctionRequest, quantities_of_robot
from symgen.tracing.robot import ParametricModel
from symgen.tracing.trace import every_formulation, trace
from tests.support import every_joint, resisted_joints
from tests.support.joint_kinds import KINDS
from tests.support.public_robots import example_robot
from tests.support.random_trees import ROBOTS, model
from tests.support.tools import ROOT, generated, robot_file

WILD = ROOT / "tests" / "wild"
EVERY = [*QUANTITIES, *LINK_QUANTITIES]
FRICTION = {"friction": ("viscous", "coulomb"), "runtime_friction": True}
PANDA = "panda_description/urdf/panda.urdf"


def sprung(robot):
    """A model with a spring in each joint that can have one."""
    bodies = (
        replace(b, joint=replace(b.joint, stiffness=1.5 + k, reference=0.3 - 0.2 * k))
        if b.has_spring
        else b
        for k, b in enumerate(robot.bodies)
    )
    return replace(robot, bodies=tuple(bodies))


def everything():
    """A tree with every joint type, rotors and mimicking joints, all that can come at run time
    doing so: parameters of bodies and of single links, gravity, wrenches, smooth friction,
    springs."""
    tree = every_joint.made("everything").model
    links = [link.name for body in tree.moving for link in body.links]
    return ParametricModel(
        tree,
        tuple(links[::2]),
        True,
        (links[0], links[-1]),
        friction_width=0.1,
        springs=True,
        runtime_springs=True,
        **FRICTION,
    )


AT_RUN_TIME = "every joint, all at run time"
ROBOTS_BY_NAME = {
    "ur5": lambda: ParametricModel(model("ur5"), **FRICTION),
    "panda with fingers": lambda: ParametricModel(
        load(example_robot(PANDA)).model, friction=("viscous",)
    ),
    "biped, floating": lambda: ParametricModel(load(robot_file("biped"), base="floating").model),
    "every joint": lambda: ParametricModel(every_joint.made("everything").model, **FRICTION),
    AT_RUN_TIME: everything,
    "two floating": lambda: ParametricModel(every_joint.made("two floating").model),
    "geared mimic": lambda: ParametricModel(
        sprung(every_joint.made("geared mimic").model), wrenches=("link3",), springs=True
    ),
    "two leaders": lambda: ParametricModel(
        sprung(load(WILD / "two_leaders.urdf").model), springs=True
    ),
    "differential, motors": lambda: ParametricModel(
        sprung(load(WILD / "differential.urdf", coordinates="actuators").model),
        springs=True,
        **FRICTION,
    ),
    "ball on universal": lambda: ParametricModel(every_joint.made("few ball on universal").model),
    "screw on tube": lambda: ParametricModel(
        every_joint.made("few screw on tube").model, **FRICTION
    ),
    "planar square": lambda: ParametricModel(every_joint.made("planar square").model),
    **resisted_joints.runtime_models(**FRICTION),
} | {
    kind: lambda kind=kind: ParametricModel(every_joint.made(kind).model)
    for kind in every_joint.ALONE
}
made = cache(lambda name: ROBOTS_BY_NAME[name]())


def of_link(name, robot):
    """A quantity of a link or joint for the last of them, in the middle of a file's names."""
    return f"{name}:{subjects(name, robot.model)[-1]}" if name in LINK_QUANTITIES else name


def subjects(name, model):
    """What a quantity of a link or joint may belong to: links of the base first, or joints."""
    if LINK_QUANTITIES[name].subject == "joint":
        joints = [joint for _, joint in model.joints if not joint.type.is_rotor]
        if not name.startswith("joint_wrench"):
            joints = [joint for joint in joints if len(joint.type.velocities) == 1]
        return [joint.name for joint in joints]
    moving = [link.name for body in model.moving for link in body.links]
    return [*(link.name for link in model.base), *moving]


@cache
def judges(name):
    """The laws at a random state of a robot with the user's parameters, the same for all
    quantities, as `verify` asks them: what several laws start from is computed once."""
    robot = made(name)
    some = trace(robot, FunctionRequest.parse("inverse_dynamics"))
    closed = {
        given
        for given, is_open in (
            ("g", robot.runtime_gravity),
            ("wrench", robot.wrenches),
            ("friction", robot.runtime_friction),
            ("springs", robot.runtime_springs),
        )
        if not is_open
    }
    every = SimpleNamespace(inputs=tuple({*INPUTS} - closed), regroups=some.regroups)
    module = Module("m", robot, (every,), RobotOrigin("f", "0"), Choices({}))
    ((inputs, _),) = module.random_states(Random(3), 1)
    return EvaluatorsByCount(
        robot, [inputs | {"pi": [x for ten in robot.blocks.values() for x in ten]}]
    )


def agrees(name, wanted):
    """A quantity of a robot gives in every formulation what its law says; the judgement of that.

    Algorithms run on floats. Tapes of joints of every type are compared with those in
    tests/algorithms/test_every_joint.py; here one is made of what can come at run time."""
    robot, (state,) = made(name), judges(name).states
    (quantity,) = quantities_of_robot(robot, wanted.quantities)
    suited = [f for f in quantity.formulations if f.applicable(robot.regroups[WHOLE].layout)]
    if not suited:
        pytest.skip(quantity.formulations[0].applicable.text)
    function = Function(wanted.name, ((quantity, suited[0]),), {}, Program())
    if name == AT_RUN_TIME:
        function, *_ = every_formulation(robot, wanted, {quantity.name: suited[0].name})
    (found,) = reference_results(judges(name), function)
    assert found.states == 1 and not found.problem
    for formulation in suited:
        regroup = robot.regroups[formulation.regrouping]
        regroup = regroup if formulation.regrouping == WHOLE else regroup.with_tip_frames
        par = evaluate(regroup.program, {"pi": state["pi"]})["par"]
        got = run_part((quantity, formulation), regroup, state | {"par": par})
        assert got.keys() == found.wanted.keys()
        # a residual is a difference of joint forces
        terms = state["tau"] if quantity.name == "forward_dynamics_residual" else ()
        for output, (values,) in found.wanted.items():
            close(np.array(got[output], float), values, terms)
    return found


LONG = re.compile(
    r"hessian|second_deriv|matrix_gradient|euler_gradient|rk4|_by_parameters|least_squares|slotine_li$"
)
"""Quantities whose laws take seconds: of the robot with everything that is small, and in a sweep
of all."""


def cases():
    for robot in ROBOTS_BY_NAME:
        for name in EVERY:
            slow = LONG.search(name) and robot != "geared mimic"
            yield pytest.param(robot, name, marks=[pytest.mark.slow] if slow else [])


@pytest.mark.parametrize("robot, name", list(cases()))
def test_quantities_agree_with_their_laws(robot, name):
    if name in LINK_QUANTITIES and not subjects(name, made(robot).model):
        pytest.skip("no joint has one coordinate")
    found = agrees(robot, FunctionRequest.parse(of_link(name, made(robot))))
    assert found.reference == LAWS[name].reference


@pytest.mark.parametrize("robot", ["ur5", "geared mimic", "biped, floating", "every joint"])
@pytest.mark.parametrize("name", LINK_QUANTITIES)
def test_links_of_the_base_and_of_the_first_body_and_the_first_joints_have_the_law_too(robot, name):
    model = made(robot).model
    first = {x.name for x in (*model.base[:1], *model.moving[0].links[:1])}
    named = subjects(name, model)
    for subject in [x for x in named if x in first] or named[:2]:
        agrees(robot, FunctionRequest.parse(f"{name}:{subject}"))


def close(got, wanted, terms=()):
    size = np.abs([*np.ravel(wanted), *terms]).max(initial=0.0)
    assert np.abs(got - wanted).max(initial=0.0) <= 1e-11 * max(size, 1e-2)


def test_joints_of_every_type_are_judged():
    kinds = {joint.type.name for name in ROBOTS_BY_NAME for _, joint in made(name).model.joints}
    assert kinds >= {*KINDS}, "give it a row in KINDS of tests/support/joint_kinds.py"


def test_every_quantity_has_a_law():
    """Whoever adds a quantity writes its law, in symgen/proof/laws."""
    missing, idle = sorted(set(EVERY) - set(LAWS)), sorted(set(LAWS) - set(EVERY))
    assert not missing, f"write laws in symgen/proof/laws for {', '.join(missing)}"
    assert not idle, f"these laws judge nothing: {', '.join(idle)}"


PROOF = ROBOTS.parent / "symgen/proof"
REFERENCES = ("textbook", "reference_kinematics", "reference_model", "tangent", "states")


@pytest.mark.parametrize(
    "name",
    [
        path.relative_to(ROBOTS.parent).as_posix()
        for path in (*sorted(PROOF.glob("laws/*.py")), *(PROOF / f"{x}.py" for x in REFERENCES))
    ],
)
def test_laws_share_no_algorithm_with_what_they_judge(name):
    """Of the algorithms they know the list of quantities and constants of methods, of mechanics
    what a robot is; the choice of base parameters is what `base_regressors` checks, and which
    coordinates motors replace is a convention."""
    allowed = {"symgen.algorithms.registry", "symgen.mechanics.spatial", "symgen.mechanics.model"}
    allowed |= {"symgen.mechanics.coupling", "symgen.mechanics.spatial", "symgen.tracing.robot"}
    allowed |= {"symgen.mechanics.fluid"}
    if name.endswith("laws/motor_laws.py"):
        allowed |= {"symgen.mechanics.joint_listing"}
    if name.endswith("laws/base_regressors.py"):
        allowed |= {
            f"symgen.mechanics.{m}" for m in ("canonical_frames", "independence", "parameters")
        }
    found = {
        node.module
        for node in ast.walk(ast.parse((ROBOTS.parent / name).read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
        and not all(imported.name.isupper() for imported in node.names)
    }
    own = ("symgen.numbers.", "symgen.proof")
    strangers = {m for m in found - allowed if m.startswith("symgen.") and not m.startswith(own)}
    assert not strangers


# -- what is wrong, and what no one judges ---------------------------------------------------------


@pytest.fixture
def power(monkeypatch):
    """A quantity that someone adds, with a wrong formula: the square of the power."""
    monkeypatch.setitem(QUANTITIES, "power", None)
    del QUANTITIES["power"]

    @quantity(
        "power",
        "qd^T tau",
        inputs=("q", "qd", "qdd"),
        outputs=(Array("wrong_power", "power of the drives", "W", (1,)),),
        source="nowhere",
    )
    def nonsense(system, q, qd, qdd):
        tau = inverse_dynamics(system, q, qd, qdd)
        total = sum(a * b for a, b in zip(qd, tau, strict=True))
        return [total * total]

    yield
    LAWS.pop("power", None)


@pytest.mark.parametrize("languages", [("c", "python"), ("python",)])
def test_what_no_one_judges_does_not_pass(power, languages, tmp_path):
    generate("robots/pendulum.urdf", tmp_path, languages, quantities=("power", "gravity"))
    failed = [check for check in verify(tmp_path) if not check.passed]
    assert [check.what for check in failed] == ["power: has no independent reference"]


def test_a_wrong_formula_is_caught_by_its_law(power, tmp_path):
    @law("power", "the work of the reference forces")
    def right(x):
        from symgen.proof.laws.dynamics import tau

        return (tau(x) * x.inputs["qd"]).sum(-1)[..., None]

    generate("robots/pendulum.urdf", tmp_path, ("c",), quantities=("power",))
    failed = [check.what for check in verify(tmp_path) if not check.passed]
    assert "power: matches the reference (the work of the reference forces)" in failed
    assert "C compiles without a warning, self-test passes" in failed


def test_base_parameters_that_leave_something_out_are_no_base_parameters(monkeypatch):
    robot, keys = ParametricModel(model("scara")), base.keys_of
    inputs = {"ten": [[0.1] * 10 * robot.model.dof]}
    monkeypatch.setattr(base, "keys_of", lambda x: keys(x)[:-1])
    with pytest.raises(LawError, match="omit parameters"):
        evaluate_law(robot, QUANTITIES["base_parameters"], inputs)
    monkeypatch.setattr(base, "keys_of", lambda x: (*keys(x), (1, 0)))
    with pytest.raises(LawError, match="not independent"):
        evaluate_law(robot, QUANTITIES["base_parameters"], inputs)


@pytest.mark.parametrize("angle", [1e-9, 0.3, 2.0, 3.0, np.pi - 1e-6, np.pi - 1e-14])
def test_the_reference_of_an_orientation_error_is_exact_near_half_turns(angle):
    """Twice the sine of half the angle, about the axis, although the matrix is rounded."""
    axis = np.array([2.0, -1.0, 2.0]) / 3
    cross = np.cross(np.eye(3), axis)
    rotation = np.eye(3) - np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
    here = decimals(np.concatenate([rotation.T.ravel(), np.zeros(3)])[None])
    found = orientation_error(here, decimals(np.array([[0.0, 0.0, 0.0, 1.0]])))
    wanted = 2 * np.sin(angle / 2) * axis
    assert np.abs(np.abs(found[0].astype(float)) - np.abs(wanted)).max() < 1e-14
    if angle < np.pi - 1e-9:
        sign = np.sign(float(found[0, 0]) * wanted[0])
        assert np.abs(sign * found[0].astype(float) - wanted).max() < 1e-14


def test_no_time_step_of_a_test_state_is_zero():
    """The observer divides by it."""
    module, _ = generated("pendulum", quantities=("momentum_observer",))

    class Small(Random):
        def uniform(self, a, b):
            return super().uniform(a, b) * 1e-3

    assert all(inputs["h"] == (1e-4,) for inputs, _ in module.draw(Small(0), 5))

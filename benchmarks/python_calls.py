"""``python -m benchmarks.python_calls``: calls from Python beside Pinocchio, MuJoCo, Drake and frax.

One state, and a batch of 4,096, per quantity. All take turns in one process, round after round, on
one core; the figure is the minimum, ratios are of one run. Results were compared first. What is not
installed is left out."""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from xml.etree import ElementTree

for _name, _value in {
    "JAX_PLATFORMS": "cpu",
    "JAX_ENABLE_X64": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
}.items():
    os.environ.setdefault(_name, _value)  # one core and doubles for all; frax wants it so, too

import click  # noqa: E402
import numpy as np  # noqa: E402

PAGE: Final = Path("docs/benchmarks/python.md")
ROBOTS: Final = {"UR5": "robots/ur5.urdf", "Panda": "robots/panda.urdf"}
MANY: Final = 4096
FEW: Final = 256
"""States of a batch for tools that have none and are called in a loop: time is per state."""

ROUNDS: Final = 15
SLICE: Final = 4e6
"""Nanoseconds of a turn."""

TOLERANCE: Final = 1e-7
QUANTITIES: Final = {
    "inverse_dynamics": ("q", "qd", "x"),
    "gravity": ("q",),
    "bias": ("q", "qd"),
    "mass_matrix": ("q",),
    "coriolis_matrix": ("q", "qd"),
    "forward_dynamics": ("q", "qd", "x"),
    "inverse_dynamics_derivatives": ("q", "qd", "x"),
    "regressor": ("q", "qd", "x"),
    "com_jacobian": ("q",),
    "frame_jacobian": ("q",),
}
"""By quantity: its inputs; x are accelerations or torques."""

LINK: Final = "flange"
NAMED: Final = {"frame_jacobian": f"frame_jacobian_aligned:{LINK}"}
"""What is asked of symgen for a quantity that is no name there."""

AIMED: Final = (
    "inverse_dynamics",
    "mass_matrix",
    "coriolis_matrix",
    "forward_dynamics",
    "inverse_dynamics_derivatives",
)
"""Where one call was to take at most a quarter of Pinocchio's time."""

Call = Callable[..., Any]
States = Mapping[str, Any]


@dataclass(frozen=True)
class Turn:
    """A function of a tool to be timed: a call computes so many states."""

    tool: str
    quantity: str
    many: bool
    call: Callable[[], Any]
    states: int


@dataclass(frozen=True)
class Tool:
    """A library: its functions of one state by quantity, of many where it has such."""

    name: str
    one: Mapping[str, Call]
    many: Mapping[str, Call]
    given: Callable[[Any], Any] = lambda array: array
    """An array as the library takes it."""

    def turns(self, states: States, quantity: str) -> Iterator[Turn]:
        """One call, and a batch, in a loop where the library has none."""
        names = QUANTITIES[quantity]
        if quantity in self.one:
            first = [self.given(states[name][0].copy()) for name in names]
            run = self.one[quantity]
            yield Turn(self.name, quantity, False, lambda: run(*first), 1)
        if quantity in self.many:
            every = [self.given(states[name]) for name in names]
            batch = self.many[quantity]
            yield Turn(self.name, quantity, True, lambda: batch(*every), MANY)
        elif quantity in self.one:
            rows = [[*map(self.given, states[name][:FEW])] for name in names]
            yield Turn(self.name, quantity, True, lambda: _loop(run, rows), FEW)


def _loop(call: Call, rows: list[list[Any]]) -> None:
    for row in zip(*rows, strict=True):
        call(*row)


# -- the tools -------------------------------------------------------------------------------------


def symgen_of(file: str) -> Tool:
    """Ours; the first result of several counts as that of the quantity."""
    import symgen

    asked = (f"{name}={NAMED[name]}" if name in NAMED else name for name in QUANTITIES)
    functions = symgen.compile(file, *asked).functions
    return Tool("symgen", functions, functions)


def pinocchio_of(file: str) -> Tool:
    import pinocchio as pin

    model = pin.buildModelFromUrdf(file)
    data, flange = model.createData(), model.getFrameId(LINK)
    one = {
        "inverse_dynamics": lambda q, v, a: pin.rnea(model, data, q, v, a),
        "gravity": lambda q: pin.computeGeneralizedGravity(model, data, q),
        "bias": lambda q, v: pin.nonLinearEffects(model, data, q, v),
        "mass_matrix": lambda q: pin.crba(model, data, q),
        "coriolis_matrix": lambda q, v: pin.computeCoriolisMatrix(model, data, q, v),
        "forward_dynamics": lambda q, v, tau: pin.aba(model, data, q, v, tau),
        "inverse_dynamics_derivatives": lambda q, v, a: pin.computeRNEADerivatives(
            model, data, q, v, a
        ),
        "regressor": lambda q, v, a: pin.computeJointTorqueRegressor(model, data, q, v, a),
        "com_jacobian": lambda q: pin.jacobianCenterOfMass(model, data, q),
        "frame_jacobian": lambda q: pin.computeFrameJacobian(
            model, data, q, flange, pin.LOCAL_WORLD_ALIGNED
        ),
    }
    return Tool("Pinocchio", one, {})


def mujoco_of(file: str) -> Tool:
    import mujoco

    spec = mujoco.MjSpec.from_file(file)
    spec.compiler.balanceinertia, spec.compiler.boundmass = False, 0
    for joint in spec.joints:
        joint.limited = mujoco.mjtLimited.mjLIMITED_FALSE
    model = spec.compile()
    model.dof_damping[:], model.dof_frictionloss[:] = 0, 0
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    data, full, bias = mujoco.MjData(model), np.zeros((model.nv, model.nv)), np.zeros(model.nv)

    def inverse(q: Any, v: Any, a: Any) -> Any:
        data.qpos[:], data.qvel[:], data.qacc[:] = q, v, a
        mujoco.mj_inverse(model, data)
        return data.qfrc_inverse

    def forward(q: Any, v: Any, tau: Any) -> Any:
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, v, tau
        mujoco.mj_forward(model, data)
        return data.qacc

    def mass(q: Any) -> Any:
        data.qpos[:] = q
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_crb(model, data)
        mujoco.mj_fullM(model, data, full)
        return full

    def nonlinear(q: Any, v: Any) -> Any:
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)
        mujoco.mj_rne(model, data, 0, bias)
        return bias

    one = {
        "inverse_dynamics": inverse,
        "forward_dynamics": forward,
        "mass_matrix": mass,
        "bias": nonlinear,
    }
    return Tool("MuJoCo", one, {})


def drake_of(file: str) -> Tool:
    """Derivatives by its automatic differentiation, forward dynamics as the plant's equations of
    motion have them."""
    from pydrake.autodiffutils import AutoDiffXd, ExtractGradient, InitializeAutoDiff
    from pydrake.multibody.tree import JacobianWrtVariable, MultibodyForces, MultibodyForces_

    plant = _plant(file)
    context, none = plant.CreateDefaultContext(), MultibodyForces(plant)
    dual = plant.ToAutoDiffXd()
    dual_context, dual_none = dual.CreateDefaultContext(), MultibodyForces_[AutoDiffXd](dual)
    applied = plant.get_applied_generalized_force_input_port()

    def at(q: Any, v: Any) -> None:
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)

    def inverse(q: Any, v: Any, a: Any) -> Any:
        at(q, v)
        none.SetZero()
        plant.CalcForceElementsContribution(context, none)
        return plant.CalcInverseDynamics(context, a, none)

    def gravity(q: Any) -> Any:
        plant.SetPositions(context, q)
        return -plant.CalcGravityGeneralizedForces(context)

    def bias(q: Any, v: Any) -> Any:
        at(q, v)
        return plant.CalcBiasTerm(context) - plant.CalcGravityGeneralizedForces(context)

    def mass(q: Any) -> Any:
        plant.SetPositions(context, q)
        return plant.CalcMassMatrix(context)

    def forward(q: Any, v: Any, tau: Any) -> Any:
        at(q, v)
        applied.FixValue(context, tau)
        return plant.EvalTimeDerivatives(context).CopyToVector()[len(q) :]

    def derivatives(q: Any, v: Any, a: Any) -> Any:
        n = len(q)
        both = InitializeAutoDiff(np.concatenate((q, v)).reshape(-1, 1)).ravel()
        dual.SetPositions(dual_context, both[:n])
        dual.SetVelocities(dual_context, both[n:])
        dual_none.SetZero()
        dual.CalcForceElementsContribution(dual_context, dual_none)
        tau = dual.CalcInverseDynamics(dual_context, [*map(AutoDiffXd, a)], dual_none)
        slopes = ExtractGradient(tau.reshape(-1, 1))
        return slopes[:, :n], slopes[:, n:]

    def com(q: Any) -> Any:
        plant.SetPositions(context, q)
        world, rates = plant.world_frame(), JacobianWrtVariable.kV
        return plant.CalcJacobianCenterOfMassTranslationalVelocity(context, rates, world, world)

    def frame(q: Any) -> Any:
        plant.SetPositions(context, q)
        world, rates = plant.world_frame(), JacobianWrtVariable.kV
        return plant.CalcJacobianSpatialVelocity(
            context, rates, plant.GetFrameByName(LINK), np.zeros(3), world, world
        )

    one = {
        "inverse_dynamics": inverse,
        "gravity": gravity,
        "bias": bias,
        "mass_matrix": mass,
        "forward_dynamics": forward,
        "com_jacobian": com,
        "frame_jacobian": frame,
        "inverse_dynamics_derivatives": derivatives,
    }
    return Tool("Drake", one, {})


def _plant(file: str) -> Any:
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant

    plant = MultibodyPlant(0.0)
    (model,) = Parser(plant).AddModels(file)
    root = plant.GetBodyIndices(model)[0]
    plant.WeldFrames(plant.world_frame(), plant.get_body(root).body_frame())
    plant.Finalize()
    return plant


def frax_of(file: str) -> Tool:
    import warnings

    import jax

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import frax

        with TemporaryDirectory() as folder:
            robot = frax.Robot(_with_heavy_base(file, Path(folder)))
    down = jax.numpy.array([0.0, 0.0, 9.81, 0.0, 0.0, 0.0])

    def inverse(q: Any, v: Any, a: Any) -> Any:
        return robot.rnea(q, v, a, down, None)

    bodies = {
        "inverse_dynamics": inverse,
        "bias": robot.nonlinear_bias,
        "mass_matrix": robot.mass_matrix,
        "forward_dynamics": lambda q, v, tau: robot.forward_dynamics(q, v, tau, None),
        "inverse_dynamics_derivatives": jax.jacfwd(inverse, argnums=(0, 1)),
    }

    def ready(function: Any) -> Call:
        made = jax.jit(function)
        return lambda *given: jax.block_until_ready(made(*given))

    one = {name: ready(body) for name, body in bodies.items()}
    return Tool("frax", one, {k: ready(jax.vmap(f)) for k, f in bodies.items()}, jax.numpy.asarray)


def _with_heavy_base(file: str, folder: Path) -> str:
    """The robot with some inertia on its root, which does not move: frax wants one."""
    tree = ElementTree.parse(file)
    moved = {child.get("link") for child in tree.iter("child")}
    for link in tree.iter("link"):
        if link.get("name") not in moved and link.find("inertial") is None:
            inertial = ElementTree.SubElement(link, "inertial")
            ElementTree.SubElement(inertial, "mass", value="1")
            own = dict.fromkeys(("ixx", "iyy", "izz"), "1") | dict.fromkeys(
                ("ixy", "ixz", "iyz"), "0"
            )
            ElementTree.SubElement(inertial, "inertia", own)
    tree.write(folder / "robot.urdf")
    return str(folder / "robot.urdf")


TOOLS: Final = (symgen_of, pinocchio_of, mujoco_of, drake_of, frax_of)


def tools_of(file: str) -> list[Tool]:
    """Those that are installed, ours first."""
    found = []
    for tool in TOOLS:
        with suppress(ImportError):
            found.append(tool(file))
    return found


# -- measuring -------------------------------------------------------------------------------------


def states_of(n: int) -> dict[str, Any]:
    """States of a robot with so many joints."""
    drawn = np.random.default_rng(0).uniform(-1, 1, (3, MANY, n))
    return dict(zip(("q", "qd", "x"), drawn, strict=True))


def first(result: Any) -> Any:
    """The first of several results, as an array."""
    return np.asarray(result[0] if isinstance(result, tuple) else result)


def compare(tools: list[Tool], states: States) -> None:
    """Raises RuntimeError where a tool has other results than ours."""
    ours, *others = tools
    for other in others:
        for name, call in other.one.items():
            for k in range(3):
                given = [states[x][k].copy() for x in QUANTITIES[name]]
                wanted = first(ours.one[name](*given))
                got = first(call(*map(other.given, given))).copy()
                got = ORDERS.get((other.name, name), np.asarray)(got)
                error = np.abs(got - wanted).max() / np.abs(wanted).max()
                if not error < TOLERANCE:
                    raise RuntimeError(f"{other.name}: {name} differs by {error:.1e}")


def _whole(upper: Any) -> Any:
    """A symmetric matrix from its upper triangle."""
    return np.triu(upper) + np.triu(upper, 1).T


def _columns(regressor: Any) -> Any:
    """Columns of a link in our order, second moments by rows."""
    blocks = regressor.reshape(len(regressor), -1, 10)
    return blocks[..., [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]].reshape(regressor.shape)


def _linear_first(jacobian: Any) -> Any:
    """Rows of velocities before those of angular velocities."""
    return np.concatenate((jacobian[3:], jacobian[:3]))


ORDERS: Final = {
    ("Pinocchio", "mass_matrix"): _whole,
    ("Pinocchio", "regressor"): _columns,
    ("Drake", "frame_jacobian"): _linear_first,
}
"""How results of a tool become comparable, which takes no time in the measurement."""


def timed(turns: list[Turn], rounds: int) -> list[float]:
    """The least nanoseconds of a state of each, in rounds of all."""
    for turn in turns:
        turn.call()  # compiled by those that compile when called
    calls = [max(1, round(SLICE / min(_spent(turn, 1) for _ in range(3)))) for turn in turns]
    every = [[_spent(t, n) for t, n in zip(turns, calls, strict=True)] for _ in range(rounds)]
    return [min(x) / t.states for x, t in zip(zip(*every, strict=True), turns, strict=True)]


def _spent(turn: Turn, calls: int) -> float:
    call, steps = turn.call, range(calls)
    start = time.perf_counter_ns()
    for _ in steps:
        call()
    return (time.perf_counter_ns() - start) / calls


Figures = dict[tuple[str, str, bool], float]
"""Nanoseconds of a state by tool, quantity and whether there are many."""


def measured(file: str, rounds: int) -> Figures:
    """The figures of a robot. Raises RuntimeError where results differ."""
    tools = tools_of(file)
    states = states_of(_joints(tools[0]))
    compare(tools, states)
    found: Figures = {}
    for quantity in QUANTITIES:
        turns = [turn for tool in tools for turn in tool.turns(states, quantity)]
        for many in (False, True):
            own = [turn for turn in turns if turn.many == many]
            ns = timed(own, rounds)
            found |= {(t.tool, quantity, many): x for t, x in zip(own, ns, strict=True)}
    return found


def _joints(ours: Tool) -> int:
    return next(n for n in range(1, 99) if _takes(ours.one["mass_matrix"], n))


def _takes(call: Call, n: int) -> bool:
    with suppress(ValueError):
        return call(np.zeros(n)) is not None
    return False


# -- the page --------------------------------------------------------------------------------------


def table(found: Figures, many: bool) -> Iterator[str]:
    """A table of a robot: ns of each tool, and how often ours goes into theirs."""
    tools = list(dict.fromkeys(tool for tool, _, kind in found if kind == many))
    yield f"| quantity | {' | '.join(tools)} |"
    yield "|---" * (len(tools) + 1) + "|"
    for quantity in QUANTITIES:
        ours = found["symgen", quantity, many]
        cells = [_cell(found.get((tool, quantity, many)), ours) for tool in tools]
        yield f"| {quantity} | {' | '.join(cells)} |"


def _cell(ns: float | None, ours: float) -> str:
    if ns is None:
        return ""
    size = f"{ns:,.0f}" if ns >= 100 else f"{ns:.1f}"
    return size if ns == ours else f"{size} ({ns / ours:.1f})"


def aims(figures: Mapping[str, Figures]) -> Iterator[str]:
    """The results and their targets."""
    shares = {
        (robot, q): found["symgen", q, False] / found["Pinocchio", q, False]
        for robot, found in figures.items()
        for q in AIMED
        if ("Pinocchio", q, False) in found
    }
    if shares:
        (robot, q), worst = max(shares.items(), key=lambda item: item[1])
        yield (
            f"- One call takes {min(shares.values()):.2f} to {worst:.2f} of the time of Pinocchio "
            f"(largest: {robot}, {q}), for inverse and"
        )
        yield "  forward dynamics, M, C and derivatives. The target is at most 0.25."
    times = {
        (robot, q): found["frax", q, True] / found["symgen", q, True]
        for robot, found in figures.items()
        for q in QUANTITIES
        if ("frax", q, True) in found
    }
    if times:
        (robot, q), least = min(times.items(), key=lambda item: item[1])
        yield f"- Batches are {least:.0f} ({robot}, {q}) to {max(times.values()):.0f} times as fast as frax. The"
        yield "  target is at least 30."


INTRODUCTION: Final = """# Calls from Python: time compared with Pinocchio, MuJoCo, Drake and frax

`make bench-python` writes this page. It compares `symgen.compile` with the Python bindings of Pinocchio, MuJoCo and Drake, and with
frax (JAX, compiled by XLA). The tables show nanoseconds per state and, in parentheses, the ratio to symgen. All tools run on one
core in double precision and take turns in one process; a value is the minimum of {rounds} rounds. The results were compared first.

The processor is {processor}, shared (load {load:.0f}), so the
ratios are more reliable than the times; {gcc}; symgen at {commit};
{packages}.


"""

NOTES: Final = """
## Method

- The inputs and outputs are NumPy arrays; for frax they are JAX arrays, and their conversion is not timed.
- symgen returns a new array for each result. Pinocchio returns views of its data for matrices.
- The time of MuJoCo includes the computations that a function needs: the kinematics, and for forward dynamics all of mj_forward without
  contacts.
- The derivatives of frax are jax.jacfwd with respect to q and velocities. Those of Pinocchio and symgen are analytic and include the
  accelerations. Those of Drake use AutoDiffXd.
- frax recommends JAX before 0.4.32 for CPUs; the version here is the one that pip installs.
- For a batch of large results, such as regressors, the operating system spends most of the time on the memory pages of the new array.
  Use `out=` to write to an existing array ([batch](../batch.md)).
- Pinocchio, MuJoCo and Drake have no batches of these functions in Python, so they are called in a loop.
- Drake has no Coriolis matrix and no regressor. Its forward dynamics are the time derivatives of the plant's state.

"""


def page(figures: Mapping[str, Figures], rounds: int) -> str:
    """The text of the page."""
    from importlib.metadata import PackageNotFoundError, version

    from benchmarks.bench.__main__ import machine

    here, packages = machine(), []
    for name in ("numpy", "pin", "mujoco", "drake", "frax", "jax"):
        with suppress(PackageNotFoundError):
            packages.append(f"{name} {version(name)}")
    text = INTRODUCTION.format(
        rounds=rounds,
        processor=here["processor"],
        load=os.getloadavg()[1],
        gcc=here["gcc"],
        commit=here["commit"],
        packages=", ".join(packages),
    )
    lines = [*aims(figures)]
    for robot, found in figures.items():
        lines += ["", f"## {robot}: one call", "", *table(found, False)]
        lines += ["", f"## {robot}: {MANY:,} states", "", *table(found, True)]
    return text + "\n".join(lines) + "\n" + NOTES


@click.command()
@click.option("--out", type=click.Path(path_type=Path), default=PAGE, show_default=True)
@click.option("--rounds", default=ROUNDS, show_default=True)
def main(out: Path, rounds: int) -> None:
    """Measure and write the page."""
    figures = {robot: measured(file, rounds) for robot, file in ROBOTS.items()}
    out.write_text(page(figures, rounds), encoding="utf-8")


if __name__ == "__main__":
    main()

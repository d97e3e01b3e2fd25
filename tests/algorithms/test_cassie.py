"""Cassie of the package example-robot-data: a floating base and four loops, of which two have no
closed form."""

import re
from functools import cache
from importlib.metadata import PackageNotFoundError, files
from math import pi
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import mpmath
import numpy as np
import pytest

import symgen
from symgen.algorithms import QUANTITIES
from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.independence import independent_parameters
from symgen.numbers.scalar import plain
from symgen.reading.assemble import load
from symgen.tracing.function import run_part
from tests.support.open_tree import OpenTree
from tests.support.oracles import oracle

oracle("pinocchio")
LOOPS = [f'name="{side}-pitch-rod-joint", newton=true' for side in ("left", "right")]
SNAP = 1e-3


@cache
def file() -> Path:
    """The file of the package; skips the test without it."""
    try:
        listed = files("example-robot-data") or []
    except PackageNotFoundError:
        listed = []
    found = [Path(str(x.locate())) for x in listed if x.name == "cassie_v2.sdf"]
    if not found:
        pytest.skip("example-robot-data is not installed")
    return found[0]


@cache
def robot() -> symgen.Robot:
    return symgen.Robot(file(), base="floating", loop=LOOPS, snap_angles=SNAP)


@cache
def forward_dynamics() -> Any:
    return robot().trace("forward_dynamics")


def snapped(match: re.Match[str]) -> str:
    angles = [float(x) for x in match[1].split()]
    right = [round(x / (pi / 2)) * (pi / 2) for x in angles]
    pairs = zip(angles, right, strict=True)
    return f'rpy="{" ".join(repr(b if abs(a - b) <= SNAP else a) for a, b in pairs)}"'


@cache
def tree() -> str:
    """A URDF of the open tree, with the angles rounded as in symgen."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "tree.urdf"
        symgen.Robot(file(), base="fixed").write_urdf(path)
        text = path.read_text(encoding="utf-8")
    text = re.sub(r"<loop .*?</loop>|<dynamics [^>]*/>", "", text, flags=re.DOTALL)
    limit = '<limit lower="-9" upper="9" effort="1" velocity="1"/>'
    text = text.replace('type="continuous">', f'type="revolute">{limit}')
    return re.sub(r'rpy="([^"]*)"', snapped, text)


@cache
def state() -> dict[str, Any]:
    coupling, rng = coupling_of(robot().model), np.random.default_rng(1)
    q = coupling.normalized(rng.uniform(-0.4, 0.4, coupling.positions).tolist())
    return {"q": q, "qd": rng.normal(size=18), "tau": 10 * rng.normal(size=18)}


@cache
def open_tree() -> OpenTree:
    """With points that coincide: those of one loop are 2e-8 m apart along its normal in the
    file."""
    return OpenTree.of(robot().model, tree()).coinciding(state()["q"])


def run(quantity: Any, **inputs: Any) -> Any:
    (found,) = quantity.run(**{name: [*values] for name, values in inputs.items()}).values()
    return np.array([plain(x) for x in found])


def test_accelerations_are_those_of_pinocchios_constrained_dynamics() -> None:
    """With μ > 0 and all twelve equations, of which ten are independent; and the projection of the
    open tree."""
    at, found = (state()[k] for k in ("q", "qd", "tau")), run(forward_dynamics(), **state())
    q, qd, tau = at
    wanted, _ = open_tree().constraint_dynamics(q, qd, tau, mu=1e-6)
    projected = open_tree().forward_dynamics(q, qd, tau)
    assert np.abs(found - wanted).max() < 1e-9 * np.abs(wanted).max()
    assert np.abs(found - projected).max() < 1e-12 * np.abs(wanted).max()


def test_forces_are_the_virtual_work_of_all_bodies() -> None:
    q, qd = state()["q"], state()["qd"]
    wanted = open_tree().virtual_work(q, qd, qd[::-1])
    found = run(robot().trace("inverse_dynamics"), q=q, qd=qd, qdd=qd[::-1])
    assert np.abs(found - wanted).max() < 1e-12 * np.abs(wanted).max()


def moved(q: Any, rates: Any, h: Any) -> list[Any]:
    """Positions at which the loops close, moved from others by h times rates of the base (linear,
    angular) in its axes and of the joints."""
    coupling, out = coupling_of(robot().model), [mpmath.mpf(x) for x in q]
    v, w, joints = ([h * x for x in part] for part in (rates[:3], rates[3:6], rates[6:]))
    x, y, z, real = out[3:7]
    turned = ((1 - 2 * (y * y + z * z), 2 * (x * y - z * real), 2 * (x * z + y * real)),)
    turned += ((2 * (x * y + z * real), 1 - 2 * (x * x + z * z), 2 * (y * z - x * real)),)
    turned += ((2 * (x * z - y * real), 2 * (y * z + x * real), 1 - 2 * (x * x + y * y)),)
    for k, row in enumerate(turned):
        out[k] += sum(a * b for a, b in zip(row, v, strict=True))
    a, b, c = (u / 2 for u in w)
    four = (x + real * a + y * c - z * b, y + real * b + z * a - x * c)
    four += (z + real * c + x * b - y * a, real - x * a - y * b - z * c)
    size = mpmath.sqrt(sum(u * u for u in four))
    out[3:7] = [u / size for u in four]
    held = {place for _, place in coupling.newton_positions}
    free = [k for k in range(7, len(out)) if k not in held]
    for k, change in zip(free, joints, strict=True):
        out[k] += change
    for _ in range(4):
        out = coupling.newton_step(out)[0]
    return out


def test_a_product_with_derivatives_is_a_difference_in_40_digits() -> None:
    """λᵀ ∂q̈/∂q along a random direction of base and joints, with closed loops on both sides."""
    q, qd, tau = (state()[k] for k in ("q", "qd", "tau"))
    parameters, rng = robot().job.robot(robot().loaded), np.random.default_rng(4)
    lam, along = rng.normal(size=(2, 18))

    def computed(quantity: str, **inputs: Any) -> Any:
        row = QUANTITIES[quantity]
        way = next(f for f in row.formulations if f.closed_loops)
        given = {name: [*inputs[name]] for name in row.inputs}
        return [*run_part((row, way), parameters.regroups[way.regrouping], given).values()]

    by_q = computed("forward_dynamics_vjp", q=q, qd=qd, tau=tau, lam_qdd=lam)[0]
    own = along[np.argsort(open_tree().leading)]
    with mpmath.workdps(40):
        h = mpmath.mpf("1e-12")
        exact = moved(q, own, 0 * h)
        after, before = (
            computed("forward_dynamics", q=moved(exact, own, e * h), qd=qd, tau=tau)[0]
            for e in (1, -1)
        )
        pairs = zip(lam, after, before, strict=True)
        wanted = float(sum(weight * (b - a) for weight, b, a in pairs) / (2 * h))
    assert float(np.array([plain(x) for x in by_q]) @ along) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.slow
def test_base_parameters_are_the_rank_of_the_regressor() -> None:
    """Of Gᵀ Y with Pinocchio's regressor Y of the open tree, at random states."""
    parameters, coupling = robot().job.robot(robot().loaded), coupling_of(robot().model)
    count = len(independent_parameters(parameters.regroups["minimal"].system((), None)).keys)
    rng, rows = np.random.default_rng(5), []
    for _ in range(2 * count // 18 + 4):
        q = coupling.normalized(rng.uniform(-1, 1, coupling.positions).tolist())
        of_tree = OpenTree.of(robot().model, tree()).coinciding(q)
        rows.append(of_tree.regressor(q, *rng.normal(size=(2, 18))))
    sizes = np.linalg.svd(np.concatenate(rows), compute_uv=False)
    assert count == int((sizes > 1e-10 * sizes[0]).sum()) == 156


def test_random_states_move_joints_that_newton_determines() -> None:
    """Also where other loops have dead points, which are looked for on the way."""
    coupling = coupling_of(robot().model)
    center = coupling.normalized([0.0] * 6 + [1.0] + [0.0] * 18)
    assert (
        max(abs(state()["q"][place] - center[place]) for _, place in coupling.newton_positions)
        > 1e-3
    )


def test_coordinates_and_operations() -> None:
    assert (robot().dof, len(robot().positions)) == (18, 25)
    assert forward_dynamics().counts.total <= 7102


def test_notes_give_redundant_equations_and_mobility() -> None:
    messages = [x.message for x in robot().loaded.notices]
    (text, *_) = [x for x in messages if "'left-crank-rod-joint'" in x]
    assert "2 of the 3 equations of its cut joint are independent" in text
    assert "the robot has 18 independent coordinates, and 16 by Grübler's formula" in text


def test_a_loop_without_a_closed_form_names_the_way_out() -> None:
    messages = [x.message for x in load(file(), base="fixed").notices if x.level == "warning"]
    assert any("""--loop 'name="left-pitch-rod-joint", newton=true'""" in x for x in messages)

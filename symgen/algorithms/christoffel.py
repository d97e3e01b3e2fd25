"""Christoffel symbols of the first kind, Γ_ijk = ½ (∂M_ij/∂q_k + ∂M_ik/∂q_j - ∂M_jk/∂q_i).

For a cloud of point masses Γ_ijk = ∫ J_i · ∂J_j/∂q_k dm, and moving a joint a turns the field J_b of a joint b
further out as a whole: ∂J_b/∂q_a = ∂J_a/∂q_b = σ_a × J_b. So for i ⪯ j ⪯ k two numbers are left of a triple,

    Γ_ijk = S_i · (force field σ_j × J_k),     Γ_jik = σ_i · ∫ J_k × J_j dm = -Γ_kij,

both read off the moments K, p of J_k (`Flow`) in the joint frame of j.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from symgen.algorithms.coriolis import C_MATRIX, own_steps
from symgen.algorithms.registry import Array, quantity
from symgen.mechanics.flow import Flow, joint_flow, slide_axis, spin_axis
from symgen.mechanics.joints import JointType
from symgen.mechanics.spatial import NO_INERTIA, NULL, Force, Inertia, Shift, Step, Vector, along
from symgen.mechanics.system import System
from symgen.scalar import ZERO, Scalar

Coordinates = Sequence[Scalar]
Symbols = dict[tuple[int, int, int], Scalar]
Pair = tuple[Force, Force]
Ascent = Callable[[System, int, Coordinates, Force, Vector], Iterator[tuple[int, Scalar, Scalar]]]

SOURCE = "Echeandia & Wensing (2021); Echeandia, Rigid-body dynamics algorithms (2020), algorithm 5"
UNIT = "kg m^2 | kg m | kg, per rad | m"


def composites(system: System, q: Coordinates) -> Iterator[tuple[int, Inertia]]:
    """Every body, from the leaves to the base, with its composite inertia in its joint frame."""
    total = dict.fromkeys(range(system.dof + 1), NO_INERTIA)
    for i in system.inward:
        body = system.body(i)
        with system.section(i, "composite body"):
            whole = (total[i] + body.inertia).named(f"{i}")
            at_joint = _carried(own_steps(body.placement, q[i - 1]), whole)
            total[body.parent] = total[body.parent] + _carried(body.placement.landing.steps, at_joint)
        yield i, at_joint


def _carried(steps: Sequence[Step], inertia: Inertia) -> Inertia:
    for step in reversed(steps):
        inertia = inertia.moved_in(step)
    return inertia


def flows(system: System, k: int, inertia: Inertia, q: Coordinates) -> Iterator[tuple[int, Flow, Flow]]:
    """The moments of J_k for k and its ancestors j, in the body frame and in the joint frame of j."""
    flow = joint_flow(system.body(k).joint, inertia)
    yield k, flow, flow
    for j in system.ancestors(k):
        for step in reversed(system.body(k).placement.landing.steps):
            flow = flow.moved_in(step)
        at_body, k = flow, j
        for step in reversed(own_steps(system.body(j).placement, q[j - 1])):
            flow = flow.moved_in(step)
        yield j, at_body, flow


def spun(joint: JointType, flow: Flow) -> Force:
    """The force field σ × u: nothing where the joint does not turn."""
    force, turning = flow.spun, spin_axis(joint).z
    return Force(force.linear.scaled(turning), force.angular.scaled(turning))


def swept(joint: JointType, flow: Flow) -> Vector:
    """∫ u × J dm for the joint's own field J."""
    return flow.swept.scaled(spin_axis(joint).z) + flow.p.cross(slide_axis(joint))


def upward(system: System, j: int, q: Coordinates, force: Force, sweep: Vector) -> Iterator[tuple[int, Scalar, Scalar]]:
    """S_i · force and σ_i · sweep for the ancestors i of j; both are given in the joint frame of j and carried up."""
    steps = system.body(j).placement.landing.steps
    for i in system.ancestors(j):
        for step in reversed(steps):
            force = force.moved_in(step)
            sweep = sweep if isinstance(step, Shift) else sweep.turned(-step)
        joint = system.body(i).joint
        yield i, joint.project(force), sweep.dot(spin_axis(joint))
        place = system.body(i).placement
        steps = own_steps(place, q[i - 1]) + ()
        for step in reversed(steps):
            force = force.moved_in(step)
            sweep = sweep if isinstance(step, Shift) else sweep.turned(-step)
        steps = place.landing.steps

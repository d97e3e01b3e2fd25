"""Pinocchio as a judge: the same URDF, its answers in the coordinates of symgen's user."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from symgen.mechanics.model import PARAMETER_NAMES, RigidBodyModel
from symgen.mechanics.standard_joints import FLOATING
from symgen.reading.sources import read

Array = Any
State = dict[str, Array]
TENSOR = ("m", "hx", "hy", "hz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
"""The ten of a body in Pinocchio's order."""

ROOT = "root_joint"
VELOCITIES = tuple(row.suffix for row in FLOATING.velocities)
SEVEN, SIX = len(FLOATING.positions), len(VELOCITIES)


@dataclass(frozen=True)
class Line:
    """A joint's coordinate by that of another: factor times it, plus offset."""

    leader: str
    factor: float = 1.0
    offset: float = 0.0


def followers(path: Path) -> dict[str, Line]:
    """Every joint's own line through its <mimic>, and on to those that its leader mimics."""
    mimics = {joint.name: joint.mimics for joint in read(path).joints}

    def line(name: str) -> Line:
        mimic = mimics.get(name)
        if mimic is None:
            return Line(name)
        far = line(mimic.joint)
        return Line(
            far.leader, mimic.multiplier * far.factor, mimic.multiplier * far.offset + mimic.offset
        )

    return {name: line(name) for name in mimics}


class Judge:
    """Pinocchio's model with every joint on its own, between the matrix that couples them: v = G
    v_user.

    `model` gives the order of the user's velocities, `held` names joints that are held at 0.
    Continuous joints are (cos, sin) in Pinocchio."""

    def __init__(
        self, path: Path, model: RigidBodyModel, held: Sequence[str] = (), base: str = "fixed"
    ) -> None:
        free = [pin.JointModelFreeFlyer()] if base == "floating" else []
        self.model = pin.buildModelFromUrdf(str(path), *free)
        if held:
            still = [self.model.getJointId(name) for name in held]
            self.model = pin.buildReducedModel(self.model, still, pin.neutral(self.model))
        self.data = self.model.createData()
        self.names, self.order = list(model.joint_names), model
        self.lines = {name: line for name, line in followers(path).items() if name not in held}
        self.coupling, self.positions = self._coupling(), self._positions()
        assert (np.abs(self.coupling).sum(axis=1) > 0).all(), f"{path}: joints differ"

    def _joints(self) -> list[tuple[str, Any]]:
        """Pinocchio's joints by the name they have here."""
        pairs = zip(self.model.names[1:], self.model.joints[1:], strict=True)
        root = _stem(self.order.bodies[0])  # the name that the joint of a floating base got
        return [(root if name == ROOT else name, joint) for name, joint in pairs]

    def _coupling(self) -> Array:
        matrix = np.zeros((self.model.nv, len(self.names)))
        for name, joint in self._joints():
            if joint.nv == SIX:
                for k, velocity in enumerate(VELOCITIES):
                    matrix[joint.idx_v + k, self.names.index(f"{name}.{velocity}")] = 1.0
            else:
                line = self.lines[name]
                matrix[joint.idx_v, self.names.index(line.leader)] = line.factor
        return matrix

    def _positions(self) -> dict[str, int]:
        """Where the position of each joint begins in that of the user."""
        found, place = dict[str, int](), 0
        for name in self.names:
            stem, _, last = name.rpartition(".")
            if last == VELOCITIES[0]:
                found[stem], place = place, place + SEVEN
            elif last not in VELOCITIES:
                found[name], place = place, place + 1
        self.size = place
        return found

    def place(self, q: Array) -> Array:
        """Pinocchio's configuration."""
        place = np.zeros(self.model.nq)
        for name, joint in self._joints():
            own = slice(joint.idx_q, joint.idx_q + joint.nq)
            if joint.nq == SEVEN:
                start = self.positions[name]
                place[own] = q[start : start + SEVEN]
            else:
                line = self.lines[name]
                angle = line.factor * q[self.positions[line.leader]] + line.offset
                place[own] = (np.cos(angle), np.sin(angle)) if joint.nq == 2 else angle
        return place

    def random(self, count: int, seed: int) -> list[State]:
        """Coordinates, velocities and accelerations from -2 to 2, quaternions of length 1; forces
        that go with them."""
        random = np.random.default_rng(seed)
        return [self._state(random) for _ in range(count)]

    def _state(self, random: np.random.Generator) -> State:
        q = random.uniform(-2, 2, self.size)
        for start in (start for name, start in self.positions.items() if name not in self.names):
            q[start + 3 : start + SEVEN] /= np.linalg.norm(q[start + 3 : start + SEVEN])
        state = {"q": q, **{name: random.uniform(-2, 2, len(self.names)) for name in ("qd", "qdd")}}
        return {**state, "tau": self.inverse_dynamics(state)}

    def _motion(self, state: Mapping[str, Array]) -> tuple[Array, ...]:
        return (
            self.model,
            self.data,
            self.place(state["q"]),
            *(self.coupling @ state[key] for key in ("qd", "qdd")),
        )

    def inverse_dynamics(self, state: State) -> Array:
        return self.coupling.T @ pin.rnea(*self._motion(state))

    def bias(self, state: State) -> Array:
        return self.inverse_dynamics({**state, "qdd": np.zeros(len(self.names))})

    def gravity(self, state: State) -> Array:
        return self.coupling.T @ pin.computeGeneralizedGravity(
            self.model, self.data, self.place(state["q"])
        )

    def mass_matrix(self, state: State) -> Array:
        upper = np.triu(pin.crba(self.model, self.data, self.place(state["q"])))
        return self.coupling.T @ (upper + np.triu(upper, 1).T) @ self.coupling

    def derivatives(self, state: State) -> tuple[Array, Array]:
        """∂τ/∂q in the tangent space and ∂τ/∂q̇."""
        pin.computeRNEADerivatives(*self._motion(state))
        g = self.coupling
        return g.T @ self.data.dtau_dq @ g, g.T @ self.data.dtau_dv @ g

    def regressor(self, state: State) -> Array:
        """With ten columns for each body, in the order of symgen's."""
        whole = pin.computeJointTorqueRegressor(*self._motion(state))
        numbers = {name: k for k, (name, _) in enumerate(self._joints())}
        order = [TENSOR.index(name) for name in PARAMETER_NAMES]
        columns = [10 * numbers[_stem(body)] + k for body in self.order.moving for k in order]
        return self.coupling.T @ whole[:, columns]


def _stem(body: Any) -> str:
    """The joint of the file that a body belongs to."""
    name: str = body.joint.name
    return name

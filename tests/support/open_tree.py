"""The open tree of a robot with closed loops in Pinocchio, and the equations of its cut joints: what
its loops determine, by linear algebra that knows nothing of symgen's G and k.

The tree's motions are those in the null space of the Jacobian of the cut joints. Forces are the
power of inertial forces and weight of all bodies on these motions (virtual work)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from symgen.mechanics.coupling import Coupling, coupling_of
from symgen.mechanics.model import Closure, RigidBodyModel
from tests.support.constrained import number
from tests.support.oracles import oracle

Numbers = np.ndarray
NEGLIGIBLE = 1e-7
"""Singular values of the Jacobian of cut joints below this part of the largest are rounding: rows
of planar loops, and points of files that are given with eight digits."""


@dataclass(frozen=True)
class OpenTree:
    """A robot of symgen and its open tree in Pinocchio. All arrays have Pinocchio's order."""

    model: RigidBodyModel
    tree: Any
    closures: tuple[Closure, ...]

    @classmethod
    def of(cls, model: RigidBodyModel, urdf: Path | str) -> "OpenTree":
        """The open tree of a URDF, with a floating base if the robot has one."""
        pinocchio = oracle("pinocchio")
        text = urdf if isinstance(urdf, str) else urdf.read_text(encoding="utf-8")
        base = [pinocchio.JointModelFreeFlyer()] if coupling_of(model).quaternions else []
        return cls(model, pinocchio.buildModelFromXML(text, *base), model.closures)

    @cached_property
    def pin(self) -> Any:
        return oracle("pinocchio")

    @cached_property
    def data(self) -> Any:
        return self.tree.createData()

    @cached_property
    def coupling(self) -> Coupling:
        return coupling_of(self.model)

    @cached_property
    def base(self) -> int:
        """The number of velocities of a floating base, 6 or 0."""
        return 6 if self.coupling.quaternions else 0

    @cached_property
    def order(self) -> list[int]:
        """The body of symgen for each velocity."""
        drives, names = self.coupling.maps, [body.joint.name for body in self.model.bodies]
        base = sorted(range(self.base), key=lambda k: drives[k].velocity_index)
        return base + [names.index(name) for name in [*self.tree.names][1 + bool(base) :]]

    @cached_property
    def leading(self) -> list[int]:
        """The place of each coordinate of the user."""
        drives = enumerate(self.coupling.maps)
        own = {d.terms[0].velocity_index: k for k, d in drives if d.terms and not d.follows}
        return [self.order.index(own[k]) for k in range(self.coupling.velocities)]

    def positions(self, q: Sequence[float]) -> Numbers:
        """All joints at the user's positions."""
        x = self.coupling.body_positions(list(q))
        joints = [number(x[k]) for k in self.order[self.base :]]
        return np.array([*(q[:7] if self.base else ()), *joints])

    def spread(self, tau: Sequence[float]) -> Numbers:
        """The forces of all joints from those of the user."""
        out = np.zeros(self.tree.nv)
        out[self.leading] = tau
        return out

    def coinciding(self, q: Sequence[float]) -> "OpenTree":
        """The same with second points of cut joints where the first are at the positions q, for
        files whose points are near each other only."""
        self.pin.forwardKinematics(self.tree, self.data, self.positions(q))
        closures = []
        for loop in self.closures:
            (first, at), (second, _) = map(self._end, loop.bodies, loop.points)
            here = self.data.oMi[second].actInv(self.data.oMi[first] * at).translation
            assert np.abs(here - loop.points[1]).max() < 1e-7
            closures.append(replace(loop, points=(loop.points[0], tuple(here))))
        return replace(self, closures=tuple(closures))

    # -- cut joints --------------------------------------------------------------------------------

    def joint(self, body: int) -> int:
        """Pinocchio's joint of a body, 0 for the base."""
        if body <= self.base:
            return 1 if self.base and body else 0
        return int(self.tree.getJointId(self.model.body(body).joint.name))

    def _end(self, body: int, point: Sequence[float]) -> tuple[int, Any]:
        return self.joint(body), self.pin.SE3(np.eye(3), np.array(point))

    def _point(self, body: int, point: Sequence[float]) -> tuple[Numbers, ...]:
        """Place, velocity, acceleration and Jacobian of a point, in the world's axes."""
        joint, place = self._end(body, point)
        if not joint:
            return (place.translation, *np.zeros((2, 3)), np.zeros((3, self.tree.nv)))
        to_world, data = self.data.oMi[joint], self.data
        v, a = (place.actInv(x[joint]) for x in (data.v, data.a))
        local = self.pin.getJointJacobian(self.tree, data, joint, self.pin.ReferenceFrame.LOCAL)
        jacobian = (place.toActionMatrixInverse() @ local)[:3]
        turn = to_world.rotation
        change = a.linear + np.cross(v.angular, v.linear)
        return (to_world * place).translation, turn @ v.linear, turn @ change, turn @ jacobian

    def rows(self, x: Numbers, rates: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """Gaps of the cut joints, their Jacobian, and their second derivatives at constant
        rates."""
        self.pin.forwardKinematics(self.tree, self.data, x, rates, np.zeros(self.tree.nv))
        self.pin.computeJointJacobians(self.tree, self.data, x)
        parts = []
        for loop in self.closures:
            ends = zip(*map(self._point, loop.bodies, loop.points), strict=True)
            d, v, a, jacobian = (first - second for first, second in ends)
            if loop.joint == "distance":
                along, size = d / np.linalg.norm(d), np.linalg.norm(d)
                change = along @ a + (v @ v - (along @ v) ** 2) / size
                d, jacobian, a = np.array([size - loop.length]), along[None] @ jacobian, [change]
            parts.append((d, jacobian, a))
        gaps, jacobians, drifts = zip(*parts, strict=True)
        return np.concatenate(gaps), np.concatenate(jacobians), np.concatenate(drifts)

    def motions(self, x: Numbers, qd: Sequence[float]) -> tuple[Numbers, Numbers, Numbers]:
        """G, the rates of all joints, and k: velocities G q̇ and accelerations G q̈ + k."""
        n = self.tree.nv
        _, jacobian, _ = self.rows(x, np.zeros(n))
        left, sizes, right = np.linalg.svd(jacobian)
        rank = int((sizes > NEGLIGIBLE * sizes[0]).sum())
        free = right[rank:].T
        g = free @ np.linalg.inv(free[self.leading])
        rates = g @ np.array(qd)
        drift = left[:, :rank].T @ self.rows(x, rates)[2]
        k = -right[:rank].T @ (drift / sizes[:rank])
        return g, rates, k - g @ k[self.leading]

    # -- dynamics ----------------------------------------------------------------------------------

    def forward_dynamics(self, q: Sequence[float], qd: Sequence[float], tau: Any) -> Numbers:
        """Accelerations of the user, by projection of the open tree."""
        x = self.positions(q)
        g, rates, k = self.motions(x, qd)
        upper = np.triu(self.pin.crba(self.tree, self.data, x))
        mass = upper + np.triu(upper, 1).T
        bias = self.pin.nonLinearEffects(self.tree, self.data, x, rates)
        return np.linalg.solve(g.T @ mass @ g, np.array(tau) - g.T @ (mass @ k + bias))

    def virtual_work(self, q: Sequence[float], qd: Sequence[float], qdd: Any) -> Numbers:
        """Forces of the user: the power of inertial forces less weight of all bodies at unit
        velocities."""
        x = self.positions(q)
        g, rates, k = self.motions(x, qd)
        self.pin.forwardKinematics(self.tree, self.data, x, rates, g @ np.array(qdd) + k)
        self.pin.computeJointJacobians(self.tree, self.data, x)
        power: Numbers = np.zeros(g.shape[1])
        local = self.pin.ReferenceFrame.LOCAL
        for joint in range(1, self.tree.njoints):
            inertia, v = self.tree.inertias[joint], self.data.v[joint]
            fall = self.data.oMi[joint].actInv(self.tree.gravity)
            force = inertia * (self.data.a[joint] - fall) + v.cross(inertia * v)
            unit = self.pin.getJointJacobian(self.tree, self.data, joint, local) @ g
            power += unit.T @ force.vector
        return power

    def regressor(self, q: Sequence[float], qd: Sequence[float], qdd: Any) -> Numbers:
        """The forces of the user as a linear map of the ten parameters of each body."""
        x = self.positions(q)
        g, rates, k = self.motions(x, qd)
        accelerations = g @ np.array(qdd) + k
        of_tree = self.pin.computeJointTorqueRegressor
        found: Numbers = g.T @ of_tree(self.tree, self.data, x, rates, accelerations)
        return found

    def constraint_dynamics(
        self, q: Sequence[float], qd: Sequence[float], tau: Any, mu: float = 1e-10
    ) -> tuple[Numbers, Numbers]:
        """Accelerations of the user by Pinocchio's own solver with the same rows. With μ > 0: at μ = 0
        redundant rows give wrong accelerations. The second result is how far the accelerations
        of all joints are from G q̈ + k."""
        pin, x = self.pin, self.positions(q)
        g, rates, k = self.motions(x, qd)
        models, workspaces = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        axes = pin.ReferenceFrame.LOCAL
        for loop in self.closures:
            ends = [e for pair in map(self._end, loop.bodies, loop.points) for e in pair]
            kind = pin.ContactType.CONTACT_3D
            models.append(pin.RigidConstraintModel(kind, self.tree, *ends, axes))
        workspaces.extend([m.createData() for m in models])
        pin.initConstraintDynamics(self.tree, self.data, models, workspaces)
        found = pin.constraintDynamics(
            *(self.tree, self.data, x, rates, self.spread(tau), models, workspaces),
            pin.ProximalSettings(1e-14, mu, 200),
        )
        return found[self.leading], found - g @ found[self.leading] - k

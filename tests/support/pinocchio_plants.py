"""Chains that Pinocchio simulates, and the same as text for symgen.

The plant is Pinocchio's articulated-body algorithm with passive forces added, in steps of Runge and
Kutta; nothing of it comes from symgen."""

from dataclasses import dataclass, field

import numpy as np
import pytest

import symgen

pin = pytest.importorskip("pinocchio")

LINK = (
    '<link name="{name}"><inertial><origin xyz="{c}"/><mass value="{m}"/>'
    '<inertia ixx="{ixx}" iyy="{iyy}" izz="{izz}" ixy="0.001" ixz="0" iyz="0"/></inertial></link>'
)
BODIES = {
    "a": {"c": "0.1 0.02 0.2", "m": 3.0, "ixx": 0.06, "iyy": 0.05, "izz": 0.02},
    "b": {"c": "0.05 0 0.15", "m": 2.0, "ixx": 0.03, "iyy": 0.04, "izz": 0.01},
}
DAMPING, COULOMB = np.array([2.0, 0.8]), np.array([0.5, 0.3])


def urdf(first="continuous", second="continuous", joints=2, dynamics=True):
    """A chain of one or two bodies, as text."""
    links = "".join(LINK.format(name=name, **BODIES[name]) for name in [*BODIES][:joints])
    text = f'<robot name="chain"><link name="base"/>{links}'
    rows = zip(("base", "a"), ("a", "b"), ("0 0.6 0.8", "1 0 0"), (first, second), strict=True)
    for k, (parent, child, axis, kind) in enumerate([*rows][:joints]):
        rubs = f'<dynamics damping="{DAMPING[k]}" friction="{COULOMB[k]}"/>' if dynamics else ""
        place = '<origin xyz="0 0.1 0.3"/>' if k else ""
        text += (
            f'<joint name="j{child}" type="{kind}"><parent link="{parent}"/>'
            f'<child link="{child}"/>{place}<axis xyz="{axis}"/>{rubs}</joint>'
        )
    return text + "</robot>"


def inertia(name):
    """A body's inertia for Pinocchio."""
    row = BODIES[name]
    about = np.diag([row["ixx"], row["iyy"], row["izz"]])
    about[0, 1] = about[1, 0] = 0.001
    return pin.Inertia(row["m"], np.array([float(x) for x in row["c"].split()]), about)


def model_of(*joints):
    """The chain whose joints are Pinocchio's `joints`."""
    model, parent = pin.Model(), 0
    for k, (name, joint) in enumerate(zip(BODIES, joints, strict=False)):
        place = pin.SE3(np.eye(3), np.array([0.0, 0.1, 0.3]) * k)
        parent = model.addJoint(parent, joint, place, f"j{name}")
        model.appendBodyToJoint(parent, inertia(name), pin.SE3.Identity())
    return model


def revolute(joints=2):
    """The chain with revolute joints."""
    axes = (np.array([0.0, 0.6, 0.8]), np.array([1.0, 0.0, 0.0]))
    return model_of(*(pin.JointModelRevoluteUnaligned(axis) for axis in axes[:joints]))


@dataclass
class Plant:
    """A robot that Pinocchio simulates, under `passive(q, qd)` joint forces of its own."""

    model: object
    q: np.ndarray
    qd: np.ndarray
    passive: object = lambda q, qd: 0.0
    data: object = field(init=False)

    def __post_init__(self):
        self.data = self.model.createData()

    def acceleration(self, q, qd, tau):
        return pin.aba(self.model, self.data, q, qd, tau + self.passive(q, qd))

    def go(self, tau, h):
        """A step of Runge and Kutta on the chart at the present positions."""
        start, speed, slopes = self.q, self.qd, []
        for share in (0.0, 0.5, 0.5, 1.0):
            dq, dv = (share * h * x for x in slopes[-1]) if slopes else (0 * speed, 0 * speed)
            q, v = pin.integrate(self.model, start, dq), speed + dv
            once = brackets(self.model, dq, v)
            slopes.append((v + once / 2, self.acceleration(q, v, tau)))
        mean = [
            sum(w * s[k] for w, s in zip((1, 2, 2, 1), slopes, strict=True)) / 6 for k in (0, 1)
        ]
        self.q = pin.integrate(self.model, start, h * mean[0])
        self.qd = speed + h * mean[1]
        return self


def brackets(model, a, b):
    """[a, b] joint by joint: of twists in body axes, zero of rates of coordinates."""
    out = np.zeros(model.nv)
    for joint in model.joints[1:]:
        at = slice(joint.idx_v, joint.idx_v + joint.nv)
        if joint.nv == 3:
            out[at] = np.cross(a[at], b[at])
        if joint.nv == 6:
            out[at] = pin.Motion(a[at]).cross(pin.Motion(b[at])).vector
    return out


def friction(q, qd):
    n = len(qd)
    return -DAMPING[:n] * qd - COULOMB[:n] * np.sign(qd)


def robot(text=None, **options):
    return symgen.Robot(text or urdf(), **options)

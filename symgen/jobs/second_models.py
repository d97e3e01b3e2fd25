"""Robots as Pinocchio, MuJoCo and Drake read them from a file, with the conversion of the
coordinates of each joint (docs/conventions.md)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np

from symgen.errors import OptionError
from symgen.mechanics.model import Joint
from symgen.mechanics.pose import IDENTITY, Pose
from symgen.numbers.types import Numbers
from symgen.reading.subtree import FLOATING_BASE
from symgen.text import shown


@dataclass(frozen=True)
class Converted:
    """The coordinates of one joint in another library, from those of symgen: the positions, the
    velocities as `velocity_map` (m, n) times those of symgen, and `drift` (m), the part of the
    accelerations that is not `velocity_map` times the accelerations of symgen."""

    positions: Numbers
    velocity_map: Numbers
    drift: Numbers


Conversion = Callable[[Joint, Pose, Numbers, Numbers], Converted]
"""From a joint, the pose of its frame in the link that carries it, and its positions and velocities
in symgen's coordinates."""


def unchanged(joint: Joint, frame: Pose, q: Numbers, v: Numbers) -> Converted:
    """Both use the same numbers."""
    return Converted(q, np.eye(len(v)), np.zeros(len(v)))


def _cosine_and_sine(joint: Joint, frame: Pose, q: Numbers, v: Numbers) -> Converted:
    """An angle without limits in Pinocchio: its cosine and sine."""
    return Converted(np.append(np.cos(q), np.sin(q)), np.eye(1), np.zeros(1))


def _planar_in_body_axes(joint: Joint, frame: Pose, q: Numbers, v: Numbers) -> Converted:
    """A planar joint of Pinocchio: the velocity of the origin is in the axes of the body."""
    if (joint.axis, joint.constants) != (IDENTITY[2], IDENTITY[0]):
        raise OptionError(
            f"--against pinocchio: joint '{shown(joint.name)}' is planar with an axis other than "
            "(0, 0, 1), which pinocchio does not read"
        )
    c, s = np.cos(q[2]), np.sin(q[2])
    to_body = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
    change = v[2] * np.array([[-s, c, 0.0], [-c, -s, 0.0], [0.0, 0.0, 0.0]])
    return Converted(np.array([q[0], q[1], c, s]), to_body, change @ v)


def _mujoco_free(joint: Joint, frame: Pose, q: Numbers, v: Numbers) -> Converted:
    """A free joint of MuJoCo: the pose in the world, the linear velocity in world axes, and the
    angular velocity in body axes."""
    carrier = np.array(frame.rotation, float)
    turn = carrier @ _matrix(q[3:])
    place = np.array(frame.position, float) + carrier @ q[:3]
    velocity_map = np.eye(6)
    velocity_map[:3, :3] = turn
    drift = np.append(turn @ np.cross(v[3:], v[:3]), np.zeros(3))
    return Converted(np.append(place, _quaternion_of(turn)), velocity_map, drift)


def _scalar_first(joint: Joint, frame: Pose, q: Numbers, v: Numbers) -> Converted:
    """A ball joint of MuJoCo: the scalar of the quaternion comes first."""
    return Converted(np.roll(q, 1), np.eye(3), np.zeros(3))


def _drake_free(joint: Joint, frame: Pose, q: Numbers, v: Numbers) -> Converted:
    """A floating joint of Drake: the quaternion, scalar first, before the position; the angular
    before the linear velocity, both in the axes of the parent."""
    turn = _matrix(q[3:])
    velocity_map = np.zeros((6, 6))
    velocity_map[:3, 3:] = velocity_map[3:, :3] = turn
    drift = np.append(np.zeros(3), turn @ np.cross(v[3:], v[:3]))
    return Converted(np.append(np.roll(q[3:], 1), q[:3]), velocity_map, drift)


def _drake_ball(joint: Joint, frame: Pose, q: Numbers, v: Numbers) -> Converted:
    """A ball joint of Drake: roll, pitch and yaw, and the angular velocity in the axes of the
    parent."""
    turn = _matrix(q)
    roll, yaw = np.arctan2(turn[2, 1], turn[2, 2]), np.arctan2(turn[1, 0], turn[0, 0])
    pitch = np.arctan2(-turn[2, 0], np.hypot(turn[0, 0], turn[1, 0]))
    return Converted(np.array([roll, pitch, yaw]), turn, np.zeros(3))


def _matrix(quaternion: Numbers) -> Numbers:
    """The rotation by a unit quaternion x, y, z, w, as a matrix (3, 3)."""
    axis, w = quaternion[:3], quaternion[3]
    turn: Numbers = (w * w - axis @ axis) * np.eye(3)
    turn += 2 * np.outer(axis, axis) + 2 * w * np.cross(np.eye(3), axis)
    return turn


def _quaternion_of(turn: Numbers) -> Numbers:
    """The unit quaternion w, x, y, z of a rotation matrix: the eigenvector of the largest
    eigenvalue of a symmetric matrix (Bar-Itzhack, J. Guidance 2000)."""
    k = np.empty((4, 4))
    k[0, 0], k[1:, 1:] = np.trace(turn), turn + turn.T - np.trace(turn) * np.eye(3)
    k[0, 1:] = k[1:, 0] = [
        turn[2, 1] - turn[1, 2],
        turn[0, 2] - turn[2, 0],
        turn[1, 0] - turn[0, 1],
    ]
    largest: Numbers = np.linalg.eigh(k)[1][:, -1]
    return largest


@dataclass(frozen=True)
class LibraryJoint:
    """A joint in another library: its name in the file, where its positions and velocities are in
    the arrays of the library, and their conversion."""

    name: str
    positions: slice
    velocities: slice
    convert: Conversion = unchanged


class SecondModel(Protocol):
    """A robot as another library reads it."""

    @property
    def gravity(self) -> tuple[float, float, float]:
        """Free-fall acceleration in the axes of the root (m/s^2)."""

    @property
    def joints(self) -> Sequence[LibraryJoint]:
        """The joints that move."""

    @property
    def sizes(self) -> tuple[int, int]:
        """The numbers of positions and velocities."""

    def forces(self, q: Numbers, v: Numbers, a: Numbers) -> Numbers:
        """Generalised forces M a + C v + g of all velocities, without friction."""

    def friction(self) -> tuple[Numbers, Numbers]:
        """Viscous and Coulomb coefficients of all velocities."""


class PinocchioModel:
    """A URDF as Pinocchio reads it."""

    def __init__(self, file: Path, floating: bool) -> None:
        import pinocchio

        self._library = pinocchio
        base = (pinocchio.JointModelFreeFlyer(),) if floating else ()
        self._model = pinocchio.buildModelFromUrdf(str(file), *base)
        self._data = self._model.createData()
        self.sizes = self._model.nq, self._model.nv
        names = [*self._model.names][1:]  # the first one is the universe
        if floating:
            names[0] = FLOATING_BASE
        self.joints = [
            LibraryJoint(name, *_slices(joint.idx_q, joint.nq, joint.idx_v, joint.nv), convert)
            for name, joint in zip(names, [*self._model.joints][1:], strict=True)
            for convert in [PINOCCHIO.get((joint.nq, joint.nv), unchanged)]
        ]
        x, y, z = self._model.gravity.linear
        self.gravity = float(x), float(y), float(z)

    def forces(self, q: Numbers, v: Numbers, a: Numbers) -> Numbers:
        """The recursive Newton-Euler algorithm of Pinocchio."""
        rnea: Numbers = self._library.rnea(self._model, self._data, q, v, a)
        return rnea

    def friction(self) -> tuple[Numbers, Numbers]:
        """The coefficients of all velocities."""
        dry = getattr(self._model, "upperDryFrictionLimit", None)
        return self._model.damping, self._model.friction if dry is None else dry


PINOCCHIO: Final = {(2, 1): _cosine_and_sine, (4, 3): _planar_in_body_axes}
"""The conversion by the numbers of positions and velocities. Of joints with four and three, a URDF
has planar ones only."""


class MujocoModel:
    """An MJCF file or a URDF as MuJoCo reads it."""

    def __init__(self, file: Path, floating: bool) -> None:
        import mujoco

        if floating:
            raise OptionError(
                "--against mujoco: the folder was generated with --base floating, which mujoco "
                "does not read from the file; generate without it to compare"
            )
        self._library, self._model = mujoco, mujoco.MjModel.from_xml_path(str(file))
        self._data = mujoco.MjData(self._model)
        self.sizes = self._model.nq, self._model.nv
        self.joints = [self._joint(k) for k in range(self._model.njnt)]
        x, y, z = self._model.opt.gravity
        self.gravity = float(x), float(y), float(z)

    def _joint(self, k: int) -> LibraryJoint:
        """Joint `k`. Those without a name are called as symgen calls them."""
        model, types = self._model, self._library.mjtJoint
        kinds = {
            int(types.mjJNT_FREE): (7, 6, _mujoco_free),
            int(types.mjJNT_BALL): (4, 3, _scalar_first),
        }
        nq, nv, convert = kinds.get(int(model.jnt_type[k]), (1, 1, unchanged))
        places = _slices(int(model.jnt_qposadr[k]), nq, int(model.jnt_dofadr[k]), nv)
        return LibraryJoint(model.joint(k).name or f"joint{k}", *places, convert)

    def forces(self, q: Numbers, v: Numbers, a: Numbers) -> Numbers:
        """M a and the bias force of MuJoCo, without passive forces."""
        data, model = self._data, self._model
        data.qpos[:], data.qvel[:] = q, v
        self._library.mj_forward(model, data)
        inertial = np.zeros(model.nv)
        self._library.mj_mulM(model, data, inertial, a)
        total: Numbers = inertial + data.qfrc_bias
        return total

    def friction(self) -> tuple[Numbers, Numbers]:
        """The coefficients of all velocities."""
        return np.ravel(self._model.dof_damping), np.ravel(self._model.dof_frictionloss)


class DrakeModel:
    """A URDF or SDF file as Drake reads it. The root links of all models are welded to the world,
    unless the base floats."""

    def __init__(self, file: Path, floating: bool) -> None:
        from pydrake.multibody.parsing import Parser
        from pydrake.multibody.plant import MultibodyPlant
        from pydrake.multibody.tree import BodyIndex

        plant = MultibodyPlant(0.0)
        Parser(plant).AddModels(file)
        default_pose: Any = getattr(plant, "GetDefaultFloatingBaseBodyPose", None)
        default_pose = default_pose or plant.GetDefaultFreeBodyPose  # of older versions of Drake
        parents = {
            joint.child_body().index(): joint.parent_body().index()
            for joint in map(plant.get_joint, plant.GetJointIndices())
        }
        for body in map(plant.get_body, map(BodyIndex, range(1, plant.num_bodies()))):
            if body.index() not in parents and not floating:
                plant.WeldFrames(plant.world_frame(), body.body_frame(), default_pose(body))
        plant.Finalize()
        self._plant: Any = plant
        self._context = plant.CreateDefaultContext()
        self.sizes = plant.num_positions(), plant.num_velocities()
        joints = [plant.get_joint(k) for k in plant.GetJointIndices()]
        self._joints = [joint for joint in joints if joint.num_velocities()]
        self.joints = [self._joint(joint, floating) for joint in self._joints]
        root = self._joints[0].parent_body().index()
        while root in parents:
            root = parents[root]
        pose = plant.EvalBodyPoseInWorld(self._context, plant.get_body(root))
        turn = np.array(pose.rotation().matrix(), float)
        x, y, z = turn.T @ np.array(plant.gravity_field().gravity_vector(), float)
        self.gravity = float(x), float(y), float(z)

    def _joint(self, joint: Any, floating: bool) -> LibraryJoint:
        nq, nv, kind = joint.num_positions(), joint.num_velocities(), joint.type_name()
        is_base = floating and joint.parent_body().index() == self._plant.world_body().index()
        return LibraryJoint(
            FLOATING_BASE if is_base else joint.name(),
            *_slices(joint.position_start(), nq, joint.velocity_start(), nv),
            {"quaternion_floating": _drake_free, "ball_rpy": _drake_ball}.get(kind, unchanged),
        )

    def forces(self, q: Numbers, v: Numbers, a: Numbers) -> Numbers:
        """M a and the bias term of Drake, less the forces of gravity."""
        plant, context = self._plant, self._context
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        inertial = plant.CalcMassMatrixViaInverseDynamics(context) @ a
        bias = plant.CalcBiasTerm(context) - plant.CalcGravityGeneralizedForces(context)
        total: Numbers = inertial + bias
        return total

    def friction(self) -> tuple[Numbers, Numbers]:
        """The coefficients of all velocities. Drake reads no Coulomb friction."""
        damping = np.zeros(self.sizes[1])
        for joint, place in zip(self._joints, self.joints, strict=True):
            damping[place.velocities] = joint.default_damping_vector()
        return damping, np.zeros(len(damping))


def _slices(position: int, nq: int, velocity: int, nv: int) -> tuple[slice, slice]:
    return slice(position, position + nq), slice(velocity, velocity + nv)

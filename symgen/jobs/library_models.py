"""Robots as Pinocchio, MuJoCo and Drake read them from a file, with the conversion of the
coordinates of each joint (docs/conventions.md)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from symgen.errors import OptionError
from symgen.mechanics.model import Joint
from symgen.mechanics.spatial import IDENTITY, Pose
from symgen.numbers.scalar import Numbers
from symgen.reading.subtree import FLOATING_BASE
from symgen.text import shown


@dataclass(frozen=True)
class LibraryCoordinates:
    """The coordinates of one joint in another library, from those of symgen: the positions, the
    velocities as `velocity_map` (m, n) times those of symgen, and `drift` (m), the part of the
    accelerations that is not `velocity_map` times the accelerations of symgen."""

    positions: Numbers
    velocity_map: Numbers
    drift: Numbers


Conversion = Callable[[Joint, Pose, Numbers, Numbers], LibraryCoordinates]
"""From a joint, the pose of its frame in the link that carries it, and its positions and velocities
in symgen's coordinates."""


def unchanged(joint: Joint, frame: Pose, q: Numbers, v: Numbers) -> LibraryCoordinates:
    """Both use the same numbers."""
    return LibraryCoordinates(q, np.eye(len(v)), np.zeros(len(v)))


def _cosine_and_sine(joint: Joint, frame: Pose, q: Numbers, v: Numbers) -> LibraryCoordinates:
    """An angle without limits in Pinocchio: its cosine and sine."""
    return LibraryCoordinates(np.append(np.cos(q), np.sin(q)), np.eye(1), np.zeros(1))


def _planar_in_body_axes(joint: Joint, frame: Pose, q: Numbers, v: Numbers) -> LibraryCoordinates:
    """A planar joint of Pinocchio: the velocity of the origin is in the axes of the body."""
    if (joint.axis, joint.constants) != (IDENTITY[2], IDENTITY[0]):
        raise OptionError(
            f"--against pinocchio: joint '{shown(joint.name)}' is planar with an axis other than "
            "(0, 0, 1), which pinocchio does not read"
        )
    c, s = np.cos(q[2]), np.sin(q[2])
    to_body = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
    change = v[2] * np.array([[-s, c, 0.0], [-c, -s, 0.0], [0.0, 0.0, 0.0]])
    return LibraryCoordinates(np.array([q[0], q[1], c, s]), to_body, change @ v)


def _mujoco_free(joint: Joint, frame: Pose, q: Numbers, v: Numbers) -> LibraryCoordinates:
    """A free joint of MuJoCo: the pose in the world, the linear velocity in world axes, and the
    angular velocity in body axes."""
    carrier = np.array(frame.rotation, float)
    rotation = carrier @ _rotation_matrix(q[3:])
    position = np.array(frame.position, float) + carrier @ q[:3]
    velocity_map = np.eye(6)
    velocity_map[:3, :3] = rotation
    drift = np.append(rotation @ np.cross(v[3:], v[:3]), np.zeros(3))
    return LibraryCoordinates(np.append(position, _quaternion_of(rotation)), velocity_map, drift)


def _scalar_first(joint: Joint, frame: Pose, q: Numbers, v: Numbers) -> LibraryCoordinates:
    """A ball joint of MuJoCo: the scalar of the quaternion comes first."""
    return LibraryCoordinates(np.roll(q, 1), np.eye(3), np.zeros(3))


def _drake_free(joint: Joint, frame: Pose, q: Numbers, v: Numbers) -> LibraryCoordinates:
    """A floating joint of Drake: the quaternion, scalar first, before the position; the angular
    before the linear velocity, both in the axes of the parent."""
    rotation = _rotation_matrix(q[3:])
    velocity_map = np.zeros((6, 6))
    velocity_map[:3, 3:] = velocity_map[3:, :3] = rotation
    drift = np.append(np.zeros(3), rotation @ np.cross(v[3:], v[:3]))
    return LibraryCoordinates(np.append(np.roll(q[3:], 1), q[:3]), velocity_map, drift)


def _drake_ball(joint: Joint, frame: Pose, q: Numbers, v: Numbers) -> LibraryCoordinates:
    """A ball joint of Drake: roll, pitch and yaw, and the angular velocity in the axes of the
    parent."""
    rotation = _rotation_matrix(q)
    roll, yaw = (
        np.arctan2(rotation[2, 1], rotation[2, 2]),
        np.arctan2(rotation[1, 0], rotation[0, 0]),
    )
    pitch = np.arctan2(-rotation[2, 0], np.hypot(rotation[0, 0], rotation[1, 0]))
    return LibraryCoordinates(np.array([roll, pitch, yaw]), rotation, np.zeros(3))


def _rotation_matrix(quaternion: Numbers) -> Numbers:
    """The rotation by a unit quaternion x, y, z, w, as a matrix (3, 3)."""
    axis, w = quaternion[:3], quaternion[3]
    rotation: Numbers = (w * w - axis @ axis) * np.eye(3)
    rotation += 2 * np.outer(axis, axis) + 2 * w * np.cross(np.eye(3), axis)
    return rotation


def _quaternion_of(rotation: Numbers) -> Numbers:
    """The unit quaternion w, x, y, z of a rotation matrix: the eigenvector of the largest
    eigenvalue of a symmetric matrix (Bar-Itzhack, J. Guidance 2000)."""
    k = np.empty((4, 4))
    k[0, 0], k[1:, 1:] = np.trace(rotation), rotation + rotation.T - np.trace(rotation) * np.eye(3)
    k[0, 1:] = k[1:, 0] = [
        rotation[2, 1] - rotation[1, 2],
        rotation[0, 2] - rotation[2, 0],
        rotation[1, 0] - rotation[0, 1],
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


@dataclass(frozen=True)
class LibraryModel:
    """A robot as another library reads it: the free-fall acceleration in the axes of the root
    (m/s²), the joints that move, and the numbers of positions and velocities.

    `forces` are the generalised forces M a + C v + g of all velocities from positions, velocities
    and accelerations, without friction; `friction` are the viscous and Coulomb coefficients of all
    velocities."""

    gravity: tuple[float, ...]
    joints: Sequence[LibraryJoint]
    sizes: tuple[int, int]
    forces: Callable[[Numbers, Numbers, Numbers], Numbers]
    friction: tuple[Numbers, Numbers]


def pinocchio_model(file: Path, floating: bool) -> LibraryModel:
    """A URDF as Pinocchio reads it. The forces are those of its recursive Newton-Euler
    algorithm."""
    import pinocchio

    base = (pinocchio.JointModelFreeFlyer(),) if floating else ()
    model = pinocchio.buildModelFromUrdf(str(file), *base)
    data, names = model.createData(), [*model.names][1:]  # the first one is the universe
    if floating:
        names[0] = FLOATING_BASE
    joints = [
        LibraryJoint(name, *_slices(joint.idx_q, joint.nq, joint.idx_v, joint.nv), convert)
        for name, joint in zip(names, [*model.joints][1:], strict=True)
        for convert in [PINOCCHIO_CONVERSIONS.get((joint.nq, joint.nv), unchanged)]
    ]
    coulomb = getattr(model, "upperDryFrictionLimit", None)
    return LibraryModel(
        tuple(map(float, model.gravity.linear)),
        joints,
        (model.nq, model.nv),
        lambda q, v, a: pinocchio.rnea(model, data, q, v, a),
        (model.damping, model.friction if coulomb is None else coulomb),
    )


PINOCCHIO_CONVERSIONS: Final = {(2, 1): _cosine_and_sine, (4, 3): _planar_in_body_axes}
"""The conversion by the numbers of positions and velocities. Of joints with four and three, a URDF
has planar ones only."""


def mujoco_model(file: Path, floating: bool) -> LibraryModel:
    """An MJCF file or a URDF as MuJoCo reads it. The forces are M a and the bias force, without
    passive forces. Joints without a name are called as symgen calls them."""
    import mujoco

    if floating:
        raise OptionError(
            "--against mujoco: the folder was generated with --base floating, which mujoco "
            "does not read from the file; generate without it to compare"
        )
    model: Any = mujoco.MjModel.from_xml_path(str(file))
    data, types = mujoco.MjData(model), mujoco.mjtJoint
    kinds = {
        int(types.mjJNT_FREE): (7, 6, _mujoco_free),
        int(types.mjJNT_BALL): (4, 3, _scalar_first),
    }
    joints = []
    for k in range(model.njnt):
        nq, nv, convert = kinds.get(int(model.jnt_type[k]), (1, 1, unchanged))
        slices = _slices(int(model.jnt_qposadr[k]), nq, int(model.jnt_dofadr[k]), nv)
        joints.append(LibraryJoint(model.joint(k).name or f"joint{k}", *slices, convert))

    def forces(q: Numbers, v: Numbers, a: Numbers) -> Numbers:
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_forward(model, data)
        inertial = np.zeros(model.nv)
        mujoco.mj_mulM(model, data, inertial, a)
        total: Numbers = inertial + data.qfrc_bias
        return total

    friction = np.ravel(model.dof_damping), np.ravel(model.dof_frictionloss)
    gravity = tuple(map(float, model.opt.gravity))
    return LibraryModel(gravity, joints, (model.nq, model.nv), forces, friction)


def drake_model(file: Path, floating: bool) -> LibraryModel:
    """A URDF or SDF file as Drake reads it. The root links of all models are welded to the world,
    unless the base floats. The forces are M a and the bias term, less the forces of gravity. Drake
    reads no Coulomb friction."""
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.multibody.tree import BodyIndex

    plant: Any = MultibodyPlant(0.0)
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
    context: Any = plant.CreateDefaultContext()
    moving = [j for j in map(plant.get_joint, plant.GetJointIndices()) if j.num_velocities()]
    joints, damping = [], np.zeros(plant.num_velocities())
    for joint in moving:
        nq, nv, kind = joint.num_positions(), joint.num_velocities(), joint.type_name()
        is_base = floating and joint.parent_body().index() == plant.world_body().index()
        slices = _slices(joint.position_start(), nq, joint.velocity_start(), nv)
        convert = DRAKE_CONVERSIONS.get(kind, unchanged)
        joints.append(LibraryJoint(FLOATING_BASE if is_base else joint.name(), *slices, convert))
        damping[slices[1]] = joint.default_damping_vector()
    root = moving[0].parent_body().index()
    while root in parents:
        root = parents[root]
    pose = plant.EvalBodyPoseInWorld(context, plant.get_body(root))
    rotation = np.array(pose.rotation().matrix(), float)
    gravity = rotation.T @ np.array(plant.gravity_field().gravity_vector(), float)

    def forces(q: Numbers, v: Numbers, a: Numbers) -> Numbers:
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        inertial = plant.CalcMassMatrixViaInverseDynamics(context) @ a
        bias = plant.CalcBiasTerm(context) - plant.CalcGravityGeneralizedForces(context)
        total: Numbers = inertial + bias
        return total

    sizes = plant.num_positions(), plant.num_velocities()
    friction = damping, np.zeros(len(damping))
    return LibraryModel(tuple(map(float, gravity)), joints, sizes, forces, friction)


DRAKE_CONVERSIONS: Final = {"quaternion_floating": _drake_free, "ball_rpy": _drake_ball}
"""The conversion by the name of Drake's joint type."""


def _slices(position: int, nq: int, velocity: int, nv: int) -> tuple[slice, slice]:
    return slice(position, position + nq), slice(velocity, velocity + nv)

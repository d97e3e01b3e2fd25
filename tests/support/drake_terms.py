"""What Drake says of an SDFormat file, in our coordinates.

Drake's own differ for a ball (roll, pitch and yaw; a velocity in the parent's axes) and for a base
that floats (velocities in the world's axes); joints that follow others are open there."""

from pathlib import Path

import numpy as np
from pydrake.math import RollPitchYaw, RotationMatrix
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import BodyIndex, MultibodyForces

BASE = "floating_base"


def plant_of(text, folder, gravity):
    """A plant with the models of a text, those that it includes from the folders of a folder."""
    plant = MultibodyPlant(0.0)
    parser = Parser(plant)
    for inner in sorted(Path(folder).iterdir()):
        if inner.is_dir():
            parser.package_map().Add(inner.name, str(inner))
    parser.AddModelsFromString(text, "sdf")
    plant.mutable_gravity_field().set_gravity_vector(gravity)
    plant.Finalize()
    return plant


def scoped(plant, part):
    """The name of a link in our words: models inside the outermost by their names."""
    return "::".join([*_models(plant, part), part.name()])


def _models(plant, part):
    return plant.GetModelInstanceName(part.model_instance()).split("::")[1:]


def joint_name(plant, joint, names):
    """The name of a joint among ours; Drake counts one to the model of its child."""
    models = _models(plant, joint)
    for k in range(len(models), -1, -1):
        name = "::".join([*models[:k], joint.name()])
        if {name, f"{name}.theta1", f"{name}.wx"} & names:
            return name
    return joint.name()


class Lifted:
    """Drake's velocities, v = lift @ ours, and its accelerations beyond lift @ ours."""

    def __init__(self, plant, q, qd, following):
        self.q, self.qd = q, qd
        names = [*qd]
        self.place = {name: k for k, name in enumerate(names)}
        self.positions = np.array(plant.GetPositions(plant.CreateDefaultContext()))
        self.lift = np.zeros((plant.num_velocities(), len(names)))
        self.drift = np.zeros(plant.num_velocities())
        for index in plant.GetJointIndices():
            joint = plant.get_joint(index)
            name = joint_name(plant, joint, {*names, *following})
            KINDS[joint.num_velocities()](self, joint, name, following)

    def one(self, joint, name, following):
        leader, factor, offset = following.get(name, (name, 1.0, 0.0))
        self.positions[joint.position_start()] = factor * self.q[leader] + offset
        self.lift[joint.velocity_start(), self.place[leader]] = factor

    def two(self, joint, name, following):
        for k in range(2):
            own = f"{name}.theta{k + 1}"
            self.positions[joint.position_start() + k] = self.q[own]
            self.lift[joint.velocity_start() + k, self.place[own]] = 1.0

    def ball(self, joint, name, following):
        turned = rotated(self.q, name)
        self.positions[joint.position_start() :][:3] = RollPitchYaw(RotationMatrix(turned)).vector()
        self._block(joint.velocity_start(), name, "w", turned)

    def floating(self, joint, name, following):
        turned, at = rotated(self.q, BASE), joint.position_start()
        x, y, z, w = quaternion(self.q, BASE)
        self.positions[at : at + 7] = [w, x, y, z, *(self.q[f"{BASE}.{k}"] for k in "xyz")]
        start = joint.velocity_start()
        self._block(start, BASE, "w", turned)
        self._block(start + 3, BASE, "v", turned)
        v, omega = (np.array([self.qd[f"{BASE}.{part}{k}"] for k in "xyz"]) for part in "vw")
        self.drift[start + 3 : start + 6] = turned @ np.cross(omega, v)

    def _block(self, start, name, part, turned):
        for k, axis in enumerate("xyz"):
            self.lift[start : start + 3, self.place[f"{name}.{part}{axis}"]] = turned[:, k]


KINDS = {
    0: lambda *given: None,
    1: Lifted.one,
    2: Lifted.two,
    3: Lifted.ball,
    6: Lifted.floating,
}
"""By the number of a joint's velocities."""


def quaternion(q, name):
    return [q[f"{name}.q{k}"] for k in "xyzw"]


def rotated(q, name):
    """The rotation of a quaternion, by its vector part: 1 + 2 w [v] + 2 [v]²."""
    x, y, z, w = quaternion(q, name)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross


def drake_terms(text, folder, gravity, following, state):
    """Mass matrix; bias and weight; forces with springs and damping; poses of links in the world,
    at a state by names."""
    plant = plant_of(text, folder, gravity)
    at = Lifted(plant, state["q"], state["qd"], following)
    qd, qdd = (np.array([*state[key].values()]) for key in ("qd", "qdd"))
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, at.positions)
    plant.SetVelocities(context, at.lift @ qd)
    mass, lift = plant.CalcMassMatrix(context), at.lift
    weight = -plant.CalcGravityGeneralizedForces(context)
    bias = mass @ at.drift + plant.CalcBiasTerm(context) + weight
    forces = MultibodyForces(plant)
    plant.CalcForceElementsContribution(context, forces)
    moved = plant.CalcInverseDynamics(context, lift @ qdd + at.drift, forces)
    bodies = _bodies(plant)
    return {
        "M": lift.T @ mass @ lift,
        "tau_b": lift.T @ bias,
        "tau_g": lift.T @ weight,
        "tau": lift.T @ moved,
        **{
            scoped(plant, body): plant.EvalBodyPoseInWorld(context, body).GetAsMatrix34()
            for body in bodies
        },
    }


def _bodies(plant):
    every = (plant.get_body(index) for index in map(BodyIndex, range(plant.num_bodies())))
    return [body for body in every if body.index() != plant.world_body().index()]

"""Every controller with every option that claims a physical effect: honoured, or refused in a
sentence. What is right is computed by Pinocchio and the formulas of friction and springs."""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import pytest

import symgen
from symgen.algorithms.controllers import CONTROLLERS
from symgen.tracing.options import COMPENSATING

pin = pytest.importorskip("pinocchio")
pytestmark = pytest.mark.usefixtures("not_optimized")

MASS, CENTRE = (3.0, 2.0, 1.0), np.array([[0.1, 0.02, 0.2], [0.05, 0, 0.15], [0.02, 0.03, 0.1]])
TENSOR = np.diag([0.05, 0.04, 0.02])
AXES = np.array([[0.0, 0.6, 0.8], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
PLACES = np.array([[0.0, 0.0, 0.0], [0.0, 0.1, 0.3], [0.1, 0.0, 0.3]])
DAMPING, COULOMB = np.array([2.0, 0.8, 0.3]), np.array([0.5, 0.3, 0.1])
STIFFNESS, REST = np.array([6.0, 4.0, 2.0]), np.array([0.3, -0.2, 0.1])
ARMATURE = np.array([0.2, 0.1, 0.05])
WRENCH = np.array([3.0, -2.0, 1.0, 0.3, 0.2, -0.1])
FALL = np.array([1.0, -2.0, -9.0])
H = 0.002


@dataclass(frozen=True)
class Setting:
    """A robot with options, and which effects count in its joint forces."""

    options: dict
    inputs: dict
    friction: bool = False
    springs: bool = False
    wrench: bool = False
    armature: bool = False
    mimic: bool = False
    payload: float = 0.0
    fall: tuple = (0.0, 0.0, -9.81)

    @property
    def coupling(self):
        """G of q_bodies = G q + c, and c."""
        if not self.mimic:
            return np.eye(3), np.zeros(3)
        return np.array([[1.0, 0.0], [0.0, 1.0], [0.0, -0.5]]), np.array([0.0, 0.0, 0.1])

    @property
    def robot(self):
        builder = symgen.Builder("chain")
        builder.link("base")
        for k, name in enumerate("abc"):
            i = TENSOR[[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]
            builder.link(name, mass=MASS[k], center_of_mass=CENTRE[k], inertia=i)
            more = {"stiffness": STIFFNESS[k], "reference": REST[k]}
            more |= {"damping": DAMPING[k], "friction": COULOMB[k]}
            more |= {"armature": ARMATURE[k]} if self.armature else {}
            if self.mimic and k == 2:
                more |= {"mimic": "jb", "multiplier": -0.5, "offset": 0.1}
            parent = ("base", "a", "b")[k]
            builder.joint(
                f"j{name}", "continuous", parent, name, xyz=PLACES[k], axis=AXES[k], **more
            )
        return symgen.Robot(builder, **self.options)

    @property
    def model(self):
        model = pin.Model()
        for k in range(3):
            joint = pin.JointModelRevoluteUnaligned(AXES[k])
            model.addJoint(k, joint, pin.SE3(np.eye(3), PLACES[k]), f"j{k}")
            extra = self.payload if k == 2 else 0.0
            body = pin.Inertia(MASS[k] + extra, CENTRE[k], TENSOR)
            model.appendBodyToJoint(k + 1, body, pin.SE3.Identity())
        model.armature = ARMATURE if self.armature else np.zeros(3)
        model.gravity.linear = np.array(self.fall)
        return model

    def at(self, q):
        """Positions of the bodies."""
        g, c = self.coupling
        return g @ q + c

    def friction_at(self, rates):
        """Friction by the user's coordinates."""
        g, _ = self.coupling
        rates = g @ rates
        return g.T @ (DAMPING * rates + COULOMB * np.sign(rates)) * self.friction

    def other(self, q):
        """Springs, less what the wrench does at the last link."""
        (g, _), at, model = self.coupling, self.at(q), self.model
        data = model.createData()
        jacobian = pin.computeJointJacobian(model, data, at, 3)
        forces = STIFFNESS * (at - REST) * self.springs - jacobian.T @ WRENCH * self.wrench
        return g.T @ forces

    def rnea(self, q, qd, qdd):
        """M q̈ + C q̇ + g."""
        g, _ = self.coupling
        model = self.model
        return g.T @ pin.rnea(model, model.createData(), self.at(q), g @ qd, g @ qdd)

    def momentum(self, q, qd):
        """M q̇ and Cᵀ q̇ = Ṁ q̇ - C q̇."""
        (g, _), model = self.coupling, self.model
        data = model.createData()
        m = pin.crba(model, data, self.at(q))
        m = np.triu(m) + np.triu(m, 1).T
        c = pin.computeCoriolisMatrix(model, data, self.at(q), g @ qd)
        return g.T @ m @ g @ qd, g.T @ c.T @ g @ qd


NOTHING = Setting({}, {})
SETTINGS = {
    "nothing": NOTHING,
    "friction": Setting({"friction": "viscous,coulomb"}, {}, friction=True),
    "runtime friction": Setting(
        {"friction": "runtime:viscous,coulomb"},
        {"friction": np.stack([DAMPING, COULOMB], axis=1).ravel()},
        friction=True,
    ),
    "springs": Setting({"springs": True}, {}, springs=True),
    "runtime springs": Setting(
        {"runtime_springs": True},
        {"springs": np.stack([STIFFNESS, REST], axis=1).ravel()},
        springs=True,
    ),
    "wrench": Setting({"external_wrench": ("c",)}, {"wrench": WRENCH}, wrench=True),
    "rotors": Setting({}, {}, armature=True),
    "mimic": Setting({"friction": "viscous,coulomb"}, {}, friction=True, mimic=True),
    "payload": Setting({"parameters": "runtime:c"}, {}, payload=1.5),
    "gravity": Setting({"gravity": "runtime"}, {"g": FALL}, fall=tuple(FALL)),
}
STIFF, MOTOR = 100.0, 0.5
LEARNING = ("adaptive_slotine_li", "recursive_least_squares")
STATE = np.random.default_rng(4).uniform(-1, 1, (3, 3))


def loaded(setting):
    """The ten parameters of the last link with its payload."""
    c, m = CENTRE[2], MASS[2] + setting.payload
    about = TENSOR + m * (c @ c * np.eye(3) - np.outer(c, c))
    return [m, *(m * c), *about[[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]]


def inputs_of(one, full, setting, **more):
    """The inputs of a step by name."""
    read = dict(setting.inputs)
    if setting.payload:
        read["par"] = setting.robot.compile(full).regroup(loaded(setting))
    names = {*one._sizes} - {*one.gains, *one.state}
    return {name: value for name, value in (read | more).items() if name in names}


@lru_cache
def poses(mimic):
    """The functions of the pose of the last link, which no other option changes."""
    robot = replace(NOTHING, mimic=mimic).robot
    return robot.compile("frame_pose:c", "frame_quaternion_xyzw:c")


@lru_cache
def base_parameters(armature, mimic):
    """The function for the base parameters of the robot, and the parameters of its links."""
    robot = Setting({}, {}, armature=armature, mimic=mimic).robot
    ten = np.concatenate([*robot.compile("gravity", parameters="runtime").PARAMETERS.values()])
    return robot.compile("base_parameters").base_parameters, ten


def parameters_of(setting):
    """β of the base parameters, friction and springs behind."""
    function, ten = base_parameters(setting.armature, setting.mimic)
    ten = np.concatenate([ten[:20], loaded(setting)])
    spins = ARMATURE if setting.armature else []
    inertial = function([*ten, *spins])
    columns = []
    for k in range(3):
        columns += [DAMPING[k], COULOMB[k]] * setting.friction
        columns += [STIFFNESS[k], STIFFNESS[k] * REST[k]] * setting.springs
    return np.array([*inertial, *columns])


@pytest.mark.parametrize("option", SETTINGS)
@pytest.mark.parametrize("name", CONTROLLERS)
def test_an_option_is_honoured_or_refused(name, option):
    setting = SETTINGS[option]
    if name in LEARNING and option == "wrench":
        with pytest.raises(symgen.SymgenError, match="has no input for external wrenches"):
            setting.robot.controller(name, **gains_of(name, setting, 3))
        return
    n = setting.coupling[0].shape[1]
    q, qd, qdd = (x[:n] for x in STATE)
    full = f"{name}:c" if name == "cartesian_impedance" else name
    robot = setting.robot
    one = robot.controller(full, gains_of(name, setting, n))
    reference = {"q_ref": q, "qd_ref": qd, "qdd_ref": qdd, "q": q, "qd": qd, "h": H}
    if name == "cartesian_impedance":
        places = poses(setting.mimic)
        reference |= {"p_ref": places.frame_pose_c(q)[1]}
        reference |= {"quat_ref": places.frame_quaternion_xyzw_c(q)}
    found = CHECKS[name](setting, one, inputs_of(one, full, setting, **reference), (q, qd, qdd))
    assert np.abs(found).max() < 1e-9


def gains_of(name, setting, n):
    """Gains under which a state without errors needs no more than the model; damping is zero."""
    row = CONTROLLERS[name]
    gains = dict.fromkeys(row.gains, 0.0)
    gains |= {"limit": 1e6} if "limit" in gains else {}
    gains |= {"gain": 1e3, "forget": 1.0, "damping": 0.1, "beta_reach": 1e3}
    gains |= {"joint_stiffness": STIFF, "motor_inertia": MOTOR}
    if "beta_mean" in gains:
        gains["beta_mean"] = parameters_of(setting)
    return {key: value for key, value in gains.items() if key in row.gains}


def resting(setting, one, inputs, state):
    q, *_ = state
    none = 0 * q
    return one.step(**inputs) - setting.rnea(q, none, none) - setting.other(q)


def moving(setting, one, inputs, state):
    q, qd, qdd = state
    wanted = setting.rnea(q, qd, qdd) + setting.friction_at(qd) + setting.other(q)
    return one.step(**inputs) - wanted


def linearizing(setting, one, inputs, state):
    """The torques that spring and motor take along a polynomial of time, from its interpolation."""
    q, qd, qdd = state
    jerk, snap = 2.0 * qd, -3.0 * q

    def forces(t):
        at = q + t * (qd + t / 2 * (qdd + t / 3 * (jerk + t / 4 * snap)))
        rates = qd + t * (qdd + t / 2 * (jerk + t / 3 * snap))
        inertial = setting.rnea(at, rates, qdd + t * (jerk + t / 2 * snap))
        return inertial + setting.friction_at(rates) + setting.other(at)

    times = 0.02 * np.arange(-4, 5)
    fit = np.polynomial.polynomial.polyfit(times, [forces(t) for t in times], 8)
    springs = {"delta": fit[0] / STIFF, "deltad": fit[1] / STIFF}
    reference = {"qddd_ref": jerk, "qdddd_ref": snap}
    wanted = fit[0] + MOTOR * (qdd + 2.0 * fit[2] / STIFF)
    return one.step(**inputs, **springs, **reference) - wanted


def observing(setting, one, inputs, state):
    """The residual is zero where momentum changes as the model has it."""
    q, qd, _ = state
    tau, (p, transposed) = np.ones(len(q)), setting.momentum(q, qd)
    held = setting.rnea(q, 0 * q, 0 * q) + setting.friction_at(qd) + setting.other(q)
    one.state["started"][:] = 1.0
    one.state["p_last"][:] = p - H * (tau + transposed - held)
    return one.step(tau=tau, **{k: x for k, x in inputs.items() if k != "tau"})


def estimating(setting, one, inputs, state):
    """Measured forces that the parameters explain leave them as they are."""
    q, qd, qdd = state
    tau = setting.rnea(q, qd, qdd) + setting.friction_at(qd) + setting.other(q)
    beta = parameters_of(setting)
    one.state["beta_hat"][:] = beta
    return one.step(tau=tau, qdd=qdd, **inputs) - beta


CHECKS = {
    "gravity_compensation": resting,
    "cartesian_impedance": resting,
    "computed_torque": moving,
    "joint_impedance": moving,
    "adaptive_slotine_li": moving,
    "momentum_observer": observing,
    "elastic_feedback_linearization": linearizing,
    "recursive_least_squares": estimating,
}


def inputs_of_motion(one):
    """The inputs of a step on a motion with another velocity than that of the reference."""
    q, qd, qd_ref = STATE
    every = {"q": q, "qd": qd, "q_ref": q, "qd_ref": qd_ref, "qdd_ref": 0 * q, "h": H}
    every |= {"p_ref": np.zeros(3), "quat_ref": [0.0, 0.0, 0.0, 1.0]}
    return {key: x for key, x in every.items() if key in one._sizes and key not in one.gains}


@lru_cache
def command_without_friction(name, full):
    """The first command of a controller of the robot without friction."""
    one = NOTHING.robot.controller(full, gains_of(name, NOTHING, 3))
    return one.step(**inputs_of_motion(one))


@pytest.mark.parametrize("name", sorted(COMPENSATING))
@pytest.mark.parametrize("where", ["measured", "reference", "none"])
def test_friction_is_compensated_at_the_velocity_that_was_chosen(name, where):
    """The command with friction less that without."""
    setting = SETTINGS["friction"]
    full = f"{name}:c" if name == "cartesian_impedance" else name
    _, qd, qd_ref = STATE
    gains = gains_of(name, NOTHING, 3)
    if "beta_mean" in gains:
        gains["beta_mean"] = parameters_of(setting)
    options = {"friction_compensation": where}
    felt = setting.robot.with_options(**options).controller(full, gains)
    inputs = inputs_of_motion(felt)
    reference = qd_ref if "qd_ref" in inputs else 0 * qd
    at = {"measured": qd, "reference": reference}
    wanted = setting.friction_at(at[where]) if where in at else 0 * qd
    added = felt.step(**inputs) - command_without_friction(name, full)
    assert np.abs(added - wanted).max() < 1e-9

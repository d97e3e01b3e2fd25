"""Ball, universal, screw and cylindrical joints against Pinocchio, from files as Drake and SDFormat
write them."""

from functools import cache

import numpy as np
import pytest

import symgen
from symgen.mechanics.model import PARAMETER_NAMES, Joint
from symgen.mechanics.standard_joints import JOINT_TYPES
from symgen.proof.reference_kinematics import JOINTS as JUDGED
from symgen.reading.assemble import load
from symgen.reading.joint_kinds import JOINTS
from symgen.reading.urdf.urdf_writer import SPLIT_TYPES, urdf_bytes
from symgen.tracing.request import FunctionRequest
from symgen.tracing.robot import ParametricModel
from symgen.tracing.trace import trace
from tests.support.joint_kinds import KINDS, in_python, of_axis
from tests.support.joint_mix import mixed
from tests.support.joint_zoo import pinocchio, written
from tests.support.oracles import oracle

pin = oracle("pinocchio")

TENSOR = ("m", "hx", "hy", "hz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
"""The order of Pinocchio's ten."""


@pytest.fixture(scope="module")
def zoo(tmp_path_factory):
    model = load(written(tmp_path_factory.mktemp("zoo"), drake=True)).model

    @cache
    def function(quantity):
        return trace(ParametricModel(model), FunctionRequest.parse(quantity))

    def run(quantity, **inputs):
        found = function(quantity)
        values = found.run(**{name: list(map(float, inputs[name])) for name in found.inputs})
        return [np.array([float(x) for x in out]) for out in values.values()]

    return model, run


@pytest.fixture(scope="module")
def state():
    model, random = pinocchio(), np.random.default_rng(3)
    q = pin.integrate(model, pin.neutral(model), random.uniform(-2, 2, model.nv))
    return {"q": q, **{key: random.uniform(-2, 2, model.nv) for key in ("qd", "qdd")}}


def close(a, b, tolerance=1e-12):
    assert a.shape == b.shape and np.abs(a - b).max() <= tolerance * max(1.0, np.abs(b).max())


def test_drakes_joints_and_plain_ones_are_the_same_robot(tmp_path, zoo):
    plain = load(written(tmp_path, drake=False)).model
    assert plain.bodies == zoo[0].bodies
    sdf = load(written(tmp_path, drake=False, pitch='<screw_thread_pitch value="0.3"/>')).model
    assert sdf.bodies == plain.bodies
    names = ("shoulder.wx", "shoulder.wy", "shoulder.wz", "cardan.theta1", "cardan.theta2")
    assert plain.joint_names == (*names, "lead", "tube.z", "tube.theta")


def test_forces_and_accelerations(zoo, state):
    (_, run), model = zoo, pinocchio()
    data, n = model.createData(), model.nv
    tau = pin.rnea(model, data, *state.values())
    close(run("inverse_dynamics", **state)[0], tau)
    close(run("gravity", **state)[0], pin.computeGeneralizedGravity(model, data, state["q"]))
    close(run("bias", **state)[0], pin.nonLinearEffects(model, data, state["q"], state["qd"]))
    upper = np.triu(pin.crba(model, data, state["q"]))
    mass = upper + np.triu(upper, 1).T
    close(run("mass_matrix", **state)[0].reshape(n, n), mass)
    close(run("forward_dynamics", tau=tau, **state)[0], state["qdd"], 1e-10)
    energy = pin.computeKineticEnergy(model, data, state["q"], state["qd"])
    close(run("kinetic_energy", **state)[0], np.array([energy]))


def test_derivatives(zoo, state):
    """Those of Pinocchio, but for universal joints, where it disagrees with its own differences
    (S depends on q there): these are compared with the differences."""
    (_, run), model = zoo, pinocchio()
    data, n, (q, v, a) = model.createData(), model.nv, state.values()
    pin.computeRNEADerivatives(model, data, q, v, a)
    by_q, by_v, _ = (x.reshape(n, n) for x in run("inverse_dynamics_derivatives", **state))
    others = [k for k in range(n) if k not in (3, 4)]
    close(by_q[:, others], data.dtau_dq[:, others])
    close(by_v[:, others], data.dtau_dv[:, others])

    def differences(f):
        h = 1e-6
        return np.array([f(h * e) - f(-h * e) for e in np.eye(n)]).T / (2 * h)

    close(
        by_q, differences(lambda d: pin.rnea(model, data, pin.integrate(model, q, d), v, a)), 1e-8
    )
    close(by_v, differences(lambda d: pin.rnea(model, data, q, v + d, a)), 1e-8)


def test_regressor_and_centre_of_mass(zoo, state):
    (_, run), model = zoo, pinocchio()
    data, n = model.createData(), model.nv
    whole = pin.computeJointTorqueRegressor(model, data, *state.values())
    order = [10 * body + TENSOR.index(name) for body in range(4) for name in PARAMETER_NAMES]
    close(run("regressor", **state)[0].reshape(n, 40), whole[:, order])
    close(run("com", **state)[0], pin.centerOfMass(model, data, state["q"]))
    jacobian = pin.jacobianCenterOfMass(model, data, state["q"])
    close(run("com_jacobian", **state)[0].reshape(3, n), jacobian)
    a = pin.computeCentroidalMap(model, data, state["q"])
    close(run("centroidal_momentum_matrix", **state)[0].reshape(6, n), a)


@pytest.mark.parametrize("link", ["b", "c", "d"])
def test_jacobians(zoo, state, link):
    (_, run), model = zoo, pinocchio()
    data, k = model.createData(), {"b": 2, "c": 3, "d": 4}[link]
    pin.forwardKinematics(model, data, state["q"])
    body = pin.computeJointJacobian(model, data, state["q"], k)
    close(run(f"frame_jacobian_body:{link}", **state)[0].reshape(6, model.nv), body)
    placed = data.oMi[k]
    close(run(f"frame_pose:{link}", **state)[0].reshape(3, 3), placed.rotation)
    close(run(f"frame_pose:{link}", **state)[1], placed.translation)


def test_the_coriolis_matrix(zoo, state):
    (_, run), model = zoo, pinocchio()
    n, v = model.nv, state["qd"]
    c = run("coriolis_matrix", **state)[0].reshape(n, n)
    still = {**state, "qdd": 0 * v}
    close(c @ v + run("gravity", **state)[0], run("inverse_dynamics", **still)[0])
    step = 1e-6
    ends = [
        run("mass_matrix", q=pin.integrate(model, state["q"], sign * step * v))[0].reshape(n, n)
        for sign in (1, -1)
    ]
    close(c + c.T, (ends[0] - ends[1]) / (2 * step), 1e-8)


@pytest.mark.parametrize("seed", range(10))
def test_all_types_in_one_chain_with_odd_constants(seed, chain):
    model, run = chain
    data, random = model.createData(), np.random.default_rng(seed)
    q = pin.integrate(model, pin.neutral(model), random.uniform(-2, 2, model.nv))
    qd, qdd = random.uniform(-2, 2, (2, model.nv))
    tau = pin.rnea(model, data, q, qd, qdd)
    close(run("inverse_dynamics", q=q, qd=qd, qdd=qdd), tau)
    close(run("forward_dynamics", q=q, qd=qd, tau=tau), qdd, 1e-9)
    columns = pin.computeJointTorqueRegressor(model, data, q, qd, qdd)
    order = [10 * k + TENSOR.index(name) for k in range(9) for name in PARAMETER_NAMES]
    found = run("regressor", q=q, qd=qd, qdd=qdd).reshape(model.nv, -1)
    close(found, columns[:, order])
    upper = np.triu(pin.crba(model, data, q))
    close(run("mass_matrix", q=q).reshape(model.nv, -1), upper + np.triu(upper, 1).T)
    pin.forwardKinematics(model, data, q)
    body = pin.computeJointJacobian(model, data, q, model.njoints - 1)
    close(run("frame_jacobian_body:l8", q=q).reshape(6, -1), body)


@pytest.fixture(scope="module")
def chain():
    ours, theirs = mixed()
    robot = ParametricModel(symgen.Robot(ours).model)
    function = cache(lambda quantity: trace(robot, FunctionRequest.parse(quantity)))

    def run(quantity, **inputs):
        found = function(quantity)
        values = found.run(**{name: list(map(float, inputs[name])) for name in found.inputs})
        return np.array([float(x) for x in next(iter(values.values()))])

    return theirs, run


# -- what a joint type knows -----------------------------------------------------------------------


def test_every_type_is_known_to_reader_judge_and_tests():
    """What the reader adds by itself is no word of a file."""
    types = {*JOINT_TYPES}
    assert types == {*JUDGED}, "give it a row in JOINTS of symgen/proof/reference_kinematics.py"
    files = types - {"rotor", "armature", "ball_armature", "floating_armature", "floating_mass"}
    assert files == {row.kind for row in JOINTS.values()}, "a row in symgen/reading/joint_kinds.py"
    assert files == {*KINDS}, "give it a row in KINDS of tests/support/joint_kinds.py"


@pytest.mark.parametrize("word", JOINTS)
def test_a_word_of_a_file_says_all_constants_of_its_type(word):
    """In a file as in Python, and `symgen convert` writes what both read; types in `SPLIT_TYPES` it
    writes as chains of joints."""
    row = JOINTS[word]
    taken = [name for taken in row.parameters for name in (taken.word,) * taken.size]
    assert len(taken) == len(row.type.constants), f"{row.kind} has constants that no file gives"
    made = of_axis(row.kind, seed=1)
    built = symgen.Builder("one").link("base").link("body", 1.0, inertia=(1, 0, 0, 1, 0, 1))
    built.joint("j", word, "base", "body", axis=made.axis, **in_python(row, made))
    written = [] if row.kind in SPLIT_TYPES else [urdf_bytes(built.description())[0].decode()]
    for source in (built, *written):
        joint = symgen.Robot(source).model.body(1).joint
        assert joint.kind == row.kind
        assert joint.constants == pytest.approx(made.constants, abs=1e-15)


@pytest.mark.parametrize("kind", KINDS)
def test_a_joint_type_fits_together(kind):
    joint, known = of_axis(kind), JOINT_TYPES[kind]
    parts = known.parts(joint)
    assert known.validate(joint) is None and known.validate(Joint("j", kind, constants=(9.0,) * 7))
    assert len(parts) == len(known.velocities)
    assert sorted(part.velocity for part in parts) == list(range(len(parts)))
    assert all(abs(sum(x * x for x in part.axis) - 1) < 1e-15 for part in parts)
    units = [part.freedom.unit for part in sorted(parts, key=lambda part: part.velocity)]
    assert units == [row.unit for row in known.velocities]
    assert known.in_body_axes == (known.quaternion is not None)
    assert len(known.positions) - len(known.velocities) == (known.quaternion is not None)


@pytest.mark.parametrize("kind", ["ball", "floating", "screw", "universal"])
def test_integration_is_pinocchios(kind):
    joints = {
        "ball": pin.JointModelSpherical,
        "floating": pin.JointModelFreeFlyer,
        "screw": lambda: pin.JointModelHZ(0.1),
        "universal": lambda: pin.JointModelUniversal(np.eye(3)[0], np.eye(3)[1]),
    }
    model, random = pin.Model(), np.random.default_rng(5)
    model.addJoint(0, joints[kind](), pin.SE3.Identity(), "j")
    q = pin.integrate(model, pin.neutral(model), random.uniform(-2, 2, model.nv))
    for size in (1.0, 1e-7):
        v = size * random.uniform(-1, 1, model.nv)
        found = np.array(JOINT_TYPES[kind].integrate(q.tolist(), v.tolist()))
        close(found, pin.integrate(model, q, v), 1e-14)

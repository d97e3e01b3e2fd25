"""Another root of the tree (--reroot), against Pinocchio on the file as it is."""

from functools import cache

import numpy as np
import pytest

import symgen
from symgen.errors import OptionError
from symgen.reading.assemble import load
from symgen.tracing.robot import ParametricModel
from tests.support.loops import excavator
from tests.support.oracles import oracle
from tests.support.states import close, run
from tests.support.tools import invoke, robot_file

pin = oracle("pinocchio")
FOOT = {"quadruped": "fl_foot", "humanoid25": "left_sole"}


class Original:
    """Pinocchio's model of a robot that floats, in a state, and what maps its velocities to those
    of the robot whose root is the foot."""

    def __init__(self, name, upright=False, seed=1):
        self.model = pin.buildModelFromUrdf(str(robot_file(name)), pin.JointModelFreeFlyer())
        self.data, rng = self.model.createData(), np.random.default_rng(seed)
        self.q = rng.uniform(-1, 1, self.model.nq)
        self.q[3:7] /= np.linalg.norm(self.q[3:7])
        self.at = self.model.getFrameId(FOOT[name])
        if upright:  # the foot is at the origin of the world, in its axes
            root = pin.XYZQUATToSE3(self.q[:7])
            self.q[:7] = pin.SE3ToXYZQUAT(self.foot().inverse() * root)
        self.v, self.a = rng.uniform(-1, 1, (2, self.model.nv))

    def foot(self):
        pin.framesForwardKinematics(self.model, self.data, self.q)
        return self.data.oMf[self.at].copy()

    def jacobian(self):
        return pin.computeFrameJacobian(self.model, self.data, self.q, self.at, pin.LOCAL).copy()

    def drift(self):
        """dJ/dt v."""
        pin.forwardKinematics(self.model, self.data, self.q, self.v, 0 * self.v)
        return pin.getFrameAcceleration(self.model, self.data, self.at, pin.LOCAL).vector

    def columns(self, names):
        """The indices of joints by name among the velocities."""
        return [self.model.joints[self.model.getJointId(name)].idx_v for name in names]

    def mass_matrix(self):
        upper = np.triu(pin.crba(self.model, self.data, self.q))
        return upper + np.triu(upper, 1).T


@cache
def rerooted(name, base="floating", **options):
    return ParametricModel(load(robot_file(name), reroot=FOOT[name], base=base, **options).model)


@pytest.mark.parametrize("name", FOOT)
def test_a_floating_robot_has_the_same_energies_and_forces(name):
    of, theirs = rerooted(name), Original(name)
    joints = of.model.joint_names[6:]
    at = theirs.columns(joints)
    t = np.vstack([theirs.jacobian(), np.eye(theirs.model.nv)[at]])
    drift = np.concatenate([theirs.drift(), np.zeros(len(at))])
    x = {
        "q": np.concatenate([pin.SE3ToXYZQUAT(theirs.foot()), theirs.q[[k + 1 for k in at]]]),
        "qd": t @ theirs.v,
        "qdd": t @ theirs.a + drift,
    }
    n = theirs.model.nv
    mass = run(of, "mass_matrix", x)["M"].reshape(n, n)
    close(t.T @ mass @ t, theirs.mass_matrix(), 1e-10)
    forces = pin.rnea(theirs.model, theirs.data, theirs.q, theirs.v, theirs.a)
    close(t.T @ run(of, "inverse_dynamics", x)["tau"], forces, 1e-10)
    energy = pin.computePotentialEnergy(theirs.model, theirs.data, theirs.q)
    close(run(of, "potential_energy", x)["V"], np.array([energy]), 1e-10)
    pin.framesForwardKinematics(theirs.model, theirs.data, theirs.q)
    for link in ("trunk", "fr_foot") if name == "quadruped" else ("pelvis", "right_sole"):
        pose = run(of, f"frame_pose:{link}", x)
        place = theirs.data.oMf[theirs.model.getFrameId(link)]
        close(pose[f"R_{link}"], place.rotation.ravel())
        close(pose[f"p_{link}"], place.translation)


@pytest.mark.parametrize("name", FOOT)
def test_a_stance_foot_that_is_held_constrains_the_original(name):
    """The dynamics of the fixed robot are those of the original with the foot at rest."""
    of, theirs = rerooted(name, "fixed", gravity=(0.0, 0.0, -9.81)), Original(name, upright=True)
    at, n = theirs.columns(of.model.joint_names), theirs.model.nv
    jacobian = theirs.jacobian()
    free = np.linalg.inv(jacobian[:, :6])
    null = np.zeros((n, len(at)))
    null[at] = np.eye(len(at))
    null[:6] = -free @ jacobian[:, at]
    qd, qdd = np.random.default_rng(5).uniform(-1, 1, (2, len(at)))
    theirs.v = null @ qd
    theirs.a = null @ qdd
    theirs.a[:6] -= free @ theirs.drift()
    x = {"q": theirs.q[[k + 1 for k in at]], "qd": qd, "qdd": qdd}
    mass = run(of, "mass_matrix", x)["M"].reshape(len(at), -1)
    close(mass, null.T @ theirs.mass_matrix() @ null, 1e-10)
    forces = pin.rnea(theirs.model, theirs.data, theirs.q, theirs.v, theirs.a)
    close(run(of, "inverse_dynamics", x)["tau"], null.T @ forces, 1e-10)


def test_the_converted_file_is_the_same_robot(tmp_path):
    """Revolute and prismatic joints, read by Pinocchio from the URDF that symgen convert writes."""
    out = tmp_path / "scara.urdf"
    done = invoke("convert", robot_file("scara"), "--reroot", "quill", "-o", out)
    assert done.exit_code == 0, done.stderr
    of = ParametricModel(load(robot_file("scara"), reroot="quill", gravity=(0, 0, -9.81)).model)
    model = pin.buildModelFromUrdf(str(out))
    q, qd, qdd = np.random.default_rng(2).uniform(-1, 1, (3, 4))
    at = [model.joints[model.getJointId(name)].idx_v for name in of.model.joint_names]
    theirs = pin.rnea(model, model.createData(), q, qd, qdd)[at]
    x = {"q": q[at], "qd": qd[at], "qdd": qdd[at]}
    close(run(of, "inverse_dynamics", x)["tau"], theirs, 1e-10)


def test_gravity_keeps_its_direction_in_the_world():
    """At position 0 of the reversed joints."""
    plain, turned = load(robot_file("ur5")).model, load(robot_file("ur5"), reroot="link6").model
    pose = run(ParametricModel(plain), "frame_pose:link6", {"q": np.zeros(6)})["R_link6"]
    close(pose.reshape(3, 3) @ np.array(turned.gravity), np.array(plain.gravity))


def test_the_root_of_the_file_changes_nothing():
    assert load(robot_file("ur5"), reroot="base").model == load(robot_file("ur5")).model


def test_links_that_root_removes_are_removed_first():
    model = load(robot_file("ur5"), root="link2", reroot="link5").model
    assert set(model.joint_names) == {"joint3", "joint4", "joint5", "joint6"}
    assert model.root == "link5"


def test_a_locked_joint_on_the_path_is_locked_where_it_was():
    q = np.array([0.3, -0.2, 0.4, 0.1, 0.5, -0.6])
    free = ParametricModel(load(robot_file("ur5"), reroot="link6").model)
    held = ParametricModel(load(robot_file("ur5"), reroot="link6", lock=[("joint3", 0.4)]).model)
    at = {name: q[int(name[-1]) - 1] for name in free.model.joint_names}
    for link in ("base", "link3", "link4"):
        poses = [
            run(of, f"frame_pose:{link}", {"q": [at[x] for x in of.model.joint_names]})
            for of in (free, held)
        ]
        close(poses[0][f"p_{link}"], poses[1][f"p_{link}"])


FLOATING = """<robot name="r"><link name="world"/><link name="a"><inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="free" type="floating"><parent link="world"/><child link="a"/></joint></robot>"""


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ("ur5", {"reroot": "hand"}, "--reroot 'hand': no link has this name"),
        (FLOATING, {"reroot": "a"}, "'free' .* is a floating joint, which cannot be reversed"),
    ],
)
def test_what_cannot_be_rerooted_is_refused(source, options, message):
    with pytest.raises(OptionError, match=message):
        load(source if "<" in source else robot_file(source), **options)


def test_a_rotor_on_a_reversed_joint_is_refused_unless_it_is_reflected(tmp_path):
    drives = tmp_path / "drives.toml"
    drives.write_text("[joints.joint4]\ngear_ratio = 50\nrotor_inertia = 1e-4\n")
    options = {"reroot": "link6", "actuators": str(drives)}
    with pytest.raises(OptionError, match="'joint4' is reversed, and its rotor is on the link"):
        load(robot_file("ur5"), **options)
    reflected = ParametricModel(load(robot_file("ur5"), rotors="reflected", **options).model)
    plain = ParametricModel(load(robot_file("ur5"), reroot="link6").model)
    masses = [
        run(x, "mass_matrix", {"q": np.zeros(6)})["M"].reshape(6, 6) for x in (reflected, plain)
    ]
    added = np.zeros((6, 6))
    added[2, 2] = 50**2 * 1e-4
    close(masses[0] - masses[1], added)


def test_generated_code_of_a_stance_foot_passes_its_self_test(tmp_path):
    out = tmp_path / "out"
    made = invoke("generate", robot_file("quadruped"), "--reroot", "fl_foot", "-o", out)
    assert made.exit_code == 0, made.stderr
    assert invoke("verify", out).exit_code == 0
    assert symgen.Robot(robot_file("quadruped"), reroot="fl_foot").model.root == "fl_foot"


def test_a_robot_with_a_closed_loop_has_the_same_energies():
    plain = ParametricModel(load(excavator(), base="floating").model)
    turned = ParametricModel(load(excavator(), reroot="stick", base="floating").model)
    rng = np.random.default_rng(3)
    base = rng.uniform(-1, 1, 7)
    base[3:] /= np.linalg.norm(base[3:])
    names = plain.model.joint_names[6:]
    order = [names.index(name) for name in turned.model.joint_names[6:]]
    joints, rates = rng.uniform(-0.2, 0.2, 3), rng.uniform(-1, 1, 3)
    x = {"q": np.r_[base, joints], "qd": np.r_[rng.uniform(-1, 1, 6), rates]}
    pose = run(plain, "frame_pose:stick", x)
    turn = pin.Quaternion(pose["R_stick"].reshape(3, 3)).coeffs()
    jacobian = run(plain, "frame_jacobian_body:stick", x)["J_stick"].reshape(6, -1)
    y = {
        "q": np.r_[pose["p_stick"], turn, joints[order]],
        "qd": np.r_[jacobian @ x["qd"], rates[order]],
    }
    for energy, output in (("potential_energy", "V"), ("kinetic_energy", "T")):
        close(run(turned, energy, y)[output], run(plain, energy, x)[output], 1e-10)

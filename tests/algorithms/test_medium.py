"""The medium of MJCF files against MuJoCo, and matrices of drag from each format that has them."""

import numpy as np
import pytest

from symgen.errors import OptionError, RobotError
from symgen.jobs.job import Job
from symgen.reading.assemble import load
from tests.support.oracles import oracle
from tests.support.states import close, run
from tests.support.tools import ROOT

mujoco = oracle("mujoco")
OCEAN = """<mujoco><option gravity="0 0 -9.81" wind="0.3 -0.2 0.5" {option}/>
<worldbody><body name="hull" pos="0 0 1"><freejoint name="f"/>
<inertial pos="0.1 0.02 -0.03" mass="2" fullinertia="0.1 0.12 0.15 0.01 0.02 -0.01"/>
<body name="arm" pos="0.3 0 0.4" euler="10 20 30"><joint name="a" axis="0 1 0"/>
<geom type="capsule" size="0.05 0.3" pos="0.1 0.2 0.3" euler="40 50 60" {geom}/>
<geom name="box" type="box" size="0.05 0.1 0.2" pos="-0.1 0 0.1" {geom}/>
<geom type="cylinder" size="0.03 0.1" pos="0.2 0 0.1"/>
<body name="tip" pos="0.1 0.2 0.3"><joint name="b" type="slide" axis="1 0 1"/>
<geom type="sphere" size="0.1"/></body></body></body></worldbody></mujoco>"""
ELLIPSOID = 'fluidshape="ellipsoid"'


@pytest.mark.parametrize(
    ("option", "geom"),
    [
        ('density="1.2" viscosity="0.1"', ""),
        ('density="1000"', ""),
        ('viscosity="0.9"', ""),
        ('viscosity="0.9"', ELLIPSOID),
    ],
)
def test_accelerations_in_a_medium_are_mujoco_s(option, geom):
    text = OCEAN.format(option=option, geom=geom)
    model = mujoco.MjModel.from_xml_string(text)
    data, random = mujoco.MjData(model), np.random.default_rng(0)
    data.qpos = random.uniform(-1, 1, model.nq)
    data.qpos[3:7] /= np.linalg.norm(data.qpos[3:7])
    data.qvel = random.uniform(-2, 2, model.nv)
    mujoco.mj_forward(model, data)
    assert np.abs(data.qfrc_fluid).max() > 0.1
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, data.qpos[3:7])
    turn = turn.reshape(3, 3)
    q, qd, qdd = data.qpos[[0, 1, 2, 4, 5, 6, 3, 7, 8]], data.qvel.copy(), data.qacc.copy()
    qd[:3] = turn.T @ qd[:3]
    qdd[:3] = turn.T @ qdd[:3] - np.cross(qd[3:6], qd[:3])
    job = Job.of(text, fluid=True)
    found = run(job.robot(job.load()), "forward_dynamics", {"q": q, "qd": qd, "tau": 0 * qd})
    close(found["qdd"], qdd, 1e-12)


def test_ellipsoids_in_a_dense_medium_are_refused(tmp_path):
    path = tmp_path / "fish.xml"
    path.write_text(OCEAN.format(option='density="1000"', geom=ELLIPSOID))
    job = Job.of(str(path), fluid=True)
    with pytest.raises(OptionError, match=r"fish.xml:4: geom 'number 0': the drag, lift and added"):
        job.robot(job.load())
    table = tmp_path / "arm.toml"
    table.write_text("[links.arm]\nlinear_drag = [1, 1, 1, 0, 0, 0]\n")
    job = Job.of(str(path), fluid=True, actuators=table)
    assert job.robot(job.load()).fluid


@pytest.mark.parametrize("root", [{"root": "arm"}, {"reroot": "tip"}])
def test_currents_turn_with_the_root(root):
    """Their angle to gravity stays."""
    fixed = OCEAN.replace('<freejoint name="f"/>', '<joint name="f"/>')
    model = load(fixed.format(option='density="1.2"', geom=""), **root).model
    currents = [x.current for body in model.bodies for k in body.links for x in k.fluids]
    assert currents
    for current in currents:
        assert np.dot(current, model.gravity) == pytest.approx(-9.81 * 0.5)
        assert np.linalg.norm(current) == pytest.approx(np.sqrt(0.38))


# -- matrices of drag ------------------------------------------------------------------------------

RANDOM = np.random.default_rng(7)
LINEAR, QUADRATIC = RANDOM.uniform(-3, 3, (6, 6)), RANDOM.uniform(-3, 3, (6, 6))
HULL = """<sdf version="1.10"><world name="sea"><model name="m"><link name="hull"/>
<plugin filename="gz-sim-hydrodynamics-system" name="h"><link_name>hull</link_name>{}</plugin>
</model></world></sdf>"""
SPEEDS, FORCES = "UVWPQR", "xyzkmn"


def drag(source, **options):
    """What drag adds to the joint forces at a velocity, and the velocity."""
    v, still = np.array([0.7, -0.3, 0.5, -0.4, 0.9, 0.2]), np.zeros(6)
    forces = []
    for fluid in (True, False):
        job = Job.of(source, base="floating", fluid=fluid, **options)
        x = {"q": [0.1, 0.2, 0.3, 0, 0.6, 0, 0.8], "qd": v, "qdd": still}
        forces.append(run(job.robot(job.load()), "inverse_dynamics", x)["tau"])
    return forces[0] - forces[1], v


def tags(mark, matrix):
    """Coefficients of Gazebo's plugin, derivatives of forces."""
    return "".join(
        f"<{f}{s}{mark.format(s)}>{-x}</{f}{s}{mark.format(s)}>"
        for f, row in zip(FORCES, matrix, strict=True)
        for s, x in zip(SPEEDS, row, strict=True)
    )


def test_matrices_of_drag_in_the_file_of_actuators(tmp_path):
    robot, table = tmp_path / "hull.urdf", tmp_path / "hull.toml"
    robot.write_text(
        '<robot name="hull"><link name="hull"><inertial><mass value="1"/><inertia ixx="1" ixy="0" '
        'ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link></robot>'
    )
    rows = f"linear_drag = {LINEAR.ravel().tolist()}\nquadratic_drag = {QUADRATIC.ravel().tolist()}"
    table.write_text(f"[links.hull]\n{rows}\n")
    force, v = drag(str(robot), actuators=table)
    close(force, LINEAR @ v + QUADRATIC @ (abs(v) * v), 1e-12)


@pytest.mark.parametrize(
    ("mark", "speed"), [("", np.ones_like), ("abs{}", abs), ("{}", np.asarray), ("absW", None)]
)
def test_coefficients_off_the_diagonal_of_gazebo_s_plugin(mark, speed):
    """xV multiplies v, xVabsV |v| v, xVV v v and xVabsW |w| v (buildDampingMatrix of
    gz-sim-hydrodynamics-system)."""
    force, v = drag(HULL.format(tags(mark, LINEAR)))
    close(force, LINEAR @ (v * (abs(v[2]) if speed is None else speed(v))), 1e-12)


@pytest.mark.parametrize(
    ("tag", "message"),
    [
        ("<lookup_current_x>east</lookup_current_x>", "<lookup_current_x> is not supported"),
        (
            "<xDotU>-5</xDotU><disable_coriolis>true</disable_coriolis>",
            "<disable_added_mass> and <disable_coriolis> must have the same value",
        ),
    ],
)
def test_parameters_of_gazebo_s_plugin_without_an_equation_are_refused(tag, message):
    with pytest.raises(RobotError, match=message):
        load(HULL.format(tag), base="floating")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("[1, 2, 3, 4, 5]", "has 5 numbers; give the diagonal"),
        ("3.0", "a number .* where a list of numbers is needed"),
    ],
)
def test_what_is_no_matrix_is_refused(value, message, tmp_path):
    table = tmp_path / "hull.toml"
    table.write_text(f"[links.hull]\nquadratic_drag = {value}\n")
    with pytest.raises(RobotError, match=message):
        load(ROOT / "robots" / "rov.sdf", base="floating", actuators=table)

"""Robots that come from no file: built in Python, from DH tables, from other libraries."""

import math
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
import sympy
from joint_zoo import INERTIA, JOINTS, LINKS, PITCH, urdf
from joint_zoo import pinocchio as zoo_model
from states import close
from tools import ROOT, invoke, robot_file

import symgen
from symgen.errors import OptionError, RobotError, SymgenError
from symgen.reading.joints import JOINTS as JOINTS_OF_FILES

UR5 = robot_file("ur5")


def run(robot, quantity, **inputs):
    """The first output of a quantity on floats, by the algorithm itself."""
    function = robot.trace(quantity)
    found = function.run(**{k: list(map(float, inputs[k])) for k in function.inputs})
    return np.array([float(x) for x in next(iter(found.values()))])


def pose(robot, link, q):
    """The first three rows of a link's homogeneous transform."""
    found = robot.trace(f"frame_pose:{link}").run(q=list(map(float, q)))
    turn, place = (np.array([float(x) for x in out]) for out in found.values())
    return np.column_stack([turn.reshape(3, 3), place])


def built_zoo():
    """The robot of `joint_zoo`, built in Python."""
    made = symgen.Builder("zoo").link("base")
    for name, (xyz, rpy, mass, tensor) in LINKS.items():
        made.link(name, mass, xyz, tensor, rpy)
    for name, (kind, parent, child, xyz, rpy, axis) in JOINTS.items():
        more = {"axis": axis} if axis else {"axis": (1, 0, 0)} if kind == "universal" else {}
        pitch = {"pitch": PITCH} if kind == "screw" else {}
        made.joint(name, kind, parent, child, xyz, rpy, **more, **pitch)
    return made


# -- builder ---------------------------------------------------------------------------------------


def test_a_built_robot_is_the_one_in_a_file():
    built, text = symgen.Robot(built_zoo()), symgen.Robot(urdf(drake=False))
    assert built.model.bodies == text.model.bodies
    assert len(INERTIA) == 6 and built.velocities == text.velocities


def test_any_joint_type_against_pinocchio():
    robot, model = symgen.Robot(built_zoo()), zoo_model()
    data, random = model.createData(), np.random.default_rng(3)
    q = pin.integrate(model, pin.neutral(model), random.uniform(-2, 2, model.nv))
    qd, qdd = random.uniform(-2, 2, (2, model.nv))
    tau = pin.rnea(model, data, q, qd, qdd)
    close(run(robot, "inverse_dynamics", q=q, qd=qd, qdd=qdd), tau)


COUPLED = """<robot name="r"><link name="a"/>
<link name="b"><inertial><origin xyz="0.1 0 0"/><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<link name="c"><inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="2" iyz="0" izz="1"/></inertial></link>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="2" velocity="3" effort="4"/><dynamics damping="0.5" friction="0.25"/></joint>
<joint name="k" type="prismatic"><parent link="b"/><child link="c"/><axis xyz="0 0 1"/><origin xyz="0 0 1"/>
<limit velocity="1" effort="1"/><mimic joint="j" multiplier="0.5" offset="0.1"/></joint>
<transmission name="t"><joint name="j"/><actuator name="m"><drake:rotor_inertia xmlns:drake="http://drake.mit.edu" value="0.01"/>
<drake:gear_ratio xmlns:drake="http://drake.mit.edu" value="50"/></actuator></transmission></robot>"""


def test_limits_friction_mimics_and_rotors_are_those_of_a_file():
    made = symgen.Builder("r").link("a")
    made.link("b", 1, (0.1, 0, 0), (1, 0, 0, 1, 0, 1)).link("c", 2, inertia=np.diag([1, 2, 1]))
    limits = {"lower": -1, "upper": 2, "velocity": 3, "effort": 4}
    drive = {"ratio": 50, "rotor_inertia": 0.01}
    losses = {"damping": 0.5, "friction": 0.25}
    made.joint("j", "revolute", "a", "b", axis=(0, 2, 0), **limits, **losses, **drive)
    follows = {"mimic": "j", "multiplier": 0.5, "offset": 0.1}
    made.joint("k", "prismatic", "b", "c", (0, 0, 1), velocity=1, effort=1, **follows)
    assert symgen.Robot(made).model == symgen.Robot(COUPLED).model


@pytest.mark.parametrize("kind", JOINTS_OF_FILES)
def test_every_joint_type_can_be_built(kind):
    more = {"pitch": 0.1} if kind == "screw" else {}
    made = symgen.Builder(kind).link("a").link("b", 1.0, (0.1, 0.2, 0), (1, 0, 0, 1, 0, 1))
    robot = symgen.Robot(made.joint("j", kind, "a", "b", axis=(0, 0, 1), **more))
    assert robot.joints[0].type == JOINTS_OF_FILES[kind].kind
    assert len(robot.neutral) == len(robot.positions)


def test_what_is_wrong_is_said_with_the_line_of_the_call():
    made = symgen.Builder("x").link("a").joint("j", "revolute", "a", "b")
    with pytest.raises(RobotError, match=r"test_sources\.py:\d+: error: joint 'j': child link 'b'"):
        symgen.Robot(made).model  # noqa: B018


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda b: b.link("a", mass="1"), "link 'a': mass is '1'; give a finite number"),
        (lambda b: b.link("a", mass=-1), "mass is negative"),
        (lambda b: b.link("a", 1, inertia=(1, 2)), "has 2 numbers"),
        (lambda b: b.link("a", 1, inertia=np.arange(9.0).reshape(3, 3)), "not symmetric"),
        (lambda b: b.joint("j", "hinge", "a", "b"), "no type 'hinge'; use revolute"),
        (lambda b: b.joint("j", "revolute", "a", "b", axis=(0, 0, 0)), "axis is zero"),
        (lambda b: b.joint("j", "revolute", "a", "b", pitch=1.0), "has no pitch"),
        (lambda b: b.joint("j", ["x"], "a", "b"), "no type"),
        (lambda b: b.joint("j", "revolute", "a", "b", rotation=5), "rotation is 5; give a list"),
        (lambda b: b.joint("j", "revolute", "a", "b", rpy=5), "rpy is 5; give three numbers"),
        (lambda b: b.joint("j", "universal", "a", "b", axis2=5), "axis2 is 5; give three"),
        (lambda b: b.joint("j", "revolute", "a", "b", mimic=5), "mimics no joint"),
        (lambda b: b.joint("j", "revolute", "a", "b", armature=-1), "armature not negative"),
        (lambda b: b.link(None), "a link is called None; give it a name"),
        (lambda b: symgen.Builder(5), "a robot is called 5"),
        (lambda b: b.joint("j", "screw", "a", "b"), "needs a pitch"),
        (lambda b: b.joint("j", "revolute", "a", "b", rpy=(sympy.Symbol("x"), 0, 0)), "symbol x"),
        (lambda b: b.joint("j", "fixed", "a", "b", rotation=-np.eye(3)), "no rotation matrix"),
        (lambda b: b.joint("j", "fixed", "a", "b", rpy=(1, 0, 0), quaternion=(0, 0, 0, 1)), "both"),
    ],
)
def test_numbers_that_are_none_are_refused(call, said):
    with pytest.raises(OptionError, match=said):
        call(symgen.Builder())


def test_three_ways_to_say_a_rotation():
    turn = pin.rpy.rpyToMatrix(0.1, -0.4, 2.0)
    quaternion = pin.Quaternion(turn).coeffs()
    ways = ({"rpy": (0.1, -0.4, 2.0)}, {"rotation": turn}, {"quaternion": quaternion})
    poses = []
    for way in ways:
        made = symgen.Builder().link("a").link("b", 1.0).joint("j", "revolute", "a", "b", **way)
        poses.append(np.array(symgen.Robot(made).model.bodies[0].pose.rotation))
    close(poses[0], turn, 1e-15)
    close(poses[1], turn, 1e-15)
    close(poses[2], turn, 1e-15)


def test_the_same_robot_is_the_same_bytes_wherever_it_was_built():
    one, other = symgen.Robot(built_zoo()), symgen.Robot(built_zoo())
    assert one.loaded.sha256 == other.loaded.sha256
    changed = symgen.Robot(built_zoo().frame("tool", "d", (0, 0, 0.1)))
    assert changed.loaded.sha256 != one.loaded.sha256


# -- texts and objects -----------------------------------------------------------------------------


def test_a_text_of_xml_is_a_robot():
    text = Path(UR5).read_text(encoding="utf-8")
    assert symgen.Robot(text).model == symgen.Robot(UR5).model
    assert symgen.trace(text, "gravity").counts == symgen.trace(UR5, "gravity").counts
    with pytest.raises(RobotError, match="XML text:1"):
        symgen.load("<robot name='x'>")
    with pytest.raises(OptionError, match="save it as a"):
        symgen.load('<robot xmlns:xacro="http://ros.org/wiki/xacro"/>')


def test_what_is_no_robot_is_refused():
    with pytest.raises(TypeError, match="a robot is the path of a file"):
        symgen.load(42)


def test_generate_from_a_built_robot(tmp_path):
    paths = symgen.Robot(built_zoo()).generate(tmp_path / "zoo", ["python"])
    assert "zoo.py" in {path.name for path in paths}
    assert "zoo (Python)" in (tmp_path / "zoo" / "manifest.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["ur5", "quadruped", "panda"])
def test_a_model_of_pinocchio(name):
    file = robot_file(name)
    root = [pin.JointModelFreeFlyer()] if name == "quadruped" else []
    model = pin.buildModelFromUrdf(file, *root)
    model.armature[:] = [0.0] * (6 * len(root)) + [
        0.1 + 0.01 * k for k in range(model.nv - 6 * len(root))
    ]
    same_as_pinocchio(model)


def test_a_model_of_pinocchio_with_other_joints():
    model = pin.Model()
    turned = pin.SE3(pin.rpy.rpyToMatrix(0.3, 0.2, 0.1), np.array([0.1, 0.2, 0.3]))
    along, at = np.array([0.0, 0.6, 0.8]), 0
    kinds = [
        pin.JointModelSpherical(),
        pin.JointModelUniversal(np.eye(3)[0], np.eye(3)[1]),
        pin.JointModelHelicalUnaligned(along, 0.1),
        pin.JointModelHX(0.2),
        pin.JointModelPrismaticUnaligned(along),
        pin.JointModelPZ(),
        pin.JointModelRevoluteUnaligned(along),
    ]
    for k, kind in enumerate(kinds):
        at = model.addJoint(at, kind, turned, f"joint{k}")
        model.appendBodyToJoint(at, pin.Inertia.Random(), pin.SE3.Identity())
    model.gravity.linear = np.array([1.0, 2.0, -9.0])
    same_as_pinocchio(model)


def same_as_pinocchio(model):
    robot, data, random = symgen.Robot(model), model.createData(), np.random.default_rng(5)
    q = pin.integrate(model, pin.neutral(model), random.uniform(-1, 1, model.nv))
    qd, qdd = random.uniform(-2, 2, (2, model.nv))
    tau = pin.rnea(model, data, q, qd, qdd)
    close(run(robot, "inverse_dynamics", q=q, qd=qd, qdd=qdd), tau)
    mass = pin.crba(model, data, q)
    close(run(robot, "mass_matrix", q=q).reshape(model.nv, -1), np.triu(mass) + np.triu(mass, 1).T)


def test_frames_of_pinocchio_keep_their_places():
    model = pin.buildModelFromUrdf(UR5)
    data, q = model.createData(), np.linspace(-1, 1, 6)
    pin.framesForwardKinematics(model, data, q)
    there = data.oMf[model.getFrameId("flange")].homogeneous[:3]
    close(pose(symgen.Robot(model), "flange", q), there)


def test_a_joint_that_is_not_known_is_refused():
    model = pin.Model()
    model.addJoint(0, pin.JointModelSphericalZYX(), pin.SE3.Identity(), "odd")
    with pytest.raises(RobotError, match="joint 'odd': has Pinocchio's type SphericalZYX"):
        symgen.load(model)


def test_a_robot_of_yourdfpy():
    yourdfpy = pytest.importorskip("yourdfpy")
    robot = yourdfpy.URDF.load(UR5, load_meshes=False, build_scene_graph=False)
    q = np.linspace(-1, 1, 6)
    ours = run(symgen.Robot(UR5), "mass_matrix", q=q)
    close(run(symgen.Robot(robot), "mass_matrix", q=q), ours)


# -- Denavit and Hartenberg ------------------------------------------------------------------------

TABLE = [
    {"a": 0.1, "alpha": math.pi / 2, "d": 0.3, "theta": 0.2},
    {"a": -0.4, "alpha": 0.0, "d": 0.0, "theta": 0.0, "type": "prismatic"},
    {"a": 0.3, "alpha": -0.7, "d": 0.1, "theta": math.pi / 2},
    {"a": 0.0, "alpha": math.pi, "d": -0.2, "theta": -1.0},
]
BODIES = [
    {
        "mass": 1.0 + k,
        "center_of_mass": (0.1, 0.02 * k, -0.1),
        "inertia": (0.1, 0.0, 0.01, 0.2, 0, 0.2),
    }
    for k in range(4)
]


def _x(angle, length):
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[1, 0, 0, length], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1]])


def _z(angle, length):
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, length], [0, 0, 0, 1]])


def forward(convention, q):
    """The frames of `TABLE` by the textbooks' matrices."""
    pose, found = np.eye(4), []
    for row, x in zip(TABLE, q, strict=True):
        slide = row.get("type") == "prismatic"
        z = _z(row["theta"] + (0 if slide else x), row["d"] + (x if slide else 0))
        across = _x(row["alpha"], row["a"])
        pose = pose @ z @ across if convention == "standard" else pose @ across @ z
        found.append(pose)
    return found


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_frames_of_a_table_are_the_textbooks(convention):
    robot, q = symgen.from_dh(TABLE, convention), [0.3, -0.1, 0.7, 1.1]
    for k, there in enumerate(forward(convention, q), 1):
        close(pose(robot, f"link{k}", q), there[:3], 1e-14)


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_inertia_of_a_table_is_in_its_frames(convention):
    rows = [row | body for row, body in zip(TABLE, BODIES, strict=True)]
    robot, model, at = symgen.from_dh(rows, convention), pin.Model(), 0
    q, rest = [0.3, -0.1, 0.7, 1.1], np.eye(4)
    for k, body in enumerate(BODIES):
        row, slide = TABLE[k], TABLE[k].get("type") == "prismatic"
        z, across = _z(row["theta"], row["d"]), _x(row["alpha"], row["a"])
        standard = convention == "standard"
        before, after = (rest @ z, across) if standard else (rest @ across @ z, np.eye(4))
        kind = pin.JointModelPZ() if slide else pin.JointModelRZ()
        at = model.addJoint(at, kind, pin.SE3(before), f"j{k}")
        xx, xy, xz, yy, yz, zz = body["inertia"]
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        inertia = pin.Inertia(body["mass"], np.array(body["center_of_mass"]), tensor)
        model.appendBodyToJoint(at, inertia, pin.SE3(after))
        rest = after
    tau = pin.rnea(model, model.createData(), np.array(q), np.array(q) * 2, np.array(q) + 1)
    found = run(robot, "inverse_dynamics", q=q, qd=np.array(q) * 2, qdd=np.array(q) + 1)
    close(found, tau, 1e-13)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([(0, 1, 2, 3)], "tables differ in the order"),
        ([{"A": 1}], "no key is called 'A'"),
        ([{"alpha": sympy.Symbol("x")}], "angles are numbers"),
        ([{"type": "ball"}], "use revolute or prismatic"),
        ([], "a row for each joint"),
    ],
)
def test_rows_that_are_none_are_refused(rows, said):
    with pytest.raises(OptionError, match=said):
        symgen.from_dh(rows, "modified")


TOML = """
name = "two"
convention = "modified"
[[joint]]
mass = 1.0
inertia = [0.1, 0.0, 0.0, 0.1, 0.0, 0.1]
[[joint]]
name = "elbow"
alpha = "-pi/2"
a = 0.5
mass = 2.0
center_of_mass = [0.25, 0.0, 0.0]
"""


def test_a_table_as_a_file(tmp_path):
    path = tmp_path / "two.toml"
    path.write_text(TOML, encoding="utf-8")
    robot = symgen.Robot(path)
    assert robot.name == "two" and robot.velocities == ("joint1", "elbow")
    result = invoke("check", path)
    assert result.exit_code == 0 and "elbow" in result.stdout
    path.write_text(TOML.replace("modified", "craig"), encoding="utf-8")
    result = invoke("check", path)
    assert result.exit_code == 2 and "two.toml:3: error: convention" in result.stderr


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("alpha", "alfa", "two.toml:9: error: joint.2.alfa: no key is called 'alfa'; near names"),
        ("a = 0.5", 'a = "x"', "two.toml:10: error: joint.2.a: is a text (x)"),
        ("a = 0.5", "a = true", "two.toml:10: error: joint.2.a: is a boolean"),
        ('"-pi/2"', '"pi/0"', "two.toml:7: error: joint.2: row 2: alpha is pi/0; angles"),
        ('"elbow"', "5", "two.toml:7: error: joint.2: a joint is called 5; give it a name"),
        ('"elbow"', '"joint1"', "two.toml:7: error: joint 'joint1': the name is taken by"),
        ("mass = 2.0", "mass = -2.0", "two.toml:7: error: joint.2: link 'link2': mass is negative"),
        (
            "mass = 2.0",
            "inertia = 5",
            "two.toml:7: error: joint.2: link 'link2': inertia is 5; give",
        ),
        ("mass = 2.0", "ratio = 0", "two.toml:7: error: joint.2: joint 'elbow': a ratio is not 0"),
        ("mass = 2.0", "armature = -1", "two.toml:7: error: joint.2: joint 'elbow': a ratio is"),
        ("[[joint]]", "[joint]", "two.toml:"),
    ],
)
def test_what_is_wrong_in_a_table_is_said_with_its_line(tmp_path, old, new, said):
    path = tmp_path / "two.toml"
    path.write_text(TOML.replace(old, new), encoding="utf-8")
    done = invoke("check", path)
    assert done.exit_code == 2 and done.stderr.count("\n") == 1 and said in done.stderr, done.stderr


def test_a_missing_job_file_is_said_to_be_one(tmp_path):
    assert "symgen init writes one" in invoke("check", tmp_path / "none.toml").stderr


# -- symbols ---------------------------------------------------------------------------------------


def planar():
    a1, a2, m1, m2 = sympy.symbols("a1 a2 m1 m2")
    rows = [{"a": a1, "mass": m1, "alpha": sympy.pi / 2}, {"a": a2, "mass": m2, "d": a1 / 3}]
    return symgen.from_dh(rows, "standard", "planar")


def test_symbols_need_values_before_code_is_made():
    robot = planar()
    assert robot.symbols == ("a1", "a2", "m1", "m2")
    with pytest.raises(SymgenError, match=r"give it one with robot.subs"):
        robot.trace("mass_matrix")
    part = robot.subs({"m1": 1, sympy.Symbol("m2"): 2.5})
    assert part.symbols == ("a1", "a2")
    with pytest.raises(OptionError, match="has no symbol 'm1'"):
        part.subs({"m1": 2})
    rows = [{"a": 0.3, "mass": 1, "alpha": math.pi / 2}, {"a": 0.4, "mass": 2.5, "d": 0.3 / 3}]
    numbers = symgen.from_dh(rows, "standard", "planar")
    whole, q = part.subs({"a1": 0.3, "a2": 0.4}), [0.4, 0.9]
    close(run(whole, "mass_matrix", q=q), run(numbers, "mass_matrix", q=q), 1e-15)


def test_a_table_becomes_a_urdf(tmp_path):
    rows = [row | body for row, body in zip(TABLE, BODIES, strict=True)]
    robot, out = symgen.from_dh(rows, "modified"), tmp_path / "arm.urdf"
    robot.write_urdf(out)
    model, q = pin.buildModelFromUrdf(str(out)), np.array([0.3, -0.1, 0.7, 1.1])
    tau = pin.rnea(model, model.createData(), q, q, q)
    close(run(robot, "inverse_dynamics", q=q, qd=q, qdd=q), tau, 1e-12)
    with pytest.raises(OptionError, match="'a1', 'a2', 'm1' and 'm2'; give them values"):
        planar().write_urdf(tmp_path / "symbols.urdf")
    assert not (tmp_path / "symbols.urdf").exists()


def test_what_robots_say_of_themselves():
    robot = symgen.Robot(UR5)
    assert [joint.name for joint in robot.joints] == list(robot.velocities)
    elbow = robot.joints[2]
    assert (elbow.type, elbow.parent, elbow.positions) == ("revolute", "link2", (2,))
    tip = {link.name: link for link in robot.links}["link2"]
    assert tip.mass == 8.393 and tip.inertia is not None
    assert robot.check().sound and "Robot('ur5'" in repr(robot)
    floating = symgen.Robot(ROOT / "robots" / "ur5.urdf", base="floating")
    assert floating.neutral[:7] == (0, 0, 0, 0, 0, 0, 1) and floating.dof == 12
    assert floating.with_options(base="fixed").dof == 6


def test_a_job_file_is_a_robot(tmp_path):
    job = tmp_path / "job.toml"
    assert invoke("init", UR5, "-o", job).exit_code == 0
    text = job.read_text(encoding="utf-8").replace(
        "# gravity = [0.0, 0.0, -9.81]", 'gravity = "runtime"'
    )
    job.write_text(text, encoding="utf-8")
    robot = symgen.Robot(job)
    assert "g" in robot.trace("gravity").inputs


def test_the_files_of_a_job_go_where_it_says(tmp_path):
    job = tmp_path / "job.toml"
    job.write_text(
        f'file = "{robot_file("pendulum")}"\nout = "made"\nlanguages = ["javascript"]\n'
        'quantities = ["gravity"]\n',
        encoding="utf-8",
    )
    robot = symgen.Robot(job)
    for one in (robot, robot.with_options(gravity="runtime")):
        assert {path.parent for path in one.generate()} == {tmp_path / "made"}
        assert {path.suffix for path in one.generate()} == {".mjs", ".json"}
    other = {path.suffix for path in robot.generate(tmp_path / "x", ["python"])}
    assert other == {".py", ".json"}
    with pytest.raises(SymgenError, match="generate: give a folder"):
        symgen.Robot(robot_file("pendulum")).generate()

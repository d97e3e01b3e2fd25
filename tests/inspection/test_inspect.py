"""``symgen inspect``: its data against Pinocchio and the compiled functions, its forms for people,
its refusals."""

import json
import re
import struct
from functools import cache

import numpy as np
import pytest
import sympy
from random_trees import rotation
from shell import documented, refusal
from test_names import hostile
from tools import invoke, robot_file

import symgen
from symgen.algorithms import QUANTITIES
from symgen.inspection.data import sparsity
from symgen.inspection.page import SIGNS
from symgen.jobs.job import Job
from symgen.mechanics.model import PARAMETER_NAMES
from symgen.mechanics.parameters import WHOLE, system, ten_parameters
from symgen.symbolic.names import STEMS
from symgen.tracing.options import CORE

ROBOTS = ("pendulum", "scara", "ur5", "panda_arm", "quadruped")
PENDULUM = robot_file("pendulum")
robots = pytest.mark.parametrize("name", ROBOTS)


@cache
def data(name):
    done = invoke("inspect", robot_file(name), "--json")
    assert done.exit_code == 0 and done.stderr == ""
    return json.loads(done.stdout)


# -- the data --------------------------------------------------------------------------------------

BY_NAME = {"groupings", "links", "parameters", "operations"}
"""Keys of objects from names to values."""


def keys(value):
    """All keys with a fixed meaning."""
    if isinstance(value, list):
        return set().union(*map(keys, value))
    if not isinstance(value, dict):
        return set()
    inner = [list(v.values()) if k in BY_NAME else v for k, v in value.items()]
    return set(value) | keys(inner)


@robots
def test_every_key_is_documented(name):
    assert keys(data(name)) == documented("symgen inspect --json")


def test_the_same_input_gives_the_same_text():
    first, second = (invoke("inspect", PENDULUM, "--json").stdout for _ in range(2))
    assert first == second and first.isascii()


@robots
def test_names_and_tree(name):
    found, model = data(name), symgen.load(robot_file(name)).model
    assert (found["robot"], found["dof"], found["gravity"]) == (
        model.name,
        model.dof,
        [0.0, 0.0, -9.81],
    )
    assert [b["joint"] for b in found["bodies"]] == list(model.joint_names)
    assert [b["index"] for b in found["bodies"]] == list(range(1, model.dof + 1))
    for b, body in zip(found["bodies"], model.bodies, strict=True):
        carrier = model.body(body.parent).name if body.parent else model.base[0].name
        assert (b["name"], b["parent"], b["type"]) == (body.name, carrier, body.joint.kind)
        assert b["unit"] == {"revolute": "rad", "prismatic": "m"}[body.joint.kind]
        assert b["fixed_links"] == [link.name for link in body.links[1:]]
    assert [f["body"] for f in found["canonical_frames"]] == [b["name"] for b in found["bodies"]]


@robots
def test_pinocchio(name):
    pin = pytest.importorskip("pinocchio")
    judge = pin.buildModelFromUrdf(robot_file(name))
    seen = judge.createData()
    pin.forwardKinematics(judge, seen, pin.neutral(judge), np.zeros(judge.nv))
    flip = [3, 4, 5, 0, 1, 2]  # Pinocchio has the linear part first
    for b in data(name)["bodies"]:
        k = judge.getJointId(b["joint"])
        inertia = judge.inertias[k].matrix()[np.ix_(flip, flip)]
        assert b["placement"] == pytest.approx(judge.jointPlacements[k].homogeneous, abs=1e-9)
        assert b["transform_from_base"] == pytest.approx(seen.oMi[k].homogeneous, abs=1e-9)
        assert b["spatial_inertia"] == pytest.approx(inertia, abs=1e-9)
        assert b["screw"] == pytest.approx(seen.joints[k].S.ravel()[flip], abs=1e-12)
        assert b["mass"] == pytest.approx(judge.inertias[k].mass, rel=1e-14)
        assert b["center_of_mass"] == pytest.approx(judge.inertias[k].lever, abs=1e-9)


@robots
def test_parameters_are_those_of_the_spatial_inertia(name):
    for b in data(name)["bodies"]:
        ten, matrix = b["parameters"], np.array(b["spatial_inertia"])
        assert list(ten) == list(PARAMETER_NAMES) and (matrix == matrix.T).all()
        assert [matrix[i, j] for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))] == list(
            ten.values()
        )[4:]
        assert (matrix[3, 3], matrix[2, 4], matrix[0, 5], matrix[1, 3]) == tuple(
            list(ten.values())[:4]
        )
        assert b["pseudo_inertia"] == "definite"


def steps(f):
    """The transform of a row of canonical constants at q = 0."""

    def turn(axis, angle):
        whole = np.eye(4)
        whole[:3, :3] = rotation(np.eye(3)[axis], angle)
        return whole

    def move(axis, length):
        whole = np.eye(4)
        whole[axis, 3] = length
        return whole

    return (
        turn(2, f["gamma"])
        @ move(2, f["b"])
        @ move(0, f["d"])
        @ turn(0, f["alpha"])
        @ turn(1, f["beta"])
        @ turn(2, f["theta0"])
        @ move(2, f["r"])
    )


@robots
def test_canonical_frames_lead_from_joint_axis_to_joint_axis(name):
    """Angle and distance between a joint's axis and its carrier's are those of the placements in
    the file."""
    axes, kinds = {}, {b["name"]: b["type"] for b in data(name)["bodies"]}
    for b, f in zip(data(name)["bodies"], data(name)["canonical_frames"], strict=True):
        place, screw = np.array(b["transform_from_base"]), np.array(b["screw"])
        axes[b["name"]] = place[:3, :3] @ (screw[:3] + screw[3:]), place[:3, 3]
        if b["parent"] in axes:
            at = steps(f)
            (z0, p0), (z1, p1) = axes[b["parent"]], axes[b["name"]]
            assert at[2, 2] == pytest.approx(z0 @ z1, abs=1e-9)
            if (
                b["type"] == kinds[b["parent"]] == "revolute"
            ):  # the axis of a slide has a direction, no place
                ours = apart(np.eye(3)[2], np.zeros(3), at[:3, 2], at[:3, 3])
                assert ours == pytest.approx(apart(z0, p0, z1, p1), abs=1e-9)


def apart(z0, p0, z1, p1):
    """Distance of two lines."""
    across = np.cross(z0, z1)
    size = np.linalg.norm(across)
    return np.linalg.norm(np.cross(p1 - p0, z0)) if size < 1e-6 else abs((p1 - p0) @ across) / size


@pytest.mark.parametrize(("name", "count"), [("ur5", 36), ("panda_arm", 43), ("pendulum", 6)])
def test_base_parameters(name, count):
    base = data(name)["base_parameters"]
    names = [f"{ten}_{k}" for k in range(1, data(name)["dof"] + 1) for ten in PARAMETER_NAMES]
    assert base["count"] == len(base["groupings"]) == count and list(base["parameters"]) == names
    assert base["smallest_kept"] > 1e8 * base["largest_dropped"] >= 0
    used = {str(s) for text in base["groupings"].values() for s in sympy.sympify(text).free_symbols}
    without = {name for name, reason in base["parameters"].items() if reason == "no effect"}
    assert used == set(names) - without
    assert all(reason.startswith(tuple(SIGNS)) for reason in base["parameters"].values())


def test_operations_are_those_of_ops():
    ops = json.loads(invoke("ops", PENDULUM, "--json").stdout)
    assert data("pendulum")["operations"] == ops["quantities"] and tuple(ops["quantities"]) == CORE


def test_options_shape_the_robot():
    found = json.loads(
        invoke(
            "inspect", robot_file("ur5"), "--json", "--tip", "link3", "--gravity", "runtime"
        ).stdout
    )
    assert (found["dof"], found["gravity"]) == (3, "runtime")
    still = json.loads(invoke("inspect", PENDULUM, "--json", "--gravity", "0,0,0").stdout)
    assert still["base_parameters"]["count"] < 6 and still["gravity"] == [0, 0, 0]


# -- for people ------------------------------------------------------------------------------------


def test_a_panda_fits_on_one_screen():
    lines = invoke("inspect", robot_file("panda_arm")).stdout.splitlines()
    assert 30 < len(lines) <= 42 and max(map(len, lines)) <= 100
    text = "\n".join(lines)
    assert all(b["name"] in text and b["joint"] in text for b in data("panda_arm")["bodies"])
    marks = re.findall(r"^ link\d((?: +[·●○→]){10}) *$", text, re.MULTILINE)
    reasons = list(data("panda_arm")["base_parameters"]["parameters"].values())
    shown = [mark for row in marks for mark in row.split()]
    assert shown == [next(m for s, (m, _) in SIGNS.items() if r.startswith(s)) for r in reasons]


def test_groupings_are_printed():
    text = invoke("inspect", PENDULUM, "--groupings").stdout
    for name, expression in data("pendulum")["base_parameters"]["groupings"].items():
        link = data("pendulum")["base_parameters"]["links"][name]
        assert re.search(rf"^ {name} +{link} +{re.escape(expression)} *$", text, re.MULTILINE)


HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{7*7}}",
    "'&amp;",
    "[bold]",
    "]]>",
]


def test_names_are_printed_as_they_are(tmp_path):
    file = tmp_path / "r.urdf"
    file.write_text(hostile("</title><script>", HOSTILE), encoding="utf-8")
    assert all(name in invoke("inspect", file).stdout for name in ("{{7*7}}", "[bold]", "]]>"))


def pixels(path):
    """Width and height of a PNG."""
    head = path.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n" and head[12:16] == b"IHDR"
    return struct.unpack(">II", head[16:24])


def test_plot_is_a_picture_that_fits_a_page_and_the_same_each_time(tmp_path):
    pytest.importorskip("matplotlib")
    for k in range(2):
        done = invoke("inspect", PENDULUM, "--plot", tmp_path / f"{k}.png")
        assert done.exit_code == 0 and done.stdout == done.stderr == ""
    width, height = pixels(tmp_path / "0.png")
    assert 800 <= width <= 3600 and 200 <= height <= 1800
    assert (tmp_path / "0.png").read_bytes() == (tmp_path / "1.png").read_bytes()


def test_sparsity_is_what_vanishes_in_every_state():
    job = Job.of(
        robot_file("scara"), quantities=("regressor", "mass_matrix", "christoffel_symbols_full")
    )
    module = job.module(job.load())
    found, random = sparsity(module), np.random.default_rng(5)
    for function in module.functions:
        runs = [
            function.run(**{k: random.uniform(-2, 2, 4).tolist() for k in function.inputs})
            for _ in range(5)
        ]
        for out, pattern in ((out, found[out.name]) for out in function.program.outputs):
            values = np.array([[float(x) for x in run[out.name]] for run in runs])
            assert ((np.abs(values).max(axis=0) > 1e-12).reshape(out.shape) == pattern).all()
    assert (
        set(found) == {"Y", "M", "Gamma_full"}
        and found["M"].shape == (4, 4)
        and not found["M"][0, 2]
    )


def test_latex_of_the_groupings_can_be_set(tmp_path):
    """Every line through TeX's rules as far as matplotlib knows them."""
    mathtext = pytest.importorskip("matplotlib.mathtext")
    lines = invoke("inspect", robot_file("ur5"), "--latex").stdout.splitlines()
    assert lines[:6] == [f"% body {k}: link link{k}" for k in range(1, 7)]
    assert (lines[6], lines[-1]) == (r"\begin{align*}", r"\end{align*}") and len(
        lines
    ) == 6 + 36 + 2
    parser = mathtext.MathTextParser("path")
    for line in lines[7:-1]:
        left, right = re.fullmatch(r"  (\S+) &= (.+) \\\\", line).groups()
        assert parser.parse(f"${left} = {right}$")


# -- closed forms ----------------------------------------------------------------------------------

ENTRIES = {
    "pendulum": [
        "mass_matrix:1,1",
        "mass_matrix:1,2",
        "gravity:1",
        "bias:2",
        "inverse_dynamics:1",
        "regressor:2,13",
        "coriolis_matrix:2,1",
        "christoffel_symbols_full:1,1,2",
        "kinetic_energy:1",
    ],
    "scara": [
        "mass_matrix:1,1",
        "mass_matrix:3,4",
        "bias:2",
        "gravity:3",
        "inverse_dynamics:1",
        "regressor:1,14",
        "base_regressor:2,3",
        "inverse_dynamics_derivatives:1,2",
        "com:1",
        "com_jacobian:3,2",
        "centroidal_momentum_matrix:4,1",
        "potential_energy:1",
    ],
    "ur5": ["mass_matrix:2,4", "gravity:2", "christoffel_symbols_full:3,5,5"],
}
CASES = [(robot, text) for robot, texts in ENTRIES.items() for text in texts]


@cache
def compiled(robot):
    names = dict.fromkeys(text.split(":")[0] for text in ENTRIES[robot])
    return symgen.compile(robot_file(robot), *names)


def state(quantity, n):
    """Random inputs of a quantity, by array."""
    random = np.random.default_rng(6)
    return {name: random.uniform(-2, 2, n) for name in QUANTITIES[quantity].inputs}


def evaluated(expression, values):
    """An expression with q1, qdot1, ... from arrays; `values` may also hold numbers by name."""
    numbers = {name: float(x) for name, x in values.items() if np.ndim(x) == 0}
    for name, array in values.items():
        stem = STEMS.get(name, name)
        numbers |= {
            f"{stem}{k}": float(x) for k, x in enumerate(np.ravel(array), 1) if np.ndim(array)
        }
    assert {str(s) for s in expression.free_symbols} <= set(numbers)
    return float(expression.subs({s: numbers[str(s)] for s in expression.free_symbols}))


@pytest.mark.parametrize(("robot", "text"), CASES)
def test_an_entry_is_that_of_the_compiled_function(robot, text):
    quantity, indices = text.split(":")
    done = invoke("inspect", robot_file(robot), "--entry", text)
    assert done.exit_code == 0 and done.stderr == ""
    real = {
        name: sympy.Symbol(name, real=True) for name in re.findall(r"\b[a-z]+\d+\b", done.stdout)
    }
    given = state(quantity, data(robot)["dof"])
    found = getattr(compiled(robot), quantity)(*given.values())
    found = found if len(QUANTITIES[quantity].outputs) == 1 else found[0]
    expected = np.atleast_1d(found)[tuple(int(k) - 1 for k in indices.split(","))]
    shown = evaluated(sympy.sympify(done.stdout, real), given)
    assert shown == pytest.approx(expected, rel=1e-9, abs=1e-11)
    assert expected != 0 or done.stdout == "0\n"


def tens(robot, canonical):
    """The ten parameters of each body as a whole by name: as in the file, or in the canonical
    frames."""
    if not canonical:
        return [b["parameters"] for b in data(robot)["bodies"]]
    bodies = system(symgen.load(robot_file(robot)).model, regrouping=WHOLE).bodies
    return [
        dict(zip(PARAMETER_NAMES, ten_parameters(body.inertia), strict=True)) for body in bodies
    ]


@pytest.mark.parametrize(
    ("robot", "text"),
    [
        ("pendulum", "mass_matrix:1,1"),
        ("scara", "mass_matrix:2,4"),
        ("scara", "gravity:3"),
        ("scara", "com:2"),
        ("pendulum", "potential_energy:1"),
        ("ur5", "mass_matrix:5,5"),
    ],
)
@pytest.mark.parametrize("kinds", [("masses",), ("lengths",), ("masses", "lengths")])
def test_symbols_stand_for_what_the_file_has(robot, text, kinds):
    found, given = data(robot), state(text.split(":")[0], data(robot)["dof"])
    known = {
        f"{name}{k}": x
        for k, ten in enumerate(tens(robot, "lengths" in kinds), 1)
        for name, x in ten.items()
    }
    known |= {
        f"{name}{k}": f[name]
        for k, f in enumerate(found["canonical_frames"], 1)
        for name in ("b", "d", "r")
    }
    name, _, indices = text.partition(":")
    symbolic, at = symgen.Robot(robot_file(robot)).symbolic, tuple(map(int, indices.split(",")))
    with_symbols = symbolic.entry(name, *at, **dict.fromkeys(kinds, "symbols"))
    plain = symbolic.entry(name, *at)
    names = {re.sub(r"\d+$", "", str(s)) for s in with_symbols.free_symbols}
    assert bool(names & set(PARAMETER_NAMES)) == ("masses" in kinds)
    assert names <= set(given) | set(PARAMETER_NAMES) | {"b", "d", "r"}
    assert evaluated(with_symbols, given | known) == pytest.approx(
        evaluated(plain, given), rel=1e-9
    )


def test_gravity_at_run_time_is_a_symbol():
    done = invoke("inspect", PENDULUM, "--entry", "gravity:2", "--gravity", "runtime")
    assert {str(s) for s in sympy.sympify(done.stdout).free_symbols} == {"g_x", "g_z", "q1", "q2"}


def test_whole_arrays_and_outputs_by_name():
    lines = invoke("inspect", PENDULUM, "--entry", "mass_matrix").stdout.splitlines()
    assert lines[0] == "M[1,1] = 0.6*cos(q2) + 1.2" and len(lines) == 4
    one = invoke("inspect", PENDULUM, "--entry", "mass_matrix:M:1,1").stdout
    assert one == "0.6*cos(q2) + 1.2\n"
    tip = data("scara")["bodies"][-1]["name"]
    place = invoke("inspect", robot_file("scara"), "--entry", f"frame_pose:{tip}:p").stdout
    assert place.count("\n") == 3 and "cos(q1 + q2)" in place


def test_an_entry_as_data():
    found = json.loads(
        invoke(
            *("inspect", PENDULUM, "--entry", "mass_matrix", "--json"),
            *("--symbolic", "masses,lengths"),
        ).stdout
    )
    assert keys_of_entry(found) == documented("symgen inspect --entry --json")
    assert found["shape"] == [2, 2] and found["indices"] is None
    assert found["symbols"]["m2"]["unit"] == "kg" and found["symbols"]["q2"]["value"] is None
    values = {name: row["value"] for name, row in found["symbols"].items() if row["value"]}
    shown = sympy.sympify(found["entries"][1][1]).subs(values)
    plain = sympy.sympify(invoke("inspect", PENDULUM, "--entry", "mass_matrix:2,2").stdout)
    assert float(shown - plain) == pytest.approx(0, abs=1e-15)


def keys_of_entry(found):
    return {*found, *(key for row in found["symbols"].values() for key in row)}


def test_a_legend_tells_what_symbols_mean():
    options = ("--entry", "mass_matrix:2,2", "--symbolic", "masses")
    done = invoke("inspect", PENDULUM, *options)
    assert done.stdout.count("\n") == 1 and "kg m^2" in done.stderr
    assert all(name in done.stdout for name in re.findall(r"^(\w+):", done.stderr, re.MULTILINE))


def test_canonical_frames_have_their_inertia():
    """The ten about the canonical frame, carried back to the link's, are those of the body."""
    for b, frame in zip(data("ur5")["bodies"], data("ur5")["canonical_frames"], strict=True):
        ten, pose = frame["parameters"], np.array(frame["pose"])
        own = np.array([ten[name] for name in ("hx", "hy", "hz")])
        there = pose[:3, :3] @ own + ten["m"] * pose[:3, 3]
        assert there == pytest.approx([b["parameters"][k] for k in ("hx", "hy", "hz")], abs=1e-12)


def test_an_entry_as_latex():
    assert invoke("inspect", PENDULUM, "--entry", "mass_matrix:1,1").stdout == "0.6*cos(q2) + 1.2\n"
    shown = invoke("inspect", PENDULUM, "--entry", "mass_matrix:1,1", "--latex").stdout
    assert shown == "0.6 \\cos{\\left(q_{2} \\right)} + 1.2\n"


def test_groupings_in_closed_form():
    options = ("inspect", robot_file("puma560"), "--groupings", "--symbolic", "lengths")
    lines = invoke(*options).stdout.splitlines()
    assert len(lines) == 36 and "MXR_2 = d3*(m3 + m4 + m5 + m6) + hx2" in lines
    found = json.loads(invoke(*options, "--json").stdout)
    inner = keys_of_entry({"symbols": found["symbols"]})
    heading = "symgen inspect --groupings --symbolic lengths --json"
    assert {*found} | inner == documented(heading)
    assert r"\mathrm{MXR}_{2} &= d_{3}" in invoke(*options, "--latex").stdout
    said = refusal("inspect", PENDULUM, "--symbolic", "lengths")
    assert said == "error: --symbolic 'lengths': says what --entry or --groupings show; add one"


# -- refusals --------------------------------------------------------------------------------------

GIVE = "give QUANTITY, QUANTITY:I,J or QUANTITY:OUTPUT:I,J, as in mass_matrix:1,1"
SQUARE = "mass_matrix has 2 x 2 entries, counted from 1"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        *[
            (text, f"--entry {text!r}: {SQUARE}")
            for text in (
                "mass_matrix:0,1",
                "mass_matrix:1",
                "mass_matrix:1,3",
                "mass_matrix:-1,1",
                "mass_matrix:1,1,1",
            )
        ],
        *[
            (text, f"--entry {text!r}: {GIVE}")
            for text in ("mass_matrix:", "mass_matrix::1", "mass_matrix:M:", "mass_matrix:M:x:1")
        ],
        *[
            (f"mass_matrix:{text}", f"mass_matrix has no output '{said}'; it has M")
            for text, said in (("x,1", "x,1"), ("1.0,1", "1.0,1"), ("\n1,x", "\\n1,x"))
        ],
        ("bias:3", "--entry 'bias:3': bias has 2 entries, counted from 1"),
        ("nope:1", "no quantity is called 'nope'; symgen list shows them all"),
        ("", "no quantity is called ''; symgen list shows them all"),
    ],
)
def test_bad_entries(text, said):
    assert refusal("inspect", PENDULUM, "--entry", text) == f"error: {said}"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--entry", "gravity:1", "--symbolic", "mass"],
            "--symbolic 'mass': use masses or lengths",
        ),
        (["--entry", "gravity:1", "--symbolic", "masses,"], "--symbolic '': use masses or lengths"),
        (
            ["--groupings", "--symbolic", "masses"],
            "--symbolic 'masses': for --groupings use lengths",
        ),
        (
            ["--entry", "gravity:1", "--html", "x.html"],
            "--html: has no effect with --entry; leave out one of them",
        ),
        (["--html", "/dev/null/r.html"], "cannot write '/dev/null/r.html': File exists"),
        (
            ["--html", "{}"],
            "'{}' exists and is not from symgen inspect; choose another name or move it away",
        ),
    ],
)
def test_bad_options(options, said, tmp_path):
    found = refusal("inspect", PENDULUM, *(text.format(tmp_path) for text in options))
    assert found == f"error: {said.format(tmp_path)}"


def test_a_picture_that_cannot_be_written():
    pytest.importorskip("matplotlib")
    said = refusal("inspect", PENDULUM, "--plot", "/dev/null/r.png")
    assert said == "error: cannot write '/dev/null/r.png': File exists"

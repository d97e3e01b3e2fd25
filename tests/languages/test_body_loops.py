"""Functions whose C is loops over the bodies of a robot (``--body-loops``)."""

import json
import re
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest

import symgen
from symgen.compiler.program import LOOPS_OVER_BODIES
from symgen.errors import OptionError, SymgenError
from symgen.jobs.job import Job, notices_after_tracing
from symgen.jobs.verify import verify
from symgen.native.compiler import NATIVE, STRICT, run_compiler
from symgen.tracing import body_loops
from symgen.tracing.request import FunctionRequest
from tests.support.oracles import oracle
from tests.support.random_trees import ROBOTS

COUNTING = """#pragma once
#include <cfloat>
extern long counted[4];
struct Num { double x; Num() = default; constexpr Num(double v) : x(v) {} };
inline Num operator+(Num a, Num b) { ++counted[0]; return a.x + b.x; }
inline Num operator-(Num a, Num b) { ++counted[0]; return a.x - b.x; }
inline Num operator-(Num a) { return -a.x; }
inline Num operator*(Num a, Num b) { ++counted[1]; return a.x * b.x; }
inline Num operator/(Num a, Num b) { ++counted[2]; return a.x / b.x; }
inline Num &operator+=(Num &a, Num b) { return a = a + b; }
inline Num &operator-=(Num &a, Num b) { return a = a - b; }
inline Num &operator*=(Num &a, Num b) { return a = a * b; }
inline bool operator>(Num a, Num b) { return a.x > b.x; }
inline bool operator<=(Num a, Num b) { return a.x <= b.x; }
inline bool operator>=(Num a, Num b) { return a.x >= b.x; }
"""
SINES = """#pragma once
#include "r.h"
inline void r_sincos(Num x, Num *s, Num *c) { counted[3] += 2; *s = __builtin_sin(x.x); *c = __builtin_cos(x.x); }
"""
MAIN = """#include <cstdio>
#include "r.h"
long counted[4];
static Num in[100], out[3][4000];
int main() {
    for (int i = 0; i < 100; ++i) in[i] = 0.1 * (i % 7);
    r_forward_dynamics_derivatives(in, in, in, out[0], out[1], out[2]);
    for (long k : counted) std::printf("%ld ", k);
}
"""
DRIVEN = ("forward_dynamics_derivatives", "inverse_dynamics", "potential_energy")
FORCES = {"friction": "viscous,coulomb,offset", "springs": True}
DRIVES = """
[joints.fl_hip_joint]
armature = 0.1
viscous = 0.5
coulomb = 0.3
stiffness = 4.0
reference = 0.2
[joints.rr_calf_joint]
armature = 0.2
viscous = 0.7
offset = 0.1
"""
WITH_PLACE_OF_BASE = (
    *("coriolis_matrix", "momentum", "frame_pose:fr_foot"),
    *("frame_jacobian_world:fr_foot", "frame_jacobian_rate_body:fr_foot"),
)


@pytest.mark.parametrize(
    ("robot", "options"),
    [
        # Branches at a floating base
        ("quadruped", {"base": "floating", "quantities": DRIVEN, **FORCES}),
        ("quadruped", {"base": "floating", "quantities": WITH_PLACE_OF_BASE}),
        # Fingers that slide
        (
            "panda",
            {
                "gravity": "runtime",
                "trig": "libm",
                "quantities": ("mass_matrix", "gravity", "bias"),
            },
        ),
        ("scara", {"scalar": "float", "quantities": ("forward_dynamics",)}),
    ],
)
def test_loops_have_the_values_of_the_laws_and_of_straight_line_code(tmp_path, robot, options):
    if "friction" in options:
        (tmp_path / "drives.toml").write_text(DRIVES)
        options = options | {"actuators": tmp_path / "drives.toml"}
    tmp_path = tmp_path / "module"
    symgen.generate(ROBOTS / f"{robot}.urdf", tmp_path, ["c"], body_loops=True, **options)
    checks = list(verify(tmp_path))
    assert [check.what for check in checks if not check.passed] == []
    assert len(checks) >= 2 + 2 * len(options["quantities"])


def test_small_moments_of_a_body_far_from_the_root_are_verified(tmp_path):
    """Gravity acts on the wrist only, while the planar joint moves it by metres."""
    arm = """<robot name="slot"><link name="base"/><link name="a"/><link name="b"><inertial>
<mass value="1"/><origin xyz="0.1 0 0.3"/>
<inertia ixx="0.1" iyy="0.2" izz="0.15" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="planar"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/></joint>
<joint name="k" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/></joint>
</robot>"""
    symgen.generate(arm, tmp_path, ["c"], body_loops=True, quantities=("gravity", "bias"))
    assert [check.what for check in verify(tmp_path) if not check.passed] == []


@pytest.mark.parametrize(
    "joint", ['type="prismatic"', 'type="screw" pitch="1.8"'], ids=["prismatic", "screw"]
)
def test_terms_in_velocities_that_cancel_are_verified(tmp_path, joint):
    """A slide at the root moves no mass about an axis: what is left of the terms is small."""
    arm = f"""<robot name="slide"><link name="base"/><link name="a"><inertial><origin xyz="0.1 0.02
0.3"/><mass value="2"/><inertia ixx="0.1" iyy="0.12" izz="0.09" ixy="0.01" ixz="0.002" iyz="-0.01"/>
</inertial></link><link name="b"><inertial><origin xyz="0.05 -0.02 0.1"/><mass value="1.2"/>
<inertia ixx="0.5" iyy="0.6" izz="0.4" ixy="0.001" ixz="0.002" iyz="-0.003"/></inertial></link>
<joint name="j" {joint}><parent link="base"/><child link="a"/><axis xyz="0 0.6 0.8"/>
<limit lower="-1" upper="1" effort="10" velocity="2"/></joint><joint name="k" type="continuous">
<parent link="a"/><child link="b"/><origin xyz="0.2 0 0.1"/><axis xyz="1 0 0"/></joint></robot>"""
    names = ("inverse_dynamics_derivatives", "forward_dynamics_derivatives")
    names += ("coriolis_matrix", "christoffel_symbols")
    symgen.generate(arm, tmp_path, ["c"], body_loops=True, quantities=names)
    assert [check.what for check in verify(tmp_path) if not check.passed] == []


def test_results_are_those_of_pinocchio():
    """On a tree whose columns are in another order than the user's coordinates."""
    pinocchio = oracle("pinocchio")
    path, rng = str(ROBOTS / "humanoid25.urdf"), np.random.default_rng(0)
    wanted = ("inverse_dynamics", "inverse_dynamics_derivatives", "forward_dynamics")
    robot = symgen.compile(path, *wanted, body_loops=True)
    model = pinocchio.buildModelFromUrdf(path)
    data, ours = model.createData(), symgen.Robot(path).velocities
    order = np.array([ours.index(name) for name in list(model.names)[1:]])
    q, qd, qdd = rng.uniform(-1, 1, (3, 25))
    state = q[order], qd[order], qdd[order]
    tau = robot.inverse_dynamics(q, qd, qdd)
    pinocchio.computeRNEADerivatives(model, data, *state)
    for got, right in zip(
        (tau, *robot.inverse_dynamics_derivatives(q, qd, qdd)[:2]),
        (pinocchio.rnea(model, model.createData(), *state), data.dtau_dq, data.dtau_dv),
        strict=True,
    ):
        sorted_ = got[order] if got.ndim == 1 else got[np.ix_(order, order)]
        np.testing.assert_allclose(sorted_, right, rtol=0, atol=1e-12 * abs(right).max())
    np.testing.assert_allclose(robot.forward_dynamics(q, qd, tau), qdd, rtol=0, atol=1e-9)


def test_frames_energies_and_momenta_are_those_of_pinocchio():
    pinocchio = oracle("pinocchio")
    path, rng = str(ROBOTS / "humanoid25.urdf"), np.random.default_rng(1)
    q, qd, qdd = rng.uniform(-1, 1, (3, 25))
    sums = (
        "coriolis_matrix",
        "christoffel_symbols",
        "regressor",
        "com",
        "com_jacobian",
        "centroidal_momentum_matrix",
    )
    axes = {"body": "LOCAL", "world": "WORLD", "aligned": "LOCAL_WORLD_ALIGNED"}
    frames = [f"frame_jacobian_{a}:left_hand" for a in axes]
    others = ("frame_velocity_body:left_hand", "frame_acceleration_classical:left_hand")
    energies = ("kinetic_energy", "potential_energy")
    robot = symgen.compile(path, *sums, *energies, *frames, *others, body_loops=True)
    model = pinocchio.buildModelFromUrdf(path)
    data, ours = model.createData(), symgen.Robot(path).velocities
    order = np.array([ours.index(name) for name in list(model.names)[1:]])
    state, hand = (q[order], qd[order], qdd[order]), model.getFrameId("left_hand")
    pinocchio.computeAllTerms(model, data, *state[:2])
    pinocchio.updateFramePlacements(model, data)
    c = robot.coriolis_matrix(q, qd)
    close(c[np.ix_(order, order)], pinocchio.computeCoriolisMatrix(model, data, *state[:2]))
    packed, (row, column) = robot.christoffel_symbols(q), np.triu_indices(25)
    weights = np.where(row == column, 1.0, 2.0) * qd[row] * qd[column]
    close(packed.reshape(25, -1) @ weights, c @ qd)
    wanted = pinocchio.computeJointTorqueRegressor(model, data, *state).reshape(25, 25, 10)
    theirs = wanted[:, :, [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]]  # Ixz before Iyy
    close(robot.regressor(q, qd, qdd).reshape(25, 25, 10)[np.ix_(order, order)], theirs)
    close(robot.com(q), data.com[0])
    close(robot.com_jacobian(q)[:, order], data.Jcom)
    centroidal = pinocchio.computeCentroidalMap(model, model.createData(), state[0])
    close(robot.centroidal_momentum_matrix(q)[:, order], centroidal)
    close(robot.kinetic_energy(q, qd), data.kinetic_energy)
    close(robot.potential_energy(q), data.potential_energy)
    for name, frame in axes.items():
        frame = getattr(pinocchio, frame)
        wanted = pinocchio.getFrameJacobian(model, data, hand, frame)
        close(getattr(robot, f"frame_jacobian_{name}_left_hand")(q)[:, order], wanted)
    pinocchio.forwardKinematics(model, data, *state)
    wanted = pinocchio.getFrameVelocity(model, data, hand, pinocchio.LOCAL)
    close(robot.frame_velocity_body_left_hand(q, qd), wanted.vector)
    wanted = pinocchio.getFrameClassicalAcceleration(model, data, hand, pinocchio.LOCAL)
    close(robot.frame_acceleration_classical_left_hand(q, qd, qdd), wanted.vector)


def close(got, wanted):
    atol = 1e-12 * np.abs(wanted).max()
    np.testing.assert_allclose(np.squeeze(got), np.squeeze(wanted), rtol=0, atol=atol)


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
def test_operations_are_those_that_the_code_does(tmp_path):
    """The C, compiled with a type of numbers that counts."""
    path, name = ROBOTS / "humanoid25.urdf", "forward_dynamics_derivatives"
    module, _, _ = symgen.generate(
        path, tmp_path, ["c"], prefix="r", quantities=(name,), body_loops=True
    )
    header = (tmp_path / "r.h").read_text()
    counted = '}\n#include "num.h"\ntypedef Num r_real;\nextern "C" {'
    (tmp_path / "r.h").write_text(header.replace("typedef double r_real;", counted))
    for file, text in (("num.h", COUNTING), ("r_trig.h", SINES), ("main.cpp", MAIN)):
        (tmp_path / file).write_text(text)
    files = ["main.cpp", "r.c", f"r_{name}.c"]
    command = ["g++", "-w", "-fpermissive", "-x", "c++", *files, "-o", "count"]
    subprocess.run(command, cwd=tmp_path, check=True)
    output = subprocess.run([tmp_path / "count"], capture_output=True, text=True, check=True).stdout
    stated = module.functions[0].counts
    wanted = [stated.add, stated.mul, stated.div, stated.trig]
    assert wanted == pytest.approx([int(x) for x in output.split()], rel=0.05)


@pytest.mark.parametrize(
    ("robot", "options", "words"),
    [
        ("ur5", {"quantities": ("base_regressor",)}, "base_regressor cannot be computed in loops"),
        ("ur5", {"quantities": ("frame_pose:hand",)}, "no link is called 'hand'"),
        ("ur5", {"controllers": ("computed_torque",)}, "computed_torque cannot be computed"),
        ("ur5", {"quantities": ("t=bias+mass_matrix",)}, "t cannot be computed in loops"),
        (
            "ur5",
            {"friction": "runtime:viscous", "quantities": ("inverse_dynamics", "mass_matrix")},
            "--friction runtime cannot be in loops",
        ),
        ("ur5", {"friction": "runtime:asymmetric"}, "--friction asymmetric cannot be in loops"),
        ("ur5", {"parameters": "runtime"}, "--parameters cannot be in loops"),
        ("ur5", {"external_wrench": ("link6",)}, "--external-wrench cannot be in loops"),
        ("ur5", {"friction": "viscous", "quantities": ("regressor",)}, "the regressor of armature"),
        ("ur5", {"batch": "8"}, "--body-loops and --batch"),
        ("ur5", {"zeros": "once"}, "--body-loops and --zeros once"),
        ("ur5", {"chunk": 50}, "--body-loops and --chunk 50"),
        ("ur5", {"certify": True}, "--certify cannot be used for loops"),
        ("ur5", {"optimize": "size"}, "--optimize cannot be used for loops"),
        ("five_bar", {}, "closed loops cannot be in loops"),
    ],
)
def test_what_loops_do_not_support_is_refused(tmp_path, robot, options, words):
    with pytest.raises(OptionError, match=re.escape(words)):
        symgen.generate(ROBOTS / f"{robot}.urdf", tmp_path, ["c"], body_loops=True, **options)


def test_a_singular_mass_matrix_is_refused(tmp_path):
    text = (ROBOTS / "pendulum.urdf").read_text()
    (tmp_path / "light.urdf").write_text(re.sub("<inertial>.*?</inertial>", "", text, flags=re.S))
    options = {"quantities": ("forward_dynamics",), "body_loops": True}
    with pytest.raises(OptionError, match="needs the inverse of the mass matrix"):
        symgen.generate(tmp_path / "light.urdf", tmp_path / "module", ["c"], **options)


def test_an_impossible_inertia_is_refused(tmp_path):
    text = (ROBOTS / "ur5.urdf").read_text()
    (tmp_path / "bad.urdf").write_text(re.sub('izz="[^"]*"', 'izz="-0.5"', text, count=2))
    options = {"quantities": ("inverse_dynamics",), "body_loops": True}
    with pytest.raises(SymgenError, match="negative principal moment"):
        symgen.generate(tmp_path / "bad.urdf", tmp_path / "module", ["c"], **options)


def notes(job):
    loaded = job.load()
    found = map(str, notices_after_tracing(job, loaded, job.module(loaded)))
    return [text for text in found if "straight-line code of" in text]


def test_long_straight_line_code_is_compared_with_loops():
    """Derivatives of forward dynamics of 16 joints in a row are long; gravity is short."""
    job = Job.of(ROBOTS / "snake16.urdf", quantities=["forward_dynamics_derivatives", "gravity"])
    (note,) = notes(job)
    looped = job.changed(body_loops=True)
    loops = looped.module(looped.load())
    assert "forward_dynamics_derivatives is straight-line code of " in note
    assert f"take {loops.functions[0].counts.total:,} in vectors" in note
    assert not notes(looped)


def test_other_languages_are_refused(tmp_path):
    with pytest.raises(OptionError, match="only C has loops over the bodies, not python"):
        symgen.generate(ROBOTS / "ur5.urdf", tmp_path, ["c", "python"], body_loops=True)


LONG = ("gravity", "inverse_dynamics_derivatives")


def kinds(module):
    return [f.kind == LOOPS_OVER_BODIES for f in module.functions]


def test_auto_writes_loops_where_straight_line_code_would_be_long(tmp_path, monkeypatch):
    """The derivatives of six joints are called long here; gravity is short."""
    monkeypatch.setattr(body_loops, "MIN_LOOP_OPERATIONS", 2000)
    module, _, paths = symgen.generate(ROBOTS / "ur5.urdf", tmp_path, quantities=LONG)
    assert kinds(module) == [False, True]
    assert not [path for path in paths if path.suffix == ".py"]
    checks = list(verify(tmp_path))
    assert len(checks) == 6 and all(check.passed for check in checks)
    stated = module.functions[1].program.straight_line
    traced = symgen.trace(ROBOTS / "ur5.urdf", LONG[1]).counts.total
    assert traced < stated < 4 * traced  # of joints with right angles
    assert f"about {stated} at most" in (tmp_path / f"ur5_{LONG[1]}.c").read_text()
    report = json.loads((tmp_path / "ur5_report.json").read_text())
    assert [row.get("straight_line") for row in report["functions"].values()] == [None, stated]
    job = Job.of(ROBOTS / "ur5.urdf", quantities=LONG)
    (note,) = [n for n in notices_after_tracing(job, job.load(), module) if "loops" in n.message]
    assert f"{LONG[1]} is loops over the bodies" in note.message


@pytest.mark.parametrize(
    "options",
    [
        {"languages": ("c", "python")},
        {"body_loops": False},
        {"optimize": "size"},
        {"batch": "4"},
        {"friction": "runtime:viscous", "quantities": ("inverse_dynamics", "mass_matrix")},
    ],
)
def test_auto_writes_straight_line_code_where_loops_are_not_possible(
    tmp_path, monkeypatch, options
):
    monkeypatch.setattr(body_loops, "MIN_LOOP_OPERATIONS", 100)
    options = {"quantities": ("gravity", "bias"), **options}
    module, _, _ = symgen.generate(ROBOTS / "pendulum.urdf", tmp_path, **options)
    assert kinds(module) == [False, False]
    assert module.options["body_loops"] is False


def test_auto_writes_straight_line_code_for_the_robots_of_the_tables():
    for name in ("snake16", "humanoid25", "quadruped"):
        for base in ("fixed", "floating"):
            robot = Job.of(ROBOTS / f"{name}.urdf", base=base)
            wanted = map(FunctionRequest.parse, set(body_loops.COSTS) - set(body_loops.FRAME_COSTS))
            assert not body_loops.large_functions(robot.robot(robot.load()), [*wanted])


def test_forward_dynamics_does_not_loosen_the_tolerance_of_inverse_dynamics():
    """Fingers make the condition number of M 10⁴, but do not make joint forces as bad."""
    parts = {}
    for names in (("inverse_dynamics",), ("inverse_dynamics", "forward_dynamics")):
        job = Job.of(ROBOTS / "humanoid25.urdf", quantities=names, body_loops=True)
        module = job.module(job.load())
        wanted = {"tau": [state.expected["tau"] for state in module.test_states[:-1]]}
        states = {name: rows[:-1] for name, rows in module.accuracy.states.items()}
        accuracy = replace(module.accuracy, states=states)
        allowed = accuracy.allowed(module.functions[0].program, wanted)["tau"].max(axis=1)
        parts[len(names)] = (allowed / np.abs(wanted["tau"]).max(axis=1)).max()
        assert module.functions[-1].program.error_growth > (1e4 if len(names) > 1 else 0)
    assert parts[1] < parts[2] < 5e-12


@pytest.mark.parametrize("robot", ["humanoid25", "snake16"])
def test_stack_is_bounded_in_the_source(tmp_path, robot):
    """Also with the widest vectors; by up to 2.2 times what the compiler says without them."""
    names = ("forward_dynamics_derivatives", "inverse_dynamics", "com")
    options = {"body_loops": True, "quantities": names, "prefix": "r", "target": "host"}
    symgen.generate(ROBOTS / f"{robot}.urdf", tmp_path, ["c"], **options)
    report = json.loads((tmp_path / "r_report.json").read_text())["functions"]
    for name in names:
        stated = re.search(r"at most (\d+) bytes", (tmp_path / f"r_{name}.c").read_text())
        assert report[name]["stack"] <= int(stated[1]) < 2.2 * report[name]["stack"] + 1000
        flags = [*STRICT, "-O3", "-ffast-math", NATIVE, "-fstack-usage"]
        run_compiler([*flags, "-c", f"r_{name}.c", "-o", f"{name}.o"], tmp_path)
        lines = (tmp_path / f"{name}.su").read_text().splitlines()
        used = {line.split()[0].rpartition(":")[2]: int(line.split()[1]) for line in lines}
        assert used[f"r_{name}"] <= int(stated[1])

"""`symgen.compile`: fast by default, exact where asked for, kept between runs; and found again only
while nothing changed that it depends on."""

import os
import pickle
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import symgen
from symgen.jobs import api
from symgen.jobs.api import FILE_OPTIONS
from symgen.jobs.jobfile import MODULE_OPTIONS
from symgen.languages.c.checks import build
from symgen.native.store import SUBFOLDER, SUFFIX
from symgen.options import rows
from tests.support.tools import ROOT, generated, robot_file

Q = [0.3, -0.4]


@pytest.fixture
def robot(tmp_path):
    """A robot's file that may be changed."""
    return Path(shutil.copy(robot_file("pendulum"), tmp_path / "pendulum.urdf"))


@pytest.fixture
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("SYMGEN_CACHE", str(folder))
    return folder / SUBFOLDER


@pytest.fixture
def traced(monkeypatch):
    """How often a robot was traced."""
    from symgen.jobs.job import Job

    count, usual = [], Job.module

    def module(self, loaded, **options):
        count.append(1)
        return usual(self, loaded, **options)

    monkeypatch.setattr(Job, "module", module)
    return count


def modules(cache):
    return sorted(path.name for path in cache.glob(f"*{SUFFIX}"))


# -- what is computed ------------------------------------------------------------------------------


def test_exact_has_the_bits_of_the_c_as_verified():
    q, qd, x = np.random.default_rng(0).uniform(-3, 3, (3, 50, 2))
    names = ("inverse_dynamics", "forward_dynamics", "coriolis_matrix")
    exact = symgen.compile(robot_file("pendulum"), *names, exact=True)
    verified = build(*generated("pendulum", quantities=names))
    fast = symgen.compile(robot_file("pendulum"), *names)
    for name, given in zip(names, ((q, qd, x), (q, qd, x), (q, qd)), strict=True):
        wanted = getattr(verified, name)(*given)
        assert np.array_equal(getattr(exact, name)(*given), wanted)
        one = getattr(exact, name)(*(a[7] for a in given))
        assert np.array_equal(one, wanted[7])
        scale = np.abs(wanted).max()
        assert np.abs(getattr(fast, name)(*given) - wanted).max() < 1e-11 * scale


def test_options_that_are_given_hold():
    far = np.array([1e9, -2e9])
    libm = symgen.compile(robot_file("pendulum"), "gravity", trig="libm")
    module, folder = generated("pendulum", trig="libm")
    exact = build(module, folder)
    assert libm.gravity(far) == pytest.approx(exact.gravity(far), rel=1e-13)


def test_what_vectors_cannot_do_is_done_one_by_one():
    """A hyperbolic tangent is that of libm, which vectors cannot call."""
    given = {"friction": "runtime:coulomb", "friction_width": 0.1}
    code = symgen.compile(robot_file("pendulum"), "inverse_dynamics", **given)
    plain = symgen.compile(robot_file("pendulum"), "inverse_dynamics")
    qd = np.random.default_rng(0).uniform(-1, 1, (9, 2))
    friction = code.inverse_dynamics(Q, qd, Q, [0.5, 0.7]) - plain.inverse_dynamics(Q, qd, Q)
    assert friction == pytest.approx([0.5, 0.7] * np.tanh(qd / 0.1), rel=1e-9)


# -- what is kept ----------------------------------------------------------------------------------


def test_a_second_run_traces_nothing(robot, cache, traced):
    first = symgen.compile(robot, "gravity")
    assert len(traced) == 1 and len(modules(cache)) == 1
    second = symgen.compile(str(robot), "gravity")
    assert len(traced) == 1 and np.array_equal(first.gravity(Q), second.gravity(Q))
    assert np.array_equal(symgen.Robot(robot).compile("gravity").gravity(Q), first.gravity(Q))


CHANGES = {
    "the file": lambda robot: (
        robot.write_text(robot.read_text().replace('mass value="1.2"', 'mass value="1.5"')),
        {},
    )[1],
    "a quantity": lambda robot: {"quantities": ("gravity", "bias")},
    "an option": lambda robot: {"gravity": (0.0, 0.0, -1.62)},
    "its exactness": lambda robot: {"exact": True},
    "its scalar": lambda robot: {"scalar": "float"},
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_changes_is_made_anew(robot, cache, what):
    before = symgen.compile(robot, "gravity").gravity(Q)
    options = CHANGES[what](robot)
    names = options.pop("quantities", ("gravity",))
    after = symgen.compile(robot, *names, **options)
    assert len(modules(cache)) == 2
    if what in ("the file", "an option"):
        assert np.abs(after.gravity(Q) - before).max() > 0.01
    again = symgen.compile(robot, *names, **options)
    assert len(modules(cache)) == 2 and np.array_equal(again.gravity(Q), after.gravity(Q))


def test_what_else_it_depends_on(robot, cache, monkeypatch):
    """Compiler, processor and symgen itself."""
    symgen.compile(robot, "gravity")
    for name, value in (
        ("compiler_identity", ["cc", 1]),
        ("processor_description", "other"),
        ("_installed", ["1.0"]),
    ):
        monkeypatch.setattr(api, name, lambda value=value: value)
        count = len(modules(cache))
        symgen.compile(robot, "gravity")
        assert len(modules(cache)) == count + 1, name


def test_the_file_of_actuators_counts_by_its_content(robot, cache, tmp_path):
    file = tmp_path / "drives.toml"
    text = "[joints.shoulder]\ngear_ratio = {}\nrotor_inertia = 1e-4\n"
    file.write_text(text.format(50))
    inertia = [
        symgen.compile(robot, "mass_matrix", actuators=str(file)).mass_matrix(Q)[0, 0]
        for file_text in (text.format(50), text.format(100))
        if file.write_text(file_text)
    ]
    assert inertia[1] - inertia[0] == pytest.approx(1e-4 * (100**2 - 50**2), rel=0.05)


def test_options_that_name_files_are_known():
    assert {row.name for row in rows(*MODULE_OPTIONS) if row.path and not row.local} == {
        *FILE_OPTIONS
    }


def test_files_that_lead_to_others_are_read_each_time(tmp_path, cache, traced):
    """But not traced."""
    pytest.importorskip("xacrodoc")
    text = Path(robot_file("pendulum")).read_text()
    (tmp_path / "mass.xacro").write_text(
        '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:property name="m" value="2.0"/></robot>'
    )
    start = text.index("<robot")
    end = text.index(">", start)
    head = text[start:end] + ' xmlns:xacro="http://www.ros.org/wiki/xacro">'
    include = '<xacro:include filename="mass.xacro"/>'
    body = text[end + 1 :].replace('mass value="1.2"', 'mass value="${m}"')
    assert "${m}" in body
    robot = tmp_path / "pendulum.urdf.xacro"
    robot.write_text(text[:start] + head + include + body)
    found = [symgen.compile(robot, "gravity").gravity(Q) for _ in range(2)]
    assert len(traced) == 1 and np.array_equal(*found)
    (tmp_path / "mass.xacro").write_text(
        (tmp_path / "mass.xacro").read_text().replace("2.0", "3.0")
    )
    assert np.abs(symgen.compile(robot, "gravity").gravity(Q) - found[0]).max() > 0.01


SCRIPT = """
import sys
import numpy as np
import symgen

robot = symgen.compile(sys.argv[1], "gravity")
robot.gravity([0.1, 0.2])
print([name for name in ("sympy", "lxml", "jinja2", "cffi", "click", "rich", "symgen.tracing.trace",
                         "symgen.algorithms", "subprocess") if name in sys.modules])
"""


def test_a_second_run_loads_little(robot, cache):
    """What it would need to read and trace a robot stays unloaded, which is most of the time that a
    first run takes before it compiles."""
    symgen.compile(robot, "gravity")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, robot],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0 and set(eval(done.stdout)) <= {"subprocess"}, done


def test_processes_at_once(robot, cache):
    command = [sys.executable, "-c", SCRIPT, robot]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    every = [subprocess.Popen(command, env=env, stdout=subprocess.PIPE) for _ in range(2)]
    assert [process.wait() for process in every] == [0, 0]
    for process in every:
        process.stdout.close()
    assert len(modules(cache)) == 1 and not [*cache.glob(".new-*")]


def test_nothing_is_kept_where_nobody_wants_it(robot, tmp_path, monkeypatch):
    monkeypatch.setenv("SYMGEN_CACHE", "")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    code = symgen.compile(robot, "gravity")
    assert code.gravity(Q).shape == (2,) and not (tmp_path / "home").exists()


# -- what it looks like ----------------------------------------------------------------------------


def test_a_compiled_robot_is_an_object_with_functions(cache, robot):
    code = symgen.compile(robot, "gravity", "bias")
    assert repr(code) == "<compiled pendulum: gravity, bias>"
    assert {"gravity", "bias", "functions", "JOINT_NAMES"} <= {*dir(code)}
    assert (code.JOINT_NAMES, code.NQ, code.NV) == (("shoulder", "elbow"), 2, 2)
    assert code.bias.__text_signature__ == "($module, q, qd, *, out=None, threads=1)"
    for thing in (code.gravity, code):
        again = pickle.loads(pickle.dumps(thing))
        function = again.gravity if thing is code else again
        assert function is code.gravity
    command = (
        f"import pickle; print(pickle.loads({pickle.dumps(code)!r}).gravity([0.3, -0.4]).tolist())"
    )
    done = subprocess.run(
        [sys.executable, "-c", command],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert eval(done.stdout) == code.gravity(Q).tolist(), done.stderr


def test_without_headers_calls_go_through_cffi(cache, robot, tmp_path, monkeypatch):
    right = symgen.compile(robot, "gravity", "bias").gravity(Q)
    monkeypatch.setattr("symgen.native.library.sysconfig.get_path", lambda name: str(tmp_path))
    monkeypatch.setenv("SYMGEN_CACHE", "")
    with pytest.warns(UserWarning, match=r"Python\.h is missing; install .* through cffi") as said:
        code = symgen.compile(robot, "gravity", "bias")
    assert len(said) == 1 and said[0].filename == __file__
    assert np.abs(code.gravity(Q) - right).max() < 1e-14 and code.NQ == 2
    with pytest.raises(TypeError, match="without the headers of Python cannot be pickled"):
        pickle.dumps(code)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert code.gravity(np.zeros((3, 2))).shape == (3, 2)

"""``symgen build``: a package that installs, with types that a user's checker understands."""

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import numpy
import pytest

from symgen.errors import SymgenError
from symgen.jobs.extension_modules import build as build_package
from symgen.native.store import SUFFIX
from tests.support.oracles import mypy_must_be_installed
from tests.support.tools import invoke, robot_file, snapshot

OPTIONS = {
    "quantities": ("inverse_dynamics", "forward_dynamics", "sum=bias+mass_matrix"),
    "parameters": "runtime",
}


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    folder = tmp_path_factory.mktemp("package")
    module, _, paths = build_package(robot_file("pendulum"), folder, cflags="-O1", **OPTIONS)
    return folder, module, paths


USE = """
import pickle
import numpy as np
import numpy.typing as npt

import pendulum

Numbers = npt.NDArray[np.float64]


def energy(q: Numbers, qd: Numbers, out: Numbers) -> float:
    par = pendulum.regroup([x for ten in pendulum.PARAMETERS.values() for x in ten])
    bias, mass = pendulum.sum(q, qd, par)
    same: Numbers = pendulum.inverse_dynamics(q, qd, [0.0, 0.0], par, out=out, threads=2)
    assert same is out and np.allclose(bias, out, rtol=1e-13, atol=1e-15)
    return float(qd @ mass @ qd) / 2


assert energy(np.array([0.1, 0.2]), np.array([0.3, 0.4]), np.zeros(pendulum.NV)) > 0
assert pickle.loads(pickle.dumps(pendulum.sum)) is pendulum.sum
assert pendulum.sum.__module__ == "pendulum" and pendulum.JOINT_NAMES == ("shoulder", "elbow")
print(sorted(name for name in dir(pendulum) if name in pendulum.__all__))
"""

WRONG = """
import pendulum

pendulum.inverse_dynamics([0.0], [0.0])
pendulum.nothing([0.0])
mass: int = pendulum.sum([0.0], [0.0], [0.0])[0]
"""


def test_a_wheel_installs_into_a_clean_environment(package, tmp_path):
    """With nothing but NumPy beside it, which is taken from here."""
    _, _, paths = package
    venv.create(tmp_path / "clean", with_pip=False)
    python = tmp_path / "clean" / "bin" / "python"
    (site,) = (tmp_path / "clean").glob("lib/python*/site-packages")
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(python)]
    command += ["install", "--quiet", "--no-index", "--no-deps", str(paths[-1])]
    subprocess.run(command, check=True)
    for place in (Path(numpy.__file__).parent, Path(numpy.__file__).parents[1] / "numpy.libs"):
        if place.is_dir():
            (site / place.name).symlink_to(place)
    (tmp_path / "use.py").write_text(USE, encoding="utf-8")
    done = subprocess.run(
        [python, "-I", "-W", "error", tmp_path / "use.py"],
        capture_output=True,
        text=True,
        check=False,
    )
    names = "FUNCTIONS JOINT_NAMES NQ NV PARAMETERS WIDTH forward_dynamics inverse_dynamics"
    assert done.stdout == f"{[*names.split(), 'regroup', 'sum']}\n", done.stderr


def test_stubs_pass_a_users_strict_checks(package, tmp_path):
    """And refuse what is wrong."""
    mypy_must_be_installed()
    folder, _, _ = package
    (tmp_path / "use.py").write_text(USE, encoding="utf-8")
    (tmp_path / "wrong.py").write_text(WRONG, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache")]
    ran = subprocess.run(
        [*command, "use.py", "wrong.py"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(folder)},
    ).stdout
    found = re.findall(r"(\w+).py:(\d+): error: .*\[(.*)\]", ran)
    wrong = [("4", "call-arg"), ("5", "attr-defined"), ("6", "assignment")]
    assert found == [("wrong", *each) for each in wrong], ran
    assert "(checked 2 source files)" in ran


def test_the_wheel_holds_the_package(package):
    folder, _, paths = package
    with zipfile.ZipFile(paths[-1]) as archive:
        rows = [
            row.split(",")
            for row in archive.read("pendulum-0.1.0.dist-info/RECORD").decode().splitlines()
        ]
        assert {row[0] for row in rows} == {*archive.namelist()}
        for name, digest, size in rows[:-1]:
            data = archive.read(name)
            found = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
            assert (digest, int(size)) == (f"sha256={found}", len(data))
        held = [name for name in archive.namelist() if name.startswith("pendulum/")]
        assert all(archive.read(name) == (folder / name).read_bytes() for name in held) and [
            name.rpartition("/")[2] for name in held
        ] == [f"_native{SUFFIX}", "__init__.py", "__init__.pyi", "py.typed"]


def test_a_wheel_has_the_version_of_the_module(tmp_path):
    """Also of a package whose C is loops over bodies."""
    given = ("-o", tmp_path, "--quantity", "gravity", "--cflags", "-O0", "--body-loops", "yes")
    version = ("--module-version", "2.3.1")
    assert invoke("build", robot_file("pendulum"), *given, *version).exit_code == 0
    assert [*tmp_path.glob("pendulum/**/pendulum_bodies.h")]
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name.startswith("pendulum-2.3.1-cp")
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read("pendulum-2.3.1.dist-info/METADATA").decode()
    assert "Version: 2.3.1\n" in text and "symgen 0." not in text


def test_a_package_never_replaces_what_is_not_its_own(tmp_path, package):
    name = package[2][-1].name
    (tmp_path / name).write_text("mine", encoding="utf-8")
    with pytest.raises(SymgenError, match="exists and was not written by symgen"):
        build_package(robot_file("pendulum"), tmp_path, quantities=("gravity",), cflags="-O0")
    assert snapshot(tmp_path) == {name: b"mine"}


def test_a_package_says_what_it_needs(tmp_path, monkeypatch):
    monkeypatch.setattr("symgen.native.library.sysconfig.get_path", lambda name: str(tmp_path))
    with pytest.raises(SymgenError, match=r"Python\.h is missing; install"):
        build_package(robot_file("pendulum"), tmp_path / "out", quantities=("gravity",))
    assert not (tmp_path / "out").exists()


def test_package_and_wheel_appear_together_or_not_at_all(tmp_path, package, monkeypatch):
    name = package[2][-1].name

    def full_disk(**options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("symgen.jobs.publish.tempfile.NamedTemporaryFile", full_disk)
    with pytest.raises(
        SymgenError, match=rf"cannot write '.*{re.escape(name)}': No space left on device"
    ):
        build_package(robot_file("pendulum"), tmp_path, quantities=("gravity",), cflags="-O0")
    assert snapshot(tmp_path) == {}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--cflags", "'"], '--cflags "\'": No closing quotation'),
        (
            ["--exact", "--cflags", "-O1"],
            "--exact and --cflags: both set flags of the compiler; remove one of them",
        ),
        (
            ["--native", "--cflags", "-O1"],
            "--native and --cflags: both set flags of the compiler; remove one of them",
        ),
        (
            ["--friction", "runtime:coulomb", "--friction-width", "0.1", "--batch", "4"],
            "inverse_dynamics needs tanh, which has no vector version; remove --friction-width",
        ),
    ],
)
def test_a_package_is_refused_in_a_sentence(tmp_path, arguments, said):
    result = invoke("build", robot_file("pendulum"), "-o", tmp_path / "out", *arguments)
    assert result.exit_code == 2 and said in result.stderr and result.stderr.count("\n") == 1, (
        result.output
    )
    assert not (tmp_path / "out").exists()


def test_what_vectors_cannot_do_is_done_one_by_one(tmp_path):
    options = {"quantities": ("inverse_dynamics",), "friction": "runtime:coulomb"}
    module, _, _ = build_package(
        robot_file("pendulum"), tmp_path, prefix="tanh_arm", friction_width=0.1, **options
    )
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import numpy as np, tanh_arm as a; q = np.ones((3, 2)); print(a.WIDTH, "
            "np.round(a.inverse_dynamics(0 * q, q, 0 * q, [2.0, 3.0]) - a.inverse_dynamics(0 * q, q, 0 * q, "
            "[0.0, 0.0]), 6))",
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert done.stdout.split()[:3] == ["1", "[[2.", "3.]"], (done.stdout, done.stderr)
    assert module.options["batch"] is None and module.options["trig"] == "inline"


def test_build_leaves_the_folder_of_a_job_alone(tmp_path):
    robot = json.dumps(robot_file("pendulum"))
    text = f'file = {robot}\nout = "generated"\nquantities = ["gravity"]\n'
    (tmp_path / "job.toml").write_text(text, encoding="utf-8")
    result = invoke("build", tmp_path / "job.toml", "-o", tmp_path / "python", "--cflags", "-O0")
    assert result.exit_code == 0 and not (tmp_path / "generated").exists()
    assert (tmp_path / "python" / "pendulum" / "pendulum_gravity_batch.c").is_file()
    assert invoke("build", tmp_path / "job.toml").exit_code == 2

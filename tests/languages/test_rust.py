"""Rust: rustc and clippy take the crate, cargo runs its tests, and its values are the C's."""

import os
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import pytest

from tests.support.tools import SIMPLE, generated, invoke, robot_file, verified

pytestmark = pytest.mark.skipif(shutil.which("cargo") is None, reason="Rust is not installed")

CASES = {
    "pendulum": {"quantities": SIMPLE},
    "biped": {"base": "floating", "quantities": ("forward_dynamics", "christoffel_symbols")},
    "scara": {"parameters": "runtime:quill", "gravity": "runtime", "friction": "runtime:coulomb"},
}
DEBIAN = Path("/usr/share/cargo/registry")


def cargo(folder, *words):
    """What cargo says, without a network; crates are those of Debian."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(
        f'[source.crates-io]\nreplace-with = "debian"\n[source.debian]\ndirectory = "{DEBIAN}"\n'
    )
    return subprocess.run(
        ["cargo", *words],
        cwd=folder,
        env=os.environ | {"CARGO_HOME": str(home)},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("name", CASES)
def test_verify_proves_it(name):
    _, folder = generated(name, languages=("rust",), **CASES[name])
    said = verified(folder)
    assert "Rust equals the float run" in said


LIBM = ("--no-default-features", "--features", "libm")


@pytest.mark.skipif(not list(DEBIAN.glob("libm-*")), reason="Debian's crate libm is not installed")
@pytest.mark.parametrize("name, features", [("pendulum", ()), ("scara", LIBM)])
def test_clippy_and_the_crate_s_own_tests(name, features, tmp_path):
    _, folder = generated(name, languages=("rust",), **CASES[name])
    crate = tmp_path / "crate"
    shutil.copytree(folder / f"{name}_rust", crate)
    lint = cargo(crate, "clippy", "--offline", "--all-targets", *features, "--", "-D", "warnings")
    if "no such command" not in lint.stderr:
        assert lint.returncode == 0, lint.stderr
    done = cargo(crate, "test", "--offline", *features)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "test result: ok" in done.stdout and " 0 passed" not in done.stdout.splitlines()[0]


def test_it_is_built_for_a_microcontroller(tmp_path):
    target = "thumbv7em-none-eabihf"
    if shutil.which("rustup") is None or not list(DEBIAN.glob("libm-*")):
        pytest.skip("rustup or Debian's crate libm is not installed")
    listed = subprocess.run(
        ["rustup", "target", "list", "--installed"], capture_output=True, text=True, check=True
    )
    if target not in listed.stdout.split():
        pytest.skip(f"the target is not installed: rustup target add {target}")
    _, folder = generated("scara", languages=("rust",), **CASES["scara"])
    shutil.copytree(folder / "scara_rust", tmp_path / "crate")
    done = cargo(tmp_path / "crate", "build", "--release", "--offline", "--target", target, *LIBM)
    assert done.returncode == 0, done.stderr


def test_names_stay_data(tmp_path):
    nasty = '"); panic!("x") // `\\u{0}'
    text = Path(robot_file("pendulum")).read_text(encoding="utf-8")
    joint = text.split('<joint name="')[1].split('"')[0]
    escaped = nasty.replace('"', "&quot;")
    (tmp_path / "x.urdf").write_text(text.replace(f'"{joint}"', f'"{escaped}"'), "utf-8")
    some = ("--lang", "rust", "--quantity", "gravity")
    done = invoke("generate", tmp_path / "x.urdf", "-o", tmp_path / "x", *some)
    assert done.exit_code == 0, done.output
    assert invoke("verify", tmp_path / "x").exit_code == 0
    program = 'fn main() { print!("{}", pendulum::JOINT_NAMES[0]); }'
    crate = tmp_path / "x" / "pendulum_rust"
    (crate / "examples" / "name.rs").write_text(program)
    lib = ["rustc", "--edition", "2021", "--cfg", 'feature="std"', "--crate-type", "lib"]
    subprocess.run([*lib, "--crate-name", "pendulum", "src/lib.rs"], cwd=crate, check=True)
    one = ["rustc", "--edition", "2021", "--extern", "pendulum=libpendulum.rlib"]
    subprocess.run([*one, "examples/name.rs", "-o", "name"], cwd=crate, check=True)
    done = subprocess.run([crate / "name"], capture_output=True, text=True, check=True)
    assert done.stdout == nasty


@pytest.mark.skipif(shutil.which("rustdoc") is None, reason="rustdoc is not installed")
def test_the_documentation_shows_what_is_written(tmp_path):
    text = Path(robot_file("pendulum")).read_text(encoding="utf-8")
    name = "*arm* [one] `two` &lt;b>"
    (tmp_path / "x.urdf").write_text(text.replace('name="pendulum"', f'name="{name}"', 1), "utf-8")
    done = invoke("generate", tmp_path / "x.urdf", "-o", tmp_path / "x", "--lang", "rust")
    assert done.exit_code == 0, done.output
    (library,) = (tmp_path / "x").glob("*_rust/src/lib.rs")
    command = ["rustdoc", "--edition", "2021", "--cfg", 'feature="std"', "-D", "warnings"]
    told = [*command, "--crate-name", "arm", "--out-dir", tmp_path / "doc", library]
    subprocess.run(told, check=True)
    page = (tmp_path / "doc" / "arm" / "index.html").read_text(encoding="utf-8")
    described = page[page.index("top-doc") :].partition("</section>")[0]
    shown = " ".join(unescape(re.sub("<[^>]*>", "", described)).split())
    assert "robot *arm* [one] `two` <b>." in shown
    assert "Every function is generic over Real, which is f32 or f64." in shown


USER = """
use pendulum::{forward_dynamics, Singular};
use std::error::Error;

fn accelerations(q: [f64; 2]) -> Result<[f64; 2], Box<dyn Error>> {
    let mut qdd = [0.0; 2];
    forward_dynamics(&q, &[0.0; 2], &[1.0, 2.0], &mut qdd)?;
    Ok(qdd)
}

#[test]
fn an_error_says_what_is_wrong() {
    assert!(accelerations([0.1, 0.2]).is_ok());
    let error = accelerations([f64::NAN, 0.2]).unwrap_err();
    assert_eq!(error.downcast_ref::<Singular>(), Some(&Singular));
    assert!(error.to_string().starts_with("the mass matrix is not positive definite"));
}
"""


def test_a_user_s_program_and_the_example_and_the_package_are_built(tmp_path):
    """cargo packs the crate; its example prints the reference; the error is one of Rust's."""
    module, folder = generated("pendulum", languages=("rust",), quantities=("forward_dynamics",))
    crate = tmp_path / "crate"
    shutil.copytree(folder / "pendulum_rust", crate)
    (crate / "tests" / "user.rs").write_text(USER)
    done = cargo(crate, "test", "--offline", "--test", "user")
    assert done.returncode == 0, done.stdout + done.stderr
    shown = cargo(crate, "run", "--offline", "--example", "first_call").stdout
    wanted = module.test_states[0].expected["qdd"]
    found = [float(x) for x in re.findall(r"-?[\d.]+(?:e-?\d+)?", shown.partition("=")[2])]
    assert found == pytest.approx(wanted, rel=1e-12)
    packed = cargo(crate, "package", "--offline", "--allow-dirty", "--no-verify")
    assert packed.returncode == 0, packed.stderr
    assert "publish" not in (crate / "Cargo.toml").read_text("utf-8")

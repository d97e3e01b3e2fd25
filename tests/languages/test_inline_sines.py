"""The sines and cosines that C++ headers and Rust crates bring have the bits of those of the C: at
angles near multiples of pi/2, at large angles, alone and several in one call."""

import shutil
import subprocess

import numpy as np
import pytest

from symgen.numbers.trig import TYPES, sincos
from tests.support.sines import angles, large_angles, scalars
from tests.support.tools import generated, invoke, verified

COMPILERS = [name for name in ("g++", "g++-11", "clang++") if shutil.which(name)]
compilers = pytest.mark.parametrize("compiler", COMPILERS)
needs_rust = pytest.mark.skipif(shutil.which("rustc") is None, reason="Rust is not installed")
ALL = 8
"""Angles of one call."""
STRICT = ("-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror")
RUST_TYPES = {"double": "f64", "float": "f32"}


def tried(scalar):
    """Angles in whole rows of `ALL`, numbers that are none among them."""
    real = TYPES[scalar]
    with np.errstate(over="ignore"):
        special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e300, 3e15, 4e6], real)
    x = np.concatenate([special, large_angles(scalar), angles(scalar)])
    return x[: x.size // ALL * ALL].reshape(-1, ALL)


def check(run, scalar, tmp_path):
    """Compare the sines and cosines of a program with those of `sincos`, which the C has: it
    prints those of each angle in a call of its own, then those of rows of `ALL`."""
    x = tried(scalar)
    (tmp_path / "angles").write_bytes(x.tobytes())
    made = subprocess.run(
        [*run, tmp_path / "angles"], cwd=tmp_path, capture_output=True, check=True
    )
    found = np.frombuffer(made.stdout, TYPES[scalar]).reshape(2, len(x), 2, ALL)
    with np.errstate(all="ignore"):
        wanted = np.stack(sincos(x, scalar), axis=1)
    for bits in found:
        assert np.array_equal(bits, wanted, equal_nan=True)
        zero = wanted == 0.0
        assert np.array_equal(np.signbit(bits[zero]), np.signbit(wanted[zero]))
    assert np.isnan(wanted).sum() > 1000 > np.isnan(wanted[-1000:]).sum()


CPP = """
#include "ur5_robot.hpp"
#include <cstdio>
#include <fstream>
using Real = {scalar};
namespace detail = ur5_robot::detail;
template <std::size_t... K>
auto together(const Real *x, std::index_sequence<K...>)
{{
    return detail::sincos_all<Real>(x[K]...);
}}
int main(int, char **words)
{{
    static_assert(detail::own_sines<Real>);
    for (const bool all : {{false, true}}) {{
        std::ifstream angles(words[1], std::ios::binary);
        Real x[{all}], y[2][{all}];
        while (angles.read(reinterpret_cast<char *>(x), sizeof x)) {{
            const auto several = together(x, std::make_index_sequence<{all}>());
            for (std::size_t k = 0; k < {all}; ++k) {{
                const auto one = detail::sincos<Real>(x[k]);
                y[0][k] = all ? several.sine[k] : one.sine;
                y[1][k] = all ? several.cosine[k] : one.cosine;
            }}
            std::fwrite(y, sizeof y, 1, stdout);
        }}
    }}
}}
"""


@scalars
@compilers
@pytest.mark.parametrize(
    "level", ["-O0", "-O2", "-O2 -march=native", "-O2 -funsafe-math-optimizations"]
)
def test_cpp_has_the_bits_of_c(compiler, scalar, level, tmp_path):
    if "unsafe" in level and compiler == "g++":
        pytest.skip("gcc 12 or newer uses the sines of the standard library with this flag")
    _, folder = generated("ur5", languages=("cpp",), quantities=("gravity",))
    (tmp_path / "main.cpp").write_text(CPP.format(scalar=scalar, all=ALL))
    flags = ["-ffp-contract=off", f"-I{folder}", *level.split()]
    subprocess.run([compiler, *STRICT, *flags, "main.cpp", "-o", "main"], cwd=tmp_path, check=True)
    check([tmp_path / "main"], scalar, tmp_path)


RUST = """
use ur5::Real;
fn main() {{
    let bytes = std::fs::read(std::env::args().nth(1).unwrap()).unwrap();
    let x: Vec<{type}> = bytes.chunks({size}).map(|x| {type}::from_le_bytes(x.try_into().unwrap())).collect();
    let mut out = Vec::new();
    for all in [false, true] {{
        for row in x.chunks({all}) {{
            let row: [{type}; {all}] = row.try_into().unwrap();
            let alone = row.map(|x| Real::sin_cos(x));
            let (sines, cosines) = if all {{
                ur5::together(row)
            }} else {{
                (alone.map(|y| y.0), alone.map(|y| y.1))
            }};
            for y in sines.iter().chain(&cosines) {{
                out.extend_from_slice(&y.to_le_bytes());
            }}
        }}
    }}
    std::io::Write::write_all(&mut std::io::stdout(), &out).unwrap();
}}
"""
TOGETHER = """
pub fn together<T: Real>(x: [T; 8]) -> ([T; 8], [T; 8]) {
    sines::sin_cos_all(x)
}
"""


def crate(folder, level, text, name="ur5"):
    """Compile a crate without features, then a program that uses it."""
    rustc = ["rustc", "--edition", "2021", "-D", "warnings", *level.split()]
    (folder / "lib.rs").write_text(text)
    library = [*rustc, "--crate-type", "lib", "--crate-name", name, "lib.rs"]
    subprocess.run(library, cwd=folder, check=True)
    program = [*rustc, "--extern", f"{name}=lib{name}.rlib", "main.rs", "-o", "main"]
    subprocess.run(program, cwd=folder, check=True)


@needs_rust
@scalars
@pytest.mark.parametrize("level", ["-Copt-level=0", "-O", "-O -Ctarget-cpu=native"])
def test_rust_has_the_bits_of_c(scalar, level, tmp_path):
    _, folder = generated("ur5", languages=("rust",), quantities=("gravity",))
    text = (folder / "ur5_rust" / "src" / "lib.rs").read_text() + TOGETHER
    values = {"type": RUST_TYPES[scalar], "size": TYPES[scalar]().itemsize, "all": ALL}
    (tmp_path / "main.rs").write_text(RUST.format(**values))
    crate(tmp_path, level, text)
    check([tmp_path / "main"], scalar, tmp_path)


BESIDE_C = """
#include "ur5.h"
#include "ur5_robot.hpp"
#include <cstring>
#include <random>
int main()
{
    std::mt19937 random(1);
    std::uniform_real_distribution<ur5_real> usual(-3, 3), large(-1000, 1000);
    int nan = 0;
    for (int k = 0; k < 1000; ++k) {
        std::array<ur5_real, 6> x[3], by_c;
        for (auto &row : x)
            for (ur5_real &entry : row)
                entry = usual(random);
        for (ur5_real &angle : x[0])
            angle = k % 5 ? angle : large(random);
        x[0][std::size_t(k % 6)] *= k % 50 ? ur5_real(1) : ur5_real(1e20);
        ur5_inverse_dynamics(x[0].data(), x[1].data(), x[2].data(), by_c.data());
        const auto tau = ur5_robot::inverse_dynamics(x[0], x[1], x[2]);
        for (std::size_t i = 0; i < 6; ++i) {
            nan += tau[i] != tau[i];
            if ((tau[i] == tau[i] || by_c[i] == by_c[i]) && std::memcmp(&tau[i], &by_c[i], sizeof tau[i]))
                return 1;
        }
    }
    return nan > 20 ? 0 : 2;
}
"""


@scalars
@compilers
def test_a_function_of_float_or_double_has_the_bits_of_c(compiler, scalar, tmp_path):
    options = {"quantities": ("inverse_dynamics",), "scalar": scalar}
    _, folder = generated("ur5", languages=("c", "cpp"), **options)
    (tmp_path / "main.cpp").write_text(BESIDE_C)
    flags = ["-O2", "-ffp-contract=off", f"-I{folder}"]
    source = folder / "ur5_inverse_dynamics.c"
    subprocess.run(["cc", "-std=c99", *flags, "-c", source], cwd=tmp_path, check=True)
    program = [compiler, *STRICT, *flags, "main.cpp", "ur5_inverse_dynamics.o", "-o", "main"]
    subprocess.run(program, cwd=tmp_path, check=True)
    subprocess.run([tmp_path / "main"], check=True)


FAST = """
#include "ur5_robot.hpp"
#include <cstdio>
int main()
{
    for (int k = 0; k < 100; ++k) {
        const double x = k * 1.7 - 85.0;
        for (const double tau : ur5_robot::gravity(std::array<double, 6>{x, -x, x / 3, 0.1, x, -0.7 * x}))
            std::printf("%.17g ", tau);
    }
}
"""


@compilers
@pytest.mark.parametrize(
    "flag",
    [
        "-ffast-math",
        "-funsafe-math-optimizations",
        "-fassociative-math -fno-signed-zeros -fno-trapping-math",
        "-ffinite-math-only",
        "-ffp-contract=fast -march=native",
    ],
)
def test_flags_that_change_the_arithmetic_leave_sines_right(compiler, flag, tmp_path):
    """Such a compiler may take the rounding to a multiple of pi/2 for nothing at all."""
    _, folder = generated("ur5", languages=("cpp",), quantities=("gravity",))
    (tmp_path / "main.cpp").write_text(FAST)
    printed = []
    for flags in ([], flag.split()):
        command = [compiler, *STRICT, "-O2", *flags, f"-I{folder}", "main.cpp", "-o", "main"]
        subprocess.run(command, cwd=tmp_path, check=True)
        done = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True)
        printed.append(np.array(done.stdout.split(), float))
    assert printed[0].size == 600
    assert np.allclose(*printed, rtol=0, atol=1e-11)


ROBOTS = {
    "a sine alone": ("revolute", "gravity"),
    "a pair": ("revolute", "frame_pose:b"),
    "several": ("revolute", "inverse_dynamics"),
    "no sine": ("prismatic", "inverse_dynamics"),
}
URDF = """<robot name="r"><link name="a"/><link name="b">{0}</link><link name="c">{0}</link>
<joint name="p" type="{1}"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/>
<limit lower="-9" upper="9" effort="1" velocity="1"/></joint>
<joint name="q" type="{1}"><parent link="b"/><child link="c"/><origin xyz="0.3 0 0"/>
<axis xyz="1 0 0"/><limit lower="-9" upper="9" effort="1" velocity="1"/></joint></robot>"""
BODY = """<inertial><origin xyz="0.1 0 0"/><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>"""


@needs_rust
@pytest.mark.parametrize("case", ROBOTS)
@pytest.mark.parametrize("trig", ["inline", "libm"])
def test_verify_proves_every_form_without_a_warning(case, trig, tmp_path):
    joint, quantity = ROBOTS[case]
    (tmp_path / "r.urdf").write_text(URDF.format(BODY, joint))
    out = tmp_path / "out"
    words = ("--lang", "cpp", "--lang", "rust", "--quantity", quantity, "--trig", trig)
    done = invoke("generate", tmp_path / "r.urdf", "-o", out, *words)
    assert done.exit_code == 0, done.output
    printed = verified(out)
    assert "C++ equals the float run" in printed and "Rust equals the float run" in printed


@needs_rust
def test_a_crate_without_a_library_needs_no_feature(tmp_path):
    """Square roots are still those of the standard library or of the crate libm."""
    messages = {}
    for trig in ("inline", "libm"):
        options = {"languages": ("rust",), "quantities": ("inverse_dynamics",), "trig": trig}
        _, folder = generated("ur5", **options)
        command = ["rustc", "--edition", "2021", "-D", "warnings", "--crate-type", "lib"]
        library = folder / "ur5_rust" / "src" / "lib.rs"
        done = subprocess.run([*command, library], cwd=tmp_path, capture_output=True, text=True)
        messages[trig] = done.stderr
        manifest = (folder / "ur5_rust" / "Cargo.toml").read_text()
        assert ("[dependencies]" in manifest) == (trig == "libm")
        assert ('libm = ["dep:libm"]' in manifest) == (trig == "libm")
        assert "\nlibm = " in manifest and "\nstd = []\n" in manifest
    assert messages["inline"] == ""
    assert "enable the feature std, or the feature libm" in messages["libm"]


@compilers
def test_no_function_of_the_library_is_called(compiler, tmp_path):
    """Neither a sine nor a cosine is left to the standard library."""
    text = (
        '#include "{0}_robot.hpp"\nvoid run(const double *q, double *tau);\n'
        "void run(const double *q, double *tau) {{ {0}_robot::inverse_dynamics(q, q, q, tau); }}"
    )
    undefined = {}
    for trig in ("inline", "libm"):
        options = {"languages": ("cpp",), "quantities": ("inverse_dynamics",), "trig": trig}
        _, folder = generated("ur5", **options)
        (tmp_path / "main.cpp").write_text(text.format("ur5"))
        command = [compiler, *STRICT, "-O2", f"-I{folder}", "-c", "main.cpp"]
        subprocess.run(command, cwd=tmp_path, check=True)
        done = subprocess.run(
            ["nm", "-u", "main.o"], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        undefined[trig] = {word for word in done.stdout.split() if "sin" in word or "cos" in word}
    assert not undefined["inline"] and undefined["libm"]

"""Glue: the files for build systems are read by those that are here, and are plain enough for those
that are not."""

import json
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest
from tools import c_files, compiled, generated, invoke, robot_file, snapshot

from symgen.errors import OptionError
from symgen.jobs.job import Job
from symgen.jobs.manifest import is_inside
from symgen.jobs.publish import publish
from symgen.jobs.verify import verify
from symgen.languages.c.glue import GLUE
from symgen.languages.c.options import COptions
from symgen.languages.release import Release

FUNCTIONS = ("inverse_dynamics", "forward_dynamics", "terms=bias+mass_matrix", "gravity")
CASES = {
    "double": ("ur5", {}),
    "float": ("ur5", {"scalar": "float"}),
    "libm": ("ur5", {"trig": "libm"}),
    "pieces": ("ur5", {"chunk": 30}),
    "payload": ("ur5", {"parameters": "runtime:flange", "gravity": "runtime"}),
}
EVERY = tuple(name for name in GLUE if name != "ros2")
"""All that any module can have; ROS 2 needs a controller (test_ros2.py)."""
cases = pytest.mark.parametrize("case", CASES)


@cache
def made(case):
    name, options = CASES[case]
    return generated(name, glue=EVERY, quantities=FUNCTIONS, **options)


@pytest.mark.parametrize("name", GLUE)
def test_only_what_is_asked_for(name, tmp_path):
    one = "gravity_compensation"
    given = ("-o", tmp_path, "--lang", "c", "--glue", name, "--controller", one)
    done = invoke("generate", robot_file("pendulum"), *given)
    assert done.exit_code == 0, done.stderr
    plain = re.compile(r"pendulum\w*\.[ch]|manifest\.json|pendulum_report\.json")
    files = {file for file, data in snapshot(tmp_path).items() if data is not None}
    found = {file for file in files if not plain.fullmatch(file)}
    assert found == {file.format(name="pendulum", plugin=one) for file in GLUE[name]}


def test_unknown_glue_is_refused():
    done = invoke("generate", robot_file("pendulum"), "-o", "/nowhere", "--glue", "cmake,scons")
    assert done.exit_code == 2 and done.stderr.startswith(
        "error: --glue 'scons': use some of cmake, zephyr, arduino"
    )
    job = Job.of(robot_file("pendulum"), quantities=("linux=gravity",), glue=("cpp",))
    with pytest.raises(OptionError, match="the name of a function: 'linux' is not usable"):
        job.module(job.load())


@cases
def test_a_folder_with_all_glue_proves_itself(case):
    _, folder = made(case)
    assert all(check.passed for check in verify(folder))
    hashes = json.loads((folder / "manifest.json").read_text())["files"]
    assert "zephyr/module.yml" in hashes and "ur5.hpp" in hashes


# -- CMake -----------------------------------------------------------------------------------------


def run(*command, cwd):
    done = subprocess.run(
        [str(x) for x in command], capture_output=True, text=True, check=False, cwd=cwd
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


cmake = pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")


@cmake
@cases
def test_cmake_builds_tests_and_installs(case, tmp_path):
    _, folder = made(case)
    before = snapshot(folder)
    run(
        "cmake",
        "-S",
        folder,
        "-B",
        "build",
        f"-DCMAKE_INSTALL_PREFIX={tmp_path / 'there'}",
        "-DCMAKE_INSTALL_LIBDIR=lib",
        cwd=tmp_path,
    )
    run("cmake", "--build", "build", cwd=tmp_path)
    run("ctest", "--output-on-failure", cwd=tmp_path / "build")
    run("cmake", "--install", "build", cwd=tmp_path)
    assert snapshot(folder) == before
    installed = {file for file, data in snapshot(tmp_path / "there").items() if data is not None}
    assert {
        "include/ur5.h",
        "include/ur5.hpp",
        "lib/libur5.a",
        "lib/cmake/ur5/ur5Config.cmake",
        "lib/cmake/ur5/ur5ConfigVersion.cmake",
        "lib/pkgconfig/ur5.pc",
    } <= installed


USER = """cmake_minimum_required(VERSION 3.13)
project(user C)
{take}
add_executable(user user.c)
target_link_libraries(user PRIVATE ur5::ur5)
"""
PROGRAM = (
    '#include "ur5.h"\nint main(void) { ur5_real q[6] = {0}, g[6]; ur5_gravity(q, g); '
    "return g[0] > 1; }\n"
)


@cmake
@pytest.mark.parametrize("way", ["add_subdirectory", "find_package"])
def test_another_project_takes_it(way, tmp_path):
    _, folder = made("double")
    take = f"add_subdirectory({folder} ur5)"
    if way == "find_package":
        run(
            "cmake",
            "-S",
            folder,
            "-B",
            "b",
            f"-DCMAKE_INSTALL_PREFIX={tmp_path / 'there'}",
            cwd=tmp_path,
        )
        run("cmake", "--build", "b", "--target", "install", cwd=tmp_path)
        take = f"find_package(ur5 REQUIRED PATHS {tmp_path / 'there'})"
    (tmp_path / "CMakeLists.txt").write_text(USER.format(take=take))
    (tmp_path / "user.c").write_text(PROGRAM)
    run("cmake", "-S", ".", "-B", "build", cwd=tmp_path)
    run("cmake", "--build", "build", cwd=tmp_path)
    run(tmp_path / "build" / "user", cwd=tmp_path)
    assert not list((tmp_path / "build").rglob("ur5_selftest*"))  # that is its own business


def installed(folder, work, *options):
    """The prefix where CMake has installed a module."""
    there = work / "there"
    options = (f"-DCMAKE_INSTALL_PREFIX={there}", *options)
    run("cmake", "-S", folder, "-B", "own", *options, cwd=work)
    run("cmake", "--build", "own", "--target", "install", cwd=work)
    return there


def asked(there, version, work):
    """What CMake says to a project that asks for a version of the module."""
    work.mkdir()
    take = f"find_package(ur5 {version} REQUIRED PATHS {there})"
    (work / "CMakeLists.txt").write_text(USER.format(take=take))
    (work / "user.c").write_text(PROGRAM)
    command = ["cmake", "-S", ".", "-B", "build"]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=work)


@cmake
@pytest.mark.parametrize(
    "version, fitting, other",
    [("0.1.0", ("", "0.1", "0.1.0"), ("0.2", "0.0.9", "1.0")), ("2.3.1", ("2", "2.1"), ("2.4",))],
)
def test_a_version_can_be_asked_for(version, fitting, other, tmp_path):
    """By what Semantic Versioning says of versions that can stand for each other."""
    _, folder = generated("ur5", quantities=("gravity",), module_version=version)
    there = installed(folder, tmp_path)
    for text in fitting:
        done = asked(there, text, tmp_path / f"with{text}")
        assert done.returncode == 0, done.stderr
    for text in other:
        done = asked(there, text, tmp_path / f"with{text}")
        assert done.returncode and f"version: {version}" in done.stderr


@cmake
@pytest.mark.parametrize("libraries", ["lib64", "lib/x86_64-linux-gnu"])
def test_a_distribution_chooses_the_folder_of_libraries(libraries, tmp_path):
    _, folder = made("double")
    there = installed(folder, tmp_path, f"-DCMAKE_INSTALL_LIBDIR={libraries}")
    found = {file for file, data in snapshot(there).items() if data is not None}
    names = ("libur5.a", "pkgconfig/ur5.pc", "cmake/ur5/ur5Config.cmake")
    assert {f"{libraries}/{name}" for name in names} <= found
    assert not [f for f in found if f.startswith("lib") and not f.startswith(f"{libraries}/")]
    if shutil.which("pkg-config") is None:
        pytest.skip("pkg-config is not installed")
    for name, wanted in {"prefix": "", "includedir": "include", "libdir": libraries}.items():
        text = run(
            "pkg-config", f"--variable={name}", there / libraries / "pkgconfig/ur5.pc", cwd="."
        )
        assert Path(text.strip()).resolve() == there / wanted


@cmake
def test_a_shared_library(tmp_path):
    _, folder = made("double")
    there = installed(folder, tmp_path, "-DBUILD_SHARED_LIBS=ON", "-DCMAKE_INSTALL_LIBDIR=lib")
    run("ctest", "--output-on-failure", cwd=tmp_path / "own")
    assert (there / "lib/libur5.so.0.1").exists() and not (there / "lib/libur5.a").exists()
    work = tmp_path / "user"
    assert asked(there, "0.1", work).returncode == 0
    run("cmake", "--build", "build", cwd=work)
    run(work / "build" / "user", cwd=work)


@cmake
def test_blocks_of_states_whatever_the_library_was_compiled_with(tmp_path):
    """Installed with other flags than its user's: the layout is the same (tests/languages/test_batch
    has a program that looks at every place)."""
    _, folder = generated(
        "ur5", quantities=("gravity",), trig="inline", batch="auto", glue=("cmake",)
    )
    there = installed(folder, tmp_path, "-DCMAKE_C_FLAGS=-DUR5_NO_VECTORS")
    work = tmp_path / "user"
    assert asked(there, "", work).returncode == 0
    (work / "user.c").write_text(
        '#include "ur5_batch.h"\nint main(void) { return ur5_batch_width() != UR5_BATCH; }\n'
    )
    run("cmake", "--build", "build", cwd=work)
    run(work / "build" / "user", cwd=work)


VERSIONS = {
    "CMakeLists.txt": "project(ur5 VERSION 2.3.1 LANGUAGES C)",
    "ur5.pc": "Version: 2.3.1",
    "idf_component.yml": 'version: "2.3.1"',
    "library.properties": "version=2.3.1",
    "library.json": '"version": "2.3.1"',
    "manifest.json": '"module_version": "2.3.1"',
    "ur5.c": "module_version=2.3.1",
}
URLS = {
    "CMakeLists.txt": 'VERSION 2.3.1 HOMEPAGE_URL "https://example.org/arm?a=1" LANGUAGES C)',
    "ur5.pc": "URL: https://example.org/arm?a=1",
    "idf_component.yml": 'url: "https://example.org/arm?a=1"',
    "library.properties": "url=https://example.org/arm?a=1",
    "library.json": '"homepage": "https://example.org/arm?a=1"',
    "manifest.json": '"module_url": "https://example.org/arm?a=1"',
}


def test_packages_have_the_version_and_address_of_the_module(tmp_path):
    for texts, more in ((VERSIONS, {}), (URLS, {"module_url": "https://example.org/arm?a=1"})):
        options = {"quantities": ("gravity",), "glue": EVERY, "module_version": "2.3.1"}
        _, folder = generated("ur5", **options, **more)
        assert [f for f, text in texts.items() if text not in (folder / f).read_text()] == []
        assert all(check.passed for check in verify(folder))


def test_a_job_file_has_the_version(tmp_path):
    robot = json.dumps(robot_file("pendulum"))
    text = f'file = {robot}\nmodule_version = "3.0.2"\nlanguages = ["c"]\nout = "a"\n'
    (tmp_path / "job.toml").write_text(text, encoding="utf-8")
    assert invoke("generate", tmp_path / "job.toml").exit_code == 0
    options = ("--module-version", "3.0.2", "--lang", "c")
    assert invoke("generate", robot_file("pendulum"), "-o", tmp_path / "b", *options).exit_code == 0
    assert snapshot(tmp_path / "a") == snapshot(tmp_path / "b")


@pytest.mark.parametrize(
    "option, value",
    [
        ("version", x)
        for x in ("", "1", "1.2", "v1.2.3", "1.2.3-rc1", "01.2.3", "1.2.3\n", "1.2.\u0663")
    ]
    + [
        ("url", x)
        for x in ("arm", "ftp://a", 'https://a"b', "https://a b", "https://a\nb", "http://$a")
    ],
)
def test_versions_and_addresses_that_packages_would_not_take(option, value, tmp_path):
    given = (f"--module-{option}", value, "-o", tmp_path / "out")
    done = invoke("generate", robot_file("pendulum"), *given)
    assert done.exit_code == 2 and done.stderr.startswith(
        f"error: --module-{option} {value!r}: give"
    )
    assert not list(tmp_path.iterdir())


def mocked(tmp_path, text, definitions):
    """The arguments of the functions that a build system would have, from CMake in script mode."""
    (tmp_path / "mock.cmake").write_text(text)
    command = ["cmake", *definitions, "-P", "mock.cmake"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@cmake
def test_esp_idf_registers_a_component(tmp_path):
    module, folder = made("double")
    macro = 'function(idf_component_register)\n    message("${ARGV}")\nendfunction()\n'
    text = mocked(tmp_path, f"{macro}include({folder}/CMakeLists.txt)\n", ["-DESP_PLATFORM=1"])
    words = text.strip().split(";")
    files = [f"ur5_{f.name}.c" for f in module.functions]
    assert words == ["SRCS", "ur5.c", *files, "INCLUDE_DIRS", "."]
    assert yaml(folder / "idf_component.yml")["version"] == module[Release].module_version


@cmake
def test_zephyr_builds_a_library(tmp_path):
    module, folder = made("double")
    names = ("zephyr_library_named", "zephyr_library_sources", "zephyr_include_directories")
    macros = "".join(
        f'function({name})\n    message("{name} ${{ARGV}}")\nendfunction()\n' for name in names
    )
    text = f"{macros}include({folder}/zephyr/CMakeLists.txt)\n"
    lines = mocked(tmp_path, text, ["-DCONFIG_SYMGEN_UR5=y"]).splitlines()
    files = ["ur5.c", *(f"ur5_{f.name}.c" for f in module.functions)]
    assert lines == [
        f"{names[0]} symgen_ur5",
        f"{names[1]} {';'.join(f'../{file}' for file in files)}",
        f"{names[2]} ..",
    ]
    assert all((folder / file).is_file() for file in files)
    assert mocked(tmp_path, text, []) == ""
    found = yaml(folder / "zephyr" / "module.yml")
    build = {"cmake": "zephyr", "kconfig": "zephyr/Kconfig"}
    assert found == {"name": "symgen_ur5", "build": build}
    assert (folder / found["build"]["kconfig"]).read_text().startswith("config SYMGEN_UR5\n\t")


ZEPHYR = """mainmenu "as in Zephyr: symbols of architectures and subsystems, and of the FPU"
config ARM
\tbool
config RISCV
\tbool
\tdefault y
config NET
\tbool "Networking"
config CAN
\tbool "CAN"
config CPU_HAS_FPU
\tdef_bool y
config CPU_HAS_FPU_DOUBLE_PRECISION
\tdef_bool {double}
config FPU
\tbool "Floating point unit"
\tdepends on CPU_HAS_FPU
source "{own}"
"""


@pytest.mark.parametrize("scalar, unit", [("float", "single"), ("double", "double")])
@pytest.mark.parametrize("robot", ["arm", "net", "can"])
def test_zephyr_has_no_symbol_of_that_name(robot, scalar, unit, tmp_path):
    """A robot called as one of Zephyr's own symbols does not touch it; the FPU goes with it where
    it computes the module's numbers."""
    kconfiglib = pytest.importorskip("kconfiglib")
    options = {"quantities": ("gravity",), "glue": ("zephyr",), "scalar": scalar}
    _, folder = generated("pendulum", prefix=robot, **options)
    for double in ("n", "y"):
        text = ZEPHYR.format(own=folder / "zephyr/Kconfig", double=double)
        (tmp_path / "Kconfig").write_text(text)
        tree = kconfiglib.Kconfig(str(tmp_path / "Kconfig"), warn_to_stderr=False)
        own, theirs = tree.syms[f"SYMGEN_{robot.upper()}"], tree.syms[robot.upper()]
        assert tree.warnings == [] and len(theirs.nodes) == 1 and len(own.nodes) == 1
        assert own.set_value("y") and own.str_value == "y" and theirs.str_value == "n"
        assert tree.syms["FPU"].str_value == ("y" if unit == "single" or double == "y" else "n")


def yaml(path):
    """Mappings of plain or quoted texts, which is all that our files use; any other line fails."""
    found = {}
    levels = {0: found}
    for line in path.read_text().splitlines():
        if not line.startswith("#"):
            spaces, key, quoted, plain = re.fullmatch(
                r'( *)([\w-]+):(?: "([^"\\]*)"| ([\w./-]+))?', line
            ).groups()
            levels[len(spaces)][key] = levels[len(spaces) + 2] = quoted or plain or {}
    return found


# -- others ----------------------------------------------------------------------------------------


def test_arduino_properties():
    module, folder = made("double")
    rows = dict(
        line.split("=", 1) for line in (folder / "library.properties").read_text().splitlines()
    )
    required = {
        "name",
        "version",
        "author",
        "maintainer",
        "sentence",
        "paragraph",
        "category",
        "url",
        "architectures",
    }
    assert required <= rows.keys() and all(rows.values())
    assert rows["includes"] == "ur5.h" and rows["version"] == module[Release].module_version
    assert re.fullmatch(r"https://[\w./]+", rows["url"])


def test_platformio_compiles_the_files_that_it_is_told(tmp_path):
    """By its own parser where that is installed, which looks for the license in the network."""
    module, folder = made("float")
    data = json.loads((folder / "library.json").read_text())
    chosen = [re.fullmatch(r"\+<(\w+\.c)>", row)[1] for row in data["build"]["srcFilter"]]
    assert sorted(chosen) == [path.name for path in c_files(folder, ["_selftest"])]
    assert data["name"] == "ur5" and data["license"] == "0BSD" and data["headers"] == "ur5.h"
    assert (
        re.fullmatch(r"\d+\.\d+\.\d+", data["version"])
        and {"description", "keywords"} <= data.keys()
    )
    include = f"-I{folder / data['build']['includeDir']}"
    compiled("-std=gnu11", include, "-c", *(folder / file for file in chosen), cwd=tmp_path)
    schema = pytest.importorskip(
        "platformio.package.manifest.schema", reason="PlatformIO is not installed"
    )
    known = staticmethod(lambda: {"licenses": [{"licenseId": "0BSD"}]})
    schema.ManifestSchema.load_spdx_licenses = known
    assert schema.ManifestSchema().load_manifest(data)["version"] == module[Release].module_version


def test_arduino_compiles_every_file_of_the_folder(tmp_path):
    """The self-test too, which then must not bring a main of its own."""
    _, folder = made("float")
    (tmp_path / "sketch.cpp").write_text(
        '#include "ur5.h"\nint main() { return ur5_selftest(); }\n'
    )
    compiled(
        "-std=gnu11",
        "-DARDUINO=10800",
        f"-I{folder}",
        "-c",
        *sorted(folder.glob("*.c")),
        cwd=tmp_path,
    )
    objects = tmp_path.glob("*.o")
    compiled(
        "-std=gnu++11",
        f"-I{folder}",
        "sketch.cpp",
        *objects,
        "-o",
        "x",
        cwd=tmp_path,
        compiler="g++",
    )
    assert subprocess.run([tmp_path / "x"], check=False).returncode == 0


@cases
def test_pkgconfig(case, tmp_path):
    module, folder = made(case)
    text = (folder / "ur5.pc").read_text()
    assert f"Version: {module[Release].module_version}\n" in text and ("-lm" in text) == (
        module[COptions].trig == "libm"
    )
    if shutil.which("pkg-config") is None:
        pytest.skip("pkg-config is not installed")
    assert (
        "-lur5" in run("pkg-config", "--cflags", "--libs", folder / "ur5.pc", cwd=tmp_path).split()
    )


STRICT_CPP = (
    "-std=c++11",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Wdouble-promotion",
    "-Wshadow",
    "-Wold-style-cast",
    "-Wuseless-cast",
    "-Werror",
)
CPP = """#include "ur5.hpp"
#include "ur5.hpp"
#include <cstring>
template <typename A> static bool same(const A &a, const ur5_robot::real *b)
{{
    return std::memcmp(a.data(), b, sizeof(a)) == 0;
}}
int main()
{{
    bool good = true;
{calls}
    return good ? 0 : 1;
}}
"""


@cases
def test_the_cpp_header_gives_the_same_numbers(case, tmp_path):
    from symgen.languages.c.files import functions

    module, folder = made(case)
    calls = []
    for k, f in enumerate(functions(module)):
        ins = [a for a in f.arguments if a.direction == "in"]
        outs = [a for a in f.arguments if a.direction == "out"]
        lines = [f"std::array<ur5_robot::real, {a.size}> {a.name};" for a in ins]
        lines += [f"{a.name}.fill(ur5_robot::real({k + 1}) / 8);" for a in ins]
        lines += [f"ur5_robot::real c_{a.name}[{a.size}];" for a in outs]
        lines += [f"ur5_robot::real w[{f.work}];"] if f.work else []
        own = {"in": "{}.data()", "work": "{}", "out": "c_{}"}
        c_call = f"{f.full_name}({', '.join(own[a.direction].format(a.name) for a in f.arguments)})"
        lines.append(f"const auto y = ur5_robot::{f.d.name}({', '.join(a.name for a in ins)});")
        lines.append(f"good = good && y.status == {c_call};" if f.d.pivots else f"{c_call};")
        plain = len(outs) == 1 and not f.d.pivots
        lines += [
            f"good = good && same(y{'' if plain else f'.{a.name}'}, c_{a.name});" for a in outs
        ]
        calls.append("    {\n        " + "\n        ".join(lines) + "\n    }")
    (tmp_path / "user.cpp").write_text(CPP.format(calls="\n".join(calls)))
    compiled("-std=c99", f"-I{folder}", "-c", *c_files(folder, ["_selftest"]), cwd=tmp_path)
    objects = tmp_path.glob("*.o")
    compiled(
        *STRICT_CPP,
        f"-I{folder}",
        "user.cpp",
        *objects,
        "-lm",
        "-o",
        "x",
        cwd=tmp_path,
        compiler="g++",
    )
    assert subprocess.run([tmp_path / "x"], check=False).returncode == 0


CLASHING = ("index", "link", "div", "main", "sin", "exit", "pipe", "y0", "linux", "unix", "std")


def test_no_robot_clashes_with_the_c_library(tmp_path):
    """Names of functions, macros and namespaces that are there before."""
    headers = ("array", "cmath", "csignal", "cstdlib", "cstring", "strings.h", "unistd.h")
    lines = [f"#include <{name}>" for name in headers]
    for name in CLASHING:
        options = {"quantities": ("gravity",), "glue": ("cpp",)}
        _, folder = generated("pendulum", prefix=name, **options)
        shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
        lines.append(f'#include "{name}.hpp"')
        lines.append(
            f"int try_{name}(const std::array<{name}_robot::real, 2> &q);\n"
            f"int try_{name}(const std::array<{name}_robot::real, 2> &q)\n"
            f"{{ return {name}_robot::gravity(q)[0] > 1; }}"
        )
    (tmp_path / "user.cpp").write_text("\n".join(lines))
    given = ("-std=gnu++11", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-fsyntax-only", "user.cpp")
    compiled(*given, cwd=tmp_path, compiler="g++")


# -- folders within the folder ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ["../a", "a/../b", "/a", "a/", "a//b", "./a", "", ".", ".."])
def test_names_that_leave_the_folder(name):
    assert not is_inside(name)


def manifest(*names):
    return json.dumps({"generator": "symgen 0", "files": dict.fromkeys(names, "hash")})


def test_a_folder_within_goes_when_it_is_empty(tmp_path):
    publish({"a": "1", "sub/b": "2", "manifest.json": manifest("a", "sub/b")}, tmp_path / "out")
    assert (tmp_path / "out" / "sub" / "b").read_text() == "2"
    publish({"a": "1", "manifest.json": manifest("a")}, tmp_path / "out")
    assert snapshot(tmp_path / "out").keys() == {"a", "manifest.json"}


def test_folders_within_folders(tmp_path):
    """They come and go like others; the outer ones stay where something else is in them."""
    publish(
        {"a/b/c/d": "1", "a/e": "2", "manifest.json": manifest("a/b/c/d", "a/e")}, tmp_path / "x"
    )
    assert (tmp_path / "x" / "a" / "b" / "c" / "d").read_text() == "1"
    publish({"a/e": "2", "manifest.json": manifest("a/e")}, tmp_path / "x")
    assert snapshot(tmp_path / "x").keys() == {"a", "a/e", "manifest.json"}
    (tmp_path / "x" / "a" / "b").symlink_to(tmp_path)
    with pytest.raises(OptionError, match="a/b' is a link"):
        publish({"a/b/c/d": "1", "manifest.json": manifest("a/b/c/d")}, tmp_path / "x")


def test_a_folder_within_stays_with_what_is_not_ours(tmp_path):
    publish({"sub/b": "2", "manifest.json": manifest("sub/b")}, tmp_path / "out")
    (tmp_path / "out" / "sub" / "mine").write_text("mine")
    publish({"a": "1", "manifest.json": manifest("a")}, tmp_path / "out")
    assert snapshot(tmp_path / "out").keys() == {"a", "manifest.json", "sub", "sub/mine"}


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "b").write_text("mine")
    (tmp_path / "out" / "sub").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OptionError, match="sub' is a link"):
        publish({"sub/b": "2", "manifest.json": manifest("sub/b")}, tmp_path / "out")
    (tmp_path / "out" / "manifest.json").write_text(manifest("sub/b"))
    publish({"a": "1", "manifest.json": manifest("a")}, tmp_path / "out")
    assert (tmp_path / "elsewhere" / "b").read_text() == "mine"

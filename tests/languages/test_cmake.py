"""Glue for CMake: it builds, tests, installs, and is taken by other projects."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.glued import cmake, made, run
from tests.support.tools import generated, snapshot


@cmake
@pytest.mark.parametrize("case", ["libm", "pieces", "payload"])
def test_cmake_builds_tests_and_installs(case, tmp_path):
    """What differs in libraries and sources; the plain module is what others take below."""
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


CPP_USER = """cmake_minimum_required(VERSION 3.13)
project(user CXX)
{take}
add_executable(user user.cpp)
target_link_libraries(user PRIVATE ur5::ur5_robot)
"""
CPP_PROGRAM = (
    '#include "ur5_robot.hpp"\nint main() { const std::array<double, 6> q{}; '
    "return ur5_robot::gravity(q)[0] > 1; }\n"
)


@cmake
@pytest.mark.parametrize("way", ["add_subdirectory", "find_package"])
def test_another_project_takes_the_headers_of_cpp(way, tmp_path):
    _, folder = generated("ur5", languages=("c", "cpp"), quantities=("gravity",))
    take = f"enable_language(C)\nadd_subdirectory({folder} ur5)"
    if way == "find_package":
        take = f"find_package(ur5 REQUIRED PATHS {installed(folder, tmp_path)})"
    (tmp_path / "CMakeLists.txt").write_text(CPP_USER.format(take=take))
    (tmp_path / "user.cpp").write_text(CPP_PROGRAM)
    run("cmake", "-S", ".", "-B", "build", cwd=tmp_path)
    run("cmake", "--build", "build", cwd=tmp_path)
    run(tmp_path / "build" / "user", cwd=tmp_path)
    if way == "find_package":
        include = {path.name for path in (tmp_path / "there" / "include").iterdir()}
        assert {"ur5.h", "ur5_robot.hpp", "ur5_robot_eigen.hpp"} == include


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
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.13)\nproject(user C)\n"
        + "".join(
            f"find_package(ur5 {text} QUIET PATHS {there})\n"
            f'message(STATUS "with {text or "any"}: ${{ur5_FOUND}}")\n'
            for text in (*other, *fitting)
        )
    )
    told = run("cmake", "-S", ".", "-B", "build", cwd=tmp_path)
    assert re.findall(r"with (\S+): (\S+)", told) == [
        *((text, "0") for text in other),
        *((text or "any", "1") for text in fitting),
    ]
    done = asked(there, other[0], tmp_path / "other")
    assert done.returncode and f"version: {version}" in done.stderr


@cmake
def test_a_distribution_chooses_the_folder_of_libraries(tmp_path):
    libraries = "lib/x86_64-linux-gnu"
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

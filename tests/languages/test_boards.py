"""Glue for boards: ESP-IDF, Zephyr, Arduino, PlatformIO, read by them or plain enough for them."""

import json
import re
import shutil
import subprocess

import pytest

from symgen.languages.c.options import COptions, Release
from tests.support.glued import cases, cmake, made, run
from tests.support.tools import c_files, compiled, generated, runs_beside


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
    runs_beside(tmp_path, "sketch.cpp", "-std=gnu++11", f"-I{folder}", libraries=())


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

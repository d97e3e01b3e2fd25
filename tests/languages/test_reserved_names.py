"""Names that a language's prelude, built-in functions or tools have: a robot's name gets ``r_``
before it, a function of that name is refused, and everything else compiles."""

import ast
import builtins
import shutil

import pytest

from symgen.errors import OptionError
from symgen.jobs.api import generate
from symgen.languages import LANGUAGES
from symgen.languages.language import check_function_name, identifier
from symgen.reading.assemble import load
from tests.support.tools import generated, verified

ALL = tuple(LANGUAGES.values())

CRATES = ("std", "core", "alloc", "proc_macro", "test", "libm", "cfg", "derive", "bench", "doc")
DEVICES = ("con", "prn", "aux", "nul", "com1", "lpt9")


@pytest.mark.parametrize("name", [*CRATES, *DEVICES, "co_await", "char8_t", "constinit", "deps"])
def test_a_module_is_never_called_so(name):
    assert identifier(name, ALL) == f"r_{name}"


@pytest.mark.skipif(shutil.which("cargo") is None, reason="Rust is not installed")
@pytest.mark.parametrize("name", ["std", "core", "alloc", "cfg"])
def test_rust_of_such_a_robot_compiles(name, tmp_path):
    text = f"""<robot name="{name}"><link name="base"/><link name="arm"><inertial><mass value="2"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j"
    type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint></robot>"""
    file = tmp_path / "x.urdf"
    file.write_text(text, encoding="utf-8")
    generate(file, tmp_path / "out", ["rust"], quantities=("mass_matrix",))
    assert "Rust" in verified(tmp_path / "out")
    assert load(file).model.name == name


@pytest.mark.parametrize(
    "name", ["len", "tuple", "max", "sized", "room", "constinit", "zip", "then"]
)
def test_a_function_is_never_called_so(name):
    with pytest.raises(OptionError, match=f"the name of a function: '{name}' is not usable"):
        check_function_name(name, ALL)


SHADOWING = ("sum", "drop", "clone", "file", "size", "pow", "isize", "option", "get", "box_", "con")
"""Names of preludes and libraries that generated code does not use: functions may have them."""


@pytest.mark.parametrize(
    "language", ["c", "cpp", "python", "rust", "javascript", "jax", "casadi", "torch"]
)
def test_names_of_libraries_that_the_code_does_not_use_are_free(language):
    tools = {"rust": "cargo", "javascript": "node", "cpp": "c++"}
    if language in tools and shutil.which(tools[language]) is None:
        pytest.skip(f"{tools[language]} is not installed")
    if language in ("jax", "casadi", "torch"):
        pytest.importorskip(language, reason=f"{language} is not installed")
    quantities = tuple(f"{name}=gravity" for name in SHADOWING)
    _, folder = generated("pendulum", languages=(language,), quantities=quantities)
    verified(folder)


@pytest.mark.parametrize("language", ["python", "jax", "casadi", "torch"])
def test_every_builtin_that_generated_python_uses_is_reserved(language):
    """Read off the generated files: a function of the name of a built-in that its module uses would
    replace that."""
    _, folder = generated(
        "pendulum",
        languages=(language,),
        parameters="runtime",
        quantities=("christoffel_symbols", "forward_dynamics"),
        controllers=("computed_torque",),
    )
    used = {
        node.id
        for file in folder.rglob("*.py")
        if file.name != "build.py"  # which has none of the functions
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Name) and hasattr(builtins, node.id)
    }
    free = {name for name in used if name.islower() and not name.startswith("__")}
    for name in sorted(free):
        with pytest.raises(OptionError):
            check_function_name(name, ALL)
    assert {"len", "tuple", "range"} & free, "the files were read"

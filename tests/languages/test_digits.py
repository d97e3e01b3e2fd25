"""Numbers in generated code: all digits, no integers, one precision: checks G3 to G5 of
tests/cases/index.md."""

import ast
import re
import subprocess

import numpy as np
import pytest

from symgen.compiler.passes import live_nodes
from symgen.languages.c.checks import build
from symgen.languages.c.options import COptions
from symgen.languages.c.syntax import to_single
from symgen.languages.describe import descriptions
from tests.support.samples import made, samples
from tests.support.tools import (
    STRICT_C,
    c_files,
    compiled,
    generated,
)


def code(path):
    """A C file without comments and strings."""
    return re.sub(
        r'/\*.*?\*/|"(?:\\.|[^"\\])*"', " ", path.read_text(encoding="ascii"), flags=re.DOTALL
    )


def bodies(module, folder):
    """Each generated function with its C without comments, from the brace on."""
    for d in descriptions(module):
        yield d, code(folder / f"{module.name}_{d.name}.c").partition("{")[2]


def unindexed(text):
    return re.sub(r"\[[^]]*\]", "", text)


NUMBER = re.compile(r"(?<![\w.])(\d+\.\d*(?:e[+-]?\d+)?|\d+e[+-]?\d+)(f?)(?![\w.])")


def constants(program, scalar="double"):
    """Sizes of the numbers that a program needs, without zero."""
    rounded = to_single if scalar == "float" else float
    used = {
        program.nodes[ref.node] for out in program.outputs for ref in out.refs if ref is not None
    }
    nodes = (
        used
        | {program.nodes[i] for i in live_nodes(program)}
        | {
            program.nodes[k]
            for i in live_nodes(program)
            for k in (program.nodes[i].a, program.nodes[i].b)
            if isinstance(k, int)
        }
    )
    return {abs(rounded(node.a)) for node in nodes if node.op == "const"} - {0.0}


@samples
def test_g3_c_literals_are_the_constants(sample):
    module, folder = made(sample)
    for d, text in bodies(module, folder):
        rounded = to_single if module[COptions].scalar == "float" else float
        numbers = {rounded(float(number)) for number, _ in NUMBER.findall(text)} - {0.0}
        assert numbers == constants(d.program, module[COptions].scalar)


@samples
def test_g3_python_literals_are_the_constants(sample):
    module, folder = made(sample)
    tree = ast.parse((folder / f"{module.name}.py").read_text(encoding="ascii"))
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    for d in descriptions(module):
        numbers = [
            node.value
            for node in ast.walk(functions[f"_{d.name}"])
            if isinstance(node, ast.Constant)
        ]
        assert {x for x in numbers if type(x) is float} - {0.0} == constants(d.program)


def test_g3_tables_are_exact():
    module, folder = made("ur5_runtime")
    text = code(folder / f"{module.name}.c").partition("_parameters[")[2].partition("{")[2]
    numbers = [float(x) for x in re.findall(r"-?[\d.]+(?:e[+-]?\d+)?", text)]
    assert numbers == [x for ten in module.robot.blocks.values() for x in ten]
    text = code(folder / f"{module.name}_selftest.c")
    for name in ("q", "qdd", "g"):
        table = re.search(rf"in_{name}\[STATES\]\[\d+\] = (.*?);", text, re.DOTALL)[1]
        found = [float(x) for x in re.findall(r"-?\d[\d.]*(?:e[+-]?\d+)?", table)]
        assert found == [x for state in module.test_states for x in state.inputs[name]]


def test_g3_the_compiler_reads_the_same_doubles(tmp_path):
    module, folder = made("arm7_general")
    texts = sorted(
        {number for _, text in bodies(module, folder) for number, _ in NUMBER.findall(text)}
    )
    rows = "\n".join(f'    printf("%a\\n", {text});' for text in texts)
    (tmp_path / "p.c").write_text(
        f"#include <stdio.h>\nint main(void)\n{{\n{rows}\n    return 0;\n}}\n"
    )
    compiled("-std=c99", "p.c", "-o", "p", cwd=tmp_path)
    printed = subprocess.run(
        [tmp_path / "p"], capture_output=True, text=True, check=True
    ).stdout.split()
    assert len(texts) > 50 and [float.fromhex(x) for x in printed] == [float(x) for x in texts]


BOOKKEEPING = re.compile(
    r"static int (?:all_finite|finite_sum)\(.*?\n\}|enum \{[^}]*\};|int bad = 0;|return [^;]*;|"
    r"for \(int k = 0; k < \w+_FILLED\(\d+\); \+\+k\)",
    re.DOTALL,
)


@samples
def test_g4_c_has_no_integers_outside_indexes(sample):
    module, folder = made(sample)
    for _, text in bodies(module, folder):
        counts = re.sub(r"\b\w+_FILLED\(\d+\)", "count", text)  # of angles
        rest = NUMBER.sub(" ", unindexed(BOOKKEEPING.sub(" ", counts)))
        assert not re.search(r"(?<![\w.])\d", rest)
        called = set(re.findall(r"(\w+)\s*\(", rest))
        own = re.compile(rf"part\d+|regular|(?:all_finite|finite_sum)|{module.name}_\w+")
        assert {name for name in called if not own.fullmatch(name)} <= {
            "sin",
            "cos",
            "sinf",
            "cosf",
        }
        assert all(int(k) < 1 << 15 for k in re.findall(r"(?<=\[)\d+(?=\])", text))


@samples
def test_g4_python_has_no_integer_arithmetic(sample):
    module, folder = made(sample)
    tree = ast.parse((folder / f"{module.name}.py").read_text(encoding="ascii"))
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and ast.unparse(node) != "depth - 1":  # of _is_masked
            ends = (node.left, node.right)
            assert not any(isinstance(end, ast.Constant) and type(end.value) is int for end in ends)
            assert not isinstance(node.op, ast.Pow | ast.FloorDiv | ast.Mod)
        if isinstance(node, ast.Constant) and type(node.value) is int:
            assert node.value < 1 << 31


@pytest.mark.parametrize("sample", ["panda_float", "ur5_payload", "panda_libm"])
def test_g5_nothing_is_double(sample, tmp_path):
    module, folder = made(sample)
    for path in folder.glob("*.[ch]"):
        assert "double" not in code(path) or path.name.endswith("_selftest.c")
        assert all(suffix == "f" for _, suffix in NUMBER.findall(code(path)))
        assert not re.search(r"\b(sin|cos|fabs)\(", code(path))
    sine = f"{module.name}_sincos_all(" if module[COptions].trig == "inline" else "sinf("
    assert sine in code(folder / f"{module.name}_inverse_dynamics.c")
    compiled(*STRICT_C, "-Wfloat-conversion", f"-I{folder}", "-c", *c_files(folder), cwd=tmp_path)


@pytest.mark.parametrize("name", ["panda", "biped"])
def test_g5_results_are_near_those_of_double(name):
    quantities = ("inverse_dynamics", "gravity", "mass_matrix")
    runs = [
        build(*generated(name, quantities=quantities, scalar=scalar))
        for scalar in ("float", "double")
    ]
    n = generated(name, quantities=quantities, scalar="double")[0].dof
    q, qd, qdd = np.random.default_rng(2).uniform(-2, 2, (3, 20, n)).astype(np.float32)
    for quantity, inputs in (
        ("inverse_dynamics", (q, qd, qdd)),
        ("gravity", (q,)),
        ("mass_matrix", (q,)),
    ):
        got, wanted = (getattr(code, quantity)(*inputs).reshape(20, -1) for code in runs)
        assert got.dtype == np.float32
        error = np.max(np.abs(got - wanted), axis=1) / np.max(np.abs(wanted), axis=1)
        assert 0 < np.max(error) <= 1e-4

"""Languages that use the operations of the C have its bits, with the sines of the C library and with
those of the generated code."""

import shutil
from itertools import product

import numpy as np
import pytest

from symgen.languages.backends.casadi import external_runner
from symgen.languages.backends.cpp import CPP_RUNNER
from symgen.languages.backends.rust import RUST_RUNNER
from symgen.languages.c.backend import code_files
from symgen.languages.c.checks import build
from symgen.languages.describe import descriptions
from symgen.languages.verification import VerificationTarget, inputs
from symgen.numbers.operations import OPS
from tests.support.tools import generated

RUNNERS = {
    "cpp": (lambda module: CPP_RUNNER, "c++"),
    "rust": (lambda module: RUST_RUNNER, "rustc"),
    "casadi": (external_runner, "cc"),
}
PACKAGES = {"casadi": "casadi"}
FUSED = ("com", "momentum")
"""What gcc 12 fused where it was told the processor, and not to vectorise so (see build.py)."""
CASES = {
    "pendulum": {
        "quantities": (
            "forward_dynamics",
            "gravity_compensation",
            "recursive_least_squares",
            "inverse_dynamics_derivatives",
            "christoffel_symbols_full",
        )
    },
    "ur5": {
        "quantities": (
            "inverse_dynamics",
            "forward_dynamics",
            "coriolis_matrix",
            "regressor",
            *FUSED,
        )
    },
    "biped": {"base": "floating", "quantities": ("integrate", "mass_matrix")},
}
"""All operations, loops and matrices that go in: quantities differ in nothing else, and each is held
against the run on floats where a language is verified."""
LARGE = {
    "ur5": {"quantities": ("all",)},
    "panda": {"quantities": ("all",)},
    "quadruped": {"base": "floating", "quantities": ("all",)},
}


def differing(language, name, tmp_path, trig="libm", **options):
    """Functions whose numbers are not those of C, and how many numbers were compared."""
    runner, tool = RUNNERS[language]
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    pytest.importorskip(PACKAGES.get(language, "symgen"))
    module, folder = generated(name, languages=(language, "c"), trig=trig, **options)
    for file, text in code_files(module).items():
        (tmp_path / file).write_text(text)
    c, bad, count = build(module, tmp_path), [], 0
    subject = VerificationTarget(folder, module, {}, count=5)
    outputs = runner(module).outputs(subject, [d.name for d in descriptions(module)])
    for d in descriptions(module):
        for state, got in zip(subject.states, outputs[d.name], strict=True):
            wanted = getattr(c, d.name)(*inputs(d, state))
            wanted = wanted if isinstance(wanted, tuple) else (wanted,)
            pairs = zip(got.values(), wanted, strict=True)
            same = [np.array_equal(x, np.ravel(y)) for x, y in pairs]
            bad += [] if all(same) else [d.name]
            count += sum(x.size for x in got.values())
    return bad, count


RUNS = [
    case
    for case in product(("libm", "inline"), RUNNERS, CASES)
    if case != ("inline", "casadi", "ur5")  # seconds of derivatives whose sines alone are others
]


@pytest.mark.parametrize(("trig", "language", "name"), RUNS)
def test_bits_of_c(trig, language, name, tmp_path):
    bad, count = differing(language, name, tmp_path, trig, **CASES[name])
    assert not bad and count > 100


def test_every_operation_is_compared():
    modules = [generated(x, languages=("c",), **CASES[x])[0] for x in CASES]
    used = {node.op for m in modules for f in m.functions for node in f.program.nodes}
    wanted = {op.name for op in OPS.values() if op.portable} - {"neg"}  # signs are in the others
    assert used >= wanted, f"give CASES a quantity with {sorted(wanted - used)}"


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("language", RUNNERS)
def test_bits_of_c_of_all_quantities(language, name, tmp_path):
    bad, count = differing(language, name, tmp_path, **LARGE[name])
    assert not bad and count > 10_000

"""The harness of `make firmware` and `make gauntlet`: small runs of both, and that they see what
they must."""

import re
import shutil
import subprocess
from dataclasses import replace

import pytest

from firmware import gauntlet, target
from firmware.checks import CHECKS, MISRA
from firmware.faults import FAULTS, FAULTY
from firmware.modules import Sample
from firmware.tools import Refused, missing
from symgen.languages.c.options import TARGETS
from tests.support.tools import invoke, robot_file

needs_target = pytest.mark.skipif(
    bool(missing(target.TOOLS)), reason="no cross compiler or emulator for Cortex-M"
)


@pytest.fixture(scope="module")
def pendulum(tmp_path_factory):
    return Sample("pendulum", {"scalar": "float", "chunk": 5}).written(
        tmp_path_factory.mktemp("pendulum")
    )


@pytest.fixture(scope="module")
def faulty(tmp_path_factory):
    return FAULTY.written(tmp_path_factory.mktemp("faulty"))


# -- target ----------------------------------------------------------------------------------------


@needs_target
@pytest.mark.parametrize("core", [target.M4F, target.M7], ids=lambda core: core.name)
def test_a_module_passes_on_the_board_with_the_stack_it_promises(core, pendulum):
    result = target.judged(pendulum, core, "-O2")
    assert result.faults == [] and result.wrong == 0
    assert [f.name for f in result.functions] == [
        "inverse_dynamics",
        "gravity",
        "bias",
        "mass_matrix",
    ]
    assert any(f.work for f in result.functions)  # some in pieces
    for f in result.functions:
        assert (
            f.operations < f.instructions < 40 * f.operations + 200
            and 0 <= f.painted <= f.stack < f.code
        )


@needs_target
@pytest.mark.parametrize(
    "fault, complaint",
    [
        ("wrong reference value", "self-test: "),
        ("literal without f", "-Werror"),
        ("sine of libm", "sinf"),
    ],
)
def test_the_board_sees_faults(fault, complaint, faulty):
    with next(f for f in FAULTS if f.name == fault).put_into(faulty) as broken:
        assert complaint in "".join(target.judged(broken, target.M4F, "-O2").faults)


MULTIPLY = (
    "double product(double a, double b);\ndouble product(double a, double b) { return a * b; }"
)


@pytest.mark.parametrize("name", [name for name, t in TARGETS.items() if t.compiler])
def test_what_is_said_of_floating_point_units_is_so(name, tmp_path):
    """A processor with single precision alone calls the library for a product of doubles."""
    row = TARGETS[name]
    if shutil.which(row.compiler) is None:
        pytest.skip(f"{row.compiler} is not installed")
    (tmp_path / "x.c").write_text(MULTIPLY)
    command = [row.compiler, *row.flags, "-O2", "-S", "x.c", "-o", "-"]
    text = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    without_unit = name in ("cortex-m0plus", "rv32imc")
    assert bool(re.search("__aeabi_dmul|__muldf3", text)) == (row.single or without_unit)


@pytest.mark.parametrize("scalar", ["double", "float"])
@pytest.mark.parametrize("name", TARGETS)
def test_double_in_software_is_told(name, scalar, tmp_path):
    given = ("--target", name, "--scalar", scalar, "--lang", "c", "--quantity", "gravity")
    done = invoke("generate", robot_file("pendulum"), "-o", tmp_path, *given)
    told = "use --scalar float" in done.stderr
    assert done.exit_code == 0 and told == (TARGETS[name].single and scalar == "double")


def graph(tmp_path, *nodes, edges=()):
    text = [
        f'node: {{ title: "{name}" label: "{name}\\nx.c:1:2\\n{size}" }}' for name, size in nodes
    ]
    text += [f'edge: {{ sourcename: "{a}" targetname: "{b}" label: "x.c:3:4" }}' for a, b in edges]
    (tmp_path / "x.ci").write_text("\n".join(text))
    return target.Calls.read([tmp_path / "x.ci"])


def test_the_worst_path_is_the_deepest(tmp_path):
    sizes = {"f": 8, "g": 100, "h": 24, "i": 0}
    calls = graph(
        tmp_path,
        *((name, f"{size} bytes (static)") for name, size in sizes.items()),
        edges=[("f", "g"), ("f", "h"), ("h", "i"), ("g", "i")],
    )
    assert calls.worst("f") == 108 and calls.worst("h") == 24


def test_a_stack_that_is_not_known_is_refused(tmp_path):
    with pytest.raises(Refused, match="not static"):
        graph(tmp_path, ("f", "8 bytes (dynamic)"))
    with pytest.raises(Refused, match="malloc is called"):
        graph(tmp_path, ("f", "8 bytes (static)"), edges=[("f", "malloc")]).worst("f")


# -- gauntlet --------------------------------------------------------------------------------------


def available(*names):
    return [c for c in CHECKS if c.name in names and not missing(c.tools)]


def test_every_fault_has_its_place(faulty):
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 10
    for fault in FAULTS:
        with fault.put_into(faulty) as broken:
            assert broken.folder != faulty.folder


@pytest.fixture(scope="module")
def honest_checks(faulty):
    """Checks that the module passes as it is."""
    checks = available("gcc, strict", "nm: no state, heap, libc", "self-test, gcc")
    assert checks and not [c.name for c in checks if gauntlet.complaint(c, faulty)]
    return checks


@pytest.mark.parametrize(
    "fault", ["literal without f", "malloc", "static variable", "outputs swapped"]
)
def test_faults_are_caught_by_checks_that_the_honest_module_passes(fault, faulty, honest_checks):
    fault = next(f for f in FAULTS if f.name == fault)
    assert gauntlet.catchers(fault, faulty, honest_checks, False)


def test_every_check_has_a_fault_that_it_must_see():
    assert {check.control for check in CHECKS} <= {fault.name for fault in FAULTS}


def test_a_check_that_sees_nothing_is_told(faulty):
    (check,) = available("gcc, strict")
    assert not gauntlet.blind(check, faulty)
    assert gauntlet.blind(replace(check, judge=lambda made, work: None), faulty)


def test_the_rules_of_misra_that_are_not_followed_are_those_of_the_page():
    assert len(MISRA) >= 5 and all(re.fullmatch(r"\d+\.\d+", rule) for rule in MISRA)

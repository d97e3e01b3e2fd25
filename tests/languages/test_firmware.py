"""What firmware gets beside the functions: info struct, a self-test that tells where, figures of
single precision."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from symgen.compiler.evaluate import evaluate, evaluate_batch
from symgen.jobs.api import generate
from symgen.languages.c.checks import build
from symgen.languages.c.syntax import literal
from symgen.proof.bounds import Rounding
from tests.support.tools import ROOT, STRICT_C, c_files, compiled, generated

CORE = ("inverse_dynamics", "gravity", "bias", "mass_matrix")


def printed(module, folder, work, body):
    """What a C program prints that knows the module."""
    text = (
        f'#include <stdio.h>\n#include "{module.name}.h"\nint main(void)\n{{\n{body}\n    '
        f"return 0;\n}}\n"
    )
    (work / "main.c").write_text(text)
    sources = [path for path in c_files(folder) if not path.stem.endswith("_selftest")]
    selftest = folder / f"{module.name}_selftest.c"
    macro = f"-D{module.name.upper()}_SELFTEST_NO_MAIN"
    compiled(
        *STRICT_C, macro, f"-I{folder}", "main.c", *sources, selftest, "-lm", "-o", "main", cwd=work
    )
    return subprocess.run([work / "main"], capture_output=True, text=True, check=True).stdout


# -- info ------------------------------------------------------------------------------------------

INFO = """
    const {name}_info_type *info = &{name}_info;
    printf("%s\\n%s\\n%s\\n%s\\n", info->robot, info->generator, info->source, info->options);
    for (int k = 0; k < {upper}_FUNCTIONS; ++k) {{
        printf("%s\\n", info->functions[k]);
    }}
    for (int k = 0; k < {upper}_DOF; ++k) {{
        printf("%s|%s", info->joints[k].name, info->joints[k].unit);
        printf("|%a|%a", (double)info->joints[k].lower, (double)info->joints[k].upper);
        printf("|%a|%a\\n", (double)info->joints[k].velocity, (double)info->joints[k].effort);
    }}"""


@pytest.mark.parametrize(
    ("robot", "scalar"), [("panda", "double"), ("panda", "float"), ("arm7_general", "double")]
)
def test_info_says_what_the_module_is(robot, scalar, tmp_path):
    module, folder = generated(robot, scalar=scalar, quantities=CORE)
    lines = printed(
        module, folder, tmp_path, INFO.format(name=module.name, upper=module.name.upper())
    ).splitlines()
    assert lines[:3] == [module.robot.model.name, f"symgen {module.version}", module.source.sha256]
    assert f"scalar={scalar}" in lines[3].split() and "glue" not in lines[3]
    assert lines[4:8] == [*CORE]
    bodies = module.robot.model.bodies
    for line, (_, joint, _, _, unit), body in zip(
        lines[8:], module.joint_rows(), bodies, strict=True
    ):
        name, shown, *numbers = line.split("|")
        assert (name, shown) == (joint, unit)
        x = body.joint.limits
        most = float(np.finfo(np.float32 if scalar == "float" else float).max)
        others = [most if v is None else v for v in (x.upper, x.velocity, x.effort)]
        wanted = [-most if x.lower is None else x.lower, *others]
        rounded = [float(np.float32(v)) for v in wanted] if scalar == "float" else wanted
        assert [float.fromhex(number) for number in numbers] == rounded


def test_a_limit_that_is_not_there_never_binds():
    module, folder = generated("continuous_pair", quantities=CORE)
    text = (folder / f"{module.name}.c").read_text()
    assert "-DBL_MAX, DBL_MAX" in text and len(re.findall(r"-DBL_MAX, DBL_MAX", text)) == module.dof


def test_long_options_fit(tmp_path):
    locks = tuple((f"joint{k}", 0.1) for k in range(2, 7))
    module, _, _ = generate("robots/ur5.urdf", tmp_path, quantities=CORE, lock=locks)
    text = (tmp_path / "ur5.c").read_text()
    held = ",".join(f"['joint{k}',0.1]" for k in range(2, 7))
    assert f"lock=[{held}]" in text
    assert "quantities=['inverse_dynamics','gravity','bias','mass_matrix']" in text
    assert module.dof == 1


# -- self-test -------------------------------------------------------------------------------------

EACH = """
    for (int k = -1; k <= {upper}_FUNCTIONS; ++k) {{
        printf("%d ", {name}_selftest_function(k));
    }}
    printf("%d", {name}_selftest());"""


def failures(module, folder, work):
    body = EACH.format(name=module.name, upper=module.name.upper())
    return [int(x) for x in printed(module, folder, work, body).split()]


STEPS = """
    int step = 0;
    for (int k = 0; k < 2 * 5 * {upper}_FUNCTIONS; ++k) {{
        printf("%d ", {name}_selftest_step(&step));
    }}
    printf("%d ", step);
    step = -7;
    printf("%d ", {name}_selftest_step(&step));
    printf("%d", step);"""


def test_the_self_test_in_parts_tests_each_function_in_each_state_and_begins_again(tmp_path):
    module, folder = generated("pendulum", quantities=("gravity", "mass_matrix"))
    body = STEPS.format(name=module.name, upper=module.name.upper())
    assert printed(module, folder, tmp_path, body).split() == ["0"] * 20 + ["0", "1", "0"]
    broken = Path(shutil.copytree(folder, tmp_path / "broken"))
    code = broken / "pendulum_mass_matrix.c"
    text = code.read_text()
    code.write_text(text.replace("M[2 * 1 + 1] = ", "M[2 * 1 + 1] = 1e-3 + "))
    assert text != code.read_text()
    parts = [int(x) for x in printed(module, broken, tmp_path, body).split()[:20]]
    assert [bool(x) for x in parts] == ([False] * 5 + [True] * 5) * 2


def test_the_self_test_tells_which_function_is_wrong(tmp_path):
    """A digit of the bias changed: bias fails, and nothing else does; so does a result that is no
    number."""
    module, folder = generated("ur5", quantities=CORE)
    assert failures(module, folder, tmp_path) == [5, 0, 0, 0, 0, 5, 0]
    digit = (r"0\.425 \*", "0.4250001 *")
    no_number = (r"tau_b\[3\] += ", r"\g<0>(0.0 / 0.0) + ")
    for pattern, text in (digit, no_number):
        broken = tmp_path / "broken"
        broken.mkdir(exist_ok=True)
        for path in folder.iterdir():
            code = path.read_text()
            (broken / path.name).write_text(
                re.sub(pattern, text, code, count=1) if "bias" in path.name else code
            )
        _, inverse, gravity, bias, mass, _, total = failures(module, broken, tmp_path)
        assert inverse == gravity == mass == 0 and 0 < bias == total


def test_self_tests_need_no_library(tmp_path):
    for name, options in (
        ("ur5", {"trig": "inline"}),
        ("panda", {"trig": "inline", "scalar": "float"}),
    ):
        module, folder = generated(name, quantities=CORE, **options)
        compiled(
            "-std=c99",
            "-O0",
            "-fno-pic",
            f"-D{module.name.upper()}_SELFTEST_NO_MAIN",
            f"-I{folder}",
            "-c",
            *c_files(folder),
            cwd=tmp_path,
        )
        objects = tmp_path.glob(f"{name}*.o")
        rows = subprocess.run(
            ["nm", *objects], capture_output=True, text=True, check=True
        ).stdout.splitlines()
        found = [row.split()[-2:] for row in rows if len(row.split()) >= 2]
        assert {kind for kind, _ in found} <= {"T", "t", "R", "r", "U"}
        assert all(symbol.startswith(module.name) for kind, symbol in found if kind == "U")


@pytest.mark.parametrize("scalar", ["double", "float"])
def test_reference_values_owe_nothing_to_the_emitted_code(scalar):
    """They are those of the algorithms in many digits, of a float module as well."""
    module, folder = generated(
        "ur5", quantities=("inverse_dynamics", "forward_dynamics"), scalar=scalar
    )
    text = (folder / "ur5_selftest.c").read_text()
    for state in module.test_states:
        for function in module.functions:
            given = {name: list(state.inputs[name]) for name in function.inputs}
            (out,) = module.outputs(function)
            wanted = [float(x) for x in evaluate(function.program, given)[out.name]]
            assert np.allclose(state.expected[out.name], wanted, rtol=1e-9, atol=1e-9)
            first = state.expected[out.name][0]
            assert ("-" if first < 0 else "") + literal(abs(first), scalar) in text


# -- single precision ------------------------------------------------------------------------------


@pytest.mark.parametrize("robot", ["ur5", "panda"])
def test_the_figures_are_those_of_the_compiled_code(robot):
    """What C in float is seen to be off at the test states, with sines of its own."""
    quantities = ("inverse_dynamics", "mass_matrix")
    module, folder = generated(robot, scalar="float", trig="inline", quantities=quantities)
    library = build(module, folder)
    for function in module.functions:
        (figure,) = module.roundings[function.name]
        errors, entries = [], []
        for state in module.test_states:
            given = {name: np.array(state.inputs[name]) for name in function.inputs}
            exact = np.array(evaluate(function.program, given)[figure.output], float)
            got = getattr(library, function.name)(*given.values()).ravel().astype(float)
            errors.append(np.abs(got - exact).max())
            entries.append(np.abs(exact).max())
        assert figure.seen == pytest.approx(max(errors), rel=1e-6)
        assert figure.entry == pytest.approx(max(entries))
        assert figure.seen < figure.bound < 40 * figure.seen


@pytest.mark.parametrize("name", ["ur5", "panda", "pendulum", "quadruped"])
def test_the_figures_are_stated_at_each_function(name):
    module, folder = generated(name, scalar="float", quantities=CORE)
    header = (folder / f"{module.name}.h").read_text()
    for function in module.functions:
        for figure in module.roundings[function.name]:
            assert f"{figure.text}\n" in header
            assert figure.text in (folder / f"{module.name}_{function.name}.c").read_text()
            assert 0 < figure.seen < figure.bound < 1e-5 * figure.entry
    _, double = generated(name, quantities=CORE)
    assert "Float error" not in (double / f"{module.name}.h").read_text()


def test_figures_are_rounded_up():
    assert (
        Rounding("y", 1.2000001e-5, 1e-6, 2.0).text
        == "y: at most 1.3e-05 (6.1e-06), observed 1.0e-06 (5.0e-07)"
    )
    assert Rounding("y", 9.99e-5, 1e-6, 1.0).text.startswith("y: at most 1.0e-04 (1.0e-04)")
    assert Rounding("y", 0.0, 0.0, 1.0).text == "y: exact"
    assert Rounding("y", np.inf, 1e-3, 1.0).text == "y: no bound, observed 1.0e-03 (1.0e-03)"


def test_a_batch_is_every_state_by_itself():
    module, _ = generated("panda", quantities=CORE)
    rng = np.random.default_rng(0)
    inputs = {name: rng.uniform(-1, 1, (module.dof, 7)) for name in ("q", "qd", "qdd")}
    for function in module.functions:
        batch = evaluate_batch(function.program, inputs, "double")
        for k in range(7):
            one = evaluate(
                function.program, {name: inputs[name][:, k].tolist() for name in function.inputs}
            )
            for name, entries in one.items():
                given = [
                    x
                    for x, ref in zip(entries, _refs(function.program, name), strict=True)
                    if ref is not None
                ]
                assert np.allclose(
                    batch[name][:, min(k, batch[name].shape[1] - 1)], given, rtol=1e-13, atol=1e-13
                )


def _refs(program, name):
    return next(out.refs for out in program.outputs if out.name == name)


def test_runtime_parameters_have_figures_too(tmp_path):
    module, _, _ = generate(
        "robots/ur5.urdf",
        Path(tmp_path),
        scalar="float",
        parameters="runtime",
        gravity="runtime",
        quantities=("inverse_dynamics", "forward_dynamics"),
    )
    assert module.roundings.keys() == {"regroup", "inverse_dynamics", "forward_dynamics"}
    assert all(
        0 <= f.seen < f.bound < 1e-4 * f.entry
        for figures in module.roundings.values()
        for f in figures
    )


# -- MISRA C:2012 ----------------------------------------------------------------------------------


def rules(text):
    return set(re.findall(r"misra-c2012-([\d.]+)", text))


@pytest.mark.parametrize("trig", ["libm", "inline"])
def test_misra_findings_are_those_of_the_table(trig, tmp_path):
    """No more than docs/firmware.md says, and at least one of it, since a checker that fails says
    nothing."""
    if shutil.which("cppcheck") is None:
        pytest.skip("cppcheck is not installed")
    _, folder = generated(
        "scara", quantities=("forward_dynamics", "gravity"), scalar="float", trig=trig, chunk=30
    )
    known = (
        "FLT_MANT_DIG=24",
        "FLT_EVAL_METHOD=0",
        "FLT_MAX=3.4e38f",
        "SCARA_SELFTEST_NO_MAIN",
    )  # it reads no float.h
    flags = ("--std=c99", "--addon=misra", "--enable=style", "--suppress=missingIncludeSystem")
    command = ["cppcheck", "-q", *flags, *(f"-D{x}" for x in known), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    if "misra" not in done.stderr:
        pytest.skip("cppcheck has no MISRA addon here")
    table = re.findall(
        r"^\| (\d+\.\d+) \| (\w+) \|", (ROOT / "docs" / "firmware.md").read_text(), re.MULTILINE
    )
    assert rules(done.stderr) <= {rule for rule, _ in table} and "12.1" in rules(done.stderr)
    assert not [line for line in done.stderr.splitlines() if re.search(r": (error|warning):", line)]

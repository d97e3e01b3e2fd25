"""The report of a module: facts that hold everywhere, and with --target what a compiler makes of
each function."""

import hashlib
import json
import re
import shutil

import pytest

from symgen.compiler.passes import counts
from symgen.languages.c.backend import functions
from symgen.languages.c.options import TARGETS
from symgen.languages.c.report import target_compiler
from tests.support.shell import BY_NAME, documented, keys
from tests.support.tools import generated, invoke, robot_file

FUNCTIONS = ("inverse_dynamics", "forward_dynamics", "mass_matrix")
NUMBER = r"(?<![\w.\[])(?:\d+\.\d*(?:e[+-]?\d+)?)f?(?![\w.])"


def made(robot="scara", **options):
    module, folder = generated(robot, quantities=FUNCTIONS, **options)
    return module, folder, json.loads((folder / f"{module.name}_report.json").read_text())


CASES = [{}, {"scalar": "float", "trig": "inline"}, {"chunk": 30}, {"parameters": "runtime"}]


@pytest.mark.parametrize("options", CASES)
def test_the_facts(options):
    module, folder, report = made(**options)
    for f in functions(module):
        row = report["functions"][f.description.name]
        assert (
            row["operations"] == counts(f.description.program).as_dict() and row["work"] == f.work
        )
        text = (folder / f"{f.full_name}.c").read_text()
        assert row["pieces"] == max(
            1, len(re.findall(r"^static \w+ (?:void|int) part\d+\(", text, re.MULTILINE))
        )
        body = re.sub(r"/\*.*?\*/|\[[^]]*\]", " ", text, flags=re.DOTALL)
        literals = {float(x.rstrip("f")) for x in re.findall(NUMBER, body)} - {0.0}
        assert row["literals"] == len(literals)
        assert row["stack"] is None and row["code"] is None
    assert report["target"] is None
    assert report["functions"].keys() == {f.description.name for f in functions(module)}


def test_files_and_hashes():
    module, folder, report = made()
    others = {"manifest.json", f"{module.name}_report.json"}
    assert report["files"].keys() == {path.name for path in folder.iterdir()} - others
    for name, row in report["files"].items():
        content = (folder / name).read_bytes()
        assert row == {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def test_every_key_is_documented():
    _, _, report = made(target="host")
    module, folder = generated("scara", quantities=("gravity",), certify=True)
    certified = json.loads((folder / f"{module.name}_report.json").read_text())
    module, folder = generated("scara", quantities=("gravity",), scalar="q31")
    scaled = json.loads((folder / f"{module.name}_report.json").read_text())
    looped = {"languages": ("c",), "body_loops": True}
    module, folder = generated("scara", quantities=("gravity",), **looped)
    looped = json.loads((folder / f"{module.name}_report.json").read_text())
    named = {*BY_NAME, "certified", "domain", "outputs", "scales"}
    found = keys(report) | keys(certified, named) | keys(scaled, named) | keys(looped)
    assert found == documented("NAME_report.json")


def test_a_target_changes_nothing_but_the_report():
    (_, plain, _), (_, measured, _) = made(), made(target="host")
    for path in plain.iterdir():
        if path.name not in ("manifest.json", "scara_report.json"):
            assert path.read_bytes() == (measured / path.name).read_bytes()


@pytest.mark.parametrize("target", TARGETS)
def test_measured_figures(target):
    if target_compiler(target) is None:
        pytest.skip(f"{TARGETS[target].compiler} is not installed")
    _, _, single = made("ur5", target=target, scalar="float")
    for row in single["functions"].values():
        assert 0 < row["stack"] < 4096 and 200 < row["code"] < 30000
    if target in ("host", "cortex-m4f"):
        _, _, pieces = made("ur5", target=target, scalar="float", chunk=30)
        for name, row in single["functions"].items():
            assert pieces["functions"][name]["stack"] <= row["stack"] + 64
    assert single["target"]["name"] == target and re.search(
        r"\d+\.\d+", single["target"]["compiler"]
    )


def test_own_sines_are_in_the_figures():
    """Their frames count: the stack of a function is at least that of the function and its
    piece."""
    _, _, report = made(target="host", trig="inline", chunk=30)
    assert all(row["stack"] > 0 for row in report["functions"].values())


def test_a_missing_compiler_is_told(tmp_path, monkeypatch):
    which = shutil.which
    monkeypatch.setattr(
        "symgen.languages.c.report.shutil.which",
        lambda name: None if name.startswith("arm") else which(name),
    )
    done = invoke("generate", robot_file("pendulum"), "-o", tmp_path, "--target", "cortex-m4f")
    assert done.exit_code == 0
    assert (
        "note: stack and code size are null in the report: arm-none-eabi-gcc is not installed\n"
        in done.stderr
    )
    report = json.loads((tmp_path / "pendulum_report.json").read_text())
    assert report["target"]["compiler"] is None and report["functions"]["gravity"]["stack"] is None


def test_an_unknown_target_is_refused(tmp_path):
    done = invoke("generate", robot_file("pendulum"), "-o", tmp_path / "out", "--target", "z80")
    assert done.exit_code == 2 and not (tmp_path / "out").exists()
    assert (
        done.stderr
        == "error: --target 'z80': use one of host, cortex-m0plus, cortex-m4f, cortex-m33, cortex-m7, "
        "cortex-m55, rv32imc, rv32imafc\n"
    )


def test_the_table_of_sizes(tmp_path):
    done = invoke("generate", robot_file("pendulum"), "-o", tmp_path, "--target", "host")
    row = json.loads((tmp_path / "pendulum_report.json").read_text())["functions"]["gravity"]
    assert re.search(rf"^ gravity +{row['stack']} +0 +{row['code']} *$", done.stdout, re.MULTILINE)
    alone = invoke(
        "generate", robot_file("pendulum"), "-o", tmp_path, "--lang", "python", "--target", "host"
    )
    assert alone.exit_code == 2 and "--target: this option has no effect on" in alone.stderr

"""JavaScript: Node.js runs it, with the values of the same algorithms and of the laws."""

import json
import re
import shutil
import subprocess
from dataclasses import replace
from hashlib import sha256
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from symgen.jobs.verify import verify
from tests.support.tools import SIMPLE, TRIED, generated, invoke, robot_file, verified

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


def node(folder, script):
    done = subprocess.run(
        ["node", "--input-type=module", "-e", script],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", TRIED)
def test_verify_proves_it(name):
    _, folder = generated(name, languages=("javascript",), **TRIED[name])
    said = verified(folder)
    assert "JavaScript equals the float run" in said


def test_verify_sees_a_wrong_number(tmp_path):
    invoke("generate", robot_file("pendulum"), "-o", tmp_path / "x", "--lang", "javascript")
    file, listing = tmp_path / "x" / "pendulum.mjs", tmp_path / "x" / "manifest.json"
    wrong = file.read_text().replace("9.81 * Math.sin", "9.82 * Math.sin")
    assert wrong != file.read_text()
    file.write_text(wrong)
    data = json.loads(listing.read_text())
    data["files"]["pendulum.mjs"] = sha256(wrong.encode()).hexdigest()
    listing.write_text(json.dumps(data, indent=1) + "\n")
    done = invoke("verify", tmp_path / "x")
    assert done.exit_code == 1 and "FAILED" in done.output


def test_a_function_that_throws_fails_alone(tmp_path):
    _, folder = generated(
        "pendulum", languages=("javascript",), quantities=("gravity", "bias", "mass_matrix")
    )
    shutil.copytree(folder, tmp_path / "x")
    file = tmp_path / "x" / "pendulum.mjs"
    text = file.read_text()
    wrong = re.sub(r"(export function bias\(.*\{\n)", r'\1  throw new TypeError("off");\n', text)
    assert wrong != text
    file.write_text(wrong)
    checks = {check.what: check for check in verify(tmp_path / "x", run_changed=True)}
    failed = {what: check.detail for what, check in checks.items() if not check.passed}
    assert failed.pop("bias: JavaScript runs") == "node: TypeError: off"
    assert list(failed) == ["the files are unchanged (SHA-256)"]
    assert {
        "gravity: JavaScript equals the float run",
        "mass_matrix: JavaScript equals the float run",
    } <= {*checks}


@pytest.mark.parametrize(
    "line, told", [("export const = 1;", "SyntaxError"), ("process.exit(3);", "exit status 3")]
)
def test_a_module_that_does_not_load_is_run_once(tmp_path, line, told):
    _, folder = generated(
        "pendulum", languages=("javascript",), quantities=("gravity", "bias", "mass_matrix")
    )
    shutil.copytree(folder, tmp_path / "x")
    with (tmp_path / "x" / "pendulum.mjs").open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")
    checks = verify(tmp_path / "x", run_changed=True)
    failed = {check.what: check.detail for check in checks if not check.passed}
    assert told in failed.pop("JavaScript compiles")
    assert list(failed) == ["the files are unchanged (SHA-256)"]


def test_arrays_given_are_written_and_returned():
    _, folder = generated("pendulum", languages=("javascript",), quantities=("all",))
    script = """
        import * as robot from "./pendulum.mjs";
        const tau = new Float64Array(robot.nv);
        const same = robot.gravity([0.1, 0.2], tau) === tau;
        const { dtau_dq, M } = robot.inverse_dynamics_derivatives([0.1, 0.2], [1, 2], [3, 4]);
        const said = (f) => { try { f(); return ""; } catch (e) { return `${e.name}: ${e.message}`; } };
        const errors = [
          said(() => robot.gravity([1, 2, 3])),
          said(() => robot.bias([1, 2])),
          said(() => robot.gravity([1, 2], new Float64Array(1))),
          said(() => robot.gravity([1, 2], new Int32Array(2))),
          said(() => robot.gravity([1, 2], new BigInt64Array(2))),
          said(() => robot.gravity([1, 2], new Uint8ClampedArray(2))),
          said(() => robot.gravity([1, 2], new DataView(new ArrayBuffer(16)))),
          said(() => robot.gravity([1, 2], new Float32Array(2))),
          said(() => robot.gravity(new Int32Array([1, 2]), [])),
        ];
        const packed = robot.gamma_index(1, 1, 0);
        console.log(JSON.stringify([same, [...tau], [...dtau_dq], [...M], errors, packed]));
    """
    same, tau, slope, mass, errors, packed = node(folder, script)
    assert same and len(tau) == 2 and len(slope) == 4 and np.allclose(mass[1], mass[2])
    assert errors == [
        "RangeError: q must have 2 entries, not 3",
        "RangeError: qd must have 2 entries, not undefined",
        "RangeError: tau_g must have room for 2 entries, not 1",
        *(
            f"TypeError: tau_g must be a Float64Array, a Float32Array or an Array, not {name}"
            for name in ("Int32Array", "BigInt64Array", "Uint8ClampedArray", "DataView")
        ),
        "",
        "",
    ]
    assert packed == 3 * 1 + 1


def test_names_stay_data(tmp_path):
    nasty = "*/ process.exit(7); /* $1 `</script>"
    text = Path(robot_file("pendulum")).read_text(encoding="utf-8")
    joint = text.split('<joint name="')[1].split('"')[0]
    escaped = nasty.replace("<", "&lt;")
    (tmp_path / "x.urdf").write_text(text.replace(f'"{joint}"', f'"{escaped}"'), "utf-8")
    done = invoke("generate", tmp_path / "x.urdf", "-o", tmp_path / "x", "--lang", "javascript")
    assert done.exit_code == 0, done.output
    script = 'import { jointNames } from "./pendulum.mjs"; console.log(JSON.stringify(jointNames));'
    assert nasty in node(tmp_path / "x", script)


def test_many_variables_are_in_an_array(tmp_path, monkeypatch):
    """A stack of V8 has no room for those of a quadruped's recursive least squares."""
    files = import_module("symgen.languages.backends.javascript")
    module, folder = generated("pendulum", languages=("javascript",), quantities=SIMPLE)
    monkeypatch.setattr(files, "BACKEND", replace(files.BACKEND, max_locals=5))
    made = files.files(module)["pendulum.mjs"]
    assert "const work = new Float64Array" in made
    (tmp_path / "few.mjs").write_text(made)
    (tmp_path / "many.mjs").write_text((folder / "pendulum.mjs").read_text())
    call = "{0}.forward_dynamics([0.3, -0.4], [1, 2], [3, -1]), {0}.mass_matrix([0.3, -0.4])"
    script = f"""
        import * as few from "./few.mjs";
        import * as many from "./many.mjs";
        console.log(JSON.stringify([[{call.format("few")}], [{call.format("many")}]]));
    """
    one, other = node(tmp_path, script)
    assert one == other and one[0]


def test_the_package_is_installed_by_name(tmp_path):
    """A program of another folder imports the package by its name; NaN is refused as such."""
    quantities = ("gravity", "forward_dynamics")
    options = {"module_version": "1.2.3", "module_url": "https://example.com/arm"}
    _, folder = generated("pendulum", languages=("javascript",), quantities=quantities, **options)
    listing = json.loads((folder / "package.json").read_text("utf-8"))
    assert listing["version"] == "1.2.3" and listing["homepage"] == "https://example.com/arm"
    for name in ("package.json", *listing["files"]):
        (tmp_path / "node_modules/pendulum").mkdir(parents=True, exist_ok=True)
        shutil.copyfile(folder / name, tmp_path / "node_modules/pendulum" / name)
    script = """
        import { forward_dynamics, gravity } from "pendulum";
        const said = (f) => { try { f(); return ""; } catch (e) { return e.message; } };
        const wrong = said(() => forward_dynamics([1, NaN], [0, 0], [0, 0]));
        console.log(JSON.stringify([[...gravity([0.1, 0.2])], wrong]));
    """
    forces, told = node(tmp_path, script)
    assert len(forces) == 2 and told == "an input is not finite"


TYPED = """
import { forward_dynamics, gravity, nv } from "pendulum";
const tau: Float64Array = gravity([0.1, 0.2]);
const single: Float32Array = forward_dynamics(tau, tau, tau, new Float32Array(nv));
// @ts-expect-error: integers cannot hold results
gravity(single, new Int32Array(2));
"""


@pytest.mark.skipif(shutil.which("tsc") is None, reason="TypeScript is not installed")
def test_types_are_those_of_the_functions(tmp_path):
    quantities = ("gravity", "forward_dynamics", "christoffel_symbols")
    _, folder = generated("pendulum", languages=("javascript",), quantities=quantities)
    shutil.copytree(folder, tmp_path / "node_modules/pendulum")
    (tmp_path / "main.mts").write_text(TYPED)
    command = ["tsc", "--strict", "--noEmit", "--module", "nodenext", "--target", "es2022"]
    subprocess.run([*command, "main.mts"], cwd=tmp_path, check=True)

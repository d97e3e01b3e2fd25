"""``--json``: valid, whole and documented key by key; refusals and judgements as data."""

import json
import re
from pathlib import Path

import pytest

from symgen.algorithms import QUANTITIES
from symgen.compiler.objective import MAX_OPERATIONS_RATIO
from symgen.errors import OptionError
from symgen.jobs.api import generate, trace
from symgen.languages import LANGUAGES
from symgen.tracing.options import DEFAULT_QUANTITIES
from tests.support.loops import four_bar
from tests.support.shell import PENDULUM, data, documented, keys
from tests.support.tools import generated, invoke, robot_file

COUNT_KEYS = {"add", "mul", "div", "trig", "total"}


def test_ops_json():
    found = data("ops", robot_file("ur5"), "--json")
    assert found.keys() == {"robot", "dof", "machine", "quantities"}
    assert (found["robot"], found["dof"], found["machine"]) == ("ur5", 6, "host")
    assert list(found["quantities"]) == list(DEFAULT_QUANTITIES)
    for name, row in found["quantities"].items():
        assert row.keys() == {*COUNT_KEYS, "work", "path", "formulation", "trees"}
        assert row["work"] > 0 and row["path"] > 0
        assert row["total"] == row["add"] + row["mul"] + row["div"] + row["trig"] > 0
        assert row["formulation"] in {way.name for way in QUANTITIES[name].formulations}


def test_ops_all_json():
    found = data("ops", robot_file("ur5"), "--json", "--all")
    best = data("ops", robot_file("ur5"), "--json")["quantities"]
    for name, rows in found["quantities"].items():
        named = [row["formulation"] for row in rows]
        suited = [way.name for way in QUANTITIES[name].formulations if way.name in named]
        assert named == suited and len(named) > 1
        assert best[name] in rows
        assert best[name]["total"] <= MAX_OPERATIONS_RATIO * min(row["total"] for row in rows)


def test_ops_json_agrees_with_the_manifest_and_the_table():
    module, folder = generated("ur5")
    written = json.loads((folder / "manifest.json").read_text())["functions"]
    table = invoke("ops", robot_file("ur5")).stdout
    for name, row in data("ops", robot_file("ur5"), "--json")["quantities"].items():
        assert written[name]["operations"] == {key: row[key] for key in COUNT_KEYS}
        cells = [
            re.escape(row["formulation"]),
            *(str(row[key]) for key in ("add", "mul", "div", "trig", "total")),
            *(str(round(row[key])) for key in ("work", "path")),
        ]
        assert re.search(rf"^ {name} +{' +'.join(cells)} *$", table, re.MULTILINE)
    assert module.dof == 6


def test_list_json():
    found = data("list", "--json")
    assert found.keys() == {"quantities", "languages"} and found["languages"] == list(LANGUAGES)
    for row in found["quantities"].values():
        assert row.keys() == documented("symgen list --json") - {
            "quantities", "languages", "name", "shape", "unit",
        }  # fmt: skip
        assert all(out.keys() == {"name", "shape", "unit"} for out in row["outputs"])
        assert row["formulations"] and row["sources"] and row["inputs"]
    table = invoke("list", "--all").stdout
    assert all(name in table for name in (*found["quantities"], *LANGUAGES))


def test_every_key_is_documented(tmp_path):
    _, folder = generated("ur5", parameters="runtime:flange", gravity="runtime")
    manifest = json.loads((folder / "manifest.json").read_text())
    assert list(manifest["runtime"].pop("parameters")) == ["flange"]
    generate(four_bar(), tmp_path, ["c"], quantities=("gravity",))
    with_loop = json.loads((tmp_path / "manifest.json").read_text())
    assert keys(manifest) | keys(with_loop) == documented("manifest.json")
    assert keys(data("list", "--json")) == documented("symgen list --json")
    for more in ([], ["--all"]):
        assert keys(data("ops", PENDULUM, "--json", *more)) == documented("symgen ops --json")


def test_all_means_every_quantity_and_may_be_joined_by_others():
    found = data("ops", PENDULUM, "--json", "--quantity", "all", "--quantity", "frame_pose:tip")
    names = (name.replace(":", "_") for name in QUANTITIES)
    assert list(found["quantities"]) == [*names, "frame_pose_tip"]
    with pytest.raises(OptionError, match="name one"):
        trace(PENDULUM, "all")


def test_checks_as_data(tmp_path):
    assert invoke("generate", PENDULUM, "-o", tmp_path, "--quantity", "gravity").exit_code == 0
    plain, data = (invoke("verify", tmp_path, *more) for more in ((), ("--json",)))
    found = json.loads(data.stdout)
    assert found["passed"] and all(row["check"] in plain.stdout for row in found["checks"])
    with (tmp_path / "pendulum_gravity.c").open("a") as file:
        file.write("/* touched */\n")
    done = invoke("verify", tmp_path, "--json")
    assert done.exit_code == 1 and not json.loads(done.stdout)["passed"]


def test_a_judgement_as_data(tmp_path):
    found = data("check", PENDULUM, "--json")
    assert found["sound"] and [joint["name"] for joint in found["joints"]] == ["shoulder", "elbow"]
    path = tmp_path / "odd.urdf"
    text = Path(PENDULUM).read_text(encoding="utf-8")
    path.write_text(re.sub(r'ixx="[^"]*"', 'ixx="9"', text, count=1), encoding="utf-8")
    odd = json.loads(invoke("check", path, "--json").stdout)
    warned = [row for row in odd["inertia"] if row["warning"]]
    (notice,) = [row for row in odd["notices"] if row["level"] == "warning"]
    assert not odd["sound"] and [row["pseudo_inertia"] for row in warned] == ["indefinite"]
    assert warned[0]["message"] == notice["message"] and notice["line"] > 1
    drives = tmp_path / "drives.toml"
    drives.write_text("joints.elbow = { gear_ratio = 50, rotor_inertia = 1e-4 }\n")
    turned = data("check", PENDULUM, "--actuators", drives, "--json")
    assert turned["rotors"]["differences"]
    loop = data("check", PENDULUM, "--controller", "joint_impedance", "--rate", "100", "--json")
    assert loop["loop"]["stable"] and loop["loop"]["proposed"]
    every = keys(found) | keys(odd) | keys(turned) | keys(loop)
    assert every == documented("symgen check --json")


def test_what_is_refused_as_data(tmp_path):
    path = tmp_path / "two.urdf"
    text = Path(PENDULUM).read_text(encoding="utf-8")
    path.write_text(re.sub(r'<axis xyz="[^"]*"', '<axis xyz="0 0 0"', text), encoding="utf-8")
    for command in ("check", "ops", "inspect"):
        done = invoke(command, path, "--json")
        rows = json.loads(done.stdout)["errors"]
        said = [f"{r['file']}:{r['line']}: error: {r['element']}: {r['message']}" for r in rows]
        assert done.exit_code == 2 and len(rows) == 2 and said == done.stderr.splitlines()
        assert keys(rows) | {"errors"} == documented("Errors as JSON")
    (row,) = json.loads(invoke("check", PENDULUM, "--root", "x", "--json").stdout)["errors"]
    assert row["file"] is None and row["message"].startswith("--root 'x'")


def test_generate_json(tmp_path):
    file, out = robot_file("pendulum"), tmp_path / "p"
    found = json.loads(invoke("generate", file, "-o", out, "--json", "--lang", "c").stdout)
    counts = data("ops", file, "--json")
    assert {key: found[key] for key in counts} == counts
    assert found["folder"] == str(out)
    assert found["files"] == sorted(p.relative_to(out).as_posix() for p in out.rglob("*.*"))
    own = documented("symgen generate --json") | documented("symgen ops --json")
    assert {*found} <= own and found["notices"] == []


WRITTEN = "symgen init, convert, view and build --json"


@pytest.mark.parametrize(
    ("command", "name"), [("init", "job.toml"), ("convert", "robot.urdf"), ("build", "package")]
)
def test_written_files_as_data(command, name, tmp_path):
    more = ("--quantity", "gravity") if command == "build" else ()
    done = invoke(command, PENDULUM, "-o", tmp_path / name, "--json", *more)
    found = json.loads(done.stdout)
    assert found["files"] and all(Path(path).exists() for path in found["files"])
    assert documented(WRITTEN) == {"files", "notices"} <= found.keys()
    if command == "build":
        counts = data("ops", PENDULUM, "--json", *more)
        assert {key: found[key] for key in counts} == counts
    else:
        assert found["files"] == [str(tmp_path / name)]


def test_view_json_opens_no_browser(monkeypatch):
    monkeypatch.setattr("webbrowser.open", lambda address: pytest.fail("a browser was opened"))
    (page,) = json.loads(invoke("view", PENDULUM, "--json").stdout)["files"]
    assert Path(page).read_text(encoding="utf-8").startswith("<!doctype html>\n")


def test_dump_json():
    found = data("dump", PENDULUM, "--quantity", "gravity", "--json")
    assert found.keys() == documented("symgen dump --json") and found["quantity"] == "gravity"
    assert found["lines"] == invoke("dump", PENDULUM, "--quantity", "gravity").stdout.splitlines()


def test_robots_json(tmp_path):
    found = data("robots", "--json")
    assert found.keys() == documented("symgen robots --json")
    assert all(Path(path).stem == name for name, path in found["robots"].items())
    copied = data("robots", "ur5", "-o", tmp_path, "--json")["robots"]
    assert copied == {"ur5": str(tmp_path / "ur5.urdf")}


def test_docs_json():
    pages = data("docs", "--json")["pages"]
    found = data("docs", "formats", "--json")
    assert found["page"] == "formats" and found["text"].startswith("# ") and "formats" in pages
    assert found.keys() | {"pages"} == documented("symgen docs --json")


def test_excite_json(tmp_path):
    pytest.importorskip("scipy")
    out = tmp_path / "m.csv"
    done = invoke("excite", robot_file("pendulum"), "-o", out, "--json", "--budget", "1")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert keys(found, set()) == documented("symgen excite --json")
    assert found["files"] == [str(out)] and len(out.read_text().splitlines()) == found["rows"] + 1
    assert found["condition"]["found"] <= found["condition"]["random"]
    assert all(0 <= row["velocity"] <= 100 for row in found["joints"])

"""The fuzzer: a share of its inputs, and that it catches what it is there for."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

import symgen
from fuzz import campaign, child, families, follow, nodes, oracles, xml_mutations
from fuzz.case import Case, Finding, snapshot
from fuzz.controller_steps import Stepper
from fuzz.minimise import minimised
from fuzz.robots import robot
from tests.support.tools import ROOT

CONTROLLER = "computed_torque"
INPUTS = int(os.environ.get("SYMGEN_FUZZ", "60"))
OPEN: tuple[str, ...] = ()
"""Kinds of trouble that are known and not mended yet, by their begins."""


def test_a_share_of_the_inputs(tmp_path):
    """Nothing else is found; `make fuzz` runs many more."""
    command = [sys.executable, "-m", "fuzz", "--inputs", str(INPUTS), "--workers", "1"]
    done = subprocess.run(
        [*command, "--minutes", "5", "--out", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    figures = json.loads((tmp_path / "summary.json").read_text())
    new = [kind for kind in figures["kinds"] if not kind.startswith(OPEN)]
    assert figures["inputs"] == INPUTS and not new, done.stdout + done.stderr
    assert done.returncode == bool(figures["kinds"]), done.stdout + done.stderr
    accepted = sum(row["accepted"] for row in figures["families"].values())
    assert INPUTS / 8 < accepted < INPUTS, "inputs are to be good and bad"


@pytest.mark.parametrize("name", families.FAMILIES)
def test_an_input_is_that_of_its_number(name):
    for number in range(4):
        first, again = (families.case(5, number, name) for _ in range(2))
        assert first == again and first.family == name
    assert families.case(5, 0, name) != families.case(6, 0, name)


def test_inputs_do_not_depend_on_the_hash_seed():
    code = "import hashlib; from fuzz.families import case; print(hashlib.sha256(repr([case(3, k, f) for f in ('urdf', 'job', 'options') for k in range(9)]).encode()).hexdigest())"
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in "12"
    }
    assert len(said) == 1


def raises(arguments):
    raise ZeroDivisionError


def babbles(arguments):
    print("error: a is bad\nerror: b is bad", file=sys.stderr)
    sys.exit(2)


def forgets_to_clean(arguments):
    Path("half.json").write_text("{")
    print("error: no", file=sys.stderr)
    sys.exit(2)


def tears(arguments):
    Path("half.json").write_text('{"a": Infinity}')


def overwrites(arguments):
    Path("robot.urdf").write_text("<robot/>")


def colours(arguments):
    print("link '\x9b31mx'")


def warns(arguments):
    import warnings

    warnings.warn("overflow", RuntimeWarning, stacklevel=1)


def dies(arguments):
    os.kill(os.getpid(), signal.SIGKILL)


def eats(arguments):
    print(len(bytearray(1 << 33)))


def says_infinity(arguments):
    print('{"a": Infinity}')


def stops_with_one(arguments):
    sys.exit(1)


def hangs(arguments):
    signal.pause()


def refuses(arguments):
    print("robot.urdf:1: error: a: bad", file=sys.stderr)
    sys.exit(2)


def accepts(arguments):
    print("written")


FAULTY = {
    raises: "traceback: ZeroDivisionError",
    babbles: "refusal: ",
    forgets_to_clean: "torn files: ",
    tears: "torn files: ",
    overwrites: "overwritten: ",
    colours: "raw characters: ",
    warns: "warning of python: RuntimeWarning",
    dies: "killed: ended by SIGKILL",
    eats: "memory: ",
    says_infinity: "json of stdout: ",
    stops_with_one: "status: ",
    hangs: "hang: ",
    refuses: "sound refused: ",
    accepts: "contradiction accepted: ",
}
"""Programs that do what symgen must not, and the kind of trouble that each is."""


def program(arguments):
    print("all is well")


CASE = Case("", ("check", "robot.urdf", "--json"), {"robot.urdf": b"<robot name='a'/>"}, sound=True)


CASES = {
    says_infinity: CASE,
    refuses: CASE,
    accepts: Case("", ("check",), CASE.files, refusals=("--scalar: ",)),
}
"""The cases that a program needs to show its fault."""


@pytest.mark.parametrize("faulty", FAULTY, ids=lambda faulty: faulty.__name__)
def test_each_oracle_catches_its_fault(faulty, tmp_path, monkeypatch):
    monkeypatch.setattr(child, "CPU", 1)
    if faulty is hangs:
        monkeypatch.setattr(child, "WALL", 3.0)
    case = CASES.get(faulty, Case("", ("check",), CASE.files))
    kinds = [f.kind for f in oracles.judged(case, child.run(case, tmp_path, faulty))]
    assert len(kinds) == 1 and kinds[0].startswith(FAULTY[faulty]), kinds


def test_every_oracle_has_a_fault_that_it_catches():
    caught = {kind.partition(":")[0] for kind in FAULTY.values()}
    assert set(oracles.ORACLES) - caught == {"long line"}


def test_a_run_that_waits_for_ever_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(child, "WALL", 0.2)
    outcome = child.run(CASE, tmp_path, lambda arguments: time.sleep(60))
    assert outcome.late and outcome.status is None


def test_a_contradiction_that_is_refused_for_another_reason_is_found(tmp_path):
    case = Case("", ("check",), CASE.files, refusals=("--scalar: ",))
    (found,) = oracles.judged(case, child.run(case, tmp_path, refuses))
    assert found.kind.startswith("contradiction accepted: refused for another reason")


def test_contradictory_options_are_sound_or_not():
    cases = [families.case(1, number, "contradictory") for number in range(60)]
    assert 10 < sum(case.sound for case in cases) < 50
    assert all(case.sound != bool(case.refusals) for case in cases)


def test_what_is_well_is_well(tmp_path):
    case = Case("", ("check",), CASE.files)
    assert not list(oracles.judged(case, child.run(case, tmp_path, program)))


@pytest.mark.parametrize(
    "text, found",
    [
        (" ok   the files are unchanged\n not run   Torch runs\n", False),
        (" FAILED   gravity: C equals the float run\n not run   Torch runs\n", True),
        ("", True),
    ],
)
def test_a_check_that_needs_a_missing_package_is_no_finding(tmp_path, monkeypatch, text, found):
    case = Case("", ("generate", "robot.urdf", "-o", "out"), CASE.files)
    outcome = replace(child.run(case, tmp_path, program), after={"out/manifest.json": b"{}"})
    checked = replace(outcome, status=1, stdout=text.encode(), stderr=b"")
    monkeypatch.setattr(follow, "made_in", lambda outcome: ["out"])
    monkeypatch.setattr(follow, "run", lambda case, folder: checked)
    monkeypatch.setattr(follow, "judged", lambda case, outcome: [])
    assert bool([*follow.verify(case, outcome, tmp_path)]) == found


def test_a_case_is_made_small():
    """One element in a hundred is to blame, and one option."""
    root = robot(Random(3))
    for _ in range(30):
        root.children.append(nodes.element("link", name="bare"))
    root.children[7].attributes.append(("bad", "1"))
    case = Case("", ("check", "a", "--b", "c", "--d"), {"a": nodes.written(root), "z": b"1\n2\n"})

    def fails(case):
        return b"bad=" in case.files.get("a", b"") and "--d" in case.arguments

    small = minimised(case, fails)
    assert small.arguments == ("check", "--d") and set(small.files) == {"a"}
    assert len(nodes.read(small.files["a"]).children) == 1


def test_a_tree_is_what_is_written():
    for seed in range(20):
        root = robot(Random(seed))
        assert nodes.written(nodes.read(nodes.written(root))) == nodes.written(root)


@pytest.mark.parametrize("name", xml_mutations.XML)
def test_each_change_of_a_tree_changes_something(name):
    changed = 0
    for seed in range(20):
        root = robot(Random(seed))
        made = root.copy()
        xml_mutations.XML[name](Random(seed), made)
        changed += nodes.written(made) != nodes.written(root)
    assert changed


def test_a_tally_tells_kinds_and_numbers():
    tally = campaign.Tally()
    finding = Finding("traceback: x", "y", CASE)
    for number in range(3):
        seen = campaign.Seen(number, "urdf", 0, ("verify",), (finding,), 0.5, 1 << 21)
        assert len(tally.add(seen)) == (number == 0)
    figures = tally.figures()
    assert figures["kinds"] == {"traceback: x": {"times": 3, "numbers": [0, 1, 2]}}
    assert figures["largest_memory_mb"] == 2 and figures["followed"] == {"verify": 3}


@pytest.mark.parametrize(
    "right, wrong, found",
    [
        ("return status;", "return 0;", "status 0 of arguments that are not valid"),
        ("x[k] >= low", "x[k] >= -LARGEST", "status 0 of arguments that are not valid"),
        ("if (status == 0) {\n        copied(", "if (status < 2) {\n        copied(", "changes"),
        ("u_computed[k] = (status == 0)", "u_computed[k] = (status < 3)", "changes"),
        ("state->e_int[k] = 0.0;", "", "reset leaves e_int"),
    ],
)
def test_steps_of_a_controller_that_break_a_promise_are_found(tmp_path, right, wrong, found):
    folder, name = tmp_path / "c", "pendulum_computed_torque_controller.c"
    symgen.generate(ROOT / "robots" / "pendulum.urdf", folder, ["c"], controllers=(CONTROLLER,))
    text = (folder / name).read_text()
    assert next(Stepper(folder, CONTROLLER, Random(1)).broken(), None) is None
    assert right in text
    (folder / name).write_text(text.replace(right, wrong))
    broken = [*Stepper(folder, CONTROLLER, Random(2)).broken()]
    assert any(found in line for line in broken)


def test_a_controller_case_is_followed_where_it_names_its_controller(tmp_path):
    """Minimising removes arguments, also the name after `--controller`. The steps leave the folder
    as it was generated."""
    file = (ROOT / "robots" / "pendulum.urdf").read_bytes()
    generate = ("generate", "a.urdf", "-o", "c", "--lang", "c", "--controller", CONTROLLER)
    whole = Case("controller", generate, {"a.urdf": file}, sound=True)
    for words, wanted in ((generate, True), (generate[:-1], False), (generate[:-2], False)):
        case = replace(whole, arguments=words)
        outcome = child.run(whole, tmp_path / str(len(words)))
        assert follow.FOLLOW_UPS["steps"].fits(case, outcome) == wanted
    folder = tmp_path / str(len(generate))
    assert not [*follow.FOLLOW_UPS["steps"].follow(whole, outcome, folder)]
    assert snapshot(folder) == dict(outcome.after)

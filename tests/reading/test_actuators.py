"""Files of actuators: read, refused in one sentence, put on the joints of the model."""

import json
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symgen.errors import OptionError, RobotError
from symgen.jobs.manifest_reader import read as read_manifest
from symgen.jobs.verify import verify
from symgen.mechanics.model import Rotor
from symgen.reading.assemble import load
from symgen.reading.checked_values import parse_toml
from tests.support.driven import actuators, joints
from tests.support.tools import ROOT, invoke, robot_file, snapshot

PENDULUM = robot_file("pendulum")


FULL = """
[joints.shoulder]
gear_ratio = -101
rotor_inertia = 2.1e-5
rotor_axis = [0, 3, 4]
rotor_position = [0, 0.1, -0.2]
rotor_mass = 0.3
rotor_transverse = 1e-5
viscous = 0.5
coulomb = 0.25
offset = -0.125
"""


def test_everything_reaches_the_joint(tmp_path):
    found = joints(PENDULUM, actuators=actuators(tmp_path, FULL))
    shoulder = found["shoulder"]
    assert shoulder.rotor == Rotor(-101.0, 2.1e-5, (0.0, 0.6, 0.8), (0.0, 0.1, -0.2), 0.3, 1e-5)
    assert (shoulder.damping, shoulder.friction, shoulder.offset, shoulder.armature) == (
        0.5,
        0.25,
        -0.125,
        0.0,
    )
    assert found["elbow"] == joints(PENDULUM)["elbow"]


def test_reflected_and_none(tmp_path):
    path = actuators(tmp_path, FULL)
    reflected = joints(PENDULUM, actuators=path, rotors="reflected")["shoulder"]
    assert (
        reflected.rotor is None
        and reflected.armature == 101.0**2 * 2.1e-5
        and reflected.damping == 0.5
    )
    without = joints(PENDULUM, actuators=path, rotors="none")["shoulder"]
    assert without.rotor is None and without.armature == 0.0 and without.offset == -0.125
    with pytest.raises(OptionError, match="--rotors 'all': use one of exact, reflected, none"):
        load(PENDULUM, rotors="all")


def test_friction_of_the_file_is_kept_where_the_actuator_is_silent(tmp_path):
    urdf = tmp_path / "r.urdf"
    text = (ROOT / "robots" / "pendulum.urdf").read_text(encoding="utf-8")
    urdf.write_text(
        text.replace("<limit", '<dynamics damping="3" friction="4"/><limit'), encoding="utf-8"
    )
    found = joints(
        urdf, actuators=actuators(tmp_path, "[joints]\nshoulder.coulomb = 0\nelbow.viscous = 1\n")
    )
    assert [(j.damping, j.friction) for j in found.values()] == [(3.0, 0.0), (1.0, 4.0)]


REFUSED = [
    ("[joints.shoulder]\ngear_ratio = ", 2, "TOML: not well-formed: Invalid value"),
    ("[joints.shoulder]\nviscous = 1\nviscous = 2", 3, "TOML: not well-formed"),
    ("[joint.shoulder]\n", 1, "joint: no key is called 'joint'; near names: 'joints'"),
    ("\njoints = 1\n", 2, "joints: is a number (1) where a table is needed"),
    (
        "[joints]\n[joints.elbow]\n[joints.sholder]",
        3,
        "joints.sholder: no joint is called 'sholder'; near names: 'shoulder'",
    ),
    ("[joints]\nshoulder = 2", 2, "joints.shoulder: is a number (2) where a table is needed"),
    (
        "[joints.tip_joint]\nviscous = 1",
        1,
        "joints.tip_joint: a fixed joint cannot have an actuator",
    ),
    (
        "[joints.shoulder]\n# ratio\ngearratio = 3",
        3,
        "joints.shoulder.gearratio: no key is called 'gearratio'; near names: 'gear_ratio'",
    ),
    (
        '[joints.shoulder]\nviscous = "1"',
        2,
        "joints.shoulder.viscous: is a text (1) where a number is needed",
    ),
    (
        "[joints.shoulder]\nviscous = true",
        2,
        "joints.shoulder.viscous: is a boolean (True) where a number is needed",
    ),
    (
        "[joints.shoulder]\nviscous = 1979-05-27",
        2,
        "joints.shoulder.viscous: is a date or time (1979-05-27)",
    ),
    (
        "[joints.shoulder]\nviscous = nan",
        2,
        "joints.shoulder.viscous: is a number (nan); give a finite number",
    ),
    ("[joints.shoulder]\nviscous = 1" + 400 * "0", 2, "joints.shoulder.viscous: is a number (1000"),
    ("[joints.shoulder]\nviscous = -1", 2, "joints.shoulder.viscous: is -1; give 0 or more"),
    ("[joints.shoulder]\ncoulomb = -1e-9", 2, "joints.shoulder.coulomb: is -1e-09; give 0 or more"),
    (
        "[joints.shoulder]\ngear_ratio = 2\nrotor_inertia = -1",
        3,
        "joints.shoulder.rotor_inertia: is -1; give 0 or",
    ),
    (
        "[joints.shoulder]\nrotor_inertia = 1\ngear_ratio = 0",
        3,
        "joints.shoulder.gear_ratio: is 0; give the turns",
    ),
    (
        "[joints.shoulder]\n\nrotor_inertia = 1",
        3,
        "joints.shoulder.rotor_inertia: gear_ratio is missing",
    ),
    (
        "[joints.shoulder]\ngear_ratio = 5",
        2,
        "joints.shoulder.gear_ratio: has no effect without rotor_inertia",
    ),
    (
        "[joints.shoulder]\nrotor_mass = 5",
        2,
        "joints.shoulder.rotor_mass: has no effect without rotor_inertia",
    ),
    (
        "[joints.shoulder]\ngear_ratio = 1e80\nrotor_inertia = 1",
        2,
        "joints.shoulder.gear_ratio: is too large",
    ),
    (
        "[joints.shoulder]\nrotor_axis = [0, 0]",
        2,
        "joints.shoulder.rotor_axis: is a list where three numbers",
    ),
    (
        "[joints.shoulder]\nrotor_axis = [\n 0,\n 0, 0]",
        2,
        "joints.shoulder.rotor_axis: is zero; give a direction",
    ),
    (
        "[joints.shoulder]\nrotor_axis = [0, 0, '']",
        2,
        "joints.shoulder.rotor_axis: is a text () where a number",
    ),
    (
        '[joints."a\\nb\\u001b"]\n',
        1,
        "joints.a\\nb\\x1b: no joint is called 'a\\nb\\x1b'; there are 'shoulder'",
    ),
    ("x = " + 3000 * "[", 1, "TOML: not well-formed: "),
]


@pytest.mark.parametrize(("text", "line", "said"), REFUSED)
def test_refused_in_one_line(text, line, said, tmp_path):
    path = actuators(tmp_path, text)
    done = invoke("generate", PENDULUM, "-o", tmp_path / "out", "--actuators", path)
    assert done.exit_code == 2 and done.stdout == "" and done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"{path}:{line}: error: {said}"), done.stderr
    assert set(snapshot(tmp_path)) == {"drives.toml"}


def test_files_that_cannot_be_read(tmp_path):
    for data, said in (
        (None, "cannot be read"),
        (b"\xff", "not UTF-8"),
        (b"#" * 2**21, "larger than 256 KiB"),
    ):
        path = tmp_path / "x.toml"
        if data is not None:
            path.write_bytes(data)
        with pytest.raises(
            RobotError, match=r"x\.toml(:1)?: error: .*" + (said if data != b"\xff" else "UTF-8")
        ):
            load(PENDULUM, actuators=path)


VALUES = st.sampled_from(
    [
        '"x = 1"',
        r'"[\"#"',
        """'["'""",
        '"""["\n""\\""""""',
        "'''[''\n#'''''",
        "[ '\\', [] ] # \"",
        '"""\nkey0 = 2\n"""',
        "'''\n[t]\n\n'''",
        "[\n 1, # ]\n 2,\n]",
        "{ a = 1 }",
        "5",
    ]
)


@given(
    st.lists(
        st.tuples(st.sampled_from(["", "\n", "# key0 = 3\n", "# [t]\n"]), VALUES),
        min_size=1,
        max_size=6,
    ),
    st.booleans(),
)
def test_lines_are_those_of_the_keys(entries, crlf):
    """Whatever stands between and in other values, a key's line is the one where it is written."""
    text, lines = "top = 1\n[t]\n", {}
    for k, (between, value) in enumerate(entries):
        text += between
        lines[f"key{k}"] = text.count("\n") + 1
        text += f"key{k} = {value}\n"
    table = parse_toml(text.replace("\n", "\r\n" if crlf else "\n").encode(), "f").table("t")
    assert {key: table.place(key).line for key in table.data} == lines and table.place().line == 2


def test_a_long_file_is_searched_in_no_time():
    """Thousands of lines before the key, most of them inside one value: read once for each of
    them, they take minutes."""
    text = "a = [\n" + "1,\n" * 20_000 + "]\n" + "# x\n" * 3_000 + "key = 1\n"
    started = time.process_time()
    assert parse_toml(text.encode(), "f").place("key").line == 23_003
    assert time.process_time() - started < 10


def test_provenance_and_proof(tmp_path):
    """The manifest holds the drives, the file's name and digest, and is enough to prove the
    folder."""
    options = (
        "--friction",
        "viscous,coulomb,offset",
        "--friction-width",
        "0.1",
        "--quantity",
        "inverse_dynamics",
    )
    for k, text in enumerate((FULL, FULL + "# another comment\n")):
        (tmp_path / str(k)).mkdir()
        path = actuators(tmp_path / str(k), text)
        done = invoke(
            "generate", PENDULUM, "-o", tmp_path / str(k) / "out", "--actuators", path, *options
        )
        assert done.exit_code == 0, done.output
    manifests = [json.loads((tmp_path / k / "out" / "manifest.json").read_text()) for k in "01"]
    first, second = (manifest["source"] for manifest in manifests)
    assert first["actuators"] == "drives.toml" and len(first["actuators_sha256"]) == 64
    assert (
        first["actuators_sha256"] != second["actuators_sha256"]
        and first["sha256"] == second["sha256"]
    )
    assert manifests[0]["options"]["actuators"] == "drives.toml" and str(
        tmp_path
    ) not in json.dumps(manifests)
    for name in ("pendulum.h", "pendulum.py"):
        assert (
            f"drives.toml: {first['actuators_sha256']}"
            in (tmp_path / "0" / "out" / name).read_text()
        )
    module, _ = read_manifest(tmp_path / "0" / "out")
    assert module.robot.model == load(PENDULUM, actuators=tmp_path / "0" / "drives.toml").model
    assert all(check.passed for check in verify(tmp_path / "0" / "out"))


def test_offset_and_smooth_friction_of_the_file_are_in_tau(tmp_path):
    from symgen.jobs.api import trace

    given = {"q": [0.0, 0.0], "qd": [0.3, 0.0], "qdd": [0.0, 0.0]}
    text = "[joints.shoulder]\nviscous = 0.5\ncoulomb = 0.25\noffset = -0.125"
    options = {"actuators": str(actuators(tmp_path, text)), "friction": "viscous,coulomb,offset"}
    plain = trace(PENDULUM, "inverse_dynamics").run(**given)["tau"]
    for width, step in ((0.0, 1.0), (0.2, np.tanh(1.5))):
        found = trace(PENDULUM, "inverse_dynamics", friction_width=width, **options).run(**given)[
            "tau"
        ]
        assert float(found[0]) - float(plain[0]) == pytest.approx(
            0.15 + 0.25 * step - 0.125, rel=1e-12
        )
        assert float(found[1]) == float(plain[1])

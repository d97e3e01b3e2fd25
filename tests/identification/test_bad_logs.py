"""Bad logs, options and priors: one sentence each."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

import symgen
from benchmarks.simulated_logs import Motion
from symgen.jobs.job import Job
from symgen.mechanics.joint_listing import position_coordinates, velocity_coordinates
from tests.support.arm_logs import ARM, JOINT, but, good, lines, log, matrices, quick  # noqa: F401
from tests.support.tools import invoke


def refusal(*arguments):
    done = invoke("identify", ARM, *arguments)
    assert done.exit_code == 2 and done.stdout == "" and done.stderr.count("\n") == 1, done.output
    return done.stderr[:-1]


def scaled(begin, factor):
    return {name: x * factor if name.startswith(begin) else x for name, x in good().items()}


BAD = {
    "missing measurement": (
        but(f"tau_{JOINT}"),
        f"log.csv: error: the log has no column 'tau_{JOINT}'; name the columns with --column tau=PATTERN",
    ),
    "missing time": (
        but("t"),
        "has no column 't'; name the column of time with --column t=NAME",
    ),
    "some velocities": (but(f"qd_{JOINT}"), f"has no column 'qd_{JOINT}'"),
    "degrees": (scaled("q", 180 / np.pi), "the units are probably wrong: "),
    "degrees beside rad/s": (scaled("q_", 180 / np.pi), "is 57.3 times 'qd_"),
    "degrees per second": (
        scaled("qd_", 180 / np.pi),
        "degrees per second and positions in rad",
    ),
    "milliseconds": (
        scaled("t", 1000.0) | {k: x for k, x in good().items() if k != "t"},
        "time in milliseconds",
    ),
    "standing still": (scaled("q", 0.0), "the motion does not excite "),
    "moving slowly": (good(motion=Motion(frequency=2e-4)), "(condition number "),
    "too few": (
        {k: x[:9] for k, x in good().items()},
        "the log has too few rows (9): 7 rows are left for the estimate",
    ),
    "too few for derivatives": (
        {k: x[:25] for k, x in but("qd").items()},
        "are needed for derivatives), and",
    ),
    "absurd": (
        {k: x if k == "t" else np.full(len(x), 1e300) for k, x in good().items()},
        "the log has 0 usable rows: 400 rows with values that are too large to be measurements, such",
    ),
    "no rows": (
        {k: x[:0] for k, x in good().items()},
        "the log has 0 rows; at least 2 are needed",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_log_gets_one_sentence(tmp_path, name):
    columns, said = BAD[name]
    assert said in refusal(log(tmp_path, columns), "-o", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: [], "log.csv: error: the first line has no column names"),
        (
            lambda text: [text[0].replace(f"q_{JOINT}", "t", 1), *text[1:]],
            "has two columns called 't'",
        ),
    ],
)
def test_bad_lines_of_text(tmp_path, change, said):
    (tmp_path / "log.csv").write_text("\n".join(change(lines())) + "\n" * bool(change(lines())))
    assert said in refusal(tmp_path / "log.csv")


def test_bad_files(tmp_path):
    short = good() | {f"tau_{JOINT}": good()[f"tau_{JOINT}"][:-3]}
    assert f"'t' has 400 rows but 'tau_{JOINT}' has 397" in refusal(log(tmp_path, short, ".npz"))
    assert (
        "the log has an unknown format; give a file that ends in .csv, .tsv, .txt, .dat, .npz, .parquet"
        in refusal("log.xlsx")
    )
    assert "cannot be read (No such file or directory)" in refusal(tmp_path / "none.csv")
    (tmp_path / "nine.csv").write_text("t\n")
    assert refusal(tmp_path / "none.csv").endswith("; near names: 'nine.csv'")
    for suffix in (".npz", ".parquet"):
        (tmp_path / f"x{suffix}").write_text("nothing of that kind")
        assert f"x{suffix}: error: " in refusal(tmp_path / f"x{suffix}")


@pytest.mark.parametrize("kind", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_an_array_that_is_shorter_than_its_head_says(tmp_path, kind):
    np.savez(tmp_path / "whole.npz", **good())
    with (
        zipfile.ZipFile(tmp_path / "whole.npz") as whole,
        zipfile.ZipFile(tmp_path / "x.npz", "w", kind) as short,
    ):
        for name in whole.namelist():
            short.writestr(name, whole.read(name)[: -100 if name.startswith("q_") else None])
    assert "has 3100 bytes of numbers, but its header says 3200" in refusal(tmp_path / "x.npz")


def test_names_with_commas_stand_in_quotes(tmp_path):
    robot = tmp_path / "odd.urdf"
    robot.write_text(Path(ARM).read_text().replace(f'"{JOINT}"', '"a,b;é"'))
    odd = lines()
    quoted = odd[0].split(",")
    odd[0] = ", ".join(f'"{name}"' for name in quoted).replace(JOINT, "a,b;é")
    (tmp_path / "log.csv").write_text("\r".join(odd), encoding="utf-8", newline="")
    assert "the first line has no column names (" in refusal(tmp_path / "log.csv")
    (tmp_path / "log.csv").write_text("\n".join(odd), encoding="utf-8")
    done = invoke("identify", robot, tmp_path / "log.csv", "--json")
    assert done.exit_code == 0 and json.loads(done.stdout)["channels"][0]["name"] == "a,b;é"


def swinging(folder):
    """A robot whose second joint is a ball joint."""
    built = symgen.Builder("swinging").link("base").joint("hinge", "continuous", "base", "a")
    for link in ("a", "b"):
        built.link(link, 1.0, (0.1, 0.2, 0.3), (1, 0, 0, 2, 0, 2.5))
    symgen.Robot(built.joint("ball", "ball", "a", "b", (0, 0, 1))).write_urdf(folder / "s.urdf")
    return folder / "s.urdf"


@pytest.mark.parametrize(
    ("robot", "base", "joint"),
    [(lambda folder: ARM, "floating", "floating_base"), (swinging, "fixed", "ball")],
)
def test_a_quaternion_must_have_norm_one(robot, base, joint, tmp_path):
    rows, file = 200, robot(tmp_path)
    model = Job.of(file, base=base).load().model
    random, turn = np.random.default_rng(0), np.arange(rows) / rows
    columns = {f"q_{row.name}": random.normal(size=rows) for row in position_coordinates(model)} | {
        "t": turn
    }
    columns |= {
        f"{p}_{row.name}": random.normal(size=rows)
        for row in velocity_coordinates(model)
        for p in ("qd", "qdd", "tau")
    }
    for name, x in zip(
        ("qx", "qy", "qz", "qw"), (np.sin(turn), 0 * turn, 0 * turn, np.cos(turn)), strict=True
    ):
        columns[f"q_{joint}.{name}"] = x
    sound = invoke("identify", file, log(tmp_path, columns), "--base", base)
    assert sound.exit_code == 0, sound.output
    columns[f"q_{joint}.qw"][70] = 0.0
    done = invoke("identify", file, log(tmp_path, columns), "--base", base)
    said = f"log.csv:72: error: columns 'q_{joint}.qx' to 'q_{joint}.qw' are not a unit quaternion"
    assert done.exit_code == 2 and said in done.stderr, done.output


def test_a_damaged_stream(tmp_path):
    np.savez_compressed(tmp_path / "x.npz", **matrices(good()))
    data = bytearray((tmp_path / "x.npz").read_bytes())
    data[len(data) // 2 : len(data) // 2 + 200] = bytes(200)
    (tmp_path / "x.npz").write_bytes(data)
    assert "x.npz: error: cannot be read (" in refusal(tmp_path / "x.npz")


def test_a_matrix_of_more_coordinates_than_the_robot_has(tmp_path):
    wide = matrices(good())
    wide["q"] = np.hstack([wide["q"], wide["q"][:, :1]])
    np.savez(tmp_path / "x.npz", **wide)
    assert f"the log has 5 columns 'q', but 4 are needed: '{JOINT}'" in refusal(tmp_path / "x.npz")
    np.savez(tmp_path / "none.npz")
    assert "--rate; the log has no columns" in refusal(tmp_path / "none.npz")


def test_a_cutoff_that_no_log_is_long_enough_for(tmp_path):
    assert "are needed for derivatives), and" in refusal(
        log(tmp_path, but("qd")), "--cutoff", "1e-320"
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--sensor", "force"], "--sensor 'force': use torque, wrench:JOINT,JOINT or"),
        (["--sensor", "wrench:none"], "no moving joint is called 'none'"),
        (["--sensor", f"wrench:{JOINT}"], "has no column 'wrench_fx' (and 5 more)"),
        (
            ["--sensor", f"wrench:{JOINT}", "--friction", "viscous"],
            "a measured wrench does not depend on the friction of joints",
        ),
        (["--friction", "dry"], "use some of coulomb, viscous"),
        (["--validate", "nan"], "give a fraction of the log from 0 to 0.9"),
        (["--cutoff", "-1"], "give a frequency in Hz"),
        (["--prior-deviation", "1e-300", "--full"], "give a relative deviation"),
        (["--max-condition", "0.5"], "give a number above 1"),
        (["--gravity", "runtime"], "a log has constant gravity"),
        (["--prior", "none.json"], "cannot be read"),
    ],
)
def test_bad_options(tmp_path, options, said):
    assert said in refusal(log(tmp_path, good()), *options)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "the file has no table bodies"),
        ('{"bodies": {"none": {}}}', "no body is called 'none'"),
        ('{"bodies": {"BODY": {"m": 1}}}', "needs the ten numbers m, hx"),
        ("[", "cannot be read"),
        ("[" * 100_000, "cannot be read"),
        ('{"bodies": {"BODY": {"m": 1%s}}}' % ("0" * 400), "give a finite number"),
    ],
)
def test_bad_priors(tmp_path, text, said):
    (tmp_path / "prior.json").write_text(
        text.replace("BODY", Job.of(ARM).load().model.bodies[0].name)
    )
    assert said in refusal(log(tmp_path, good()), "--prior", tmp_path / "prior.json")


def test_units_that_are_meant_can_be_trusted(tmp_path):
    """A joint that turns beyond its range is taken as it is."""
    far = {k: x + 40.0 if k.startswith(f"q_{JOINT}") else x for k, x in good().items()}
    path = log(tmp_path, far)
    assert "units are probably wrong" in refusal(path)
    assert invoke("identify", ARM, path, "--trust-units").exit_code == 0

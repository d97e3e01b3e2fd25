"""The command ``symgen identify``: what it writes and prints, and one sentence for every bad
log."""

import json
import zipfile
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from tools import invoke, robot_file

from benchmarks.simulated_logs import Motion, Recipe, simulated, write
from symgen.jobs.job import Job
from symgen.mechanics.coupling import positions, velocities

ARM = robot_file("scara")
RECIPE = Recipe(duration=2.0, rate=200.0)


@cache
def good(**changes):
    job = Job.of(ARM)
    return simulated(job, job.load(), replace(RECIPE, **changes))


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Pictures are laid out but not drawn, which takes longest; one test draws one."""
    from symgen.identification import plots

    monkeypatch.setattr(
        plots,
        "png",
        lambda figure: repr([axis.get_title("left") for axis in figure.axes]).encode(),
    )
    return plots


def log(folder, columns, suffix=".csv"):
    path = folder / f"log{suffix}"
    write(path, columns)
    return path


def test_it_writes_what_it_prints_and_replaces_only_its_own(tmp_path):
    path, out = log(tmp_path, good()), tmp_path / "out"
    done = invoke("identify", ARM, path, "-o", out)
    assert done.exit_code == 0 and "condition number of the regressor" in done.stdout
    before = {p.name: p.read_bytes() for p in out.iterdir()}
    assert sorted(before) == [
        "identification.json",
        "measured.png",
        "parameters.png",
        "residuals.png",
    ]
    assert invoke("identify", ARM, path, "-o", out).exit_code == 0
    assert {p.name: p.read_bytes() for p in out.iterdir()} == before, (
        "the same log gives the same bytes"
    )
    stored = json.loads((tmp_path / "out" / "identification.json").read_text())
    printed = json.loads(invoke("identify", ARM, path, "--json").stdout)
    assert (
        set(stored.pop("files")) == {"measured.png", "parameters.png", "residuals.png"}
        and stored == printed
    )
    names = [row["name"] for row in printed["channels"]]
    assert names == list(Job.of(ARM).load().model.joint_names) and printed["bodies"] is None
    for name, row in printed["parameters"].items():
        assert abs(row["estimate"] - row["prior"]) < 5 * row["standard_error"], name
    r = np.array(printed["factor"])
    errors = np.sqrt(np.diag(np.linalg.inv(r.T @ r)))
    assert np.allclose(
        errors, [row["naive_error"] for row in printed["parameters"].values()], rtol=1e-6
    )
    (out / "identification.json").write_text("mine")
    refused = invoke("identify", ARM, path, "-o", out)
    assert refused.exit_code == 2 and "is not from symgen" in refused.stderr
    assert (out / "identification.json").read_text() == "mine"


def test_standard_parameters_serve_as_the_next_prior(tmp_path):
    path = log(tmp_path, good())
    done = invoke("identify", ARM, path, "--full", "--json")
    assert done.exit_code == 0
    (tmp_path / "prior.json").write_text(done.stdout)
    again = json.loads(
        invoke("identify", ARM, path, "--full", "--prior", tmp_path / "prior.json", "--json").stdout
    )
    first = json.loads(done.stdout)
    for name, row in again["parameters"].items():
        assert row["prior"] == pytest.approx(
            first["parameters"][name]["estimate"], rel=1e-9, abs=1e-12
        )


def test_a_job_file_gives_the_robot_and_its_options(tmp_path):
    path = log(tmp_path, good())
    (tmp_path / "job.toml").write_text(f'file = {json.dumps(ARM)}\nfriction = "viscous"\n')
    by_job, by_hand = (
        invoke("identify", *arguments, "--json")
        for arguments in ((tmp_path / "job.toml", path), (ARM, path, "--friction", "viscous"))
    )
    assert by_job.exit_code == 0 and by_job.stdout == by_hand.stdout and "viscous" in by_job.stdout


def test_a_log_without_velocities_and_one_with_matrices(tmp_path):
    columns, names = good(), Job.of(ARM).load().model.joint_names
    bare = {name: x for name, x in columns.items() if not name.startswith("qd")}
    done = json.loads(
        invoke("identify", ARM, log(tmp_path, bare), "--cutoff", "15", "--json").stdout
    )
    assert done["window"] % 2 == 1 and done["window"] > 7
    matrices = {
        p: np.stack([columns[f"{p}_{name}"] for name in names], 1)
        for p in ("q", "qd", "qdd", "tau")
    }
    np.savez(tmp_path / "m.npz", t=columns["t"], **matrices)
    one, other = (
        invoke("identify", ARM, p, "--json").stdout
        for p in (tmp_path / "m.npz", log(tmp_path, columns))
    )
    assert json.loads(one)["parameters"] == json.loads(other)["parameters"]


def test_a_picture_is_the_same_bytes_every_time(tmp_path, monkeypatch):
    from symgen.identification import plots
    from symgen.identification.run import identify
    from symgen.identification.settings import Settings

    monkeypatch.undo()
    job = Job.of(ARM)
    found = identify(job, job.load(), str(log(tmp_path, good())), Settings())
    one, other = (plots.png(plots.parameters(found.estimate)) for _ in range(2))
    assert one == other and one.startswith(b"\x89PNG")
    page = found._repr_html_()  # what a notebook shows is what the command prints
    assert "std error" in page and "<pre>" in page and "\x1b" not in page


# -- bad logs --------------------------------------------------------------------------------------


def refusal(*arguments):
    done = invoke("identify", ARM, *arguments)
    assert done.exit_code == 2 and done.stdout == "" and done.stderr.count("\n") == 1, done.output
    return done.stderr[:-1]


def changed(**changes):
    return {**good(), **{name: change(good()[name].copy()) for name, change in changes.items()}}


def but(*names):
    return {name: x for name, x in good().items() if not name.startswith(names)}


def put(row, value):
    def change(x):
        x[row] = value
        return x

    return change


def scaled(begin, factor):
    return {name: x * factor if name.startswith(begin) else x for name, x in good().items()}


JOINT = Job.of(ARM).load().model.joint_names[0]

BAD = {
    "missing measurement": (
        but(f"tau_{JOINT}"),
        f"log.csv: error: has no column 'tau_{JOINT}'; name them with --column tau=PATTERN",
    ),
    "missing time": (
        but("t"),
        "has no column 't'; time is always needed: name it with --column t=NAME",
    ),
    "some velocities": (but(f"qd_{JOINT}"), f"has no column 'qd_{JOINT}'"),
    "degrees": (scaled("q", 180 / np.pi), "wrong units suspected: "),
    "degrees beside rad/s": (scaled("q_", 180 / np.pi), "57.3 times as fast as "),
    "degrees per second": (
        scaled("qd_", 180 / np.pi),
        "degrees per second beside positions in rad",
    ),
    "milliseconds": (
        scaled("t", 1000.0) | {k: x for k, x in good().items() if k != "t"},
        "time in milliseconds",
    ),
    "standing still": (scaled("q", 0.0), "the motion does not excite "),
    "moving slowly": (good(motion=Motion(frequency=2e-4)), "(condition number "),
    "too few": (
        {k: x[:9] for k, x in good().items()},
        "has 9 rows, too few: 7 rows are left for the estimate",
    ),
    "too few for derivatives": (
        {k: x[:25] for k, x in but("qd").items()},
        "go to derivatives), and",
    ),
    "absurd": (
        {k: x if k == "t" else np.full(len(x), 1e300) for k, x in good().items()},
        "has 0 rows that can be used: 400 have a number such as 1e+300, which nobody measures",
    ),
    "no rows": (
        {k: x[:0] for k, x in good().items()},
        "has 0 rows; there is nothing to identify from",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_log_gets_one_sentence(tmp_path, name):
    columns, said = BAD[name]
    assert said in refusal(log(tmp_path, columns), "-o", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def lines():
    rows = zip(*(x.tolist() for x in good().values()), strict=True)
    return [",".join(good()), *(",".join(map(repr, row)) for row in rows)]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: [], "log.csv: error: does not begin with a line of column names"),
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
    assert "a log ends in .csv, .tsv, .txt, .dat, .npz, .parquet" in refusal("log.xlsx")
    assert "cannot be read (No such file or directory)" in refusal(tmp_path / "none.csv")
    for suffix in (".npz", ".parquet"):
        (tmp_path / f"x{suffix}").write_text("nothing of that kind")
        assert f"x{suffix}: error: " in refusal(tmp_path / f"x{suffix}")


def matrices(columns):
    names = Job.of(ARM).load().model.joint_names
    return {"t": columns["t"]} | {
        p: np.stack([columns[f"{p}_{name}"] for name in names], 1)
        for p in ("q", "qd", "qdd", "tau")
    }


@pytest.mark.parametrize("kind", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_an_array_that_is_shorter_than_its_head_says(tmp_path, kind):
    np.savez(tmp_path / "whole.npz", **good())
    with (
        zipfile.ZipFile(tmp_path / "whole.npz") as whole,
        zipfile.ZipFile(tmp_path / "x.npz", "w", kind) as short,
    ):
        for name in whole.namelist():
            short.writestr(name, whole.read(name)[: -100 if name.startswith("q_") else None])
    assert "has 3100 bytes of numbers where its head says 3200" in refusal(tmp_path / "x.npz")


def test_names_with_commas_stand_in_quotes(tmp_path):
    robot = tmp_path / "odd.urdf"
    robot.write_text(Path(ARM).read_text().replace(f'"{JOINT}"', '"a,b;é"'))
    odd = lines()
    quoted = odd[0].split(",")
    odd[0] = ", ".join(f'"{name}"' for name in quoted).replace(JOINT, "a,b;é")
    (tmp_path / "log.csv").write_text("\r".join(odd), encoding="utf-8", newline="")
    assert "does not begin with a line of column names (" in refusal(tmp_path / "log.csv")
    (tmp_path / "log.csv").write_text("\n".join(odd), encoding="utf-8")
    done = invoke("identify", robot, tmp_path / "log.csv", "--json")
    assert done.exit_code == 0 and json.loads(done.stdout)["channels"][0]["name"] == "a,b;é"


def test_a_quaternion_must_have_norm_one(tmp_path):
    rows = 200
    model = Job.of(ARM, base="floating").load().model
    random, turn = np.random.default_rng(0), np.arange(rows) / rows
    columns = {f"q_{row.name}": random.normal(size=rows) for row in positions(model)} | {"t": turn}
    columns |= {
        f"{p}_{row.name}": random.normal(size=rows)
        for row in velocities(model)
        for p in ("qd", "qdd", "tau")
    }
    for name, x in zip(
        ("qx", "qy", "qz", "qw"), (np.sin(turn), 0 * turn, 0 * turn, np.cos(turn)), strict=True
    ):
        columns[f"q_floating_base.{name}"] = x
    arguments = ("--base", "floating")
    assert invoke("identify", ARM, log(tmp_path, columns), *arguments).exit_code == 0
    columns["q_floating_base.qw"][70] = 0.0
    said = refusal(log(tmp_path, columns), *arguments)
    assert (
        "log.csv:72: error: columns 'q_floating_base.qx' to 'q_floating_base.qw' are no unit "
        "quaternion" in said
    )


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
    assert f"'q' has 5 columns where 4 are wanted: '{JOINT}'" in refusal(tmp_path / "x.npz")
    np.savez(tmp_path / "none.npz")
    assert "--rate; it has no columns" in refusal(tmp_path / "none.npz")


def test_a_cutoff_that_no_log_is_long_enough_for(tmp_path):
    assert "go to derivatives), and" in refusal(log(tmp_path, but("qd")), "--cutoff", "1e-320")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--sensor", "force"], "--sensor 'force': use torque, wrench:JOINT,JOINT or both"),
        (["--sensor", "wrench:none"], "no moving joint is called 'none'"),
        (["--sensor", f"wrench:{JOINT}"], "has no column 'wrench_fx' (and 5 more)"),
        (
            ["--sensor", f"wrench:{JOINT}", "--friction", "viscous"],
            "a wrench does not feel the friction of joints",
        ),
        (["--sensor", f"wrench:{JOINT}", "--method", "energy"], "a wrench needs accelerations"),
        (["--method", "guess"], "use one of acceleration, momentum, energy"),
        (["--engine", "mpi"], "use one of serial, dask"),
        (["--friction", "dry"], "use some of viscous, coulomb, offset"),
        (["--validate", "nan"], "give a part of the log from 0 to 0.9"),
        (["--cutoff", "-1"], "give a frequency in Hz"),
        (["--prior-deviation", "1e-300", "--full"], "give a relative deviation"),
        (["--method", "energy", "--interval", "1e6"], "has 400 rows, too few"),
        (["--max-condition", "0.5"], "give a number above 1"),
        (["--gravity", "runtime"], "a log was made under one gravity"),
        (["--prior", "none.json"], "cannot be read"),
    ],
)
def test_bad_options(tmp_path, options, said):
    assert said in refusal(log(tmp_path, good()), *options)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "has no table of bodies"),
        ('{"bodies": {"none": {}}}', "no body is called 'none'"),
        ('{"bodies": {"BODY": {"m": 1}}}', "needs the ten numbers m, hx"),
        ("[", "cannot be read"),
        ("[" * 100_000, "cannot be read"),
        ('{"bodies": {"BODY": {"m": 1%s}}}' % ("0" * 400), "needs the ten numbers"),
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
    assert "wrong units suspected" in refusal(path)
    assert invoke("identify", ARM, path, "--trust-units").exit_code == 0


# -- rows that are left out ------------------------------------------------------------------------


def torn(line, change):
    """The lines of a good log with one of them changed."""
    text = lines()
    return [*text[:line], *change(text[line]), *text[line + 1 :]]


LEFT_OUT = {
    "NaN": (changed(**{f"q_{JOINT}": put(70, np.nan)}), "1 are empty", "log.csv:72"),
    "infinity": (changed(**{f"q_{JOINT}": put(7, np.inf)}), "1 are empty, infinite", "log.csv:9"),
    "beyond measure": (
        changed(**{f"q_{JOINT}": put(7, 1e300)}),
        "1 have a number such as 1e+300, which nobody measures",
        "log.csv:9",
    ),
    "time back": (
        changed(t=lambda t: t[[*range(50), 45, *range(51, len(t))]]),
        "1 come earlier than the row before",
        "log.csv:52",
    ),
    "double": (
        {k: np.insert(x, 60, x[60]) for k, x in good().items()},
        "1 have the time of the row before",
        "log.csv:63",
    ),
    "gap": (
        {k: np.delete(x, slice(90, 99)) for k, x in but("qdd").items()},
        "36 at the ends of 2 stretches",
        "the longest gap 0.05 s",
    ),
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_rows_that_cannot_be_used_are_left_out_and_counted(tmp_path, name):
    columns, reason, place = LEFT_OUT[name]
    done = invoke("identify", ARM, log(tmp_path, columns), "--json")
    assert done.exit_code == 0, done.output
    assert reason in done.stderr and place in done.stderr
    for parameter, row in json.loads(done.stdout)["parameters"].items():
        assert abs(row["estimate"] - row["prior"]) < 5 * row["standard_error"], parameter


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda line: [line.replace(line.split(",")[2], "abc", 1)], "1 are empty, infinite or no"),
        (
            lambda line: [line.replace(line.split(",")[2], "\udcff", 1)],
            "1 are empty, infinite or no",
        ),
        (lambda line: [line.rpartition(",")[0]], "have 16 values where 17 are named, the first in"),
        (lambda line: ["\udcb1" + line.rpartition(",")[0]], "have 16 values where 17 are named"),
        (lambda line: [""], "1 are empty"),
    ],
)
def test_lines_that_are_torn_are_left_out_and_counted(tmp_path, change, reason):
    text = "\n".join(torn(50, change)) + "\n"
    (tmp_path / "log.csv").write_bytes(text.encode("utf-8", "surrogateescape"))
    done = invoke("identify", ARM, tmp_path / "log.csv")
    assert done.exit_code == 0 and "399 of 400 rows are used" in done.stderr, done.output
    assert reason in done.stderr and ("51" in done.stderr)


def test_a_measurement_that_is_missing_leaves_the_other_channels_theirs(tmp_path):
    columns = changed(**{f"tau_{JOINT}": put(slice(40, 60), np.nan)})
    done = invoke("identify", ARM, log(tmp_path, columns), "--json")
    assert done.exit_code == 0
    for parameter, row in json.loads(done.stdout)["parameters"].items():
        assert abs(row["estimate"] - row["prior"]) < 5 * row["standard_error"], parameter

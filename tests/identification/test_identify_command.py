"""The command ``symgen identify``: what it writes and prints."""

import json

import numpy as np
import pytest

from symgen.identification.report.identification_report import report
from symgen.jobs.job import Job
from tests.support.arm_logs import ARM, good, log, quick  # noqa: F401
from tests.support.tools import invoke


def test_it_writes_what_it_prints_and_replaces_only_its_own(tmp_path):
    path, out = log(tmp_path, good()), tmp_path / "out"
    done = invoke("identify", ARM, path, "-o", out)
    assert done.exit_code == 0 and "condition number of the regressor" in done.stdout
    before = {p.name: p.read_bytes() for p in out.iterdir()}
    assert sorted(before) == [
        "identification.json",
        "measured.png",
        "model.toml",
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
        set(stored.pop("files"))
        == {"measured.png", "model.toml", "parameters.png", "residuals.png"}
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
    assert refused.exit_code == 2 and "was not written by symgen" in refused.stderr
    assert (out / "identification.json").read_text() == "mine"


def test_pictures_of_another_kind_take_the_place_of_those_before(tmp_path):
    path, out = log(tmp_path, good()), tmp_path / "out"
    assert invoke("identify", ARM, path, "-o", out).exit_code == 0
    assert invoke("identify", ARM, path, "-o", out, "--pictures", "svg").exit_code == 0
    names = {"measured.svg", "parameters.svg", "residuals.svg", "identification.json", "model.toml"}
    assert {p.name for p in out.iterdir()} == names


def test_standard_parameters_serve_as_the_next_prior(tmp_path):
    path = log(tmp_path, good())
    command = ("identify", ARM, path, "--full", "--friction", "none", "--json")
    done = invoke(*command)
    assert done.exit_code == 0
    (tmp_path / "prior.json").write_text(done.stdout)
    again = json.loads(invoke(*command, "--prior", tmp_path / "prior.json").stdout)
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
    from symgen.identification.estimation.run import identify
    from symgen.identification.model.settings import Settings
    from symgen.identification.report import plots

    monkeypatch.undo()
    job = Job.of(ARM)
    found = identify(job, job.load(), str(log(tmp_path, good())), Settings())
    groups = plots._groups
    for kind, begin in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")):
        if kind != "png":  # the layout of many panels, which takes longest, is one for all kinds
            monkeypatch.setattr(
                plots, "_groups", lambda estimate: dict([*groups(estimate).items()][:1])
            )
        one, other = (plots.encoded(plots.parameters(found.estimate), kind) for _ in range(2))
        assert one.startswith(begin) and one == other, kind
    page = report(found).html()  # what a notebook shows is what the command prints
    assert "std error" in page and "condition number" in page

"""What speaks against an estimate is said first, and what is refused is not written."""

import contextlib
import json
import re
import shlex
import tomllib
from types import SimpleNamespace

import numpy as np
import pytest

from symgen.identification.report.verdicts import of_bodies
from tests.support.term_logs import FILE, log
from tests.support.tools import ROOT, invoke, robot_file


def friction(q, qd, qdd, load):
    return 6.0 * np.sign(qd) + 3.0 * qd


def test_forgotten_friction_is_seen_and_refuses_the_urdf(tmp_path):
    *_, path = log(tmp_path, lambda *motion: 8 * friction(*motion))
    out = tmp_path / "x.urdf"
    done = invoke("identify", FILE, path, "--urdf", out, "--friction", "none")
    assert done.exit_code == 1 and not out.exists()
    assert "as friction does" in done.stderr.splitlines()[0]
    assert "use --friction auto" in done.stderr and "--force" in done.stderr
    cured = invoke("identify", FILE, path, "--urdf", out, "--friction", "viscous,coulomb")
    assert cured.exit_code == 0 and out.exists() and "friction does" not in cured.stderr


def test_force_writes_it_all_the_same(tmp_path):
    *_, path = log(tmp_path, friction)
    out = tmp_path / "x.urdf"
    assert (
        invoke("identify", FILE, path, "--urdf", out, "--force", "--friction", "none").exit_code
        == 0
    )
    assert out.exists()


def test_what_is_not_explained_is_refused(tmp_path):
    """A torque that no term describes, far above the noise."""
    *_, path = log(tmp_path, lambda q, qd, qdd, load: 30 * np.sin(9 * q))
    done = invoke("identify", FILE, path, "--json", "--friction", "viscous,coulomb")
    said = json.loads(done.stdout)
    assert said["refused"] and any("does not explain" in text for text in said["warnings"])


def test_what_is_explained_in_part_is_written_with_a_warning(tmp_path):
    """As joint 1 of a Rokae and five joints of a master arm in ../shared/logs3."""
    *_, path = log(tmp_path, lambda q, qd, qdd, load: 3 * np.sin(9 * q))
    urdf, asked = tmp_path / "x.urdf", ["--friction", "viscous,coulomb", "--urdf"]
    done = invoke("identify", FILE, path, *asked, urdf)
    assert done.exit_code == 0 and urdf.exists(), done.output
    assert "only in part" in done.stderr
    assert done.stdout.startswith("The estimate is usable with a restriction: the model explains '")


def test_validation_on_another_log_refuses(tmp_path):
    (tmp_path / "other").mkdir()
    *_, path = log(tmp_path, friction)
    *_, other = log(tmp_path / "other", lambda q, qd, qdd, load: 30 * np.sin(9 * q))
    command = ["identify", FILE, path, "--friction", "viscous,coulomb"]
    assert "does not explain" not in invoke(*command).stderr
    done = invoke(*command, "--validation", other, "--urdf", tmp_path / "x.urdf")
    assert done.exit_code == 1 and "rows of the second log" in done.stderr
    verdict = done.stdout.splitlines()[0]
    assert verdict.startswith("The estimate is not usable: the model does not explain '")
    assert verdict.endswith("'.") and len(verdict) < 300, "reasons without details"


@pytest.mark.parametrize("noise", [0.01, 0.2])
def test_a_good_log_has_nothing_against_it(tmp_path, noise):
    *_, path = log(tmp_path, friction, noise=noise)
    said = json.loads(invoke("identify", FILE, path, "--json", "--friction", "auto").stdout)
    assert said["warnings"] == [] and said["refused"] is False


def test_drives_are_written_as_a_file_that_generate_takes(tmp_path):
    """The URDF and the actuators together predict the log as the estimate does."""
    *_, path = log(tmp_path, friction)
    urdf, toml = tmp_path / "x.urdf", tmp_path / "x.toml"
    asked = ["--friction", "viscous,coulomb,offset", "--urdf", urdf, "--actuators-out", toml]
    done = invoke("identify", FILE, path, *asked)
    assert done.exit_code == 0, done.output
    assert (
        "--friction viscous,coulomb,offset" in done.stdout
        and "to generate code for the estimate: symgen generate" in done.stdout
    )
    said = json.loads(invoke("predict", urdf, path, "--actuators", toml, "--json").stdout)
    assert all(c["moving"]["relative"] < 0.0115 for c in said["channels"])
    again = invoke("identify", FILE, path, *asked)
    assert again.exit_code == 0, "its own file may be replaced"
    generated = invoke(
        "generate", urdf, "--actuators", toml, "--friction", "viscous,coulomb,offset",
        "-o", tmp_path / "code",
    )  # fmt: skip
    assert generated.exit_code == 0, generated.output


def test_every_law_is_written_to_the_actuator_file(tmp_path):
    *_, path = log(tmp_path, lambda q, qd, qdd, load: (1 + 0.2 * np.abs(load)) * np.sign(qd))
    toml = tmp_path / "x.toml"
    asked = ["--friction", "viscous,coulomb,load", "--actuators-out", toml]
    done = invoke("identify", FILE, path, *asked)
    assert done.exit_code == 0 and "--friction viscous,coulomb,load" in done.stdout
    assert tomllib.loads(toml.read_text())["joints"]["elbow"]["load"] == pytest.approx(
        0.2, abs=0.02
    )


def test_a_page_that_needs_nothing_else(tmp_path, monkeypatch):
    """Pictures are in it, the same log gives the same bytes. They are drawn in
    test_identify_command.py, with the same bytes every time."""
    monkeypatch.setattr("symgen.identification.report.plots.encoded", lambda figure, kind: b"drawn")
    *_, path = log(tmp_path, friction)
    page = tmp_path / "x.html"
    command = ["identify", FILE, path, "--friction", "auto", "--html", page]
    assert invoke(*command).exit_code == 0
    first = page.read_bytes()
    assert invoke(*command).exit_code == 0 and page.read_bytes() == first
    text = first.decode()
    assert text.count("data:image/png;base64,") == 3 and 'name="viewport"' in text
    assert "http" not in text and "<script" not in text and "The estimate is usable" in text
    page.write_text("mine")
    done = invoke(*command)
    assert done.exit_code == 2 and "was not written by symgen identify" in done.stderr


LOG = "shared/logs/panda/motion_14s.csv"
PANDA = next((p / LOG for p in ROOT.parents if (p / LOG).exists()), None)


def test_implausible_masses_withhold_the_urdf_and_not_the_friction(tmp_path, monkeypatch):
    """The printed command generates the robot of the file with the identified friction."""
    monkeypatch.setattr("symgen.identification.report.verdicts.MAX_MASS_RATIO", 1.0)
    *_, path = log(tmp_path, friction)
    urdf, toml = tmp_path / "x.urdf", tmp_path / "x.toml"
    asked = ["--friction", "viscous,coulomb", "--friction-width", "0.05", "--urdf", urdf]
    done = invoke("identify", FILE, path, *asked, "--actuators-out", toml)
    assert done.exit_code == 1 and not urdf.exists()
    assert "estimated mass of" in done.stderr and "all joints move more" in done.stderr
    assert f"{urdf} was not written" in done.stderr and str(toml) not in done.stderr
    assert f"wrote {toml}" in done.stdout and f"the inertias of {FILE}" in done.stdout
    assert tomllib.loads(toml.read_text())["joints"]["elbow"]["viscous"] == pytest.approx(
        3, rel=0.1
    )
    again = done.stdout.partition("for the estimate: ")[2].splitlines()[0]
    with contextlib.chdir(tmp_path):
        assert invoke(*shlex.split(again)[1:]).exit_code == 0


@pytest.mark.skipif(PANDA is None, reason="../shared/logs is not there")
def test_a_urdf_is_written_for_a_log_of_a_panda(tmp_path):
    """Its bodies predict the log, at a third of its rate, almost as well as the estimate."""
    head, *rows = PANDA.read_text().splitlines(keepends=True)
    path = tmp_path / "log.csv"
    path.write_text("".join([head, *rows[::3]]))
    done = invoke("identify", robot_file("panda_arm"), path, "--urdf", tmp_path / "x.urdf")
    assert done.exit_code == 0 and (tmp_path / "x.urdf").exists(), done.stderr
    loss = re.search(r"residual of the log is ([\d.e-]+) % larger", done.stdout)
    assert loss and float(loss[1]) <= 0.5


@pytest.mark.parametrize("more", [[], ["--full"], ["--force"]])
def test_an_estimate_without_bodies_is_reported_and_its_friction_written(
    tmp_path, monkeypatch, more
):
    """As with the log of a Panda in ../shared/logs; no option can write a URDF without bodies."""
    monkeypatch.setattr(
        "symgen.identification.consistency.nearest_bodies.ConicProgramme.nearest", lambda *_: None
    )
    monkeypatch.setattr("symgen.identification.report.plots.encoded", lambda figure, kind: b"")
    *_, path = log(tmp_path, friction)
    urdf, toml, out = tmp_path / "x.urdf", tmp_path / "x.toml", tmp_path / "o"
    asked = ["--friction", "viscous,coulomb", "--urdf", urdf, "--actuators-out", toml, "-o", out]
    done = invoke("identify", FILE, path, *asked, *more)
    assert done.exit_code == 1 and not urdf.exists(), done.output
    assert "no physically consistent bodies have base parameters near the estimate" in done.stderr
    assert "all joints move more" in done.stderr and "--force" not in done.stderr
    assert "viscous elbow" in done.stdout and toml.exists()
    said = json.loads((out / "identification.json").read_text())
    assert said["refused"] and said["shape"] is None


def against(prior):
    """What is said against 5 kg of a link that has `prior` (kg) in the robot's file."""
    link = SimpleNamespace(name="a", parameters=(prior, *(0.0,) * 9))
    mapping = SimpleNamespace(model=SimpleNamespace(moving=(SimpleNamespace(links=(link,)),)))
    bodies = SimpleNamespace(links={"a": (5.0, *(0.0,) * 9)})
    return [verdict.text for verdict in of_bodies(mapping, bodies)]


@pytest.mark.parametrize("prior", [-1.0, 0.0, 3.0])
def test_a_mass_near_its_prior_or_without_one_has_nothing_against_it(prior):
    assert against(prior) == []


def test_a_mass_that_no_prior_means_names_what_is_left_to_try():
    (plain,) = against(1.0)
    assert plain.startswith(
        "the estimated mass of link 'a' is 5 kg, but in the robot file it is 1 kg"
    )
    assert plain.endswith("use a log in which all joints move more")

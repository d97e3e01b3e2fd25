"""Bodies of base parameters: consistent, exact and nearest; payloads; URDF files of which only
inertias change."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from tools import robot_file

from benchmarks.simulated_logs import Recipe, Sensors, simulated, write
from symgen.cli.main import main
from symgen.errors import OptionError
from symgen.identification.bodies import bodies, free_links
from symgen.identification.estimate import Estimate
from symgen.identification.inertials import with_inertials
from symgen.identification.methods import standard_parameters, torque_mapping
from symgen.identification.payload import payload
from symgen.identification.programme import LEAST, Programme
from symgen.identification.pseudo import linear, packed, pseudo, seen, ten_of, unpacked
from symgen.identification.shaping import MARK, shape
from symgen.jobs.job import Job
from symgen.mechanics.parameters import lumped
from symgen.reading.urdf import parse

ARM, PANDA = robot_file("ur5"), robot_file("panda_arm")
M, C, TENSOR = 1.5, np.array([0.02, -0.03, 0.08]), np.diag([0.004, 0.005, 0.003])
LOAD = ten_of(
    np.block(
        [
            [np.trace(TENSOR) / 2 * np.eye(3) - TENSOR + M * np.outer(C, C), M * C[:, None]],
            [M * C[None], np.array([[M]])],
        ]
    )
)
TWO = """<robot name="two"><link name="base"/>
<link name="arm">{a}</link><link name="tool">{b}</link>
<joint name="turn" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
 <limit lower="-2" upper="2" effort="20" velocity="4"/></joint>
<joint name="weld" type="fixed"><parent link="arm"/><child link="tool"/><origin xyz="0.3 0 0" rpy="0 0.4 1"/></joint>
</robot>
"""
INERTIA = (
    '<inertial><origin xyz="{x} 0 0.05"/><mass value="{m}"/>'
    '<inertia ixx="0.02" ixy="0" ixz="0.001" iyy="0.03" iyz="0" izz="0.025"/></inertial>'
)


@cache
def robot(file):
    job = Job.of(file)
    loaded = job.load()
    return job, loaded, torque_mapping(loaded.model)


def estimate(file, base, spread=1e-3):
    """An estimate with these base parameters and equal standard errors relative to their size."""
    mapping = robot(file)[2]
    factor = np.diag(1 / (spread * (np.abs(base) + 0.01)))
    return Estimate(mapping, (), np.asarray(base), factor, (), 1.0, 1.0, np.zeros(0))


def shaken(file, size, seed=0):
    """Consistent standard parameters away from the prior: every X = exp of a random symmetric
    matrix."""
    _, loaded, mapping = robot(file)
    programme = Programme(tuple(free_links(loaded.model, mapping)), mapping)
    random, xs = np.random.default_rng(seed), []
    for _ in programme.links:
        half = random.normal(size=(4, 4)) * size
        values, axes = np.linalg.eigh(half + half.T)
        xs.append(packed((axes * np.exp(values)) @ axes.T))
    return programme, np.concatenate(xs)


def definite(found, loaded):
    return min(np.linalg.eigvalsh(pseudo(ten)).min() for ten in found.links.values()) > 0


# -- pseudo-inertias -------------------------------------------------------------------------------


def test_ten_numbers_and_matrices_are_each_others():
    ten = np.random.default_rng(0).normal(size=10)
    np.testing.assert_allclose(ten_of(pseudo(ten)), ten, rtol=1e-14, atol=1e-14)
    p = pseudo(ten)
    assert np.sum(packed(p) ** 2) == pytest.approx(np.sum(p**2))
    np.testing.assert_allclose(unpacked(packed(p)), p, rtol=1e-14)
    t = np.random.default_rng(1).normal(size=(4, 4))
    np.testing.assert_allclose(linear(t) @ packed(p), ten_of(t @ p @ t.T), rtol=1e-12)


def test_links_seen_from_their_body_add_up_to_what_lumping_finds():
    model = Job.of(PANDA).load().model
    body = Job.of(robot_file("fixed_mid_rotated")).load().model.moving[0]
    whole = lumped(replace(model, bodies=(body,)), [body.name]).bodies[0].links[0].parameters
    total = sum(
        seen(link.pose) @ np.array(link.parameters) for link in body.links if link.parameters
    )
    np.testing.assert_allclose(total, whole, rtol=1e-12, atol=1e-12)


# -- bodies ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", [ARM, robot_file("scara")])
@pytest.mark.parametrize("seed", [0, 1])
def test_bodies_have_the_base_parameters_and_are_nearer_than_the_truth(file, seed):
    programme, truth = shaken(file, 0.15, seed)
    base = programme.mapping.base(programme.standard(truth))
    found = bodies(robot(file)[1].model, estimate(file, base))
    assert found.consistent and found.misfit == 0
    np.testing.assert_allclose(found.base, base, rtol=0, atol=1e-12 * np.abs(base).max() + 1e-12)
    assert definite(found, robot(file)[1])
    assert found.distance < np.linalg.norm(truth - programme.start)


def test_no_step_that_keeps_the_base_parameters_leads_nearer_to_the_prior():
    programme, truth = shaken(ARM, 0.03)
    base = programme.mapping.base(programme.standard(truth))
    x = programme.nearest(base)
    assert (
        min(np.linalg.eigvalsh(unpacked(own))[0] for own in x.reshape(-1, 10)) > 2 * LEAST
    )  # inside the cone
    away = x - programme.start
    inside_rows = programme.matrix.T @ np.linalg.lstsq(programme.matrix.T, away, rcond=None)[0]
    np.testing.assert_allclose(inside_rows, away, atol=1e-6 * np.linalg.norm(away))


def test_the_prior_is_its_own_nearest_body():
    _, loaded, mapping = robot(ARM)
    found = bodies(loaded.model, estimate(ARM, mapping.base(mapping.prior)))
    assert found.distance < 1e-6
    np.testing.assert_allclose(found.standard, mapping.prior, atol=1e-8)


def test_where_no_body_has_the_parameters_the_nearest_possible_ones_come_first():
    _, loaded, mapping = robot(ARM)
    wrong = mapping.prior.copy()
    wrong[55] = wrong[54] + wrong[57] + wrong[59]  # a product of inertia larger than any moment
    given = estimate(ARM, mapping.base(wrong))
    found = bodies(loaded.model, given)
    assert not found.consistent and definite(found, loaded)
    off = given.base_factor @ (found.base - given.base)
    assert found.misfit == pytest.approx(off @ off) and found.misfit > 1
    assert found.misfit < np.sum(
        (given.base_factor @ (mapping.base(mapping.prior) - given.base)) ** 2
    )
    halfway = mapping.base(
        found.standard + 0.05 * (mapping.prior - found.standard)
    )  # possible, as sums of possible
    assert found.misfit <= np.sum((given.base_factor @ (halfway - given.base)) ** 2) * (1 + 1e-6)


@pytest.fixture
def two(tmp_path):
    path = tmp_path / "two.urdf"
    path.write_text(TWO.format(a=INERTIA.format(x=0.1, m=2), b=INERTIA.format(x=0.05, m=1.5)))
    return str(path)


@pytest.mark.parametrize(("part", "changed"), [(1.1, {"arm"}), (0.2, {"arm", "tool"})])
def test_the_heaviest_link_changes_and_the_others_where_that_is_not_enough(two, part, changed):
    job, loaded, mapping = robot(two)
    found = shape(job, loaded, estimate(two, mapping.base(part * mapping.prior)), lambda step: None)
    assert set(found.bodies.links) == changed and found.bodies.consistent
    assert found.off < 1e-12


# -- payload ---------------------------------------------------------------------------------------


@cache
def loaded_panda():
    _, loaded, mapping = robot(PANDA)
    flange = next(link for link in loaded.model.moving[6].links if link.name == "flange")
    standard = mapping.prior.copy()
    standard[60:70] += seen(flange.pose) @ LOAD
    return loaded, mapping, standard


def test_a_payload_is_recovered_in_the_axes_of_its_link():
    loaded, mapping, standard = loaded_panda()
    found = payload(loaded.model, estimate(PANDA, mapping.base(standard)), "flange")
    np.testing.assert_allclose(found.ten, LOAD, atol=1e-8)
    np.testing.assert_allclose([found.mass, *found.centre], [M, *C], atol=1e-8)
    assert found.alone and found.freedom == len(mapping) - 10


def test_standard_errors_of_a_payload_are_those_of_many_logs():
    loaded, mapping, standard = loaded_panda()
    base, random = mapping.base(standard), np.random.default_rng(0)
    factor = estimate(PANDA, base).factor
    runs = [
        payload(
            loaded.model,
            estimate_of(base + random.normal(size=len(base)) / np.diag(factor), factor),
            "flange",
        )
        for _ in range(300)
    ]
    values = np.array([[run.mass, *run.centre] for run in runs])
    errors = np.array([runs[0].mass_error, *runs[0].centre_errors])
    np.testing.assert_allclose(values.std(axis=0), errors, rtol=0.2)
    assert (np.abs(values.mean(axis=0) - [M, *C]) < 4 * errors / np.sqrt(300)).all()
    assert np.mean([run.alone for run in runs]) > 0.97


def estimate_of(base, factor):
    return Estimate(robot(PANDA)[2], (), base, factor, (), 1.0, 1.0, np.zeros(0))


def test_a_change_of_another_link_is_noticed():
    loaded, mapping, standard = loaded_panda()
    other = standard.copy()
    other[20:30] *= 1.2
    assert not payload(loaded.model, estimate(PANDA, mapping.base(other)), "flange").alone


def test_what_a_robot_cannot_feel_has_infinite_errors(two):
    _, loaded, mapping = robot(two)
    found = payload(loaded.model, estimate(two, mapping.base(mapping.prior)), "tool")
    assert np.isinf(found.mass_error) and np.isinf(found.centre_errors).all()
    with pytest.raises(OptionError, match="no moving link is called 'base'"):
        payload(loaded.model, estimate(two, mapping.base(mapping.prior)), "base")


# -- files -----------------------------------------------------------------------------------------

STRANGE = """<?xml version="1.0"?>
<!-- <inertial> in a comment -->
<robot name='s' note="a > b">\t
  <link name="é" x='1>0'><!-- <inertial/> --><visual/>
    <inertial >  <origin/> <mass value='1'/>
      <inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial ><collision/></link>
  <link name="bare"/>
  <link name="empty"></link>
  <extension><link name="bare"><inertial/></link></extension>
</robot><!-- end -->
"""


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1", "crlf"])
def test_only_inertials_change_and_read_back_as_they_were_meant(codec):
    text = (
        STRANGE.replace('"1.0"', '"1.0" encoding="iso-8859-1"')
        if codec == "iso-8859-1"
        else STRANGE
    )
    data = text.replace("\n", "\r\n").encode() if codec == "crlf" else text.encode(codec)
    tens = {"é": LOAD, "bare": 2 * LOAD, "empty": 3 * LOAD}
    new = with_inertials(data, "s.urdf", tens)
    plain = new.decode("utf-8" if codec == "crlf" else codec).replace("\r\n", "\n")
    assert codec != "crlf" or b"\n" not in new.replace(b"\r\n", b"")
    kept = [line for line in text.splitlines() if "bare" not in line and "empty" not in line]
    assert [line for line in kept if line not in plain.splitlines()] == [
        line for line in kept if "<inertial >" in line or "<inertia ixx='1'" in line
    ]
    assert (
        "<visual/>" in plain
        and plain.count("</inertial>") == 3
        and plain.endswith("</robot><!-- end -->\n")
    )
    assert '<extension><link name="bare"><inertial/></link></extension>' in plain
    read = {link.name: link.inertial for link in parse_links(new)}
    for name, ten in tens.items():
        own = read[name]
        np.testing.assert_allclose(
            [own.mass, *own.origin.xyz], [ten[0], *ten[1:4] / ten[0]], rtol=1e-15
        )
        np.testing.assert_allclose(
            own.tensor, (ten[0] / M * TENSOR)[np.triu_indices(3)], atol=1e-15
        )


def parse_links(data):
    """The links as they are read; the file is no robot, for it has no joints."""
    joints = "".join(
        f'<joint name="{n}" type="fixed"><parent link="é"/><child link="{n}"/></joint>'
        for n in ("bare", "empty")
    )
    wide = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    codec = "utf-16" if wide else "iso-8859-1" if b"8859" in data[:60] else "utf-8-sig"
    text = (
        data.decode(codec)
        .replace("<extension>", joints + "<extension>")
        .replace('encoding="iso-8859-1"', "")
    )
    return parse(text.encode(), "s.urdf").links


def test_a_link_that_is_not_there_is_named():
    with pytest.raises(OptionError, match="has no link 'x'"):
        with_inertials(STRANGE.encode(), "s.urdf", {"x": LOAD})


# -- command ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """A log of a SCARA with a payload on its tool, 1 % noise."""
    folder = tmp_path_factory.mktemp("scara")
    source = Path(robot_file("scara"))
    model = Job.of(str(source)).load().model
    tip = model.moving[3].links[0]
    ten = np.array(tip.parameters) + LOAD
    (folder / "truth.urdf").write_bytes(
        with_inertials(source.read_bytes(), "scara.urdf", {tip.name: ten})
    )
    job = Job.of(str(folder / "truth.urdf"))
    recipe = Recipe(duration=10.0, rate=200.0, seed=3, sensors=Sensors(noise=0.01))
    write(folder / "log.npz", simulated(job, job.load(), recipe))
    return folder / "log.npz", tip.name


def test_the_command_writes_a_robot_that_check_calls_consistent(tmp_path, log):
    out = tmp_path / "new.urdf"
    arguments = [
        "identify",
        robot_file("scara"),
        str(log[0]),
        "--urdf",
        str(out),
        "--payload",
        log[1],
    ]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    assert "differs from the prior by" in result.output and "payload of link" in result.output
    checked = CliRunner().invoke(main, ["check", str(out)])
    assert (
        checked.exit_code == 0
        and "violates" not in checked.output
        and "indefinite" not in checked.output
    )
    data = json.loads(CliRunner().invoke(main, [*arguments, "--json"]).output)
    mapping = robot(robot_file("scara"))[2]
    again = Job.of(str(out)).load().model
    base = mapping.base(standard_parameters(lumped(again, [body.name for body in again.moving])))
    np.testing.assert_allclose(base, [*data["shape"]["base_parameters"].values()], atol=1e-9)
    if data["shape"]["consistent"]:
        np.testing.assert_allclose(
            base, [row["estimate"] for row in data["parameters"].values()], atol=1e-9
        )
    assert out.read_bytes().endswith(MARK + b"\n")
    assert data["payload"]["mass"] == pytest.approx(M, abs=4 * data["payload"]["mass_error"])


def test_a_robot_that_is_not_ours_is_not_overwritten(tmp_path, log):
    source = tmp_path / "scara.urdf"
    source.write_bytes(Path(robot_file("scara")).read_bytes())
    for target in (source, log[0]):
        before = target.read_bytes()
        result = CliRunner().invoke(
            main, ["identify", str(source), str(log[0]), "--urdf", str(target)]
        )
        assert result.exit_code == 2 and "is not from symgen identify" in result.output
        assert target.read_bytes() == before


@pytest.mark.parametrize(
    ("urdf", "said"),
    [
        ("out", "written twice"),
        ("out/measured.png", "written twice"),
        ("out/" + "a" * 300, "File name too long"),
        ("log/x.urdf", "cannot write"),
    ],
)
def test_report_and_robot_are_written_together_or_not_at_all(
    tmp_path, log, monkeypatch, urdf, said
):
    monkeypatch.setattr("symgen.identification.plots.png", lambda figure: b"")
    (tmp_path / "log").write_text("no folder")
    arguments = ["identify", robot_file("scara"), str(log[0]), "-o", str(tmp_path / "out")]
    result = CliRunner().invoke(main, [*arguments, "--urdf", str(tmp_path / urdf)])
    assert result.exit_code == 2 and result.output.count("\n") == 1, result.output
    assert said in result.output
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / "log"]
    done = CliRunner().invoke(main, [*arguments, "--urdf", str(tmp_path / "out" / "new.urdf")])
    assert done.exit_code == 0 and {"new.urdf", "measured.png"} < {
        path.name for path in (tmp_path / "out").iterdir()
    }


@pytest.mark.parametrize(
    ("folder", "said"), [("", "--out '': give a folder"), ("log", "it is not a folder")]
)
def test_a_folder_that_is_none_is_refused_before_the_log_is_read(tmp_path, folder, said):
    (tmp_path / "log").write_text("no folder")
    given = str(tmp_path / folder) if folder else ""
    result = CliRunner().invoke(main, ["identify", robot_file("scara"), "none.csv", "-o", given])
    assert result.exit_code == 2 and said in result.output, result.output


def test_an_unknown_link_is_one_sentence_before_any_work(log):
    result = CliRunner().invoke(
        main, ["identify", robot_file("scara"), str(log[0]), "--payload", "nobody"]
    )
    assert result.exit_code == 2 and result.output.startswith(
        "error: --payload nobody: no moving link"
    ), result.output

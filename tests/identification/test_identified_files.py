"""Files of URDF of which only inertias change, and the command that writes them."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from benchmarks.simulated_logs import Recipe, Sensors, simulated, write
from symgen.cli.main import main
from symgen.errors import OptionError
from symgen.identification.model.problem import standard_parameters
from symgen.identification.report.shaping import END_COMMENT
from symgen.identification.report.urdf_inertials import with_inertials
from symgen.jobs.job import Job
from symgen.mechanics.parameters import lump_links
from symgen.reading.urdf import parse
from tests.support.loads import LOAD, TENSOR, M, robot
from tests.support.tools import robot_file

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
        "--friction",
        "none",
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
    base = mapping.base(
        standard_parameters(lump_links(again, [body.name for body in again.moving]))
    )
    np.testing.assert_allclose(base, [*data["shape"]["base_parameters"].values()], atol=1e-9)
    assert 0 <= data["shape"]["loss"] < 0.0051
    assert out.read_bytes().endswith(END_COMMENT + b"\n")
    assert data["payload"]["mass"] == pytest.approx(M, abs=4 * data["payload"]["mass_error"])


def test_a_robot_that_is_not_ours_is_not_overwritten(tmp_path, log):
    source = tmp_path / "scara.urdf"
    source.write_bytes(Path(robot_file("scara")).read_bytes())
    for target in (source, log[0]):
        before = target.read_bytes()
        result = CliRunner().invoke(
            main, ["identify", str(source), str(log[0]), "--urdf", str(target)]
        )
        assert result.exit_code == 2 and "was not written by symgen identify" in result.output
        assert target.read_bytes() == before


@pytest.mark.parametrize(
    ("urdf", "said"),
    [
        ("out", "is the path of two outputs"),
        ("out/measured.png", "is the path of two outputs"),
        ("out/" + "a" * 300, "File name too long"),
        ("log/x.urdf", "cannot write"),
    ],
)
def test_report_and_robot_are_written_together_or_not_at_all(
    tmp_path, log, monkeypatch, urdf, said
):
    monkeypatch.setattr("symgen.identification.report.plots.encoded", lambda figure, kind: b"")
    (tmp_path / "log").write_text("no folder")
    arguments = ["identify", robot_file("scara"), str(log[0]), "-o", str(tmp_path / "out")]
    arguments.append("--force")  # the log has a payload that the robot file lacks
    result = CliRunner().invoke(main, [*arguments, "--urdf", str(tmp_path / urdf)])
    assert result.exit_code == 2 and result.output.count("\n") == 1, result.output
    assert said in result.output
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / "log"]
    if urdf == "out":
        done = CliRunner().invoke(main, [*arguments, "--urdf", str(tmp_path / "out" / "new.urdf")])
        written = {path.name for path in (tmp_path / "out").iterdir()}
        assert done.exit_code == 0 and {"new.urdf", "measured.png"} < written


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

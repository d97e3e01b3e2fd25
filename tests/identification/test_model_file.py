"""From a log to generated code: the C of a model file predicts as ``symgen identify`` does."""

import re
from pathlib import Path

import numpy as np
import pytest

import symgen
from benchmarks.simulated_logs import write
from symgen.compiler.passes import counts
from symgen.errors import OptionError, RobotError
from symgen.identification.data.log_options import LogOptions
from symgen.identification.data.samples import LEAD_STEPS
from symgen.identification.diagnostics.cutoffs import open_with_best_cutoff
from symgen.identification.estimation.run import identify
from symgen.identification.model.problem import problem_for, standard_parameters
from symgen.identification.model.settings import Settings
from symgen.identification.prediction.prediction_errors import of_robot
from symgen.identification.report.model_file import drive_tables, model_file
from symgen.jobs.api import trace
from symgen.jobs.job import Job
from symgen.mechanics.base_parameters import base_parameters
from symgen.mechanics.joint_forces import FRICTION, LAWS
from symgen.mechanics.parameters import lump_links
from tests.support.term_logs import FILE, log
from tests.support.tools import ROOT, invoke, robot_file

LOG = "shared/logs/ur10e/motion_30s.csv"
UR10E = next((p / LOG for p in ROOT.parents if (p / LOG).exists()), None)
GAINS = (11.33, 12.20, 9.99, 10.30, 10.05, 10.26)


def friction_of_all_kinds(q, qd, qdd, load):
    """Friction that depends on the rate, its direction and the load."""
    return 3 * qd + (1 + 0.2 * np.abs(load)) * np.tanh(qd / 0.05) + 0.3


def written(folder, job, loaded, path, settings):
    """The model file of an estimate from a log, and the estimate."""
    found = identify(job, loaded, path, settings)
    file = folder / "model.toml"
    file.write_bytes(model_file(found, drive_tables(found, None), job, loaded))
    return str(file), found


def samples_of(dataset, drives):
    """All samples of a log with their states of presliding."""
    blocks = dataset.blocks(lambda step: None)
    return drives.presliding.attached(blocks) if drives and drives.presliding else blocks


def difference(robot, file, dataset, equations, values):
    """The largest difference between the joint forces of generated C and of an estimate on the rows
    of a log, relative to the largest force of each joint. The state begins as in the estimate: the
    motion before the log is that of its first steps."""
    dof = equations.joint_kernel.shape[0]
    compiled = symgen.compile(robot, "inverse_dynamics", "presliding_update", estimate=file)
    state, before, worst = np.zeros(dof), None, 0.0
    for block in samples_of(dataset, equations.drives):
        states = np.empty_like(block.q)
        before = 2 * block.q[0] - block.q[LEAD_STEPS] if before is None else before
        for k, q in enumerate(block.q):
            state = compiled.presliding_update(before, q, state)
            before, states[k] = q, state
        wanted = equations.equations(block).regressor @ values
        forces = compiled.inverse_dynamics(block.q, block.qd, block.qdd, states)
        worst = max(worst, np.max(np.abs(forces - wanted) / np.abs(wanted).max(0)))
    return worst


def model_of(path, estimate):
    """The predictor of a model file, and a log."""
    job = Job.of(FILE, estimate=estimate)
    loaded = job.load(every_motor=True)
    problem = problem_for(job, loaded, Settings())
    return of_robot(problem), open_with_best_cutoff(path, problem, loaded, LogOptions())


def test_the_generated_c_predicts_a_simulated_log_as_the_estimate(tmp_path):
    job, loaded, path = log(tmp_path, friction_of_all_kinds)
    file, found = written(tmp_path, job, loaded, path, Settings())
    equations, values = found.equations, found.estimate.values
    assert difference(FILE, file, found.dataset, equations, values) < 1e-9
    model, dataset = model_of(path, file)
    assert difference(FILE, file, dataset, model.equations, model.values) < 1e-9


@pytest.mark.skipif(UR10E is None, reason="the logs of ../shared are not there")
def test_the_generated_c_predicts_the_log_of_a_real_robot_as_the_estimate(tmp_path):
    robot = ROOT / "robots" / "ur10e.urdf"
    job = Job.of(str(robot))
    constants = tuple((f"joint{k}", x) for k, x in enumerate(GAINS, 1))
    settings = Settings(torque_constant=constants)
    file, found = written(tmp_path, job, job.load(), str(UR10E), settings)
    equations, values = found.equations, found.estimate.values
    assert difference(str(robot), file, found.dataset, equations, values) < 1e-9


@pytest.mark.parametrize("law", FRICTION)
def test_every_law_goes_from_the_log_to_generated_code(tmp_path, law):
    """The rows of the registry: identified, written, and predicted by generated code."""
    job, loaded, path = log(tmp_path, friction_of_all_kinds)
    named = law if law == "viscous" else f"viscous,{law}"
    settings = Settings(friction=named, friction_width="0.01")
    file, found = written(tmp_path, job, loaded, path, settings)
    assert any(name.startswith(f"{law} ") for name in found.estimate.friction)
    text = Path(file).read_text()
    assert all(re.search(rf"^{p.name} = ", text, re.MULTILINE) for p in LAWS[law].shape)
    function = trace(FILE, "inverse_dynamics", estimate=file)
    model, dataset = model_of(path, file)
    block = next(samples_of(dataset, model.equations.drives)).part(slice(40, 400, 60))
    wanted = model.equations.equations(block).regressor @ model.values
    for k, row in enumerate(wanted):
        inputs = {"q": block.q[k], "qd": block.qd[k], "qdd": block.qdd[k]}
        if block.presliding.size:
            inputs["presliding"] = block.presliding[k, :, 0]
        tau = np.array(function.run(**{key: x.tolist() for key, x in inputs.items()})["tau"], float)
        assert tau == pytest.approx(row, rel=1e-9, abs=1e-9 * np.abs(wanted).max())


def test_springs_and_rotors_go_to_generated_code(tmp_path):
    job, loaded, path = log(tmp_path, lambda q, qd, qdd, load: 2.0 * q - 1.0 + 0.5 * qdd)
    settings = Settings(friction="viscous", springs=True, armature=True)
    file, found = written(tmp_path, job, loaded, path, settings)
    assert difference_of_rows(file, found) < 1e-9


def difference_of_rows(file, found):
    function = trace(FILE, "inverse_dynamics", estimate=file)
    block = next(found.dataset.blocks(lambda step: None)).part(slice(40, 400, 60))
    wanted = found.equations.equations(block).regressor @ found.estimate.values
    rows = zip(block.q.tolist(), block.qd.tolist(), block.qdd.tolist(), strict=True)
    tau = np.array([function.run(q=q, qd=v, qdd=a)["tau"] for q, v, a in rows], float)
    return np.max(np.abs(tau - wanted)) / np.abs(wanted).max()


def test_the_printed_command_runs_and_predict_reads_the_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("symgen.identification.report.plots.encoded", lambda figure, kind: b"")
    monkeypatch.chdir(tmp_path)
    *_, path = log(tmp_path, friction_of_all_kinds)
    done = invoke("identify", FILE, path, "-o", "out")
    assert done.exit_code == 0, done.output
    (line,) = [row for row in done.stdout.splitlines() if row.startswith("to generate code")]
    words = line.partition(": symgen ")[2].split()
    generated = invoke(*words)
    assert generated.exit_code == 0, generated.output
    verified = invoke("verify", words[words.index("-o") + 1])
    assert verified.exit_code == 0, verified.output


@pytest.fixture(scope="module")
def scara(tmp_path_factory):
    """A model file of a SCARA."""
    folder = tmp_path_factory.mktemp("scara")
    job, loaded, path = log(folder, lambda q, qd, qdd, load: 2.0 * qd)
    return written(folder, job, loaded, path, Settings(friction="viscous"))[0]


@pytest.mark.parametrize("name", ["scara", "ur5"])
def test_base_parameters_of_the_file_have_its_operations(tmp_path, name):
    """Parameters of links that joint forces do not determine are zero, so code from the base
    parameters of a file has as many operations as code from the file, and the same results."""
    robot = robot_file(name)
    model = lump_links(symgen.load(robot).model, [b.name for b in symgen.load(robot).model.moving])
    base = base_parameters(model)
    values = (base.factors @ standard_parameters(model)).tolist()
    lines = [
        f"{k} = {x if abs(x) > 1e-12 else 0.0!r}" for k, x in zip(base.columns, values, strict=True)
    ]
    sums = [f"{k} = {text!r}" for k, text in zip(base.columns, base.groupings, strict=True)]
    file = tmp_path / "model.toml"
    file.write_text("\n".join(["[base_parameters]", *lines, "[groupings]", *sums]))
    for quantity in ("inverse_dynamics", "mass_matrix", "forward_dynamics"):
        of_file, estimated = (
            counts(trace(robot, quantity, **options).program).total
            for options in ({}, {"estimate": str(file)})
        )
        assert estimated <= of_file
    state = {x: np.linspace(0.3, 1.2, model.dof).tolist() for x in ("q", "qd", "qdd")}
    taus = [
        trace(robot, "inverse_dynamics", **options).run(**state)["tau"]
        for options in ({}, {"estimate": str(file)})
    ]
    assert np.array(taus[1], float) == pytest.approx(np.array(taus[0], float), rel=1e-12)


@pytest.mark.parametrize("quantity", ["com", "potential_energy", "centroidal_momentum_matrix"])
def test_what_base_parameters_do_not_determine_is_refused(scara, quantity):
    with pytest.raises(OptionError, match="depends on the parameters of single links"):
        trace(FILE, quantity, estimate=scara)


def test_an_indefinite_mass_matrix_is_refused_with_the_posture(scara, tmp_path):
    """Inverse dynamics is generated, forward dynamics and controllers are not."""
    text = Path(scara).read_text()
    bad = tmp_path / "bad.toml"
    bad.write_text(re.sub(r"ZZR_1 = \S+", "ZZR_1 = -5.0", text, count=1))
    trace(FILE, "inverse_dynamics", estimate=str(bad))
    for quantity in ("forward_dynamics", "computed_torque"):
        with pytest.raises(OptionError, match=r"not positive definite at q = \("):
            trace(FILE, quantity, estimate=str(bad))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace("[base_parameters]", "[other]"), "no table is called|no key"),
        (lambda text: re.sub(r"\n(ZZR_1 = .*)", "", text, count=1), "another definition"),
        (lambda text: text.replace("+ ", "- "), "another definition"),
    ],
)
def test_a_file_of_another_robot_is_refused(scara, tmp_path, change, said):
    other = tmp_path / "other.toml"
    other.write_text(change(Path(scara).read_text()))
    with pytest.raises(RobotError, match=said):
        symgen.load(FILE, estimate=str(other))


def test_options_that_contradict_an_estimate_are_refused(scara):
    for options in ({"actuators": scara}, {"gravity": "runtime"}, {"repair_inertia": "nearest"}):
        with pytest.raises(OptionError, match="--estimate and --"):
            symgen.load(FILE, estimate=scara, **options)


def test_a_robot_file_that_has_changed_is_a_warning(scara, tmp_path):
    robot = tmp_path / "scara.urdf"
    robot.write_text(Path(FILE).read_text() + "<!-- changed -->\n")
    assert any(
        "has changed" in str(notice) for notice in Job.of(str(robot), estimate=scara).load().notices
    )


COUPLED = """<transmission name="belt">
<type>transmission_interface/FourBarLinkageTransmission</type>
<joint name="shoulder"><role>joint1</role></joint><joint name="elbow"><role>joint2</role></joint>
<actuator name="first"><role>actuator1</role><mechanicalReduction>50</mechanicalReduction></actuator>
<actuator name="second"><role>actuator2</role><mechanicalReduction>40</mechanicalReduction></actuator>
</transmission></robot>"""


def test_friction_of_a_motor_of_two_joints_is_found_and_generated(tmp_path):
    """The second motor turns with the sum of both angles, so its friction acts on both
    joints (Gautier, Identification of robot dynamics, 1988: drives are motors)."""
    *_, path = log(tmp_path, lambda q, qd, qdd, load: 0 * qd)
    columns = dict(np.load(path))
    rate = columns["qd_shoulder"] + columns["qd_elbow"]
    for joint in ("shoulder", "elbow"):
        columns[f"tau_{joint}"] += 40 * (0.2 * np.sign(rate) + 0.05 * 40 * rate)
    write(Path(path), columns)
    robot = tmp_path / "coupled.urdf"
    robot.write_text(Path(FILE).read_text().replace("</robot>", COUPLED))
    job = Job.of(str(robot))
    settings = Settings(friction="viscous,coulomb")
    file, found = written(tmp_path, job, job.load(every_motor=True), path, settings)
    for law, truth in (("viscous", 0.05), ("coulomb", 0.2)):
        k = found.estimate.names.index(f"{law} second.rotor")
        assert found.estimate.values[k] == pytest.approx(truth, rel=0.05)
    function = trace(str(robot), "inverse_dynamics", estimate=file)
    block = next(found.dataset.blocks(lambda step: None)).part(slice(40, 400, 60))
    wanted = found.equations.equations(block).regressor @ found.estimate.values
    rows = zip(block.q.tolist(), block.qd.tolist(), block.qdd.tolist(), strict=True)
    tau = np.array([function.run(q=q, qd=v, qdd=a)["tau"] for q, v, a in rows], float)
    assert np.max(np.abs(tau - wanted)) < 1e-9 * np.abs(wanted).max()

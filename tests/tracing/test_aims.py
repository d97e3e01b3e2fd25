"""What formulations are chosen by: ``--optimize``, ``--tune`` and what they leave in the files."""

import json
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from symgen.cli.main import main
from symgen.compiler.objective import CORTEX_M, HOST, MAX_OPERATIONS_RATIO, Objective
from symgen.jobs import api
from symgen.jobs.job import Job
from symgen.jobs.jobfile import with_formulations
from symgen.languages.c.backend import code_files
from symgen.languages.c.options import COptions
from symgen.reading.assemble import load
from symgen.tracing.request import FunctionRequest
from symgen.tracing.robot import ParametricModel
from symgen.tracing.trace import trace
from tests.support.public_robots import example_robot

UR5, PENDULUM = "robots/ur5.urdf", "robots/pendulum.urdf"


def test_forward_dynamics_of_a_ur5_goes_by_the_mass_matrix():
    """The articulated bodies have a few operations less, and take half as long again."""
    robot = ParametricModel(load(str(example_robot("ur_description/urdf/ur5_robot.urdf"))).model)
    wanted = FunctionRequest.parse("forward_dynamics")
    few, fast = trace(robot, wanted), trace(robot, wanted, objective=Objective("latency"))
    assert few.formulation == "forward_dynamics_articulated/minimal"
    assert fast.formulation == "forward_dynamics/minimal"
    assert few.counts.total < fast.counts.total <= MAX_OPERATIONS_RATIO * few.counts.total
    assert fast.cost(HOST).path < 0.6 * few.cost(HOST).path


def test_the_default_follows_the_target():
    aims = {t: Job.of(UR5, target=t).aim for t in (None, "host", "cortex-m4f", "cortex-m7")}
    assert {t: aim.name for t, aim in aims.items()} == {
        None: "latency",
        "host": "latency",
        "cortex-m4f": "operations",
        "cortex-m7": "operations",
    }
    assert Job.of(UR5, target="cortex-m4f", optimize="latency").aim.machine.name == "cortex-m"


def test_operations_count_as_long_as_they_keep_a_cortex_m_busy():
    """The inverse of M by pairs has nine operations more, and three quotients less."""
    robot = Job.of("robots/panda_arm.urdf").robot(load("robots/panda_arm.urdf"))
    wanted = FunctionRequest.parse("mass_matrix_inverse")
    few, short = (
        trace(robot, wanted),
        trace(robot, wanted, objective=Objective("operations", CORTEX_M)),
    )
    assert (few.formulation, short.formulation) == (
        "forward_dynamics/minimal",
        "forward_dynamics_by_pairs/minimal",
    )
    assert few.counts.total < short.counts.total
    assert short.cost(CORTEX_M).work < few.cost(CORTEX_M).work


def test_headers_and_manifest_say_what_was_chosen_by():
    job = Job.of(UR5, quantities=("mass_matrix", "gravity"))
    loaded = job.load()
    module = job.module(loaded)
    files = code_files(module)
    assert "the lowest estimated latency on a current" in files["ur5.h"]
    assert "(composite/minimal); long sums are added pairwise" in " ".join(
        files["ur5_mass_matrix.c"].replace(" * ", " ").split()
    )
    assert module.options["optimize"] == "latency"
    fewest = job.changed(optimize="operations").module(loaded)
    files = code_files(fewest)
    assert "estimated latency" not in files["ur5.h"] and "trees" not in files["ur5_mass_matrix.c"]


def test_what_is_run_on_numbers_is_what_the_tape_says():
    function = api.trace(UR5, "mass_matrix")
    assert function.trees
    q = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    found = function.run(q=q)["M"]
    plain = api.trace(UR5, "mass_matrix", optimize="operations").run(q=q)["M"]
    assert found != plain
    assert [float(x) for x in found] == pytest.approx([float(x) for x in plain], rel=1e-12)


def test_size_takes_fewer_numbers_and_entries_into_account():
    assert Objective("size").price(api.trace(PENDULUM, "gravity").program) > 0
    assert Job.of(PENDULUM, optimize="size").aim.name == "size"


def run(*arguments):
    return CliRunner().invoke(main, [*map(str, arguments)], catch_exceptions=False)


def test_tune_writes_its_choice_down(tmp_path):
    job = tmp_path / "arm.toml"
    begin = (
        f'# mine\nfile = "{Path(PENDULUM).resolve().as_posix()}"\nout = "out"\nlanguages = ["c"]\n'
    )
    job.write_text(begin + 'quantities = ["forward_dynamics"]\n')
    done = run("generate", job, "--tune")
    assert done.exit_code == 0, done.output
    assert (
        "ns" in done.output
        and "the fastest formulations were written into the job file" in done.output + done.stderr
    )
    text = job.read_text()
    chosen = tomllib.loads(text)["formulations"]["forward_dynamics"]
    assert text.endswith(begin + 'quantities = ["forward_dynamics"]\n')
    first = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    manifest = json.loads(first["manifest.json"])
    assert manifest["options"]["formulations"] == [["forward_dynamics", chosen]]
    assert run("generate", job).exit_code == 0
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == first


def test_tune_is_of_this_machine(tmp_path):
    done = run("generate", PENDULUM, "-o", tmp_path / "x", "--target", "cortex-m4f", "--tune")
    assert done.exit_code == 2 and "--tune and --target: times are measured on this" in done.stderr
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    "text",
    [
        'file = "a.urdf"\n',
        'file = "a.urdf"\n# formulations = { mass_matrix = "composite/minimal" }\nout = "b"\n',
        'formulations = { gravity = "x" }\nfile = "a.urdf"\n',
        'file = "a.urdf"\n[lock]\nj1 = 0.0\n',
    ],
)
def test_a_job_file_gets_formulations_and_keeps_the_rest(text):
    given = {"mass_matrix": "composite/minimal", "bias": "newton_euler/minimal"}
    made = with_formulations(text, given)
    assert made is not None
    old, new = tomllib.loads(text), tomllib.loads(made)
    assert new == {**old, "formulations": given}
    assert with_formulations(made, given) == made


def test_what_no_line_can_do_is_left_to_the_user():
    assert with_formulations('[formulations]\ngravity = "x"\n', {"bias": "y"}) is None
    assert COptions().machine is HOST

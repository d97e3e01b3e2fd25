"""Several processes (``-j``): the same files, and errors of the work itself."""

import os
import pickle

import pytest

from symgen.algorithms import LINK_QUANTITIES, QUANTITIES
from symgen.compiler.parallel import can_fork, parallel_map, process_count
from tests.support.tools import invoke, robot_file, snapshot

if not can_fork():
    pytest.skip("this system cannot copy a process", allow_module_level=True)


def test_results_come_in_their_order_from_other_processes():
    with process_count(3):
        found = parallel_map(lambda x: (x, os.getpid()), range(7))
    assert [x for x, _ in found] == [*range(7)]
    assert os.getpid() not in {process for _, process in found}
    assert {process for _, process in parallel_map(lambda x: (x, os.getpid()), range(7))} == {
        os.getpid()
    }


def test_every_quantity_can_come_from_another_process():
    for quantity in (*QUANTITIES.values(), *LINK_QUANTITIES.values()):
        assert pickle.loads(pickle.dumps(quantity)).name == quantity.name


def test_what_fails_there_fails_here_with_its_own_error():
    def work(x):
        if x == 2:
            raise KeyError("two", x)
        return x

    with process_count(2), pytest.raises(KeyError) as raised:
        parallel_map(work, range(4))
    assert raised.value.args == ("two", 2)


def test_a_process_that_dies_loses_nothing():
    parent = os.getpid()

    def work(x):
        if x == 1 and os.getpid() != parent:
            os._exit(1)
        return 10 * x

    with process_count(2):
        assert parallel_map(work, range(4)) == [0, 10, 20, 30]


SOME = (
    "inverse_dynamics",
    "forward_dynamics_derivatives",
    "coriolis_matrix",
    "base_regressor",
    "inverse_dynamics_hessian",
    "frame_pose:lower",
    "step:rk4",
)
"""Long and short, in no order of their length."""


@pytest.mark.parametrize(
    "options",
    [
        tuple(f"--quantity={name}" for name in SOME),
        ("--parameters", "runtime:lower", "--quantity", "terms=bias+mass_matrix", "--chunk", "5"),
        ("--scalar", "float", "--controller", "computed_torque", "--batch", "auto"),
    ],
)
def test_files_do_not_depend_on_how_many(options, tmp_path):
    for count in (1, 3):
        done = invoke(
            "generate", robot_file("pendulum"), "-o", tmp_path / str(count), *options, "-j", count
        )
        assert done.exit_code == 0, done.output
    assert snapshot(tmp_path / "1") == snapshot(tmp_path / "3")


def test_a_number_is_needed(tmp_path):
    done = invoke("generate", robot_file("pendulum"), "-o", tmp_path / "x", "-j", "0")
    assert done.exit_code == 2 and "-j" in done.stderr and not list(tmp_path.iterdir())

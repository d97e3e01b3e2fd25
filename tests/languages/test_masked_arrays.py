"""Masked entries have no value: whatever takes arrays refuses them by name, and takes a masked
array without masked entries."""

import numpy as np
import pytest

import symgen
from symgen.errors import OptionError
from symgen.jobs.extension_modules import _compiled_through_cffi
from symgen.jobs.job import Job
from tests.support.tools import generated, imported, robot_file

PENDULUM = robot_file("pendulum")
Q = [0.1, 0.2]
HIDDEN = np.ma.masked_array(Q, mask=[False, True])
OPEN = np.ma.masked_array(Q, mask=[False, False])


def of_python(tmp_path):
    _, folder = generated("pendulum", languages=("python",), quantities=("bias",))
    return imported(folder / "pendulum.py")


def of_extension(tmp_path):
    return symgen.compile(PENDULUM, "bias")


def of_cffi(tmp_path):
    job = Job.of(PENDULUM, quantities=("bias",))
    with pytest.warns(UserWarning, match="go through cffi"):
        return _compiled_through_cffi(job.module(job.load()), True)


@pytest.mark.parametrize("made", [of_python, of_extension, of_cffi])
def test_functions_refuse_masked_entries(made, tmp_path):
    bias = made(tmp_path).bias
    with pytest.raises(TypeError, match=r"^qd has masked entries, which have no value; fill them"):
        bias(Q, HIDDEN)
    with pytest.raises(TypeError, match=r"^q has masked entries"):
        bias(np.ma.stack([OPEN, HIDDEN]), Q)
    for nested in ([OPEN, HIDDEN], (OPEN, [0.1, np.ma.masked]), [[OPEN], [HIDDEN]]):
        with pytest.raises(TypeError, match=r"^q has masked entries"):
            bias(nested, Q)
    assert np.allclose(bias([OPEN, OPEN], Q), [bias(Q, Q)] * 2, rtol=1e-12)
    assert np.allclose(bias(OPEN, OPEN), bias(Q, Q), rtol=1e-12)
    assert np.allclose(bias(np.ma.stack([OPEN, OPEN]), Q), [bias(Q, Q)] * 2, rtol=1e-12)


def test_a_robot_refuses_masked_entries():
    robot = symgen.Robot(PENDULUM)
    for call in (
        lambda q: robot.linearize(q),
        lambda q: robot.simulate(0.1, q),
        lambda q: robot.controller(
            "computed_torque", {"k_p": q, "k_d": 2.0, "k_i": 0.0, "limit": 9.0}
        ),
    ):
        call(OPEN)
        with pytest.raises(OptionError, match="has masked entries"):
            call(HIDDEN)
        with pytest.raises(OptionError, match="has masked entries"):
            call([0.1, np.ma.masked])

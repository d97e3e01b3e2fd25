"""PyTorch: the operators have the values of the algorithms, and gradients of two orders.

PyTorch has threads, and a process with threads must not fork as other tests do: every script here
runs in a process of its own."""

from importlib.util import find_spec
from shutil import which

import pytest

from tests.support.packages import package, python
from tests.support.tools import generated, verified

pytestmark = pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")

CASES = {
    "pendulum": {"quantities": ("inverse_dynamics", "mass_matrix", "forward_dynamics")},
    "biped": {"base": "floating", "quantities": ("mass_matrix", "inverse_dynamics")},
    "ur5": {
        "parameters": "runtime:flange",
        "gravity": "runtime",
        "friction": "runtime:coulomb",
        "quantities": ("inverse_dynamics", "frame_pose:flange"),
    },
}


@pytest.mark.parametrize("name", CASES)
def test_verify_proves_it(name):
    _, folder = generated(name, languages=("torch",), **CASES[name])
    assert "Torch equals the float run" in verified(folder)


@pytest.mark.slow
def test_all_quantities():
    _, folder = generated("pendulum", languages=("torch",), quantities=("all",))
    verified(folder)


GRADIENTS = """
import torch
from torch.autograd import gradcheck, gradgradcheck
import {name}_torch as robot

torch.manual_seed(1)
sizes = {{"q": robot.NQ, "qd": robot.NV, "qdd": robot.NV, "tau": robot.NV, "g": 3}}
pi = [x for ten in getattr(robot, "PARAMETERS", {{}}).values() for x in ten]
for name in {functions}:
    function = getattr(robot, name)
    taken = function.__code__.co_varnames[: function.__code__.co_argcount]
    sizes["par"] = robot.regroup(pi).shape[-1] if "par" in taken else 0
    inputs = [torch.randn(3, sizes[x], dtype=torch.float64, requires_grad=True) for x in taken]
    assert gradcheck(function, inputs, check_forward_ad=True)
    assert gradgradcheck(function, inputs, check_fwd_over_rev=True)
print("done")
"""


def test_gradients_of_two_orders_are_those_of_differences(tmp_path):
    functions = ("inverse_dynamics", "mass_matrix", "forward_dynamics", "kinetic_energy")
    folder = package("torch", "pendulum", tmp_path, quantities=functions)
    assert python(folder, GRADIENTS.format(name="pendulum", functions=functions)) == "done\n"


def test_gradients_in_quaternions_parameters_and_gravity(tmp_path):
    functions = ("inverse_dynamics",)
    options = {"base": "floating", "gravity": "runtime", "parameters": "runtime:trunk"}
    folder = package("torch", "biped", tmp_path, quantities=functions, **options)
    assert python(folder, GRADIENTS.format(name="biped", functions=functions)) == "done\n"


TRANSFORMS = """
import torch
from torch.func import grad, hessian, jacrev, jvp, vmap
import pendulum_torch as robot

torch.manual_seed(0)
near = lambda a, b, tol=1e-12: torch.testing.assert_close(a, b, rtol=tol, atol=tol)
q, qd, tau = (torch.randn(2, dtype=torch.float64) for _ in range(3))
slopes = robot.forward_dynamics_derivatives(q, qd, tau)
for got, wanted in zip(jacrev(robot.forward_dynamics, (0, 1, 2))(q, qd, tau), slopes):
    near(got, wanted, 1e-11)
near(jacrev(robot.mass_matrix)(q), robot.mass_matrix_gradient(q))
energy = lambda q: robot.potential_energy(q).sum()
near(grad(energy)(q), robot.gravity(q))
near(hessian(energy)(q), robot.gravity_gradient(q))
near(jvp(robot.mass_matrix, (q,), (qd,))[1], robot.mass_matrix_gradient(q) @ qd)
Q = torch.randn(3, 5, 2, dtype=torch.float64)
wanted = torch.stack([torch.stack([robot.mass_matrix(x) for x in row]) for row in Q])
near(robot.mass_matrix(Q), wanted)
near(vmap(vmap(robot.mass_matrix))(Q), wanted)
near(vmap(robot.mass_matrix, in_dims=1)(Q), wanted.transpose(0, 1))
near(robot.mass_matrix(Q.mT.contiguous().mT), wanted)  # states that are not contiguous
near(vmap(jacrev(robot.mass_matrix))(Q[0]), robot.mass_matrix_gradient(Q[0]))
tall = robot.inverse_dynamics(Q[:, :1], qd, Q)
assert tall.shape == (3, 5, 2)
near(tall[2, 4], robot.inverse_dynamics(Q[2, 0], qd, Q[2, 4]))
many = torch.randn(4000, 2, dtype=torch.float64)  # more than one thread
near(robot.mass_matrix(many)[3999], robot.mass_matrix(many[3999]))
near(robot.mass_matrix(Q[:0]), wanted[:0])
effort = lambda q: robot.inverse_dynamics(q, qd, tau).sum()
compiled = torch.compile(effort, fullgraph=True, backend="aot_eager")
x = q.clone().requires_grad_()
compiled(x).backward()
near(x.grad, tau.new_ones(2) @ robot.inverse_dynamics_derivatives(q, qd, tau)[0])
torch.library.opcheck(torch.ops.pendulum_torch.inverse_dynamics, (q, qd, tau))
single = robot.inverse_dynamics(*(x.float() for x in (Q, Q, Q)))
assert single.dtype == torch.float32
near(single.double(), robot.inverse_dynamics(Q, Q, Q), 1e-5)
bad = Q.clone()
bad[1, 2, 0] = torch.nan
made = robot.forward_dynamics(bad, Q, Q)
assert made[1, 2].isnan().all() and made.isnan().sum() == 2
for wrong, text in (
    (torch.zeros(3), "q must have 2 entries along its last axis, not shape (3,)"),
    (torch.zeros(2, device="meta"), "q is on meta; pendulum_torch computes on cpu and cuda"),
    (torch.zeros(2, dtype=torch.complex128), "inputs must be of float32 or float64"),
):
    try:
        robot.mass_matrix(wrong)
    except (TypeError, ValueError) as error:
        assert str(error) == text
    else:
        raise AssertionError(text)
print("done")
"""


AS_ON_A_GPU = """
from types import SimpleNamespace
import torch
import {name}_torch as robot

torch.cuda.get_device_capability = lambda device: ({major}, 0)
torch.cuda.current_stream = lambda device: SimpleNamespace(device_index=0, cuda_stream=0)
robot._DEVICES["cpu"] = robot._DEVICES["cuda"]
"""
"""CPU tensors take the way of CUDA tensors, as there is no GPU."""

HOST = """#!/bin/sh
for word; do shift; case $word in -arch=*|-Xcompiler) ;; *) set -- "$@" "$word"; esac; done
exec c++ -ffp-contract=off -Wall -Wextra -Werror -x c++ "$@" -O0
"""
"""A C++ compiler in place of nvcc, for which a kernel is a loop over states."""


def on_the_host(folder):
    """The command of a program that takes the words of nvcc and makes host builds."""
    place = folder / "nvcc"
    place.write_text(HOST)
    place.chmod(0o755)
    return str(place)


ON_A_GPU = "import torch\ntorch.set_default_device('cuda')\n"


@pytest.mark.parametrize("device", ["cpu", "host", "cuda"])
def test_transforms_broadcasting_and_types(device, tmp_path):
    if device == "cuda" and which("nvidia-smi") is None:
        pytest.skip("there is no GPU")
    as_on_one = AS_ON_A_GPU.format(name="pendulum", major=9)
    start = {"cpu": "", "host": as_on_one, "cuda": ON_A_GPU}[device]
    quantities = (
        "inverse_dynamics",
        "inverse_dynamics_derivatives",
        "forward_dynamics",
        "forward_dynamics_derivatives",
        "mass_matrix",
        "mass_matrix_gradient",
        "potential_energy",
        "gravity",
        "gravity_gradient",
    )
    folder = package("torch", "pendulum", tmp_path, quantities=quantities)
    nvcc = on_the_host(tmp_path) if device == "host" else "nvcc"
    assert python(folder, start + TRANSFORMS, "-W", "ignore", NVCC=nvcc) == "done\n"


def test_kernels_have_gradients_in_quaternions_parameters_and_gravity(tmp_path):
    """Of each state its own, as the CPU; entries may be apart by any number."""
    options = {"base": "floating", "gravity": "runtime", "parameters": "runtime:trunk"}
    folder = package("torch", "biped", tmp_path, quantities=("inverse_dynamics",), **options)
    script = STRIDES + GRADIENTS.format(name="biped", functions=("inverse_dynamics",))
    assert python(folder, script, NVCC=on_the_host(tmp_path)) == "done\n"


STRIDES = (
    """
import torch
import biped_torch as robot

def results(*sizes):
    torch.manual_seed(3)
    states = [torch.randn(size, 7, dtype=torch.float64).T for size in sizes]
    assert all(x.stride() == (1, 7) for x in states)
    par = robot.regroup(torch.randn(7, 10, dtype=torch.float64) ** 2)
    return robot.inverse_dynamics(*states, g=torch.randn(3).double(), par=par)

wanted = results(robot.NQ, robot.NV, robot.NV)
"""
    + AS_ON_A_GPU.format(name="biped", major=9)
    + """
assert torch.equal(results(robot.NQ, robot.NV, robot.NV), wanted)
"""
)


@pytest.mark.skipif(which("nvcc") is None, reason="nvcc is not installed")
@pytest.mark.skipif(which("nvidia-smi") is not None, reason="there is a GPU")
@pytest.mark.parametrize("major", [8, 9, 10])
def test_nvcc_compiles_a_kernel_that_reaches_the_launch(major, tmp_path):
    """Without a GPU, the CUDA runtime returns an error."""
    folder = package("torch", "pendulum", tmp_path, quantities=("mass_matrix",))
    script = AS_ON_A_GPU.format(name="pendulum", major=major) + REACHED
    assert python(folder, script) == "CUDA error at the launch of pendulum_torch.mass_matrix\n"


REACHED = """
import re
try:
    robot.mass_matrix(torch.zeros(5, 2))
except RuntimeError as error:
    print(re.sub(r" [0-9]+", "", str(error)))
"""


TRAINED = """
import torch
import pendulum_torch as robot

torch.manual_seed(0)
true = torch.tensor([x for ten in robot.PARAMETERS.values() for x in ten]).double()
states = [torch.randn(200, 2, dtype=torch.float64) for _ in range(3)]
wanted = robot.inverse_dynamics(*states, robot.regroup(true))
layer = robot.Layer(robot.regroup, pi=torch.nn.Parameter(torch.zeros_like(true)))
assert [name for name, _ in layer.named_parameters()] == ["pi"]
descent = torch.optim.LBFGS(layer.parameters(), max_iter=200, line_search_fn="strong_wolfe")

def loss():
    descent.zero_grad()
    value = (robot.inverse_dynamics(*states, layer()) - wanted).square().mean()
    value.backward()
    return value

descent.step(loss)
assert loss() < 1e-6 * wanted.square().mean(), loss()
fixed = robot.Layer(robot.inverse_dynamics, par=robot.regroup(true))
torch.testing.assert_close(fixed(*states), wanted)
print("done")
"""


def test_parameters_are_trained_as_those_of_a_module(tmp_path):
    folder = package(
        "torch", "pendulum", tmp_path, quantities=("inverse_dynamics",), parameters="runtime"
    )
    assert python(folder, TRAINED) == "done\n"

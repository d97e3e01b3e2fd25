"""PyTorch: a package of operators that call compiled C, with their gradients of two orders."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from symgen.compiler.passes import counts
from symgen.languages.backends.cuda import kernel_files
from symgen.languages.backends.python import BACKEND, package_files, python_tuple, states_files
from symgen.languages.c.backend import with_performance_defaults
from symgen.languages.c.options import ROBOT_INPUTS
from symgen.languages.describe import VECTOR_JACOBIAN, FunctionDescription, descriptions
from symgen.languages.external_runner import ExternalRunner, package_runner
from symgen.languages.module import Module
from symgen.languages.verification import Check, VerificationTarget
from symgen.render import render

DERIVATIVE_ORDERS: Final = 2
"""Gradients, and gradients of gradients."""

WITHOUT_COMPILER: Final = "the package needs one"
"""What works without a C compiler."""


def package_name(module: Module) -> str:
    """The name of the package, and the first part of all names of its C."""
    return f"{module.name}_torch"


def files(module: Module, orders: int = DERIVATIVE_ORDERS) -> dict[str, str]:
    """The package: operators with derivatives up to an order, how the C is compiled, how it is
    installed, and the C in double precision, with what makes it fastest."""
    package = package_name(module)
    choices = module.choices.changed(scalar="double", zeros="always", batch=None, per_state=())
    renamed = replace(module, name=package, choices=choices, vector_jacobians=orders)
    embedded = with_performance_defaults(renamed)
    context = BACKEND.context(module) | {
        "package": package,
        "functions_with_derivatives": _with_derivatives(module, embedded),
        "count": lambda d: counts(d.program).total,
        "shapes": lambda arguments: python_tuple([str(a.sizes) for a in arguments]),
    }
    texts = {
        "__init__.py": render("torch/package.py.jinja", **context),
        "cuda.py": render("torch/cuda.py.jinja", **context),
    }
    facts = {"framework": "PyTorch", "requirement": "torch>=2.6", "without": WITHOUT_COMPILER}
    texts |= package_files(module, package, **facts, data=("c", "kernels"))
    sources = states_files(embedded, f"{embedded.name}_states.c", "torch/states.c.jinja")
    texts |= {f"c/{name}": text for name, text in sources.items()} | _kernel_files(embedded)
    return {f"{package}/{name}": text for name, text in texts.items()}


def _with_derivatives(
    module: Module, embedded: Module
) -> list[tuple[FunctionDescription, list[FunctionDescription]]]:
    """Each function with its products of row vectors with Jacobians, those of the highest order
    first, and itself last."""
    described = {d.name: d for d in descriptions(embedded)}
    orders = range(embedded.vector_jacobians, -1, -1)
    return [
        (d, [described[d.name + k * VECTOR_JACOBIAN] for k in orders]) for d in descriptions(module)
    ]


def _kernel_files(embedded: Module) -> dict[str, str]:
    """The package's folder ``kernels``, in which each state has its own value of all inputs."""
    choices = embedded.choices.changed(batch=None, per_state=ROBOT_INPUTS)
    module = replace(embedded, choices=choices)
    texts = {"tensor.cuh": render("torch/tensor.cuh.jinja", module=module)}
    texts |= kernel_files(module, "torch/kernel.cu.jinja")
    return {f"kernels/{name}": text for name, text in texts.items()}


RUN_FUNCTIONS: Final = """
import torch
import {package} as robot

def results(name, arrays):
    made = getattr(robot, name)(*map(torch.from_numpy, arrays))
    return [x.numpy() for x in (made if isinstance(made, tuple) else (made,))]
"""


def operator_runner(module: Module) -> ExternalRunner:
    """The functions of a package."""
    return package_runner("Torch", RUN_FUNCTIONS.format(package=package_name(module)), "torch")


def checks(target: VerificationTarget, progress: Callable[[str], None]) -> Iterator[Check]:
    """The checks of the package of a folder."""
    yield from operator_runner(target.module).checks(target, progress)

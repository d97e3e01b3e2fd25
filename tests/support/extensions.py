"""Extension modules, made once, and states for them."""

import importlib
import sys
from functools import cache

import numpy as np

from symgen.jobs.extension_modules import build as build_package
from symgen.languages.c.checks import build
from tests.support.store import kept
from tests.support.tools import robot_file

QUANTITIES = ("inverse_dynamics", "forward_dynamics", "sum=bias+mass_matrix", "gravity")


VARIANTS = {
    "exact": {"exact": True, "parameters": "runtime"},
    "fast": {"parameters": "runtime"},
    "float": {"exact": True, "parameters": "runtime", "scalar": "float"},
}


N = 1000


@cache
def made(which):
    """A package, and its functions of single states by another way."""
    options = {"quantities": QUANTITIES, "prefix": f"arm_{which}", **VARIANTS[which]}

    def make(folder):
        return build_package(robot_file("pendulum"), folder, **options)[0]

    module, folder = kept(("extension", which, sorted(options.items())), make)
    sys.path.insert(0, str(folder))
    try:
        package = importlib.import_module(module.name)
    finally:
        sys.path.remove(str(folder))
    return package, build(module, folder / module.name), module


@cache
def states(which):
    rng = np.random.default_rng(0)
    dtype = np.float32 if which == "float" else np.float64
    q, qd, x = rng.uniform(-1, 1, (3, N, 2)).astype(dtype)
    ten = [x for ten in made(which)[0].PARAMETERS.values() for x in ten]
    return q, qd, x, made(which)[0].regroup(ten)


def same(got, wanted):
    return got.dtype == wanted.dtype and got.shape == wanted.shape and (got == wanted).all()

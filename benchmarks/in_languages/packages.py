"""Least nanoseconds of a state of some functions by JAX or CasADi:
``packages.py FOLDER ROBOT KIND FUNCTION...``.

KIND is jax, jax-states, native, native-states (a call, or 4,096 states at once under jit), graph or
external (CasADi's, by its buffers)."""

import importlib
import os
import sys
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

import numpy as np

ROUNDS, STATES = 40, 4096


def least(call: Callable[[], Any], states: int) -> float:
    """Of all rounds, a round taking a few milliseconds."""
    call()
    start = perf_counter_ns()
    call()
    times = max(1, int(2e6 / (perf_counter_ns() - start + 1)))
    found = []
    for _ in range(ROUNDS):
        start = perf_counter_ns()
        for _ in range(times):
            call()
        found.append((perf_counter_ns() - start) / times / states)
    return min(found)


def by_jax(robot: str, kind: str, name: str) -> float:
    os.environ |= {"JAX_ENABLE_X64": "1", "JAX_PLATFORMS": "cpu"}
    import jax

    module = importlib.import_module(f"{robot}_jax{'.native' if 'native' in kind else ''}")
    function, many = getattr(module, name), kind.endswith("states")
    sizes = arguments(function, importlib.import_module(f"{robot}_jax").NV)
    rng = np.random.default_rng(0)
    shape = (STATES,) if many else ()
    inputs = [jax.numpy.asarray(rng.uniform(-1, 1, (*shape, n))) for n in sizes]
    call = jax.jit(jax.vmap(function) if many else function)
    return least(lambda: jax.block_until_ready(call(*inputs)), STATES if many else 1)


def arguments(function: Callable[..., Any], n: int) -> list[int]:
    """A number of entries for each argument."""
    return [n] * function.__code__.co_argcount


def by_casadi(robot: str, kind: str, name: str) -> float:
    package = importlib.import_module(f"{robot}_casadi")
    f = getattr(package, kind)(name)
    buffer, trigger = f.buffer()
    rng = np.random.default_rng(0)
    held = [rng.uniform(-1, 1, f.nnz_in(k)) for k in range(f.n_in())]
    held += [np.zeros(f.nnz_out(k)) for k in range(f.n_out())]
    for k, x in enumerate(held):
        given, place = (buffer.set_arg, k) if k < f.n_in() else (buffer.set_res, k - f.n_in())
        given(place, memoryview(x))
    return least(trigger, 1)


if __name__ == "__main__":
    folder, robot, kind, *names = sys.argv[1:]
    sys.path.insert(0, folder)
    run = by_casadi if kind in ("graph", "external") else by_jax
    print(*(run(robot, kind, name) for name in names))

"""JAX: a package with pure functions, and the same through compiled C that XLA calls."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import Final

from symgen.languages.backends.python import BACKEND as PYTHON
from symgen.languages.backends.python import package_files, python_tuple, states_files
from symgen.languages.c.backend import with_performance_defaults
from symgen.languages.describe import (
    FunctionDescription,
    derivative_output,
    descriptions,
)
from symgen.languages.dialect import Dialect, operation_table
from symgen.languages.external_runner import ExternalRunner, package_runner
from symgen.languages.module import Module
from symgen.languages.verification import Check, VerificationTarget
from symgen.languages.writer import Block, CodeLine, FunctionBody, code_blocks
from symgen.render import render

VALUES_PER_RUN: Final = 6
"""Values that are computed before they are held: XLA for CPUs computes a value again wherever it is
read, unless it comes from elsewhere. (Panda M in `vmap`, a state: 2.8 µs with nothing held, 0.5
with every value, 0.7 by 8, 0.9 by 30.)"""

WITHOUT_COMPILER: Final = "the functions of the package itself need none"
"""What still works without a C compiler."""


def package_name(module: Module) -> str:
    """The name of the package."""
    return f"{module.name}_jax"


def files(module: Module) -> dict[str, str]:
    """The package: pure functions, those through C, how the C is compiled, and the C."""
    context = BACKEND.context(module) | {
        "package": package_name(module),
        "moves": {d.name: _derivative_calls(module, d) for d in descriptions(module)},
        "tuple": python_tuple,
    }
    texts = {
        "__init__.py": render("jax/package.py.jinja", **context),
        "native.py": render("jax/native.py.jinja", **context),
    }
    facts = {"framework": "JAX", "requirement": "jax>=0.6", "without": WITHOUT_COMPILER}
    texts |= package_files(module, package_name(module), **facts, headers="jax")
    texts |= _c_files(module)
    return {f"{package_name(module)}/{name}": text for name, text in texts.items()}


def _blocks_with_held_values(body: FunctionBody, dialect: Dialect) -> list[Block]:
    """The blocks of a body; values that are read further below are held, after each run of
    statements of a step of the algorithm that makes at most `VALUES_PER_RUN` values."""
    steps, ends, count = body.steps, [0], 0
    for k, s in enumerate(steps):
        count += len(s.defines)
        following = steps[k + 1].section if k + 1 < len(steps) else None
        if count >= VALUES_PER_RUN or following != s.section:
            ends.append(k + 1)
            count = 0
    last = {node: k for k, s in enumerate(steps) for node in s.reads}
    result: list[Block] = []
    for start, end in pairwise(ends):
        (block,) = code_blocks(steps[start:end], body.names, dialect)
        if result and result[-1].title == block.title:
            result[-1].lines += block.lines
        else:
            result.append(block)
        made = (n for s in steps[start:end] for n in s.defines)
        live_later = [body.names[n] for n in made if last.get(n, 0) >= end]
        if live_later:
            target = f"({live_later[0]},)" if len(live_later) == 1 else ", ".join(live_later)
            result[-1].lines.append(CodeLine((target,), f"_held({', '.join(live_later)})"))
    return result


BACKEND: Final = replace(
    PYTHON,
    dialect=replace(
        PYTHON.dialect, operations=operation_table(lambda op: f"jnp.{op.numpy or op.name}({{a}})")
    ),
    make_blocks=_blocks_with_held_values,
)


@dataclass(frozen=True)
class DerivativeCalls:
    """How outputs move with the inputs: our derivatives, from functions of the module."""

    calls: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]
    """The functions called: name, inputs, and the outputs or ``_`` for those of no interest."""
    parts: tuple[tuple[str, tuple[str, ...], int], ...]
    """Each output with its derivatives in the inputs, and how many axes it has."""


def _derivative_calls(module: Module, d: FunctionDescription) -> DerivativeCalls | None:
    """None where the module has not all the derivatives of a function."""
    described, known = descriptions(module), dict[tuple[str, str], str]()
    called = dict[str, FunctionDescription]()
    for out, a in product(d.outs, d.ins):
        found = derivative_output(module, described, d, out.name, a.name)
        if found is None:
            return None
        function, known[out.name, a.name] = found
        called[function.name] = function
    names = set(known.values())
    for function in sorted(called.values(), key=lambda d: len(d.program.nodes)):
        others = {a.name for x in called.values() if x is not function for a in x.outs}
        if names & {a.name for a in function.outs} <= others:
            del called[function.name]
    calls = tuple(
        (
            other.name,
            tuple(a.name for a in other.ins),
            tuple(a.name if a.name in names else "_" for a in other.outs),
        )
        for other in called.values()
    )
    parts = tuple(
        (out.name, tuple(known[out.name, a.name] for a in d.ins), len(out.sizes)) for out in d.outs
    )
    return DerivativeCalls(calls, parts)


def _c_files(module: Module) -> dict[str, str]:
    """The C in the package's folder ``c``: double precision, and what is fastest."""
    choices = module.choices.changed(
        scalar="double", zeros="always", trig="libm", batch=None, per_state=()
    )
    embedded = with_performance_defaults(
        replace(module, name=package_name(module), choices=choices)
    )
    texts = states_files(embedded, f"{embedded.name}_ffi.c", "jax/ffi.c.jinja")
    return {f"c/{name}": text for name, text in texts.items()}


MAX_JIT_OPERATIONS: Final = 120
"""Operations of a function up to which it is compiled by XLA; operation by operation is quicker for
one that is run once."""

JAX_SETUP: Final = """
import os
os.environ["JAX_PLATFORMS"] = "cpu"
import jax
jax.config.update("jax_enable_x64", True)
"""

RUN_FUNCTIONS: Final = """
def results(name, arrays):
    call = getattr(robot, name)
    made = (jax.jit(jax.vmap(call)) if name in {compiled} else call)(*arrays)
    return made if isinstance(made, tuple) else (made,)
"""


def pure_runner(module: Module) -> ExternalRunner:
    """The pure functions of a package."""
    package = package_name(module)
    small_functions = sorted(
        f.name for f in module.functions if f.counts.total <= MAX_JIT_OPERATIONS
    )
    setup = (
        f"{JAX_SETUP}import {package} as robot\n{RUN_FUNCTIONS.format(compiled=small_functions)}"
    )
    return package_runner("JAX", setup, "jax")


def native_runner(module: Module) -> ExternalRunner:
    """The check of the functions that call compiled C."""
    package = package_name(module)
    built = f"from {package}.build import build\nbuild()\nfrom {package} import native as robot\n"
    names = sorted(f.name for f in module.functions)
    setup = f"{JAX_SETUP}{built}{RUN_FUNCTIONS.format(compiled=names)}"
    return package_runner("C called by JAX", setup, "jax")


def checks(target: VerificationTarget, progress: Callable[[str], None]) -> Iterator[Check]:
    """The checks of the package of a folder."""
    for runner in (pure_runner(target.module), native_runner(target.module)):
        yield from runner.checks(target, progress)

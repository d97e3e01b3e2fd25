"""JAX: a package with pure functions, and the same through compiled C that XLA calls."""

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from symgen.languages.backends.python import BACKEND as PYTHON
from symgen.languages.backends.python import package_files, python_tuple
from symgen.languages.backends.python_extension import states_files
from symgen.languages.c.options import with_performance_defaults
from symgen.languages.describe import (
    FunctionDescription,
    derivative_output,
    descriptions,
)
from symgen.languages.dialect import Dialect, call, functions
from symgen.languages.external_runner import ExternalRunner, package_runner
from symgen.languages.module import Module
from symgen.languages.verification import Check, VerificationTarget
from symgen.languages.writer import Block, CodeLine, FunctionBody, Step, blocks
from symgen.render import render

HELD: Final = 6
"""Values that are computed before they are held: XLA for CPUs computes a value again wherever it is
read, unless it comes from elsewhere. (Panda M in `vmap`, a state: 2.8 µs with nothing held, 0.5
with every value, 0.7 by 8, 0.9 by 30.)"""

WITHOUT: Final = "the functions of the package itself need none"
"""What still works without a C compiler."""


def package_name(module: Module) -> str:
    """The name of the package."""
    return f"{module.name}_jax"


def files(module: Module) -> dict[str, str]:
    """The package: pure functions, those through C, how the C is compiled, and the C."""
    context = BACKEND.context(module) | {
        "package": package_name(module),
        "moves": {d.name: _move(module, d) for d in descriptions(module)},
        "tuple": python_tuple,
    }
    texts = {
        "__init__.py": render("jax/package.py.jinja", **context),
        "native.py": render("jax/native.py.jinja", **context),
    }
    facts = {"framework": "JAX", "requirement": "jax>=0.6", "without": WITHOUT, "headers": "jax"}
    texts |= package_files(module, package_name(module), **facts)
    return {f"{package_name(module)}/{name}": text for name, text in (texts | _c(module)).items()}


def _held_blocks(body: FunctionBody, dialect: Dialect) -> list[Block]:
    """The blocks of a body; values that are read further below are held."""
    last = {node: k for k, s in enumerate(body.steps) for node in s.reads}
    result: list[Block] = []
    for start, end in pairwise(_ends(body.steps)):
        (block,) = blocks(body.steps[start:end], body.names, dialect)
        if result and result[-1].title == block.title:
            result[-1].lines += block.lines
        else:
            result.append(block)
        made = (n for s in body.steps[start:end] for n in s.makes)
        held = [body.names[n] for n in made if last.get(n, 0) >= end]
        if held:
            target = f"({held[0]},)" if len(held) == 1 else ", ".join(held)
            result[-1].lines.append(CodeLine((target,), f"_held({', '.join(held)})"))
    return result


def _ends(steps: Sequence[Step]) -> list[int]:
    """Where runs of statements begin and end that make at most `HELD` values in a step of the
    algorithm."""
    ends, count = [0], 0
    for k, s in enumerate(steps):
        count += len(s.makes)
        following = steps[k + 1].section if k + 1 < len(steps) else None
        if count >= HELD or following != s.section:
            ends.append(k + 1)
            count = 0
    return ends


BACKEND: Final = replace(
    PYTHON,
    dialect=replace(
        PYTHON.dialect, operations=functions(lambda op: call(f"jnp.{op.numpy or op.name}"))
    ),
    arrange=_held_blocks,
)


@dataclass(frozen=True)
class DerivativeCalls:
    """How outputs move with the inputs: our derivatives, from functions of the module."""

    calls: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]
    """The functions called: name, inputs, and the outputs or ``_`` for those of no interest."""
    parts: tuple[tuple[str, tuple[str, ...], int], ...]
    """Each output with its derivatives in the inputs, and how many axes it has."""


def _move(module: Module, d: FunctionDescription) -> DerivativeCalls | None:
    """None where the module has not all the derivatives of a function."""
    described = descriptions(module)
    moved = {
        (out.name, a.name): derivative_output(module, described, d, out.name, a.name)
        for out in d.outs
        for a in d.ins
    }
    slopes = {key: x for key, x in moved.items() if x is not None}
    if len(slopes) < len(moved):
        return None
    names = {name for _, name in slopes.values()}
    derivatives = _without_repeats([other for other, _ in slopes.values()], names)
    calls = tuple(
        (
            other.name,
            tuple(a.name for a in other.ins),
            tuple(a.name if a.name in names else "_" for a in other.outs),
        )
        for other in derivatives
    )
    parts = tuple(
        (out.name, tuple(slopes[out.name, a.name][1] for a in d.ins), len(out.sizes))
        for out in d.outs
    )
    return DerivativeCalls(calls, parts)


def _without_repeats(
    functions: Sequence[FunctionDescription], names: AbstractSet[str]
) -> list[FunctionDescription]:
    """The functions, each once, without those whose outputs in `names` the others have too."""
    called = {d.name: d for d in functions}
    for d in sorted(called.values(), key=lambda d: len(d.program.nodes)):
        others = {a.name for other in called.values() if other is not d for a in other.outs}
        if names & {a.name for a in d.outs} <= others:
            del called[d.name]
    return list(called.values())


def _c(module: Module) -> dict[str, str]:
    """The C in the package's folder ``c``: double precision, and what is fastest."""
    choices = module.choices.changed(
        scalar="double", zeros="always", trig="libm", batch=None, per_state=()
    )
    embedded = with_performance_defaults(
        replace(module, name=package_name(module), choices=choices)
    )
    texts = states_files(embedded, f"{embedded.name}_ffi.c", "jax/ffi.c.jinja")
    return {f"c/{name}": text for name, text in texts.items()}


SHORT: Final = 120
"""Operations of a function up to which it is compiled by XLA; operation by operation is quicker for
one that is run once."""

SETUP: Final = """
import os
os.environ["JAX_PLATFORMS"] = "cpu"
import jax
jax.config.update("jax_enable_x64", True)
"""

RESULTS: Final = """
def results(name, arrays):
    call = getattr(robot, name)
    made = (jax.jit(jax.vmap(call)) if name in {short} else call)(*arrays)
    return made if isinstance(made, tuple) else (made,)
"""


def pure(module: Module) -> ExternalRunner:
    """The pure functions of a package."""
    package = package_name(module)
    short = sorted(f.name for f in module.functions if f.counts.total <= SHORT)
    setup = f"{SETUP}import {package} as robot\n{RESULTS.format(short=short)}"
    return package_runner("JAX", setup, "jax")


def native(module: Module) -> ExternalRunner:
    """The check of the functions that call compiled C."""
    package = package_name(module)
    built = f"from {package}.build import build\nbuild()\nfrom {package} import native as robot\n"
    names = sorted(f.name for f in module.functions)
    setup = f"{SETUP}{built}{RESULTS.format(short=names)}"
    return package_runner("C called by JAX", setup, "jax")


def checks(target: VerificationTarget, progress: Callable[[str], None]) -> Iterator[Check]:
    """The checks of the package of a folder."""
    yield from pure(target.module).checks(target, progress)
    yield from native(target.module).checks(target, progress)

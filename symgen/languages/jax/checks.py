"""JAX proven: it runs the pure functions, and those through compiled C, in every state."""

from collections.abc import Callable, Iterator
from typing import Final

from symgen.languages.jax.files import package as package_name
from symgen.languages.module import Module
from symgen.languages.outside import Outside, Runner
from symgen.languages.subject import Check, Subject

PACKAGES: Final = ("jax",)

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


def pure(module: Module) -> Outside:
    """The pure functions of a package."""
    package = package_name(module)
    short = sorted(f.name for f in module.functions if f.counts.total <= SHORT)
    runner = Runner(f"{SETUP}import {package} as robot\n{RESULTS.format(short=short)}")
    return Outside("JAX", (), runner.started, packages=PACKAGES)


def native(module: Module) -> Outside:
    """The check of the functions that call compiled C."""
    package = package_name(module)
    built = f"from {package}.build import build\nbuild()\nfrom {package} import native as robot\n"
    names = sorted(f.name for f in module.functions)
    runner = Runner(f"{SETUP}{built}{RESULTS.format(short=names)}")
    return Outside("C called by JAX", (), runner.started, packages=PACKAGES)


def checks(subject: Subject, progress: Callable[[str], None]) -> Iterator[Check]:
    """The checks of the package of a folder."""
    yield from pure(subject.module).checks(subject, progress)
    yield from native(subject.module).checks(subject, progress)

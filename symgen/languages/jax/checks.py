"""JAX proven: it runs the pure functions, and those through compiled C, in every state."""

from collections.abc import Callable, Iterator
from typing import Final

from symgen.languages.jax.files import package as package_name
from symgen.languages.outside import Outside
from symgen.languages.packages import Runner
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


def checks(subject: Subject, progress: Callable[[str], None]) -> Iterator[Check]:
    """The checks of the package of a folder."""
    module = subject.module
    package = package_name(module)
    short = sorted(f.name for f in module.functions if f.counts.total <= SHORT)
    pure = Runner(f"{SETUP}import {package} as robot\n{RESULTS.format(short=short)}")
    yield from Outside("JAX", (), pure.started, packages=PACKAGES).checks(subject, progress)
    built = f"from {package}.build import build\nbuild()\nfrom {package} import native as robot\n"
    every = sorted(f.name for f in module.functions)
    native = Runner(f"{SETUP}{built}{RESULTS.format(short=every)}")
    label = "C called by JAX"
    yield from Outside(label, (), native.started, packages=PACKAGES).checks(subject, progress)

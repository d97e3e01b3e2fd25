"""The size and time of large functions, estimated before they are generated."""

from collections.abc import Sequence
from math import prod
from typing import Final

from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.model import RigidBodyModel
from symgen.tracing.wanted import Wanted

LARGE: Final = 15_000
"""Output entries of a function from which on an estimate is printed."""

C_BYTES: Final = 500
MEMORY: Final = 65_000
SECONDS: Final = 1.5e-3
"""Bytes of C, bytes of memory and seconds for each output entry: measured at the derivatives of
inverse dynamics of a chain of 100 joints (15 MB, 2.0 GB, 42 s for 30,000 entries). Entries of other
matrices take less: those of the mass matrix 290 B, 15 kB and 0.5 ms."""


def remarks(model: RigidBodyModel, functions: Sequence[Wanted]) -> list[str]:
    """A sentence for each function with so many output entries that it takes long. Structural zeros
    count, so that trees with many branches take less."""
    sizes = _sizes(model)
    counts = {
        wanted.name: sum(
            prod(axis if isinstance(axis, int) else sizes.get(axis, 1) for axis in out.shape)
            for quantity in wanted.quantities
            for out in quantity.outputs
        )
        for wanted in functions
    }
    return [_sentence(name, count) for name, count in counts.items() if count >= LARGE]


def _sizes(model: RigidBodyModel) -> dict[str, int]:
    """The sizes of arrays that are known before parameters are regrouped."""
    n, ten = coupling_of(model).velocities, 10 * len(model.bodies)
    return {"n": n, "n2": n * (n + 1) // 2, "ten": ten, "y": ten, "b": ten, "y_b": ten}


def _sentence(name: str, count: int) -> str:
    return (
        f"{name} has {count:,} entries, which can take up to {count * C_BYTES / 1e6:.0f} MB of C, "
        f"{count * MEMORY / 1e9:.1f} GB of memory and {count * SECONDS:.0f} s"
    )

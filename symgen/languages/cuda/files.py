"""CUDA: the files of a module."""

from functools import lru_cache
from typing import Final

from symgen.languages.c.dialect import LIMITS, ULP, rows, steps
from symgen.languages.c.files import FAILURE, LAYOUTS
from symgen.languages.c.options import COptions
from symgen.languages.c.text import LARGEST, SUFFIX, comment, literal, numbers
from symgen.languages.conventions import convention_lines
from symgen.languages.cuda.function import CudaFunction
from symgen.languages.describe import descriptions, laid_out, tables
from symgen.languages.local_names import listed
from symgen.languages.module import Module
from symgen.render import render

THREADS: Final = 128
"""A block of threads: four warps, so that a function with many registers still has several blocks
on a processor."""


@lru_cache(maxsize=4)
def cuda_functions(module: Module) -> tuple[CudaFunction, ...]:
    """The functions of a module as CUDA."""
    return tuple(CudaFunction(module, d) for d in descriptions(module))


def files(module: Module) -> dict[str, str]:
    """The header for whoever launches kernels, what functions of the device share, and of each
    function the part for a device, in a header, and its kernel.

    Raises OptionError where the scalar type cannot hold the robot's numbers."""
    kernels, c = cuda_functions(module), module[COptions]
    limit, _, bound, _ = LIMITS[c.scalar]
    shared = {
        "module": module,
        "c": c,
        "functions": kernels,
        "conventions": convention_lines(module),
        "tables": tables(module, comment),
        "comment": comment,
        "listed": listed,
        "threads": THREADS,
        "largest": literal(LARGEST[c.scalar], c.scalar),
        "numbers": lambda values: numbers(values, c.scalar),
        "layouts": [LAYOUTS[a.layout](module.name, a) for a in laid_out(descriptions(module))],
        "shared_names": dict.fromkeys(a.name for f in kernels for a in f.shared),
        "failure": FAILURE,
        "zero": literal(0.0, c.scalar),
        "f": SUFFIX[c.scalar],
        "sines": {"limit": limit, "bound": bound, "ulp": ULP},
        "steps": steps(c.scalar),
        "rows": rows,
    }
    folder = f"{module.name}_cuda"
    texts = {
        f"{folder}/{folder}.h": render("cuda/module.h.jinja", **shared),
        f"{folder}/device.cuh": render("cuda/device.cuh.jinja", **shared),
    }
    for function in kernels:
        for end in ("cuh", "cu"):
            text = render(f"cuda/function.{end}.jinja", **shared, function=function)
            texts[f"{folder}/{function.d.name}.{end}"] = text
    return texts

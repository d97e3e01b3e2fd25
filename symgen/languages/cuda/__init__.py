"""CUDA C++: kernels for many states, one thread a state, with a host build of the same source."""

from typing import Final

from symgen.languages.c import KEYWORDS, MACROS
from symgen.languages.language import Language

CUDA: Final = Language(
    name="cuda",
    summary="kernels for many states on a GPU, one thread per state; also compile for the CPU",
    main="{name}_cuda/{name}_cuda.h",
    keywords=KEYWORDS,
    taken=MACROS
    | frozenset({"device", "finite_sum", "regular", "sine", "cosine", "sine_cosine", "std"}),
)

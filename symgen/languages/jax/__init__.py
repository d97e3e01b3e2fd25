"""JAX: pure functions for jit, vmap and grad, and the same through compiled C on CPUs."""

from keyword import kwlist
from typing import Final

from symgen.languages.c import KEYWORDS, TAKEN
from symgen.languages.language import Language
from symgen.languages.python import BUILTINS

JAX: Final = Language(
    name="jax",
    summary="pure functions for jit, vmap and grad; on CPUs also through compiled C",
    main="{name}_jax/__init__.py",
    keywords=KEYWORDS | frozenset(kwlist),
    standard=frozenset({"jax"}),
    taken=TAKEN
    | BUILTINS
    | frozenset({"jnp", "math", "pure", "library", "gamma_index", "jax", "ctypes"}),
)

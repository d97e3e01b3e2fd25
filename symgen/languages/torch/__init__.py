"""PyTorch: operators with gradients, through compiled C on CPUs and kernels on GPUs."""

from keyword import kwlist
from typing import Final

from symgen.languages.c import KEYWORDS, TAKEN
from symgen.languages.cuda import CUDA
from symgen.languages.language import Language
from symgen.languages.python import BUILTINS

TORCH: Final = Language(
    name="torch",
    summary="operators with gradients for autograd, vmap and torch.compile, on CPUs and GPUs",
    main="{name}_torch/__init__.py",
    keywords=KEYWORDS | frozenset(kwlist),
    standard=frozenset({"torch"}),
    taken=TAKEN
    | CUDA.taken
    | BUILTINS
    | frozenset({"ctypes", "inspect", "math", "library", "build", "cuda", "gamma_index", "torch"})
    | frozenset({"enumerate", "frozenset", "getattr", "iter", "staticmethod"}),
)

"""Languages: a folder each, with its templates in templates/; `LANGUAGES` is their registry.

Knows mechanics, tracing, proof and native code; offers `LANGUAGES`, what a `Language` is, and the
`Module` that it writes."""

from typing import Final

from symgen.languages.c import C
from symgen.languages.casadi import CASADI
from symgen.languages.cpp import CPP
from symgen.languages.cuda import CUDA
from symgen.languages.javascript import JAVASCRIPT
from symgen.languages.jax import JAX
from symgen.languages.language import Language
from symgen.languages.matlab import MATLAB
from symgen.languages.python import PYTHON
from symgen.languages.rust import RUST

LANGUAGES: Final[dict[str, Language]] = {
    language.name: language
    for language in (C, PYTHON, CPP, RUST, JAVASCRIPT, CUDA, MATLAB, CASADI, JAX)
}
"""All languages by name."""

DEFAULT: Final = ("c", "python")
"""What is written where no language is named."""

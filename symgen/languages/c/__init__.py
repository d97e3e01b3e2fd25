"""C99: small, without heap or globals, clean under strict warnings."""

from typing import Final

from symgen.languages.c.options import COptions
from symgen.languages.c.words import KEYWORDS, STANDARD, TAKEN
from symgen.languages.language import Language

C: Final = Language(
    name="c",
    summary="C99 without heap or globals, with a self-test; C++ takes it as it is",
    main="{name}.h",
    keywords=KEYWORDS,
    standard=STANDARD,
    taken=TAKEN,
    options=COptions,
    refuse=COptions.check_functions,
    reports=True,
)

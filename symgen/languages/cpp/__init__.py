"""C++17: one header of templates over the number type, in a namespace of the module's own."""

from typing import Final

from symgen.languages.c import KEYWORDS
from symgen.languages.language import Language

CPP: Final = Language(
    name="cpp",
    aliases=("c++", "cxx"),
    summary="C++17 header: templates over float, double or autodiff types; arrays and Eigen",
    main="{name}_robot.hpp",
    keywords=KEYWORDS,
    taken=frozenset(
        {"column_major", "detail", "joint_names", "nq", "nv", "parameters", "std", "type"}
    ),
)

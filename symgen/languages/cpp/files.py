"""C++: how it is written, and the two headers of a module."""

from typing import Final

from symgen.languages.c.text import comment, literal
from symgen.languages.describe import Argument, FunctionDescription, descriptions
from symgen.languages.dialect import Dialect, call, functions
from symgen.languages.module import Module
from symgen.languages.straight import Style, called
from symgen.render import render

OWN: Final = ("sign",)
"""Functions of the tape that C++ has not: templates of the header's."""

DIALECT: Final = Dialect(
    operations=functions(lambda op: call(f"detail::{op.name}" if op.name in OWN else op.name)),
    literal=lambda x: f"Real({literal(x, 'double')})",
    input=lambda array, k: f"{array}[{k}]",
    declare="const Real {name}",
    entry=lambda array, shape, k: f"{array}[{k}]",
)


def files(module: Module) -> dict[str, str]:
    """The header, and one that gives its functions vectors and matrices of Eigen."""
    context = STYLE.context(module) | {
        "space": f"{module.name}_robot",
        "guard": f"{module.name.upper()}_ROBOT",
        "matrix": matrix,
        "called": {d.name: _called(d) for d in descriptions(module)},
    }
    return {
        f"{module.name}_robot.hpp": render("cpp/module.hpp.jinja", **context),
        f"{module.name}_robot_eigen.hpp": render("cpp/eigen.hpp.jinja", **context),
    }


def _called(d: FunctionDescription) -> list[str]:
    """The functions that are found by their argument, or else in std."""
    return [name for name in called([d.program]) if name not in OWN]


def text(name: str) -> str:
    """`name` as a string literal in plain ASCII: what is not plain in octal escapes of UTF-8."""
    plain = (
        chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in name.encode()
    )
    return f'"{"".join(plain)}"'


def packed_pairs(a: Argument) -> list[str]:
    """A function for the place of entry i, j, k of the layout PACKED_PAIRS."""
    n, pairs = a.sizes
    return [
        f"/* Where entry i, j, k (as i, k, j; from 0) is in the packed {a.name}. */",
        f"constexpr std::size_t {a.name.lower()}_index("
        "std::size_t i, std::size_t j, std::size_t k)",
        "{",
        "    const std::size_t low = j < k ? j : k, high = j < k ? k : j;",
        f"    return {pairs} * i + ({2 * n - 1} - low) * low / 2 + high;",
        "}",
    ]


def matrix(a: Argument) -> tuple[int, int]:
    """Rows and columns of an array in Eigen: those of a matrix, one column of all else."""
    return (a.sizes[0], a.sizes[1]) if len(a.sizes) == 2 else (a.size, 1)


STYLE: Final = Style(DIALECT, comment, text, packed_pairs, "/* {} */")

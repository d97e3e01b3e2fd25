"""`robot.symbolic`: all quantities of a robot as SymPy expressions."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from itertools import count
from math import prod
from typing import Any, Final

import sympy

from symgen.algorithms import INPUTS, LINK_QUANTITIES, QUANTITIES
from symgen.compiler.program import Output
from symgen.errors import OptionError
from symgen.jobs.job import Job
from symgen.mechanics.model import RigidBodyModel
from symgen.symbolic.closed_form import ClosedForms, Relations, grouping_relations
from symgen.symbolic.symbol_graph import (
    Meanings,
    NumberFormat,
    Replacements,
    as_float,
    as_fraction,
    as_latex,
    replacements,
    with_short_decimals,
)
from symgen.symbolic.symbolic_trace import SymbolChoice, SymbolicTrace, trace_symbolically
from symgen.text import cited, quoted, shown
from symgen.tracing.request import find_quantity
from symgen.tracing.robot import ParametricModel

NUMBER_FORMATS: dict[str, NumberFormat] = {"float": as_float, "rational": as_fraction}


class Symbolic:
    """The quantities of a robot as SymPy expressions; every quantity is a method.

    >>> symbolic = symgen.Robot("arm.urdf").symbolic
    >>> symbolic.mass_matrix()
    >>> symbolic.mass_matrix(q=[0, q2, 0], masses="symbols", lengths="symbols")
    >>> symbolic.frame_pose("tool0")["p"]
    >>> replacements, (C,) = symbolic.cse("coriolis_matrix")

    Keyword arguments of a method:

    - inputs of the quantity (`q`, `qd`, ...) as numbers or expressions; by default symbols q1,
      qdot1, ...
    - `masses` and `lengths`: "numbers" of the robot or "symbols". The symbols are m1, hx1, ...,
      Izz1 for the inertial parameters of body 1 about the origin of its link frame, and b1, d1, r1
      for the lengths of the canonical frames (the inertial parameters are then in these frames).
      `meanings` explains the symbols.
    - `numbers`: "float" (with as few digits as represent the coefficient to 14 digits) or
      "rational" (exact fractions).
    - `names`: "numbers" for q1 or "joints" for q_shoulder.
    - `output`: the name of one of several outputs.

    A method returns a `sympy.Matrix` (a column for a vector), a `sympy.Array` for an output with
    three indices, or a dict of these by name if there are several outputs. Raises OptionError if a
    closed form is too large; `cse` has no such limit."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._traces: dict[object, SymbolicTrace] = {}
        self._closed: dict[object, ClosedForms] = {}

    def __repr__(self) -> str:
        return f"Symbolic({self._robot.model.name!r})"

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *QUANTITIES, *LINK_QUANTITIES]

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name in LINK_QUANTITIES:
            return lambda link, **options: self.quantity(f"{name}:{link}", **options)
        if name not in QUANTITIES:
            raise AttributeError(f"no quantity is called {name!r}; symgen list shows them all")
        return partial(self.quantity, name)

    @cached_property
    def _robot(self) -> ParametricModel:
        robot = self._job.robot(self._job.load())
        if robot.runtime:
            raise OptionError(
                "parameters='runtime' applies only to generated code; use "
                "masses='symbols' for symbolic expressions"
            )
        return robot

    @property
    def model(self) -> RigidBodyModel:
        """The tree of bodies."""
        return self._robot.model

    def output(self, name: str, output: str | None = None, **options: Any) -> tuple[Output, str]:
        """Return an output of a quantity, the first by default, and its unit. The name of an
        output of a link does not need the name of the link. Raises OptionError."""
        trace = self._trace(name, options)[0]
        prefixes = {f"{x}_": x for x in (output,) if x is not None and trace.quantity.link}
        of_link = [
            out.name for out in trace.outputs if any(out.name.startswith(x) for x in prefixes)
        ]
        is_full_name = output in [out.name for out in trace.outputs]
        chosen = trace.output(of_link[0] if of_link and not is_full_name else output)
        unit = next(x.unit for x in trace.quantity.outputs if x.name == chosen.name)
        return chosen, unit

    # -- closed forms ------------------------------------------------------------------------------

    def quantity(self, name: str, *, output: str | None = None, **options: Any) -> Any:
        """Return all entries of a quantity (``NAME`` or ``NAME:LINK``) in closed form. The options
        are described at the class."""
        trace, closed_forms = self._closed_forms(name, options)
        returned = trace.outputs if output is None else (trace.output(output),)
        arrays = {
            out.name: as_array(
                out,
                [
                    with_short_decimals(closed_forms.expression(ref, f"{name}: entry {k}"))
                    for k, ref in enumerate(out.refs, 1)
                ],
            )
            for out in returned
        }
        return arrays if len(arrays) > 1 else next(iter(arrays.values()))

    def entry(
        self, name: str, *indices: int, output: str | None = None, **options: Any
    ) -> sympy.Expr:
        """Return one entry of a quantity in closed form; indices begin at 1."""
        trace, closed_forms = self._closed_forms(name, options)
        out = trace.output(output)
        if not indices and prod(out.shape) == 1:
            indices = (1,) * len(out.shape)
        pairs = zip(indices, out.shape, strict=False)
        inside = [isinstance(k, int) and 1 <= k <= n for k, n in pairs]
        if len(indices) != len(out.shape) or not all(inside):
            sizes = " x ".join(map(str, out.shape))
            raise OptionError(
                f"{name}: {out.name} has {sizes} entries, counted from 1; "
                f"there is no {','.join(map(str, indices))}"
            )
        index = 0
        for k, n in zip(indices, out.shape, strict=True):
            index = index * n + k - 1
        label = f"{name}:{','.join(map(str, indices))}"
        return with_short_decimals(closed_forms.expression(out.refs[index], label))

    def latex(self, name: str, *indices: int, **options: Any) -> str:
        r"""Return a quantity with one output, or one entry of it, in closed form as LaTeX.

        Inertial parameters are printed as I_{xx,2}, h_{x,2} and m_{2}, where `sympy.latex` prints
        Ixx_{2}. The arguments are those of `quantity` and, with indices, of `entry`. Raises
        OptionError, also for a quantity with several outputs of which `output` selects none."""
        if indices:
            return as_latex(self.entry(name, *indices, **options))
        found = self.quantity(name, **options)
        if isinstance(found, dict):
            raise OptionError(f"{name} has several outputs; give output= one of {quoted(found)}")
        return as_latex(found)

    def base_parameters(self, lengths: str = "numbers", numbers: str = "float") -> Relations:
        """Return the base parameters (MXR_2, ZZR_1, ...) by name as expressions of the inertial
        parameters of the bodies: the grouping relations of Gautier and Khalil in closed form.
        `lengths` and `numbers` are described at the class."""
        number, symbol_choice = (
            _check_choice("numbers", numbers, NUMBER_FORMATS),
            SymbolChoice.of("symbols", lengths),
        )
        return Relations(
            (row.name, with_short_decimals(row.expression))
            for row in grouping_relations(self._robot, symbol_choice, number)
        )

    # -- programs ----------------------------------------------------------------------------------

    def cse(
        self, name: str, symbols: Iterable[sympy.Symbol] | None = None, **options: Any
    ) -> tuple[Replacements, list[Any]]:
        """Return a quantity in the form of `sympy.cse`, taken from the expression graph: an ordered
        list of replacements, and the outputs as matrices of expressions.

        `symbols` is an iterator of symbols for the replacements (x0, x1, ... by default). The
        result can be passed to SymPy's printers, `lambdify` and `autowrap`."""
        trace, number = self._trace(name, options)
        default = (sympy.Symbol(f"x{k}", real=True) for k in count())
        return replacements(
            trace.tape, trace.outputs, number, iter(symbols) if symbols else default, as_array
        )

    def inputs(self, name: str, **options: Any) -> dict[str, tuple[sympy.Expr, ...]]:
        """Return the symbols of each input of a quantity by name, in the order of the arguments."""
        return dict(self._trace(name, options)[0].inputs)

    def meanings(self, name: str, **options: Any) -> Meanings:
        """Return the meanings, units and numerical values of the symbols of a quantity."""
        return Meanings(self._trace(name, options)[0].meanings)

    # -- sheets ------------------------------------------------------------------------------------

    def _closed_forms(
        self, name: str, options: Mapping[str, Any]
    ) -> tuple[SymbolicTrace, ClosedForms]:
        trace, number = self._trace(name, options)
        key = id(trace), number
        if key not in self._closed:
            self._closed[key] = ClosedForms(trace.tape, number, trace.chains)
        return trace, self._closed[key]

    def _trace(self, name: str, options: Mapping[str, Any]) -> tuple[SymbolicTrace, NumberFormat]:
        """The cached symbolic trace of a quantity, and the format of its numbers. Raises
        OptionError."""
        remaining = dict(options)
        symbol_choice = SymbolChoice.of(
            remaining.pop("masses", "numbers"), remaining.pop("lengths", "numbers")
        )
        number = _check_choice("numbers", remaining.pop("numbers", "float"), NUMBER_FORMATS)
        joints = _check_choice(
            "names", remaining.pop("names", "numbers"), {"numbers": False, "joints": True}
        )
        quantity = find_quantity(name)
        given = {
            array: _as_expressions(array, x) for array, x in remaining.items() if x is not None
        }
        unknown = [array for array in given if array not in INPUTS]
        if unknown:
            raise OptionError(
                f"{name}: no option is called {quoted(unknown)}; see help(Symbolic), and "
                "robot.with_options(...) for those of the robot, such as gravity='runtime'"
            )
        key = (name, symbol_choice, joints, tuple((k, tuple(x)) for k, x in given.items()))
        if key not in self._traces:
            self._traces[key] = trace_symbolically(
                self._robot, quantity, symbol_choice, joints, given
            )
        return self._traces[key], number


def _check_choice(option: str, word: str, words: Mapping[str, Any]) -> Any:
    if word not in words:
        raise OptionError(f"{option}={cited(word)}: use {' or '.join(map(repr, words))}")
    return words[word]


def _as_expressions(array: str, values: Any) -> list[sympy.Expr]:
    """The entries of a vector: a list, a NumPy array or a SymPy matrix. Raises OptionError."""
    try:
        entries = None if isinstance(values, (str, dict)) else [sympy.sympify(x) for x in values]
    except (TypeError, sympy.SympifyError):
        entries = None
    if entries is None:
        raise OptionError(
            f"{array} is {shown(str(values), 60)}; give a list of numbers or expressions"
        )
    for x in entries:
        if not isinstance(x, sympy.Expr) or x.has(*NOT_REAL):
            raise OptionError(
                f"{array} has {shown(str(x), 60)}; give real numbers or expressions of them"
            )
    return entries


NOT_REAL: Final = (sympy.I, sympy.nan, sympy.zoo, sympy.oo, -sympy.oo)


def as_array(out: Output, entries: Sequence[sympy.Expr]) -> Any:
    """The entries of an output in its shape."""
    if len(out.shape) > 2:
        return sympy.ImmutableDenseNDimArray(entries, out.shape)
    rows, columns = out.shape if len(out.shape) == 2 else (len(entries), 1)
    return sympy.Matrix(rows, columns, list(entries))

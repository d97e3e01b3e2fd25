"""Base parameters in closed form: what regrouping makes of the parameters, lengths as symbols.

(Gautier & Khalil, IEEE T-RA 1990; SYMORO prints the same relations for arms given in modified
Denavit and Hartenberg's parameters.)"""

from dataclasses import dataclass, replace

import sympy

from symgen.errors import OptionError
from symgen.mechanics.base_parameters import base_names, base_values, latex_name, link_of_parameter
from symgen.mechanics.canonical_model import CanonicalModel, LinkFrame
from symgen.mechanics.independence import IndependentParameters, independent_parameters
from symgen.mechanics.model import PARAMETER_NAMES
from symgen.mechanics.parameters import WHOLE, canonical_model, lump_links
from symgen.mechanics.pose import Pose
from symgen.mechanics.spatial import Vector
from symgen.numbers.named import Named
from symgen.symbolic.closed_form import ClosedForms
from symgen.symbolic.symbolic_tape import Number, SymbolicTape
from symgen.symbolic.symbolic_trace import SymbolChoice, with_lengths
from symgen.symbolic.symbols import as_latex, symbol
from symgen.tracing.robot import ParametricModel


@dataclass(frozen=True, slots=True)
class Relation:
    """A base parameter, the link of its body, and its expression in the parameters of the
    bodies."""

    name: str
    link: str
    expression: sympy.Expr


class Relations(dict[str, sympy.Expr]):
    """Base parameters by name: expressions that notebooks show as equations."""

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    def latex(self) -> str:
        """The equations, aligned."""
        rows = [rf"{latex_name(name)} &= {as_latex(x)}" for name, x in self.items()]
        return r"\begin{aligned}" + r" \\ ".join(rows) + r"\end{aligned}"


def relations(
    robot: ParametricModel, setting: SymbolChoice, number: Number
) -> tuple[Relation, ...]:
    """The base parameters of a robot in the ten of each body as a whole, m1, hx1, ... Izz1 about
    its link's origin, and J8 of rotor 8; with symbols for lengths about its canonical frame.

    Raises OptionError where lengths are symbols and a parameter is grouped with a factor that only
    numbers tell, as with first joints of restricted motion."""
    model = lump_links(robot.model, [body.name for body in robot.model.moving])
    fall = Vector(1.0, 1.0, 1.0) if robot.runtime_gravity else None
    layout = canonical_model(model, gravity=fall, regrouping=WHOLE)
    if setting.lengths:  # the parameters of the bodies are in their canonical frames
        layout = with_lengths(layout)
        canonical = {layout.body(i).name: LinkFrame(i, Pose()) for i in layout.link_bodies}
        layout = replace(layout, link_frames={**layout.link_frames, **canonical})
    independents, tape = independent_parameters(layout), SymbolicTape()
    names = [f"{name}{i}" for i in layout.link_bodies for name in PARAMETER_NAMES]
    names += [f"{layout.body(i).joint.rotor_moment[0]}{i}" for i in layout.rotors]
    values = tape.of(map(symbol, names))
    columns = base_names(independents)
    if setting.lengths or _has_names(layout):
        _check(independents, columns)
    tape.output("base", (len(columns),), base_values(layout, values))
    closed = ClosedForms(tape, number)
    refs = zip(columns, tape.outputs[0].refs, strict=True)
    return tuple(
        Relation(name, link_of_parameter(model, name), closed.expression(ref, name))
        for name, ref in refs
    )


def _has_names(layout: CanonicalModel) -> bool:
    lengths = (
        x
        for body in layout.bodies
        for x in (body.placement.to_axis.b, body.placement.to_axis.d, body.placement.r)
    )
    return any(isinstance(x, Named) for x in lengths)


def _check(independent: IndependentParameters, columns: tuple[str, ...]) -> None:
    """Raise OptionError if a grouping factor depends on lengths; factors of regrouping are 0.5, 1
    or 2."""
    for name, key in zip(columns, independent.keys, strict=True):
        if any(abs(factor) not in (0.5, 1.0, 2.0) for _, factor in independent.grouped[key]):
            raise OptionError(
                f"{name}: its grouping depends on the values of lengths; use lengths='numbers'"
            )

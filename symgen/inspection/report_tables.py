"""Tables of what commands report, on terminals, as JSON and in notebooks; and of the registries of
quantities and languages."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Column, Table

from symgen import output
from symgen.algorithms import LINK_QUANTITIES, QUANTITIES, Quantity
from symgen.languages import LANGUAGES
from symgen.languages.describe import argument_text
from symgen.reading.joint_kinds import JOINTS
from symgen.text import html, html_table

COLUMN_GAP: Final = 3
"""Characters from a column to the next."""
MAX_MARK_WIDTH: Final = 4
"""A first column as narrow as this is a number or a mark; the second one names the row too."""


class SplitTable(Table):
    """A table that is printed in pieces where it does not fit."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        measured = [_widths(console, options, column) for column in self.columns]
        available = options.max_width - 2
        if self.title:
            yield console.render_str(str(self.title), style="bold")
        for columns in _column_groups(measured, available):
            widths = _shared_widths([measured[k] for k in columns], available)
            piece = Table(box=SIMPLE_HEAD, pad_edge=False)
            for k, width in zip(columns, widths, strict=True):
                source = self.columns[k]
                piece.add_column(
                    source.header, width=width, justify=source.justify, overflow="fold"
                )
            cells = [[*self.columns[k].cells] for k in columns]
            for row, of in zip(zip(*cells, strict=True), self.rows, strict=True):
                piece.add_row(*row, style=of.style)
            yield piece


def table(title: str, left: Sequence[str], right: Sequence[str] = ()) -> Table:
    """A table with columns of text and then of numbers."""
    new = SplitTable(title=escape(title) or None)
    for name in left:
        new.add_column(name, overflow="fold")
    for name in right:
        new.add_column(name, justify="right", no_wrap=True)
    return new


def _widths(console: Console, options: ConsoleOptions, column: Column) -> tuple[int, int]:
    """The least and the best width of a column: numbers are never wrapped, their heads may be."""
    wide = options.update(width=10_000)
    head = Measurement.get(console, wide, column.header)
    cells = [Measurement.get(console, wide, cell) for cell in column.cells]
    best = max(head.maximum, *(cell.maximum for cell in cells), 1)
    least = (cell.maximum if column.no_wrap else cell.minimum for cell in cells)
    return max(head.minimum, *least, 1), best


def _total(widths: Iterable[int]) -> int:
    all_widths = [*widths]
    return sum(all_widths) + COLUMN_GAP * (len(all_widths) - 1)


def _column_groups(measured: Sequence[tuple[int, int]], available: int) -> Iterator[list[int]]:
    """The columns of each piece: all of them where they fit, else those that name the row and as
    many others as fit."""
    columns = [*range(len(measured))]
    if _total(measured[k][0] for k in columns) <= available:
        yield columns
        return
    keys = columns[: 2 if len(columns) > 2 and measured[0][1] <= MAX_MARK_WIDTH else 1]
    piece = [*keys]
    for k in columns[len(keys) :]:
        if len(piece) > len(keys) and _total(measured[i][0] for i in (*piece, k)) > available:
            yield piece
            piece = [*keys]
        piece.append(k)
    yield piece


def _shared_widths(measured: Sequence[tuple[int, int]], available: int) -> list[int]:
    """A width for each column of a piece: the best, or the least and a share of what is left; where
    even that is too much, the widest give way."""
    best, widths = [high for _, high in measured], [low for low, _ in measured]
    while (left := available - _total(widths)) > 0 and widths != best:
        short = [k for k, width in enumerate(widths) if width < best[k]]
        for k in sorted(short, key=lambda k: widths[k])[:left]:  # the narrowest first
            widths[k] += 1
    while _total(widths) > available and max(widths) > 1:
        widths[widths.index(max(widths))] -= 1
    return widths


@dataclass(frozen=True, slots=True)
class StyledText:
    """A text with a style of `rich`, such as ``bold red``, on terminals that have it; `whole` for
    a line to be copied, which is not wrapped."""

    text: str
    style: str = ""
    whole: bool = False

    @property
    def markup(self) -> str:
        """The text as markup of `rich`."""
        return f"[{self.style}]{escape(self.text)}[/]" if self.style else escape(self.text)


Cell = str | StyledText


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table with columns of text (`left`), then of numbers (`right`); a row is its cells.

    `highlighted` has the indices of rows in bold."""

    title: str
    left: Sequence[str]
    right: Sequence[str] = ()
    rows: Sequence[Sequence[Cell]] = ()
    highlighted: frozenset[int] = frozenset()

    def rich(self) -> Table:
        """The table for a terminal."""
        drawn = table(self.title, self.left, self.right)
        for k, row in enumerate(self.rows):
            cells = (x.markup if isinstance(x, StyledText) else escape(x) for x in row)
            drawn.add_row(*cells, style="bold" if k in self.highlighted else "")
        return drawn

    def html(self) -> str:
        """The table for a page or a notebook."""
        cells = ([x.text if isinstance(x, StyledText) else x for x in row] for row in self.rows)
        return html_table(self.title, (*self.left, *self.right), cells)


@dataclass(frozen=True)
class Report:
    """The result of a command: tables and lines for people, and `data` for programs."""

    parts: Sequence[ReportTable | Cell]
    data: Mapping[str, Any] = field(default_factory=dict)

    def print(self, as_json: bool = False) -> None:
        """Print the report on standard output."""
        if as_json:
            output.say(self.json())
            return
        out = output.console()
        for part in self.parts:
            if isinstance(part, ReportTable):
                out.print(part.rich())
            elif isinstance(part, StyledText):
                out.print(part.markup, soft_wrap=part.whole)
            else:
                out.print(escape(part))

    def json(self) -> str:
        """The data as JSON text."""
        return output.as_json(self.data)

    def html(self) -> str:
        """The tables and lines as HTML, without a page around them."""
        return "".join(
            part.html()
            if isinstance(part, ReportTable)
            else f"<p>{html(part.text if isinstance(part, StyledText) else part)}</p>"
            for part in self.parts
        )


# -- tables of registries --------------------------------------------------------------------------

SECTIONS: Final = {
    "Dynamics": ("newton_euler", "composite", "forward_dynamics", "elastic"),
    "Coriolis terms": ("coriolis", "christoffel", "coriolis_newton_euler"),
    "Energy, momentum, centre of mass": ("energies", "centroidal"),
    "Derivatives": ("derivatives", "products", "adjoints", "adjoint_hessians", "tensors"),
    "Time derivatives": ("rates",),
    "Integration": ("steps", "step_jacobians"),
    "Joint wrenches": ("joint_wrenches",),
    "Regressors and parameters": ("regressors", "parameter_tensors"),
    "Controllers and observers": (
        "controllers",
        "observers",
        "learning",
        "cartesian_impedance",
        "elastic_control",
    ),
    "Links and frames": (
        "kinematics",
        "task_space",
        "inverse_kinematics",
        "operational_space",
    ),
    "Closed loops": ("loop_closure", "transmission", "motor_transmissions"),
}
"""The sections of the list: the groups of quantities (`Quantity.group`) that belong to each."""
OTHER_SECTION: Final = "Other"
"""The section of quantities that another package has registered."""


def sections() -> dict[str, list[Quantity]]:
    """The quantities by section, in the order of `SECTIONS`."""
    of_group = {group: section for section, groups in SECTIONS.items() for group in groups}
    found: dict[str, list[Quantity]] = {section: [] for section in (*SECTIONS, OTHER_SECTION)}
    for quantity in (*QUANTITIES.values(), *LINK_QUANTITIES.values()):
        found[of_group.get(quantity.group, OTHER_SECTION)] += [quantity]
    return {section: quantities for section, quantities in found.items() if quantities}


def overview() -> None:
    """Print the names of the quantities by section, and of the languages."""
    width = output.console().width
    for section, quantities in sections().items():
        output.say(section)
        names = _combined_frames(map(_quantity_argument, quantities))
        for line in _wrapped(names, min(width, 100)):
            output.say(line)
    output.say("Languages")
    for line in _wrapped(LANGUAGES, min(width, 100)):
        output.say(line)
    output.say("symgen list --all prints formulas, inputs and outputs.")


def _quantity_argument(quantity: Quantity) -> str:
    named = quantity.name in LINK_QUANTITIES
    return f"{quantity.name}:{quantity.subject.upper()}" if named else quantity.name


FRAME_ENDINGS: Final = ("_body", "_world", "_aligned")
"""The endings of quantities that exist for several frames."""


def _combined_frames(names: Iterable[str]) -> Iterator[str]:
    """The names, those that differ only in the frame as one: ``frame_hessian_{body,world}``."""
    frames: dict[str, list[str]] = {}
    for name in names:
        start, link, _ = name.partition(":LINK")
        end = next((end for end in FRAME_ENDINGS if start.endswith(end)), "")
        stem = f"{start.removesuffix(end)}{'_' if end else ''}|{link}"
        frames.setdefault(stem, []).append(end.removeprefix("_"))
    for stem, ends in frames.items():
        start, _, link = stem.partition("|")
        yield f"{start}{{{','.join(ends)}}}{link}" if len(ends) > 1 else f"{start}{ends[0]}{link}"


def _wrapped(names: Iterable[str], width: int) -> list[str]:
    """The names in lines of at most `width` characters."""
    return textwrap.wrap(
        "  ".join(names),
        width,
        initial_indent="  ",
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


WITH_QUATERNION: Final = " and ".join(
    row.kind for row in JOINTS.values() if row.type.quaternion is not None
)
SIZES: Final = (
    f"sizes: n velocities, nq positions (nq = n without {WITH_QUATERNION} joints), "
    "n2 = n (n + 1) / 2, ten inertial parameters (10 for each body, 1 for each rotor), y = ten "
    "plus columns of friction and springs, b base parameters"
)


def registry() -> Report:
    """Tables of the quantities, with formulas and arguments, and of the languages."""
    parts: list[ReportTable | str] = [
        ReportTable(
            section,
            ["name", "formula", "arguments"],
            (),
            [(_quantity_argument(q), q.formula, argument_text(q)) for q in quantities],
        )
        for section, quantities in sections().items()
    ]
    languages = [(language.name, language.summary) for language in LANGUAGES.values()]
    table = ReportTable("Languages", ["name", "generated code"], (), languages)
    return Report([*parts, SIZES, table], registry_data())


def registry_data() -> dict[str, Any]:
    """The data of ``symgen list --json``."""
    return {
        "quantities": {
            q.name: _row(q, section) for section, rows in sections().items() for q in rows
        },
        "languages": list(LANGUAGES),
    }


def _row(q: Quantity, section: str) -> dict[str, Any]:
    return {
        "section": section,
        "formula": q.formula,
        "of_link": q.name in LINK_QUANTITIES and q.subject == "link",
        "of_joint": q.name in LINK_QUANTITIES and q.subject == "joint",
        "inputs": list(q.inputs),
        "outputs": [{"name": a.name, "shape": list(a.shape), "unit": a.unit} for a in q.outputs],
        "formulations": [formulation.name for formulation in q.formulations],
        "sources": list(dict.fromkeys(formulation.source for formulation in q.formulations)),
    }

"""What is measured of a module: its functions and the steps of its controllers, each with how the
main program of an image calls it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from firmware.modules import Written
from symgen.compiler.passes import counts
from symgen.languages.c.controller_code import CController
from symgen.languages.c.options import COptions
from symgen.languages.c.printed_function import CFunction
from symgen.languages.c.syntax import initialisers, literal
from symgen.proof.controller_simulation import SAMPLE_TIME

RECORD = ("loop_", "wrong")
"""Heads of the names in a controller's object that are there for its recorded loop only; so is what
ends in ``_closed_loop``."""


@dataclass(frozen=True)
class Probed:
    """A function that is measured: its short and its C name, what it counts, the objects that hold
    its code, and the statement that calls it."""

    name: str
    symbol: str
    operations: int
    work: int
    objects: tuple[str, ...]
    call: str
    declarations: tuple[str, ...] = ()
    """Static data that the call reads or writes."""
    start: str = ""
    """A statement before the first call."""
    state: int = 0
    """Scalars of a controller's state and gains."""


def probed(made: Written) -> tuple[Probed, ...]:
    """All functions of a module, then its controllers."""
    return (*map(_function, made.functions), *(_controller(made, c) for c in made.controllers))


def _function(f: CFunction) -> Probed:
    given = ", ".join(f"in_{a.name}" if a.direction == "in" else a.name for a in f.arguments)
    count = counts(f.description.program).total
    return Probed(
        f.description.name,
        f.full_name,
        count,
        f.work,
        (f.full_name,),
        f"(void){f.full_name}({given});",
    )


def _controller(made: Written, c: CController) -> Probed:
    """A step, on the middle sample of the recorded loop."""
    f, own, real = c.function, f"{c.function.description.name}_", made.module[COptions].scalar
    record = c.record
    assert record is not None, f"{f.full_name} has no recorded loop"
    middle = {a.name: record.measured[a.name] for a in c.inputs}
    data = {name: rows[len(rows) // 2] for name, rows in middle.items()}
    gains = ", ".join(f"{{{initialisers(record.gains[a.name], real)}}}" for a in c.gains)
    declared = [
        f"static {f.full_name}_state {own}state;",
        f"static const {f.full_name}_gains {own}gains = {{{gains}}};",
        *_arrays(made, own, data, {a.name: a.size for a in c.results}),
    ]
    given = [f"&{own}gains", f"&{own}state", *(own + a.name for a in c.inputs)]
    given += [literal(SAMPLE_TIME, real)] * c.has_sample_time + [own + a.name for a in c.results]
    size = sum(a.size for a in (*c.state, *c.outputs)) + f.work
    return Probed(
        f"{f.description.name}_step",
        f"{f.full_name}_step",
        counts(f.description.program).total,
        f.work,
        (f.full_name, f"{f.full_name}_controller"),
        f"(void){f.full_name}_step({', '.join(given)});",
        tuple(declared),
        f"{f.full_name}_reset(&{own}state, &{own}gains);",
        size + sum(a.size for a in c.gains),
    )


def _arrays(
    made: Written, own: str, data: Mapping[str, Sequence[float]], results: Mapping[str, int]
) -> Iterator[str]:
    name, scalar = made.module.name, made.module[COptions].scalar
    for key, values in data.items():
        yield f"static {name}_real {own}{key}[{len(values)}] = {{{initialisers(values, scalar)}}};"
    for key, size in results.items():
        yield f"static {name}_real {own}{key}[{size}];"


def probe(made: Written) -> str:
    """The main program that measures each."""
    every = [a for f in made.functions for a in f.arguments]
    sizes: dict[str, int] = {}
    for a in every:
        if a.direction != "in":
            sizes[a.name] = max(a.size, sizes.get(a.name, 0))
    read = {a.name for a in every if a.direction == "in"}
    state = made.module.test_states[0]
    text = (Path(__file__).parent / "probe.c.jinja").read_text(encoding="utf-8")
    environment = Environment(
        undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True
    )
    return environment.from_string(text).render(
        module=made.module,
        probed=probed(made),
        controllers=made.controllers,
        results=sizes,
        inputs={k: v for k, v in state.inputs.items() if k in read},
        numbers=lambda values: initialisers(values, made.module[COptions].scalar),
    )

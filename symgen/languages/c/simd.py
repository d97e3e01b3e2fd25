"""C for many states at once (``--batch``): the same statements on vectors, one lane a state.

The arithmetic and its order are those of the scalar function, so that results have the same bits.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Final

from symgen.compiler.passes import used_ops
from symgen.languages.c.loops import c_function
from symgen.languages.c.options import ROBOT_INPUTS, COptions
from symgen.languages.c.printed_function import CFunction
from symgen.languages.c.syntax import (
    BYTES,
    CPrinter,
    c_dialect,
    c_printer,
    const_qualifier,
    declarator,
    index_text,
    literal,
)
from symgen.languages.describe import Argument, FunctionDescription, descriptions
from symgen.languages.dialect import Dialect, atom, operation_table, text_pattern
from symgen.languages.module import Module
from symgen.languages.sines import INLINE_FUNCTIONS, definition_lines, sine_steps
from symgen.numbers.operations import OPS
from symgen.render import render

MASK_INTEGERS: Final = {"double": "long long", "float": "int"}
"""A signed integer of the same size as each scalar, for masks."""


@dataclass(frozen=True, slots=True)
class VectorLength:
    """A length of vectors: the macro of a compiler whose flags allow it, what an x86-64 processor
    is asked for it, and what is in a vector; the shortest needs neither."""

    condition: str
    feature: str
    states: int


VECTOR_LENGTHS: Final = (
    VectorLength("__AVX512F__", "avx512f", 64),
    VectorLength("__AVX__", "avx2", 32),
    VectorLength("", "", 16),
)
"""The lengths, in bytes."""

AUTO_BLOCK_BYTES: Final = 64
"""Bytes that an entry of a block of ``auto`` takes: the longest vector."""

BATCH_CHUNK_FACTOR: Final = 8
"""Pieces of a batch function are this much longer: it is for hosts, where stack is no matter and
slots cost time."""


def shared_inputs(module: Module, d: FunctionDescription) -> list[Argument]:
    """The inputs of a function for many states that are the same for all states."""
    shared = {*ROBOT_INPUTS} - {*module[COptions].per_state}
    return [a for a in d.arguments if a.name in shared and d.name != "regroup"]


def batch_printer(module: Module, printer: CPrinter) -> CPrinter:
    """A printer for functions of many states: longer pieces and a single segment."""
    chunk = BATCH_CHUNK_FACTOR * module[COptions].chunk
    return replace(printer, chunk=chunk, segment=0, restrict=False)


def vector_dialect(module: Module) -> Dialect:
    """The dialect of C with vectors in place of numbers."""
    name = module.name
    at, real = f"{name.upper()}_AT", f"{name}_lanes"
    return replace(
        c_dialect(module),
        operations=operation_table(
            lambda op: (
                f"{f'{name.upper()}_SIGN' if op.name == 'sign' else f'{real}_{op.name}'}({{a}})"
            )
        ),
        input=lambda array, k: f"{array}[{at}({k})]",
        entry=lambda array, shape, k: f"{array}[{at}({index_text(shape, k)})]",
        declare=f"const {real} {{name}}",
        declare_uninitialized=f"{real} {{name}};",
        sincos_call=f"{real}_sincos({{angle}}, &{{sine}}, &{{cosine}});",
        sincos_loop=None,
        constant_entry=text_pattern(f"{name.upper()}_SPREAD({{a}})"),
    )


def vector_printer(module: Module) -> CPrinter:
    """How functions of vectors are printed: a piece returns the mask of the states in which all
    tests hold, and a function the number of states that failed."""
    name, real = module.name.upper(), f"{module.name}_lanes"
    printer = replace(
        c_printer(module),
        dialect=vector_dialect(module),
        real=real,
        zero=f"{name}_SPREAD({literal(0.0, module[COptions].scalar)})",
        status="size_t",
        parameter="{const}{real} *{name}",
        piece=f"{name}_OF(part{{}})",
        piece_status=f"{module.name}_mask",
        pivot_test=f"{name}_REGULAR({{}})",
        conjunction=" & ",
        result="{0}",
        finite_tests=lambda a, entries: f"{real}_finite({a.name}, {a.size})",
    )
    return batch_printer(module, printer)


@dataclass(frozen=True, eq=False)
class BatchFunction(CFunction):
    """A function of a module as C on vectors."""

    @cached_property
    def single(self) -> CFunction:
        """The function of a single state."""
        return c_function(self.module, self.description)

    @cached_property
    def shared(self) -> list[Argument]:
        """The inputs that are the same for all states."""
        return shared_inputs(self.module, self.description)

    @property
    def block_signature(self) -> str:
        """Declaration of the function of as many states as a vector holds."""
        returns = self.printer.piece_status if self.description.pivots else "void"
        start = f"{self._target} static {returns}"
        return self.piece_signature(start, self._named("vectors"), self.description.arguments)

    @property
    def lanes_signature(self) -> str:
        """Declaration of the function of the first states of a block."""
        arrays = map(self._pointer, self.description.arguments)
        start = f"{self._target} static {self.returns} {self._named('block')}"
        return declarator(start, ["size_t states", *arrays])

    @property
    def dispatch_signature(self) -> str:
        """Declaration of the same function, which takes the length of vectors."""
        arrays = map(self._pointer, self.description.arguments)
        return declarator(f"static {self.returns} block", ["int lanes", "size_t states", *arrays])

    @property
    def call_arguments(self) -> str:
        """The arrays of a function in a call, after other arguments."""
        return "".join(f", {a.name}" for a in self.description.arguments)

    @property
    def _target(self) -> str:
        """The attribute that tells the compiler which processor a function is for."""
        return f"{self.module.name.upper()}_TARGET"

    def _named(self, name: str) -> str:
        """A name that each length of vectors has for itself."""
        return f"{self.module.name.upper()}_OF({name})"

    @property
    def batch_signature(self) -> str:
        """Declaration of the function of blocks."""
        return declarator(
            f"{self.returns} {self.full_name}_batch",
            ["size_t n", *map(self._pointer, self.description.arguments)],
        )

    @property
    def rows_signature(self) -> str:
        """Declaration of the function of rows."""
        arrays = [
            text
            for a in self.description.arguments
            for text in (self._pointer(a), f"size_t {a.name}_step")
        ]
        return declarator(f"{self.returns} {self.full_name}_rows", ["size_t n", *arrays])

    def _pointer(self, a: Argument) -> str:
        return f"{const_qualifier(a)}{self.module.name}_real *{a.name}"

    @property
    def lane_arguments(self) -> str:
        """The arguments of a call for the lanes of a block from `j` on."""
        return ", ".join(
            f"({const_qualifier(a)}{self.printer.real} *)({a.name} + j)"
            for a in self.description.arguments
        )

    @property
    def stack(self) -> int:
        """About the bytes that a call needs for each state of a block, beside what the compiler
        needs."""
        entries = sum(a.size for a in self.arguments) + self.single.work
        return BYTES[self.c.scalar] * entries


def batch_functions(module: Module) -> list[BatchFunction]:
    """The functions of a module for batches, none unless they are asked for."""
    if not module[COptions].batch:
        return []
    printer = vector_printer(module)
    return [BatchFunction(module, d, printer) for d in descriptions(module)]


def batch_files(module: Module, shared: dict[str, Any]) -> dict[str, str]:
    """The files for batches, name to text: public header, vectors for the sources, one source a
    function."""
    batches = batch_functions(module)
    if not batches:
        return {}
    scalar = module[COptions].scalar
    names = ", ".join(dict.fromkeys(a.name for f in batches for a in f.shared))
    name, size = module.name, BYTES[scalar]
    lengths = [
        replace(x, states=min(batch_width(module), x.states // size)) for x in VECTOR_LENGTHS
    ]
    context = {
        **shared,
        "one": literal(1.0, scalar),
        "zero": literal(0.0, scalar),
        "width": batch_width(module),
        # in states, longest first; of processors that come to the same length, the least
        "lengths": list({x.states: x for x in lengths}.values()),
        "batches": batches,
        "shared_names": names,
    }
    files = {
        f"{name}_batch.h": render("c/batch.h.jinja", **context),
        f"{name}_lanes.h": render(
            "c/lanes.h.jinja",
            **context,
            laned=scalarized_ops(module, batches),
            steps=sine_steps(scalar, partial(literal, scalar=scalar)),
            rows=definition_lines,
            integer=MASK_INTEGERS[scalar],
        ),
        f"{name}_batch.c": render("c/lanes.c.jinja", **context),
    }
    return files | {
        f"{f.full_name}_batch.c": render("c/function_batch.c.jinja", **context, function=f)
        for f in batches
    }


def scalarized_ops(module: Module, batches: Sequence[BatchFunction]) -> list[tuple[str, str]]:
    """The functions that need one of lanes which is a loop over them, and what that does to lane
    ``k`` of x."""
    needed = frozenset[str]().union(*(used_ops(f.description.program) for f in batches)) - {
        *INLINE_FUNCTIONS,
        "sign",
    }
    table = c_dialect(module).operations
    return [
        (name, "".join(map(str, table[name](atom("lane[k]")).tokens)))
        for name, op in OPS.items()
        if name in needed and not op.symbol
    ]


def batch_width(module: Module) -> int:
    """The states of a block, whatever the C is compiled for: their layout is an interface."""
    return (
        AUTO_BLOCK_BYTES // BYTES[module[COptions].scalar]
        if module[COptions].batch == "auto"
        else int(str(module[COptions].batch))
    )

"""Python: a module that needs NumPy alone, packages around C, and a CPython extension module.

The functions of an extension module are built in: a call of one state runs no Python. They
broadcast over leading axes."""

import runpy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from symgen.compiler.passes import counts
from symgen.languages.backends import TextBackend, called_functions
from symgen.languages.c.backend import code_files, functions, sources
from symgen.languages.c.options import COptions, Release
from symgen.languages.c.printed_function import CFunction
from symgen.languages.c.simd import BatchFunction, batch_functions, batch_width
from symgen.languages.c.syntax import string
from symgen.languages.describe import (
    Argument,
    FunctionDescription,
)
from symgen.languages.dialect import Dialect, operation_table
from symgen.languages.module import Module
from symgen.languages.verification import (
    Check,
    VerificationTarget,
    as_tuple,
    compare_with_references,
    description_of,
    error_ratio_to_runs,
    format_error_ratio,
    inputs,
    results,
)
from symgen.native.compiler import time_limit
from symgen.numbers.operations import OPS, Op
from symgen.render import render
from symgen.text import in_ascii


def _numpy_name(op: Op) -> str:
    """The name of a function in NumPy."""
    return op.numpy or op.name


DIALECT = Dialect(
    operations=operation_table(lambda op: f"{_numpy_name(op)}({{a}})"),
    literal=repr,
    input=lambda array, k: f"{array}{k + 1}",
    declare="{name}",
)


def files(module: Module) -> dict[str, str]:
    """The Python module, which needs NumPy alone."""
    context = BACKEND.context(module)
    called = _called_functions(context["functions"])
    context |= {
        "of_real_part": [_numpy_name(op) for op in called if not op.analytic],
        "of_numbers": {_numpy_name(op): op.python_expression for op in called},
        "own": lambda d: [_numpy_name(op) for op in _called_functions([d])],
        "table": _function_tuple,
        "tuple": python_tuple,
    }
    return {f"{module.name}.py": render("python/module.py.jinja", **context)}


def comment_text(text: str) -> str:
    """`text` for a comment or docstring: printable ASCII without quotes and backslashes; the rest
    is escaped."""
    return in_ascii(text, "<{:x}>", '"\\')


def python_tuple(parts: Sequence[str]) -> str:
    """A tuple of these parts."""
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


def _function_tuple(d: FunctionDescription, kind: str) -> str:
    """The functions that a body calls, of ``numbers`` or of ``arrays``, as a tuple."""
    library = {"numbers": "math", "arrays": "np"}[kind]
    names = [
        f"{library}.{op.name if kind == 'numbers' else _numpy_name(op)}"
        if op.analytic
        else f"_{_numpy_name(op)}_of_{kind}"
        for op in _called_functions([d])
    ]
    return python_tuple(names)


def _called_functions(described: Sequence[FunctionDescription]) -> list[Op]:
    """The functions of NumPy that the module calls, sorted."""
    names = called_functions([d.program for d in described])
    return sorted((OPS[name] for name in names), key=_numpy_name)


BACKEND: Final = TextBackend(DIALECT, comment_text, ascii, "# {}", statement_end="")
"""How Python is written: also the packages for CasADi and JAX, which have other operations."""


def checks(target: VerificationTarget, progress: Callable[[str], None]) -> Iterator[Check]:
    """The Python module, on all states at once and on each, against the float run."""
    progress("Python module")
    try:
        with time_limit():
            python = runpy.run_path(str(target.folder / f"{target.module.name}.py"))
    except (Exception, SystemExit) as error:  # whatever the file says is its own fault
        yield Check("Python module loads", False, f"{type(error).__name__}: {error}")
        return
    states = target.states
    batch = {name: np.array([state[name] for state in states]) for name in states[0]}
    alone = f"{target.module.name}.h" not in target.hashes
    for function in target.module.functions:
        progress(function.name)
        d, call = description_of(target, function.name), python[function.name]
        claim = f"{function.name}: Python equals the float run"
        try:
            arrays = inputs(d, batch)
            with time_limit():
                at_once = as_tuple(call(*arrays))
                one_by_one = [as_tuple(call(*state)) for state in zip(*arrays, strict=True)]
            stacked = tuple(map(np.stack, zip(*one_by_one, strict=True)))
            ratio = max(error_ratio_to_runs(target, function, x) for x in (at_once, stacked))
            yield Check(claim, ratio <= 2.0, format_error_ratio(ratio))  # both have errors
        except Exception as error:
            yield Check(claim, False, f"{type(error).__name__}: {error}")
        if alone:
            outputs = [results(d, call, state) for state in target.compared_states(function)]
            yield from compare_with_references(target, function, outputs)


def package_files(module: Module, package: str, **facts: Any) -> dict[str, str]:
    """How a package is installed and how its C is compiled: the ``framework`` it is for, pip's
    ``requirement`` for that, what works ``without`` a C compiler, the Python module that knows the
    folder of more ``headers``, and the folders of its ``data``."""
    context = {"module": module, "package": package, "headers": "", "data": ("c",)} | facts
    context["release"] = module[Release].module_version
    texts = {f: render(f"python/{f}.jinja", **context) for f in ("build.py", "pyproject.toml")}
    return texts | {"py.typed": ""}


# -- the C of a module as an extension module of CPython -------------------------------------------


EXTENSION_SOURCE: Final = "_native.c"
"""The file of the extension module."""

GIL_OPERATIONS: Final = 8000
"""Operations in a call, some microseconds of them, that are worth giving the GIL away for."""

NUMPY_TYPES: Final = {"double": ("NPY_DOUBLE", "float64"), "float": ("NPY_FLOAT", "float32")}
"""What NumPy calls each scalar in C and in Python."""


INSTRUCTION_SETS: Final = {
    "__SSE3__": "sse3",
    "__SSSE3__": "ssse3",
    "__SSE4_1__": "sse4.1",
    "__SSE4_2__": "sse4.2",
    "__POPCNT__": "popcnt",
    "__AVX__": "avx",
    "__FMA__": "fma",
    "__FMA4__": "fma4",
    "__XOP__": "xop",
    "__BMI__": "bmi",
    "__BMI2__": "bmi2",
    "__AVX2__": "avx2",
    "__AVX512F__": "avx512f",
    "__AVX512CD__": "avx512cd",
    "__AVX512DQ__": "avx512dq",
    "__AVX512BW__": "avx512bw",
    "__AVX512VL__": "avx512vl",
}
"""Instructions beyond those of every x86-64 that compilers use for arithmetic: the macro that is
defined where the flags allow them, and their name in ``__builtin_cpu_supports``."""


@dataclass(frozen=True)
class BoundFunction:
    """A C function as Python's."""

    single: CFunction
    batch: BatchFunction | None

    @property
    def name(self) -> str:
        """The name of the Python function."""
        return self.description.name

    @property
    def description(self) -> FunctionDescription:
        """The description of the function."""
        return self.single.description

    @property
    def arrays(self) -> list[Argument]:
        """Inputs, then outputs."""
        return [*self.description.ins, *self.description.outs]

    @property
    def gil_threshold(self) -> int:
        """States from which on a call gives the GIL away."""
        return max(1, GIL_OPERATIONS // max(1, counts(self.description.program).total))

    @property
    def single_call(self) -> str:
        """The statements of a call for one state."""
        places = iter(f"a[{k}]" for k in range(len(self.arrays)))
        arguments = ["w" if a.direction == "work" else next(places) for a in self.single.arguments]
        call = f"{self.single.full_name}({', '.join(arguments)});"
        return f"return (int){call}" if self.description.pivots else f"{call}\n    return 0;"

    @property
    def rows(self) -> str:
        """The statements of a call for many states by vectors, none where there is no such
        function."""
        if self.batch is None:
            return ""
        arguments = [f"a[{k}], step[{k}]" for k in range(len(self.arrays))]
        call = f"{self.batch.full_name}_rows({', '.join(['n', *arguments])});"
        return f"return {call}" if self.batch.description.pivots else f"{call}\n    return 0;"

    @property
    def docstring(self) -> list[str]:
        """The lines of its docstring."""
        d = self.description
        rows = [
            ("", a.direction, a.name, f"[..., {', '.join(map(str, a.sizes))}]", a.meaning)
            for a in self.arrays
        ]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [f"{comment_text('; '.join(d.formulas))}.", ""]
        for row, a in zip(rows, self.arrays, strict=True):
            texts = [x.ljust(w) for x, w in zip(row, widths, strict=True)]
            lines.append(comment_text("  ".join([*texts, f"[{a.unit}]"])))
        states = "Leading axes of the arguments are states and broadcast. `out` receives "
        lines += ["", f"{states}{', '.join(a.name for a in d.outs)};"]
        lines.append("`threads` is the number of threads that share the states.")
        raised = f"numpy.linalg.LinAlgError if {self.single.module.cause_of_failure}"
        return [*lines, *(["", f"Raises {raised} or a result is not finite."] if d.pivots else [])]


def bind_functions(module: Module) -> list[BoundFunction]:
    """The functions of a module for Python."""
    batches: Sequence[BatchFunction | None] = batch_functions(module)
    singles = functions(module)
    return [*map(BoundFunction, singles, batches or [None] * len(singles))]


def states_files(module: Module, name: str, template: str) -> dict[str, str]:
    """The C files of a module that compute, and file `name`, written by a template, in which its
    functions take many states."""
    bound_functions = bind_functions(module)
    context = {
        "module": module,
        "functions": bound_functions,
        "width": batch_width(module) if module[COptions].batch else 1,
        "most": {
            "arrays": max(len(f.arrays) for f in bound_functions),
            "entries": max(sum(a.size for a in f.arrays) for f in bound_functions),
        },
    }
    return code_files(module) | {name: render(template, **context)}


def extension_source(module: Module) -> str:
    """The C source of the extension module."""
    bound_functions, c = bind_functions(module), module[COptions]
    most = {
        "ins": max(len(f.description.ins) for f in bound_functions),
        "outs": max(len(f.description.outs) for f in bound_functions),
        "entries": max(sum(a.size for a in f.description.ins) for f in bound_functions),
        "axes": max(len(a.sizes) for f in bound_functions for a in f.arrays),
    }
    return render(
        "python/extension.c.jinja",
        module=module,
        c=c,
        functions=bound_functions,
        most=most,
        width=batch_width(module) if c.batch else 1,
        numpy_type=NUMPY_TYPES[c.scalar][0],
        string=string,
        instructions=INSTRUCTION_SETS,
        joints=module.robot.model.joint_names,
        parameters=module.robot.blocks if module.regroup is not None else {},
        nq=module.dimensions["nq"],
        nv=module.dof,
    )


def stub_source(module: Module, docstring: str) -> str:
    """The types of the module's functions (PEP 561)."""
    return render(
        "python/stub.pyi.jinja",
        module=module,
        docstring=docstring,
        functions=bind_functions(module),
        scalar=NUMPY_TYPES[module[COptions].scalar][1],
    )


def compiled_files(module: Module) -> Iterator[str]:
    """The names of the C files that belong into the extension module, its own last."""
    yield from sources(module)
    batches = batch_functions(module)
    if batches:
        yield f"{module.name}_batch.c"
        yield from (f"{f.full_name}_batch.c" for f in batches)
    yield EXTENSION_SOURCE

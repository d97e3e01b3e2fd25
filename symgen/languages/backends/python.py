"""Python with NumPy: the operation table and the one file of a module."""

import runpy
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from symgen.compiler.passes import used_ops
from symgen.languages.c.options import Release
from symgen.languages.describe import (
    FunctionDescription,
)
from symgen.languages.dialect import Dialect, function_call, functions
from symgen.languages.module import Module
from symgen.languages.text_backend import TextBackend
from symgen.languages.verification import (
    Arrays,
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
from symgen.native.isolated import time_limit
from symgen.numbers.operations import OPS, Op
from symgen.render import render
from symgen.text import in_ascii
from symgen.tracing.function import Function


def _numpy_name(op: Op) -> str:
    """The name of a function in NumPy."""
    return op.numpy or op.name


DIALECT = Dialect(
    operations=functions(lambda op: function_call(_numpy_name(op))),
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
    names = {op for d in described for op in used_ops(d.program)}
    return sorted(
        (op for op in OPS.values() if op.name in names and not op.symbol), key=_numpy_name
    )


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
        yield _check_function(target, python, function, batch)
        if alone:
            d, call = description_of(target, function.name), python[function.name]
            outputs = [results(d, call, state) for state in target.compared_states(function)]
            yield from compare_with_references(target, function, outputs)


def _check_function(
    target: VerificationTarget,
    python: Mapping[str, Any],
    function: Function,
    batch: Arrays,
) -> Check:
    claim = f"{function.name}: Python equals the float run"
    try:
        arrays_in = inputs(description_of(target, function.name), batch)
        with time_limit():
            at_once = as_tuple(python[function.name](*arrays_in))
            one_by_one = [
                as_tuple(python[function.name](*state)) for state in zip(*arrays_in, strict=True)
            ]
        alone = tuple(map(np.stack, zip(*one_by_one, strict=True)))
        share = max(error_ratio_to_runs(target, function, arrays) for arrays in (at_once, alone))
    except Exception as error:
        return Check(claim, False, f"{type(error).__name__}: {error}")
    return Check(claim, share <= 2.0, format_error_ratio(share))  # both have errors


def package_files(module: Module, package: str, **facts: Any) -> dict[str, str]:
    """How a package is installed and how its C is compiled: the ``framework`` it is for, pip's
    ``requirement`` for that, what works ``without`` a C compiler, the Python module that knows the
    folder of more ``headers``, and the folders of its ``data``."""
    context = {"module": module, "package": package, "headers": "", "data": ("c",)} | facts
    context["release"] = module[Release].module_version
    texts = {f: render(f"python/{f}.jinja", **context) for f in ("build.py", "pyproject.toml")}
    return texts | {"py.typed": ""}

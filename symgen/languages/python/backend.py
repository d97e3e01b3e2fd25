"""Python with NumPy: the operation table and the one file of a module."""

import runpy
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from symgen.compiler.parallel import spread
from symgen.compiler.passes import live, used
from symgen.compiler.program import Program
from symgen.compiler.value import Index
from symgen.languages.conventions import convention_lines
from symgen.languages.describe import (
    Argument,
    FunctionDescription,
    descriptions,
    laid_out,
    tables,
)
from symgen.languages.dialect import Dialect, call, functions
from symgen.languages.local_names import legend
from symgen.languages.module import Module
from symgen.languages.verification import (
    Arrays,
    Check,
    VerificationTarget,
    against_laws,
    as_tuple,
    described,
    error_ratio_to_runs,
    format_error_ratio,
    inputs,
)
from symgen.languages.writer import Block, Step, blocks, signed, statements, variables, zeros
from symgen.native.isolated import limited
from symgen.numbers.operations import OPS, Op
from symgen.render import render
from symgen.text import in_ascii
from symgen.tracing.function import Function


def _numpy(op: Op) -> str:
    """The name of a function in NumPy."""
    return op.numpy or op.name


DIALECT = Dialect(
    operations=functions(lambda op: call(_numpy(op))),
    literal=repr,
    input=lambda array, k: f"{array}{k + 1}",
    declare="{name}",
    entry=lambda array, shape, k: f"{array}[{k}]",
)


def _packed_pairs(a: Argument) -> list[str]:
    """A function for the place of entry i, j, k of the layout PACKED_PAIRS."""
    n, pairs = a.sizes
    return [
        f"def {a.name.lower()}_index(i: int, j: int, k: int) -> int:",
        f'    """Return the index of entry i, j, k (equal to i, k, j; from 0) in the flattened '
        f'{a.name} of one state."""',
        "    j, k = min(j, k), max(j, k)",
        f"    return {pairs} * i + ({2 * n - 1} - j) * j // 2 + k",
    ]


LAYOUTS: Final = {"packed pairs": _packed_pairs}
"""The lines of each layout that tell where an entry is."""


def files(module: Module) -> dict[str, str]:
    """The Python module, which needs NumPy alone."""
    described = descriptions(module)
    context = {
        "module": module,
        "functions": described,
        "of_real_part": [_numpy(op) for op in _called(described) if not op.analytic],
        "of_numbers": {_numpy(op): op.number for op in _called(described)},
        "own": lambda d: [_numpy(op) for op in _called([d])],
        "table": _table,
        "pivots": lambda d: pivots(d, DIALECT),
        "layouts": [LAYOUTS[a.layout](a) for a in laid_out(described)],
        "conventions": convention_lines(module),
        "legend": legend(described, variable_names(described, DIALECT)),
        "tables": tables(module, comment),
        "comment": comment,
        "text": ascii,
        "unpacked": lambda d, a: unpacked(d, a, DIALECT),
        "bodies": dict(zip((f.name for f in described), spread(_body, described), strict=True)),
    }
    return {f"{module.name}.py": render("python/module.py.jinja", **context)}


def comment(text: str) -> str:
    """`text` for a comment or docstring: printable ASCII without quotes and backslashes; the rest
    is escaped."""
    return in_ascii(text, "<{:x}>", '"\\')


def named(d: FunctionDescription, dialect: Dialect) -> tuple[list[Step], dict[Index, str]]:
    """The statements of a function, and the names of values."""
    steps = statements(d.program, dialect, zeros(d.program), [ref.node for ref in d.pivots])
    return steps, variables(d.program, steps)


def _body(d: FunctionDescription) -> list[list[str]]:
    """The blocks of lines of a function."""
    return [block_lines(block) for block in blocks(*named(d, DIALECT), DIALECT)]


def variable_names(described: Sequence[FunctionDescription], dialect: Dialect) -> list[str]:
    """The names of the variables of some functions, in the order of definition."""
    return [name for d in described for name in named(d, dialect)[1].values()]


def pivots(d: FunctionDescription, dialect: Dialect) -> str:
    """The values that a body returns: all that must be positive."""
    texts = signed(d.program, d.pivots, named(d, dialect)[1]) if d.pivots else []
    return _tuple(texts)


def _tuple(parts: Sequence[str]) -> str:
    """A tuple of these parts."""
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


def _table(d: FunctionDescription, kind: str) -> str:
    """The functions that a body calls, of ``numbers`` or of ``arrays``, as a tuple."""
    library = {"numbers": "math", "arrays": "np"}[kind]
    names = [
        f"{library}.{op.name if kind == 'numbers' else _numpy(op)}"
        if op.analytic
        else f"_{_numpy(op)}_of_{kind}"
        for op in _called([d])
    ]
    return _tuple(names)


def _called(described: Sequence[FunctionDescription]) -> list[Op]:
    """The functions of NumPy that the module calls, sorted."""
    names = {op for d in described for op in used(d.program)}
    return sorted((op for op in OPS.values() if op.name in names and not op.symbol), key=_numpy)


def block_lines(block: Block) -> list[str]:
    """A step of the algorithm, with its heading if it has one."""
    heading = [f"# {comment(block.title)}"] if block.title else []
    return heading + [f"{' = '.join(line.left)} = {line.right}" for line in block.lines]


def unpacked(function: FunctionDescription, argument: Argument, dialect: Dialect) -> str:
    """The left side that takes an input array apart; entries that are not needed become ``_``."""
    read = _read(function.program, argument.name)
    names = [dialect.input(argument.name, k) if k in read else "_" for k in range(argument.size)]
    return f"({names[0]},)" if len(names) == 1 else ", ".join(names)


def _read(program: Program, array: str) -> set[int]:
    nodes = (program.nodes[i] for i in live(program))
    return {node.b for node in nodes if node.op == "input" and node.a == array}


def checks(subject: VerificationTarget, progress: Callable[[str], None]) -> Iterator[Check]:
    """The Python module, on all states at once and on each, against the float run."""
    progress("Python module")
    try:
        with limited():
            python = runpy.run_path(str(subject.folder / f"{subject.module.name}.py"))
    except (Exception, SystemExit) as error:  # whatever the file says is its own fault
        yield Check("Python module loads", False, f"{type(error).__name__}: {error}")
        return
    states = subject.states
    batch = {name: np.array([state[name] for state in states]) for name in states[0]}
    alone = f"{subject.module.name}.h" not in subject.hashes
    for function in subject.module.functions:
        progress(function.name)
        yield _check(subject, python, function, batch)
        if alone:
            yield from against_laws(subject, function, python[function.name])


def _check(
    subject: VerificationTarget,
    python: Mapping[str, Any],
    function: Function,
    batch: Arrays,
) -> Check:
    claim = f"{function.name}: Python equals the float run"
    try:
        arrays_in = inputs(described(subject, function.name), batch)
        with limited():
            at_once = as_tuple(python[function.name](*arrays_in))
            one_by_one = [
                as_tuple(python[function.name](*state)) for state in zip(*arrays_in, strict=True)
            ]
        alone = tuple(map(np.stack, zip(*one_by_one, strict=True)))
        share = max(error_ratio_to_runs(subject, function, arrays) for arrays in (at_once, alone))
    except Exception as error:
        return Check(claim, False, f"{type(error).__name__}: {error}")
    return Check(claim, share <= 2.0, format_error_ratio(share))  # both have errors

"""A function as CUDA C++: the statements of C, on entries that lie `step` numbers apart.

Arithmetic and order are those of the C, so that a build that fuses nothing has its bits."""

from collections.abc import Sequence
from functools import cached_property
from typing import Final

from symgen.compiler.passes import distinct
from symgen.languages.c.dialect import table
from symgen.languages.c.lanes import ManyFunction
from symgen.languages.c.text import constant, head, joined, literal
from symgen.languages.describe import Argument
from symgen.languages.dialect import Dialect

STEP: Final = "step"

OWN: Final = {"sin": "sine", "cos": "cosine"}
"""The header's own functions (``--trig inline``), by operation of the tape."""


class CudaFunction(ManyFunction):
    """A function of a module as CUDA: for a thread, for a grid of them, for whoever launches it."""

    @property
    def real(self) -> str:
        return self.c.scalar

    @cached_property
    def dialect(self) -> Dialect:
        """The dialect of C with entries `step` apart, and sines in pairs."""
        return Dialect(
            operations=table(self.module, self.real, OWN.__getitem__),
            literal=lambda x: literal(x, self.real),
            input=self._at,
            declare=f"const {self.real} {{name}}",
            entry=lambda array, shape, k: self._at(array, k),
            pair="sine_cosine({angle}, &{sine}, &{cosine});",
            reserve=f"{self.real} {{name}};",
        )

    def _at(self, array: str, k: int) -> str:
        """An entry of this thread's state, or of what is one for all states."""
        shared = array in {a.name for a in self.shared}
        if shared or k == 0:
            return f"{array}[{k}]"
        return f"{array}[{STEP}]" if k == 1 else f"{array}[{k} * {STEP}]"

    @property
    def status_type(self) -> str:
        return "int"

    def part(self, k: int) -> str:
        return f"{self.d.name}_part{k}"

    def passed(self, arguments: Sequence[Argument]) -> list[str]:
        return [STEP, *super().passed(arguments)]

    def declaration(self, start: str, name: str, arguments: Sequence[Argument]) -> str:
        """The head of a piece; some need no step."""
        step = f"[[maybe_unused]] size_t {STEP}"
        return head(f"{start} {name}", [step, *map(self.parameter, arguments)])

    def parameter(self, a: Argument) -> str:
        return f"{constant(a)}{self.real} *__restrict__ {a.name}"

    @property
    def thread_signature(self) -> str:
        """Declaration of the function of one state."""
        start = f"{self.module.name.upper()}_DEVICE {self.returns} {self.d.name}"
        return head(start, [f"size_t {STEP}", *map(self.parameter, self.d.arguments)])

    @property
    def strides(self) -> bool:
        """Whether the step is read: some entry is beyond the first of an array."""
        text = [line for block in [*self.lines, self.checks] for line in block]
        return bool(self.pieces or self.zeroed) or any(STEP in line for line in text)

    @property
    def kernel_signature(self) -> str:
        """The declaration of the kernel that runs the function on many states, without a
        semicolon."""
        start = f"{self.module.name.upper()}_KERNEL {self.d.name}_kernel"
        return head(
            start,
            ["size_t n", f"size_t {STEP}", *map(self.parameter, self.d.arguments), *self._flags],
        )

    @property
    def launch_signature(self) -> str:
        """Declaration of what launches the kernel, in C."""
        arrays = [f"{constant(a)}{self.real} *{a.name}" for a in self.d.arguments]
        start = f"int {self.module.name}_cuda_{self.d.name}"
        stream = "struct CUstream_st *stream"
        return head(start, ["size_t n", f"size_t {STEP}", *arrays, *self._flags, stream])

    @property
    def _flags(self) -> list[str]:
        return ["unsigned char *failed"] if self.d.pivots else []

    @property
    def launched(self) -> str:
        """The arguments of the kernel, by the names of the launch."""
        flags = ["failed"] if self.d.pivots else []
        return ", ".join(["n", STEP, *(a.name for a in self.d.arguments), *flags])

    @property
    def here(self) -> str:
        """The arguments of the function of state `s`."""
        arrays = [a.name if a in self.shared else f"{a.name} + s" for a in self.d.arguments]
        return ", ".join([STEP, *arrays])

    @property
    def inputs(self) -> int:
        """Numbers of the inputs of a state."""
        return sum(a.size for a in self.d.ins)

    @property
    def finite(self) -> list[str]:
        """Sums of all that is computed of each output, which compilers take from registers."""
        return [
            f"finite_sum({joined([self._at(a.name, k) for k in places], ' + ')})"
            for a in self.outputs
            if (places := distinct(self.d.program, a.name))
        ]

"""Forward differentiation of a tape, node by node: a judge of recursions and of dual numbers."""

from collections.abc import Sequence

from symgen.compiler.passes import upstream
from symgen.compiler.program import Index, Value
from symgen.compiler.transforms import local_derivatives, with_sign
from symgen.numbers.scalar import ZERO, Scalar


def pushforward(
    outputs: Sequence[Scalar], direction: Sequence[tuple[Value, Scalar]]
) -> list[Scalar]:
    """Tangents of `outputs` as the inputs move: `direction` pairs inputs with their tangents
    (Jacobian times vector).

    A tangent that vanishes for every state is `ZERO`.
    """
    values = [x for x in outputs if isinstance(x, Value)]
    program = next(x.program for x in (*(x for x, _ in direction), *values))
    tangents: dict[Index, Scalar] = {x.node: with_sign(x.ref, d) for x, d in direction}
    for index in upstream(program, [x.node for x in values]):
        terms = [] if index in tangents else local_derivatives(program, index, tangents)
        if terms:
            tangents[index] = sum((p * tangents[k] for k, p in terms), ZERO)
    return [
        with_sign(x.ref, tangents.get(x.node, ZERO)) if isinstance(x, Value) else ZERO
        for x in outputs
    ]

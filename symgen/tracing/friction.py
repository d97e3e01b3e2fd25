"""Checks of laws of joint friction against quantities and against the files of a robot."""

from collections.abc import Iterable, Sequence

from symgen.algorithms.registry import Quantity
from symgen.errors import OptionError
from symgen.mechanics.joint_forces import LAWS
from symgen.mechanics.model import Body, RigidBodyModel
from symgen.text import shown


def check_support(laws: Sequence[str], quantities: Sequence[Quantity]) -> None:
    """Raises OptionError for a quantity that does not support a law of friction."""
    for law in (law for law in laws if law in LAWS):
        missing = [
            q for q in quantities if "friction" in q.tags and not LAWS[law].reads <= q.supports
        ]
        if missing:
            raise OptionError(
                f"--friction {law}: {missing[0].name} does not support it (see symgen docs "
                "friction); remove one of them"
            )


def check_coefficients(
    model: RigidBodyModel, laws: Iterable[str], inputs: bool, width: float
) -> None:
    """Raises OptionError for a joint whose files do not fit a law of friction. With `inputs` the
    coefficients come at run time; `width` is that of --friction-width."""
    rubbing = [body for body in model.bodies if body.has_friction]
    for body, law in ((body, law) for law in laws for body in rubbing):
        for fault in _faults(body, law, inputs, width):
            raise OptionError(f"--friction {law}: joint '{shown(body.velocity)}' {fault}")


def _faults(body: Body, law: str, inputs: bool, width: float) -> list[str]:
    """The reasons why a law cannot hold for the coordinate of a body."""
    row, value = LAWS[law], body.coefficient(law)
    acts = inputs or value != 0
    per_load = sum(abs(body.coefficient(k)) for k, law in LAWS.items() if "load" in law.reads)
    absent = [p.name for p in row.shape if not p.allowed(body.coefficient(p.name))]
    halves = law == "power" and body.coefficient("power_exponent") % 1 != 0
    is_motor, follows = body.joint.type.is_rotor, body.follows is not None
    faults = {
        f"has no {''.join(absent[:1])}; give it in --actuators": acts and bool(absent),
        "has an exponent that is not an integer, so the slope at rest is not defined; add "
        "--friction-width": halves and not width,
        "has coefficients of 1 or more in total, so it cannot move under its load; correct them in "
        "--actuators": "load" in row.reads and not inputs and per_load >= 1,
        "follows other joints, so it has no state of presliding; "
        + ("use --coordinates actuators" if is_motor else "remove its coefficient"): acts
        and "presliding" in row.reads
        and follows,
        "is a motor of several joints, whose load is not defined; remove its coefficient": acts
        and "load" in row.reads
        and is_motor,
    }
    return [text for text, found in faults.items() if found]

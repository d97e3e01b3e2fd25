"""Checks of ``--fluid``: robots and quantities for which forces of fluids are supported."""

from collections.abc import Sequence

from symgen.algorithms.fluids import FORMULATIONS, PARTS, WITHOUT_FORCES
from symgen.algorithms.registry import Formulation, Quantity
from symgen.errors import OptionError
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.model import RigidBodyModel


def check_fluid(model: RigidBodyModel, fluid: bool, friction: Sequence[str]) -> None:
    """Raises OptionError for ``--fluid`` without a fluid, with a fluid whose forces are not
    supported, or with friction by load."""
    around = [x for body in model.bodies for link in body.links for x in link.fluids]
    trouble = next((x.trouble for x in around if x.trouble), "")
    if fluid and trouble:
        raise OptionError(f"--fluid: {trouble}")
    if fluid and not around:
        raise OptionError(
            "--fluid: no moving link of this robot has a fluid around it; add <fluid_added_mass>, "
            "a plugin of Gazebo or [links.NAME] in the file of --actuators"
        )
    if fluid and {"load", "presliding_load"} & {*friction}:
        raise OptionError("--fluid and --friction load: remove one of them")


def with_fluids(
    q: Quantity, named: Sequence[Formulation], layout: CanonicalModel
) -> list[Formulation]:
    """The formulations that contain the forces of the fluids of a robot. Raises OptionError."""
    if layout.fluids and layout.coupling.loops:
        raise OptionError("--fluid: robots with closed loops are not supported; cut the loops")
    titles = ((f, f.name.partition("/")[0]) for f in named)
    known = FORMULATIONS | WITHOUT_FORCES | PARTS
    fit = [f for f, title in titles if {title, f"{title}:{q.name.partition(':')[0]}"} & known]
    if layout.fluids and not fit:
        raise OptionError(
            f"--fluid: {q.name} does not support the forces of fluids; remove it or --fluid"
        )
    return fit if layout.fluids else [*named]

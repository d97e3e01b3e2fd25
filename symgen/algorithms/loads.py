"""Friction that depends on the load of a joint, in closed form.

The load x of a joint is the force that it transmits, M q̈ + C q̇ + g less external wrenches, of its
coordinate: with those of the joints and rotors that follow it. Inverse dynamics adds k |x| to it.
Forward dynamics solves τ = x + k |x| + other friction for x joint by joint, and runs without
friction on x."""

from collections.abc import Callable
from functools import wraps

from symgen.errors import OptionError
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.joint_forces import NO_JOINT_FORCE
from symgen.numbers.scalar import ZERO, Coordinates, Scalar

Algorithm = Callable[[CanonicalModel, Coordinates, Coordinates, Coordinates], list[Scalar]]


def depends_on_load(system: CanonicalModel) -> bool:
    """Whether friction depends on the load of a joint."""
    return any(body.passive.depends_on_load for body in system.bodies)


def joint_loads(system: CanonicalModel, forces: Coordinates) -> list[Scalar]:
    """The load of each body's joint from the forces of all of them, with those of the joints and
    rotors that follow it; zero if no friction depends on it."""
    if not depends_on_load(system):
        return [ZERO] * system.size
    loads = [*forces]
    for k, (drive, leaders) in enumerate(zip(system.coupling.drives, system.leaders, strict=True)):
        if drive.follows:
            for term, i in zip(drive.terms, leaders, strict=True):
                loads[i - 1] = loads[i - 1] + term.factor * forces[k]
    return loads


def solved_loads(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, tau: Coordinates
) -> tuple[CanonicalModel, Coordinates]:
    """The system without friction and springs, and the loads that joint forces `tau` of the user
    leave; both unchanged if no friction depends on the load. Raises OptionError for robots with
    joints that follow others: their loads do not follow from `tau`."""
    if not depends_on_load(system):
        return system, tau
    check_own_coordinates(system)
    loads = [*tau]
    for i, (body, drive) in enumerate(zip(system.bodies, system.coupling.drives, strict=True), 1):
        if system.leaders[i - 1] == (i,):
            loads[drive.velocity_index] = body.passive.load(
                q[i - 1], qd[i - 1], tau[drive.velocity_index]
            )
    return system.with_passive([NO_JOINT_FORCE] * system.size), loads


def check_own_coordinates(system: CanonicalModel) -> None:
    """Raises OptionError if friction depends on the load and a joint follows others, whose load
    does not follow from the joint forces."""
    if depends_on_load(system) and any(
        leaders != (i,) and (len(leaders) != 1 or i not in system.rotors)
        for i, leaders in enumerate(system.leaders, 1)
    ):
        raise OptionError(
            "--friction load: joints of this robot follow others, so their loads do not follow "
            "from the joint forces; remove forward dynamics and controllers, or load"
        )


def with_solved_loads(algorithm: Algorithm) -> Algorithm:
    """A forward dynamics algorithm that `solved_loads` prepares."""

    @wraps(algorithm)
    def solved(
        system: CanonicalModel, q: Coordinates, qd: Coordinates, tau: Coordinates
    ) -> list[Scalar]:
        """The accelerations."""
        frictionless, loads = solved_loads(system, q, qd, tau)
        return algorithm(frictionless, q, qd, loads)

    return solved

"""Laws of joint forces: friction and springs that the drive of a coordinate has to overcome beyond
the rigid-body dynamics. Each row of `LAWS` is one law, a coefficient times a column.

The columns are functions of the state of one coordinate on any scalars, so their derivatives come
from the scalars. Generated code, regressors, controllers, observers and identification read this
table. Survey of the laws: Armstrong-Hélouvry, Dupont & Canudas de Wit, Automatica 1994; Olsson et
al., Friction models and friction compensation, Eur. J. Control 1998."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from symgen.mechanics.kinematic_loop import coordinate
from symgen.numbers.autodiff import derivative
from symgen.numbers.operations import exp, sign, sqrt, tanh
from symgen.numbers.scalar import ZERO, Scalar, plain


class JointState(NamedTuple):
    """The state of one coordinate: position (rad or m), rate (rad/s or m/s), `load`, the force
    that the joint transmits, M q̈ + C q̇ + g less external wrenches (N m or N), the state of
    `presliding` friction (-1 to 1) and acceleration (rad/s² or m/s²). The load contains neither
    friction nor springs."""

    position: Scalar
    rate: Scalar
    load: Scalar = ZERO
    presliding: Scalar = ZERO
    acceleration: Scalar = ZERO


Shape = Mapping[str, Scalar]
"""The shape parameters of a coordinate by name: everything that a column is not linear in. `width`
(rad/s or m/s, 0 for none) smooths the sign of the rate in all laws."""


LARGEST_SHAPE: Final = 1e9
SMALLEST_SHAPE: Final = 1e-9
"""The smallest velocity (rad/s or m/s) and distance (rad or m) of a law: below it rounding errors
of the state decide on the force."""


@dataclass(frozen=True, slots=True)
class ShapeParameter:
    """A parameter of a column, in the unit of a revolute joint. `allowed` tests a value, and
    `requirement` completes the sentence "give ..." for one that fails. `search` are the values
    among which identification chooses: multiples of the largest rate of the joint for a parameter
    in rad/s, of its range of motion for one in rad, and the values themselves for one in 1."""

    name: str
    unit: str
    search: tuple[float, ...] = ()
    allowed: Callable[[float], bool] = lambda value: SMALLEST_SHAPE <= value <= LARGEST_SHAPE
    requirement: str = f"a number from {SMALLEST_SHAPE:g} to {LARGEST_SHAPE:g}"


FRICTION_WIDTH: Final = ShapeParameter("friction_width", "rad/s", (0.005, 0.01, 0.02))
"""The width that smooths the sign of the rate in the laws with `has_width`. Files can state one for
each joint; the shape of a coordinate has it as `width`. 0.02 of the largest rate is about six
standard deviations of a velocity that is differentiated from the positions of an encoder, 0.005
little more than one. The largest counts unless a smaller one explains a log clearly better."""


FRICTION_GROUP: Final = "friction"
SPRING_GROUP: Final = "spring"
INERTIA_GROUP: Final = "inertia"


@dataclass(frozen=True, slots=True)
class ForceLaw:
    """One law: the force is a coefficient times `column` (N m or N), which `formula` writes.

    `unit` is the unit of the coefficient at a revolute joint, `lower` its physical lower bound
    (None: any sign). `group` is one of friction, spring and inertia. `energy` is the stored energy
    per unit of the coefficient (J). A law that `dissipates` has a column with the sign of the rate:
    with a coefficient of at least 0 it takes power from the joint in every state. `has_width` laws
    contain the sign of the rate, which a width smooths. `reads` names the fields of the state
    besides position and rate. A law that `acts_at_rest` does not vanish at rest."""

    meaning: str
    formula: str
    unit: str
    column: Callable[[JointState, Shape], Scalar]
    lower: float | None = 0.0
    shape: tuple[ShapeParameter, ...] = ()
    group: str = FRICTION_GROUP
    energy: Callable[[JointState, Shape], Scalar] | None = None
    dissipates: bool = False
    has_width: bool = False
    reads: frozenset[str] = frozenset()
    acts_at_rest: bool = False


def direction(rate: Scalar, width: Scalar) -> Scalar:
    """The sign of a rate, 0 at rest; with a width (rad/s or m/s) tanh(rate / width)."""
    return tanh(rate * (1.0 / width)) if width else sign(rate)


def magnitude(rate: Scalar, width: Scalar = 0.0) -> Scalar:
    """The absolute value; of a rate with a width √(rate² + width²)."""
    return sqrt(rate * rate + width * width) if width else rate * sign(rate)


def presliding_after(state: Scalar, change: Scalar, distance: Scalar) -> Scalar:
    """The state of presliding friction after a monotone change of position: s ← g + (s - g)
    exp(-|Δq| / δ), g = sign(Δq), the exact solution of ds/dq = (1 - s sign(q̇)) / δ (Dahl, A solid
    friction model, 1968, with exponent 1). With the storage δ s²/2 it dissipates s² |q̇|."""
    towards = sign(change)
    share = exp(-(magnitude(change) * (1.0 / distance)))
    return towards + (state - towards) * share


def _stribeck(x: JointState, shape: Shape) -> Scalar:
    ratio = x.rate * (1.0 / shape["stribeck_velocity"])
    return direction(x.rate, shape["width"]) * exp(-(ratio * ratio))


def _power(x: JointState, shape: Shape) -> Scalar:
    """q̇ |q̇|^(p - 1), by square roots: p is a multiple of 1/2."""
    speed, halves = magnitude(x.rate, shape["width"]), round(2 * plain(shape["power_exponent"])) - 2
    if halves < 0:
        return x.rate / sqrt(speed)
    factor = x.rate * sqrt(speed) if halves % 2 else x.rate
    for _ in range(halves // 2):
        factor = factor * speed
    return factor


def _strain(x: JointState, shape: Shape) -> Scalar:
    return coordinate(x.position) - shape["reference"]


PRESLIDING_DISTANCE: Final = ShapeParameter("presliding_distance", "rad", (1e-4, 3e-4, 1e-3, 3e-3))
"""The searched distances cover the 0.3 to 1 mrad of a UR10e and the 3 to 5 mrad of a Panda."""
STRIBECK_VELOCITIES: Final = (0.021, 0.03, 0.042, 0.06, 0.085, 0.12, 0.17, 0.25)
EXPONENTS: Final = (0.5, 1.5, 2.0, 2.5, 3.0)

LAWS: Final[dict[str, ForceLaw]] = {
    "coulomb": ForceLaw(
        "Coulomb friction",
        "sign(qd)",
        "N m",
        lambda x, shape: direction(x.rate, shape["width"]),
        dissipates=True,
        has_width=True,
    ),
    "viscous": ForceLaw(
        "viscous friction",
        "qd",
        "N m s/rad",
        lambda x, shape: x.rate,
        dissipates=True,
    ),
    "asymmetric": ForceLaw(
        "viscous friction that differs between the directions",
        "abs(qd)",
        "N m s/rad",
        lambda x, shape: magnitude(x.rate),
        lower=None,
    ),
    # Stribeck 1902; Bo & Pavelescu, Wear 1982; Canudas de Wit et al., IEEE T-AC 1995
    "stribeck": ForceLaw(
        "Stribeck friction, the excess over Coulomb friction at low speed",
        "sign(qd) exp(-(qd / stribeck_velocity)^2)",
        "N m",
        _stribeck,
        lower=None,
        shape=(ShapeParameter("stribeck_velocity", "rad/s", STRIBECK_VELOCITIES),),
        dissipates=True,
        has_width=True,
    ),
    "power": ForceLaw(
        "friction that grows with a power of the speed",
        "qd abs(qd)^(power_exponent - 1)",
        "N m (s/rad)^p",
        _power,
        lower=None,
        shape=(
            ShapeParameter(
                "power_exponent",
                "1",
                (0.5,),
                lambda value: value in EXPONENTS,
                f"one of {', '.join(f'{p:g}' for p in EXPONENTS)}",
            ),
        ),
        dissipates=True,
        has_width=True,
    ),
    "saturating": ForceLaw(
        "viscous friction that saturates",
        "tanh(qd / saturating_velocity)",
        "N m",
        lambda x, shape: tanh(x.rate * (1.0 / shape["saturating_velocity"])),
        lower=None,
        shape=(ShapeParameter("saturating_velocity", "rad/s", (0.1, 0.2, 0.4, 0.8)),),
        dissipates=True,
    ),
    # Hamon, Gautier & Garrec, IROS 2010
    "load": ForceLaw(
        "Coulomb friction that grows with the load of the joint",
        "sign(qd) abs(load)",
        "1",
        lambda x, shape: direction(x.rate, shape["width"]) * magnitude(x.load),
        lower=None,
        dissipates=True,
        has_width=True,
        reads=frozenset({"load"}),
    ),
    "presliding": ForceLaw(
        "presliding friction: an elastic-plastic contact with a state s",
        "s",
        "N m",
        lambda x, shape: x.presliding,
        lower=None,
        shape=(PRESLIDING_DISTANCE,),
        reads=frozenset({"presliding"}),
        acts_at_rest=True,
    ),
    "presliding_load": ForceLaw(
        "presliding friction that grows with the load of the joint",
        "s abs(load)",
        "1",
        lambda x, shape: x.presliding * magnitude(x.load),
        lower=None,
        shape=(PRESLIDING_DISTANCE,),
        reads=frozenset({"presliding", "load"}),
        acts_at_rest=True,
    ),
    "offset": ForceLaw("offset", "1", "N m", lambda *x: 1.0, lower=None, acts_at_rest=True),
    "armature": ForceLaw(
        "armature: reflected inertia of a rotor",
        "qdd",
        "kg m^2",
        lambda x, shape: x.acceleration,
        group=INERTIA_GROUP,
        reads=frozenset({"acceleration"}),
    ),
    "stiffness": ForceLaw(
        "stiffness of a spring",
        "q - reference",
        "N m/rad",
        _strain,
        lower=None,
        group=SPRING_GROUP,
        energy=lambda x, shape: 0.5 * (_strain(x, shape) * _strain(x, shape)),
    ),
    "preload": ForceLaw(
        "preload of a spring: stiffness times reference",
        "-1",
        "N m",
        lambda x, shape: -1.0,
        lower=None,
        group=SPRING_GROUP,
        energy=lambda x, shape: -coordinate(x.position),
    ),
}
"""All laws in the order in which their forces are added. Generated code has an armature as a body
(`symgen.mechanics.model.Rotor`), which adds it to M; its row is for regressors of logs. In
regressors a spring has the columns of its stiffness and its preload; files state its stiffness and
its `reference` (rad or m)."""

FRICTION: Final = tuple(name for name, law in LAWS.items() if law.group == FRICTION_GROUP)
SPRINGS: Final = tuple(name for name, law in LAWS.items() if law.group == SPRING_GROUP)
SHAPE_PARAMETERS: Final = {p.name: p for law in LAWS.values() for p in law.shape}
"""The shape parameters of the laws that files give, by key."""

COMPENSATION: Final = ("reference", "measured", "none")
"""The velocities at which a controller can compensate friction."""


@dataclass(frozen=True, slots=True)
class JointForce:
    """The force of friction and springs at one coordinate, which its drive has to overcome (N m or
    N): the sum of `coefficients` by law, each times its column. Laws that are zero in every state
    are absent."""

    coefficients: Mapping[str, Scalar] = field(default_factory=dict)
    shape: Shape = field(default_factory=lambda: {"width": 0.0, "reference": ZERO})
    presliding: Scalar = ZERO
    """The state of presliding friction."""

    def column(self, law: str, state: JointState) -> Scalar:
        """The force of a law per unit of its coefficient; zero if the coordinate lacks one of its
        shape parameters."""
        row = LAWS[law]
        known = all(parameter.name in self.shape for parameter in row.shape)
        return row.column(state._replace(presliding=self.presliding), self.shape) if known else ZERO

    def force(self, state: JointState) -> Scalar:
        """The whole force, with its own state of presliding; sign(0) = 0."""
        return self._sum(LAWS, state)

    def friction(self, rate: Scalar, load: Scalar = ZERO) -> Scalar:
        """The friction at a joint rate, the offset included."""
        return self._sum(FRICTION, JointState(ZERO, rate, load))

    def moving(self, rate: Scalar) -> Scalar:
        """The friction that vanishes at rest."""
        laws = (law for law in FRICTION if not LAWS[law].acts_at_rest)
        return self._sum(laws, JointState(ZERO, rate))

    def spring(self, position: Scalar) -> Scalar:
        """The force of the spring."""
        return self._sum(SPRINGS, JointState(position, ZERO))

    def after(self, change: Scalar) -> "JointForce":
        """The force with the state of presliding friction after a change of position."""
        distance = self.shape.get("presliding_distance")
        if distance is None or self.presliding is ZERO:
            return self
        return replace(self, presliding=presliding_after(self.presliding, change, distance))

    @property
    def depends_on_load(self) -> bool:
        """Whether friction depends on the load."""
        return any("load" in LAWS[law].reads for law in self.coefficients)

    def load(self, position: Scalar, rate: Scalar, drive: Scalar) -> Scalar:
        """The load that is left of the force of a drive: the solution x of drive = x + f + k |x|
        with the forces f that do not depend on the load, x = r / (1 + k sign(r)) with r = drive -
        f. It is unique while |k| < 1."""
        rest = drive - self.force(JointState(position, rate))
        if not self.depends_on_load:
            return rest
        laws = [law for law in LAWS if "load" in LAWS[law].reads]
        return rest / (1.0 + self._sum(laws, JointState(ZERO, rate, 1.0)) * sign(rest))

    def _sum(self, laws: Iterable[str], state: JointState) -> Scalar:
        known = self.coefficients
        terms = (known[law] * self.column(law, state) for law in laws if law in known)
        return sum(terms, ZERO)

    @property
    def without_friction(self) -> "JointForce":
        """The spring alone."""
        springs = {law: x for law, x in self.coefficients.items() if law in SPRINGS}
        return replace(self, coefficients=springs)

    def energy(self, position: Scalar) -> Scalar:
        """The energy that the spring stores (J), 0 at its reference."""
        state, total = JointState(position, ZERO), list[Scalar]()
        for law, coefficient in self.coefficients.items():
            energy = LAWS[law].energy
            if energy is not None:
                total.append(coefficient * energy(state, self.shape))
        return sum(total, ZERO)

    def rate_slope(self, rate: Scalar) -> Scalar:
        """The derivative of the force in the joint rate; that of a sign is zero."""
        return self._slope(lambda x: JointState(ZERO, x), rate)

    def position_slope(self, position: Scalar) -> Scalar:
        """The derivative of the force in the joint position."""
        return self._slope(lambda x: JointState(x, ZERO), position)

    def _slope(self, state: Callable[[Scalar], JointState], at: Scalar) -> Scalar:
        """Each column is differentiated along its coefficient, which multiplies the slope."""

        def slope(law: str) -> Scalar:
            along = self.coefficients[law]
            return derivative(lambda x: self.column(law, state(x)), at, along)

        return sum((slope(law) for law in LAWS if law in self.coefficients), ZERO)


NO_JOINT_FORCE: Final = JointForce()

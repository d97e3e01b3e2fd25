"""Options of the command line, taken from the commands themselves: values that fit a robot, and
values that fit nothing."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Final

import click

from fuzz.draw import argument, number
from fuzz.nodes import Node
from symgen.identification.model.settings import Settings
from symgen.jobs.jobfile import JOB_OPTIONS
from symgen.options import rows

OUT: Final = {"generate": "out", "build": "pkg", "excite": "motion.csv", "init": "new.toml"}
"""Where commands that must be told write to."""
FORBIDDEN: Final = {"scheduler", "help", "version", "cflags"}
"""Options that reach out of the process (a network, any path by the compiler's flags)."""


@dataclass(frozen=True)
class Names:
    """What options of a robot can name."""

    joints: Sequence[str] = ()
    links: Sequence[str] = ()

    @classmethod
    def of(cls, root: Node) -> "Names":
        """Those of a tree."""
        return cls(root.named("joint"), root.named("link"))


Value = Callable[[Random, Names], str]


def one(*values: str, odd: Sequence[str] = ()) -> Value:
    """One of some texts, now and then an odd one."""
    return lambda rng, names: rng.choice(odd if odd and rng.random() < 0.15 else values)


def plain(*values: str) -> Value:
    """One of some texts; a number that is odd now and then."""
    return lambda rng, names: number(rng, 0.7) if rng.random() < 0.15 else rng.choice(values)


def some(value: Value, most: int = 3, sign: str = ",") -> Value:
    """Several, joined."""
    return lambda rng, names: sign.join(value(rng, names) for _ in range(rng.randint(1, most)))


def link(rng: Random, names: Names) -> str:
    """A link's name."""
    return rng.choice(names.links or ("base",))


def joint(rng: Random, names: Names) -> str:
    """A joint's name."""
    return rng.choice(names.joints or ("joint",))


@cache
def _quantities() -> dict[str, tuple[str, tuple[str, ...]]]:
    """What each quantity belongs to, and its formulations."""
    from symgen.inspection.command_reports import registry_data

    found = registry_data()["quantities"]
    of = {name: "link" * row["of_link"] + "joint" * row["of_joint"] for name, row in found.items()}
    return {name: (of[name], tuple(row["formulations"])) for name, row in found.items()}


@cache
def _glue() -> tuple[str, ...]:
    from symgen.languages.c.options import GLUE

    return tuple(GLUE)


def quantity(rng: Random, names: Names) -> str:
    """A quantity, of a link or of joints where it is of these."""
    rows = _quantities()
    name = rng.choice(tuple(rows))
    subjects = {"link": link, "joint": some(joint, 3)}
    return f"{name}:{subjects[rows[name][0]](rng, names)}" if rows[name][0] else name


def quantities(rng: Random, names: Names) -> str:
    """A quantity, a few in one function, or one of those that are the usual."""
    kind = rng.randrange(8)
    if kind < 4:
        return quantity(rng, names)
    if kind < 6:
        return rng.choice(("inverse_dynamics", "mass_matrix", "gravity", "forward_dynamics"))
    if kind == 6:
        return f"{rng.choice(('both', 'x', 'int', ''))}={some(quantity, 3, '+')(rng, names)}"
    return (
        rng.choice(("all", "regressor", "nothing", "mass_matrix=", "a=b=c"))
        if len(names.joints) < 3
        else "bias"
    )


def formulation(rng: Random, names: Names) -> str:
    """A formulation of a quantity."""
    name, (_, ways) = rng.choice(tuple(_quantities().items()))
    return f"{name}={rng.choice(ways or ('x',))}"


def locked(rng: Random, names: Names) -> str:
    """A joint held."""
    return f"{joint(rng, names)}={number(rng)}"


def coupled(rng: Random, names: Names) -> str:
    """A joint that follows others."""
    terms = [f"{joint(rng, names)}:{number(rng)}" for _ in range(rng.randint(1, 3))]
    offset = [number(rng)] if rng.random() < 0.3 else []
    return f"{joint(rng, names)}={','.join(terms + offset)}"


def loop(rng: Random, names: Names) -> str:
    """A loop between two links."""
    ends = f'first="{link(rng, names)}", second="{link(rng, names)}"'
    point = f"at_first=[{vector(rng, names)}]"
    tail = rng.choice(("", ", branch=-1", ", branch=2", f', dependent=["{joint(rng, names)}"]'))
    return f'name="{rng.choice(("l", "m", ""))}", {ends}, {point}{tail}'


def limit(rng: Random, names: Names) -> str:
    """A limit of a joint."""
    return (
        f"{joint(rng, names)}.{rng.choice(('lower', 'upper', 'velocity', 'effort'))}={number(rng)}"
    )


def vector(rng: Random, names: Names) -> str:
    """Three numbers."""
    return ",".join(number(rng, 0.2) for _ in range(3))


def either(*values: Value) -> Value:
    """One of some kinds of value."""
    return lambda rng, names: rng.choice(values)(rng, names)


def entry(rng: Random, names: Names) -> str:
    """An entry of a quantity, or all of one of its outputs."""
    tail = rng.choice(
        (f":{rng.randint(0, 4)},{rng.randint(-1, 4)}", "", ":M", ":p:1", ":", ":M:1,1")
    )
    return quantity(rng, names) + tail


def thruster(rng: Random, names: Names) -> str:
    """A thruster, of which one in three has no axis."""
    tail = rng.choice((":z", ":-y:0.02", "", ":x:nan", ":0,0.6,0.8:-1", ":0,0,0"))
    return link(rng, names) + tail


OF_FEW_VALUES: Final = {
    row.name: one(*row.kind.choices) for row in (*JOB_OPTIONS, *rows(Settings)) if row.kind.choices
}
VALUES: Final[dict[str, Value]] = OF_FEW_VALUES | {
    "root": link,
    "reroot": link,
    "keep_fixed": joint,
    "tip": link,
    "payload": link,
    "lock": locked,
    "limits": limit,
    "gravity": either(one("runtime", "0,0,0", "0,0,9.81", "1,2,3"), vector),
    "snap_angles": plain("0", "1e-3", "1e-6"),
    "couple": coupled,
    "loop": loop,
    "independent": some(joint),
    "parameters": either(
        one("constant", "runtime"), lambda rng, names: f"runtime:{some(link)(rng, names)}"
    ),
    "external_wrench": some(link),
    "thrusters": thruster,
    "friction": one(
        *("viscous", "coulomb", "viscous,coulomb", "runtime:viscous,coulomb,offset"),
        *("runtime:asymmetric,viscous", "runtime:load", "viscous,load,presliding,stribeck"),
    ),
    "body_loops": one("auto", "yes", "no", odd=("1", "true")),
    "friction_width": one("0", "0.05", "1e-3", "1", odd=("-1", "1e-300", "nan", "1e300")),
    "quantities": quantities,
    "quantity": quantities,
    "formulations": formulation,
    "certify_boxes": one("16", "100", odd=("0", "-1", "1000000000000")),
    "certify_limits": one("acceleration=10", "velocity=3", "g=9.81", "nothing=1", "lower=-1"),
    "batch": one("2", "4", "8", "auto", odd=("3", "0", "64", "-2", "1000000")),
    "chunk": one("5", "10", "100", "1000", odd=("0", "-1", "1", "1000000000000")),
    "glue": lambda rng, names: some(one(*_glue()))(rng, names),
    "languages": one("c", "python", odd=("rust",)),
    "xacro_args": lambda rng, names: f"{rng.choice(('mass', 'two', 'length'))}={number(rng)}",
    "entry": entry,
    "symbolic": one("masses", "lengths", "masses,lengths", odd=("",)),
    "harmonics": one("1", "2", "3", odd=("0", "-2", "50", "51")),
    "period": one("1", "2", "4", odd=("0", "-1", "nan", "1e-300", "inf")),
    "rate": one("20", "50", "100", odd=("0", "-1", "nan", "1e9", "1e300")),
    "margin": one("0", "0.1", "0.5", odd=("1", "-0.1", "2", "nan", "0.999999999")),
    "seed": one("0", "1", odd=("-1", str(2**70))),
    "budget": one("1", "5", "10", odd=("0", "-1")),
    "sensor": either(
        one("torque", odd=("wrench",)), lambda rng, names: f"wrench:{joint(rng, names)}"
    ),
    "method": one("acceleration", "momentum", "energy"),
    "cutoff": one("20", "5", odd=("0", "-1", "1e9", "nan", "1e-300")),
    "interval": one("0.1", "0.02", odd=("0", "-1", "1e9", "nan", "1e-300")),
    "validate": one("0.2", "0", "0.5", odd=("1", "0.999", "-0.1", "nan")),
    "prior": one("urdf", "prior.json", "prior.toml", odd=("nothing.json",)),
    "prior_deviation": one("0.3", "1", odd=("0", "-1", "1e300", "1e-300", "nan")),
    "max_condition": one("1e4", "1e12", "1e300", odd=("1", "0", "nan", "inf")),
    "engine": one("serial", odd=("spark",)),
    "actuators": one("actuators.toml", odd=("nothing.toml",)),
    "html": one("page.html", "a/b.html", odd=("page", "robot.urdf", ".")),
    "plot": one("picture.png", "a/b.png", odd=("picture", "robot.urdf")),
    "urdf": one("found.urdf", "a/found.urdf", odd=("robot.urdf",)),
    "prefix": one("arm", "a1", "tau", "index", "pendulum", odd=("int", "1a", "A", "x" * 40, "_")),
    "out": one("out", "out/deep", odd=("robot.urdf", ".", "out\x1b[31m")),
    "package_out": one("pkg", "pkg/deep", odd=("robot.urdf", ".")),
}
"""Values that mean something, by the name of the parameter; options that are not here get numbers
or texts by their type."""
RARE: Final = {
    "html": 0.3,
    "plot": 0.05,
    "entry": 0.3,
    "target": 0.1,
    "batch": 0.3,
    "engine": 0.2,
    "xacro_args": 0.15,
    "root": 0.6,
    "tip": 0.6,
    "friction_width": 0.5,
    "formulations": 0.5,
    "couple": 0.5,
    "loop": 0.5,
    "independent": 0.3,
}
"""How often an option is taken that costs time, or seldom fits, relative to the others."""


@cache
def _command(name: str) -> click.Command:
    from symgen.cli.main import main

    found = main.get_command(click.Context(main), name)
    assert found is not None, name
    return found


def own(command: str) -> list[click.Option]:
    """The options of a command."""
    every = _command(command).params
    return [o for o in every if isinstance(o, click.Option) and o.name not in FORBIDDEN]


def option(rng: Random, of: click.Option, names: Names, odd: float) -> Iterator[str]:
    """An option with a value as arguments."""
    yield rng.choice(of.opts)
    if of.is_flag:
        return
    if rng.random() < odd:
        yield argument(rng)
        return
    made = VALUES.get(str(of.name), lambda rng, names: _by_type(rng, of))(rng, names)
    made = made.replace("\0", "").encode("utf-8", "ignore").decode()
    yield (
        made
        if str(of.name) not in ("out", "package_out", "html", "plot", "urdf")
        else _inside(made)
    )


def _inside(path: str) -> str:
    """A path that stays where the case runs."""
    return path.lstrip("/").replace("..", "_")


def _by_type(rng: Random, of: click.Option) -> str:
    if isinstance(of.type, click.Choice):
        return str(rng.choice(list(of.type.choices)))
    return number(rng, 0.5) if of.type in (click.INT, click.FLOAT) else argument(rng)


def drawn(
    rng: Random, command: str, names: Names, most: int = 3, odd: float = 0.06
) -> Iterator[str]:
    """Some options of a command, and what it must be told."""
    found = own(command)
    weights = [RARE.get(str(o.name), 1.0) for o in found]
    taken = rng.choices(found, weights, k=rng.randint(0, most)) if found else []
    once = {str(o.name): o for o in taken if not o.multiple}
    for of in [*once.values(), *(o for o in taken if o.multiple)]:
        yield from option(rng, of, names, odd)
    yield from _required(rng, found, set(once), command, names)


def _required(
    rng: Random, found: Sequence[click.Option], given: set[str], command: str, names: Names
) -> Iterator[str]:
    for of in found:
        if str(of.name) in given or rng.random() < 0.01:
            continue
        if of.required or (command == "init" and of.name == "out"):
            path = str(of.name) in ("out", "package_out")
            yield from (of.opts[0], OUT[command]) if path else option(rng, of, names, 0.0)
    if command == "excite" and "budget" not in given:
        yield from ("--budget", "5", "--rate", "50", "--harmonics", "2")


def controlling(rng: Random) -> Iterator[str]:
    """Options of ``generate`` that change what a controller computes."""
    if rng.random() < 0.5:
        yield from ("--friction", rng.choice(("viscous,coulomb", "runtime:viscous,coulomb,offset")))
        if rng.random() < 0.3:
            yield from ("--friction-width", "0.05")
        if rng.random() < 0.5:
            yield from ("--friction-compensation", rng.choice(("measured", "none", "reference")))
    if rng.random() < 0.2:
        yield "--springs"
    if rng.random() < 0.2:
        yield from ("--base", "floating")
    if rng.random() < 0.3:
        yield from ("--scalar", "float")
    if rng.random() < 0.2:
        yield from ("--gravity", "runtime")


def fitting(rng: Random, names: Names) -> Iterator[str]:
    """Options of ``generate`` that fit each other, to be proved afterwards."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        yield from ("--quantity", quantity(rng, names))
    if rng.random() < 0.3:
        yield from ("--scalar", "float")
    yield from rng.choice(
        (
            (),
            ("--zeros", "once"),
            ("--trig", "inline"),
            ("--trig", "inline", "--batch", rng.choice(("2", "4", "8", "auto"))),
        )
    )
    if rng.random() < 0.25:
        yield from ("--parameters", rng.choice(("runtime", f"runtime:{link(rng, names)}")))
    if rng.random() < 0.25:
        yield from ("--gravity", rng.choice(("runtime", "0,0,0", "1,2,3")))
    if rng.random() < 0.25:
        yield from ("--friction", rng.choice(("runtime:viscous,coulomb,offset", "viscous,coulomb")))
        if rng.random() < 0.5:
            yield from ("--friction-width", "0.05")
    if rng.random() < 0.2:
        yield from ("--base", "floating")
    if rng.random() < 0.2:
        yield from ("--chunk", rng.choice(("5", "20")))
    if rng.random() < 0.15:
        yield from ("--external-wrench", link(rng, names))

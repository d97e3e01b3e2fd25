"""What is measured: the quantities, the robots, and chains made of a UR5."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bench.plain import Joint, Plain, chain_urdf
from tests.support.public_robots import example_robots

ROBOTS = Path(__file__).resolve().parents[2] / "robots"

QUANTITIES = {
    "inverse_dynamics": "ID",
    "bias": "bias",
    "gravity": "gravity",
    "mass_matrix": "M",
    "coriolis_matrix": "C",
    "forward_dynamics": "FD",
    "regressor": "regressor",
    "inverse_dynamics_derivatives": "dID",
    "forward_dynamics_derivatives": "dFD",
}
"""symgen's name of each quantity, which all tools share here, and a short one for tables and
plots."""

CHAIN_QUANTITIES = ("gravity", "bias", "inverse_dynamics", "mass_matrix", "forward_dynamics")
CHAIN_LENGTHS = (2, 6, 10, 20, 40, 60)


@dataclass(frozen=True)
class Case:
    """A robot's file and how it is taken; its functions are to be called one after the other."""

    name: str
    file: Path
    locked: tuple[str, ...] = ()
    floating: bool = False
    quantities: tuple[str, ...] = tuple(QUANTITIES)
    length: int = 0
    """Joints of a chain."""

    @property
    def options(self) -> list[str]:
        """As symgen takes them."""
        locks = [word for joint in self.locked for word in ("--lock", f"{joint}=0")]
        return [*locks, *(("--base", "floating") if self.floating else ())]

    def plain(self) -> Plain:
        return Plain.of(self.file, self.locked, self.floating)


def public(name: str) -> Path:
    """A file of example-robot-data."""
    return next(path for path in example_robots() if path.as_posix().endswith(f"/{name}"))


def cases() -> list[Case]:
    """The robots, small ones first."""
    fingers = ("panda_finger_joint1", "panda_finger_joint2")
    return [
        Case("pendulum", ROBOTS / "pendulum.urdf"),
        Case("ur5", public("ur_description/urdf/ur5_robot.urdf")),
        Case("panda", public("panda_description/urdf/panda.urdf"), fingers),
        Case("iiwa", ROBOTS / "iiwa7.urdf"),
        Case("snake16", ROBOTS / "snake16.urdf"),
        Case("quadruped", ROBOTS / "quadruped.urdf"),
        Case("quadruped_floating", ROBOTS / "quadruped.urdf", floating=True),
        Case("talos", public("talos_data/robots/talos_reduced.urdf")),
    ]


def chains(folder: Path) -> list[Case]:
    """Chains of UR5 joints, the six again and again, as in Johannessen, Arbo & Gravdahl (2019)."""
    links = Plain.of(ROBOTS / "ur5.urdf", (), False).joints
    folder.mkdir(parents=True, exist_ok=True)
    return [_chain(folder, links, n) for n in CHAIN_LENGTHS]


def _chain(folder: Path, links: Sequence[Joint], n: int) -> Case:
    path = folder / f"chain{n}.urdf"
    path.write_text(chain_urdf([links[k % len(links)] for k in range(n)]), encoding="utf-8")
    return Case(f"chain{n}", path, quantities=CHAIN_QUANTITIES, length=n)

"""Robots whose joints with several coordinates have friction, springs and armature."""

from collections.abc import Callable
from typing import Any

import symgen
from symgen.reading.assemble import load
from symgen.tracing.robot import ParametricModel

INERTIA = (0.02, 0.001, -0.002, 0.03, 0.0005, 0.025)


def constants(size: int, step: float) -> list[float]:
    """A number for each coordinate, all of them different."""
    return [round(0.1 + step * (k + 1), 3) for k in range(size)]


def resisted(size: int, springs: bool = True) -> dict[str, Any]:
    """All that a joint with `size` coordinates can have; armature in ball and floating joints
    (without springs) is the same about all axes, and along all axes."""
    values: dict[str, Any] = {"damping": constants(size, 0.3), "friction": constants(size, 0.2)}
    if springs:
        values |= {"stiffness": constants(size, 1.5), "reference": constants(size, -0.2)}
        return values | {"armature": constants(size, 0.05)}
    return values | {"armature": [0.4] * (size - 3) + [0.15] * 3}


def chain(name: str, *joints: tuple[str, dict[str, Any]]) -> symgen.Builder:
    """A chain of joints, each of a kind and with what it has."""
    robot = symgen.Builder(name).link("link0")
    for k, (kind, values) in enumerate(joints, 1):
        centre = (0.1 - 0.05 * k, 0.02 * k, 0.15)
        robot = robot.link(f"link{k}", 1.0 + 0.3 * k, centre, INERTIA)
        pose: dict[str, Any] = {"xyz": (0.1, -0.05 * k, 0.2), "rpy": (0.3, -0.2 * k, 0.5)}
        robot = robot.joint(f"j{k}", kind, f"link{k - 1}", f"link{k}", **pose, **values)
    return robot


def planar_and_ball() -> symgen.Builder:
    """A planar joint, a hinge and a ball joint that moves with them."""
    hinge = {"axis": (0.0, 1.0, 0.0), "damping": 0.2, "friction": 0.1, "armature": 0.05}
    return chain(
        "planar_and_ball",
        ("planar", resisted(3)),
        ("continuous", hinge),
        ("ball", resisted(3, springs=False)),
    )


def universal_and_cylindrical() -> symgen.Builder:
    """A universal and a cylindrical joint."""
    axis = (0.0, 0.6, 0.8)
    return chain(
        "universal_and_cylindrical",
        ("universal", resisted(2) | {"axis": (1.0, 0.0, 0.0)}),
        ("cylindrical", resisted(2) | {"axis": axis}),
    )


def floating_in_chain() -> symgen.Builder:
    """A hinge that carries a floating joint."""
    hinge = {"axis": (0.0, 1.0, 0.0), "damping": 0.2, "friction": 0.1, "armature": 0.05}
    return chain(
        "floating_in_chain", ("continuous", hinge), ("floating", resisted(6, springs=False))
    )


ROBOTS = {
    "planar and ball": planar_and_ball,
    "universal and cylindrical": universal_and_cylindrical,
    "floating in a chain": floating_in_chain,
}


def runtime_models(**options: Any) -> dict[str, Callable[[], ParametricModel]]:
    """How to make each of them with springs and some options, by a name for tests."""
    return {
        f"{name}, resisted": lambda made=made: ParametricModel(
            load(made()).model, springs=True, **options
        )
        for name, made in ROBOTS.items()
    }

"""Robots with closed loops of our own dimensions: each kind of planar loop, and loops on a skew
carrier."""

from math import cos, pi, sin
from typing import Any

import numpy as np

import symgen

HALF = pi / 2
Numbers = tuple[float, ...]


def _with_links(builder: Any, masses: dict[str, float], seed: int) -> Any:
    rng = np.random.default_rng(seed)
    for name, mass in masses.items():
        r = rng.normal(size=(3, 3))
        i = np.round(0.01 * mass * (r @ r.T + 3 * np.eye(3)), 5)
        six = (i[0, 0], i[0, 1], i[0, 2], i[1, 1], i[1, 2], i[2, 2])
        center = tuple(rng.uniform(-0.1, 0.1, 3).round(4))
        builder = builder.link(name, mass, center, tuple(map(float, six)))
    return builder


def four_bar(skew: bool = False, closed: bool = True, newton: bool = False, **options: Any) -> Any:
    """A shoulder that carries a four-bar linkage, and a wrist on its rocker; straight axes, or a
    carrier with general angles."""
    a, b, c, ground = 0.21, 0.47, 0.33, (0.42, 0.05)
    tilt = 1.1 if skew else HALF
    x, y, z = ground[0], ground[1] * cos(tilt), ground[1] * sin(tilt)
    masses = {"shoulder": 3.0, "crank": 1.0, "coupler": 0.7, "rocker": 0.9, "wrist": 0.5}
    base = symgen.Builder("fourbar").link("base", 2.0, (0, 0, 0.1), (0.1, 0, 0, 0.1, 0, 0.1))
    arm = _with_links(base, masses, 1)
    lean = (0.4, -0.3, 0.0) if skew else (0.0, 0.0, 0.0)
    pivot = (0.2 + x, y if skew else 0.0, 0.1 + z)
    arm = arm.joint("q1", "revolute", "base", "shoulder", (0.1, 0.2, 0.3), lean)
    arm = arm.joint("q2", "revolute", "shoulder", "crank", (0.2, 0, 0.1), (tilt, 0, 0))
    arm = arm.joint("q3", "revolute", "crank", "coupler", (a, 0, 0), **options)
    arm = arm.joint("q4", "revolute", "shoulder", "rocker", pivot, (tilt, 0, 0))
    turn, axis = ((0, 0.5, 0), (1, 0, 0)) if skew else ((HALF, 0, 0), (0, 0, 1))
    arm = arm.joint("q5", "revolute", "rocker", "wrist", (c, 0.02, 0), turn, axis)
    if not closed:
        return arm
    return arm.close("loop", "coupler", "rocker", (b, 0, 0), (c, 0, 0), newton=newton)


def excavator(closed: bool = True) -> Any:
    """A boom that a cylinder raises, on a swing, with a stick: the cylinder follows the boom."""
    masses = {"swing": 9.0, "boom": 5.0, "cylinder": 1.0, "rod": 0.8, "stick": 2.5}
    arm = _with_links(symgen.Builder("excavator").link("base"), masses, 2)
    arm = arm.joint("q1", "revolute", "base", "swing", (0, 0, 0.5))
    arm = arm.joint("q2", "revolute", "swing", "boom", (0.2, 0, 0.3), (HALF, 0, 0))
    arm = arm.joint("q3", "revolute", "swing", "cylinder", (0.5, 0, 0.1), (HALF, 0, 0))
    arm = arm.joint("q4", "prismatic", "cylinder", "rod", axis=(1, 0, 0))
    arm = arm.joint("q5", "revolute", "boom", "stick", (2.0, 0, 0))
    return arm.close("lift", "boom", "rod", (0.9, -0.15, 0)) if closed else arm


def engine(closed: bool = True) -> Any:
    """A crank, a rod and a piston that slides on the base: line and circle, on two sides."""
    masses = {"crank": 1.0, "rod": 0.6, "piston": 0.4}
    arm = _with_links(symgen.Builder("engine").link("base"), masses, 3)
    arm = arm.joint("q1", "revolute", "base", "crank", rpy=(HALF, 0, 0))
    arm = arm.joint("q2", "revolute", "crank", "rod", (0.1, 0, 0))
    arm = arm.joint("q3", "prismatic", "base", "piston", (0, 0, 0.02), axis=(1, 0, 0))
    return arm.close("pin", "rod", "piston", (0.35, 0.03, 0), (0.01, 0, 0)) if closed else arm


def inverted_engine(closed: bool = True) -> Any:
    """The same with the crank closed last: a piston and a rod on one side, line and circle."""
    masses = {"crank": 1.0, "piston": 0.4, "rod": 0.6}
    arm = _with_links(symgen.Builder("inverted").link("base"), masses, 4)
    arm = arm.joint("q1", "revolute", "base", "crank", rpy=(HALF, 0, 0))
    arm = arm.joint("q2", "prismatic", "base", "piston", (0, 0, 0.02), axis=(1, 0, 0))
    arm = arm.joint("q3", "revolute", "piston", "rod", (0.01, 0, 0), (-HALF, 0, 0))
    return arm.close("pin", "crank", "rod", (0.1, 0, 0), (0.35, 0.03, 0)) if closed else arm


def five_bar(closed: bool = True) -> Any:
    """Two motors on the base and two rods that meet: two independent coordinates."""
    masses = {"left": 1.0, "left_rod": 0.5, "right": 1.1, "right_rod": 0.45}
    arm = _with_links(symgen.Builder("fivebar").link("base"), masses, 5)
    arm = arm.joint("q1", "revolute", "base", "left", (-0.1, 0, 0))
    arm = arm.joint("q2", "revolute", "left", "left_rod", (0.2, 0, 0))
    arm = arm.joint("q3", "revolute", "base", "right", (0.1, 0, 0.05), (pi, 0, 0))
    arm = arm.joint("q4", "revolute", "right", "right_rod", (0.2, 0, 0))
    ends = (0.3, 0, 0.05), (0.28, 0.02, 0)
    return arm.close("tip", "left_rod", "right_rod", *ends) if closed else arm


def rocker_of_one_side(closed: bool = True) -> Any:
    """A four-bar linkage cut at its crank: rocker and coupler are on one side."""
    masses = {"crank": 1.0, "rocker": 0.9, "coupler": 0.7}
    arm = _with_links(symgen.Builder("cut").link("base"), masses, 6)
    arm = arm.joint("q1", "revolute", "base", "crank")
    arm = arm.joint("q2", "revolute", "base", "rocker", (0.42, 0.05, 0))
    arm = arm.joint("q3", "revolute", "rocker", "coupler", (0.33, 0, 0))
    ends = (0.21, 0, 0), (0.47, 0, 0)
    return arm.close("loop", "crank", "coupler", *ends) if closed else arm


def bucket(closed: bool = True) -> Any:
    """Two loops, one after the other: a cylinder moves a rocker, which moves a bucket by a rod; a
    cylinder with an offset, on a stick that turns."""
    masses = {"stick": 3.0, "rocker": 0.8, "barrel": 0.7, "rod": 0.5, "link": 0.3, "bucket": 2.0}
    arm = _with_links(symgen.Builder("bucket").link("base"), masses, 7)
    arm = arm.joint("q1", "revolute", "base", "stick", (0, 0, 1), (HALF, 0, 0))
    arm = arm.joint("q2", "revolute", "stick", "rocker", (0.9, 0.1, 0))
    arm = arm.joint("q3", "revolute", "stick", "barrel", (0.1, 0.2, 0))
    arm = arm.joint("q4", "prismatic", "barrel", "rod", (0.3, 0.04, 0), axis=(1, 0, 0))
    arm = arm.joint("q5", "revolute", "rocker", "link", (0.2, 0, 0))
    arm = arm.joint("q6", "revolute", "stick", "bucket", (1.1, 0, 0))
    if not closed:
        return arm
    arm = arm.close("linkage", "link", "bucket", (0.25, 0, 0), (0.2, 0.05, 0))
    return arm.close("cylinder", "rocker", "rod", (0.2, 0.02, 0))


LOOPS = {
    "four-bar": four_bar,
    "excavator": excavator,
    "engine": engine,
    "inverted": inverted_engine,
    "five-bar": five_bar,
    "one side": rocker_of_one_side,
    "bucket": bucket,
}


def ankle(closed: bool = True) -> Any:
    """A differential ankle on a shin: two motors whose rods, on universal joints, hold a foot with
    pitch and roll."""
    masses = {"shin": 3.0, "crank0": 0.2, "cross0": 0.01, "rod0": 0.1}
    masses |= {"crank1": 0.2, "cross1": 0.01, "rod1": 0.1, "cross": 0.05, "foot": 1.0}
    arm = _with_links(symgen.Builder("ankle").link("base"), masses, 8)
    arm = arm.joint("knee", "revolute", "base", "shin", rpy=(HALF, 0, 0))
    for k, side in enumerate((1, -1)):
        arm = arm.joint(f"m{k}", "revolute", "shin", f"crank{k}", (0.1, 0, 0.05 * side))
        arm = arm.joint(f"u{k}", "revolute", f"crank{k}", f"cross{k}", (0.05, 0, 0))
        arm = arm.joint(f"w{k}", "revolute", f"cross{k}", f"rod{k}", rpy=(HALF, 0, 0))
    arm = arm.joint("pitch", "revolute", "shin", "cross", (0.4, 0, 0))
    arm = arm.joint("roll", "revolute", "cross", "foot", rpy=(-HALF, 0, 0))
    for k, side in enumerate((1, -1) if closed else ()):
        lug = (0, -0.05 * side, -0.05)
        arm = arm.close(f"rod{k}", f"rod{k}", "foot", (0.3, 0, 0), lug)
    return arm


def stewart(closed: bool = True) -> Any:
    """A platform with six coordinates on six legs, each a cylinder on a universal joint."""
    masses = {"platform": 5.0}
    for k in range(6):
        masses |= {f"cross{k}": 0.05, f"barrel{k}": 0.8, f"rod{k}": 0.5}
    arm = symgen.Builder("stewart").link("base")
    for name in ("px", "py", "pz", "rx", "ry"):
        arm = arm.link(name)
    arm = _with_links(arm, masses, 9)
    arm = arm.joint("x", "prismatic", "base", "px", (0, 0, 0.55), axis=(1, 0, 0))
    arm = arm.joint("y", "prismatic", "px", "py", axis=(0, 1, 0))
    arm = arm.joint("z", "prismatic", "py", "pz", axis=(0, 0, 1))
    arm = arm.joint("roll", "revolute", "pz", "rx", axis=(1, 0, 0))
    arm = arm.joint("pitch", "revolute", "rx", "ry", axis=(0, 1, 0))
    arm = arm.joint("yaw", "revolute", "ry", "platform", axis=(0, 0, 1))
    at = [(50, 10), (70, 110), (170, 130), (190, 230), (290, 250), (310, 350)]
    for k, (low, high) in enumerate(np.deg2rad(at)):
        foot = (0.5 * cos(low), 0.5 * sin(low), 0.0)
        arm = arm.joint(f"u{k}", "revolute", "base", f"cross{k}", foot, (HALF, 0, 0))
        arm = arm.joint(f"w{k}", "revolute", f"cross{k}", f"barrel{k}", rpy=(HALF, 0, 0))
        arm = arm.joint(f"p{k}", "prismatic", f"barrel{k}", f"rod{k}", axis=(1, 0, 0))
        if closed:
            lug = (0.3 * cos(high), 0.3 * sin(high), -0.02)
            arm = arm.close(f"leg{k}", f"rod{k}", "platform", (0, 0, 0), lug)
    return arm


def three_rrr(closed: bool = True) -> Any:
    """A planar platform with three coordinates on three legs of two links."""
    masses = {"platform": 1.0}
    for k in range(3):
        masses |= {f"upper{k}": 0.4, f"lower{k}": 0.3}
    arm = _with_links(symgen.Builder("rrr").link("base").link("px").link("py"), masses, 10)
    arm = arm.joint("x", "prismatic", "base", "px", axis=(1, 0, 0))
    arm = arm.joint("y", "prismatic", "px", "py", axis=(0, 1, 0))
    arm = arm.joint("turn", "revolute", "py", "platform")
    for k in range(3):
        angle = 2 * pi * k / 3
        foot, lug = ((r * cos(angle), r * sin(angle), 0.0) for r in (0.5, 0.1))
        arm = arm.joint(f"m{k}", "revolute", "base", f"upper{k}", foot)
        arm = arm.joint(f"e{k}", "revolute", f"upper{k}", f"lower{k}", (0.3, 0, 0))
        if closed:
            arm = arm.close(
                f"leg{k}", f"lower{k}", "platform", (0.25, 0, 0), lug, dependent=(f"m{k}", f"e{k}")
            )
    return arm


def delta(closed: bool = True, arms: bool = True, rods: bool = False, **options: Any) -> Any:
    """A platform that stays parallel to its base on three arms with rods on universal joints, or
    with massless `rods`; the `arms` or the platform's positions are independent."""
    masses = {f"arm{k}": 0.4 for k in range(3)} | {"platform": 0.3}
    for k in range(0 if rods else 3):
        masses |= {f"cross{k}": 0.02, f"rod{k}": 0.15}
    arm = _with_links(symgen.Builder("delta").link("base").link("px").link("py"), masses, 12)
    arm = arm.joint("x", "prismatic", "base", "px", (0, 0, -0.4), axis=(1, 0, 0))
    arm = arm.joint("y", "prismatic", "px", "py", axis=(0, 1, 0))
    arm = arm.joint("z", "prismatic", "py", "platform", axis=(0, 0, 1))
    for k in range(3):
        c, s = cos(2 * pi * k / 3), sin(2 * pi * k / 3)
        shoulder, lug = (0.12 * c, 0.12 * s, 0.0), (0.05 * c, 0.05 * s, 0.0)
        turn = (HALF, 0.0, 2 * pi * k / 3)
        arm = arm.joint(f"a{k}", "revolute", "base", f"arm{k}", shoulder, turn)
        own = dict(options)
        if rods:
            own |= {"joint": "distance", "length": 0.5, "dependent": "xyz"[k]}
            ends = f"arm{k}", "platform", (0.2, 0, 0), lug
        else:
            elbow = (0.2, 0, 0), (0, 0, -HALF)
            arm = arm.joint(f"u{k}", "revolute", f"arm{k}", f"cross{k}", *elbow)
            arm = arm.joint(f"w{k}", "revolute", f"cross{k}", f"rod{k}", rpy=(HALF, 0, 0))
            own |= {"dependent": (f"u{k}", f"w{k}", "xyz"[k])}
            ends = f"rod{k}", "platform", (0.5, 0, 0), lug
        if not arms:
            own.pop("dependent")
        arm = arm.close(f"leg{k}", *ends, **own) if closed else arm
    return arm


SPATIAL = {"ankle": ankle, "stewart": stewart, "3-RRR": three_rrr, "delta": delta}


def jointed(joint: str, far: bool = False) -> Any:
    """Two arms of four skew joints each, whose tips are joined by a cut joint; in no closed
    form."""
    masses = {f"a{k}": 1.0 - 0.1 * k for k in range(4)}
    masses |= {f"b{k}": 0.9 - 0.1 * k for k in range(3)} | {"tip": 0.5}
    arm = _with_links(symgen.Builder("jointed").link("base"), masses, 11)
    turns = [(0, 0, 0), (1.2, 0.1, 0), (0.3, 1.1, 0), (-1.0, 0.2, 0.4)]
    for names, x in ((["a0", "a1", "a2", "a3"], -0.2), (["b0", "b1", "b2", "tip"], 0.2)):
        for k, (on, name) in enumerate(zip(["base", *names], names, strict=False)):
            place = (0.25 if k else x, 0.05 * k, 0.1)
            arm = arm.joint(f"q_{name}", "revolute", on, name, place, turns[k])
    place, other = (0.2, 0.1, 0.0), (0.1, 0.2, 9.0 if far else 0.1)
    turns = {"rpy_first": (0.3, -0.2, 0.5), "rpy_second": (-0.1, 0.4, 0.2)}
    return arm.close(
        "cut",
        "a3",
        "tip",
        place,
        other,
        joint=joint,
        **({} if joint in ("ball", "distance") else turns),
        length=0.3 if joint == "distance" else 0.0,
        newton=True,
    )

"""Fluids around links in SDFormat: ``<fluid_added_mass>`` of a link, and the parameters of Gazebo's
plugins for hydrodynamics (of a model) and buoyancy (of a world).

Coefficients of the hydrodynamics plugin are derivatives of forces as in Fossen's books, so those of
a body that the fluid brakes are negative. All are about the origin of the link in its axes."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from symgen.mechanics.fluid import SIX, UPPER_ENTRIES, LinkFluid, QuadraticDrag, triangle
from symgen.mechanics.spatial import Triple
from symgen.numbers.scalar import dot
from symgen.reading.sdf.scopes import Scope, flag, number, pose, text
from symgen.reading.xml_reader import XmlNode

AXES: Final = "xyzpqr"
"""The axes of the added mass in ``<fluid_added_mass>``, linear ones first."""
SPEEDS: Final = ("U", "V", "W", "P", "Q", "R")
FORCES: Final = ("x", "y", "z", "k", "m", "n")
"""The speeds and forces of the hydrodynamics plugin."""
COEFFICIENT: Final = re.compile(r"([xyzkmn])(Dot|)([UVWPQR])(?:(abs|)([UVWPQR]))?")
WATER: Final = 1000.0
"""The density of Gazebo's buoyancy plugin where a file gives none (kg/m³)."""


def fluids(world: XmlNode, scopes: Sequence[Scope]) -> dict[str, tuple[LinkFluid, ...]]:
    """The fluid around each link that a file gives one. Raises RobotError."""
    found: dict[str, LinkFluid] = {}
    density = _density(world)
    for scope in scopes:
        links = {node.text("name"): node for node in scope.node.children("link")}
        for name, node in links.items():
            fluid = _with_buoyancy(node, _added_mass(node), density)
            if fluid is not None:
                found[scope.prefix + name] = fluid
        for plugin in _plugins(scope.node, "hydrodynamics"):
            name = text(plugin, "link_name")
            if name not in links:
                raise plugin.error(f"names the link '{name}', which the model does not have")
            key = scope.prefix + name
            found[key] = _with_coefficients(plugin, found.get(key, LinkFluid()))
    return {name: (fluid,) for name, fluid in found.items()}


def is_hydrodynamics(node: XmlNode) -> bool:
    """Whether an element is Gazebo's plugin for hydrodynamics."""
    return node.tag == "plugin" and "hydrodynamics" in str(node.element.get("filename", ""))


def _plugins(node: XmlNode, word: str) -> Iterator[XmlNode]:
    """The plugins whose file or name contains a word."""
    for plugin in node.children("plugin"):
        names = f"{plugin.element.get('filename', '')} {plugin.element.get('name', '')}"
        if word in names.lower():
            yield plugin.with_label(f"<plugin> for {word}")


def _added_mass(link: XmlNode) -> LinkFluid | None:
    """From ``<fluid_added_mass>`` of its inertia, None without one."""
    inertial = link.single_child("inertial")
    node = inertial.single_child("fluid_added_mass") if inertial is not None else None
    if node is None:
        return None
    return LinkFluid(added_mass=tuple(number(node, AXES[i] + AXES[j], 0.0) for i, j in triangle()))


def _density(world: XmlNode) -> float | None:
    """The density of the buoyancy plugin (kg/m³), None without one. Raises RobotError."""
    for plugin in _plugins(world, "buoyancy"):
        if plugin.single_child("graded_buoyancy") is not None:
            raise plugin.error("graded_buoyancy is not supported; give uniform_fluid_density")
        return number(plugin, "uniform_fluid_density", WATER)
    return None


def _with_buoyancy(
    link: XmlNode, fluid: LinkFluid | None, density: float | None
) -> LinkFluid | None:
    """The fluid with the volume of the link's collision geometry. Raises RobotError."""
    if density is None:
        return fluid
    parts = [_volume(node) for node in link.children("collision")]
    volume = math.fsum(v for v, _ in parts)
    if not volume:
        return fluid
    x, y, z = (dot([v for v, _ in parts], [c[k] for _, c in parts]) / volume for k in range(3))
    return replace(fluid or LinkFluid(), displaced=density * volume, centre=(x, y, z))


def _volume(collision: XmlNode) -> tuple[float, Triple]:
    """The volume (m³) and the centre of a shape in the link frame. Raises RobotError."""
    geometry = collision.single_child("geometry")
    for shape in geometry if geometry is not None else ():
        if shape.tag == "box":
            size = shape.single_child("size")
            x, y, z = size.text_numbers(3) if size is not None else (1.0, 1.0, 1.0)
            return x * y * z, pose(collision)[0].position
        radius, length = number(shape, "radius", 1.0), number(shape, "length", 1.0)
        volumes = {
            "sphere": 4 / 3 * math.pi * radius**3,
            "cylinder": math.pi * radius**2 * length,
            "capsule": math.pi * radius**2 * (length + 4 / 3 * radius),
        }
        if shape.tag in volumes:
            return volumes[shape.tag], pose(collision)[0].position
    raise collision.error(
        "its volume for the buoyancy plugin is not known; use box, sphere, cylinder or capsule, or "
        "give volume in the file of --actuators"
    )


def _with_coefficients(plugin: XmlNode, fluid: LinkFluid) -> LinkFluid:
    """The fluid with the coefficients of a hydrodynamics plugin. Raises RobotError."""
    added = [[0.0] * SIX for _ in range(SIX)]
    linear, quadratic = [0.0] * SIX**2, list[QuadraticDrag]()
    for node in plugin:
        if node.tag.startswith("lookup_current_"):
            raise node.error(f"<{node.tag}> is not supported; give <default_current>")
        found = COEFFICIENT.fullmatch(node.tag)
        if found is None:
            continue
        i, j = FORCES.index(found[1]), SPEEDS.index(found[3])
        value = node.text_number()
        if found[2]:
            added[i][j] = -value
        elif found[5]:
            speed, signed = SPEEDS.index(found[5]), not found[4]
            quadratic += [QuadraticDrag(i, j, speed, -value, signed)] if value else []
        else:
            linear[SIX * i + j] = -value
    if any(added[i][j] != added[j][i] for i, j in triangle()):
        raise plugin.error("its added mass is not symmetric; give xDotV and yDotU alike")
    disabled = {flag(plugin, f"disable_{part}") for part in ("added_mass", "coriolis")}
    given = any(x for row in added for x in row)
    if given and len(disabled) > 1:
        raise plugin.error("<disable_added_mass> and <disable_coriolis> must have the same value")
    mass = (
        (0.0,) * UPPER_ENTRIES if disabled == {True} else tuple(added[i][j] for i, j in triangle())
    )
    current = plugin.single_child("default_current")
    x, y, z = fluid.current if current is None else current.text_numbers(3)
    return replace(
        fluid,
        added_mass=tuple(a + b for a, b in zip(fluid.added_mass, mass, strict=True)),
        linear_drag=tuple(linear),
        quadratic_drag=tuple(quadratic),
        current=(x, y, z),
    )

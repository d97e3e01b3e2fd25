"""The medium of an MJCF file, `<option density viscosity wind>`, as fluids around links.

MuJoCo has two models of it (Fluid forces in the chapter Computation of its documentation). The
inertia box is read: drag on the box of uniform density that has the mass and inertia of a body, in
its principal axes at its centre of mass. Of the ellipsoids of geoms (`fluidshape="ellipsoid"`) only
the viscous drag is read: the rest is not a polynomial in the velocities, and its added mass has no
part that is proportional to accelerations. Neither model has buoyancy."""

from collections.abc import Iterator
from dataclasses import replace
from math import pi, sqrt
from typing import Final

from symgen.errors import SourceLocation
from symgen.mechanics.fluid import LinkFluid, diagonal_matrix, quadratic_terms
from symgen.reading.mjcf.compiled_model import CompiledMjcf, pose_of, triple_of
from symgen.text import shown

MIN_VALUE: Final = 1e-15
"""MuJoCo's smallest divisor; a body with less mass feels no medium."""
ELLIPSOID: Final = (
    "the drag, lift and added mass of fluidshape ellipsoid in a medium with density are not "
    "supported; remove fluidshape, or give the fluid of the link in the file of --actuators"
)


def fluids(robot: CompiledMjcf, body: int) -> tuple[LinkFluid, ...]:
    """The fluids around a body: one in principal axes, or one for each geom that is an
    ellipsoid."""
    option, model = robot.model.opt, robot.model
    if not (option.density or option.viscosity) or model.body_mass[body] < MIN_VALUE:
        return ()
    first = int(model.body_geomadr[body])
    geoms = range(first, first + int(model.body_geomnum[body]))
    wet = [geom for geom in geoms if model.geom_fluid[geom][0] > 0]
    wind = triple_of(option.wind)
    around = (_ellipsoid(robot, geom) for geom in wet) if wet else [_box(robot, body)]
    return tuple(replace(fluid, current=wind) for fluid in around)


def _box(robot: CompiledMjcf, body: int) -> LinkFluid:
    """The drag on the box of inertia of a body."""
    mass, (xx, yy, zz) = float(robot.model.body_mass[body]), robot.model.body_inertia[body]
    squares = (yy + zz - xx, xx + zz - yy, xx + yy - zz)
    a, b, c = (sqrt(max(MIN_VALUE, float(x)) / mass * 6.0) for x in squares)
    faces = [b * c / 2, a * c / 2, a * b / 2]
    edges = [a * (b**4 + c**4) / 64, b * (a**4 + c**4) / 64, c * (a**4 + b**4) / 64]
    density = float(robot.model.opt.density)
    drag = diagonal_matrix([density * x for x in (*faces, *edges)])
    return LinkFluid(
        linear_drag=_stokes(robot, (a + b + c) / 3),
        quadratic_drag=quadratic_terms([drag[6 * k : 6 * k + 6] for k in range(6)]),
        pose=pose_of(robot.model.body_ipos[body], robot.model.body_iquat[body]),
    )


def _stokes(robot: CompiledMjcf, diameter: float) -> tuple[float, ...]:
    """The viscous drag on a sphere."""
    force, moment = 3 * pi * diameter, pi * diameter**3
    viscosity = float(robot.model.opt.viscosity)
    return diagonal_matrix([viscosity * x for x in (*[force] * 3, *[moment] * 3)])


def _ellipsoid(robot: CompiledMjcf, geom: int) -> LinkFluid:
    """The viscous drag on the ellipsoid of a geom."""
    name = robot.name(robot.mujoco.mjtObj.mjOBJ_GEOM, geom)
    body = robot.bodies[robot.model.geom_bodyid[geom]]
    line = robot.lines.get(("geom", name), robot.line("body", body))
    place = SourceLocation(robot.root.source.file, line)
    dense = robot.model.opt.density > 0
    return LinkFluid(
        linear_drag=_stokes(robot, 2 / 3 * sum(_semiaxes(robot, geom))),
        pose=pose_of(robot.model.geom_pos[geom], robot.model.geom_quat[geom]),
        trouble=f"{place}: geom '{shown(name)}': {ELLIPSOID}" if dense else "",
    )


def _semiaxes(robot: CompiledMjcf, geom: int) -> Iterator[float]:
    """The semi-axes of the ellipsoid that MuJoCo takes for a geom."""
    types, kind = robot.mujoco.mjtGeom, robot.model.geom_type[geom]
    x, y, z = map(float, robot.model.geom_size[geom])
    if kind == types.mjGEOM_SPHERE:
        return iter((x, x, x))
    if kind == types.mjGEOM_CAPSULE:
        return iter((x, x, y + x))
    return iter((x, x, y) if kind == types.mjGEOM_CYLINDER else (x, y, z))

"""Titles of formulations, for headers of generated code and for tables, and the names that other
libraries and textbooks have for quantities."""

import re
from typing import Final

ALGORITHMS: Final[dict[str, str]] = {
    "newton_euler": "recursive Newton-Euler algorithm",
    "composite": "composite-rigid-body algorithm",
    "composite_axial": "composite-rigid-body algorithm with moments about the joint axes",
    "composite_shared": "composite-rigid-body algorithm with one momentum per coordinate",
    "coriolis": "recursion over composite bodies with the moments of their velocity fields",
    "christoffel": "recursion over triples of joints with composite bodies",
    "christoffel_from_symbols": "contraction of the Christoffel symbols with the velocities",
    "christoffel_from_symbols_up": "contraction of the Christoffel symbols in ancestor frames",
    "christoffel_up": "recursion over triples of joints, in ancestor frames",
    "forward_dynamics": "composite-rigid-body algorithm and factorization of M",
    "forward_dynamics_articulated": "articulated-body algorithm",
    "forward_dynamics_by_pairs": "composite-rigid-body algorithm, factorization in 2 x 2 blocks",
    "forward_dynamics_by_tree": "factorization of M or articulated bodies, by depth of the tree",
    "geared": "articulated-body algorithm with rotors",
    "derivatives": "analytical derivatives of the Newton-Euler recursion",
    "derivatives_by_directions": "forward differentiation along each coordinate",
    "derivatives_by_duals": "forward differentiation with dual numbers",
    "products": "forward differentiation along a direction",
    "products_articulated": "forward differentiation of the articulated-body algorithm",
    "steps": "integrator step on the configuration manifold",
    "steps_articulated": "integrator step on the manifold with the articulated-body algorithm",
    "step_jacobians": "analytical derivatives of the integrator step",
    "step_jacobians_by_duals": "forward differentiation of the integrator step with dual numbers",
    "adjoints": "adjoint (reverse-mode) Newton-Euler recursion",
    "adjoint_hessians": "forward differentiation of the adjoint recursion",
    "virtual_power": "reverse differentiation of Kane's equations",
    "absolute_angles": "reverse differentiation of Kane's equations in absolute joint angles",
    "rates": "forward differentiation with respect to time",
    "rates_from_coriolis": "dM/dt = C + C^T",
    "rates_from_symbols": "forward differentiation of the Christoffel symbols with respect to time",
    "tensors": "forward differentiation with respect to all positions",
    "tensors_from_symbols": "forward differentiation of the Christoffel symbols",
    "kinematics": "forward kinematics from the root outward",
    "regressors": "recursion over unit inertial parameters",
    "parameter_tensors": "recursion over unit inertial parameters, as tensors",
    "coriolis_newton_euler": "recursion over composite bodies, Newton-Euler form",
    "elastic": "recursions of rigid links, with springs and motors",
    "elastic_articulated": "articulated-body algorithm, springs and motors",
    "elastic_by_duals": "forward differentiation with dual numbers, springs and motors",
    "energies": "sums over bodies",
    "centroidal": "centroidal recursion over composite bodies",
    "task_space": "forward differentiation of the kinematics",
    "inverse_kinematics": "damped least squares on forward kinematics",
    "operational_space": "operational-space inertia from the factors of M",
    "controllers": "control law on recursive dynamics",
    "observers": "momentum observer on recursive dynamics",
    "learning": "adaptive law on recursive regressors",
    "cartesian_impedance": "operational-space control law on recursive dynamics",
    "elastic_control": "feedback linearisation by rates of the Newton-Euler recursion",
    "joint_wrenches": "recursive Newton-Euler algorithm, forces of joints",
    "loop_closure": "loop closure",
    "transmission": "geometry of closed loops and elimination of their rates",
    "motor_transmissions": "motor transmissions",
    "closed_loops": "differentiation along the closed loops",
    "closed_loop_terms": "terms of the open tree with the rate of G of the closed loops",
    "closed_loop_terms_embedded": "terms of the open tree with the rate of G of the closed loops",
    "closed_loop_rates": "forward differentiation along the closed loops",
    "closed_loop_steps": "forward differentiation of steps along the closed loops",
}
"""What each algorithm computes with, by the part of a formulation's name before the slash, in the
order in which lists and manifests have their quantities."""

REGROUPINGS: Final[dict[str, str]] = {
    "minimal": "base parameters",
    "balanced": "regrouped parameters with balanced masses",
    "whole": "link parameters",
}
"""The inertial parameters that a formulation computes with, by the part of its name behind the
slash."""


def title(formulation: str) -> str:
    """The title of a formulation such as ``newton_euler/minimal``, followed by its name in
    parentheses. An algorithm of another package has no title; its name is used."""
    algorithm, _, regrouping = formulation.partition("/")
    text = ALGORITHMS.get(algorithm, algorithm.replace("_", " "))
    return f"{text}; {REGROUPINGS[regrouping]} ({formulation})"


SYNONYMS: Final[dict[str, str]] = {
    "rnea": "inverse_dynamics",
    "id": "inverse_dynamics",
    "newtoneuler": "inverse_dynamics",
    "computetorque": "inverse_dynamics",
    "crba": "mass_matrix",
    "m": "mass_matrix",
    "inertiamatrix": "mass_matrix",
    "jointspaceinertia": "mass_matrix",
    "generalizedinertia": "mass_matrix",
    "minverse": "mass_matrix_inverse",
    "aba": "forward_dynamics",
    "fd": "forward_dynamics",
    "nle": "bias",
    "nonlineareffects": "bias",
    "biasforces": "bias",
    "biasterm": "bias",
    "biastorques": "bias",
    "c": "coriolis_matrix",
    "coriolis": "coriolis_matrix",
    "coriolisvector": "coriolis_force",
    "coriolisforces": "coriolis_force",
    "centrifugal": "coriolis_force",
    "g": "gravity",
    "gravityvector": "gravity",
    "gravitytorques": "gravity",
    "generalizedgravity": "gravity",
    "fk": "frame_pose:LINK",
    "forwardkinematics": "frame_pose:LINK",
    "kinematics": "frame_pose:LINK",
    "pose": "frame_pose:LINK",
    "frameplacement": "frame_pose:LINK",
    "transform": "frame_pose:LINK",
    "jacobian": "frame_jacobian_aligned:LINK",
    "geometricjacobian": "frame_jacobian_aligned:LINK",
    "framejacobian": "frame_jacobian_aligned:LINK",
    "bodyjacobian": "frame_jacobian_body:LINK",
    "jacobiandot": "frame_jacobian_dot_aligned:LINK",
    "jdot": "frame_jacobian_dot_aligned:LINK",
    "analyticaljacobian": "frame_jacobian_rpy:LINK",
    "twist": "frame_velocity_aligned:LINK",
    "framevelocity": "frame_velocity_aligned:LINK",
    "inversedynamicsregressor": "regressor",
    "jointtorqueregressor": "regressor",
    "regressormatrix": "regressor",
    "y": "regressor",
    "cmm": "centroidal_momentum_matrix",
    "ccrba": "centroidal_momentum_matrix",
    "centroidalmomentum": "momentum",
    "centerofmass": "com",
    "centreofmass": "com",
    "energy": "kinetic_energy+potential_energy",
    "rneaderivatives": "inverse_dynamics_derivatives",
    "abaderivatives": "forward_dynamics_derivatives",
    "lambda": "operational_space_inertia:LINK",
    "taskspaceinertia": "operational_space_inertia:LINK",
    "pd": "joint_impedance",
    "ctc": "computed_torque",
}
"""By the name in lower case without anything but letters: what to give as the quantity."""


def quantity_for(name: str) -> str | None:
    """The quantity that a name means elsewhere; None for a name that is not known."""
    return SYNONYMS.get(re.sub(r"[^a-z]", "", name.partition(":")[0].lower()))


MAX_NAME_LENGTH: Final = 80
"""Characters of a name in a formula; longer ones are cut."""


def printable_name(name: str) -> str:
    """A name of a file for a formula: printable ASCII without characters that are special in
    comments of any language. Other characters are escaped, and a long name is cut."""
    plain = "".join(c if re.match(r"[\w .:,+-]", c, re.ASCII) else f"<{ord(c):x}>" for c in name)
    return plain if len(plain) <= MAX_NAME_LENGTH else plain[:MAX_NAME_LENGTH] + "..."

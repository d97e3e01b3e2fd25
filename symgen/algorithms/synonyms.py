"""Names that other libraries and textbooks have for quantities, and the names here."""

import re
from typing import Final

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

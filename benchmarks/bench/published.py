"""Figures of others, and what is known about cells below the bar."""

_LENGTHS = (2, 10, 20, 30, 40, 50, 60)

JOHANNESSEN = {
    quantity: dict(zip(_LENGTHS, counts, strict=True))
    for quantity, counts in {
        "gravity": (26, 429, 883, 1351, 1829, 2246, 2726),
        "bias": (103, 1309, 2766, 4258, 5784, 7157, 8683),
        "inverse_dynamics": (134, 1378, 2854, 4366, 5912, 7305, 8851),
        "mass_matrix": (52, 3055, 9499, 17281, 29320, 40795, 56308),
        "forward_dynamics": (209, 4546, 10320, 15947, 22123, 27277, 33253),
    }.items()
}
"""Operations of urdf2casadi's functions by joints (Johannessen 2019); `bias` is C q̇ without
gravity there."""

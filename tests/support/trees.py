"""A tree of URDF of a few links."""

from symgen.reading.assemble import LoadedRobot


def inertial(mass: float, origin: str = "") -> str:
    return (
        f'<inertial>{origin}<mass value="{mass}"/>'
        '<inertia ixx="0.3" ixy="0.01" ixz="0.02" iyy="0.2" iyz="0.03" izz="0.25"/></inertial>'
    )


def joint(name: str, kind: str, parent: str, child: str, inside: str = "") -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{inside}</joint>'


TREE = "\n".join(
    [
        *(
            f'<link name="{name}">{inertial(mass)}</link>'
            for name, mass in (
                ("base", 1),
                ("upper", 2),
                ("plate", 4),
                ("lower", 8),
                ("side", 16),
                ("hand", 32),
            )
        ),
        joint(
            "elbow",
            "prismatic",
            "plate",
            "lower",
            '<origin xyz="0 0 1"/><axis xyz="0 0 1"/><limit/>',
        ),
        joint(
            "shoulder", "continuous", "base", "upper", '<origin xyz="1 0 0"/><axis xyz="0 0 1"/>'
        ),
        joint(
            "weld", "fixed", "upper", "plate", '<origin xyz="0 2 0" rpy="0 0 1.5707963267948966"/>'
        ),
        joint("wing", "revolute", "upper", "side", '<limit lower="-1" upper="1"/>'),
        joint("grip", "fixed", "lower", "hand"),
    ]
)


def messages(loaded: LoadedRobot) -> list[str]:
    return [f"{n.level}: {n.element}: {n.message}" for n in loaded.notices]

"""Random SDFormat models: trees with frames given in each other, nested models, every joint type of
one or two coordinates."""

import random

TYPES = ("revolute", "continuous", "prismatic", "universal", "screw", "fixed")


def sdf_text(seed: int) -> str:
    """A model of six links on the world."""
    rng = random.Random(seed)
    version = rng.choice(["1.7", "1.8", "1.10", "1.11"])
    parts, frames = [_link(rng, "link0", []), _joint(rng, "fixed", "joint0", "world", "link0")], []
    for i in range(1, 6):
        before = f"link{rng.randrange(i)}"
        frames.append(f"frame{i}")
        parts.append(
            f'<frame name="frame{i}" attached_to="{before}">{_pose(rng)}</frame>'
            + _link(rng, f"link{i}", ["__model__", before, *frames])
        )
        kind = rng.choice(TYPES) if i > 1 else "revolute"
        parent = rng.choice([before, f"frame{i}"])
        parts.append(_joint(rng, kind, f"joint{i}", parent, f"link{i}"))
    parts.append(
        f'<model name="tool">{_pose(rng, "link5")}{_link(rng, "tip", ["__model__"])}</model>'
        + _joint(rng, "revolute", "joint6", "link5", "tool::tip")
    )
    body = "\n".join(parts)
    return f'<sdf version="{version}"><model name="m">{_pose(rng)}\n{body}\n</model></sdf>'


def _numbers(rng: random.Random, size: float, count: int) -> str:
    return " ".join(f"{rng.uniform(-size, size):.6f}" for _ in range(count))


def _pose(rng: random.Random, frame: str = "") -> str:
    where = f' relative_to="{frame}"' if frame else ""
    return f"<pose{where}>{_numbers(rng, 0.5, 3)} {_numbers(rng, 1.0, 3)}</pose>"


def _link(rng: random.Random, name: str, frames: list[str]) -> str:
    pose = _pose(rng, rng.choice(frames) if frames else "")
    xx, yy, zz = (rng.uniform(0.1, 0.15) for _ in range(3))
    return (
        f'<link name="{name}">{pose}<inertial>{_pose(rng)}<mass>{rng.uniform(1, 2):.4f}</mass>'
        f"<inertia><ixx>{xx:.5f}</ixx><ixy>0.01</ixy><iyy>{yy:.5f}</iyy><iyz>-0.02</iyz>"
        f"<izz>{zz:.5f}</izz></inertia></inertial></link>"
    )


def _joint(rng: random.Random, kind: str, name: str, parent: str, child: str) -> str:
    pose = rng.choice(["", _pose(rng), _pose(rng, "__model__")])
    frame = rng.choice(["", ' expressed_in="__model__"', f' expressed_in="{child}"'])
    axes = {
        "fixed": "",
        "universal": "<axis><xyz>0 0.6 0.8</xyz></axis><axis2><xyz>1 0 0</xyz></axis2>",
        "screw": "<axis><xyz>0 0 1</xyz></axis><screw_thread_pitch>0.3</screw_thread_pitch>",
    }
    one = f"<axis><xyz{frame}>{_numbers(rng, 1, 3)}</xyz></axis>"
    return (
        f'<joint name="{name}" type="{kind}">{pose}<parent>{parent}</parent><child>{child}</child>'
        f"{axes.get(kind, one)}</joint>"
    )

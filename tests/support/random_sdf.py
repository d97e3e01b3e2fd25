"""Random SDFormat models: trees with frames given in each other, nested models, every joint type of
one or two coordinates."""

import random
from pathlib import Path

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


class NestedSdf:
    """A robot whose models are nested, included and merged at random, with poses in any frame that
    SDFormat allows, on the world. `write` makes its files."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.files: dict[str, str] = {}
        self.count = 0

    def write(self, folder: Path) -> Path:
        """Write the file and those that it includes; the path of the first."""
        rng = self.rng
        in_world = rng.random() < 0.6
        body = self._model_body(2, anchored=True)
        frame = rng.choice(["", "", "pole", "world"]) if in_world else ""
        text = f'<model name="robot">{_pose(rng, frame)}{body}</model>'
        if in_world:
            pole = f'<frame name="pole">{_pose(rng)}</frame>'
            text = f'<world name="w">{pole}{text}</world>'
        self.files["robot.sdf"] = f'<sdf version="1.10">{text}</sdf>'
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(content)
        return folder / "robot.sdf"

    def _name(self, kind: str) -> str:
        self.count += 1
        return f"{kind}{self.count}"

    def _model_body(self, levels: int, base: str = "base", anchored: bool = False) -> str:
        """Links, frames, joints and inner models; others may be joined to the link `base`."""
        rng, frame = self.rng, self._name("frame")
        second, parts = self._name("link"), []
        known = ["__model__", base]
        parts.append(_link(rng, base, ["__model__"]))
        if anchored:
            parts.append(_joint(rng, "fixed", self._name("joint"), "world", base))
        parts.append(f'<frame name="{frame}" attached_to="{base}">{_pose(rng)}</frame>')
        known.append(frame)
        parts.append(_link(rng, second, known))
        parts.append(_joint(rng, "revolute", self._name("joint"), rng.choice(known[1:]), second))
        known.append(second)
        for _ in range(2 if levels else 0):
            text, link, frames = self._inner(levels - 1, known)
            parts.append(text)
            parent = rng.choice(known[1:])
            parts.append(_joint(rng, "revolute", self._name("joint"), parent, link))
            known += frames
        return "".join(parts)

    def _inner(self, levels: int, known: list[str]) -> tuple[str, str, list[str]]:
        """A model inside another: its text, a link that is to be joined, and its frames."""
        rng, name = self.rng, self._name("model")
        where = _pose(rng, rng.choice(["", "", *known]))
        how = rng.choice(["nested", "include", "merge"])
        link = (
            self._name("root") if how == "merge" else "base"
        )  # merged names are the outer model's
        body = self._model_body(levels, link)
        if how == "nested":
            chosen = rng.choice(["", ' placement_frame="base"', ' canonical_link="base"'])
            inside = rng.choice(["", where, where])
            text = f'<model name="{name}"{chosen}>{inside}{body}</model>'
            return text, f"{name}::base", [name, f"{name}::base"]
        chosen = rng.choice(["", f' placement_frame="{link}"'])
        own = rng.choice(["", _pose(rng)])
        self.files[f"{name}/model.sdf"] = (
            f'<sdf version="1.10"><model name="own"{chosen}>{own}{body}</model></sdf>'
        )
        placed = rng.choice(["", where, f"{where}<placement_frame>{link}</placement_frame>"])
        merge = ' merge="true"' if how == "merge" else ""
        text = f"<include{merge}><uri>model://{name}/model.sdf</uri><name>{name}</name>{placed}</include>"
        if how == "merge":
            return text, link, [link]
        return text, f"{name}::base", [name, f"{name}::base"]

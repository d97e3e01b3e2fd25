"""A robot for people: its report, groupings in LaTeX, and sparsity patterns as a picture."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from symgen.errors import Notice
from symgen.inspection.command_reports import counted
from symgen.inspection.rendering import (
    EMPTY_CELL,
    FILLED_CELL,
    Cell,
    Data,
    Report,
    ReportTable,
    StyledText,
    drawn,
    new_figure,
    styled,
)
from symgen.jobs.publish import OutputFile
from symgen.mechanics.base_parameters import latex_name, latex_sum
from symgen.mechanics.inertia_checks import InertiaVerdict
from symgen.mechanics.joint_listing import remaining_gap_text
from symgen.mechanics.model import PARAMETER_NAMES
from symgen.reading.assemble import LoadedRobot
from symgen.text import shown as shown_text
from symgen.tracing.singular import joint_phrase, moves_inertia, remedy, singular_joints

REASON_MARKS: Final = {
    "no effect": ("·", "dim"),
    "identifiable by itself": ("●", "bold green"),
    "identifiable only with others": ("○", "green"),
    "regrouped into": ("→", "yellow"),
}
"""The mark of a parameter by the beginning of its reason, most telling first."""

LEGEND: Final = (
    "● identifiable by itself   ○ only with others   → regrouped into another body   · no effect"
)


def mark_of(reason: str) -> tuple[str, str]:
    """Mark and style of a parameter."""
    return next(mark for start, mark in REASON_MARKS.items() if reason.startswith(start))


def robot_report(data: Data) -> Report:
    """The whole robot: bodies, rotors, canonical frames, base parameters, operation counts."""
    counts = ", ".join(f"{name} {row['total']}" for name, row in data["operations"].items())
    return Report(
        [
            _bodies(data),
            *(_loops(data) if data["closed_loops"] else ()),
            *([_rotors(data)] if data["rotors"] else []),
            _frames(data),
            *_parameters(data),
            *([f"operations: {counts}"] if counts else []),
        ],
        data,
    )


def _bodies(data: Data) -> ReportTable:
    rows = []
    for b in data["bodies"]:
        centre = ", ".join(f"{x:.4g}" for x in b["center_of_mass"] or ())
        texts = (b["name"], b["parent"], b["joint"], kind(b))
        rows.append((str(b["index"]), *texts, f"{b['mass']:.4g}", centre, b["pseudo_inertia"]))
    return ReportTable(
        f"{data['robot']}: {counted(data['dof'], len(data['positions']))}",
        ["", "body", "carried by", "joint", "type"],
        ["mass kg", "centre of mass m", "inertia"],
        rows,
    )


def _loops(data: Data) -> Iterator[ReportTable | Cell]:
    """The closed loops, and the tree with the cut joints."""
    n, counted_all = data["dof"], data["gruebler_dof"]
    by = "" if n == counted_all else f", {counted_all} by Grübler's formula"
    head = ["loop", "cut joint", "determines", "from", "branch"]
    rows = []
    for x in data["closed_loops"]:
        joints = ", ".join(x["determines"]), ", ".join(x["from"])
        equations = f"{len(x['determines'])} of {x['equations']}{remaining_gap_text(x['gaps'])}"
        rows.append((x["name"], x["type"], *joints, f"{x['branch']:+d}", equations))
    title = f"closed loops: {n} independent coordinate{'s' * (n != 1)}{by}"
    yield ReportTable(title, head, ["independent equations"], rows)
    yield from tree_lines(data)
    yield ""


def tree_lines(data: Data) -> Iterator[str]:
    """The tree of bodies with their joints, coordinates and cut joints, a line each."""
    ends: dict[str, list[str]] = {}
    for x in (x for x in data["closed_loops"] if x["type"] != "polynomial"):
        for k, link in enumerate(x["links"]):
            ends.setdefault(link, []).append(f"{x['name']} to {x['links'][1 - k]}")
    names = {b["name"] for b in data["bodies"]}
    carried: dict[str, list[Data]] = {}
    for b in data["bodies"]:
        carried.setdefault(b["parent"], []).append(b)

    def below(link: str, indent: str) -> Iterator[str]:
        children = carried.get(link, [])
        for b in children:
            last = b is children[-1]
            places = ", ".join(f"q[{k}]" for k in b["positions"])
            by = places or (b["follows"] or {}).get("loop") or kind(b).partition(", ")[2]
            cuts = "".join(f"  ═ {end}" for end in ends.get(b["name"], ()))
            yield f"{indent}{'└─' if last else '├─'} {b['name']}: {b['joint']} ({by}){cuts}"
            yield from below(b["name"], f"{indent}{'   ' if last else '│  '}")

    for root in dict.fromkeys(b["parent"] for b in data["bodies"] if b["parent"] not in names):
        yield root + "".join(f"  ═ {end}" for end in ends.get(root, ()))
        yield from below(root, "")


def kind(body: Data) -> str:
    """The type of a body's joint, and what it follows."""
    leaders = body["follows"] or {"joints": []}
    names = [row["joint"] for row in leaders.get("joints", [leaders])]
    follows = f", follows {' and '.join(names)}" if names else ""
    return f"{body['type']}{follows}"


def _rotors(data: Data) -> ReportTable:
    rows = []
    for r in data["rotors"]:
        single = isinstance(r["turns_with"], str)
        names, ratios = (
            ([r["turns_with"]], [r["ratio"]]) if single else (r["turns_with"], r["ratio"])
        )
        ratio = ", ".join(f"{x:.6g}" for x in ratios)
        texts = (str(r["index"]), r["name"], r["parent"], ", ".join(names))
        rows.append((*texts, ratio, f"{r['inertia']:.4g}"))
    head = ["", "rotor", "carried by", "turns with"]
    return ReportTable("rotors", head, ["ratio", "inertia kg m²"], rows)


def _frames(data: Data) -> ReportTable:
    return ReportTable(
        "canonical frames: Rot_z γ  Trans_z b  Trans_x d  Rot_x α  Rot_y β  Rot_z q+θ0  Trans_z r",
        ["body"],
        ["γ", "b", "d", "α", "β", "θ0", "r"],
        [
            (frame["body"], *(constant_text(frame[name], name) for name in CONSTANTS))
            for frame in data["canonical_frames"]
        ],
    )


CONSTANTS: Final = ("gamma", "b", "d", "alpha", "beta", "theta0", "r")
"""The constants of a canonical frame."""
ANGLES: Final = ("gamma", "alpha", "beta", "theta0")


RIGHT_ANGLES: Final = {1: "π/2", -1: "-π/2", 2: "π", -2: "-π"}


def constant_text(x: float, name: str) -> str:
    """A constant as people write it: right angles as fractions of π."""
    if x == 0:
        return "·"
    quarters = x / (np.pi / 2)
    exact = name in ANGLES and abs(quarters - round(quarters)) < 1e-12
    return RIGHT_ANGLES.get(round(quarters) if exact else 0, f"{x:.5g}")


def _parameters(data: Data) -> Iterator[ReportTable | Cell]:
    base = data["base_parameters"]
    rows = [
        (name, *(StyledText(*mark_of(why)) if why else "" for _, why in reasons))
        for name, reasons in reasons_by_body(data)
    ]
    title = f"{base['count']} base parameters of {len(base['parameters'])}"
    yield ReportTable(title, ["body", *columns(data)], (), rows)
    yield StyledText(LEGEND, "dim")
    yield StyledText(
        f"The numerical rank is clear: relative singular values drop from "
        f"{base['smallest_kept']:.1e} to {base['largest_dropped']:.1e}.",
        "dim",
    )
    yield ""


def columns(data: Data) -> list[str]:
    """The names of parameters: the ten, and that of a rotor where there is one."""
    return [*PARAMETER_NAMES, *(["J"] if data["rotors"] else [])]


def reasons_by_body(data: Data) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The name of each body or rotor, and the name of each of its `columns` with what became of it,
    nothing where it has no such one."""
    why = data["base_parameters"]["parameters"]
    for body in (*data["bodies"], *data["rotors"]):
        names = [f"{name}_{body['index']}" for name in columns(data)]
        yield body["name"], [(name, why.get(name, "")) for name in names]


def warnings(loaded: LoadedRobot, verdicts: Sequence[InertiaVerdict]) -> list[Notice]:
    """The warnings among the verdicts, placed in the file, or joints that move nothing of their
    own; none of a robot that has no mass at all, of which one is said where it is read."""
    telling = [v for v in verdicts if v.warning]
    if not moves_inertia(loaded.model):
        return []
    joints = [] if telling else singular_joints(loaded.model)
    if joints:
        names, move, _ = joint_phrase([joint.name for joint in joints])
        message = f"{move} no inertia that the others do not, so the mass matrix is singular"
        place = loaded.link_locations[joints[0].body.name]
        sentence = f"{message}: {remedy(loaded.model, joints)}"
        return [Notice(place, "warning", names, sentence)]
    named = (
        (loaded.link_locations[v.name], f"{v.kind} '{shown_text(v.name)}'", v) for v in telling
    )
    return [Notice(place, "warning", name, v.message, v.summary) for place, name, v in named]


def groupings(data: Data) -> Report:
    """Every base parameter as a sum of the users' parameters."""
    base = data["base_parameters"]
    rows = [(name, base["links"][name], text) for name, text in base["groupings"].items()]
    head = ["name", "link", "in the parameters of the file"]
    return Report([ReportTable("base parameters", head, (), rows)], base)


def latex(data: Data) -> str:
    """The groupings as a LaTeX ``align*``; what the bodies' numbers mean is in comments."""
    base = data["base_parameters"]
    bodies = {name.rpartition("_")[2]: link for name, link in base["links"].items()}
    notes = [f"% body {number}: link {ascii(link)[1:-1]}" for number, link in bodies.items()]
    lines = [
        f"  {latex_name(name)} &= {latex_sum(text)} \\\\"
        for name, text in base["groupings"].items()
    ]
    return "\n".join([*notes, "\\begin{align*}", *lines, "\\end{align*}"])


@styled
def plot(data: Data, patterns: Mapping[str, np.ndarray[Any, Any]], target: OutputFile) -> bytes:
    """The sparsity of each pattern in one picture. Raises SymgenError where matplotlib is
    missing."""
    shown = {name: pattern for name, pattern in patterns.items() if name in TITLES}
    rows: list[Any] = [[name] * 2 for name in ("Y", "Y_b") if name in shown]
    small = [name for name in ("M", "Gamma_full") if name in shown]
    rows += [small * 2 if len(small) == 1 else small] if small else []
    height = 0.9 + len(rows) * (1.1 + 0.2 * data["dof"])
    figure = new_figure(PICTURE_WIDTH, height)
    axes = figure.subplot_mosaic(rows, width_ratios=[1, 3])
    for name, pattern in shown.items():
        _draw(axes[name], name, pattern.reshape(data["dof"], -1), data)
    figure.suptitle(f"{data['robot']}: entries that are not zero in every state (blue)")
    return drawn(figure, target, 130)


PICTURE_WIDTH: Final = 13.0
"""Inches of the picture."""
CHARACTER_WIDTH: Final = 0.075
"""Inches of a character of a label."""
TITLES: Final = {
    "Y": "regressor: columns are the ten parameters of each body",
    "Y_b": "base regressor: columns are the base parameters, by body",
    "M": "mass matrix",
    "Gamma_full": "Christoffel symbols Γ_ijk: rows i, blocks j, columns k",
}


def groups(name: str, data: Data) -> tuple[list[int], list[str], list[str]]:
    """How a pattern's columns belong together: sizes, a label for each group, a label for each
    column."""
    n = data["dof"]
    numbers = [str(k) for k in range(1, n + 1)]
    if name in ("Y", "Y_b"):
        return _by_body(data, data["base_parameters"]["parameters" if name == "Y" else "groupings"])
    if name == "M":
        return [1] * n, [""] * n, numbers
    return [n] * n, [f"j = {k}" for k in numbers], [""] * n**2


def _by_body(data: Data, parameters: Iterable[str]) -> tuple[list[int], list[str], list[str]]:
    """The groups of parameters called hx_2 and the like, whose bodies come in order; to that within
    a joint with several coordinates base parameters may belong, too."""
    names = {str(body["index"]): body["name"] for body in (*data["bodies"], *data["rotors"])}
    names |= {
        name.rpartition("_")[2]: link for name, link in data["base_parameters"]["links"].items()
    }
    pairs = [text.rsplit("_", 1) for text in parameters]
    sizes = Counter(body for _, body in pairs)
    return list(sizes.values()), [names[body] for body in sizes], [moment for moment, _ in pairs]


def _draw(axis: Any, name: str, cells: np.ndarray[Any, Any], data: Data) -> None:
    from matplotlib.colors import to_rgb

    sizes, labels, columns = groups(name, data)
    columns += [""] * (cells.shape[1] - len(columns))  # of joint friction
    axis.imshow(
        np.where(cells[..., None], to_rgb(FILLED_CELL), to_rgb(EMPTY_CELL)),
        aspect="auto",
        interpolation="nearest",
    )
    axis.grid(visible=False)
    axis.set_title(f"{TITLES[name]} ({int(cells.sum())} of {cells.size})", fontsize=9)
    axis.set_yticks(range(cells.shape[0]), data["velocities"], fontsize=7, parse_math=False)
    share = {"M": 0.2, "Gamma_full": 0.65}.get(name, 0.9)
    width = PICTURE_WIDTH * share / cells.shape[1]  # of a column
    axis.set_xticks(
        range(len(columns)), columns if width > CHARACTER_WIDTH else [""] * len(columns)
    )
    axis.tick_params(axis="x", labelsize=5, rotation=90)
    axis.tick_params(length=0)
    for row in range(cells.shape[0] - 1):
        axis.axhline(row + 0.5, color="0.9", linewidth=0.4)
    starts = np.cumsum([0, *sizes])
    for start in starts[1:-1]:
        axis.axvline(start - 0.5, color="0.55", linewidth=0.8)
    _name_groups(axis, starts, labels, width)
    axis.set_xlim(-0.5, cells.shape[1] - 0.5)


def _name_groups(axis: Any, starts: Any, labels: Sequence[str], width: float) -> None:
    """A label below each group of columns; where one does not fit all of them stand upright, and
    one that would then stand in the one before it is left out."""
    sizes = np.diff(starts) * width
    upright = any(
        len(text) * CHARACTER_WIDTH > size for text, size in zip(labels, sizes, strict=True)
    )
    before = -np.inf
    for start, end, text in zip(starts[:-1], starts[1:], labels, strict=True):
        middle = (start + end - 1) / 2
        free = not upright or (middle - before) * width > 2 * CHARACTER_WIDTH
        if text and end > start and free:
            before = middle
            axis.annotate(
                text,
                (middle, 0),
                xytext=(0, -24 if width > CHARACTER_WIDTH else -6),
                xycoords=("data", "axes fraction"),
                textcoords="offset points",
                fontsize=7,
                rotation=90 * upright,
                ha="center",
                va="top",
                annotation_clip=False,
                parse_math=False,
            )

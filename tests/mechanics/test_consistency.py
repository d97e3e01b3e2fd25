"""Verdicts on inertia."""

import pytest

from symgen.mechanics.inertia_checks import (
    DEFINITE,
    INDEFINITE,
    NO_INERTIA,
    SEMIDEFINITE,
    InertiaVerdict,
    check_inertias,
)
from symgen.mechanics.model import Body, Joint, Link, RigidBodyModel
from symgen.mechanics.spatial import Pose

SOLID = (2.0, 0.0, 0.0, 2.0, 2.3, 0.0, 0.0, 2.3, 0.0, 0.25)  # 2 kg, centre of mass at z = 1
POINT = (2.0, 0.0, 0.0, 2.0, 2.0, 0.0, 0.0, 2.0, 0.0, 0.0)
PLATE = (1.0, 0.0, 0.0, 0.0, 0.1, 0.0, 0.0, 0.2, 0.0, 0.3)
ODD = (1.0, 0.0, 0.0, 0.0, 0.1, 0.0, 0.0, 0.2, 0.0, 0.5)
TILTED = (1.0, 0.0, 0.0, 0.0, 0.3, 0.2, 0.2, 0.3, 0.2, 0.3)  # principal moments 0.1, 0.1, 0.7


def judged(
    *parameters: tuple[float, ...] | None, kind: str = "revolute", axis=(1.0, 0.0, 0.0)
) -> dict[tuple[str, str], InertiaVerdict]:
    """Verdicts of one body with these links."""
    links = tuple(
        Link(f"l{i}", Pose(position=(0.0, float(i), 0.0)), p) for i, p in enumerate(parameters)
    )
    body = Body(Joint("j", kind, axis), 0, Pose(), links)
    return {
        (v.kind, v.name): v
        for v in check_inertias(RigidBodyModel("r", (body,), (Link("base", parameters=ODD),)))
    }


@pytest.mark.parametrize(
    ("parameters", "status"),
    [
        (SOLID, DEFINITE),
        (POINT, SEMIDEFINITE),
        (PLATE, SEMIDEFINITE),
        (ODD, INDEFINITE),
        (TILTED, INDEFINITE),
        (tuple(1e-9 * p for p in SOLID), DEFINITE),
        ((0.0, *ODD[1:]), INDEFINITE),
        ((0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0), SEMIDEFINITE),
    ],
)
def test_status(parameters, status):
    verdict = judged(parameters)["link", "l0"]
    assert (verdict.status, verdict.warning) == (status, status == INDEFINITE)
    assert len(verdict.eigenvalues) == 4 and max(verdict.eigenvalues) <= 2


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (ODD, "Ixx + Iyy < Izz about the centre of mass (0.1 + 0.2 < 0.5 kg m^2)"),
        (
            TILTED,
            "principal moments I1 + I2 < I3 about the centre of mass (0.1 + 0.1 < 0.7 kg m^2)",
        ),
    ],
)
def test_warning_in_words(parameters, message):
    assert (
        judged(parameters)["link", "l0"].message
        == f"inertia violates the triangle inequality: {message}"
    )


def test_fault_of_a_link_is_reported_once():
    verdicts = judged(ODD, SOLID)
    assert [key for key, v in verdicts.items() if v.warning] == [("link", "l0")]
    assert verdicts["link", "base"].status == INDEFINITE  # but no term depends on the base


def test_links_without_inertia_are_no_warning():
    verdicts = judged(None, SOLID)
    assert set(verdicts) == {("body", "l0"), ("link", "l1"), ("link", "base")}
    assert verdicts["body", "l0"].status == DEFINITE and not verdicts["body", "l0"].warning


@pytest.mark.parametrize(
    ("parameters", "kind", "axis"),
    [
        (None, "revolute", (1.0, 0.0, 0.0)),
        ((0.0,) * 10, "prismatic", (1.0, 0.0, 0.0)),
        (POINT, "revolute", (0.0, 0.0, 1.0)),
    ],
)
def test_joint_that_moves_nothing(parameters, kind, axis):
    verdict = judged(parameters, kind=kind, axis=axis)["body", "l0"]
    assert (
        verdict.warning
        and verdict.message == "joint 'j' moves no inertia, so the mass matrix is singular"
    )
    assert (verdict.status == NO_INERTIA) == (parameters is not POINT)


def test_massless_body_that_carries_another_is_no_warning():
    bodies = (
        Body(Joint("j", "revolute"), 0, Pose(), (Link("a"),)),
        Body(Joint("k", "revolute"), 1, Pose(), (Link("b", parameters=SOLID),)),
    )
    verdicts = check_inertias(RigidBodyModel("r", bodies, (Link("base"),)))
    assert [(v.kind, v.name, v.status) for v in verdicts] == [
        ("body", "a", NO_INERTIA),
        ("body", "b", DEFINITE),
        ("link", "b", DEFINITE),
    ]
    assert not any(v.warning for v in verdicts)

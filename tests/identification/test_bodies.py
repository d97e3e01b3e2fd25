"""Bodies of base parameters: consistent, exact and nearest; payloads."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from symgen.errors import OptionError
from symgen.identification.consistency.nearest_bodies import bodies, free_links
from symgen.identification.consistency.payload_estimate import payload
from symgen.identification.consistency.pseudo_inertia import linear, packed, seen, unpacked
from symgen.identification.consistency.sdp import LEAST, Programme
from symgen.identification.model.estimate import Estimate
from symgen.identification.report.shaping import shape
from symgen.jobs.job import Job
from symgen.mechanics.inertia_matrices import inertial_parameters_of, pseudo_inertia_matrix
from symgen.mechanics.parameters import lump_links
from tests.support.loads import LOAD, C, M, estimate, robot
from tests.support.tools import robot_file

ARM, PANDA = robot_file("ur5"), robot_file("panda_arm")


TWO = """<robot name="two"><link name="base"/>
<link name="arm">{a}</link><link name="tool">{b}</link>
<joint name="turn" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
 <limit lower="-2" upper="2" effort="20" velocity="4"/></joint>
<joint name="weld" type="fixed"><parent link="arm"/><child link="tool"/><origin xyz="0.3 0 0" rpy="0 0.4 1"/></joint>
</robot>
"""


INERTIA = (
    '<inertial><origin xyz="{x} 0 0.05"/><mass value="{m}"/>'
    '<inertia ixx="0.02" ixy="0" ixz="0.001" iyy="0.03" iyz="0" izz="0.025"/></inertial>'
)


def shaken(file, size, seed=0):
    """Consistent standard parameters away from the prior: every X = exp of a random symmetric
    matrix."""
    _, loaded, mapping = robot(file)
    programme = Programme(tuple(free_links(loaded.model, mapping)), mapping)
    random, xs = np.random.default_rng(seed), []
    for _ in programme.links:
        half = random.normal(size=(4, 4)) * size
        values, axes = np.linalg.eigh(half + half.T)
        xs.append(packed((axes * np.exp(values)) @ axes.T))
    return programme, np.concatenate(xs)


def definite(found, loaded):
    return (
        min(np.linalg.eigvalsh(pseudo_inertia_matrix(ten)).min() for ten in found.links.values())
        > 0
    )


def test_ten_numbers_and_matrices_are_each_others():
    ten = np.random.default_rng(0).normal(size=10)
    np.testing.assert_allclose(
        inertial_parameters_of(pseudo_inertia_matrix(ten)), ten, rtol=1e-14, atol=1e-14
    )
    p = pseudo_inertia_matrix(ten)
    assert np.sum(packed(p) ** 2) == pytest.approx(np.sum(p**2))
    np.testing.assert_allclose(unpacked(packed(p)), p, rtol=1e-14)
    t = np.random.default_rng(1).normal(size=(4, 4))
    np.testing.assert_allclose(
        linear(t) @ packed(p), inertial_parameters_of(t @ p @ t.T), rtol=1e-12
    )


def test_links_seen_from_their_body_add_up_to_what_lumping_finds():
    model = Job.of(PANDA).load().model
    body = Job.of(robot_file("fixed_mid_rotated")).load().model.moving[0]
    whole = lump_links(replace(model, bodies=(body,)), [body.name]).bodies[0].links[0].parameters
    total = sum(
        seen(link.pose) @ np.array(link.parameters) for link in body.links if link.parameters
    )
    np.testing.assert_allclose(total, whole, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("file", [ARM, robot_file("scara")])
@pytest.mark.parametrize("seed", [0, 1])
def test_bodies_have_the_base_parameters_and_are_nearer_than_the_truth(file, seed):
    programme, truth = shaken(file, 0.15, seed)
    base = programme.mapping.base(programme.standard(truth))
    found = bodies(robot(file)[1].model, estimate(file, base))
    assert found.consistent and found.misfit == 0
    np.testing.assert_allclose(found.base, base, rtol=0, atol=1e-12 * np.abs(base).max() + 1e-12)
    assert definite(found, robot(file)[1])
    assert found.distance < np.linalg.norm(truth - programme.start)


def test_no_step_that_keeps_the_base_parameters_leads_nearer_to_the_prior():
    programme, truth = shaken(ARM, 0.03)
    base = programme.mapping.base(programme.standard(truth))
    x = programme.nearest(base)
    assert (
        min(np.linalg.eigvalsh(unpacked(own))[0] for own in x.reshape(-1, 10)) > 2 * LEAST
    )  # inside the cone
    away = x - programme.start
    inside_rows = programme.matrix.T @ np.linalg.lstsq(programme.matrix.T, away, rcond=None)[0]
    np.testing.assert_allclose(inside_rows, away, atol=1e-6 * np.linalg.norm(away))


def test_the_prior_is_its_own_nearest_body():
    _, loaded, mapping = robot(ARM)
    found = bodies(loaded.model, estimate(ARM, mapping.base(mapping.prior)))
    assert found.distance < 1e-6
    np.testing.assert_allclose(found.standard, mapping.prior, atol=1e-8)


def test_where_no_body_has_the_parameters_the_nearest_possible_ones_come_first():
    _, loaded, mapping = robot(ARM)
    wrong = mapping.prior.copy()
    wrong[55] = wrong[54] + wrong[57] + wrong[59]  # a product of inertia larger than any moment
    given = estimate(ARM, mapping.base(wrong))
    found = bodies(loaded.model, given)
    assert not found.consistent and definite(found, loaded)
    off = given.base_factor @ (found.base - given.base)
    assert found.misfit == pytest.approx(off @ off) and found.misfit > 1
    assert found.misfit < np.sum(
        (given.base_factor @ (mapping.base(mapping.prior) - given.base)) ** 2
    )
    halfway = mapping.base(
        found.standard + 0.05 * (mapping.prior - found.standard)
    )  # possible, as sums of possible
    assert found.misfit <= np.sum((given.base_factor @ (halfway - given.base)) ** 2) * (1 + 1e-6)


@pytest.fixture
def two(tmp_path):
    path = tmp_path / "two.urdf"
    path.write_text(TWO.format(a=INERTIA.format(x=0.1, m=2), b=INERTIA.format(x=0.05, m=1.5)))
    return str(path)


@pytest.mark.parametrize(("part", "changed"), [(1.1, {"arm"}), (0.2, {"arm", "tool"})])
def test_the_heaviest_link_changes_and_the_others_where_that_is_not_enough(two, part, changed):
    job, loaded, mapping = robot(two)
    found = shape(job, loaded, estimate(two, mapping.base(part * mapping.prior)), lambda step: None)
    assert set(found.bodies.links) == changed and found.bodies.consistent
    assert found.off < 1e-12


@cache
def loaded_panda():
    _, loaded, mapping = robot(PANDA)
    flange = next(link for link in loaded.model.moving[6].links if link.name == "flange")
    standard = mapping.prior.copy()
    standard[60:70] += seen(flange.pose) @ LOAD
    return loaded, mapping, standard


def test_a_payload_is_recovered_in_the_axes_of_its_link():
    loaded, mapping, standard = loaded_panda()
    found = payload(loaded.model, estimate(PANDA, mapping.base(standard)), "flange")
    np.testing.assert_allclose(found.ten, LOAD, atol=1e-8)
    np.testing.assert_allclose([found.mass, *found.centre], [M, *C], atol=1e-8)
    assert found.alone and found.freedom == len(mapping) - 10


def test_standard_errors_of_a_payload_are_those_of_many_logs():
    loaded, mapping, standard = loaded_panda()
    base, random = mapping.base(standard), np.random.default_rng(0)
    factor = estimate(PANDA, base).factor
    runs = [
        payload(
            loaded.model,
            estimate_of(base + random.normal(size=len(base)) / np.diag(factor), factor),
            "flange",
        )
        for _ in range(300)
    ]
    values = np.array([[run.mass, *run.centre] for run in runs])
    errors = np.array([runs[0].mass_error, *runs[0].centre_errors])
    np.testing.assert_allclose(values.std(axis=0), errors, rtol=0.2)
    assert (np.abs(values.mean(axis=0) - [M, *C]) < 4 * errors / np.sqrt(300)).all()
    assert np.mean([run.alone for run in runs]) > 0.97


def estimate_of(base, factor):
    return Estimate(robot(PANDA)[2], (), base, factor, (), 1.0, 1.0, np.zeros(0))


def test_a_change_of_another_link_is_noticed():
    loaded, mapping, standard = loaded_panda()
    other = standard.copy()
    other[20:30] *= 1.2
    assert not payload(loaded.model, estimate(PANDA, mapping.base(other)), "flange").alone


def test_what_a_robot_cannot_feel_has_infinite_errors(two):
    _, loaded, mapping = robot(two)
    found = payload(loaded.model, estimate(two, mapping.base(mapping.prior)), "tool")
    assert np.isinf(found.mass_error) and np.isinf(found.centre_errors).all()
    with pytest.raises(OptionError, match="no moving link has this name"):
        payload(loaded.model, estimate(two, mapping.base(mapping.prior)), "base")

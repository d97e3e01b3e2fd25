"""Bodies of base parameters: consistent, within the budget and nearest; payloads."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from symgen.errors import OptionError
from symgen.identification.consistency.nearest_bodies import (
    MAX_RESIDUAL_GROWTH,
    ConicProgramme,
    ResidualMetric,
    congruence_matrix,
    free_links,
    nearest_consistent_bodies,
    smat,
    svec,
)
from symgen.identification.consistency.payload_estimate import (
    estimate_payload,
    parallel_axis_matrix,
)
from symgen.identification.model.estimate import Estimate
from symgen.identification.report.shaping import identified_urdf
from symgen.jobs.job import Job
from symgen.mechanics.inertia import inertial_parameters_of, pseudo_inertia_matrix
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
    metric = ResidualMetric(estimate(file, mapping.base(mapping.prior)))
    programme = ConicProgramme(tuple(free_links(loaded.model, mapping)), mapping, metric)
    random, xs = np.random.default_rng(seed), []
    for _ in programme.links:
        half = random.normal(size=(4, 4)) * size
        values, axes = np.linalg.eigh(half + half.T)
        xs.append(svec((axes * np.exp(values)) @ axes.T))
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
    assert np.sum(svec(p) ** 2) == pytest.approx(np.sum(p**2))
    np.testing.assert_allclose(smat(svec(p)), p, rtol=1e-14)
    t = np.random.default_rng(1).normal(size=(4, 4))
    np.testing.assert_allclose(
        congruence_matrix(t) @ svec(p), inertial_parameters_of(t @ p @ t.T), rtol=1e-12
    )


def test_links_seen_from_their_body_add_up_to_what_lumping_finds():
    model = Job.of(PANDA).load().model
    body = Job.of(robot_file("fixed_mid_rotated")).load().model.moving[0]
    whole = lump_links(replace(model, bodies=(body,)), [body.name]).bodies[0].links[0].parameters
    total = sum(
        parallel_axis_matrix(link.pose) @ np.array(link.parameters)
        for link in body.links
        if link.parameters
    )
    np.testing.assert_allclose(total, whole, rtol=1e-12, atol=1e-12)


ROWS = 1000


def distance(links, tens):
    """The distance of some bodies to those of the file, written once more."""
    total = 0.0
    for link in links:
        before = inertial_parameters_of(link.prior)
        change = (tens[link.name] - before) / link.mass
        (xx, xy, xz, yy, yz, zz), h = change[4:], change[1:4]
        squares = xx**2 + yy**2 + zz**2 + 2 * (xy**2 + xz**2 + yz**2)
        total += 10 * change[0] ** 2 + h @ h / link.size**2 + squares / link.size**4
    return total


@pytest.mark.parametrize("file", [ARM, robot_file("scara")])
@pytest.mark.parametrize("seed", [0, 1])
def test_bodies_keep_to_the_budget_and_are_nearer_than_the_truth(file, seed):
    programme, truth = shaken(file, 0.15, seed)
    given = estimate(file, programme.mapping.base(programme.standard(truth)))
    found = nearest_consistent_bodies(robot(file)[1].model, given, ROWS)
    assert definite(found, robot(file)[1])
    off = np.sum(np.square(given.factor @ (found.base - given.base)))
    assert found.loss == pytest.approx(np.sqrt(1 + off / ROWS) - 1, rel=1e-6, abs=1e-12)
    assert found.loss < MAX_RESIDUAL_GROWTH * (1 + 1e-4)
    parts = zip(programme.links, truth.reshape(-1, 10), strict=True)
    own = {link.name: link.columns_of_link @ part for link, part in parts}
    assert distance(programme.links, found.links) < distance(programme.links, own)


def test_no_bodies_within_the_budget_are_nearer():
    """A random step from the optimum that keeps to the budget leads away from the file."""
    programme, truth = shaken(ARM, 0.1)
    given = estimate(ARM, programme.mapping.base(programme.standard(truth)))
    found = nearest_consistent_bodies(robot(ARM)[1].model, given, ROWS)
    random, limit = np.random.default_rng(0), ROWS * ((1 + MAX_RESIDUAL_GROWTH) ** 2 - 1)
    least, tried = distance(programme.links, found.links), 0
    for size in (1e-4, 1e-3, 1e-2):
        for _ in range(100):
            change = random.normal(size=(len(programme.links), 10)) * size
            tens = {
                link.name: found.links[link.name] + row * link.mass
                for link, row in zip(programme.links, change, strict=True)
            }
            standard = found.standard.copy()
            for link, row in zip(programme.links, change, strict=True):
                standard[10 * link.body : 10 * link.body + 10] += row * link.mass
            off = given.factor @ (programme.mapping.base(standard) - given.base)
            solid = all(np.linalg.eigvalsh(pseudo_inertia_matrix(t))[0] > 0 for t in tens.values())
            if off @ off <= limit and solid:
                tried += 1
                assert distance(programme.links, tens) > least * (1 - 1e-6)
    assert tried or found.loss > 0.99 * MAX_RESIDUAL_GROWTH


def test_the_prior_is_its_own_nearest_body():
    _, loaded, mapping = robot(ARM)
    found = nearest_consistent_bodies(
        loaded.model, estimate(ARM, mapping.base(mapping.prior)), ROWS
    )
    np.testing.assert_allclose(found.standard, mapping.prior, atol=1e-4)
    assert found.loss < MAX_RESIDUAL_GROWTH


def test_where_no_body_has_the_parameters_bodies_near_the_possible_ones_are_taken():
    _, loaded, mapping = robot(ARM)
    wrong = mapping.prior.copy()
    wrong[55] = 5 * (wrong[54] + wrong[57] + wrong[59])  # larger than any moment
    given = estimate(ARM, mapping.base(wrong))
    found = nearest_consistent_bodies(loaded.model, given, 1)
    assert definite(found, loaded) and found.loss > MAX_RESIDUAL_GROWTH
    off = given.factor @ (mapping.base(mapping.prior) - given.base)
    assert (1 + found.loss) ** 2 - 1 < off @ off


def test_drives_are_fitted_again():
    """The coefficients of drives minimise the residual with the base parameters of the bodies."""
    _, loaded, mapping = robot(ARM)
    b, random = len(mapping), np.random.default_rng(0)
    factor = np.triu(random.normal(size=(b + 3, b + 3))) + 5 * np.eye(b + 3)
    values = np.append(mapping.base(1.3 * mapping.prior), [1.0, 2.0, 3.0])
    given = Estimate(mapping, ("a", "b", "c"), values, factor, (), 1.0, 1.0, np.zeros(3))
    found = nearest_consistent_bodies(loaded.model, given, ROWS)
    slope = factor[:, b:].T @ factor @ (np.append(found.base, found.drives) - values)
    np.testing.assert_allclose(slope, 0, atol=1e-8)


@pytest.fixture
def two(tmp_path):
    path = tmp_path / "two.urdf"
    path.write_text(TWO.format(a=INERTIA.format(x=0.1, m=2), b=INERTIA.format(x=0.05, m=1.5)))
    return str(path)


@pytest.mark.parametrize(("part", "changed"), [(1.1, {"arm"}), (0.2, {"arm", "tool"})])
def test_the_heaviest_link_changes_and_the_others_where_that_is_not_enough(two, part, changed):
    job, loaded, mapping = robot(two)
    given = estimate(two, mapping.base(part * mapping.prior))
    found = identified_urdf(job, loaded, given, 1, lambda step: None)
    assert set(found.bodies.links) == changed and found.bodies.loss < MAX_RESIDUAL_GROWTH * (
        1 + 1e-4
    )
    assert found.off < 1e-12


@cache
def loaded_panda():
    _, loaded, mapping = robot(PANDA)
    flange = next(link for link in loaded.model.moving[6].links if link.name == "flange")
    standard = mapping.prior.copy()
    standard[60:70] += parallel_axis_matrix(flange.pose) @ LOAD
    return loaded, mapping, standard


def test_a_payload_is_recovered_in_the_axes_of_its_link():
    loaded, mapping, standard = loaded_panda()
    found = estimate_payload(loaded.model, estimate(PANDA, mapping.base(standard)), "flange")
    np.testing.assert_allclose(found.parameters, LOAD, atol=1e-8)
    np.testing.assert_allclose([found.mass, *found.centre], [M, *C], atol=1e-8)
    assert found.agrees_with_prior and found.freedom == len(mapping) - 10


def test_standard_errors_of_a_payload_are_those_of_many_logs():
    loaded, mapping, standard = loaded_panda()
    base, random = mapping.base(standard), np.random.default_rng(0)
    factor = estimate(PANDA, base).factor
    runs = [
        estimate_payload(
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
    assert np.mean([run.agrees_with_prior for run in runs]) > 0.97


def estimate_of(base, factor):
    return Estimate(robot(PANDA)[2], (), base, factor, (), 1.0, 1.0, np.zeros(0))


def test_a_change_of_another_link_is_noticed():
    loaded, mapping, standard = loaded_panda()
    other = standard.copy()
    other[20:30] *= 1.2
    assert not estimate_payload(
        loaded.model, estimate(PANDA, mapping.base(other)), "flange"
    ).agrees_with_prior


def test_what_a_robot_cannot_feel_has_infinite_errors(two):
    _, loaded, mapping = robot(two)
    found = estimate_payload(loaded.model, estimate(two, mapping.base(mapping.prior)), "tool")
    assert np.isinf(found.mass_error) and np.isinf(found.centre_errors).all()
    with pytest.raises(OptionError, match="no moving link has this name"):
        estimate_payload(loaded.model, estimate(two, mapping.base(mapping.prior)), "base")

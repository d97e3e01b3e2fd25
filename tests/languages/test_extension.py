"""The extension module: one state or many, in whatever arrays, with the bits of the C."""

import threading

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.support.extensions import N, made, same, states

exactly = pytest.mark.parametrize("which", ["exact", "float"])


@exactly
def test_the_bits_are_those_of_the_c(which):
    package, one, _ = made(which)
    q, qd, x, par = states(which)
    wanted = one.inverse_dynamics(q, qd, x, par)
    for n in (1, 2, 7, N):
        assert same(package.inverse_dynamics(q[:n], qd[:n], x[:n], par), wanted[:n])
    assert same(package.inverse_dynamics(q[3], qd[3], x[3], par), wanted[3])
    for got, right in zip(package.sum(q, qd, par), one.sum(q, qd, par), strict=True):
        assert same(got, right)
    for got, right in zip(package.sum(q[5], qd[5], par), one.sum(q[5], qd[5], par), strict=True):
        assert same(got, right)


def test_fast_code_is_as_near_as_rounding_allows():
    package, one, _ = made("fast")
    q, qd, x, par = states("fast")
    for name in ("inverse_dynamics", "forward_dynamics"):
        got = getattr(package, name)(q, qd, x, par)
        assert_allclose(got, getattr(one, name)(q, qd, x, par), rtol=1e-12, atol=1e-13)
        alone = [getattr(package, name)(*row, par) for row in zip(q, qd, x, strict=True)]
        assert_allclose(got, alone, rtol=1e-12, atol=1e-13)


def test_sines_of_fast_code_are_right():
    """Products that are fused leave the reduction of angles to a quarter turn as exact as it is."""
    package, one, _ = made("fast")
    rng = np.random.default_rng(1)
    par = states("fast")[3]
    q = rng.uniform(-60000, 60000, (N, 2))
    zero = np.zeros(2)
    got, wanted = (code.inverse_dynamics(q, zero, zero, par) for code in (package, one))
    assert_allclose(got, wanted, rtol=0, atol=1e-14 * np.abs(wanted).max())


def every_form(x):
    """The same numbers otherwise laid out, typed and wrapped."""
    wide = np.repeat(x, 2, -1)
    yield from (np.asfortranarray(x), wide[..., ::2], x[::-1][::-1], x.astype(np.longdouble))
    yield x.astype(x.dtype.newbyteorder())
    yield np.frombuffer(b"-" + x.tobytes(), np.uint8)[1:].view(x.dtype).reshape(x.shape)
    yield x.tolist()
    yield tuple(map(tuple, x.tolist())) if x.ndim > 1 else tuple(x.tolist())
    yield [*x]
    yield x.view(type("Own", (np.ndarray,), {}))
    frozen = x.copy()
    frozen.flags.writeable = False
    yield frozen


@exactly
@pytest.mark.parametrize("rows", [0, slice(5), slice(0), slice(9, None, -3)])
def test_arrays_of_every_layout_and_type(which, rows):
    package, one, _ = made(which)
    q, qd, x, par = (a[rows] if a.ndim > 1 else a for a in states(which))
    wanted = one.inverse_dynamics(q, qd, x, par)
    for k, form in enumerate(every_form(qd)):
        if rows != slice(0) or not isinstance(form, list | tuple):
            assert same(package.inverse_dynamics(q, form, x, par), wanted), k


def test_whole_numbers_and_smaller_types():
    package, one, _ = made("exact")
    par = states("exact")[3]
    wanted = one.inverse_dynamics([1.0, 2.0], [0.0, 1.0], [-3.0, 0.0], par)
    for form in (
        ([1, 2], (0, 1.0), [-3, 0.0]),
        (np.array([1, 2], np.int8), np.array([False, True]), np.array([-3, 0], np.float16)),
        (np.array([1, 2], np.uint64), np.array([0, 1], ">i4"), np.array([-3, 0], np.float32)),
        ([np.float64(1), np.int32(2)], [False, True], (-3.0, 0)),
    ):
        assert same(package.inverse_dynamics(*form, par), wanted)


def test_leading_axes_broadcast():
    package, one, _ = made("exact")
    q, qd, x, par = states("exact")
    for given in (
        (q[:12].reshape(3, 1, 4, 2), qd[:4], x[0]),
        (q[0], qd[:6].reshape(6, 1, 2), x[:5]),
        (q[:1], qd[:3], x[:3, None]),
        (np.broadcast_to(q[0], (4, 3, 2)), qd[:3], x[0]),
        (q[:24].reshape(2, 3, 4, 2).transpose(2, 1, 0, 3), qd[0], x[:2]),
        (q[:0], qd[0], x[0]),
    ):
        assert same(package.inverse_dynamics(*given, par), one.inverse_dynamics(*given, par))


def test_rows_of_a_wider_table_are_read_in_place():
    """No time is taken; but the memory that a copy would need is not there."""
    package, one, _ = made("exact")
    q, qd, x, par = states("exact")
    wide = np.concatenate([q, qd, x], 1)
    given = wide[::3, :2], wide[::3, 2:4], wide[::3, 4:]
    assert same(package.inverse_dynamics(*given, par), one.inverse_dynamics(*given, par))


def test_results_go_where_they_are_wanted():
    package, one, _ = made("exact")
    q, qd, x, par = states("exact")
    wanted = one.inverse_dynamics(q, qd, x, par)
    for rows in (slice(None), 4):
        out = np.full(wanted[rows].shape, np.nan)
        assert package.inverse_dynamics(q[rows], qd[rows], x[rows], par, out=out) is out
        assert same(out, wanted[rows])
        own = q[rows].copy()
        package.inverse_dynamics(own, qd[rows], x[rows], par, out=own)
        assert same(own, wanted[rows])
        pair = (
            np.empty_like(one.sum(q, qd, par)[0][rows]),
            np.empty_like(one.sum(q, qd, par)[1][rows]),
        )
        got = package.sum(q[rows], qd[rows], par, out=pair)
        assert got[0] is pair[0] and got[1] is pair[1]
        assert all(same(a, b[rows]) for a, b in zip(pair, one.sum(q, qd, par), strict=True))
    shifted = np.concatenate([q, q])  # the results begin in the middle of what is read
    package.inverse_dynamics(shifted[: N // 2], qd[: N // 2], x[: N // 2], par,
                             out=shifted[N // 4 : N // 4 + N // 2])  # fmt: skip
    assert same(shifted[N // 4 : N // 4 + N // 2], wanted[: N // 2])


def test_threads_change_nothing():
    package, one, _ = made("exact")
    q, qd, x, par = (np.tile(a, (7, 1)) if a.ndim > 1 else a for a in states("exact"))
    wanted = one.forward_dynamics(q, qd, x, par)
    for threads in (1, 2, np.int64(3), 100):
        assert same(package.forward_dynamics(q, qd, x, par, threads=threads), wanted)
    with pytest.raises(np.linalg.LinAlgError, match="in 7000 states"):
        package.forward_dynamics(q, qd, x, -par, threads=5)


def test_calls_from_several_threads_at_once():
    package, one, _ = made("exact")
    q, qd, x, par = states("exact")
    wanted, right = one.inverse_dynamics(q, qd, x, par), []

    def work():
        right.append(
            all(same(package.inverse_dynamics(q, qd, x, par), wanted) for _ in range(50))
            and all(
                same(package.inverse_dynamics(q[k], qd[k], x[k], par), wanted[k]) for k in range(N)
            )
        )

    every = [threading.Thread(target=work) for _ in range(4)]
    for one_thread in every:
        one_thread.start()
    for one_thread in every:
        one_thread.join()
    assert right == [True] * 4

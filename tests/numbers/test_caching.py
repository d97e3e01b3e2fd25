"""Caches that live as long as their object: by arguments, and by the identity of sources."""

import gc
import weakref
from dataclasses import dataclass, replace

import numpy as np

from symgen.numbers.caching import IdentityCache, cached_method


@dataclass(frozen=True)
class Doubler:
    factor: int
    calls: list

    @cached_method
    def times(self, x, offset=0):
        self.calls.append((x, offset))
        return self.factor * x + offset


def test_a_cached_method_computes_once_for_each_object_and_arguments():
    calls = []
    one = Doubler(2, calls)
    assert [one.times(3), one.times(3), one.times(3, offset=1), one.times(4)] == [6, 6, 7, 8]
    assert calls == [(3, 0), (3, 1), (4, 0)]
    assert replace(one, factor=5).times(3) == 15 and len(calls) == 4


def test_the_cache_of_a_method_is_freed_with_its_object():
    one = Doubler(2, [])
    one.times(3)
    gone = weakref.ref(one)
    del one
    gc.collect()
    assert gone() is None


def test_an_identity_cache_tells_equal_arrays_apart():
    cache, a, b = IdentityCache(), np.ones(2), np.ones(2)
    values = [cache.value("sum", [x], lambda x=x: (x.sum(), id(x))) for x in (a, b, a)]
    assert values[0] is values[2] and values[0] is not values[1]
    assert cache.value("mean", [a], lambda: "other kind") == "other kind"


def test_an_identity_cache_keeps_sources_alive_so_that_no_identity_returns():
    cache = IdentityCache()
    found = {cache.value("k", [np.full(3, k)], lambda k=k: k) for k in range(50)}
    assert found == set(range(50))


def test_an_identity_cache_without_storage_computes_each_time():
    cache, a, calls = IdentityCache(stores=False), object(), []
    for _ in range(2):
        cache.value("k", [a], lambda: calls.append(1))
    assert calls == [1, 1]


def test_the_latest_value_replaces_the_one_before():
    cache, a, b, calls = IdentityCache(), object(), object(), []

    def asked(*sources):
        return cache.latest("k", sources, lambda: calls.append(sources) or len(calls))

    assert [asked(a), asked(a), asked(b), asked(a), asked(a, b)] == [1, 1, 2, 3, 4]

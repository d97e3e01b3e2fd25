"""Work spread over processes (``-j``).

What is independent, such as the functions of a module, is computed by copies of this process
(``fork``), and comes back in its order: results do not depend on how many there are. Where the
system has no ``fork``, or nothing was said, one after the other here."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_PROCESSES: Final[ContextVar[int]] = ContextVar("processes", default=1)
_WORK: Final[ContextVar[Callable[[int], Any]]] = ContextVar("work")


def possible() -> bool:
    """Whether this system can copy a process."""
    import multiprocessing

    return "fork" in multiprocessing.get_all_start_methods()


@contextmanager
def processes(count: int) -> Iterator[None]:
    """A context in which work that is spread runs in `count` processes at once."""
    before = _PROCESSES.set(count)
    try:
        yield
    finally:
        _PROCESSES.reset(before)


def parallel_map(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    begins: Callable[[int], None] = lambda k: None,
) -> list[Result]:
    """`work` of each item, in their order. Results must be picklable; other effects of `work` stay
    in the process that did it. `begins` is called with the index of each item: before its work, or,
    with several processes, when the results before it are there.

    Work that fails in another process is repeated in this one, so that it raises its own errors."""
    count = min(_PROCESSES.get(), len(items))
    if count < 2 or not possible():
        return [work(item) for item in announced(items, begins)]
    results = _in_copies(lambda k: work(items[k]), len(items), count, begins)
    return [
        result[0] if result else work(item) for result, item in zip(results, items, strict=True)
    ]


def announced(items: Iterable[Item], begins: Callable[[int], None]) -> Iterator[Item]:
    """The items; `begins` is called with the index of each before it."""
    for k, item in enumerate(items):
        begins(k)
        yield item


def _in_copies(
    work: Callable[[int], Any], size: int, count: int, begins: Callable[[int], None]
) -> list[tuple[Any] | None]:
    """The result for each number, in a tuple; None where it failed."""
    import multiprocessing  # half a tenth of a second, which one process does not need
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    before = _WORK.set(work), _PROCESSES.set(1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # threads that only show progress
            fork = multiprocessing.get_context("fork")
            with ProcessPoolExecutor(count, mp_context=fork) as pool:
                waiting = announced(range(size), begins)
                return [
                    result for _, result in zip(waiting, pool.map(_one, range(size)), strict=True)
                ]
    except BrokenProcessPool:
        return [None] * size
    finally:
        _WORK.reset(before[0])
        _PROCESSES.reset(before[1])


def _one(k: int) -> tuple[Any] | None:
    try:
        return (_WORK.get()(k),)
    except Exception:  # it will be met again by whoever asked
        return None

"""Work spread over processes (``-j``).

What is independent, such as the functions of a module, is computed by copies of this process
(``fork``), and comes back in its order: results do not depend on how many there are. Where the
system has no ``fork``, or nothing was said, one after the other here."""

import warnings
from collections.abc import Callable, Iterator, Sequence
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


def spread(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """`work` of each item, in their order. What it returns must be picklable; what it keeps
    elsewhere stays in the process that did it.

    What fails in another process is done again in this one, so that errors are those of the work
    itself."""
    count = min(_PROCESSES.get(), len(items))
    if count < 2 or not possible():
        return [work(item) for item in items]
    results = _in_copies(lambda k: work(items[k]), len(items), count)
    return [
        result[0] if result else work(item) for result, item in zip(results, items, strict=True)
    ]


def _in_copies(work: Callable[[int], Any], size: int, count: int) -> list[tuple[Any] | None]:
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
                return list(pool.map(_one, range(size)))
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

"""Independent work in several processes (``-j``).

Work such as the functions of a module is done by copies of this process (``fork``). Results are in
the order of the items and do not depend on the number of processes. Without ``fork`` or without
``-j``, this process does the work."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_PROCESS_COUNT: Final[ContextVar[int]] = ContextVar("processes", default=1)
_FUNCTION: Final[ContextVar[Callable[[int], Any]]] = ContextVar("work")


def can_fork() -> bool:
    """Whether this system can copy a process."""
    import multiprocessing

    return "fork" in multiprocessing.get_all_start_methods()


@contextmanager
def process_count(count: int) -> Iterator[None]:
    """A context in which `parallel_map` uses `count` processes."""
    previous = _PROCESS_COUNT.set(count)
    try:
        yield
    finally:
        _PROCESS_COUNT.reset(previous)


def parallel_map(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    begins: Callable[[int], None] = lambda k: None,
) -> list[Result]:
    """`work` of each item, in their order. Results must be picklable; other effects of `work` stay
    in the process that did it. `begins` is called with the index of each item: before its work, or,
    with several processes, when the results of earlier items are known.

    Work that fails in another process is repeated in this one, so that it raises its own errors."""
    count = min(_PROCESS_COUNT.get(), len(items))
    if count < 2 or not can_fork():
        return [work(item) for item in with_progress(items, begins)]
    results = _in_processes(lambda k: work(items[k]), len(items), count, begins)
    return [
        result[0] if result else work(item) for result, item in zip(results, items, strict=True)
    ]


def with_progress(items: Iterable[Item], begins: Callable[[int], None]) -> Iterator[Item]:
    """The items; `begins` is called with the index of each before it."""
    for k, item in enumerate(items):
        begins(k)
        yield item


def _in_processes(
    work: Callable[[int], Any], size: int, count: int, begins: Callable[[int], None]
) -> list[tuple[Any] | None]:
    """The result for each number, in a tuple; None where it failed."""
    import multiprocessing  # half a tenth of a second, which one process does not need
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    previous = _FUNCTION.set(work), _PROCESS_COUNT.set(1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # threads that only show progress
            fork = multiprocessing.get_context("fork")
            with ProcessPoolExecutor(count, mp_context=fork) as pool:
                waiting = with_progress(range(size), begins)
                return [
                    result
                    for _, result in zip(waiting, pool.map(_run_item, range(size)), strict=True)
                ]
    except BrokenProcessPool:
        return [None] * size
    finally:
        _FUNCTION.reset(previous[0])
        _PROCESS_COUNT.reset(previous[1])


def _run_item(k: int) -> tuple[Any] | None:
    try:
        return (_FUNCTION.get()(k),)
    except Exception:  # it will be met again by whoever asked
        return None

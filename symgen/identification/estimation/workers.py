"""What computes the parts of a large task: this process, or the workers of Dask's distributed
scheduler."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from symgen.errors import OptionError, SymgenError
from symgen.text import install


class Workers(Protocol):
    """Computes a function of several arguments and yields the results in their order."""

    def map(self, function: Callable[[Any], Any], arguments: Sequence[Any]) -> Iterator[Any]: ...


class ThisProcess:
    """No workers."""

    def map(self, function: Callable[[Any], Any], arguments: Sequence[Any]) -> Iterator[Any]:
        """The results one after the other."""
        return map(function, arguments)


@dataclass(frozen=True)
class DaskWorkers:
    """The workers of a scheduler of Dask's."""

    client: Any

    def map(self, function: Callable[[Any], Any], arguments: Sequence[Any]) -> Iterator[Any]:
        """The results in order. A task whose worker is lost is computed again by another one."""
        futures = self.client.map(function, arguments, pure=False)
        while futures:
            future = futures.pop(0)
            yield future.result()
            future.release()


@contextmanager
def open_workers(workers: str) -> Iterator[Workers]:
    """This process if nothing is given, a number of processes of this machine, or the workers of
    the scheduler at an address (tcp://HOST:PORT). Raises SymgenError."""
    if not workers:
        yield ThisProcess()
        return
    if not workers.isdecimal() and "://" not in workers:
        raise OptionError(
            f"--workers {workers}: give a number of processes, or the address of a Dask scheduler "
            "such as tcp://localhost:8786"
        )
    try:
        import distributed
    except ImportError:
        raise SymgenError(
            "error: --workers needs Dask's distributed scheduler; install it: "
            + install("distributed")
        ) from None
    try:
        if workers.isdecimal():
            local = {"n_workers": int(workers), "threads_per_worker": 1, "dashboard_address": ":0"}
            client = distributed.Client(distributed.LocalCluster(**local))
        else:
            client = distributed.Client(workers, timeout="10s")
    except (OSError, ValueError) as error:
        raise SymgenError(f"error: --workers {workers}: {error}") from None
    with client:
        yield DaskWorkers(client)
        if workers.isdecimal():
            client.cluster.close()

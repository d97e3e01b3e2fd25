"""The competitors: CasADi's C from urdf2casadi and from Pinocchio over casadi::SX, and Pinocchio's
C++."""

import ctypes
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bench.build import (
    FLAGS,
    FOLDER,
    Cost,
    all_compiled,
    compiled,
    empty,
    linked,
    machine_code,
    python,
    run,
)
from benchmarks.bench.cases import Case
from benchmarks.bench.contender import Contender, Order, address
from benchmarks.bench.plain import Plain, chain_urdf

HERE = Path(__file__).resolve().parent
DEFINES = (
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
)
"""As Pinocchio's own build."""

LOCAL = ("mass_matrix", "forward_dynamics")
"""Quantities that Pinocchio has in two conventions."""


def includes() -> list[str]:
    """Headers of Pinocchio, Boost, Eigen and CasADi in the wheels."""
    roots = [Path(entry) for entry in sys.path]
    headers = ("cmeel.prefix/include", "cmeel.prefix/include/eigen3", "casadi/include")
    headers += ("casadi/include/eigen3",)
    found = [root / name for root in roots for name in headers if (root / name).is_dir()]
    return [word for path in found for word in ("-isystem", str(path))]


@lru_cache(maxsize=1)
def cpp() -> ctypes.CDLL:
    """Pinocchio's C++, our program compiled with its headers: some minutes the first time."""
    return pinocchio_library("pinocchio_cpp.cpp")


def pinocchio_library(source: str) -> ctypes.CDLL:
    """A C++ program of this folder, compiled with Pinocchio's headers."""
    made, _ = _cpp(source, ("-O3", "-march=native", "-DNDEBUG"))
    out = FOLDER / f"{Path(source).stem}.so"
    return ctypes.CDLL(str(linked([made], out, compiler="g++").resolve()))


@lru_cache(maxsize=1)
def sx() -> Path:
    """The program that writes Pinocchio's algorithms over casadi::SX: some minutes the first
    time."""
    made, _ = _cpp("pinocchio_sx.cpp", ("-O1", "-DNDEBUG"))
    library = next(
        Path(entry) / "casadi"
        for entry in sys.path
        if (Path(entry) / "casadi/libcasadi.so").exists()
    )
    program = FOLDER / "pinocchio_sx"
    run(["g++", str(made), "-o", str(program), f"-L{library}", "-lcasadi", f"-Wl,-rpath,{library}"])
    return program


def _cpp(name: str, flags: tuple[str, ...]) -> tuple[Path, Cost]:
    header = (HERE / "model.hpp").read_text(encoding="utf-8")
    return compiled(HERE / name, ("-std=c++17", *flags, *DEFINES, *includes()), "g++", header)


def cpp_contenders(case: Case, plain: Plain, model: Path, order: Order) -> Iterable[Contender]:
    """Pinocchio's C++; it holds one model at a time."""
    library = cpp()
    if library.pin_load(str(model).encode()):
        raise RuntimeError(f"Pinocchio does not take {model}")
    for quantity in case.quantities:
        for variant in ("", "_local") if quantity in LOCAL else ("",):
            name = f"{quantity}{variant}"
            size = _size(quantity, plain)
            reader = library[f"pin_read_{name}"]
            yield Contender(
                "pinocchio" + variant.replace("_", " "),
                quantity,
                address(library, f"pin_{name}"),
                order,
                0,
                partial(_fetched, reader, size, order, quantity),
            )


def _fetched(reader: Any, size: int, order: Order, quantity: str, _: Any) -> Any:
    """What the last call left in Pinocchio's data."""
    out = np.zeros(size)
    reader(out.ctypes.data_as(ctypes.c_void_p))
    return order.result(quantity, out)


def _size(quantity: str, plain: Plain) -> int:
    n = plain.nv
    sizes = {
        "mass_matrix": n * n,
        "coriolis_matrix": n * n,
        "regressor": 10 * n * len(plain.joints),
    }
    return sizes.get(quantity, 3 * n * n if quantity.endswith("derivatives") else n)


def sx_contenders(
    case: Case, model: Path, folder: Path, order: Order, flags: Sequence[str]
) -> list[Contender]:
    """CasADi's C from Pinocchio's algorithms."""
    where = empty(folder / "pinocchio-sx")
    names = [*case.quantities, *(f"{name}_local" for name in LOCAL if name in case.quantities)]
    traced = run([str(sx()), str(model), str(where), *names])
    written = python(
        "benchmarks.bench.casadi_write", "sx", str(where), str(where), *case.quantities
    )
    cost = Cost(
        round(traced.seconds + written.seconds, 3), max(traced.megabytes, written.megabytes)
    )
    return _casadi("casadi pinocchio", where, cost, order, flags)


def u2c_contenders(
    case: Case, plain: Plain, folder: Path, order: Order, flags: Sequence[str], *more: str
) -> list[Contender]:
    """CasADi's C from urdf2casadi, which has chains only."""
    if not plain.serial:
        return []
    where = empty(folder / "urdf2casadi")
    urdf = where / "chain.urdf"
    urdf.write_text(chain_urdf(plain.joints), encoding="utf-8")
    cost = python(
        "benchmarks.bench.casadi_write", "u2c", str(urdf), str(where), *case.quantities, *more
    )
    return _casadi("urdf2casadi", where, cost, order, flags)


def _casadi(
    tool: str, folder: Path, cost: Cost, order: Order, flags: Sequence[str]
) -> list[Contender]:
    facts = json.loads((folder / "facts.json").read_text(encoding="utf-8"))
    found: list[Contender] = []
    for flag in flags:
        built = all_compiled([folder / f"{name}.c" for name in facts], FLAGS[flag])
        for (name, fact), (made, compile_cost) in zip(facts.items(), built, strict=True):
            library = ctypes.CDLL(
                str(linked([made], folder / f"{name}-{flag}.so", "-lm").resolve())
            )
            *places, size = fact["places"]
            known = {
                "operations": fact["operations"],
                "bytes": fact["bytes"],
                "code": machine_code(made),
                "compile": asdict(compile_cost),
                "generation": asdict(cost),
            }
            found.append(
                Contender(
                    f"{tool} {flag}",
                    name,
                    address(library, f"call_{name}"),
                    order,
                    len(places),
                    partial(_spread, places, size, order, name),
                    known,
                )
            )
    return found


def _spread(places: list[int], size: int, order: Order, quantity: str, flat: Any) -> Any:
    """The numbers that CasADi writes among the zeros that it does not."""
    out = np.zeros(size)
    out[places] = flat
    return order.result(quantity, out)

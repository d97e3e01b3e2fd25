"""The same problem by direct multiple shooting: CasADi's Opti and IPOPT on the graph of our forward
dynamics (`--lang casadi`), with exact Hessians of the Lagrangian."""

import importlib
import sys
import tempfile
from time import process_time
from typing import Any

import numpy as np

import symgen
from examples.ocp.ddp import Log
from examples.ocp.problem import Problem


def acceleration(p: Problem) -> Any:
    """q̈ of q, q̇ and τ as a function of CasADi."""
    with tempfile.TemporaryDirectory(prefix="symgen-ocp-") as folder:
        options = {"quantities": ("forward_dynamics",), "prefix": f"ocp_{p.robot}"}
        symgen.generate(p.file, folder, ["casadi"], **options)
        sys.path.insert(0, folder)
        try:
            return importlib.import_module(f"ocp_{p.robot}_casadi").graph("forward_dynamics")
        finally:
            sys.path.remove(folder)


def solve(p: Problem, tolerance: float = 1e-9) -> Log:
    """The motion of least cost."""
    import casadi as ca

    qdd, began = acceleration(p), process_time()
    opti, n = ca.Opti(), p.n
    xs, us = opti.variable(2 * n, p.steps + 1), opti.variable(n, p.steps)
    x, u = ca.SX.sym("x", 2 * n), ca.SX.sym("u", n)
    v = x[n:] + p.h * qdd(x[:n], x[n:], u)
    step = ca.Function("step", [x, u], [ca.vertcat(x[:n] + p.h * v, v)])
    opti.subject_to(xs[:, 0] == np.concatenate([p.start, np.zeros(n)]))
    cost = p.h * p.by_force * ca.sumsqr(us)
    for k in range(p.steps):
        opti.subject_to(xs[:, k + 1] == step(xs[:, k], us[:, k]))
        cost += ca.dot(p.running, (xs[:, k] - p.aim) ** 2)
    opti.minimize((cost + ca.dot(p.final, (xs[:, p.steps] - p.aim) ** 2)) / 2)
    first = p.first
    opti.set_initial(us, first.T)
    opti.set_initial(xs, p.rollout(first).T)
    opti.solver("ipopt", {"print_time": 0}, {"sb": "yes", "print_level": 0, "tol": tolerance})
    found = opti.solve()
    stats = found.stats()["iterations"]
    log = Log(list(stats["obj"]), list(stats["inf_du"]), list(stats["alpha_pr"]))
    log.xs, log.us = np.array(found.value(xs)).T, np.array(found.value(us)).T
    log.seconds = process_time() - began
    return log

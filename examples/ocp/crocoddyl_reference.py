"""The same problem by Crocoddyl on Pinocchio, for its cost and its time (pip install crocoddyl):
``python -m examples.ocp.crocoddyl_reference``."""

from time import process_time

import numpy as np

from examples.ocp.ddp import Log
from examples.ocp.problem import PANDA, Problem


def solve(p: Problem, tolerance: float = 1e-9) -> Log:
    """The motion of least cost by its solver DDP, which leaves the curvature of the dynamics out:
    its models have no second derivatives."""
    import crocoddyl
    import pinocchio

    model = pinocchio.buildModelFromUrdf(str(p.file))
    state = crocoddyl.StateMultibody(model)
    actuation = crocoddyl.ActuationModelFull(state)

    def costs(weights: np.ndarray, force: float) -> crocoddyl.CostModelSum:
        found = crocoddyl.CostModelSum(state)
        residual = crocoddyl.ResidualModelState(state, p.aim)
        activation = crocoddyl.ActivationModelWeightedQuad(weights)
        found.addCost("state", crocoddyl.CostModelResidual(state, activation, residual), 1.0)
        if force:
            control = crocoddyl.ResidualModelControl(state)
            found.addCost("control", crocoddyl.CostModelResidual(state, control), force)
        return found

    def action(weights: np.ndarray, force: float, h: float) -> crocoddyl.ActionModelAbstract:
        free = crocoddyl.DifferentialActionModelFreeFwdDynamics(
            state, actuation, costs(weights, force)
        )
        free.armature = np.zeros(p.n)  # 3.2.1 with pin 4.1 is wrong without
        return crocoddyl.IntegratedActionModelEuler(free, h)

    running = action(p.running / p.h, p.by_force, p.h)
    end = action(p.final, 0.0, 0.0)
    start = np.concatenate([p.start, np.zeros(p.n)])
    problem = crocoddyl.ShootingProblem(start, [running] * p.steps, end)
    solver, log = crocoddyl.SolverDDP(problem), Log()
    solver.th_stop = tolerance**2
    us = [np.array(u) for u in p.first]
    xs, began = list(p.rollout(p.first)), process_time()
    solver.solve(xs, us, 200, True)  # the motion to begin with is one
    log.seconds = process_time() - began
    log.cost, log.gradient = [solver.cost], [0.0] * solver.iter  # it does not tell gradients
    log.xs, log.us = np.array(solver.xs), np.array(solver.us)
    return log


if __name__ == "__main__":
    found = solve(PANDA)
    print(f"cost {found.cost[-1]:.9f}, {found.iterations} iterations, {found.seconds:.3f} s")

"""``main.py FOLDER MODULE one|many``: one state a call, or 64 states in one."""

import sys
from importlib import import_module
from time import perf_counter_ns

import numpy as np

folder, name, way = sys.argv[1:]
sys.path.insert(0, folder)
ur5, states, rounds = import_module(name), 64, 40
a, s, k = np.ogrid[0:3, 0:states, 0:6]
x = ((s * 7 + k * 5 + a * 3) % 31 - 15) / 10.0
for f in (ur5.inverse_dynamics, ur5.forward_dynamics):
    least = float("inf")
    for _ in range(rounds):
        start = perf_counter_ns()
        if way == "many":
            f(*x)
        else:
            for q, qd, last in zip(*x, strict=True):
                f(q, qd, last)
        least = min(least, (perf_counter_ns() - start) / states)
    print(f"{least:.3f}")

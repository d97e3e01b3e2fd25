"""Modules that stand for all options, made once, and what is read off their code."""

import json
import resource

import pytest

from tests.support.tools import (
    generated,
)

RUNTIME = {
    "parameters": "runtime",
    "gravity": "runtime",
    "quantities": ("inverse_dynamics", "t=bias+mass_matrix"),
}


CORE = {"quantities": ("inverse_dynamics", "gravity", "bias", "mass_matrix")}


FORWARD = {"quantities": ("forward_dynamics", "inverse=mass_matrix_inverse")}


SAMPLES = {
    "pendulum": ("pendulum", {}),
    "ur5": ("ur5", {}),
    "arm7_general": ("arm7_general", {}),
    "ur5_pieces": ("ur5", {"chunk": 20, **CORE}),
    "panda_float": ("panda", {"scalar": "float", **CORE}),
    "ur5_runtime": ("ur5", RUNTIME),
    "ur5_payload": ("ur5", {"parameters": "runtime:flange", "scalar": "float", **CORE}),
    "ur5_forward": ("ur5", FORWARD),
    "ur5_forward_pieces": ("ur5", {"chunk": 30, **FORWARD}),
    "panda_libm": ("panda", {"scalar": "float", "trig": "libm", **CORE}),
    "reserved_names": ("reserved_names", CORE),
    "utf8_names": ("utf8_names", CORE),
}


samples = pytest.mark.parametrize("sample", SAMPLES)


GIB = 1 << 30


def made(sample):
    name, options = SAMPLES[sample]
    return generated(name, **options)


def texts(*names, tag="1"):
    """Files to publish: a manifest that lists them, and them."""
    manifest = {"generator": "symgen 0", "files": dict.fromkeys(names, "hash")}
    return {**{name: f"{name} {tag}\n" for name in names}, "manifest.json": json.dumps(manifest)}


def limit(kind, value):
    resource.setrlimit(kind, (value, value))

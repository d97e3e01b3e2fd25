"""How functions are written in the language, and how they are run."""

from symgen.languages.backends import TextBackend
from symgen.languages.dialect import Dialect, operation_table
from symgen.languages.external_runner import package_runner
from symgen.text import in_ascii

DIALECT = Dialect(
    operations=operation_table(
        lambda op: "sign({a})" if op.name == "sign" else f"math.{op.name}({{a}})"
    ),
    literal=repr,
    declare="{name}",
)
STYLE = TextBackend(
    DIALECT, lambda text: in_ascii(text, "<{:x}>"), repr, heading="# {}", statement_end=""
)


def files(module):
    """The module, name to text."""
    context = STYLE.context(module)
    lines = ["import math", "", "", "def sign(x):", "    return (x > 0) - (x < 0)"]
    for d in context["functions"]:
        outs = ", ".join(a.name for a in d.outs)
        body = context["bodies"][d.name]
        lines += ["", "", f"def {d.name}({', '.join(a.name for a in d.ins)}):"]
        lines += [f"    {a.name} = [0.0] * {a.size}" for a in d.outs]
        lines += [f"    {line}" for block in body.blocks for line in block]
        lines.append(f"    return {outs}{',' if len(d.outs) == 1 else ''}")
    return {f"{module.name}_math.py": "\n".join(lines) + "\n"}


RESULTS = """
import glob, runpy
(file,) = glob.glob(sys.argv[1] + "/*_math.py")
robot = runpy.run_path(file)

def results(name, arrays):
    made = [robot[name](*(x.tolist() for x in row)) for row in zip(*arrays)]
    return [np.array(x) for x in zip(*made)]
"""
RUNNER = package_runner("mathpy", RESULTS)
checks = RUNNER.checks

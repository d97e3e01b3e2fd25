"""The header for C++ gives the same numbers, and clashes with no library of C."""

import shutil

from tests.support.glued import cases, made
from tests.support.tools import c_files, compiled, generated, runs_beside

STRICT_CPP = (
    "-std=c++11",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Wdouble-promotion",
    "-Wshadow",
    "-Wold-style-cast",
    "-Wuseless-cast",
    "-Werror",
)


CPP = """#include "ur5.hpp"
#include "ur5.hpp"
#include <cstring>
template <typename A> static bool same(const A &a, const ur5_robot::real *b)
{{
    return std::memcmp(a.data(), b, sizeof(a)) == 0;
}}
int main()
{{
    bool good = true;
{calls}
    return good ? 0 : 1;
}}
"""


@cases
def test_the_cpp_header_gives_the_same_numbers(case, tmp_path):
    from symgen.languages.c.backend import functions

    module, folder = made(case)
    calls = []
    for k, f in enumerate(functions(module)):
        ins = [a for a in f.arguments if a.direction == "in"]
        outs = [a for a in f.arguments if a.direction == "out"]
        lines = [f"std::array<ur5_robot::real, {a.size}> {a.name};" for a in ins]
        lines += [f"{a.name}.fill(ur5_robot::real({k + 1}) / 8);" for a in ins]
        lines += [f"ur5_robot::real c_{a.name}[{a.size}];" for a in outs]
        lines += [f"ur5_robot::real w[{f.work}];"] if f.work else []
        own = {"in": "{}.data()", "work": "{}", "out": "c_{}"}
        c_call = f"{f.full_name}({', '.join(own[a.direction].format(a.name) for a in f.arguments)})"
        lines.append(
            f"const auto y = ur5_robot::{f.description.name}({', '.join(a.name for a in ins)});"
        )
        lines.append(
            f"good = good && y.status == {c_call};" if f.description.pivots else f"{c_call};"
        )
        plain = len(outs) == 1 and not f.description.pivots
        lines += [
            f"good = good && same(y{'' if plain else f'.{a.name}'}, c_{a.name});" for a in outs
        ]
        calls.append("    {\n        " + "\n        ".join(lines) + "\n    }")
    (tmp_path / "user.cpp").write_text(CPP.format(calls="\n".join(calls)))
    compiled("-std=c99", f"-I{folder}", "-c", *c_files(folder, ["_selftest"]), cwd=tmp_path)
    runs_beside(tmp_path, "user.cpp", *STRICT_CPP, f"-I{folder}")


CLASHING = ("index", "div", "main", "sin", "exit", "pipe", "y0", "linux", "unix")


def test_no_robot_clashes_with_the_c_library(tmp_path):
    """Names of functions, macros and namespaces that are there before."""
    headers = ("array", "cmath", "csignal", "cstdlib", "cstring", "strings.h", "unistd.h")
    lines = [f"#include <{name}>" for name in headers]
    for name in CLASHING:
        options = {"quantities": ("gravity",), "glue": ("cpp",)}
        _, folder = generated("pendulum", prefix=name, **options)
        shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
        lines.append(f'#include "{name}.hpp"')
        lines.append(
            f"int try_{name}(const std::array<{name}_robot::real, 2> &q);\n"
            f"int try_{name}(const std::array<{name}_robot::real, 2> &q)\n"
            f"{{ return {name}_robot::gravity(q)[0] > 1; }}"
        )
    (tmp_path / "user.cpp").write_text("\n".join(lines))
    given = ("-std=gnu++11", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-fsyntax-only", "user.cpp")
    compiled(*given, cwd=tmp_path, compiler="g++")


CONTROLLERS = """#include "ur5.hpp"
#include <cmath>
#include <cstring>
int main()
{
    using real = ur5_robot::real;
    ur5_computed_torque_gains gains = {};
    for (int k = 0; k < 6; ++k) {
        gains.k_p[k] = 100;
        gains.k_d[k] = 20;
        gains.k_i[k] = 5;
        gains.limit[k] = 50;
    }
    ur5_robot::computed_torque_controller controller(gains);
    ur5_computed_torque_state state;
    ur5_computed_torque_reset(&state, &gains);
    std::array<real, 6> q, qd, zero, reference;
    zero.fill(0);
    reference.fill(0.3);
    bool good = true;
    for (int step = 0; step < 20; ++step) {
        q.fill(0.01 * step);
        qd.fill(0.1);
        real u[6];
        ur5_computed_torque_step(&gains, &state, q.data(), qd.data(), reference.data(), zero.data(),
                                 zero.data(), 0.001, u);
        const auto found = controller.step(q, qd, reference, zero, zero, 0.001);
        good = good && found.status == 0 && std::memcmp(u, found.u_computed.data(), sizeof u) == 0;
    }
    q[0] = NAN;
    good = good && controller.step(q, qd, reference, zero, zero, 0.001).status == 1;
    controller.gains.limit[2] = -1;
    good = good && controller.step(zero, qd, reference, zero, zero, 0.001).status == 2;
    ur5_robot::gravity_compensation_controller weightless((ur5_gravity_compensation_gains()));
    return good ? 0 : 1;
}
"""


def test_controllers_are_classes(tmp_path):
    """The steps of a class have the bits of the steps in C, its integral included."""
    names = ("computed_torque", "gravity_compensation", "momentum_observer")
    _, folder = generated("ur5", glue=("cpp",), quantities=("gravity",), controllers=names)
    (tmp_path / "user.cpp").write_text(CONTROLLERS)
    compiled("-std=c99", f"-I{folder}", "-c", *c_files(folder, ["_selftest"]), cwd=tmp_path)
    runs_beside(tmp_path, "user.cpp", *STRICT_CPP, f"-I{folder}")

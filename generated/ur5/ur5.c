/* ur5.c: constant data, declared in ur5.h. */
#include "ur5.h"

const ur5_info_type ur5_info = {
    "ur5",
    "symgen 0.1.0",
    "b8b4780ad17aacadca28f25d9e459289745cefe3ad9bfb799e131a6897ed7a9a",
    "gravity=[0.0,0.0,-9.81] snap_angles=1e-09 base=fixed coordinates=joints joint_order=base-to-tip allow_unphysical=false rotors=exact parameters=constant wrench_axes=link friction_width=0.0 friction_compensation=reference springs=false runtime_springs=false fluid=false optimize=latency scalar=double trig=inline zeros=always body_loops=false chunk=100 module_version=0.1.0",
    {
        "inverse_dynamics",
        "gravity",
        "bias",
        "mass_matrix"
    },
    {
        {"joint1", "rad", -6.2832, 6.2832, 3.1416, 150.0},
        {"joint2", "rad", -6.2832, 6.2832, 3.1416, 150.0},
        {"joint3", "rad", -6.2832, 6.2832, 3.1416, 150.0},
        {"joint4", "rad", -6.2832, 6.2832, 3.1416, 28.0},
        {"joint5", "rad", -6.2832, 6.2832, 3.1416, 28.0},
        {"joint6", "rad", -6.2832, 6.2832, 3.1416, 28.0}
    }
};

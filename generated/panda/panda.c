/* panda.c: constant data, declared in panda.h. */
#include "panda.h"

const panda_info_type panda_info = {
    "panda",
    "symgen 0.1.0",
    "6f48836a6d5e886ccb7e117fb57e1d00866a768f8b9ffa28563672879db63c3a",
    "gravity=[0.0,0.0,-9.81] snap_angles=1e-09 base=fixed coordinates=joints joint_order=base-to-tip allow_unphysical=false rotors=exact parameters=constant wrench_axes=link friction_width=0.0 friction_compensation=reference springs=false runtime_springs=false fluid=false optimize=latency scalar=double trig=inline zeros=always body_loops=false chunk=100 module_version=0.1.0",
    {
        "inverse_dynamics",
        "gravity",
        "bias",
        "mass_matrix"
    },
    {
        {"joint1", "rad", -2.8973, 2.8973, 2.175, 87.0},
        {"joint2", "rad", -1.7628, 1.7628, 2.175, 87.0},
        {"joint3", "rad", -2.8973, 2.8973, 2.175, 87.0},
        {"joint4", "rad", -3.0718, -0.0698, 2.175, 87.0},
        {"joint5", "rad", -2.8973, 2.8973, 2.61, 12.0},
        {"joint6", "rad", -0.0175, 3.7525, 2.61, 12.0},
        {"joint7", "rad", -2.8973, 2.8973, 2.61, 12.0},
        {"left_finger_joint", "m", 0.0, 0.04, 0.05, 70.0},
        {"right_finger_joint", "m", 0.0, 0.04, 0.05, 70.0}
    }
};

/* pendulum.c: constant data, declared in pendulum.h. */
#include "pendulum.h"

const pendulum_info_type pendulum_info = {
    "pendulum",
    "symgen 0.1.0",
    "d3c87449338c0135f88b503f6b44fbe5a5efbd854db9e3117ccdddcb1208fa0f",
    "gravity=[0.0,0.0,-9.81] snap_angles=1e-09 base=fixed coordinates=joints joint_order=base-to-tip allow_unphysical=false rotors=exact parameters=constant wrench_axes=link friction_width=0.0 friction_compensation=reference springs=false runtime_springs=false fluid=false optimize=latency scalar=double trig=inline zeros=always body_loops=false chunk=100 module_version=0.1.0",
    {
        "inverse_dynamics",
        "gravity",
        "bias",
        "mass_matrix"
    },
    {
        {"shoulder", "rad", -6.28, 6.28, 10.0, 50.0},
        {"elbow", "rad", -6.28, 6.28, 10.0, 50.0}
    }
};

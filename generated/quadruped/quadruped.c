/* quadruped.c: constant data, declared in quadruped.h. */
#include "quadruped.h"

const quadruped_info_type quadruped_info = {
    "quadruped",
    "symgen 0.1.0",
    "44bdefe5e4fde9e2359cc379d9c9ac4e0de83c2ac121884bc42b5d1cd7918e04",
    "gravity=[0.0,0.0,-9.81] snap_angles=1e-09 base=floating coordinates=joints joint_order=base-to-tip allow_unphysical=false rotors=exact parameters=constant wrench_axes=link friction_width=0.0 friction_compensation=reference springs=false runtime_springs=false fluid=false quantities=['inverse_dynamics','gravity','bias','mass_matrix','forward_dynamics'] optimize=latency scalar=double trig=inline zeros=always body_loops=false chunk=100 module_version=0.1.0",
    {
        "inverse_dynamics",
        "gravity",
        "bias",
        "mass_matrix",
        "forward_dynamics"
    },
    {
        {"floating_base.vx", "m", -DBL_MAX, DBL_MAX, DBL_MAX, DBL_MAX},
        {"floating_base.vy", "m", -DBL_MAX, DBL_MAX, DBL_MAX, DBL_MAX},
        {"floating_base.vz", "m", -DBL_MAX, DBL_MAX, DBL_MAX, DBL_MAX},
        {"floating_base.wx", "rad", -DBL_MAX, DBL_MAX, DBL_MAX, DBL_MAX},
        {"floating_base.wy", "rad", -DBL_MAX, DBL_MAX, DBL_MAX, DBL_MAX},
        {"floating_base.wz", "rad", -DBL_MAX, DBL_MAX, DBL_MAX, DBL_MAX},
        {"fl_hip_joint", "rad", -0.803, 0.803, 21.0, 33.5},
        {"fl_thigh_joint", "rad", -1.047, 4.189, 21.0, 33.5},
        {"fl_calf_joint", "rad", -2.697, -0.916, 21.0, 33.5},
        {"fr_hip_joint", "rad", -0.803, 0.803, 21.0, 33.5},
        {"fr_thigh_joint", "rad", -1.047, 4.189, 21.0, 33.5},
        {"fr_calf_joint", "rad", -2.697, -0.916, 21.0, 33.5},
        {"rl_hip_joint", "rad", -0.803, 0.803, 21.0, 33.5},
        {"rl_thigh_joint", "rad", -1.047, 4.189, 21.0, 33.5},
        {"rl_calf_joint", "rad", -2.697, -0.916, 21.0, 33.5},
        {"rr_hip_joint", "rad", -0.803, 0.803, 21.0, 33.5},
        {"rr_thigh_joint", "rad", -1.047, 4.189, 21.0, 33.5},
        {"rr_calf_joint", "rad", -2.697, -0.916, 21.0, 33.5}
    }
};

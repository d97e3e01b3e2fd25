/* quadruped.c: constant data, see quadruped.h. */
#include "quadruped.h"

const char quadruped_joint_names[18][17] = {
    "floating_base.vx",
    "floating_base.vy",
    "floating_base.vz",
    "floating_base.wx",
    "floating_base.wy",
    "floating_base.wz",
    "fl_hip_joint",
    "fl_thigh_joint",
    "fl_calf_joint",
    "fr_hip_joint",
    "fr_thigh_joint",
    "fr_calf_joint",
    "rl_hip_joint",
    "rl_thigh_joint",
    "rl_calf_joint",
    "rr_hip_joint",
    "rr_thigh_joint",
    "rr_calf_joint"
};

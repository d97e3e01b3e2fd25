/* ur5.c: constant data, see ur5.h. */
#include "ur5.h"

const char ur5_joint_names[6][7] = {
    "joint1",
    "joint2",
    "joint3",
    "joint4",
    "joint5",
    "joint6"
};

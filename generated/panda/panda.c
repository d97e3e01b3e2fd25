/* panda.c: constant data, see panda.h. */
#include "panda.h"

const char panda_joint_names[9][19] = {
    "joint1",
    "joint2",
    "joint3",
    "joint4",
    "joint5",
    "joint6",
    "joint7",
    "left_finger_joint",
    "right_finger_joint"
};

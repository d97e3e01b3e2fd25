/* puck.c: constant data, see puck.h. */
#include "puck.h"

const char puck_joint_names[3][12] = {
    "glide.x",
    "glide.y",
    "glide.theta"
};

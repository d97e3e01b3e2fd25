/* pendulum.c: constant data, see pendulum.h. */
#include "pendulum.h"

const char pendulum_joint_names[2][9] = {
    "shoulder",
    "elbow"
};

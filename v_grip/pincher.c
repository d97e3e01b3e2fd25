/* pincher.c: constant data, see pincher.h. */
#include "pincher.h"

const char pincher_joint_names[2][6] = {
    "wrist",
    "near"
};

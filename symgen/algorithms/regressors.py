from symgen.algorithms.kinematics import *

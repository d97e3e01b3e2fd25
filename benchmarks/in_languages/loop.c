/* Nanoseconds of a state: inverse, then forward dynamics of a UR5; 64 states in turn. C, C++ or CUDA's host build. */
#include <stdio.h>
#include <time.h>

enum { STATES = 64, N = 6 };
typedef double row[N];
static row x[3][STATES], y[STATES];

#if defined(CPP)
#include "ur5_robot.hpp"
#define ONE(name, s) (void)ur5_robot::name(x[0][s], x[1][s], x[2][s], y[s])
#elif defined(CUDA)
#include "ur5_cuda.h"
#define MANY_INVERSE (void)ur5_cuda_inverse_dynamics(STATES, STATES, x[0][0], x[1][0], x[2][0], y[0], 0)
#define MANY_FORWARD (void)ur5_cuda_forward_dynamics(STATES, STATES, x[0][0], x[1][0], x[2][0], y[0], 0, 0)
#elif defined(BATCH)
#include "ur5_batch.h"
#define MANY_INVERSE (void)ur5_inverse_dynamics_batch(STATES, x[0][0], x[1][0], x[2][0], y[0])
#define MANY_FORWARD (void)ur5_forward_dynamics_batch(STATES, x[0][0], x[1][0], x[2][0], y[0])
#else
#include "ur5.h"
#define ONE(name, s) (void)ur5_##name(x[0][s], x[1][s], x[2][s], y[s])
#endif
#if defined(ONE)
#define MANY_INVERSE for (int s = 0; s < STATES; ++s) ONE(inverse_dynamics, s)
#define MANY_FORWARD for (int s = 0; s < STATES; ++s) ONE(forward_dynamics, s)
#endif

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

int main(void)
{
    for (int a = 0; a < 3; ++a)
        for (int s = 0; s < STATES; ++s)
            for (int k = 0; k < N; ++k)
                x[a][s][k] = (((s * 7 + k * 5 + a * 3) % 31) - 15) / 10.0;
    double sum = 0.0;
    for (int forward = 0; forward < 2; ++forward) {
        double least = 1e30;
        for (int round = 0; round < 300; ++round) {
            const double start = now();
            for (int k = 0; k < 10; ++k) {
                if (forward)
                    MANY_FORWARD;
                else
                    MANY_INVERSE;
            }
            const double took = (now() - start) / (10.0 * STATES);
            least = took < least ? took : least;
            sum += y[round % STATES][0];
        }
        printf("%.3f\n", least);
    }
    return sum != sum;
}

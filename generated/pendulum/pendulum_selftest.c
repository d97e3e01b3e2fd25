/* pendulum_selftest.c: compares every function with reference values.
 *
 * The reference values are computed by methods that share no algorithm with the functions. Where stated, they are
 * computed by the algorithm of the function in more digits. They are never computed by this C code. Methods:
 *   inverse_dynamics: independent Newton-Euler, link by link in world axes
 *   gravity: independent Newton-Euler, link by link in world axes
 *   bias: independent Newton-Euler, link by link in world axes
 *   mass_matrix: kinetic energy of the links at unit velocities
 *
 * The tolerance of an entry is 1.25 times a bound of its rounding errors: those of its operations in double (sines
 * within 2 units in the last place), in any order that C allows and with or without fused multiply-add, and those of
 * the numbers in the code and in this table.
 *
 * The exit status is 0 if all entries agree. Define PENDULUM_SELFTEST_NO_MAIN to call
 * pendulum_selftest() from your own program.
 */
#include "pendulum.h"

#define STATES 5

static const pendulum_real in_q[STATES][2] = {
    {-1.8496, -1.0722},
    {1.3652, -1.2952},
    {0.4227, -0.9479},
    {-0.8757, -1.3141},
    {-18182.125, 7641.625}
};

static const pendulum_real in_qd[STATES][2] = {
    {-0.6102, 2.3834},
    {-1.8263, -0.664},
    {4.5662, -3.3849},
    {1.2449, 0.4389},
    {-0.7948, 3.0311}
};

static const pendulum_real in_qdd[STATES][2] = {
    {-16.1785, 12.5613},
    {-4.263, 1.3587},
    {-9.7645, 14.0959},
    {6.5622, 18.4642},
    {12.1803, 5.9363}
};

static const pendulum_real want_tau[STATES][2] = {
    {-30.97054494591838, -3.7841328598050845},
    {7.12836319774958, -1.6858850287908356},
    {-11.235813148320174, -7.398559129346323},
    {2.9086937667352446, 2.6584505977200097},
    {30.15342669674921, 6.178926311853964}
};

static const pendulum_real want_tau_g[STATES][2] = {
    {-11.95908273776457, -0.6416542543102195},
    {11.729916627172953, 0.20584179971435912},
    {3.3535813327896062, -1.4755791729222334},
    {-11.437748778880712, -2.3969468141823884},
    {12.923950314642461, 1.2976903580781987}
};

static const pendulum_real want_tau_b[STATES][2] = {
    {-11.228754043382281, -0.7397581201050346},
    {12.5573346391367, -0.757009726705909},
    {-1.386708321221604, -6.5558856968300825},
    {-11.064762132988962, -2.846645635008576},
    {11.6713594226747, 1.478786857308788}
};

static const pendulum_real want_M[STATES][4] = {
    {1.4869159365454214, 0.3434579682727107, 0.3434579682727107, 0.2},
    {1.3632724851442302, 0.28163624257211506, 0.28163624257211506, 0.2},
    {1.5500339868946162, 0.37501699344730816, 0.37501699344730816, 0.2},
    {1.3523319108617797, 0.27616595543088984, 0.27616595543088984, 0.2},
    {1.3768132894173666, 0.2884066447086833, 0.2884066447086833, 0.2}
};

static pendulum_real magnitude(pendulum_real x)
{
    return (x < 0.0) ? -x : x;
}

#define MOST_INVERSE_DYNAMICS_TAU 2.52e-14
static const unsigned char steps_inverse_dynamics_tau[STATES][2] = {
    {0, 15},
    {6, 21},
    {3, 9},
    {5, 15},
    {0, 16}
};

#define MOST_GRAVITY_TAU_G 1.24e-14
static const unsigned char steps_gravity_tau_g[STATES][2] = {
    {2, 16},
    {2, 20},
    {5, 12},
    {0, 11},
    {0, 19}
};

#define MOST_BIAS_TAU_B 1.38e-14
static const unsigned char steps_bias_tau_b[STATES][2] = {
    {1, 17},
    {0, 17},
    {1, 5},
    {1, 11},
    {1, 17}
};

#define MOST_MASS_MATRIX_M 6.76e-16
static const unsigned char steps_mass_matrix_M[STATES][4] = {
    {4, 15, 15, 34},
    {5, 16, 16, 34},
    {2, 9, 9, 34},
    {0, 16, 16, 34},
    {5, 16, 16, 34}
};

/* Tolerance of an entry: `most` times 0.9 to the power of `steps`, or 0 if `steps` is 255. */
static pendulum_real allowed(pendulum_real most, unsigned char steps)
{
    pendulum_real error = (steps == 255U) ? 0.0 : most;
    int k;
    for (k = 0; (k < (int)steps) && (steps != 255U); ++k) {
        error *= 0.9;
    }
    return error;
}

/* Number of entries of `got` that differ from `want` by more than the tolerance. NaN counts as different. */
static int wrong(const pendulum_real *got, const pendulum_real *want, pendulum_real most,
                 const unsigned char *steps, int size)
{
    int bad = 0;
    int k;
    for (k = 0; k < size; ++k) {
        if (!(magnitude(got[k] - want[k]) <= allowed(most, steps[k]))) {
            ++bad;
        }
    }
    return bad;
}

static int try_inverse_dynamics(int state)
{
    int bad = 0;
    pendulum_real got_tau[2];
    pendulum_inverse_dynamics(in_q[state], in_qd[state], in_qdd[state], got_tau);
    bad += wrong(got_tau, want_tau[state], MOST_INVERSE_DYNAMICS_TAU, steps_inverse_dynamics_tau[state], 2);
    return bad;
}

static int try_gravity(int state)
{
    int bad = 0;
    pendulum_real got_tau_g[2];
    pendulum_gravity(in_q[state], got_tau_g);
    bad += wrong(got_tau_g, want_tau_g[state], MOST_GRAVITY_TAU_G, steps_gravity_tau_g[state], 2);
    return bad;
}

static int try_bias(int state)
{
    int bad = 0;
    pendulum_real got_tau_b[2];
    pendulum_bias(in_q[state], in_qd[state], got_tau_b);
    bad += wrong(got_tau_b, want_tau_b[state], MOST_BIAS_TAU_B, steps_bias_tau_b[state], 2);
    return bad;
}

static int try_mass_matrix(int state)
{
    int bad = 0;
    pendulum_real got_M[4];
    pendulum_mass_matrix(in_q[state], got_M);
    bad += wrong(got_M, want_M[state], MOST_MASS_MATRIX_M, steps_mass_matrix_M[state], 4);
    return bad;
}

/* Test one function in one state. */
static int try_one(int function, int state)
{
    int bad = 0;
    switch (function) {
    case 0:
        bad = try_inverse_dynamics(state);
        break;
    case 1:
        bad = try_gravity(state);
        break;
    case 2:
        bad = try_bias(state);
        break;
    case 3:
        bad = try_mass_matrix(state);
        break;
    default:
        bad = 1; /* there is no such function */
        break;
    }
    return bad;
}

int pendulum_selftest_step(int *step)
{
    const int k = *step;
    int bad = 1; /* a step that does not exist */
    if ((k >= 0) && (k < (PENDULUM_FUNCTIONS * STATES))) {
        bad = try_one(k / STATES, k % STATES);
    }
    *step = ((k >= 0) && (k < ((PENDULUM_FUNCTIONS * STATES) - 1))) ? (k + 1) : 0;
    return bad;
}

int pendulum_selftest_function(int function)
{
    int bad = 0;
    int state;
    for (state = 0; state < STATES; ++state) {
        bad += try_one(function, state);
    }
    return bad;
}

int pendulum_selftest(void)
{
    int bad = 0;
    int function;
    for (function = 0; function < PENDULUM_FUNCTIONS; ++function) {
        bad += pendulum_selftest_function(function);
    }
    return bad;
}

#if !defined(PENDULUM_SELFTEST_NO_MAIN) && !defined(ARDUINO)
int main(void)
{
    return (pendulum_selftest() == 0) ? 0 : 1;
}
#endif

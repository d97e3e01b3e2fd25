/* pendulum_selftest.c: compares every function with reference values.
 *
 * Reference values come from textbook dynamics in world axes, an independent formulation, in 40-digit arithmetic.
 * The exit status is 0 when all agree. Define PENDULUM_SELFTEST_NO_MAIN to call
 * pendulum_selftest() from a program of your own.
 */
#include "pendulum.h"

#define STATES 5
#define TOLERANCE 1.0e-11 /* of the largest entry of an output */

static const pendulum_real in_q[STATES][2] = {
    {-1.8496, -1.0722},
    {1.3652, -1.2952},
    {0.4227, -0.9479},
    {-0.8757, -1.3141},
    {0.9663, -0.4788}
};

static const pendulum_real in_qd[STATES][2] = {
    {-0.2441, 0.9534},
    {-0.7305, -0.2656},
    {1.8265, -1.3539},
    {0.4979, 0.1756},
    {-0.3179, 1.2124}
};

static const pendulum_real in_qdd[STATES][2] = {
    {-4.0446, 3.1403},
    {-1.0657, 0.3397},
    {-2.4411, 3.524},
    {1.6406, 4.616},
    {3.0451, 1.4841}
};

static const pendulum_real want_tau[STATES][2] = {
    {-16.77764438307944, -1.4184435437913372},
    {10.505132786345754, -0.1804057529082175},
    {0.13290752897469466, -2.499100000982399},
    {-7.884643611476616, -1.092603420900705},
    {17.128750565774933, 3.081230013240443}
};

static const pendulum_real want_tau_g[STATES][2] = {
    {-11.95908273776457, -0.6416542543102195},
    {11.729916627172953, 0.20584179971435912},
    {3.3535813327896062, -1.4755791729222334},
    {-11.437748778880712, -2.3969468141823884},
    {11.06442169578831, 1.3785559033575354}
};

static const pendulum_real want_tau_b[STATES][2] = {
    {-11.842225243894623, -0.6573534453155315},
    {11.862300442162212, 0.05179399080088556},
    {2.595135609474829, -2.288446018278175},
    {-11.378061394705439, -2.468881287380623},
    {11.161043168718445, 1.364587906012487}
};

static const pendulum_real want_M[STATES][4] = {
    {1.4869159365454214, 0.3434579682727107, 0.3434579682727107, 0.2},
    {1.3632724851442302, 0.28163624257211506, 0.28163624257211506, 0.2},
    {1.5500339868946162, 0.37501699344730816, 0.37501699344730816, 0.2},
    {1.3523319108617797, 0.27616595543088984, 0.27616595543088984, 0.2},
    {1.7325290514124043, 0.46626452570620214, 0.46626452570620214, 0.2}
};

static pendulum_real magnitude(pendulum_real x)
{
    return (x < 0.0) ? -x : x;
}

/* Entries of `got` that are not within tolerance of `want`; the comparison is false for NaN. */
static int wrong(const pendulum_real *got, const pendulum_real *want, int size)
{
    pendulum_real largest = 0.0;
    int bad = 0;
    int k;
    for (k = 0; k < size; ++k) {
        if (magnitude(want[k]) > largest) {
            largest = magnitude(want[k]);
        }
    }
    for (k = 0; k < size; ++k) {
        if (!(magnitude(got[k] - want[k]) <= (TOLERANCE * largest))) {
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
    bad += wrong(got_tau, want_tau[state], 2);
    return bad;
}

static int try_gravity(int state)
{
    int bad = 0;
    pendulum_real got_tau_g[2];
    pendulum_gravity(in_q[state], got_tau_g);
    bad += wrong(got_tau_g, want_tau_g[state], 2);
    return bad;
}

static int try_bias(int state)
{
    int bad = 0;
    pendulum_real got_tau_b[2];
    pendulum_bias(in_q[state], in_qd[state], got_tau_b);
    bad += wrong(got_tau_b, want_tau_b[state], 2);
    return bad;
}

static int try_mass_matrix(int state)
{
    int bad = 0;
    pendulum_real got_M[4];
    pendulum_mass_matrix(in_q[state], got_M);
    bad += wrong(got_M, want_M[state], 4);
    return bad;
}

int pendulum_selftest_function(int function)
{
    int bad = 0;
    int state;
    for (state = 0; state < STATES; ++state) {
        switch (function) {
        case 0:
            bad += try_inverse_dynamics(state);
            break;
        case 1:
            bad += try_gravity(state);
            break;
        case 2:
            bad += try_bias(state);
            break;
        case 3:
            bad += try_mass_matrix(state);
            break;
        default:
            ++bad; /* there is no such function */
            break;
        }
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

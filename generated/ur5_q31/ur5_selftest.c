/* ur5_selftest.c: compares every function with reference values.
 *
 * `want` are the integers that the functions must compute, bit by bit; the generator has computed them by the same
 * operations on integers. `real` are the nearest integers to values of methods that share no algorithm with the functions,
 * and `most` is the largest difference from them: the certified error and half a unit for rounding `real`. The inputs of the
 * last state are beyond the limits at which inputs are clamped. Methods:
 *   inverse_dynamics: independent Newton-Euler, link by link in world axes
 *   gravity: independent Newton-Euler, link by link in world axes
 *
 * The exit status is 0 if all entries agree. Define UR5_SELFTEST_NO_MAIN to call ur5_selftest() from
 * your own program.
 */
#include "ur5.h"

#define STATES 6

static const ur5_q31 in_q[STATES][6] = {
    {1387492141, -75467148, -1215005696, -1067655713, 126810506, 872187576},
    {-1553319013, 1368742368, 1385838499, -390685043, -173175151, 15771880},
    {859471999, -1907654980, 1838955963, -817438, 765286430, -547802843},
    {1359276443, -1694141216, 294200245, -1103405919, 1670025368, -797924099},
    {1296364605, -1279757448, 142207138, -303176940, 2134894254, -2119051852},
    {-1773662928, 829919245, -145817887, 1060038547, -465043417, -1751560788}
};

static const ur5_q31 in_qd[STATES][6] = {
    {-246577633, 47274182, 1635025237, -965464995, -1459314257, 1264407370},
    {-1686633657, 1686633657, -690554152, 1686633657, 929626064, -1686633657},
    {616714948, -1014889982, 413916340, 1681506588, 1506108463, 554658210},
    {-1686633657, 1686633657, 1686633657, 451697546, -338890187, 1686633657},
    {-147608120, -1673878062, 88998830, 973646358, 1511627808, -1069724833},
    {2147483647, 2147483647, 2147483647, 2147483647, 2147483647, 2147483647}
};

static const ur5_q31 in_qdd[STATES][6] = {
    {21774088, -941446951, -435026315, -1166387461, 957980276, 156242421},
    {-1310526854, -1342177280, 1342177280, -556256355, 1165554486, -1342177280},
    {-162649397, 1293353293, 741267651, 252443581, 130047438, 1137091532},
    {-948002848, -1342177280, -619744400, 605849704, 1120240013, 877764256},
    {-735412242, 720461758, 629354795, 337855508, 252403844, 389595410},
    {2147483647, 2147483647, 2147483647, 2147483647, 2147483647, 2147483647}
};

static const ur5_q31 want_inverse_dynamics_tau[STATES][6] = {
    {2657063, -342380133, -14019870, -2818387, 893110, -19144},
    {-205546846, 102960745, 202664505, 7883917, -1609313, -9953},
    {-16948773, 229945710, -100802422, -4097955, 656572, 9734},
    {300914717, 68594686, 27809230, -2009319, 4010268, 8530},
    {-55458658, 331717005, 112323738, 3183001, 669621, -10005},
    {-114697114, 332504210, 93249443, -14234607, 4519, 39562}
};
static const ur5_q31 real_inverse_dynamics_tau[STATES][6] = {
    {2657063, -342380133, -14019870, -2818387, 893109, -19144},
    {-205546846, 102960744, 202664505, 7883917, -1609313, -9953},
    {-16948773, 229945709, -100802422, -4097955, 656572, 9734},
    {300914718, 68594686, 27809230, -2009319, 4010268, 8530},
    {-55458658, 331717005, 112323738, 3183001, 669621, -10005},
    {-114697114, 332504209, 93249442, -14234607, 4519, 39562}
};
static const int32_t most_inverse_dynamics_tau[6] = {19, 14, 7, 3, 2, 2};

static const ur5_q31 want_gravity_tau_g[STATES][6] = {
    {0, -1085584736, 179364193, 17098726, -3450539, 0},
    {0, 842473237, 310116990, -18220025, 3488683, 0},
    {0, 661928728, -533237136, -15405062, 512459, 0},
    {0, 1273123036, 270206429, 31161953, 4409195, 0},
    {0, 383731717, 5941591, -42570891, -9945026, 0},
    {0, -703672249, -259275888, 21585383, -5006694, 0}
};
static const ur5_q31 real_gravity_tau_g[STATES][6] = {
    {0, -1085584738, 179364192, 17098726, -3450539, 0},
    {0, 842473236, 310116991, -18220025, 3488683, 0},
    {0, 661928728, -533237136, -15405062, 512459, 0},
    {0, 1273123033, 270206428, 31161953, 4409195, 0},
    {0, 383731715, 5941591, -42570891, -9945026, 0},
    {0, -703672248, -259275887, 21585383, -5006694, 0}
};
static const int32_t most_gravity_tau_g[6] = {3, 9, 6, 2, 2, 1};

/* Number of entries of `got` that are not `want`, or differ from `real` by more than `most`. */
static int wrong(const ur5_q31 *got, const ur5_q31 *want, const ur5_q31 *real, const int32_t *most, int size)
{
    int bad = 0;
    int k;
    for (k = 0; k < size; ++k) {
        const int32_t off = (int32_t)want[k] - (int32_t)real[k];
        if ((got[k] != want[k]) || (off > most[k]) || (off < -most[k])) {
            ++bad;
        }
    }
    return bad;
}

static int try_inverse_dynamics(int state)
{
    int bad = 0;
    ur5_q31 got_tau[6];
    ur5_inverse_dynamics(in_q[state], in_qd[state], in_qdd[state], got_tau);
    bad += wrong(got_tau, want_inverse_dynamics_tau[state], real_inverse_dynamics_tau[state], most_inverse_dynamics_tau, 6);
    return bad;
}

static int try_gravity(int state)
{
    int bad = 0;
    ur5_q31 got_tau_g[6];
    ur5_gravity(in_q[state], got_tau_g);
    bad += wrong(got_tau_g, want_gravity_tau_g[state], real_gravity_tau_g[state], most_gravity_tau_g, 6);
    return bad;
}

int ur5_selftest_function(int function)
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
        default:
            ++bad; /* there is no such function */
            break;
        }
    }
    return bad;
}

int ur5_selftest(void)
{
    int bad = 0;
    int function;
    for (function = 0; function < UR5_FUNCTIONS; ++function) {
        bad += ur5_selftest_function(function);
    }
    return bad;
}

#if !defined(UR5_SELFTEST_NO_MAIN) && !defined(ARDUINO)
int main(void)
{
    return (ur5_selftest() == 0) ? 0 : 1;
}
#endif

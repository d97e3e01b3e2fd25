/* A computed-torque controller of the UR5 at 1 kHz on a bare Cortex-M7, against a plant in the same image.
 *
 *   tau = M(q) (qdd_d + Kp (q_d - q) + Kd (qd_d - qd)) + C(q, qd) qd + g(q)
 *
 * is one call of the generated inverse dynamics, gravity included. The controller computes in float and knows the
 * robot of the file and the payload it is told of; the plant is the generated forward dynamics in double, with the
 * payload it has. SysTick gives the beat. Ends with status 0 if all three runs track as they must.
 */
#include <stdint.h>

#include "arm.h"
#include "arm_trig.h"
#include "plant.h"
#include "startup.h"

#define CLOCK      25000000U /* Hz, of SysTick on the MPS2 boards */
#define RATE       1000U     /* Hz */
#define SECONDS    4U
#define SETTLED    (RATE) /* steps before errors count */
#define DT         0.001
#define KP         2500.0f /* 1/s^2: 50 rad/s, critically damped */
#define KD         100.0f  /* 1/s */
#define AMPLITUDE  0.4f    /* rad */
#define FREQUENCY  3.0f    /* rad/s of joint 1, each further joint 0.2 more */
#define PER_TICK   40U    /* instructions a SysTick tick with qemu -icount shift=0: 1 ns each */
#define MICRO      1e6

static volatile uint32_t beats;

typedef struct {
    float q[ARM_DOF];
    float qd[ARM_DOF];
    float qdd[ARM_DOF];
} desired_type;

typedef struct {
    double q[PLANT_DOF];
    double qd[PLANT_DOF];
} state_type;

void tick(void)
{
    ++beats;
}

/* Sines about a bent posture, from rest: q_d = home + A (1 - cos w t). */
static void trajectory(float t, desired_type *d)
{
    static const float home[ARM_DOF] = { 0.0f, -1.2f, 1.4f, -0.6f, 0.5f, 0.0f };
    for (int k = 0; k < ARM_DOF; ++k) {
        const float w = FREQUENCY + (0.2f * (float)k);
        float s;
        float c;
        arm_sincos(w * t, &s, &c);
        d->q[k] = home[k] + (AMPLITUDE * (1.0f - c));
        d->qd[k] = AMPLITUDE * w * s;
        d->qdd[k] = AMPLITUDE * w * w * c;
    }
}

/* Joint torques from measured coordinates and rates, within the limits of the robot's file. */
static void control(const float q[ARM_DOF], const float qd[ARM_DOF], const desired_type *d,
                    const float par[ARM_REGROUPED], float tau[ARM_DOF])
{
    float qdd[ARM_DOF];
    for (int k = 0; k < ARM_DOF; ++k) {
        qdd[k] = d->qdd[k] + (KP * (d->q[k] - q[k])) + (KD * (d->qd[k] - qd[k]));
    }
    arm_inverse_dynamics(q, qd, qdd, par, tau);
    for (int k = 0; k < ARM_DOF; ++k) {
        const float limit = arm_info.joints[k].effort;
        tau[k] = (tau[k] > limit) ? limit : ((tau[k] < -limit) ? -limit : tau[k]);
    }
}

/* How a state changes: rates and accelerations; returns 1 where the mass matrix is singular. */
static int slope_at(const state_type *s, const double tau[PLANT_DOF], const double par[PLANT_REGROUPED],
                    state_type *slope)
{
    for (int k = 0; k < PLANT_DOF; ++k) {
        slope->q[k] = s->qd[k];
    }
    return plant_forward_dynamics(s->q, s->qd, tau, par, slope->qd);
}

static state_type moved(const state_type *s, const state_type *slope, double dt)
{
    state_type to;
    for (int k = 0; k < PLANT_DOF; ++k) {
        to.q[k] = s->q[k] + (dt * slope->q[k]);
        to.qd[k] = s->qd[k] + (dt * slope->qd[k]);
    }
    return to;
}

/* One step of Runge and Kutta with the torques held; 1 where the mass matrix is singular. */
static int plant_step(state_type *s, const double tau[PLANT_DOF], const double par[PLANT_REGROUPED])
{
    state_type a, b, c, d, at;
    int bad = slope_at(s, tau, par, &a);
    at = moved(s, &a, DT / 2.0);
    bad += slope_at(&at, tau, par, &b);
    at = moved(s, &b, DT / 2.0);
    bad += slope_at(&at, tau, par, &c);
    at = moved(s, &c, DT);
    bad += slope_at(&at, tau, par, &d);
    at = moved(s, &a, DT / 6.0);
    at = moved(&at, &b, DT / 3.0);
    at = moved(&at, &c, DT / 3.0);
    *s = moved(&at, &d, DT / 6.0);
    return bad;
}

/* Waits for the next beat; returns 1 if it has been missed. */
static int wait_for(uint32_t beat)
{
    const int late = (beats > beat) ? 1 : 0;
    while (beats < beat) {
        __asm__ volatile("wfi");
    }
    return late;
}

static void say(const char *what, double value, const char *unit)
{
    put(what);
    put_number((int32_t)value);
    put(unit);
}

/* One run with a payload that the controller is told or not; the largest error after the first second in rad, or a
 * large number for a failure. */
static double run(const double payload[PLANT_PARAMETERS], const double belief[PLANT_PARAMETERS])
{
    float believed[ARM_PARAMETERS];
    float told[ARM_REGROUPED];
    double par[PLANT_REGROUPED];
    double largest = 0.0;
    uint32_t most = 0U;
    int late = 0;
    int bad = 0;
    desired_type d;
    state_type s;
    for (int k = 0; k < ARM_PARAMETERS; ++k) {
        believed[k] = (float)belief[k];
    }
    arm_regroup(believed, told);
    plant_regroup(payload, par);
    trajectory(0.0f, &d);
    for (int k = 0; k < PLANT_DOF; ++k) {
        s.q[k] = (double)d.q[k];
        s.qd[k] = 0.0;
    }
    beats = 0U;
    for (uint32_t step = 0U; step < (SECONDS * RATE); ++step) {
        float q[ARM_DOF], qd[ARM_DOF], tau[ARM_DOF];
        double torque[PLANT_DOF];
        uint32_t started, used;
        late += wait_for(step + 1U);
        started = SYSTICK_VALUE;
        for (int k = 0; k < ARM_DOF; ++k) {
            q[k] = (float)s.q[k];
            qd[k] = (float)s.qd[k];
        }
        trajectory((float)step / (float)RATE, &d);
        control(q, qd, &d, told, tau);
        used = started - SYSTICK_VALUE;
        most = (used > most) ? used : most;
        for (int k = 0; k < PLANT_DOF; ++k) {
            const double error = s.q[k] - (double)d.q[k];
            const double size = (error < 0.0) ? -error : error;
            if ((step >= SETTLED) && !(size <= largest)) {
                largest = size;
            }
            torque[k] = (double)tau[k];
        }
        bad += plant_step(&s, torque, par);
    }
    say("largest tracking error ", largest * MICRO, " urad, ");
    say("controller ", (double)(most * PER_TICK), " instructions a step, ");
    say("", (double)late, " beats missed\n");
    return ((bad == 0) && (late == 0)) ? largest : 1e9;
}

int main(void)
{
    static const double none[PLANT_PARAMETERS] = { 0.0 };
    static const double half[PLANT_PARAMETERS] = { /* 0.5 kg, 5 cm in front of the flange */
        0.5, 0.0, 0.0, 0.025, 0.0015, 0.0, 0.0, 0.0015, 0.0, 0.0003
    };
    double without, unknown, known;
    if ((arm_selftest() != 0) || (plant_selftest() != 0)) {
        put("self-test failed\n");
        return 1;
    }
    put("self-tests passed\n");
    SYSTICK_RELOAD = (CLOCK / RATE) - 1U;
    SYSTICK_VALUE = 0U;
    SYSTICK_CONTROL = 7U; /* core clock, interrupt, on */
    put("no payload:      ");
    without = run(none, none);
    put("0.5 kg, unknown: ");
    unknown = run(half, none);
    put("0.5 kg, known:   ");
    known = run(half, half);
    return ((without < 1e-3) && (unknown < 0.1) && (known < 1e-3)) ? 0 : 1;
}

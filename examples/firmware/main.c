/* A controller and an observer of the UR5 at 1 kHz on a bare Cortex-M7, against a plant in the same image.
 *
 * Both are generated (--controller computed_torque, --controller momentum_observer): a step a beat each, in float,
 * gravity included, of the robot of the file with the payload they are told of. The plant is the generated forward
 * dynamics in double, with the payload it has and a force that pushes the flange in the last run; nobody is told of
 * that, and the observer must tell it within 50 ms. SysTick gives the beat. Ends with status 0 if all is as it must be.
 */
#include <stdint.h>

#include "arm.h"
#include "arm_computed_torque_controller.h"
#include "arm_momentum_observer_controller.h"
#include "arm_trig.h"
#include "plant.h"
#include "startup.h"

#define CLOCK      25000000U /* Hz, of SysTick on the MPS2 boards */
#define RATE       1000U     /* Hz */
#define TICKS      (CLOCK / RATE) /* a beat */
#define SECONDS    4U
#define SETTLED    (RATE) /* steps before errors count */
#define DT         0.001
#define KP         2500.0f /* 1/s^2: 50 rad/s, critically damped */
#define KD         100.0f  /* 1/s */
#define GAIN       100.0f  /* 1/s, of the observer */
#define PUSH       10.0    /* N along the flange's z, from PUSHED on */
#define PUSHED     (2U * RATE)
#define TOLD       (PUSHED + (RATE / 20U)) /* 50 ms later */
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

/* What the firmware keeps: gains and states of controller and observer. */
typedef struct {
    arm_computed_torque_gains follow;
    arm_momentum_observer_gains watch;
    arm_computed_torque_state following;
    arm_momentum_observer_state watching;
} controller_type;

static void start(controller_type *c)
{
    for (int k = 0; k < ARM_DOF; ++k) {
        c->follow.k_p[k] = KP;
        c->follow.k_d[k] = KD;
        c->follow.k_i[k] = 0.0f;
        c->follow.limit[k] = arm_info.joints[k].effort;
        c->watch.gain[k] = GAIN;
    }
    arm_computed_torque_reset(&c->following, &c->follow);
    arm_momentum_observer_reset(&c->watching, &c->watch);
}

/* Largest difference of what the observer tells from the joint forces of the push. */
static double missed(const double q[PLANT_DOF], double push, const float told[ARM_DOF])
{
    double j[6 * PLANT_DOF];
    double largest = 0.0;
    plant_frame_jacobian_body_flange(q, j);
    for (int k = 0; k < PLANT_DOF; ++k) {
        const double off = (double)told[k] - (push * j[(2 * PLANT_DOF) + k]); /* the row of z */
        const double size = (off < 0.0) ? -off : off;
        largest = (size > largest) ? size : largest;
    }
    return largest;
}

/* What acts on the plant: joint torques and a wrench at the flange. */
typedef struct {
    double tau[PLANT_DOF];
    double wrench[6];
} action_type;

/* How a state changes: rates and accelerations; returns 1 where the mass matrix is singular. */
static int slope_at(const state_type *s, const action_type *act, const double par[PLANT_REGROUPED], state_type *slope)
{
    for (int k = 0; k < PLANT_DOF; ++k) {
        slope->q[k] = s->qd[k];
    }
    return plant_forward_dynamics(s->q, s->qd, act->tau, act->wrench, par, slope->qd);
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
static int plant_step(state_type *s, const action_type *act, const double par[PLANT_REGROUPED])
{
    state_type a, b, c, d, at;
    int bad = slope_at(s, act, par, &a);
    at = moved(s, &a, DT / 2.0);
    bad += slope_at(&at, act, par, &b);
    at = moved(s, &b, DT / 2.0);
    bad += slope_at(&at, act, par, &c);
    at = moved(s, &c, DT);
    bad += slope_at(&at, act, par, &d);
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

/* What a run shows: the largest error of a joint after the first second (rad), the largest error of the observer from
 * 50 ms after the push on (N m), instructions of the longest beat, and beats missed; steps that failed. */
typedef struct {
    double error;
    double missed;
    uint32_t instructions;
    int late;
    int bad;
} result_type;

/* One beat of the firmware: measured coordinates in, torques out; what the observer tells stays in its state. */
static int beat(controller_type *c, const state_type *s, uint32_t step, const float told[ARM_REGROUPED],
                desired_type *d, float tau[ARM_DOF], float external[ARM_DOF])
{
    const float h = 1.0f / (float)RATE;
    float q[ARM_DOF], qd[ARM_DOF];
    int bad;
    for (int k = 0; k < ARM_DOF; ++k) {
        q[k] = (float)s->q[k];
        qd[k] = (float)s->qd[k];
    }
    trajectory((float)step * h, d);
    bad = arm_momentum_observer_step(&c->watch, &c->watching, q, qd, tau, told, h, external); /* of the last torques */
    bad += arm_computed_torque_step(&c->follow, &c->following, q, qd, d->q, d->qd, d->qdd, told, h, tau);
    return bad;
}

/* One run with a payload that the firmware is told or not, and a push in N. */
static result_type run(const double payload[PLANT_PARAMETERS], const double belief[PLANT_PARAMETERS], double push)
{
    static controller_type c;
    float believed[ARM_PARAMETERS];
    float told[ARM_REGROUPED];
    float tau[ARM_DOF] = { 0.0f };
    float external[ARM_DOF];
    double par[PLANT_REGROUPED];
    action_type act = { { 0.0 }, { 0.0 } };
    result_type result = { 0.0, 0.0, 0U, 0, 0 };
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
    start(&c);
    beats = 0U;
    for (uint32_t step = 0U; step < (SECONDS * RATE); ++step) {
        uint32_t started, used;
        result.late += wait_for(step + 1U);
        started = SYSTICK_VALUE;
        result.bad += beat(&c, &s, step, told, &d, tau, external);
        used = ((started + TICKS - SYSTICK_VALUE) % TICKS) * PER_TICK; /* it counts down, and may begin anew */
        result.instructions = (used > result.instructions) ? used : result.instructions;
        if (step >= TOLD) {
            const double off = missed(s.q, push, external);
            result.missed = (off > result.missed) ? off : result.missed;
        }
        for (int k = 0; k < PLANT_DOF; ++k) {
            const double error = s.q[k] - (double)d.q[k];
            const double size = (error < 0.0) ? -error : error;
            if ((step >= SETTLED) && !(size <= result.error)) {
                result.error = size;
            }
            act.tau[k] = (double)tau[k];
        }
        act.wrench[2] = (step >= PUSHED) ? push : 0.0;
        result.bad += plant_step(&s, &act, par);
    }
    say("tracking error ", result.error * MICRO, " urad, ");
    say("observer off by ", result.missed * 1e3, " mN m, ");
    say("", (double)result.instructions, " instructions per step, ");
    say("", (double)result.late, " steps missed\n");
    return result;
}

/* Whether a run was without failures and within these errors; what the observer misses counts where the payload is
 * known. */
static int passed(const result_type *r, double error, double off)
{
    return ((r->error < error) && (r->missed < off) && (r->bad == 0) && (r->late == 0)) ? 1 : 0;
}

int main(void)
{
    static const double none[PLANT_PARAMETERS] = { 0.0 };
    static const double half[PLANT_PARAMETERS] = { /* 0.5 kg, 5 cm in front of the flange */
        0.5, 0.0, 0.0, 0.025, 0.0015, 0.0, 0.0, 0.0015, 0.0, 0.0003
    };
    result_type without, unknown, known, pushed;
    if ((arm_selftest() != 0) || (plant_selftest() != 0)) {
        put("self-test failed\n");
        return 1;
    }
    put("self-tests passed\n");
    SYSTICK_RELOAD = TICKS - 1U;
    SYSTICK_VALUE = 0U;
    SYSTICK_CONTROL = 7U; /* core clock, interrupt, on */
    put("no payload:            ");
    without = run(none, none, 0.0);
    put("0.5 kg, unknown:       ");
    unknown = run(half, none, 0.0);
    put("0.5 kg, known:         ");
    known = run(half, half, 0.0);
    put("0.5 kg, known, pushed: ");
    pushed = run(half, half, PUSH);
    return (passed(&without, 1e-3, 0.2) && passed(&unknown, 0.1, 1e3) && passed(&known, 1e-3, 0.2) &&
            passed(&pushed, 0.1, 0.5))
               ? 0
               : 1;
}

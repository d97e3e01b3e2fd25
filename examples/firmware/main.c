/* A controller and an observer of the UR5 at 1 kHz on a bare-metal Cortex-M7, with a simulated plant in the same image.
 *
 * Controller and observer are generated (--controller computed_torque, --controller momentum_observer) and compute one
 * step per SysTick period in float. Their model is the robot of the file with a payload that the program sets.
 * The plant is the generated forward dynamics in double, with a payload that may differ from that of the model. In the
 * last run a force also pushes the flange. It is not an input of the controller or the observer, and the observer must
 * estimate it within 50 ms. The exit status is 0 if all errors are within their limits.
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
#define TICKS      (CLOCK / RATE) /* SysTick ticks per period */
#define SECONDS    4U
#define SETTLED    (RATE) /* errors are evaluated from this step on */
#define DT         0.001
#define KP         2500.0f /* 1/s^2: 50 rad/s, critically damped */
#define KD         100.0f  /* 1/s */
#define GAIN       100.0f  /* 1/s, of the observer */
#define PUSH       10.0    /* N along the z axis of the flange */
#define PUSH_STEP  (2U * RATE) /* the push begins at this step */
#define EVAL_STEP  (PUSH_STEP + (RATE / 20U)) /* the observer is evaluated from 50 ms after it */
#define AMPLITUDE  0.4f    /* rad */
#define FREQUENCY  3.0f    /* rad/s of joint 1; 0.2 rad/s more for each further joint */
#define PER_TICK   40U    /* instructions per SysTick tick with qemu -icount shift=0 (1 ns per instruction) */
#define MICRO      1e6

static volatile uint32_t ticks;

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
    ++ticks;
}

/* Reference motion, which starts at rest: q_d = home + A (1 - cos w t). */
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

/* Gains and states of the controller and the observer. */
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

/* Largest difference (N m) between the joint torques that the observer estimates and those of the push. */
static double observer_error(const double q[PLANT_DOF], double push, const float estimate[ARM_DOF])
{
    double j[6 * PLANT_DOF];
    double largest = 0.0;
    plant_frame_jacobian_body_flange(q, j);
    for (int k = 0; k < PLANT_DOF; ++k) {
        const double off = (double)estimate[k] - (push * j[(2 * PLANT_DOF) + k]); /* row z of the Jacobian */
        const double size = (off < 0.0) ? -off : off;
        largest = (size > largest) ? size : largest;
    }
    return largest;
}

/* Inputs of the plant: joint torques and a wrench at the flange. */
typedef struct {
    double tau[PLANT_DOF];
    double wrench[6];
} action_type;

/* Time derivative of a state. Returns 1 if the mass matrix is singular. */
static int derivative(const state_type *s, const action_type *act, const double par[PLANT_REGROUPED], state_type *rate)
{
    for (int k = 0; k < PLANT_DOF; ++k) {
        rate->q[k] = s->qd[k];
    }
    return plant_forward_dynamics(s->q, s->qd, act->tau, act->wrench, par, rate->qd);
}

static state_type advanced(const state_type *s, const state_type *rate, double dt)
{
    state_type to;
    for (int k = 0; k < PLANT_DOF; ++k) {
        to.q[k] = s->q[k] + (dt * rate->q[k]);
        to.qd[k] = s->qd[k] + (dt * rate->qd[k]);
    }
    return to;
}

/* One Runge-Kutta step (order 4) with constant torques. Returns 1 if the mass matrix is singular. */
static int plant_step(state_type *s, const action_type *act, const double par[PLANT_REGROUPED])
{
    state_type a, b, c, d, at;
    int bad = derivative(s, act, par, &a);
    at = advanced(s, &a, DT / 2.0);
    bad += derivative(&at, act, par, &b);
    at = advanced(s, &b, DT / 2.0);
    bad += derivative(&at, act, par, &c);
    at = advanced(s, &c, DT);
    bad += derivative(&at, act, par, &d);
    at = advanced(s, &a, DT / 6.0);
    at = advanced(&at, &b, DT / 3.0);
    at = advanced(&at, &c, DT / 3.0);
    *s = advanced(&at, &d, DT / 6.0);
    return bad;
}

/* Wait for a SysTick period. Returns 1 if it has already passed. */
static int wait_for(uint32_t period)
{
    const int late = (ticks > period) ? 1 : 0;
    while (ticks < period) {
        __asm__ volatile("wfi");
    }
    return late;
}

static void print(const char *text, double value, const char *unit)
{
    put(text);
    put_number((int32_t)value);
    put(unit);
}

/* Results of a run. */
typedef struct {
    double error;          /* largest tracking error of a joint after the first second (rad) */
    double observer_error; /* largest error of the observer, from 50 ms after the push on (N m) */
    uint32_t instructions; /* of the longest step */
    int late;              /* number of missed periods */
    int bad;               /* number of failed steps */
} result_type;

/* One step of the firmware: from measured coordinates to torques and estimated external torques. */
static int control_step(controller_type *c, const state_type *s, uint32_t step, const float par[ARM_REGROUPED],
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
    bad = arm_momentum_observer_step(&c->watch, &c->watching, q, qd, tau, par, h, external); /* previous torques */
    bad += arm_computed_torque_step(&c->follow, &c->following, q, qd, d->q, d->qd, d->qdd, par, h, tau);
    return bad;
}

/* One run. `payload` is that of the plant, `modelled` is that of the controller and the observer; `push` is in N. */
static result_type run(const double payload[PLANT_PARAMETERS], const double modelled[PLANT_PARAMETERS], double push)
{
    static controller_type c;
    float parameters[ARM_PARAMETERS];
    float model[ARM_REGROUPED];
    float tau[ARM_DOF] = { 0.0f };
    float external[ARM_DOF];
    double par[PLANT_REGROUPED];
    action_type act = { { 0.0 }, { 0.0 } };
    result_type result = { 0.0, 0.0, 0U, 0, 0 };
    desired_type d;
    state_type s;
    for (int k = 0; k < ARM_PARAMETERS; ++k) {
        parameters[k] = (float)modelled[k];
    }
    arm_regroup(parameters, model);
    plant_regroup(payload, par);
    trajectory(0.0f, &d);
    for (int k = 0; k < PLANT_DOF; ++k) {
        s.q[k] = (double)d.q[k];
        s.qd[k] = 0.0;
    }
    start(&c);
    ticks = 0U;
    for (uint32_t step = 0U; step < (SECONDS * RATE); ++step) {
        uint32_t started, used;
        result.late += wait_for(step + 1U);
        started = SYSTICK_VALUE;
        result.bad += control_step(&c, &s, step, model, &d, tau, external);
        used = ((started + TICKS - SYSTICK_VALUE) % TICKS) * PER_TICK; /* the counter counts down and wraps */
        result.instructions = (used > result.instructions) ? used : result.instructions;
        if (step >= EVAL_STEP) {
            const double off = observer_error(s.q, push, external);
            result.observer_error = (off > result.observer_error) ? off : result.observer_error;
        }
        for (int k = 0; k < PLANT_DOF; ++k) {
            const double error = s.q[k] - (double)d.q[k];
            const double size = (error < 0.0) ? -error : error;
            if ((step >= SETTLED) && !(size <= result.error)) {
                result.error = size;
            }
            act.tau[k] = (double)tau[k];
        }
        act.wrench[2] = (step >= PUSH_STEP) ? push : 0.0;
        result.bad += plant_step(&s, &act, par);
    }
    print("tracking error ", result.error * MICRO, " urad, ");
    print("observer off by ", result.observer_error * 1e3, " mN m, ");
    print("", (double)result.instructions, " instructions per step, ");
    print("", (double)result.late, " steps missed\n");
    return result;
}

/* Returns 1 if a run had no failed or missed step and its errors are below the limits. */
static int passed(const result_type *r, double error, double off)
{
    return ((r->error < error) && (r->observer_error < off) && (r->bad == 0) && (r->late == 0)) ? 1 : 0;
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

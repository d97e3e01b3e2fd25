/* An optimal control problem that acados solves by SQP with HPIPM: the discrete model is
   `model` (x, u -> next x) and `model_jac` (also its Jacobian by u and x, transposed), which CasADi
   wrote around functions of ours.

   Prints the status, the iterations, the least milliseconds of ROUNDS solutions, and all x and u. */
#include <stdio.h>
#include <stdlib.h>
#include "acados_c/external_function_interface.h"
#include "acados_c/ocp_nlp_interface.h"
#define NX (2 * NQ)
#define NY (NX + NQ)
#include "casadi.h"

OF(model)
OF(model_jac)

static double start[NX] = START, weights[NY * NY], Vx[NY * NX], Vu[NY * NQ], We[NX * NX], Ve[NX * NX];
static double zeros[NY], lowest[NQ], highest[NQ];

static ocp_nlp_plan_t *planned(void)
{
    ocp_nlp_plan_t *plan = ocp_nlp_plan_create(STEPS);
    plan->nlp_solver = SQP;
    plan->ocp_qp_solver_plan.qp_solver = PARTIAL_CONDENSING_HPIPM;
    plan->relaxed_ocp_qp_solver_plan.qp_solver = PARTIAL_CONDENSING_HPIPM;
    for (int k = 0; k <= STEPS; ++k) {
        plan->nlp_cost[k] = LINEAR_LS;
        plan->nlp_constraints[k] = BGH;
    }
    for (int k = 0; k < STEPS; ++k) {
        plan->nlp_dynamics[k] = DISCRETE_MODEL;
        plan->sim_solver_plan[k].sim_solver = INVALID_SIM_SOLVER;
    }
    plan->regularization = NO_REGULARIZE;
    plan->globalization = FIXED_STEP;
    return plan;
}

static ocp_nlp_dims *sized(ocp_nlp_config *config)
{
    ocp_nlp_dims *dims = ocp_nlp_dims_create(config);
    int nx[STEPS + 1], nu[STEPS + 1], none[STEPS + 1], all = NX, inputs = NQ, rows = NY;
    for (int k = 0; k <= STEPS; ++k) nx[k] = NX, nu[k] = k < STEPS ? NQ : 0, none[k] = 0;
    ocp_nlp_dims_set_opt_vars(config, dims, "nx", nx);
    ocp_nlp_dims_set_opt_vars(config, dims, "nu", nu);
    ocp_nlp_dims_set_opt_vars(config, dims, "nz", none);
    ocp_nlp_dims_set_opt_vars(config, dims, "ns", none);
    ocp_nlp_dims_set_constraints(config, dims, 0, "nbx", &all);
    ocp_nlp_dims_set_constraints(config, dims, 0, "nbxe", &all);
    for (int k = 0; k < STEPS; ++k) {
        ocp_nlp_dims_set_constraints(config, dims, k, "nbu", &inputs);
        ocp_nlp_dims_set_cost(config, dims, k, "ny", &rows);
    }
    ocp_nlp_dims_set_cost(config, dims, STEPS, "ny", &all);
    return dims;
}

static void weighed(void)
{
    for (int i = 0; i < NX; ++i) {
        weights[i * NY + i] = (i < NQ ? WEIGHT_Q : WEIGHT_QD) * H;
        We[i * NX + i] = i < NQ ? LAST_Q : LAST_QD;
        Vx[i * NY + i] = Ve[i * NX + i] = 1;
    }
    for (int i = 0; i < NQ; ++i) {
        weights[(NX + i) * NY + NX + i] = WEIGHT_U * H;
        Vu[i * NY + NX + i] = 1;
        lowest[i] = -LIMIT, highest[i] = LIMIT;
    }
}

int main(void)
{
    ocp_nlp_plan_t *plan = planned();
    ocp_nlp_config *config = ocp_nlp_config_create(*plan);
    ocp_nlp_dims *dims = sized(config);
    ocp_nlp_in *in = ocp_nlp_in_create(config, dims);
    ocp_nlp_out *out = ocp_nlp_out_create(config, dims);
    external_function_casadi f[STEPS], jac[STEPS];
    external_function_opts with;
    external_function_opts_set_to_default(&with);
    double h = H, one = 1, took = 0, once = 0;
    int all[NX], most = 200, every = STEPS, status = 0, steps = 0;
    for (int i = 0; i < NX; ++i) all[i] = i;
    weighed();
    for (int k = 0; k < STEPS; ++k) {
        TAKE(f[k], model);
        TAKE(jac[k], model_jac);
        external_function_casadi_create(&f[k], &with);
        external_function_casadi_create(&jac[k], &with);
        ocp_nlp_dynamics_model_set(config, dims, in, k, "disc_dyn_fun", &f[k]);
        ocp_nlp_dynamics_model_set(config, dims, in, k, "disc_dyn_fun_jac", &jac[k]);
        ocp_nlp_in_set(config, dims, in, k, "Ts", &h);
        ocp_nlp_cost_model_set(config, dims, in, k, "scaling", &one);
        ocp_nlp_cost_model_set(config, dims, in, k, "W", weights);
        ocp_nlp_cost_model_set(config, dims, in, k, "Vx", Vx);
        ocp_nlp_cost_model_set(config, dims, in, k, "Vu", Vu);
        ocp_nlp_cost_model_set(config, dims, in, k, "yref", zeros);
        ocp_nlp_constraints_model_set(config, dims, in, out, k, "idxbu", all);
        ocp_nlp_constraints_model_set(config, dims, in, out, k, "lbu", lowest);
        ocp_nlp_constraints_model_set(config, dims, in, out, k, "ubu", highest);
    }
    ocp_nlp_cost_model_set(config, dims, in, STEPS, "scaling", &one);
    ocp_nlp_cost_model_set(config, dims, in, STEPS, "W", We);
    ocp_nlp_cost_model_set(config, dims, in, STEPS, "Vx", Ve);
    ocp_nlp_cost_model_set(config, dims, in, STEPS, "yref", zeros);
    ocp_nlp_constraints_model_set(config, dims, in, out, 0, "idxbx", all);
    ocp_nlp_constraints_model_set(config, dims, in, out, 0, "lbx", start);
    ocp_nlp_constraints_model_set(config, dims, in, out, 0, "ubx", start);
    ocp_nlp_constraints_model_set(config, dims, in, out, 0, "idxbxe", all);
    void *opts = ocp_nlp_solver_opts_create(config, dims);
    double close = 1e-9;
    ocp_nlp_solver_opts_set(config, opts, "max_iter", &most);
    ocp_nlp_solver_opts_set(config, opts, "qp_cond_N", &every);
    ocp_nlp_solver_opts_set(config, opts, "tol_stat", &close);
    ocp_nlp_solver_opts_set(config, opts, "tol_eq", &close);
    ocp_nlp_solver_opts_set(config, opts, "tol_ineq", &close);
    ocp_nlp_solver_opts_set(config, opts, "tol_comp", &close);
    ocp_nlp_solver *solver = ocp_nlp_solver_create(config, dims, opts, in);
    for (int round = 0; round < ROUNDS; ++round) {
        for (int k = 0; k <= STEPS; ++k) {
            ocp_nlp_out_set(config, dims, out, in, k, "x", start);
            if (k < STEPS) ocp_nlp_out_set(config, dims, out, in, k, "u", zeros);
        }
        ocp_nlp_precompute(solver, in, out);
        status = ocp_nlp_solve(solver, in, out);
        ocp_nlp_get(solver, "time_tot", &once);
        took = round == 0 || once < took ? once : took;
    }
    ocp_nlp_get(solver, "sqp_iter", &steps);
    printf("%d %d %.17g\n", status, steps, 1e3 * took);
    for (int k = 0; k <= STEPS; ++k) {
        double x[NX], u[NQ];
        ocp_nlp_out_get(config, dims, out, k, "x", x);
        for (int i = 0; i < NX; ++i) printf("%.17g ", x[i]);
        if (k < STEPS) ocp_nlp_out_get(config, dims, out, k, "u", u);
        for (int i = 0; k < STEPS && i < NQ; ++i) printf("%.17g ", u[i]);
        printf("\n");
    }
}

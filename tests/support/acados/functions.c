/* acados' structure for functions of CasADi's convention calls two of ours: a dense function, and a
   Jacobian that is sparse. */
#include <stdio.h>
#include <stdlib.h>
#include "acados/utils/external_function_generic.h"
#include "casadi.h"

OF(pendulum_casadi_forward_dynamics)
OF(jac_pendulum_casadi_mass_matrix)

static void run(external_function_casadi *f, void **in, int ins, void **out, int outs)
{
    external_function_opts opts;
    ext_fun_arg_t types_in[8], types_out[8];
    for (int k = 0; k < ins; ++k) types_in[k] = COLMAJ;
    for (int k = 0; k < outs; ++k) types_out[k] = COLMAJ;
    external_function_opts_set_to_default(&opts);
    external_function_casadi_assign(f, malloc(external_function_casadi_calculate_size(f, &opts)));
    f->evaluate(f, types_in, in, types_out, out);
}

int main(void)
{
    double q[2] = {0.3, -0.4}, qd[2] = {0.5, 0.6}, tau[2] = {1.0, -2.0}, none[4] = {0};
    double qdd[2], slope[8];
    external_function_casadi f, jac;
    TAKE(f, pendulum_casadi_forward_dynamics);
    TAKE(jac, jac_pendulum_casadi_mass_matrix);
    run(&f, (void *[]){q, qd, tau}, 3, (void *[]){qdd}, 1);
    run(&jac, (void *[]){q, none}, 2, (void *[]){slope}, 1);
    for (int k = 0; k < 2; ++k) printf("%.17g ", qdd[k]);
    for (int k = 0; k < 8; ++k) printf("%.17g ", slope[k]);
}

/* What acados asks of a function of CasADi's convention: its declarations, and its entries in a structure. */
#define OF(name) \
    extern int name(const double **, double **, int *, double *, void *); \
    extern int name##_work(int *, int *, int *, int *); \
    extern const int *name##_sparsity_in(int); \
    extern const int *name##_sparsity_out(int); \
    extern int name##_n_in(void); \
    extern int name##_n_out(void);

#define TAKE(f, name) \
    f.casadi_fun = &name, f.casadi_work = &name##_work, f.casadi_n_in = &name##_n_in, f.casadi_n_out = &name##_n_out; \
    f.casadi_sparsity_in = &name##_sparsity_in, f.casadi_sparsity_out = &name##_sparsity_out

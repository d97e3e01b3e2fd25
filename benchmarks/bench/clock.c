/* Calls a function many times with different states. */
#include <math.h>
#include <time.h>

typedef void (*Function)(const double *, double *);

double nanoseconds(Function f, long calls, const double *x, long stride, long states, double *y)
{
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (long i = 0; i < calls; ++i) {
        f(x + (i & (states - 1)) * stride, y);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    return 1e9 * (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec);
}

/* A sine and a cosine of one angle. */
void trig(const double *x, double *y)
{
    const double angle = x[0];
    y[0] = sin(angle);
    y[1] = cos(angle);
}

/* Nanoseconds of a cycle: additions that wait for each other take one each. */
double cycle(void)
{
    struct timespec start, end;
    unsigned long x = 0, y = 1;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (long i = 0; i < 20000; ++i) {
#define ADD x += y; __asm__ volatile("" : "+r"(x), "+r"(y));
        ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD
        ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (1e9 * (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec)) / (32.0 * 20000.0);
}

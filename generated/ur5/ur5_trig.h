/* ur5_trig.h: sine and cosine for the sources of this module, without the C library.
 *
 * The error is below 2 ulp (units in the last place) for |x| <= 2^16 rad; beyond that the absolute error grows
 * like |x| 2^-53. NaN, infinity and |x| > 1.8e15 rad give NaN. There are no branches, so the time does not depend
 * on x. Results have the same bits on every machine if operations are not contracted (gcc and clang: -ffp-contract=off).
 *
 * Method: x = k pi/2 + r with |r| <= pi/4, where pi/2 is split into parts whose products with k are exact (Cody & Waite
 * 1980, ch. 8); minimax polynomials in r^2; then the angle sum with the exact sine and cosine of k pi/2.
 */
#ifndef UR5_TRIG_H
#define UR5_TRIG_H

#include "ur5.h"

/* The order of operations must be kept. If compiler flags allow a different order, it is disabled for the rest of this
 * source file, also for your code if you include this header. If it cannot be disabled, compilation stops with #error. */
#if defined(__INTEL_COMPILER) || (defined(__clang__) && (__clang_major__ < 11)) || \
    (defined(__apple_build_version__) && (__apple_build_version__ < 12050000))
#error "ur5 cannot prevent this compiler from reordering operations; generate with symgen --trig libm"
#elif defined(__clang__)
#pragma clang fp reassociate(off)
#elif defined(__GNUC__) && !defined(__TINYC__) && (defined(__ASSOCIATIVE_MATH__) || (__GNUC__ < 12))
#if (__GNUC__ > 11) || !defined(__FAST_MATH__)
#pragma GCC optimize("no-unsafe-math-optimizations", "no-associative-math")
#endif
#if defined(__ASSOCIATIVE_MATH__)
#error "ur5 needs the order of operations as written; compile without -fassociative-math"
#endif
#endif
#if defined(__FAST_MATH__) || defined(_M_FP_FAST) || defined(__FP_FAST)
#error "ur5 includes its own sine and cosine; compile without -ffast-math and /fp:fast, or generate with symgen --trig libm"
#endif

/* The sine of NaN and of infinity is NaN, so the compiler must not assume that NaN and infinity do not occur. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__FINITE_MATH_ONLY__) && (__FINITE_MATH_ONLY__ > 0)
#pragma GCC optimize("no-finite-math-only")
#endif
#if (defined(__FINITE_MATH_ONLY__) && (__FINITE_MATH_ONLY__ > 0)) || defined(_M_FP_FAST)
#error "ur5 needs NaN and infinity; compile without -ffinite-math-only and /fp:fast"
#endif

/* Evaluation method of floating-point operations. Method 16 (processors with half precision) treats float and double as
 * method 0 does; method -1 is indeterminate. */
#if !defined(FLT_EVAL_METHOD) && defined(__FLT_EVAL_METHOD__)
#define UR5_ROUNDING __FLT_EVAL_METHOD__
#elif defined(FLT_EVAL_METHOD)
#define UR5_ROUNDING FLT_EVAL_METHOD
#else
#define UR5_ROUNDING 0
#endif
#if (UR5_ROUNDING < 0) || ((UR5_ROUNDING > 1) && (UR5_ROUNDING != 16))
#error "ur5 needs arithmetic rounded to double; on 32-bit x86 compile with -mfpmath=sse and -std=c99"
#endif

static inline void ur5_sincos(ur5_real x, ur5_real *sine, ur5_real *cosine)
{
    /* k: the multiple of pi/2 nearest to x; m: k modulo 4. Adding a shift rounds to a whole number, or to a multiple of 4. */
    const ur5_real t       = x * 0.6366197723675814;
    const ur5_real shifted = t + 6755399441055744.0;
    const ur5_real k       = shifted - 6755399441055744.0;
    const ur5_real turned  = t + 2.7021597764222976e+16;
    const ur5_real m       = k - (turned - 2.7021597764222976e+16);

    /* Sine and cosine of k pi/2 for m = -2 ... 2; exact, with and without fused products. */
    const ur5_real u      = m * m;
    const ur5_real turn_c = ((u - 1.0) * (u - 6.0)) * 0.16666666666666666;
    const ur5_real turn_s = (m * turn_c) + m;

    /* r + e = x - k pi/2, where e is the rounding error of r. If k is too large, `scaled` overflows and e is NaN. */
    const ur5_real r1     = x - (k * 1.5707963267923333);
    const ur5_real scaled = k * 1.596672247627776e+293;
    const ur5_real p2     = scaled * 1.605429138880815e-305;
    const ur5_real r      = r1 - p2;
    const ur5_real e2     = (r1 - r) - p2;
    const ur5_real e      = e2 - (k * 1.0562999066987428e-23);

    /* Sine and cosine of r + e. */
    const ur5_real z      = r * r;
    const ur5_real z2     = z * z;
    const ur5_real s0     = (0.008333333333322115 * z) - 0.1666666666666663;
    const ur5_real c0     = (-0.0013888888888873051 * z) + 0.041666666666666595;
    const ur5_real s4     = (1.5896221113653234e-10 * z) - 2.5050747611398796e-08;
    const ur5_real s2     = (2.7557313620449078e-06 * z) - 0.0001984126982958693;
    const ur5_real s_high = (s4 * z2) + s2;
    const ur5_real c4     = (-1.1358530239460337e-11 * z) + 2.0875700723434723e-09;
    const ur5_real c2     = (-2.7557314178445927e-07 * z) + 2.4801587288848837e-05;
    const ur5_real c_high = (c4 * z2) + c2;
    const ur5_real s      = r + ((((r * z) * s0) + e) + (((r * z) * z2) * s_high));
    const ur5_real c      = 1.0 + (((z2 * c0) - ((0.5 * z) + (r * e))) + ((z2 * z2) * c_high));

    *sine   = (s * turn_c) + (c * turn_s);
    *cosine = (c * turn_c) - (s * turn_s);
}

/* Sines and cosines of several angles are computed with vectors of GNU C (gcc, clang), unless UR5_NO_VECTORS
 * is defined. Other compilers compute them one by one in a loop. */
#if !defined(__GNUC__) || defined(__TINYC__) || defined(UR5_NO_VECTORS)
#define UR5_ANGLES 1
#elif defined(__AVX__)
#define UR5_ANGLES 4
#elif defined(__SSE2__) || defined(__aarch64__)
#define UR5_ANGLES 2
#else
#define UR5_ANGLES 1
#endif

/* n, rounded up to a multiple of the number of angles in a vector. */
#define UR5_FILLED(n) ((((n) + UR5_ANGLES - 1) / UR5_ANGLES) * UR5_ANGLES)

#if UR5_ANGLES > 1

typedef double ur5_angles __attribute__((vector_size(UR5_ANGLES * sizeof(double))));

/* The same steps as ur5_sincos for a vector of angles, which are passed in `sine`. */
static inline __attribute__((always_inline)) void ur5_sincos_angles(ur5_real *sine, ur5_real *cosine)
{
    const ur5_angles x = {
        sine[0], sine[1],
#if UR5_ANGLES > 2
        sine[2], sine[3],
#endif
    };
    const ur5_angles t       = x * 0.6366197723675814;
    const ur5_angles shifted = t + 6755399441055744.0;
    const ur5_angles k       = shifted - 6755399441055744.0;
    const ur5_angles turned  = t + 2.7021597764222976e+16;
    const ur5_angles m       = k - (turned - 2.7021597764222976e+16);
    const ur5_angles u      = m * m;
    const ur5_angles turn_c = ((u - 1.0) * (u - 6.0)) * 0.16666666666666666;
    const ur5_angles turn_s = (m * turn_c) + m;
    const ur5_angles r1     = x - (k * 1.5707963267923333);
    const ur5_angles scaled = k * 1.596672247627776e+293;
    const ur5_angles p2     = scaled * 1.605429138880815e-305;
    const ur5_angles r      = r1 - p2;
    const ur5_angles e2     = (r1 - r) - p2;
    const ur5_angles e      = e2 - (k * 1.0562999066987428e-23);
    const ur5_angles z      = r * r;
    const ur5_angles z2     = z * z;
    const ur5_angles s0     = (0.008333333333322115 * z) - 0.1666666666666663;
    const ur5_angles c0     = (-0.0013888888888873051 * z) + 0.041666666666666595;
    const ur5_angles s4     = (1.5896221113653234e-10 * z) - 2.5050747611398796e-08;
    const ur5_angles s2     = (2.7557313620449078e-06 * z) - 0.0001984126982958693;
    const ur5_angles s_high = (s4 * z2) + s2;
    const ur5_angles c4     = (-1.1358530239460337e-11 * z) + 2.0875700723434723e-09;
    const ur5_angles c2     = (-2.7557314178445927e-07 * z) + 2.4801587288848837e-05;
    const ur5_angles c_high = (c4 * z2) + c2;
    const ur5_angles s      = r + ((((r * z) * s0) + e) + (((r * z) * z2) * s_high));
    const ur5_angles c      = 1.0 + (((z2 * c0) - ((0.5 * z) + (r * e))) + ((z2 * z2) * c_high));
    const ur5_angles turned_s = (s * turn_c) + (c * turn_s);
    const ur5_angles turned_c = (c * turn_c) - (s * turn_s);
    sine[0] = turned_s[0];
    cosine[0] = turned_c[0];
    sine[1] = turned_s[1];
    cosine[1] = turned_c[1];
#if UR5_ANGLES > 2
    sine[2] = turned_s[2];
    cosine[2] = turned_c[2];
    sine[3] = turned_s[3];
    cosine[3] = turned_c[3];
#endif
}

/* Sines and cosines of n angles in whole vectors; n is at most 8. */
static inline __attribute__((always_inline)) void ur5_sincos_all(int n, ur5_real *sine, ur5_real *cosine)
{
    ur5_sincos_angles(sine, cosine);
    if (n > UR5_ANGLES) {
        ur5_sincos_angles(sine + UR5_ANGLES, cosine + UR5_ANGLES);
    }
    if (n > (2 * UR5_ANGLES)) {
        ur5_sincos_angles(sine + (2 * UR5_ANGLES), cosine + (2 * UR5_ANGLES));
    }
    if (n > (3 * UR5_ANGLES)) {
        ur5_sincos_angles(sine + (3 * UR5_ANGLES), cosine + (3 * UR5_ANGLES));
    }
}

#else

static inline void ur5_sincos_all(int n, ur5_real *sine, ur5_real *cosine)
{
    int k;
    for (k = 0; k < n; ++k) {
        ur5_sincos(sine[k], &sine[k], &cosine[k]);
    }
}

#endif

#endif
